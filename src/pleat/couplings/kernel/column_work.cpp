// Column work: Highway code over rows of 8 or 24 floats, compiled once per instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pleat/couplings/kernel/column_work.cpp"
#include "hwy/foreach_target.h"  // compiles this file once per target; must precede highway.h

#include "hwy/contrib/math/math-inl.h"
#include "hwy/highway.h"
#include "pleat/couplings/couplings.h"
#include "pleat/couplings/kernel/column_work.h"

HWY_BEFORE_NAMESPACE();
namespace pleat::couplings::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Rows are multiples of 8 floats: vectors of at most 8 lanes fit them on every target.
using F = hn::CappedTag<float, 8>;
using V = hn::Vec<F>;
constexpr F kF;
constexpr int kLanes = static_cast<int>(hn::MaxLanes(F()));
constexpr Index kBlock = 256;  // positions summed in float before sums are added in double

// A row of kStride floats in registers.
template <int kStride>
struct Row {
    static constexpr int kVectors = kStride / kLanes;
    V v[kVectors];

    static HWY_INLINE Row zero() {
        Row row;
        for (int k = 0; k < kVectors; ++k) row.v[k] = hn::Zero(kF);
        return row;
    }
    static HWY_INLINE Row load(const float* from) {
        Row row;
        for (int k = 0; k < kVectors; ++k) row.v[k] = hn::Load(kF, from + k * kLanes);
        return row;
    }
    HWY_INLINE void store(float* to) const {
        for (int k = 0; k < kVectors; ++k) hn::Store(v[k], kF, to + k * kLanes);
    }
    HWY_INLINE void add(const float* from) {
        for (int k = 0; k < kVectors; ++k) v[k] = hn::Add(v[k], hn::Load(kF, from + k * kLanes));
    }
    HWY_INLINE void add_to(float* to) const {
        for (int k = 0; k < kVectors; ++k) {
            hn::Store(hn::Add(hn::Load(kF, to + k * kLanes), v[k]), kF, to + k * kLanes);
        }
    }
};

template <int kStride>
void sum_rows_of(const SequenceTree& tree, const float* HWY_RESTRICT table, float* sums) {
    const std::uint32_t* rows = tree.rows.data();
    for (Index k = 0; k < tree.count(); ++k) {
        const std::uint64_t first = tree.begin[k], last = tree.begin[k + 1];
        const std::int32_t parent = tree.parent[k];
        const std::uint64_t middle = parent < 0 ? last : first + (last - first) / 2;
        // Reads the parent's sum last, since its store may not be complete yet.
        Row<kStride> added = Row<kStride>::zero(), removed = added;
        std::uint64_t r = first;
        for (; r < middle; ++r) added.add(table + rows[r]);
        for (; r < last; ++r) removed.add(table + rows[r]);
        if (parent >= 0) {
            const Row<kStride> above = Row<kStride>::load(sums + parent * kStride);
            for (int v = 0; v < Row<kStride>::kVectors; ++v) {
                added.v[v] = hn::Add(above.v[v], hn::Sub(added.v[v], removed.v[v]));
            }
        }
        added.store(sums + k * kStride);
    }
}

template <int kStride>
void scatter_rows_of(const SequenceTree& tree, float* rows, float* HWY_RESTRICT table) {
    for (Index k = tree.count() - 1; k >= 0; --k) {
        const std::int32_t parent = tree.parent[k];
        if (parent >= 0) Row<kStride>::load(rows + k * kStride).add_to(rows + parent * kStride);
    }
    const std::uint32_t* positions = tree.positions.data();
    for (Index c = 0; c < tree.chunk_count; ++c) {
        const std::uint64_t* begin = tree.position_begin.data() + 2 * c * tree.row_count;
        for (Index row = 0; row < tree.row_count; ++row) {
            const std::uint64_t first = begin[2 * row], middle = begin[2 * row + 1];
            const std::uint64_t last = begin[2 * row + 2];
            if (first == last) continue;
            Row<kStride> added = Row<kStride>::zero(), removed = added;
            for (std::uint64_t p = first; p < middle; ++p) added.add(rows + positions[p]);
            for (std::uint64_t p = middle; p < last; ++p) removed.add(rows + positions[p]);
            for (int v = 0; v < Row<kStride>::kVectors; ++v) {
                added.v[v] = hn::Sub(added.v[v], removed.v[v]);
            }
            added.add_to(table + row * kStride);
        }
    }
}

// Computes exp(h - max h) of a row; every lane of `max` gets the largest h, and of `sum` the sum of
// exponentials.
template <int kStride>
HWY_INLINE Row<kStride> exponentials(const float* sums, const Row<kStride>& e, V& max, V& sum) {
    Row<kStride> h;
    for (int v = 0; v < h.kVectors; ++v) {
        h.v[v] = hn::Add(hn::Load(kF, sums + v * kLanes), e.v[v]);
    }
    max = h.v[0];
    for (int v = 1; v < h.kVectors; ++v) max = hn::Max(max, h.v[v]);
    max = hn::MaxOfLanes(kF, max);
    sum = hn::Zero(kF);
    for (int v = 0; v < h.kVectors; ++v) {
        h.v[v] = hn::Exp(kF, hn::Sub(h.v[v], max));
        sum = hn::Add(sum, h.v[v]);
    }
    sum = hn::SumOfLanes(kF, sum);
    return h;
}

// Three loops over a block keep the long dependency chains (exponentials, division, logarithm) of
// different rows independent.
template <int kStride>
double softmax_of(const ColumnView& column, const float* sums, const double* fields, float* out,
                  double* totals) {
    constexpr int kVectors = Row<kStride>::kVectors;
    HWY_ALIGN float padded[kStride], lanes[kStride], sum_of[kBlock], factor[kBlock], shift[kBlock];
    for (int a = 0; a < kStride; ++a) {
        // Finite but far below every logit, so that exp() of the padding is 0.
        padded[a] = a < column.letter_count - 1    ? static_cast<float>(fields[a])
                    : a == column.letter_count - 1 ? 0.0f
                                                   : -1e30f;
    }
    const Row<kStride> e = Row<kStride>::load(padded);
    for (int a = 0; a < column.letter_count; ++a) totals[a] = 0;
    double value = 0;
    for (Index start = 0; start < column.count; start += kBlock) {
        const Index size = HWY_MIN(kBlock, column.count - start);
        const float* weights = column.weights + start;
        for (Index k = 0; k < size; ++k) {
            const float* row = sums + (start + k) * kStride;
            const int observed = column.letters[start + k];
            V max, sum;
            exponentials<kStride>(row, e, max, sum).store(out + (start + k) * kStride);
            sum_of[k] = hn::GetLane(sum);
            shift[k] = hn::GetLane(max) - (row[observed] + padded[observed]);
        }
        for (Index k = size; k % kLanes != 0; ++k) sum_of[k] = 1;
        for (Index k = 0; k < size; k += kLanes) {
            const V sum = hn::Load(kF, sum_of + k);
            hn::Store(hn::Div(hn::Set(kF, 1.0f), sum), kF, factor + k);
            hn::Store(hn::Log(kF, sum), kF, sum_of + k);
        }
        Row<kStride> total = Row<kStride>::zero();
        for (Index k = 0; k < size; ++k) {
            value += static_cast<double>(weights[k]) * (static_cast<double>(sum_of[k]) + shift[k]);
            float* to = out + (start + k) * kStride;
            const V scale = hn::Set(kF, weights[k] * factor[k]);
            for (int v = 0; v < kVectors; ++v) {
                const V p = hn::Mul(hn::Load(kF, to + v * kLanes), scale);
                total.v[v] = hn::Add(total.v[v], p);
                hn::Store(p, kF, to + v * kLanes);
            }
        }
        total.store(lanes);
        for (int a = 0; a < column.letter_count; ++a) totals[a] += lanes[a];
    }
    return value;
}

template <int kStride>
void gram_of(const ColumnView& column, const float* out, int free, double* gram) {
    constexpr int kVectors = Row<kStride>::kVectors, kGroup = 4;
    HWY_ALIGN float lanes[kStride], inverse[kBlock];
    for (int k = 0; k < free * free; ++k) gram[k] = 0;
    for (Index start = 0; start < column.count; start += kBlock) {
        const Index size = HWY_MIN(kBlock, column.count - start);
        const float* block = out + start * kStride;  // 24 KiB: read once from L2, then from L1
        for (Index k = 0; k < size; ++k) inverse[k] = 1.0f / column.weights[start + k];
        for (int first = 0; first < free; first += kGroup) {
            V sum[kGroup][kVectors];
            for (auto& row : sum) {
                for (auto& v : row) v = hn::Zero(kF);
            }
            // Lower triangle: only vectors that contain letters of the group.
            const int vectors = (HWY_MIN(first + kGroup, free) + kLanes - 1) / kLanes;
            for (Index k = 0; k < size; ++k) {
                const float* row = block + k * kStride;
                for (int g = 0; g < kGroup; ++g) {
                    const V factor = hn::Set(kF, row[first + g] * inverse[k]);
                    for (int v = 0; v < kVectors; ++v) {
                        if (v >= vectors) break;
                        sum[g][v] = hn::MulAdd(factor, hn::Load(kF, row + v * kLanes), sum[g][v]);
                    }
                }
            }
            for (int g = 0; g < HWY_MIN(kGroup, free - first); ++g) {
                for (int v = 0; v < vectors; ++v) hn::Store(sum[g][v], kF, lanes + v * kLanes);
                for (int b = 0; b <= first + g; ++b) gram[(first + g) * free + b] += lanes[b];
            }
        }
    }
    for (int a = 0; a < free; ++a) {
        for (int b = 0; b < a; ++b) gram[b * free + a] = gram[a * free + b];
    }
}

// 1 / sqrt(offset + factor v_i(a) v_j(b)) for the kLanes letters a at `spread`.
HWY_INLINE V scale_of(const Scaling& scaling, const float* spread, float other) {
    return hn::Div(hn::Set(kF, 1.0f),
                   hn::Sqrt(hn::MulAdd(hn::Load(kF, spread), hn::Set(kF, scaling.factor * other),
                                       hn::Set(kF, scaling.offset))));
}

template <int kStride>
void build_table_of(const float* pairs, Index i, Index columns, int letters, const Scaling& scaling,
                    float* table) {
    const Index block = letters * kStride;
    for (Index j = 0; j < columns; ++j) {
        float* to = table + j * block;
        if (j == i) {
            for (Index k = 0; k < block; ++k) to[k] = 0;
            continue;
        }
        const float* from = pairs + pair_index(HWY_MIN(i, j), HWY_MAX(i, j), columns) * block;
        if (j < i) {
            for (int b = 0; b < letters; ++b) {
                for (int a = 0; a < letters; ++a) to[b * kStride + a] = from[a * kStride + b];
                for (int a = letters; a < kStride; ++a) to[b * kStride + a] = 0;
            }
            from = to;
        }
        for (int b = 0; b < letters; ++b) {
            for (int a = 0; a < kStride; a += kLanes) {
                const V scale = scale_of(scaling, &scaling.spread(i, a), scaling.spread(j, b));
                const V x = hn::Load(kF, from + b * kStride + a);
                hn::Store(hn::Mul(x, scale), kF, to + b * kStride + a);
            }
        }
    }
}

template <int kStride>
void add_table_of(const float* table, Index i, Index first, Index last, Index columns, int letters,
                  float* gradient) {
    const Index block = letters * kStride;
    for (Index j = first; j < last; ++j) {
        if (j == i) continue;
        const float* from = table + j * block;
        float* to = gradient + pair_index(HWY_MIN(i, j), HWY_MAX(i, j), columns) * block;
        if (j > i) {
            for (Index k = 0; k < block; k += kStride) Row<kStride>::load(from + k).add_to(to + k);
        } else {
            for (int a = 0; a < letters; ++a) {
                for (int b = 0; b < letters; ++b) to[a * kStride + b] += from[b * kStride + a];
            }
        }
    }
}

template <int kStride>
PairSums finish_pairs_of(const float* pairs, Index i, Index columns, int letters,
                         const Scaling& scaling, double lambda, float* gradient) {
    const V twice = hn::Set(kF, static_cast<float>(2 * lambda));
    PairSums sums;
    for (Index j = i + 1; j < columns; ++j) {
        const Index block = pair_index(i, j, columns) * letters * kStride;
        V gradient2 = hn::Zero(kF), point2 = hn::Zero(kF);
        for (int b = 0; b < letters; ++b) {
            for (int a = 0; a < kStride; a += kLanes) {
                const Index at = block + b * kStride + a;
                const V scale = scale_of(scaling, &scaling.spread(i, a), scaling.spread(j, b));
                const V x = hn::Mul(hn::Load(kF, pairs + at), scale);
                const V g = hn::MulAdd(twice, x, hn::Load(kF, gradient + at));
                gradient2 = hn::MulAdd(g, g, gradient2);
                point2 = hn::MulAdd(x, x, point2);
                hn::Store(hn::Mul(g, scale), kF, gradient + at);
            }
        }
        sums.gradient2 += hn::GetLane(hn::SumOfLanes(kF, gradient2));
        sums.point2 += hn::GetLane(hn::SumOfLanes(kF, point2));
    }
    sums.regulariser = lambda * sums.point2;
    return sums;
}

void dot_products_of(const float* a, std::span<const float* const> others, Index count,
                     double* out) {
    constexpr Index kChunk =
        1024;  // elements of `a` that stay in the L1 cache while all other vectors are read
    const hn::ScalableTag<double> d;
    const hn::Rebind<float, decltype(d)> f;
    const Index lanes = static_cast<Index>(hn::Lanes(d));
    for (std::size_t k = 0; k < others.size(); ++k) out[k] = 0;
    for (Index start = 0; start < count; start += kChunk) {
        const Index stop = HWY_MIN(start + kChunk, count);
        for (std::size_t k = 0; k < others.size(); ++k) {
            const float* b = others[k];
            auto even = hn::Zero(d), odd = hn::Zero(d);
            Index e = start;
            for (; e + 2 * lanes <= stop; e += 2 * lanes) {
                even = hn::MulAdd(hn::PromoteTo(d, hn::LoadU(f, a + e)),
                                  hn::PromoteTo(d, hn::LoadU(f, b + e)), even);
                odd = hn::MulAdd(hn::PromoteTo(d, hn::LoadU(f, a + e + lanes)),
                                 hn::PromoteTo(d, hn::LoadU(f, b + e + lanes)), odd);
            }
            double sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(even, odd)));
            for (; e < stop; ++e) sum += static_cast<double>(a[e]) * b[e];
            out[k] += sum;
        }
    }
}

void linear_combination_of(std::span<const float* const> vectors, std::span<const float> factors,
                           Index count, float* out) {
    const hn::ScalableTag<float> f;
    const Index lanes = static_cast<Index>(hn::Lanes(f));
    Index e = 0;
    for (; e + lanes <= count; e += lanes) {
        auto sum = hn::Mul(hn::Set(f, factors[0]), hn::LoadU(f, vectors[0] + e));
        for (std::size_t k = 1; k < vectors.size(); ++k) {
            sum = hn::MulAdd(hn::Set(f, factors[k]), hn::LoadU(f, vectors[k] + e), sum);
        }
        hn::StoreU(sum, f, out + e);
    }
    for (; e < count; ++e) {
        float sum = factors[0] * vectors[0][e];
        for (std::size_t k = 1; k < vectors.size(); ++k) sum += factors[k] * vectors[k][e];
        out[e] = sum;
    }
}

void hamming_of(const std::uint8_t* base, Index width, std::int32_t one,
                std::span<const std::int32_t> others, std::int32_t* out) {
    const hn::CappedTag<std::uint8_t, 64> d;
    const Index lanes = static_cast<Index>(hn::Lanes(d));
    const std::uint8_t* row = base + one * width;
    for (std::size_t k = 0; k < others.size(); ++k) {
        const std::uint8_t* other = base + others[k] * width;
        Index different = 0;
        for (Index b = 0; b < width; b += lanes) {
            different += static_cast<Index>(
                hn::CountTrue(d, hn::Ne(hn::Load(d, row + b), hn::Load(d, other + b))));
        }
        out[k] = static_cast<std::int32_t>(different);
    }
}

template <int kStride>
constexpr ColumnSteps kSteps = {
    build_table_of<kStride>, sum_rows_of<kStride>,  scatter_rows_of<kStride>, softmax_of<kStride>,
    gram_of<kStride>,        add_table_of<kStride>, finish_pairs_of<kStride>};

const ColumnSteps& steps_of(int stride) { return stride == 8 ? kSteps<8> : kSteps<24>; }

}  // namespace pleat::couplings::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pleat::couplings {

HWY_EXPORT(steps_of);
HWY_EXPORT(hamming_of);
HWY_EXPORT(dot_products_of);
HWY_EXPORT(linear_combination_of);

const ColumnSteps& column_steps(int stride) { return HWY_DYNAMIC_DISPATCH(steps_of)(stride); }
void hamming_distances(const std::uint8_t* base, Index width, std::int32_t one,
                       std::span<const std::int32_t> others, std::int32_t* out) {
    HWY_DYNAMIC_DISPATCH(hamming_of)(base, width, one, others, out);
}
void dot_products(const float* a, std::span<const float* const> others, Index count, double* out) {
    HWY_DYNAMIC_DISPATCH(dot_products_of)(a, others, count, out);
}
void linear_combination(std::span<const float* const> vectors, std::span<const float> factors,
                        Index count, float* out) {
    HWY_DYNAMIC_DISPATCH(linear_combination_of)(vectors, factors, count, out);
}

}  // namespace pleat::couplings
#endif  // HWY_ONCE

// GPU kernel: keeps vectors on the GPU and evaluates by one-hot products on tensor cores.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "pleat/core/cuda/gpu_sides.h"
#include "pleat/core/view.h"
#include "pleat/couplings/cuda/column_steps.cuh"
#include "pleat/couplings/cuda/device_shape.cuh"
#include "pleat/couplings/cuda/pair_steps.cuh"
#include "pleat/couplings/fit/memory_estimate.h"
#include "pleat/couplings/kernel/kernel.h"

namespace pleat::couplings::cuda {

constexpr int kMaxVectors = 16;
constexpr int kVectorBlocks = 264, kVectorThreads = 256;  // two CTAs for each of 132 processors

struct Vectors {
    const float* data[kMaxVectors];
    float factor[kMaxVectors];
    int count;
};

// Reads vectors four numbers at a time; the last one to three numbers separately.
__device__ __forceinline__ float4 load_four_at(const float* from, Index four) {
    return reinterpret_cast<const float4*>(from)[four];
}

// CTA b sums its range of the vectors into partial[k][b]. Couplings begin at element `fields`.
static __global__ void __launch_bounds__(kVectorThreads)
    dot_stretches(const float* a, Vectors others, Index fields, Index size, double metric,
                  double* partial) {
    const Index fours = size / 4, stretch = (fours + gridDim.x - 1) / gridDim.x;
    const Index first = blockIdx.x * stretch, last = min(first + stretch, fours);
    double sum[kMaxVectors] = {};
    const auto factor = [&](Index e) { return e < fields ? 1.0 : metric; };
    for (Index k4 = first + threadIdx.x; k4 < last; k4 += kVectorThreads) {
        const float4 x = load_four_at(a, k4);
        const double weighted[4] = {factor(4 * k4) * x.x, factor(4 * k4 + 1) * x.y,
                                    factor(4 * k4 + 2) * x.z, factor(4 * k4 + 3) * x.w};
#pragma unroll
        for (int k = 0; k < kMaxVectors; ++k) {
            if (k >= others.count) continue;
            const float4 y = load_four_at(others.data[k], k4);
            sum[k] +=
                weighted[0] * y.x + weighted[1] * y.y + (weighted[2] * y.z + weighted[3] * y.w);
        }
    }
    if (const Index e = 4 * fours + threadIdx.x; blockIdx.x + 1 == gridDim.x && e < size) {
#pragma unroll
        for (int k = 0; k < kMaxVectors; ++k) {
            if (k < others.count) sum[k] += factor(e) * a[e] * others.data[k][e];
        }
    }
#pragma unroll
    for (int k = 0; k < kMaxVectors; ++k) {
        if (k >= others.count) break;
        const double total = sum_over_threads<kVectorThreads>(sum[k]);
        if (threadIdx.x == 0) partial[k * gridDim.x + blockIdx.x] = total;
    }
}

static __global__ void __launch_bounds__(kVectorThreads)
    combine_vectors(Vectors from, Index size, float* out) {
    const Index fours = size / 4,
                thread = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x;
    for (Index k4 = thread; k4 < fours; k4 += static_cast<Index>(gridDim.x) * blockDim.x) {
        float4 sum = {0, 0, 0, 0};
#pragma unroll
        for (int k = 0; k < kMaxVectors; ++k) {
            if (k >= from.count) continue;
            const float4 x = load_four_at(from.data[k], k4);
            const float factor = from.factor[k];
            sum = {sum.x + factor * x.x, sum.y + factor * x.y, sum.z + factor * x.z,
                   sum.w + factor * x.w};
        }
        reinterpret_cast<float4*>(out)[k4] = sum;
    }
    if (const Index e = 4 * fours + thread; e < size) {
        float sum = 0;
#pragma unroll
        for (int k = 0; k < kMaxVectors; ++k) {
            if (k < from.count) sum += from.factor[k] * from.data[k][e];
        }
        out[e] = sum;
    }
}

using pleat::cuda::Sides;

constexpr int kMaxPasses = 30;       // over the sequences, for the fields of one evaluation
constexpr int kUncheckedPasses = 3;  // before the host asks whether more are needed
constexpr int kRowThreads = 128, kSumThreads = 1024;
constexpr float kDenseScale = 64;  // for couplings up to 1023, and down to 1e-9 in two numbers
constexpr double kLargestResidual = 16384;  // approximately; float16 reaches 65504
constexpr double kCoarseRounding = 1e-6, kFineRounding = 1e-9;

// Calls `launch` with the number of letters as a constant if it is a common one, else with 0.
template <class Launch>
void for_letters(int letters, const Launch& launch) {
    switch (letters) {
        case 21: return launch(std::integral_constant<int, 21>{});
        case 5: return launch(std::integral_constant<int, 5>{});
        default: return launch(std::integral_constant<int, 0>{});
    }
}

inline Layout choose_layout(const Problem& problem, std::int64_t free_bytes, int blocks) {
    Layout layout{problem.letters.extent(0), problem.letters.extent(1), problem.letter_count};
    layout.parts = problem.objective_error < kCoarseRounding ? 2 : 1;
    layout.blocks = blocks;
    if (blocks > 0) return layout;
    return fit_layout(layout, Lbfgs::vectors_needed({.history = kHistory}), free_bytes);
}

/// Evaluates on a `Gpu`: CudaGpu or the host in its place, with multiply(OneHotProduct).
template <class Gpu>
class GpuKernel final : public Kernel {
public:
    /// `blocks`: number of column blocks; 0: as few as fit into free GPU memory.
    GpuKernel(const Problem& problem, int blocks, Gpu gpu)
        : problem_(problem),
          gpu_(std::move(gpu)),
          layout_(choose_layout(problem, gpu_.free_bytes(), blocks)) {
        if (problem.letter_count > kMaxLetterCodes)
            throw std::logic_error("too many letters for the CUDA kernel");
        shape_ = {layout_.sequences, layout_.padded_sequences(),
                  layout_.columns,   layout_.letters,
                  layout_.row(),     layout_.parts,
                  layout_.depth(),   layout_.width(),
                  layout_.chunk(),   layout_.chunks()};
        dense_ = Array<__half>(layout_.dense_size());
        residuals_ = Array<__half>(layout_.residual_size());
        logits_ = Array<float>(shape_.width * shape_.padded_sequences);
        products_ = Array<float>(layout_.product_size());
        gap_sums_ = Array<float>(layout_.pair_tiles() * layout_.block_width());
        offsets_ = Array<float>(shape_.width);
        marginal_parts_ = Array<float>(layout_.sequence_tiles() * shape_.width);
        marginals_ = Array<float>(shape_.width);
        partials_ = Array<Partial>(shape_.chunks * shape_.columns);
        states_ = Array<FieldState>(shape_.columns);
        remaining_ = Array<int>(kMaxPasses);
        too_large_ = Array<int>(1);
        dot_parts_ = Array<double>(kMaxVectors * kVectorBlocks);
        pair_sums_ = Array<double2>(layout_.pair_tiles() * shape_.columns);
        sums_ = Array<Sums>(1);
        upload_alignment();
    }

    void reserve(int count) override {
        while (static_cast<int>(vectors_.size()) < count) vectors_.emplace_back(size());
    }
    Index size() const override { return layout_.fields() + layout_.pairs(); }
    double rounding() const override {
        return layout_.parts == 1 ? kCoarseRounding : kFineRounding;
    }
    void download(int vector, float* to) const override { vectors_[vector].download(to); }
    void upload(int vector, const float* from) override { vectors_[vector].upload(from); }
    void dots(int a, std::span<const int> others, std::span<double> out) override {
        if (others.empty()) return;
        gpu_.launch("compute inner products", &dot_stretches, Sides{kVectorBlocks},
                    Sides{kVectorThreads}, 0, vectors_[a].data(), gather(others, {}),
                    layout_.fields(), size(), problem_.pair_metric, dot_parts_.data());
        std::vector<double> parts(others.size() * kVectorBlocks);
        dot_parts_.download(parts.data(), 0, static_cast<Index>(parts.size()));
        for (std::size_t k = 0; k < others.size(); ++k) {
            out[k] = 0;
            for (int b = 0; b < kVectorBlocks; ++b) out[k] += parts[k * kVectorBlocks + b];
        }
    }

    void combine(int out, std::span<const int> vectors, std::span<const double> factors) override {
        gpu_.launch("combine vectors", &combine_vectors, Sides{4 * kVectorBlocks},
                    Sides{kVectorThreads}, 0, gather(vectors, factors), size(),
                    vectors_[out].data());
    }

    Evaluation evaluate_best_fields(int x, int gradient) override {
        return evaluate_at(x, gradient, true);
    }
    Evaluation evaluate_plain(int x, int gradient) override {
        return evaluate_at(x, gradient, false);
    }
    const Evaluation& latest() const override { return latest_; }
    Model model(int vector) const override {
        const Index columns = layout_.columns, count = columns * (columns - 1) / 2;
        const Index block = Index{q()} * q();
        Model model{pleat::Array<float, 2>(columns, q()),
                    pleat::Array<float, 3>::unset(count, q(), q())};
        vectors_[vector].download(model.fields.data(), 0, layout_.fields());
        // The products of the latest evaluation are no longer needed, so their array is the buffer.
        const auto offset = [&](Index i) { return i * (2 * columns - i - 1) / 2 * block; };
        for (Index first = 0; first + 1 < columns;) {
            Index last = first + 1;
            while (last + 1 < columns && offset(last + 1) - offset(first) <= products_.size())
                ++last;
            gpu_.launch("scale couplings", &rescale, Sides{columns, last - first},
                        Sides{kPairThreads}, 0, shape_, pairs(vector), first, spread_, false,
                        products_.data());
            products_.download(model.pairs.data() + offset(first), 0, offset(last) - offset(first));
            first = last;
        }
        return model;
    }

    void set_model(int vector, const Model& model) override {
        vectors_[vector].upload(model.fields.data(), 0, layout_.fields());
        vectors_[vector].upload(model.pairs.data(), layout_.fields(), layout_.pairs());
        gpu_.launch("scale couplings", &rescale, Sides{shape_.columns, shape_.columns},
                    Sides{kPairThreads}, 0, shape_, pairs(vector), 0, spread_, true,
                    vectors_[vector].data() + layout_.fields());
    }

    void set_fields(int vector, View<const float, 2> fields) override {
        gpu_.clear(vectors_[vector], size());
        vectors_[vector].upload(fields.data, 0, layout_.fields());
    }

    pleat::Array<double, 2> raw_scores(int vector, int) const override {
        const Index columns = layout_.columns;
        Array<double> norms(columns * columns);
        gpu_.launch("compute norms", &pair_norms, Sides{columns, columns}, Sides{32}, 0, shape_,
                    pairs(vector), spread_, norms.data());
        pleat::Array<double, 2> scores(columns, columns);
        norms.download(scores.data());
        for (Index i = 0; i < columns; ++i) {
            for (Index j = 0; j < i; ++j) scores(i, j) = scores(j, i);
        }
        return scores;
    }

private:
    template <class T>
    using Array = typename Gpu::template Array<T>;

    void upload_alignment() {
        const Index columns = shape_.columns, tile_columns = layout_.letter_columns();
        std::vector<float> weights(shape_.padded_sequences, 0.0f), counts(layout_.fields()),
            v(layout_.fields());
        double total = 0, largest = 0;
        for (Index n = 0; n < shape_.sequences; ++n) {
            weights[n] = static_cast<float>(problem_.weights[n]);
            total += problem_.weights[n];
            largest = std::max(largest, problem_.weights[n]);
        }
        residual_scale_ =
            std::ldexp(1.0f, static_cast<int>(std::floor(std::log2(kLargestResidual / largest))));
        weights_ = Array<float>(shape_.padded_sequences);
        weights_.upload(weights.data());
        Array<std::uint8_t> rows(shape_.sequences * columns);
        rows.upload(problem_.letters.data);
        letters_ = Array<std::uint16_t>(layout_.letter_size());
        gpu_.launch("tile letters", &tile_letters, Sides{columns, layout_.sequence_tiles()},
                    Sides{kSequenceTile}, 0, shape_, rows.data(), tile_columns, letters_.data());
        Array<double> sums(layout_.fields());
        gpu_.launch("count letters", &count_letters, Sides{columns}, Sides{kCountThreads}, 0,
                    shape_, letters_.data(), tile_columns, weights_.data(), sums.data());
        std::vector<double> all(layout_.fields());
        sums.download(all.data());
        for (Index k = 0; k < layout_.fields(); ++k) {
            const double f = all[k] / total;
            counts[k] = static_cast<float>(all[k]);
            v[k] = static_cast<float>(f * (1 - f));
        }
        counts_ = Array<float>(layout_.fields());
        counts_.upload(counts.data());
        v_ = Array<float>(layout_.fields());
        v_.upload(v.data());
        spread_ = {v_.data(), 1.0f, 0.0f};
        if (problem_.scaled) {
            spread_.offset = static_cast<float>(2 * problem_.lambda_pair);
            spread_.factor = static_cast<float>(2 * total);
        }
        input_ = {{letters_.data(), static_cast<int>(tile_columns), shape_.row},
                  logits_.data(),
                  offsets_.data(),
                  weights_.data(),
                  counts_.data(),
                  problem_.lambda_single};
    }

    Evaluation evaluate_at(int x, int gradient, bool best_fields) {
        const Index fields = layout_.fields();
        gpu_.launch("start the fields", &start_fields, Sides{shape_.columns}, Sides{32}, 0, shape_,
                    vectors_[x].data(), states_.data());
        sum_logits(pairs(x));
        fit_fields(best_fields);
        sum_gradient(pairs(x), vectors_[gradient].data() + fields);
        gpu_.launch("finish an evaluation", &finish_evaluation<kSumThreads>, Sides{1},
                    Sides{kSumThreads}, 0, shape_, states_.data(), best_fields, pair_sums_.data(),
                    pair_sums_.size(), too_large_.data(), vectors_[x].data(),
                    vectors_[gradient].data(), sums_.data());
        Sums sums;
        sums_.download(&sums);
        latest_ = {.objective = sums.data_term + problem_.lambda_single * sums.field_norm2 +
                                problem_.lambda_pair * sums.pair_norm2,
                   .field_gradient2 = sums.field_gradient2,
                   .pair_gradient2 = sums.pair_gradient2,
                   .point2 = sums.field_norm2 + sums.pair_norm2};
        // Such a point is far from a minimum; the line search treats it as too long a step.
        if (sums.too_large != 0) latest_.objective = std::numeric_limits<double>::infinity();
        return latest_;
    }

    /// out[c] = factor * sum_k parts[k][c], k < count.
    void sum_rows(const Array<float>& parts, Index count, Index pitch, Index columns, float factor,
                  float* out) const {
        gpu_.launch("add rows", &add_rows, Sides{(columns + kRowThreads - 1) / kRowThreads},
                    Sides{kRowThreads}, 0, parts.data(), count, pitch, columns, factor, out);
    }

    void sum_logits(const float* pairs) {
        gpu_.clear(too_large_, 1);
        const DenseOperand dense{dense_.data(), shape_.depth, shape_.parts};
        for (Index block = 0; block < block_count(); ++block) {
            const Index first = first_column(block) * shape_.row, width = width_of(block);
            const DenseBlock to{first_column(block),   dense,       gap_sums_.data(),
                                layout_.block_width(), kDenseScale, too_large_.data()};
            for_letters(q(), [&](auto letters) {
                gpu_.launch("build the dense operand", &build_dense<letters.value>,
                            Sides{columns_of(block), layout_.pair_tiles()}, Sides{kPairThreads}, 0,
                            shape_, pairs, spread_, to);
            });
            sum_rows(gap_sums_, layout_.pair_tiles(), layout_.block_width(),
                     columns_of(block) * shape_.row, 1.0f, offsets_.data() + first);
            gpu_.multiply(OneHotProduct{input_.letters, dense_.data(), shape_.parts,
                                        shape_.depth / kTileDepth, 0, shape_.padded_sequences,
                                        width, logits_.data() + first * shape_.padded_sequences,
                                        shape_.padded_sequences, 1 / kDenseScale, false});
        }
    }

    void fit_fields(bool best_fields) {
        const double target2 =
            4 * problem_.lambda_single * field_gap / static_cast<double>(shape_.columns);
        const int passes = best_fields ? kMaxPasses : 1;
        gpu_.clear(remaining_, kMaxPasses);
        for (int pass = 0; pass < passes; ++pass) {
            for_letters(q(), [&](auto letters) {
                gpu_.launch("sum over sequences", &softmax_sums<letters.value - 1>,
                            Sides{shape_.columns, shape_.chunks}, Sides{kSequenceTile}, 0, shape_,
                            input_, states_.data(), partials_.data());
            });
            gpu_.launch("advance the fields", &advance_fields, Sides{shape_.columns},
                        Sides{kFieldThreads}, 0, shape_, input_, partials_.data(), target2, passes,
                        states_.data(), remaining_.data() + pass);
            if (pass + 1 < std::min(kUncheckedPasses, passes)) continue;
            int remaining = 0;
            remaining_.download(&remaining, pass, 1);
            if (remaining == 0) break;
        }
    }

    void sum_residuals() {
        const DenseOperand to{residuals_.data(), shape_.padded_sequences, shape_.parts};
        for_letters(q(), [&](auto letters) {
            gpu_.launch("compute residuals", &residuals<letters.value - 1>,
                        Sides{shape_.columns, layout_.sequence_tiles()}, Sides{kSequenceTile}, 0,
                        shape_, input_, states_.data(), residual_scale_, to,
                        marginal_parts_.data());
        });
        sum_rows(marginal_parts_, layout_.sequence_tiles(), shape_.width, layout_.flat(),
                 1 / residual_scale_, marginals_.data());
    }

    // out[letters of one block][residuals of another]: one of the products.
    ProductBlock sum_products(Index letter_block, Index residual_block, float* out) {
        const Index first_letter = first_column(letter_block) * shape_.row;
        const Index first_residual = first_column(residual_block) * shape_.row;
        const Index depth = shape_.padded_sequences * shape_.parts;
        gpu_.multiply(OneHotProduct{
            input_.letters, residuals_.data() + first_residual * depth, shape_.parts,
            shape_.padded_sequences / kTileDepth, first_letter,
            round_up(columns_of(letter_block) * shape_.row, kTileRows), width_of(residual_block),
            out, layout_.block_width(), 1 / residual_scale_, true});
        return {out, layout_.block_width(), first_column(letter_block),
                first_column(residual_block)};
    }

    void sum_gradient(const float* pairs, float* gradient) {
        sum_residuals();
        for (Index second = 0; second < block_count(); ++second) {
            for (Index first = 0; first <= second; ++first) {
                float* data = products_.data();
                const ProductBlock of_i = sum_products(second, first, data);
                const Index next = layout_.block_width() * layout_.block_width();
                const ProductBlock of_j =
                    first == second ? of_i : sum_products(first, second, data + next);
                const GradientStep step{of_i,
                                        of_j,
                                        marginals_.data(),
                                        pairs,
                                        gradient,
                                        static_cast<float>(problem_.lambda_pair),
                                        pair_sums_.data()};
                for_letters(q(), [&](auto letters) {
                    gpu_.launch("finish the gradient", &finish_gradient<letters.value>,
                                Sides{columns_of(first), tiles_of(second)}, Sides{kPairThreads}, 0,
                                shape_, spread_, step, first_column(first),
                                first_column(second) / kPairColumns);
                });
            }
        }
    }

    Vectors gather(std::span<const int> vectors, std::span<const double> factors) const {
        if (vectors.size() > kMaxVectors) throw std::logic_error("too many vectors in one pass");
        Vectors v{{}, {}, static_cast<int>(vectors.size())};
        for (std::size_t k = 0; k < vectors.size(); ++k) {
            v.data[k] = vectors_[vectors[k]].data();
            v.factor[k] = k < factors.size() ? static_cast<float>(factors[k]) : 1.0f;
        }
        return v;
    }

    const float* pairs(int vector) const { return vectors_[vector].data() + layout_.fields(); }
    int q() const { return layout_.letters; }
    Index first_column(Index block) const { return block * layout_.block_columns(); }
    /// The columns of a block, and its tiles of 8 columns.
    Index columns_of(Index block) const {
        return std::min(layout_.block_columns(), layout_.columns - first_column(block));
    }
    Index tiles_of(Index block) const {
        return (columns_of(block) + kPairColumns - 1) / kPairColumns;
    }
    Index width_of(Index block) const {
        return round_up(columns_of(block) * layout_.row(), kTileColumns);
    }
    Index block_count() const {
        return (layout_.columns + layout_.block_columns() - 1) / layout_.block_columns();
    }

    Problem problem_;
    Gpu gpu_;
    Layout layout_;
    DeviceShape shape_;
    float residual_scale_ = 1;
    Array<std::uint16_t> letters_;
    Array<__half> dense_, residuals_;
    Array<float> weights_, counts_, v_, logits_, products_, gap_sums_, offsets_;
    Array<float> marginal_parts_, marginals_;
    Array<Partial> partials_;
    Array<FieldState> states_;
    Array<int> remaining_, too_large_;
    Array<double> dot_parts_;
    Array<double2> pair_sums_;
    Array<Sums> sums_;
    std::vector<Array<float>> vectors_;
    Spread spread_{};
    ColumnInput input_{};
    Evaluation latest_;
};

}  // namespace pleat::couplings::cuda

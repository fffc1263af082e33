// Distance moments: powers of positions in bins, and their sums, for every instruction set.
#include "pleat/saxs/debye/distance_moments.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pleat/saxs/debye/distance_moments.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include <hwy/highway.h>

#include "pleat/saxs/debye/sines-inl.h"

HWY_BEFORE_NAMESPACE();
namespace pleat::saxs::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Lanes = hn::CappedTag<float, kSlack>;
using V = hn::Vec<Lanes>;
/// A vector of the powers of one distance, or of some of them.
using Few = hn::CappedTag<float, kMoments>;

constexpr Index kBlock = 4;  ///< floats that shuffles keep together
/// Vectors of q whose sums fill the registers.
constexpr int kVectors = HWY_TARGET <= HWY_AVX3 ? 2 : 1;

/// The index of the distance whose powers store_powers() writes at position `n`.
HWY_INLINE constexpr Index distance_at(Index n, Index lanes) {
    if (lanes <= kBlock) return n;
    const Index batch_size = lanes / kMoments;  // a vector has powers of so many distances
    const Index vector = n / batch_size, block = vector / kBlock + 2 * (n % batch_size);
    return kBlock * block + vector % kBlock;
}

#if HWY_TARGET == HWY_SCALAR
HWY_INLINE void store_powers(Lanes d, V inverse, V x, float* HWY_RESTRICT to) {
    for (Index m = 0; m < kMoments; ++m, inverse = hn::Mul(inverse, x))
        hn::Store(inverse, d, to + m);
}
#else
/// Stores w, w x, w x^2, w x^3 of four blocks of distances, distance by distance.
HWY_INLINE void store_four(Lanes d, V w, V x, V x2, float* HWY_RESTRICT to, Index stride) {
    const hn::Repartition<double, Lanes> float64_sums;
    const V first = hn::Mul(w, x), second = hn::Mul(w, x2), third = hn::Mul(first, x2);
    const auto low = hn::BitCast(float64_sums, hn::InterleaveLower(d, w, first));
    const auto low_rest = hn::BitCast(float64_sums, hn::InterleaveLower(d, second, third));
    const auto high = hn::BitCast(float64_sums, hn::InterleaveUpper(d, w, first));
    const auto high_rest = hn::BitCast(float64_sums, hn::InterleaveUpper(d, second, third));
    hn::Store(hn::BitCast(d, hn::InterleaveLower(float64_sums, low, low_rest)), d, to);
    hn::Store(hn::BitCast(d, hn::InterleaveUpper(float64_sums, low, low_rest)), d, to + stride);
    hn::Store(hn::BitCast(d, hn::InterleaveLower(float64_sums, high, high_rest)), d,
              to + 2 * stride);
    hn::Store(hn::BitCast(d, hn::InterleaveUpper(float64_sums, high, high_rest)), d,
              to + 3 * stride);
}

/// Stores the eight powers of each distance side by side, in the order of distance_at(). Shuffles
/// within blocks group four powers, so blocks are stored twice, with w and with w x^4.
HWY_INLINE void store_powers(Lanes d, V inverse, V x, float* HWY_RESTRICT to) {
    const Index lanes = static_cast<Index>(hn::Lanes(d));
    const V square = hn::Mul(x, x), more = hn::Mul(hn::Mul(inverse, square), square);
    if (lanes <= kBlock) {
        store_four(d, inverse, x, square, to, kMoments);
        store_four(d, more, x, square, to + kBlock, kMoments);
        return;
    }
    const V other = hn::SwapAdjacentBlocks(x);
    const V even = hn::OddEvenBlocks(other, x), odd = hn::OddEvenBlocks(x, other);
    store_four(d, hn::OddEvenBlocks(hn::SwapAdjacentBlocks(more), inverse), even,
               hn::Mul(even, even), to, lanes);
    store_four(d, hn::OddEvenBlocks(more, hn::SwapAdjacentBlocks(inverse)), odd, hn::Mul(odd, odd),
               to + kBlock * lanes, lanes);
}
#endif

/// Bins and powers of a chunk.
HWY_INLINE void spread(DistanceMoments& moments, const DistanceChunk<float>& chunk) {
    const Lanes d;
    const hn::RebindToSigned<Lanes> di;
    const Index lanes = static_cast<Index>(hn::Lanes(d));
    const V bins_per_angstrom = hn::Set(d, moments.table->bins_per_angstrom);
    const V last = hn::Set(d, static_cast<float>(moments.all.extent(1) - 1));
    const float* HWY_RESTRICT const squared = chunk.squared.data();
    float* HWY_RESTRICT const powers = moments.powers.data();
    std::int32_t* HWY_RESTRICT const bin_offsets = moments.bin_offsets.data();
    static_assert(kMoments == 8);
    for (Index p = 0; p < chunk.count; p += lanes) {
        V r, inverse;
        distance(d, hn::Load(d, squared + p), r, inverse);
        // Clamps the bin, so that even a wrong distance cannot write outside the array.
        const auto bin = hn::NearestInt(hn::Min(hn::Mul(r, bins_per_angstrom), last));
        hn::Store(hn::ShiftLeft<3>(bin), di, bin_offsets + p);
        store_powers(d, inverse, hn::MulSub(r, bins_per_angstrom, hn::ConvertTo(d, bin)),
                     powers + p * kMoments);
    }
}

/// Adds the powers of one distance to its bin.
template <bool kPlain>
HWY_INLINE void add_one(const float* HWY_RESTRICT from, float weight, float* HWY_RESTRICT to) {
    const Few d;
    const Index lanes = static_cast<Index>(hn::Lanes(d));
    for (Index m = 0; m < kMoments; m += lanes) {
        const auto sum = hn::Load(d, to + m), term = hn::Load(d, from + m);
        hn::Store(kPlain ? hn::Add(sum, term) : hn::MulAdd(term, hn::Set(d, weight), sum), d,
                  to + m);
    }
}

/// A separate loop with short vectors: mixing short and long vectors in one loop is slower.
template <bool kPlain>
HWY_INLINE void collect(const DistanceMoments& moments, const float* HWY_RESTRICT weight,
                        Index count, float* HWY_RESTRICT bins) {
    const Index lanes = static_cast<Index>(hn::Lanes(Lanes()));
    const float* HWY_RESTRICT from = moments.powers.data();
    const std::int32_t* HWY_RESTRICT const bin_offsets = moments.bin_offsets.data();
    float* const copies[] = {bins, bins + moments.copy_stride(), bins + 2 * moments.copy_stride(),
                             bins + 3 * moments.copy_stride()};
    static_assert(std::size(copies) == kCopies);
    Index p = 0;
    for (; p + lanes <= count; p += lanes, from += lanes * kMoments)
        HWY_UNROLL(16) for (Index n = 0; n < lanes; ++n) {
            const Index at = p + distance_at(n, lanes);
            add_one<kPlain>(from + n * kMoments, kPlain ? 1.0f : weight[at],
                            copies[n % kCopies] + bin_offsets[at]);
        }
    if (p == count) return;
    for (Index n = 0; n < lanes; ++n) {
        const Index at = p + distance_at(n, lanes);
        if (at < count)
            add_one<kPlain>(from + n * kMoments, kPlain ? 1.0f : weight[at],
                            copies[n % kCopies] + bin_offsets[at]);
    }
}

void add_all(DistanceMoments& moments, DistanceChunk<float>& chunk) {
    // Values that vectors read past the last distance must be valid bins too.
    std::fill_n(chunk.squared.data() + chunk.count, kSlack, chunk.squared.data()[chunk.count - 1]);
    spread(moments, chunk);
    for (Index n = 0; n < moments.weightings.count; ++n) {
        if (!chunk.is_used(n)) continue;
        float* const bins = &moments.moments(n, 0, 0, 0);
        if (n == 0 && moments.weightings.first_is_one)
            collect<true>(moments, nullptr, chunk.count, bins);
        else
            collect<false>(moments, chunk.weight(n), chunk.count, bins);
    }
}

/// For kCount vectors of q, sums over bins the moments times the waves at the bin centres, into
/// moments.waves [power, q].
template <int kCount>
HWY_INLINE void waves_of(DistanceMoments& moments, const float* HWY_RESTRICT all, Index first,
                         Index last, Index k) {
    const Lanes d;
    const Index lanes = static_cast<Index>(hn::Lanes(d)), stride = moments.table->q_stride;
    V sum[kMoments][kCount];
    HWY_UNROLL(8)
    for (Index m = 0; m < kMoments; ++m)
        HWY_UNROLL(2) for (int n = 0; n < kCount; ++n) sum[m][n] = hn::Zero(d);
    for (Index bin = first; bin < last; ++bin) {
        const float* HWY_RESTRICT const wave = &moments.table->waves(bin, k);
        const float* HWY_RESTRICT const moment = all + bin * kMoments;
        V sine_cosine[2][kCount];
        HWY_UNROLL(2) for (int n = 0; n < kCount; ++n) {
            sine_cosine[0][n] = hn::Load(d, wave + n * lanes);
            sine_cosine[1][n] = hn::Load(d, wave + stride + n * lanes);
        }
        HWY_UNROLL(8) for (Index m = 0; m < kMoments; ++m) {
            const V value = hn::Set(d, moment[m]);
            HWY_UNROLL(2)
            for (int n = 0; n < kCount; ++n)
                sum[m][n] = hn::MulAdd(value, sine_cosine[m % 2][n], sum[m][n]);
        }
    }
    HWY_UNROLL(8)
    for (Index m = 0; m < kMoments; ++m) HWY_UNROLL(2)
    for (int n = 0; n < kCount; ++n) hn::Store(sum[m][n], d, &moments.waves(m, k + n * lanes));
}

/// Adds the copies of all bins to moments.all, and empties them.
void join(DistanceMoments& moments) {
    const Few d;
    const Index lanes = static_cast<Index>(hn::Lanes(d)), stride = moments.copy_stride();
    for (Index w = 0; w < moments.weightings.count; ++w) {
        float* HWY_RESTRICT const copies = &moments.moments(w, 0, 0, 0);
        float* HWY_RESTRICT const all = &moments.all(w, 0, 0);
        static_assert(kCopies == 4);
        for (Index m = 0; m < stride; m += lanes) {
            float* HWY_RESTRICT const bin = copies + m;
            const auto sum =
                hn::Add(hn::Add(hn::Load(d, bin), hn::Load(d, bin + stride)),
                        hn::Add(hn::Load(d, bin + 2 * stride), hn::Load(d, bin + 3 * stride)));
            hn::Store(hn::Add(sum, hn::Load(d, all + m)), d, all + m);
            HWY_UNROLL(4)
            for (Index copy = 0; copy < kCopies; ++copy)
                hn::Store(hn::Zero(d), d, bin + copy * stride);
        }
    }
}

/// Adds the products of waves and powers to `to` [q].
HWY_INLINE void add_waves(const DistanceMoments& moments, double* HWY_RESTRICT to) {
    const hn::CappedTag<double, kSlack / 2> d;
    const hn::Rebind<float, decltype(d)> narrow;
    const Index lanes = static_cast<Index>(hn::Lanes(d)), stride = moments.table->q_stride;
    const float* HWY_RESTRICT const wave = moments.waves.data();
    const double* HWY_RESTRICT const power = moments.table->powers.data();
    for (Index k = 0; k < stride; k += lanes) {
        auto sum = hn::Load(d, to + k);
        HWY_UNROLL(8)
        for (Index m = 0; m < kMoments; ++m)
            sum = hn::MulAdd(hn::Load(d, power + m * stride + k),
                             hn::PromoteTo(d, hn::Load(narrow, wave + m * stride + k)), sum);
        hn::Store(sum, d, to + k);
    }
}

HWY_INLINE bool is_empty(const float* moments) {
    const Few d;
    auto any = hn::Zero(d);
    for (Index m = 0; m < kMoments; m += static_cast<Index>(hn::Lanes(d)))
        any = hn::Or(any, hn::Load(d, moments + m));
    return hn::AllTrue(d, hn::Eq(any, hn::Zero(d)));
}

void convert(DistanceMoments& moments) {
    const MomentTable& table = *moments.table;
    const Index lanes = static_cast<Index>(hn::Lanes(Lanes()));
    for (Index w = 0; w < moments.weightings.count; ++w) {
        float* const all = &moments.all(w, 0, 0);
        Index first = 0, last = moments.all.extent(1), k = 0;
        while (last > first && is_empty(all + (last - 1) * kMoments)) --last;
        while (last > first && is_empty(all + first * kMoments)) ++first;
        for (; k + kVectors * lanes <= table.q_stride; k += kVectors * lanes)
            waves_of<kVectors>(moments, all, first, last, k);
        if (k < table.q_stride) waves_of<1>(moments, all, first, last, k);
        add_waves(moments, &moments.float64_sums(w, 0));
        std::fill(all + first * kMoments, all + last * kMoments, 0.0f);
    }
}

}  // namespace pleat::saxs::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pleat::saxs {

namespace {

/// Rows of q are padded to a multiple of this.
constexpr Index kLanes = 16;
/// Half a bin's width in units of 1 / q, at the last q.
constexpr double kHalfWidth = 0.75;
constexpr Index kMaxBins = 2048;
constexpr Index kMaxWaves = Index{1} << 22;

/// Coefficients of the powers of y of Chebyshev's polynomial of this degree.
std::array<double, kMoments> chebyshev(Index degree) {
    std::array<double, kMoments> before{1.0}, now{0.0, 1.0};
    if (degree == 0) return before;
    for (Index n = 1; n < degree; ++n) {
        std::array<double, kMoments> next{};
        for (std::size_t power = 0; power < next.size(); ++power)
            next[power] = (power > 0 ? 2.0 * now[power - 1] : 0.0) - before[power];
        before = now;
        now = next;
    }
    return now;
}

}  // namespace

MomentTable::MomentTable(const SineGrid& from)
    : grid(&from),
      q_stride((from.count + kLanes - 1) / kLanes * kLanes),
      powers(kMoments, q_stride) {
    const double smallest = std::max(from.q.back() / (2.0 * kHalfWidth), 1e-6);
    constexpr double kDigits = 16.0;
    int exponent = 0;
    const double fraction = std::frexp(smallest, &exponent);
    bins_per_angstrom =
        static_cast<float>(std::ldexp(std::ceil(fraction * kDigits) / kDigits, exponent));
    const double half = 0.5 / static_cast<double>(bins_per_angstrom);
    for (Index degree = 0; degree < kMoments; ++degree) {
        const std::array<double, kMoments> polynomial = chebyshev(degree);
        for (Index k = 0; k < grid->count; ++k) {
            const double q = grid->q[k];
            if (q <= 0.0) continue;
            const double bessel = ::jn(static_cast<int>(degree), q * half);
            const double sign = degree / 2 % 2 == 0 ? 1.0 : -1.0;
            const double term = (degree == 0 ? 1.0 : 2.0) * sign * bessel / q;
            for (Index power = 0; power <= degree; ++power)  // y = 2 x
                powers(power, k) +=
                    term * polynomial[power] * std::ldexp(1.0, static_cast<int>(power));
        }
    }
}

/// One bin per bin width, half a bin at each end, and one bin more in case of rounding errors.
Index MomentTable::needed_bins(double reach) const {
    const double widths = reach * static_cast<double>(bins_per_angstrom);
    return widths < static_cast<double>(kMaxBins) ? static_cast<Index>(widths) + 3 : 0;
}

void MomentTable::extend_to(double reach) {
    const Index bins = needed_bins(reach);
    if (bins <= waves.extent(0) || bins > kMaxBins || bins * q_stride > kMaxWaves) return;
    Array<float, 2> more(bins, 2 * q_stride);
    std::ranges::copy(waves, more.begin());
    for (Index bin = waves.extent(0); bin < bins; ++bin) {
        const double centre = static_cast<double>(bin) / static_cast<double>(bins_per_angstrom);
        for (Index k = 0; k < grid->count; ++k) {
            const double phase = grid->q[k] * centre;
            more(bin, k) = static_cast<float>(std::sin(phase));
            more(bin, q_stride + k) = static_cast<float>(std::cos(phase));
        }
    }
    waves = std::move(more);
}

Index MomentTable::bins(double reach) const {
    const Index bins = needed_bins(reach);
    return bins <= waves.extent(0) ? bins : 0;
}

/// Counts vectors of 16 distances or values of q.
bool MomentTable::is_faster(double pairs, double reach, Index weightings) const {
    const double bins_taken = static_cast<double>(bins(reach)),
                 sums = static_cast<double>(weightings);
    if (bins_taken == 0.0) return false;
    const double q = static_cast<double>(grid->count);
    const double by_sines = grid->even ? 90.0 + 1.3 * sums * q : (12.0 + sums) * q;
    const double by_moments = 55.0 + 35.0 * sums;
    const double conversion = sums * 0.7 * bins_taken * static_cast<double>(kMoments * q_stride);
    return pairs * by_sines > pairs * by_moments + conversion;
}

HWY_EXPORT(add_all);
HWY_EXPORT(convert);
HWY_EXPORT(join);

namespace {

/// Distances after which copies are added up: sums of sums have smaller rounding errors.
constexpr Index kMaxAdded = 1 << 13;

void join_copies(DistanceMoments& moments) {
    HWY_DYNAMIC_DISPATCH(join)(moments);
    moments.pending_count = 0;
}

}  // namespace

DistanceMoments::DistanceMoments(const MomentTable& from, Weightings given)
    : table(&from),
      weightings(given),
      powers((kChunk + kSlack) * kMoments),
      bin_offsets(kChunk + kSlack),
      waves(kMoments, from.q_stride),
      float64_sums(given.count, from.q_stride) {}

void begin_moments(DistanceMoments& moments, double reach) {
    const Index bins = moments.table->bins(reach);
    if (bins <= moments.all.extent(1)) return;
    moments.moments = Array<float, 4>(moments.weightings.count, kCopies, bins, kMoments);
    moments.all = Array<float, 3>(moments.weightings.count, bins, kMoments);
}

void add_chunk(DistanceMoments& moments, DistanceChunk<float>& chunk) {
    if (chunk.count > 0) HWY_DYNAMIC_DISPATCH(add_all)(moments, chunk);
    moments.pending_count += chunk.count;
    chunk.count = 0;
    if (moments.pending_count >= kMaxAdded) join_copies(moments);
}

void take_sums(DistanceMoments& moments, const double* total, View<double, 2> result) {
    join_copies(moments);
    HWY_DYNAMIC_DISPATCH(convert)(moments);
    const SineGrid& grid = *moments.table->grid;
    for (Index w = 0; w < moments.weightings.count; ++w)
        std::copy_n(&moments.float64_sums(w, 0), grid.count, &result(w, 0));
    if (grid.q.front() == 0.0)
        for (Index w = 0; w < moments.weightings.count; ++w) result(w, 0) = total[w];
    moments.float64_sums.fill(0.0);
}

}  // namespace pleat::saxs
#endif

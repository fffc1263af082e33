// CPU kernel: compares vectors of bit planes; compiled for every instruction set.
#include <algorithm>
#include <utility>

#include "pleat/core/array.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/weights/kernel.h"

#define HWY_WANT_AVX3_DL 1  // its population count of 64-bit lanes is one instruction
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pleat/weights/kernel_cpu.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace pleat::weights::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Words = hn::CappedTag<std::uint64_t, BitPlanes::kGroup>;
using Vector = hn::Vec<Words>;

/// The number of bits set in each 64-bit lane. Instruction sets without a population count of that
/// width add up the counts of bytes. The scalar target has no SumsOf8, so it must be found by
/// argument type, which happens only in the branch that is compiled.
template <class V>
HWY_INLINE V count_bits(V bits) {
    if constexpr (HWY_TARGET == HWY_AVX3_DL || HWY_TARGET == HWY_SCALAR) {
        return hn::PopulationCount(bits);
    } else {
        const hn::Repartition<std::uint8_t, hn::DFromV<V>> bytes;
        return SumsOf8(hn::PopulationCount(hn::BitCast(bytes, bits)));
    }
}

/// The number of columns of one word in which the sequence at `row` (one of a group of eight)
/// differs from each of the vector of sequences at `column`. Unrolls the planes, which compilers do
/// not.
template <int... planes>
HWY_INLINE Vector differences(const std::uint64_t* HWY_RESTRICT row,
                              const std::uint64_t* HWY_RESTRICT column,
                              std::integer_sequence<int, planes...>) {
    constexpr Index kGroup = BitPlanes::kGroup;
    const Words d;
    Vector any = hn::Zero(d);
    ((any = hn::Or(
          any, hn::Xor(hn::Set(d, row[planes * kGroup]), hn::Load(d, column + planes * kGroup)))),
     ...);
    return count_bits(any);
}

/// Adds up the differences between four sequences from `row` on and the vector of sequences at
/// `column`, word by word. Stops and returns false as soon as all these pairs differ in more than
/// `max_differences` columns, which for most pairs is soon.
template <int kPlanes>
HWY_INLINE bool compare_four(const std::uint64_t* HWY_RESTRICT row,
                             const std::uint64_t* HWY_RESTRICT column, Index words,
                             Index max_differences, Vector& count0, Vector& count1, Vector& count2,
                             Vector& count3) {
    constexpr std::make_integer_sequence<int, kPlanes> planes;
    constexpr Index kWord = kPlanes * BitPlanes::kGroup;
    const Words d;
    const hn::RebindToSigned<Words> numbers;
    const auto limit = hn::Set(numbers, max_differences);
    // No pair differs in more columns than were compared, so earlier checks cannot succeed.
    const Index first_check = max_differences / 64;
    count0 = count1 = count2 = count3 = hn::Zero(d);
    for (Index word = 0; word < words; ++word, row += kWord, column += kWord) {
        count0 = hn::Add(count0, differences(row, column, planes));
        count1 = hn::Add(count1, differences(row + 1, column, planes));
        count2 = hn::Add(count2, differences(row + 2, column, planes));
        count3 = hn::Add(count3, differences(row + 3, column, planes));
        if (word < first_check) continue;
        const auto min01 = hn::Min(hn::BitCast(numbers, count0), hn::BitCast(numbers, count1));
        const auto min23 = hn::Min(hn::BitCast(numbers, count2), hn::BitCast(numbers, count3));
        if (hn::AllTrue(numbers, hn::Gt(hn::Min(min01, min23), limit))) return false;
    }
    return true;
}

/// Counts the neighbours among pairs of four sequences from `n` on (all in one group) and the
/// groups [first_column, last_column), none of which is before that group.
template <int kPlanes>
void count_four_rows(const BitPlanes& packed, Index max_differences, Index n, Index first_column,
                     Index last_column, std::uint64_t* HWY_RESTRICT counts) {
    constexpr Index kGroup = BitPlanes::kGroup;
    const Words d;
    const hn::RebindToSigned<Words> numbers;
    const auto limit = hn::Set(numbers, max_differences);
    // All bits set if the pair is near, else none.
    const auto near = [&](Vector count) HWY_ATTR {
        return hn::Not(
            hn::BitCast(d, hn::VecFromMask(numbers, hn::Gt(hn::BitCast(numbers, count), limit))));
    };
    const Index words = packed.word_count();
    const Index group_size = words * kPlanes * kGroup;
    const std::uint64_t* row = packed.bits.data() + n / kGroup * group_size + n % kGroup;
    const std::uint64_t* copies = packed.multiplicity.data();
    Vector sum0 = hn::Zero(d), sum1 = sum0, sum2 = sum0, sum3 = sum0;
    Vector count0, count1, count2, count3;
    for (Index group = first_column; group < last_column; ++group) {
        for (Index lane = 0; lane < kGroup; lane += static_cast<Index>(hn::Lanes(d))) {
            const std::uint64_t* column = packed.bits.data() + group * group_size + lane;
            if (!compare_four<kPlanes>(row, column, words, max_differences, count0, count1, count2,
                                       count3)) {
                continue;
            }
            const Vector near0 = near(count0), near1 = near(count1);
            const Vector near2 = near(count2), near3 = near(count3);
            const Index m = group * kGroup + lane;
            const Vector column_copies = hn::Load(d, copies + m);
            sum0 = hn::Add(sum0, hn::And(near0, column_copies));
            sum1 = hn::Add(sum1, hn::And(near1, column_copies));
            sum2 = hn::Add(sum2, hn::And(near2, column_copies));
            sum3 = hn::Add(sum3, hn::And(near3, column_copies));
            // A group is compared with itself once, which covers both orders of its pairs.
            if (group == n / kGroup) continue;
            const Vector both01 = hn::Add(hn::And(near0, hn::Set(d, copies[n])),
                                          hn::And(near1, hn::Set(d, copies[n + 1])));
            const Vector both23 = hn::Add(hn::And(near2, hn::Set(d, copies[n + 2])),
                                          hn::And(near3, hn::Set(d, copies[n + 3])));
            const Vector before = hn::Load(d, counts + m);
            hn::Store(hn::Add(before, hn::Add(both01, both23)), d, counts + m);
        }
    }
    counts[n] += hn::GetLane(hn::SumOfLanes(d, sum0));
    counts[n + 1] += hn::GetLane(hn::SumOfLanes(d, sum1));
    counts[n + 2] += hn::GetLane(hn::SumOfLanes(d, sum2));
    counts[n + 3] += hn::GetLane(hn::SumOfLanes(d, sum3));
}

template <int kPlanes>
void count_tile(const BitPlanes& packed, Index max_differences, const PairTile& tile,
                std::uint64_t* counts) {
    constexpr Index kGroup = BitPlanes::kGroup;
    for (Index group = tile.first_row; group < tile.last_row; ++group) {
        const Index first_column = std::max(group, tile.first_column);
        for (Index n = group * kGroup; n < (group + 1) * kGroup; n += 4) {
            count_four_rows<kPlanes>(packed, max_differences, n, first_column, tile.last_column,
                                     counts);
        }
    }
}

/// Adds the neighbours among the pairs of `tile` to `counts`, one number per distinct sequence.
void count_pairs(const BitPlanes& packed, Index max_differences, const PairTile& tile,
                 std::uint64_t* counts) {
    switch (packed.plane_count()) {
        case 3: return count_tile<3>(packed, max_differences, tile, counts);
        case 5: return count_tile<5>(packed, max_differences, tile, counts);
        default: return count_tile<8>(packed, max_differences, tile, counts);
    }
}

}  // namespace pleat::weights::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pleat::weights {
namespace {

HWY_EXPORT(count_pairs);

/// Groups per side of a tile, whose columns then fit in the L2 cache.
constexpr Index kTileGroups = 64;
/// Words of pairs in one step, about 0.1 s of one core.
constexpr Index kStepWords = Index{1} << 28;

class CpuKernel final : public Kernel {
public:
    CpuKernel(const Problem& problem, int threads)
        : packed_(pack(problem.letters, threads)),
          max_differences_(problem.max_differences),
          threads_(threads),
          counts_(static_cast<Index>(threads), packed_.group_count() * BitPlanes::kGroup) {
        const Index groups = packed_.group_count();
        for (Index row = 0; row < groups; row += kTileGroups) {
            for (Index column = row; column < groups; column += kTileGroups) {
                tiles_.push_back({row, std::min(row + kTileGroups, groups), column,
                                  std::min(column + kTileGroups, groups)});
            }
        }
        const Index side = kTileGroups * BitPlanes::kGroup;
        tiles_per_step_ = std::max(Index{1}, kStepWords / (side * side * packed_.word_count()));
    }

    Index step_count() const override {
        return (static_cast<Index>(tiles_.size()) + tiles_per_step_ - 1) / tiles_per_step_;
    }

    void step(Index index) override {
        const Index first = index * tiles_per_step_;
        const Index last = std::min(first + tiles_per_step_, static_cast<Index>(tiles_.size()));
        const auto count = HWY_DYNAMIC_DISPATCH(count_pairs);
        parallel_for(threads_, last - first, [&](Index offset, int thread) {
            count(packed_, max_differences_, tiles_[first + offset], counts_[thread].data);
        });
    }

    std::vector<Index> neighbours() const override {
        std::vector<Index> total(static_cast<std::size_t>(counts_.extent(1)), 0);
        for (Index thread = 0; thread < counts_.extent(0); ++thread) {
            for (Index u = 0; u < counts_.extent(1); ++u) {
                total[u] += static_cast<Index>(counts_(thread, u));
            }
        }
        std::vector<Index> result(packed_.distinct.size());
        for (std::size_t n = 0; n < result.size(); ++n) {
            result[n] = total[packed_.distinct[n]];
        }
        return result;
    }

private:
    BitPlanes packed_;
    Index max_differences_;
    int threads_;
    Array<std::uint64_t, 2> counts_;  ///< [thread, distinct sequence]
    std::vector<PairTile> tiles_;
    Index tiles_per_step_ = 1;
};

}  // namespace

std::unique_ptr<Kernel> make_cpu_kernel(const Problem& problem, const Context& context) {
    return std::make_unique<CpuKernel>(problem, resolve_threads(context));
}

}  // namespace pleat::weights
#endif

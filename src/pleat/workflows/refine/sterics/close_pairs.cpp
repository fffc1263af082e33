// Close pairs: a ball with sixteen others at a time, compiled for every instruction set.
#include "pleat/workflows/refine/sterics/close_pairs.h"

#include <algorithm>
#include <bit>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pleat/workflows/refine/sterics/close_pairs.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace pleat::refine::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Calls `use(n)` for each of the balls [first, last) that is closer to `at` than `reach`.
template <class Use>
HWY_INLINE void for_each_near(const Balls& balls, std::size_t first, std::size_t last, Vector at,
                              double reach, const Use& use) {
    constexpr std::size_t kBlock = Balls::kBlock;
    const hn::CappedTag<double, kBlock> d;
    const auto x = hn::Set(d, at.x), y = hn::Set(d, at.y), z = hn::Set(d, at.z);
    for (; first < last; first += kBlock) {
        std::uint32_t near = 0;
        for (std::size_t lane = 0; lane < kBlock; lane += hn::Lanes(d)) {
            const std::size_t n = first + lane;
            const auto dx = hn::Sub(hn::LoadU(d, balls.x.data() + n), x);
            const auto dy = hn::Sub(hn::LoadU(d, balls.y.data() + n), y);
            const auto dz = hn::Sub(hn::LoadU(d, balls.z.data() + n), z);
            const auto limit = hn::Add(hn::Set(d, reach), hn::LoadU(d, balls.radius.data() + n));
            const auto square = hn::MulAdd(dx, dx, hn::MulAdd(dy, dy, hn::Mul(dz, dz)));
            std::uint8_t bits[8] = {};
            hn::StoreMaskBits(d, hn::Lt(square, hn::Mul(limit, limit)), bits);
            near |= static_cast<std::uint32_t>(bits[0]) << lane;
        }
        near &= 0xffffU >> (kBlock - std::min(kBlock, last - first));
        for (; near != 0; near &= near - 1)
            use(first + static_cast<std::size_t>(std::countr_zero(near)));
    }
}

void close_pairs(const BlockedPoints& of, double reach,
                 std::vector<std::pair<Index, Index>>& pairs) {
    const auto add_close = [&](std::size_t point, std::size_t first, std::size_t last) HWY_ATTR {
        for_each_near(of.points, first, last, of.points.at(point), reach,
                      [&](std::size_t other) HWY_ATTR {
                          pairs.emplace_back(static_cast<Index>(point), static_cast<Index>(other));
                      });
    };
    const auto compare_blocks = [&](std::size_t own, std::size_t other) HWY_ATTR {
        const std::size_t first = of.first_point[other], last = of.first_point[other + 1];
        for_each_near(of.points, of.first_point[own], of.first_point[own + 1], of.blocks.at(other),
                      reach + of.blocks.radius[other],
                      [&](std::size_t point) HWY_ATTR { add_close(point, first, last); });
    };
    const auto compare_clusters = [&](std::size_t own, std::size_t other) HWY_ATTR {
        const auto compare_block = [&](std::size_t block) HWY_ATTR {
            for_each_near(of.blocks, of.first_block[other], of.first_block[other + 1],
                          of.blocks.at(block), reach + of.blocks.radius[block],
                          [&](std::size_t near) HWY_ATTR { compare_blocks(block, near); });
        };
        for_each_near(of.blocks, of.first_block[own], of.first_block[own + 1],
                      of.clusters.at(other), reach + of.clusters.radius[other], compare_block);
    };
    const std::size_t clusters = of.has_own_pairs.size();
    for (std::size_t own = 0; own < clusters; ++own) {
        if (of.has_own_pairs[own] != 0) {
            const std::size_t block = of.first_block[own], last = of.first_point[block + 1];
            for (std::size_t point = of.first_point[block]; point < last; ++point)
                add_close(point, point + 1, last);
        }
        for_each_near(of.clusters, own + 1, clusters, of.clusters.at(own),
                      reach + of.clusters.radius[own],
                      [&](std::size_t other) HWY_ATTR { compare_clusters(own, other); });
    }
}

}  // namespace pleat::refine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pleat::refine {
namespace {

HWY_EXPORT(close_pairs);

}  // namespace

void find_close_pairs(const BlockedPoints& of, double reach,
                      std::vector<std::pair<Index, Index>>& pairs) {
    constexpr double kRounding = 1e-9;  // no pair within reach may be left out, however rounded
    pairs.clear();
    HWY_DYNAMIC_DISPATCH(close_pairs)(of, reach + kRounding, pairs);
}

}  // namespace pleat::refine
#endif  // HWY_ONCE

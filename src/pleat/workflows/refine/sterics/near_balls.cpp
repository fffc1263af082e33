// Near balls: distances of one ball to sixteen others, compiled for every instruction set.
#include "pleat/workflows/refine/sterics/near_balls.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pleat/workflows/refine/sterics/near_balls.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace pleat::refine::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void near_bits(const Balls& balls, const Balls& others, float reach,
               std::span<const BallQuery> queries, std::uint32_t* HWY_RESTRICT bits) {
    const hn::CappedTag<float, Balls::kBlock> d;
    const float *const x = others.x.data(), *const y = others.y.data(), *const z = others.z.data(),
                       *const radius = others.radius.data();
    for (std::size_t n = 0; n < queries.size(); ++n) {
        const BallQuery& query = queries[n];
        const auto at_x = hn::Set(d, balls.x[query.ball]), at_y = hn::Set(d, balls.y[query.ball]),
                   at_z = hn::Set(d, balls.z[query.ball]),
                   own = hn::Set(d, balls.radius[query.ball] + reach);
        std::uint32_t near = 0;
        for (std::size_t lane = 0; lane < Balls::kBlock; lane += hn::Lanes(d)) {
            const std::size_t from = query.first + lane;
            const auto dx = hn::Sub(hn::LoadU(d, x + from), at_x);
            const auto dy = hn::Sub(hn::LoadU(d, y + from), at_y);
            const auto dz = hn::Sub(hn::LoadU(d, z + from), at_z);
            const auto limit = hn::Add(hn::LoadU(d, radius + from), own);
            const auto square = hn::MulAdd(dx, dx, hn::MulAdd(dy, dy, hn::Mul(dz, dz)));
            std::uint8_t some[8] = {};
            hn::StoreMaskBits(d, hn::Lt(square, hn::Mul(limit, limit)), some);
            near |= (some[0] | static_cast<std::uint32_t>(some[1]) << 8) << lane;
        }
        bits[n] = near & (0xffffU >> (Balls::kBlock - query.count));
    }
}

}  // namespace pleat::refine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pleat::refine {
namespace {

HWY_EXPORT(near_bits);

}  // namespace

void find_near(const Balls& balls, const Balls& others, float reach,
               std::span<const BallQuery> queries, std::uint32_t* bits) {
    HWY_DYNAMIC_DISPATCH(near_bits)(balls, others, reach, queries, bits);
}

}  // namespace pleat::refine
#endif  // HWY_ONCE

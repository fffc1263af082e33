// Sums of products by vector instructions.
#include "pleat/saxs/fit/least_squares.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pleat/saxs/fit/dot.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace pleat::saxs::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

double sum_of_products(const double* HWY_RESTRICT a, const double* HWY_RESTRICT b,
                       std::size_t count) {
    // Four sums: an addition takes four cycles, and one starts every cycle or two.
    const hn::ScalableTag<double> d;
    const std::size_t lanes = hn::Lanes(d);
    auto first = hn::Zero(d), second = hn::Zero(d), third = hn::Zero(d), fourth = hn::Zero(d);
    std::size_t k = 0;
    for (; k + 4 * lanes <= count; k += 4 * lanes) {
        first = hn::MulAdd(hn::LoadU(d, a + k), hn::LoadU(d, b + k), first);
        second = hn::MulAdd(hn::LoadU(d, a + k + lanes), hn::LoadU(d, b + k + lanes), second);
        third = hn::MulAdd(hn::LoadU(d, a + k + 2 * lanes), hn::LoadU(d, b + k + 2 * lanes), third);
        fourth =
            hn::MulAdd(hn::LoadU(d, a + k + 3 * lanes), hn::LoadU(d, b + k + 3 * lanes), fourth);
    }
    for (; k + lanes <= count; k += lanes)
        first = hn::MulAdd(hn::LoadU(d, a + k), hn::LoadU(d, b + k), first);
    double sum =
        hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(first, second), hn::Add(third, fourth))));
    for (; k < count; ++k) sum += a[k] * b[k];
    return sum;
}

}  // namespace pleat::saxs::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pleat::saxs {

HWY_EXPORT(sum_of_products);

double dot(const double* a, const double* b, std::size_t count) {
    return HWY_DYNAMIC_DISPATCH(sum_of_products)(a, b, count);
}

}  // namespace pleat::saxs
#endif

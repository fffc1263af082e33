// Tests of exposed surfaces and of P(r) against sums over pairs, one after another.
#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cmath>
#include <functional>
#include <numbers>

#include "crowd.h"
#include "pleat/bio/structure/surfaces.h"
#include "pleat/saxs/fit/shape.h"

namespace pleat::saxs {
namespace {

using test::Crowd;

/// Whether another sphere covers a point on sphere i, or all of it from the same centre.
bool is_covered(const Crowd& crowd, Index i, const double* point, double probe) {
    const double reach = crowd.sizes[static_cast<std::size_t>(i)] + probe;
    for (Index j = 0; j < crowd.at.extent(1); ++j) {
        if (j == i) continue;
        const double other = crowd.sizes[static_cast<std::size_t>(j)] + probe;
        double of_point = 0, of_centre = 0;
        for (Index axis = 0; axis < 3; ++axis) {
            const double from = crowd.x(axis, i) - crowd.x(axis, j);
            of_centre += from * from;
            of_point += std::pow(from + reach * point[axis], 2);
        }
        if (of_centre > 0 ? of_point < other * other : other > reach || (other == reach && j < i))
            return true;
    }
    return false;
}

/// Calls `check` with each instruction set of this machine.
void with_every_target(const std::function<void()>& check) {
    for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
        SCOPED_TRACE(hwy::TargetName(target));
        hwy::SetSupportedTargetsForTest(target);
        check();
    }
    hwy::SetSupportedTargetsForTest(0);
}

void check_exposures() {
    constexpr double kProbe = 1.4;
    const double turn = std::numbers::pi * (3 - std::sqrt(5.0));
    for (const auto& [count, side, origin] : {std::tuple{Index{1}, 5.0, 0.0},
                                              {Index{9}, 6.0, 0.0},
                                              {Index{30}, 400.0, 0.0},
                                              {Index{33}, 12.0, -900.0},
                                              {Index{260}, 20.0, 5000.0}}) {
        const Crowd crowd(count, side, origin, static_cast<unsigned>(count));
        const std::vector<Exposure> all = exposures(crowd.at, crowd.sizes, kProbe, {});
        for (Index i = 0; i < count; ++i) {
            int exposed = 0;
            double sum[3] = {};
            for (int k = 0; k < kSurfacePoints; ++k) {
                const double z = 1 - (2 * k + 1.0) / kSurfacePoints, r = std::sqrt(1 - z * z);
                const double point[3] = {r * std::cos(turn * k), r * std::sin(turn * k), z};
                if (is_covered(crowd, i, point, kProbe)) continue;
                ++exposed;
                for (int axis = 0; axis < 3; ++axis) sum[axis] += point[axis];
            }
            const Exposure& one = all[static_cast<std::size_t>(i)];
            EXPECT_EQ(one.fraction * kSurfacePoints, static_cast<float>(exposed))
                << i << " of " << count;
            for (int axis = 0; axis < 3 && exposed > 0; ++axis)
                EXPECT_NEAR(one.direction[axis], sum[axis] / exposed, 1e-6) << i << " of " << count;
        }
    }
}

TEST(Exposure, IsThatOfPointsTriedOneByOne) { with_every_target(check_exposures); }

void check_pairs() {
    for (Index count = 2; count < 70; count += count < 20 ? 1 : 7) {
        const Crowd crowd(count, 40, -500, static_cast<unsigned>(count));
        std::vector<double> amplitudes = crowd.sizes;
        for (std::size_t n = 0; n < amplitudes.size(); n += 5) amplitudes[n] = n % 2 == 0 ? 0 : -1;
        constexpr double kWidth = 0.5;
        const Shape shape = measure_shape(crowd.at, amplitudes, count / 2, kWidth, {});
        std::vector<double> pairs(shape.pairs.size());
        double longest = 0;
        for (Index i = 0; i < count; ++i)
            for (Index j = 0; j < count; ++j) {
                const double r =
                    std::hypot(crowd.x(0, i) - crowd.x(0, j), crowd.x(1, i) - crowd.x(1, j),
                               crowd.x(2, i) - crowd.x(2, j));
                if (i < count / 2 && j < count / 2) longest = std::max(longest, r);
                const double term = amplitudes[static_cast<std::size_t>(i)] *
                                    amplitudes[static_cast<std::size_t>(j)];
                if (term == 0) continue;
                const auto bin = static_cast<std::size_t>(r / kWidth);
                ASSERT_LT(bin, pairs.size());
                pairs[bin] += term;
            }
        EXPECT_NEAR(shape.diameter, longest, 1e-4);
        EXPECT_NE(pairs.back(), 0);
        for (std::size_t n = 0; n < pairs.size(); ++n)
            EXPECT_NEAR(shape.pairs[n], pairs[n], 1e-9) << n << " of " << count;
    }
}

TEST(Shape, HasThePairsCountedOneByOne) { with_every_target(check_pairs); }

}  // namespace
}  // namespace pleat::saxs

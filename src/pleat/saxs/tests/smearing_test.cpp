// Tests of smearing: against sums over a fine grid, for curves without spread, and at both ends.
#include "pleat/saxs/fit/resampling.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "pleat/core/error.h"
#include "pleat/saxs/fit/fit.h"

namespace pleat::saxs {
namespace {

/// A profile with fringes, as of a sphere of 40 angstrom.
double fringes(double q) {
    const double x = 40 * q;
    if (x < 1e-4) return 1;
    const double amplitude = 3 * (std::sin(x) - x * std::cos(x)) / (x * x * x);
    return amplitude * amplitude;
}

struct Made {
    std::vector<double> q;
    Array<double, 2> partial{1, 501};

    Made() {
        for (Index k = 0; k < partial.extent(1); ++k) {
            q.push_back(0.001 * static_cast<double>(k));
            partial(0, k) = fringes(q.back());
        }
    }
};

Profile curve_of(const std::vector<double>& q, const std::vector<double>& dq) {
    Profile curve;
    curve.q = q;
    curve.intensity = curve.sigma = std::vector<double>(q.size(), 1);
    curve.dq = dq;
    return curve;
}

TEST(Smearing, IsTheMeanOverTheGaussianOfQ) {
    const Made made;
    // The first point sees negative q; spreads overlap and differ.
    const std::vector<double> q = {0.004, 0.05, 0.11, 0.12, 0.3},
                              dq = {0.005, 0.002, 0.01, 0, 0.014};
    const Array<double, 2> smeared = profiles_at_curve(made.partial, made.q, curve_of(q, dq));
    for (std::size_t k = 0; k < q.size(); ++k) {
        double sum = 0, weights = 0;
        for (int n = -30000; n <= 30000; ++n) {
            const double x = 1e-4 * n, weight = std::exp(-x * x / 2);
            weights += weight;
            sum += weight * fringes(std::abs(q[k] + x * dq[k]));
        }
        // 1e-6 of I(0) is the splines' error.
        EXPECT_NEAR(smeared(0, static_cast<Index>(k)), sum / weights, 1e-6) << k;
    }
    const double sharp = fringes(0.11), seen = smeared(0, 2);
    EXPECT_GT(std::abs(seen - sharp), 0.2 * sharp);  // the spread matters
}

TEST(Smearing, LeavesCurvesWithoutSpreadAlone) {
    const Made made;
    const std::vector<double> q = {0.01, 0.2};
    const Array<double, 2> none = profiles_at_curve(made.partial, made.q, curve_of(q, {}));
    EXPECT_NEAR(none(0, 0), fringes(0.01), 1e-8);
    EXPECT_NEAR(none(0, 1), fringes(0.2), 1e-8);
}

TEST(Smearing, LeavesOutPointsThatSeeBeyondTheGrid) {
    const Made made;
    const Profile curve = curve_of({0.1, 0.48, 0.49}, {0.01, 0.01, 0.001});
    const Profile cut = cut_curve(curve, 0.5);
    EXPECT_EQ(cut.q, (std::vector<double>{0.1, 0.49}));
    EXPECT_EQ(cut.dq, (std::vector<double>{0.01, 0.001}));
    EXPECT_NO_THROW(profiles_at_curve(made.partial, made.q, cut));
    EXPECT_THROW(profiles_at_curve(made.partial, made.q, curve), InputError);
}

}  // namespace
}  // namespace pleat::saxs

// Tests of contrast series: curves made at one contrast give it back when fitted together.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "pleat/bio/ensemble/ensemble_files.h"
#include "pleat/core/error.h"
#include "pleat/core/tests/data_folders.h"
#include "pleat/core/tests/temporary_folder.h"
#include "pleat/saxs/saxs.h"

namespace pleat::saxs {
namespace {

using test::error_text;

constexpr Contrast kTruth{1.015, 1.4};

Ensemble lysozyme() { return read_ensemble({(test::data_folder() / "1hel.pdb.gz").string()}); }

Context one_thread() {
    Context context;
    context.threads = 1;
    return context;
}

/// A curve of a profile at the truth, with noise and a background in units of I(0).
Profile made_curve(const Ensemble& ensemble, std::optional<double> d2o, double background,
                   std::uint64_t seed) {
    Parameters parameters;
    parameters.neutrons = d2o.has_value();
    parameters.d2o = d2o;
    parameters.c1 = kTruth.c1;
    parameters.c2 = kTruth.c2;
    parameters.q_points = 251;
    parameters.bin_width = 0;
    const Result result = run({&ensemble, 1}, nullptr, nullptr, parameters, one_thread());
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal;
    Profile curve;
    curve.source = d2o ? "sans" : "saxs";
    for (std::size_t k = 5; k < 200; ++k) {
        const double shape = result.mean[k] / result.mean[0];
        const double sigma = 0.003 * (shape + 0.05);
        curve.q.push_back(result.q[k]);
        curve.intensity.push_back(7 * (shape + background + sigma * normal(random)));
        curve.sigma.push_back(7 * sigma);
    }
    return curve;
}

TEST(Series, SharesOneContrastAmongAllCurves) {
    const Ensemble ensemble = lysozyme();
    const Profile xrays = made_curve(ensemble, {}, 0, 1);
    std::vector<FurtherCurve> further;
    for (const double d2o : {0.0, 0.2, 0.7, 0.85, 1.0})
        further.push_back({made_curve(ensemble, d2o, 0.02 * (1 + d2o), further.size() + 2), d2o});
    Parameters parameters;
    parameters.bin_width = 0;
    const Result joint = run({&ensemble, 1}, &xrays, nullptr, parameters, one_thread(), further);
    EXPECT_NEAR(joint.contrast.c1, kTruth.c1, 0.005);
    EXPECT_NEAR(joint.contrast.c2, kTruth.c2, 0.1);
    ASSERT_EQ(joint.further.size(), 5U);
    EXPECT_EQ(joint.fit.background, 0);
    for (std::size_t n = 0; n < further.size(); ++n) {
        const FurtherFit& one = joint.further[n];
        EXPECT_EQ(one.d2o, further[n].d2o);
        EXPECT_EQ(one.fit.contrast.c2, joint.contrast.c2);
        EXPECT_NEAR(one.fit.background / 7, 0.02 * (1 + *one.d2o), 0.002);
        EXPECT_NEAR(one.fit.chi2_reduced, 1, 0.35);
    }
    EXPECT_EQ(joint.joint.points, 6 * 195);
    EXPECT_EQ(joint.joint.parameters, 6 + 5 + 2);
    EXPECT_NEAR(joint.joint.chi2_reduced, 1, 0.15);
    ASSERT_EQ(joint.match_points.size(), 1U);
    // The curve of X-rays alone leaves the layer less certain than all together.
    const Result alone = run({&ensemble, 1}, &xrays, nullptr, parameters, one_thread());
    EXPECT_TRUE(alone.match_points.empty());
    EXPECT_NE(alone.contrast.c2, joint.contrast.c2);
}

TEST(Series, OfOneNeutronCurveIsTheFitOfThatCurve) {
    const Ensemble ensemble = lysozyme();
    const Profile curve = made_curve(ensemble, 0.9, 0.03, 8);
    Parameters parameters;
    parameters.bin_width = 0;
    parameters.neutrons = true;
    parameters.d2o = 0.9;
    const Result alone = run({&ensemble, 1}, &curve, nullptr, parameters, one_thread());
    EXPECT_NEAR(alone.fit.background / 7, 0.03, 0.002);
    EXPECT_NEAR(alone.fit.chi2_reduced, 1, 0.35);
    // The same curve twice, once in each place; two fractions take the sums of all channels.
    const std::vector<FurtherCurve> same = {{curve, 0.9}};
    const Result twice = run({&ensemble, 1}, &curve, nullptr, parameters, one_thread(), same);
    EXPECT_NEAR(twice.contrast.c2, alone.contrast.c2, 1e-3);
    EXPECT_EQ(twice.fit.chi2, twice.further[0].fit.chi2);
    const std::vector<FurtherCurve> other = {{curve, 0.9}, {made_curve(ensemble, 0, 0, 9), 0.0}};
    const Result series = run({&ensemble, 1}, &curve, nullptr, parameters, one_thread(), other);
    EXPECT_EQ(series.fit.chi2, series.further[0].fit.chi2);
    for (std::size_t k = 0; k < series.q.size(); ++k) {
        Parameters at_found = parameters;
        at_found.c1 = series.contrast.c1;
        at_found.c2 = series.contrast.c2;
        at_found.q_points = static_cast<std::int64_t>(series.q.size());
        static const Result direct = run({&ensemble, 1}, nullptr, nullptr, at_found, one_thread());
        ASSERT_NEAR(series.mean[k] / direct.mean[k], 1, 1e-4) << k;
    }
}

TEST(Series, RefusesWhatDoesNotFitTogether) {
    const Ensemble ensemble = lysozyme();
    const Profile xrays = made_curve(ensemble, {}, 0, 1);
    const auto refused = [&](const Profile* curve, const Parameters& parameters,
                             std::vector<FurtherCurve> further) {
        return error_text<Error>([&] {
            run({&ensemble, 1}, curve, nullptr, parameters, one_thread(), further);
        });
    };
    EXPECT_EQ(refused(nullptr, {}, {{xrays, {}}}), "give --data, the first curve, with --series");
    EXPECT_EQ(refused(&xrays, {}, {{xrays, 1.5}}),
              "expected a D2O fraction from 0 to 1 in --series, found 1.5");
    Profile few = xrays;
    few.q.resize(5), few.intensity.resize(5), few.sigma.resize(5);
    EXPECT_EQ(refused(&xrays, {}, {{few, 0.5}}),
              "saxs: expected a curve of 8 or more points up to --q-max 0.5 1/angstrom, found 5 of "
              "5");
    Parameters parameters;
    parameters.d2o = 0.5;
    EXPECT_EQ(refused(&xrays, parameters, {}),
              "give --d2o with --neutrons; --series names the D2O fractions of its curves");
    parameters = {};
    parameters.deuterate = "A";
    EXPECT_EQ(refused(&xrays, parameters, {}),
              "give --deuterate with --neutrons or a --series with D2O fractions");
    parameters = {};
    parameters.model = Resolution::two_bead;
    EXPECT_EQ(refused(&xrays, parameters, {{xrays, 0.5}}),
              "expected the all-atom model of neutrons, found two-bead, whose form factors are of "
              "X-rays");
}

}  // namespace
}  // namespace pleat::saxs

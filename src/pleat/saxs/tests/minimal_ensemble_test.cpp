// Tests of minimal ensembles on curves made of two frames: the pair found fits as well as the true
// one, and validation leaves out every point once.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <random>

#include "pleat/bio/ensemble/ensemble.h"
#include "pleat/core/tests/data_folders.h"
#include "pleat/saxs/fit/ensemble_fit.h"
#include "pleat/saxs/model/form_factors.h"
#include "pleat/saxs/model/scatterer_positions.h"

namespace pleat::saxs {
namespace {

/// The partial profiles of a trajectory's frames.
struct Frames {
    std::vector<double> q;
    Array<double, 3> partial;
    double mean_radius = 0;

    Frames(const std::filesystem::path& trajectory, const std::filesystem::path& topology,
           Resolution resolution) {
        const Ensemble ensemble =
            read_ensemble({trajectory.string()},
                          {.topology = topology, .assembly = {}, .select = "all", .range = {}});
        for (int k = 0; k < 90; ++k) q.push_back(0.012 + 0.0032 * k);
        const Scatterers scatterers =
            make_scatterers(*ensemble.topology, ensemble.xyz[0], {.resolution = resolution});
        const ScattererPositions positions =
            scatterer_positions(ensemble.xyz, scatterers, true, {});
        const Model model = make_model(scatterers, nullptr, q, positions.sites);
        partial = profiles(model, positions.xyz, positions.scales, {}, {});
        mean_radius = scatterers.mean_radius;
    }
    View<const double, 3> first(Index count) const {
        View<const double, 3> some = partial;
        some.extents[0] = count;
        return some;
    }
};

/// A curve made of two frames with noise of a part of the intensity.
struct Mixture {
    std::vector<Index> frames;
    std::vector<double> weights;
    Profile curve;

    Mixture(const Frames& all, Index frame_count, int number) {
        std::mt19937_64 random(static_cast<std::uint64_t>(number) + 1);
        std::uniform_int_distribution<Index> any(0, frame_count - 1);
        std::uniform_real_distribution<double> unit(0, 1);
        std::normal_distribution<double> normal;
        frames = {any(random), any(random)};
        while (std::abs(frames[0] - frames[1]) < frame_count / 6) frames[1] = any(random);
        std::sort(frames.begin(), frames.end());
        weights = {0.15 + 0.7 * unit(random), 0};
        weights[1] = 1 - weights[0];
        const Contrast contrast{0.97 + 0.06 * unit(random), 3 * unit(random)};
        const double noise = number % 2 == 0 ? 0.001 : 0.01;
        curve.q = all.q;
        curve.intensity = intensity(weighted_partial(all.partial, frames, weights), all.q,
                                    all.mean_radius, contrast);
        for (double& value : curve.intensity) {
            value *= 1e-6;
            curve.sigma.push_back(noise * value);
            value += curve.sigma.back() * normal(random);
        }
    }
};

/// chi^2 a point of the true frames at the best contrast, with weights near the true ones.
double chi2_of(const EnsembleProblem& problem, const Mixture& mixture) {
    double smallest = INFINITY;
    for (int step = -3; step <= 3; ++step) {
        const double first = mixture.weights[0] + 0.01 * step;
        const std::vector<double> weights = {first, 1 - first};
        smallest =
            std::min(smallest,
                     fit(*problem.curve, weighted_partial(problem.partial, mixture.frames, weights),
                         problem.mean_radius, problem.options)
                         .chi2);
    }
    return smallest;
}

/// How many of the mixtures [first, last) get a pair that fits as well as the true one.
int count_true_pairs(const Frames& all, Index frame_count, int first, int last,
                     bool is_exhaustive) {
    int count = 0;
    for (int number = first; number < last; ++number) {
        SCOPED_TRACE(number);
        const Mixture mixture(all, frame_count, number);
        EnsembleProblem problem{&mixture.curve, all.first(frame_count), all.mean_radius, {}};
        problem.context.threads = 2;
        const std::vector<Weighted> found = best_ensembles(problem, 2);
        EXPECT_EQ(found.size(), 2u);
        if (found.size() != 2) continue;
        EXPECT_EQ(found[1].is_exhaustive, is_exhaustive);
        for (const double weight : found[1].weights) EXPECT_GE(weight, kMinWeight);
        count += found[1].fit.chi2 <= 1.05 * chi2_of(problem, mixture);
    }
    return count;
}

const std::filesystem::path kData = test::data_folder();

// All pairs of 40 frames, then more frames than whose pairs are all fitted: a heuristic, which
// missed two of these ten mixtures when it exchanged members of the best set alone.
TEST(MinimalEnsembles, FitAsWellAsTheTruePair) {
    const Frames hivp(kData / "hivp.dcd.gz", kData / "hivp.pdb.gz", Resolution::one_bead);
    EXPECT_EQ(count_true_pairs(hivp, 40, 0, 4, true), 4);
    ASSERT_GT(hivp.partial.extent(0), kRepresentatives);
    EXPECT_EQ(count_true_pairs(hivp, hivp.partial.extent(0), 4, 14, false), 10);

    // Twenty mixtures of a transition of adenylate kinase.
    const std::filesystem::path folder =
        pleat::test::shared_folder() / "data" / "ensembles" / "adk_dims";
    if (!pleat::test::shared_is_present(folder)) return;
    const Frames adk(folder / "adk_dims.dcd", folder / "adk_open.pdb.gz", Resolution::all_atom);
    EXPECT_EQ(count_true_pairs(adk, adk.partial.extent(0), 0, 20, true), 20);
}

TEST(MinimalEnsembles, HaveNoMemberThatDoesNotCount) {
    const Frames hivp(kData / "hivp.dcd.gz", kData / "hivp.pdb.gz", Resolution::one_bead);
    const Mixture mixture(hivp, 20, 1);
    const EnsembleProblem problem{&mixture.curve, hivp.first(20), hivp.mean_radius, {}};
    const std::vector<Weighted> sizes = minimal_ensembles(problem, 4, {});
    ASSERT_FALSE(sizes.empty());
    for (std::size_t n = 0; n < sizes.size(); ++n) {
        const Weighted& one = sizes[n];
        EXPECT_EQ(one.frames.size(), one.weights.size());
        EXPECT_TRUE(std::is_sorted(one.frames.begin(), one.frames.end()));
        EXPECT_NEAR(std::accumulate(one.weights.begin(), one.weights.end(), 0.0), 1, 1e-9);
        EXPECT_GE(*std::min_element(one.weights.begin(), one.weights.end()), kMinWeight);
        EXPECT_EQ(one.fit.parameters, static_cast<Index>(one.frames.size()) + 1);
        if (n == 0) continue;
        EXPECT_GT(one.frames.size(), sizes[n - 1].frames.size());
        EXPECT_LT(one.fit.chi2, sizes[n - 1].fit.chi2);
    }
}

/// A problem at a few of its curve's points.
struct FewPoints {
    Profile curve;
    Array<double, 3> partial;
    std::vector<Index> points_of_whole;

    FewPoints(const EnsembleProblem& whole, Index points)
        : partial(whole.partial.extent(0), whole.partial.extent(1), points) {
        const auto step = static_cast<std::size_t>(whole.partial.extent(2) / points);
        for (std::size_t n = 0; n < static_cast<std::size_t>(points); ++n) {
            const std::size_t k = n * step;
            points_of_whole.push_back(static_cast<Index>(k));
            curve.q.push_back(whole.curve->q[k]);
            curve.intensity.push_back(whole.curve->intensity[k]);
            curve.sigma.push_back(whole.curve->sigma[k]);
            for (Index frame = 0; frame < partial.extent(0); ++frame)
                for (Index pair = 0; pair < partial.extent(1); ++pair)
                    partial(frame, pair, static_cast<Index>(n)) =
                        whole.partial(frame, pair, static_cast<Index>(k));
        }
    }
};

TEST(Validation, LeavesOutEveryPointOnce) {
    const Frames hivp(kData / "hivp.dcd.gz", kData / "hivp.pdb.gz", Resolution::one_bead);
    const Mixture mixture(hivp, 20, 1);
    EnsembleProblem whole{&mixture.curve, hivp.first(20), hivp.mean_radius, {}};
    whole.context.threads = 1;
    for (const Index points : {8, 12, 16, 20, 33}) {
        SCOPED_TRACE(points);
        const FewPoints few(whole, points);
        EnsembleProblem problem = whole;
        problem.curve = &few.curve;
        problem.partial = few.partial;
        std::vector<int> seen(static_cast<std::size_t>(points), 0);
        cross_validate(
            problem,
            [&](const EnsembleProblem& some) {
                if (some.points == nullptr) return std::vector<Weighted>{};
                EXPECT_LT(some.points->size(), seen.size());
                for (const Index k : *some.points) ++seen[static_cast<std::size_t>(k)];
                return std::vector<Weighted>{};
            },
            {}, problem.context, "test");
        EXPECT_EQ(seen, std::vector<int>(seen.size(), static_cast<int>(kFolds) - 1));
        const std::vector<Weighted> sizes = minimal_ensembles(problem, 2, {});
        for (const Weighted& one : sizes)
            EXPECT_TRUE(std::isfinite(one.validation) && std::isfinite(one.validation_error));
        // The profiles have these points alone.
        problem.points = &few.points_of_whole;
        const std::vector<Weighted> same = minimal_ensembles(problem, 2, {});
        ASSERT_EQ(same.size(), sizes.size());
        EXPECT_EQ(same.back().frames, sizes.back().frames);
        EXPECT_EQ(same.back().validation, sizes.back().validation);
        for (const Reweighted& one : maximum_entropy(problem, {}))
            EXPECT_TRUE(std::isfinite(one.result.validation));
    }
}

}  // namespace
}  // namespace pleat::saxs

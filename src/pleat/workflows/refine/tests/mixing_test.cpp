// Mixing: conformations of two domains on a linker pass from the prior to a sharp curve.
#include <gtest/gtest.h>

#include <cstdio>

#include "pleat/bio/scattering/profile.h"
#include "pleat/workflows/refine/convergence/convergence.h"
#include "pleat/workflows/refine/fit/curve_fit.h"
#include "pleat/workflows/refine/sampling/pool.h"
#include "pleat/workflows/refine/tests/long_tests.h"
#include "pleat/workflows/refine/tests/made_chain.h"

namespace pleat::refine {

namespace {

/// Two domains of three helices each on a linker of 12 residues, and the curve of one conformation
/// with errors of 2 %, which the prior meets once in some thousand draws.
struct TwoDomains {
    ChainModel chain = make_chain();
    Prior prior{chain, coil_tables()};
    Moves moves{chain, prior};
    ProfileModel profile;
    Profile curve;
    double distance_apart = 0;

    static ChainModel make_chain() {
        test::MadeChain made;
        test::add_peptide(made, std::string(52, 'A'), "A", -60, -45);
        const Vector first = made.atoms[0], axis = unit(made.atoms[5 * 18] - first),
                     side = unit(cross(axis, {1, 0, 0})), other = cross(axis, side),
                     second = made.atoms[5 * 32] - first;
        int chain = 0;
        for (const char* const name : {"B", "C", "D", "E"}) {
            const Vector at =
                (chain < 2 ? Vector{} : second) + 10.0 * (chain % 2 == 0 ? side : other);
            test::add_peptide(made, std::string(20, 'A'), name, -60, -45, at);
            ++chain;
        }
        return make_chain_model(made.topology, made.xyz(),
                                {.linkers = parse_ranges("A:21-32", "--linkers")});
    }
    TwoDomains() {
        for (int n = 0; n < 31; ++n) curve.q.push_back(0.01 * n);
        profile = make_profile_model(chain, Conformation(chain), curve.q, {});
        Conformation truth(chain);
        truth.set_angles(find_start(chain, moves, {}, 7, 0));
        distance_apart = distance_of(truth);
        ProfileBatch batch(profile, 1, Device{});
        batch.start(0, truth);
        const View<const double, 2> partial = batch.profile(0);
        for (Index k = 0; k < partial.extent(1); ++k) {
            curve.intensity.push_back(partial(0, k) + partial(1, k) + partial(2, k));
            curve.sigma.push_back(0.02 * curve.intensity.back());
        }
    }
    double distance_of(const Conformation& at) const {
        const auto centre = [&](const Domain& domain) {
            return at.piece(domain.piece)(domain.centre);
        };
        return distance(centre(chain.domains[0]), centre(chain.domains[1]));
    }
    Pool sample(const PoolOptions& options) const {
        const CurveLikelihood likelihood(curve, curve.q,
                                         {.model_error = 0, .correlation = 0.03, .c2 = {0, 1, 2}});
        const auto make_targets = [&](Index walkers, Index) {
            const auto profiles = std::make_shared<ProfileBatch>(profile, walkers, Device{});
            TargetBatch targets;
            for (Index n = 0; n < walkers; ++n)
                targets.push_back(std::make_unique<CurveTarget>(
                    chain, profiles, n, std::make_shared<ReplicaMean>(likelihood, 1), 0));
            return targets;
        };
        Context context;
        context.seed = 5;
        return sample_pool(chain, moves, make_targets, options, "mixing", context);
    }
    /// [chain, frame]
    Array<double, 2> distances(const Pool& pool) const {
        Array<double, 2> all(pool.angles.extent(1), pool.angles.extent(0));
        Conformation at(chain);
        for (Index frame = 0; frame < all.extent(1); ++frame)
            for (Index n = 0; n < all.extent(0); ++n) {
                const double* const angles = &pool.angles(frame, n, 0);
                at.set_angles({angles, angles + chain.hinge_count()});
                all(n, frame) = distance_of(at);
            }
        return all;
    }
};

// Frames far apart, as on a GPU: with one exchange a frame about one conformation arrives.
TEST(Mixing, ConformationsPassBetweenThePriorAndTheCurveWithinFrames) {
    const TwoDomains two;
    const PoolOptions options{.chains = 2, .rungs = 6, .moves = 100, .burn_in = 10, .kept = 20};
    const Pool pool = two.sample(options);
    EXPECT_EQ(options.swaps_per_frame(), 20);
    EXPECT_GE(pool.arrivals, 6);
    const Array<double, 2> distances = two.distances(pool);
    double sum = 0;
    for (const double value : distances) sum += value / static_cast<double>(distances.size());
    EXPECT_NEAR(sum, two.distance_apart, 3);
}

TEST(Mixing, ChainsAgreeAboutASharpCurve) {
    if (!test::runs_long_tests()) GTEST_SKIP() << "PLEAT_LONG_TESTS is not set";
    const TwoDomains two;
    const Pool pool =
        two.sample({.chains = 4, .rungs = 8, .moves = 100, .burn_in = 60, .kept = 200});
    const Convergence found = assess_convergence(two.distances(pool).view());
    std::printf("%ld arrivals, R-hat %.3f, effective size %.0f\n", static_cast<long>(pool.arrivals),
                found.r_hat, found.effective_size);
    EXPECT_GE(pool.arrivals, 200);
    EXPECT_LT(found.r_hat, 1.1);
    EXPECT_GE(found.effective_size, 100);
}

}  // namespace

}  // namespace pleat::refine

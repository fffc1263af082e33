// Mixing: conformations of two domains on a linker pass from the prior to a sharp curve.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <utility>
#include <vector>

#include "pleat/bio/ensemble/ensemble.h"
#include "pleat/bio/scattering/profile.h"
#include "pleat/core/tests/data_folders.h"
#include "pleat/workflows/refine/convergence/convergence.h"
#include "pleat/workflows/refine/fit/curve_fit.h"
#include "pleat/workflows/refine/sampling/pool.h"
#include "pleat/workflows/refine/tests/long_tests.h"
#include "pleat/workflows/refine/tests/made_chain.h"

namespace pleat::refine {

namespace {

/// Two domains of three helices each on a linker of 12 residues, or others, and the curve of one
/// conformation with errors of 2 %, which the prior meets once in some thousand draws.
struct TwoDomains {
    ChainModel chain;
    Prior prior{chain, coil_tables()};
    Moves moves{chain, prior};
    ProfileModel profile;
    Profile curve;
    Conformation truth{chain};
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
    /// The truth is that of `draws` conformations whose domains are closest.
    explicit TwoDomains(ChainModel made = make_chain(), Index draws = 1) : chain(std::move(made)) {
        for (int n = 0; n < 31; ++n) curve.q.push_back(0.01 * n);
        profile = make_profile_model(chain, Conformation(chain), curve.q, {});
        for (Index draw = 0; draw < draws; ++draw) {
            Conformation at(chain);
            at.set_angles(find_start(chain, moves, {}, 7, draw));
            if (draw == 0 || distance_of(at) < distance_of(truth)) truth = at;
        }
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
    CurveLikelihood likelihood() const {
        return {curve, curve.q, {.model_error = 0, .correlation = 0.03, .c2 = {0, 1, 2}}};
    }
    Pool sample(const PoolOptions& options, const Moves& kinds, std::uint64_t seed) const {
        const CurveLikelihood of_curve = likelihood();
        const auto make_targets = [&](Index walkers, Index) {
            const auto profiles = std::make_shared<ProfileBatch>(profile, walkers, Device{});
            TargetBatch targets;
            for (Index n = 0; n < walkers; ++n)
                targets.push_back(std::make_unique<CurveTarget>(
                    chain, profiles, n, std::make_shared<ReplicaMean>(of_curve, 1), 0));
            return targets;
        };
        Context context;
        context.seed = seed;
        return sample_pool(chain, kinds, make_targets, options, "mixing", context);
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
    const Pool pool = two.sample(options, two.moves, 5);
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
    const Pool pool = two.sample(
        {.chains = 4, .rungs = 8, .moves = 100, .burn_in = 60, .kept = 200}, two.moves, 5);
    const Convergence found = assess_convergence(two.distances(pool).view());
    std::printf("%ld arrivals, R-hat %.3f, effective size %.0f\n", static_cast<long>(pool.arrivals),
                found.r_hat, found.effective_size);
    EXPECT_GE(pool.arrivals, 200);
    EXPECT_LT(found.r_hat, 1.1);
    EXPECT_GE(found.effective_size, 100);
}

/// The distance of the domains' centres, and centre and rotation of the second seen from the first.
std::vector<double> pose_of(const Conformation& at) {
    const Domain &one = at.model().domains[0], &other = at.model().domains[1];
    const Transform pose = inverse(at.piece(one.piece)) * at.piece(other.piece);
    const Vector centre = pose(other.centre) - one.centre;
    std::vector<double> numbers = {length(centre), centre.x, centre.y, centre.z};
    numbers.insert(numbers.end(), pose.rotation.begin(), pose.rotation.end());
    return numbers;
}

struct Spread {
    double mean = 0, error = 0;  ///< of all runs, and its standard error
    double effective_size = 0;   ///< of a run
};

/// The numbers of pose_of() in `runs` runs. The effective size of a run is the variance of frames
/// divided by that of the means of runs.
std::vector<Spread> compare_runs(const TwoDomains& two, const PoolOptions& options,
                                 const Moves& moves, int runs) {
    std::vector<Spread> all;
    std::vector<double> squares, squares_of_means;
    double frames = 0;
    Conformation at(two.chain);
    for (int run = 0; run < runs; ++run) {
        const Pool pool = two.sample(options, moves, static_cast<std::uint64_t>(100 + run));
        std::vector<double> sums;
        for (Index frame = 0; frame < pool.angles.extent(0); ++frame)
            for (Index n = 0; n < pool.angles.extent(1); ++n, ++frames) {
                const double* const angles = &pool.angles(frame, n, 0);
                at.set_angles({angles, angles + two.chain.hinge_count()});
                const std::vector<double> numbers = pose_of(at);
                for (auto* const of : {&sums, &squares, &squares_of_means})
                    of->resize(numbers.size());
                all.resize(numbers.size());
                for (std::size_t k = 0; k < numbers.size(); ++k) {
                    sums[k] += numbers[k];
                    squares[k] += numbers[k] * numbers[k];
                }
            }
        const double of_run = static_cast<double>(pool.angles.extent(0) * pool.angles.extent(1));
        for (std::size_t k = 0; k < sums.size(); ++k) {
            all[k].mean += sums[k] / of_run / runs;
            squares_of_means[k] += std::pow(sums[k] / of_run, 2) / runs;
        }
    }
    for (std::size_t k = 0; k < all.size(); ++k) {
        const double of_means =
            (squares_of_means[k] - std::pow(all[k].mean, 2)) * runs / (runs - 1);
        all[k].error = std::sqrt(of_means / runs);
        all[k].effective_size = (squares[k] / frames - std::pow(all[k].mean, 2)) / of_means;
    }
    return all;
}

/// The mean square of the angle by which 200 moves at power 1 turn one domain seen from the other,
/// in radians^2, from the truth on in 12 chains.
double square_turned(const TwoDomains& two, const Moves& moves) {
    constexpr Index kChains = 12, kBurnIn = 30, kKept = 30, kMoves = 200;
    const CurveLikelihood likelihood = two.likelihood();
    double sum = 0;
    for (Index chain = 0; chain < kChains; ++chain) {
        CurveTarget target(two.chain, std::make_shared<ProfileBatch>(two.profile, 1, Device{}), 0,
                           std::make_shared<ReplicaMean>(likelihood, 1), 0);
        target.set_beta(1);
        Sampler sampler(moves, target, two.chain, 11, chain);
        sampler.start(two.truth.angles());
        sampler.refresh();
        const auto turned = [&] {
            const auto& domains = two.chain.domains;
            return inverse(sampler.conformation().piece(domains[0].piece)) *
                   sampler.conformation().piece(domains[1].piece);
        };
        Transform before = turned();
        for (Index block = 0; block < kBurnIn + kKept; ++block) {
            sampler.run(block * kMoves, kMoves);
            const Transform after = turned(), change = inverse(before) * after;
            const double trace = change.rotation[0] + change.rotation[4] + change.rotation[8];
            before = after;
            if (block < kBurnIn)
                sampler.adapt();
            else
                sum += std::pow(std::acos(std::clamp((trace - 1) / 2, -1.0, 1.0)), 2);
        }
    }
    return sum / (kChains * kKept);
}

/// The same chain without the domains that distance moves need.
ChainModel without_domains(ChainModel chain) {
    chain.domains.clear();
    return chain;
}

void expect_farther_turns(const TwoDomains& two, const char* name) {
    const ChainModel nameless = without_domains(two.chain);
    const double without = square_turned(two, Moves(nameless, two.prior)),
                 with = square_turned(two, two.moves);
    std::printf("%s: 200 moves turn by %.3f radian^2, without distance moves by %.3f\n", name, with,
                without);
    EXPECT_GT(with, 1.5 * without);
}

TEST(Mixing, DistanceMovesTurnDomainsFarther) {
    if (!test::runs_long_tests()) GTEST_SKIP() << "PLEAT_LONG_TESTS is not set";
    expect_farther_turns(TwoDomains(), "two domains");
    const auto file = pleat::test::shared_folder() / "data/refine/rpa_multifoxs/1fguA.pdb.gz";
    if (!pleat::test::shared_is_present(file)) return;
    const Ensemble rpa =
        read_ensemble({file.string()}, {.topology = {}, .select = "backbone", .range = {}});
    expect_farther_turns(
        TwoDomains(make_chain_model(rpa.topology, rpa.xyz.view()[0],
                                    {.linkers = parse_ranges("A:289-301", "--linkers")}),
                   60),
        "RPA70, backbone");
}

TEST(Mixing, DistanceMovesBringRunsTogether) {
    if (!test::runs_long_tests()) GTEST_SKIP() << "PLEAT_LONG_TESTS is not set";
    const TwoDomains two;
    const ChainModel nameless = without_domains(two.chain);
    const Moves without(nameless, two.prior);
    ASSERT_FALSE(without.has_distance_moves());
    // 224,000 moves each.
    const PoolOptions options{.chains = 4, .rungs = 8, .moves = 100, .burn_in = 20, .kept = 50};
    std::vector<std::vector<Spread>> found;
    for (const Moves* const moves : {&without, &two.moves}) {
        found.push_back(compare_runs(two, options, *moves, 12));
        std::vector<double> poses;
        for (const Spread& one : found.back()) poses.push_back(one.effective_size);
        std::printf("%s distance moves: distance %.3f +- %.3f, effective size %.0f; ",
                    moves == &without ? "without" : "with", found.back()[0].mean,
                    found.back()[0].error, poses[0]);
        std::sort(poses.begin() + 1, poses.end());
        std::printf("of the pose %.0f (least %.0f)\n", (poses[6] + poses[7]) / 2, poses[1]);
    }
    for (std::size_t k = 0; k < found[0].size(); ++k)
        EXPECT_LT(std::abs(found[0][k].mean - found[1][k].mean),
                  4 * std::hypot(found[0][k].error, found[1][k].error))
            << k;
}

}  // namespace

}  // namespace pleat::refine

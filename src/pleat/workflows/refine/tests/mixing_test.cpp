// Mixing: conformations of two domains on a linker pass from the prior to a sharp curve.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "pleat/bio/ensemble/ensemble.h"
#include "pleat/bio/scattering/profile.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/core/tests/data_folders.h"
#include "pleat/workflows/refine/convergence/convergence.h"
#include "pleat/workflows/refine/fit/curve_fit.h"
#include "pleat/workflows/refine/sampling/annealing.h"
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
    Posterior sample(const AnnealingOptions& options, const Moves& kinds,
                     std::uint64_t seed) const {
        const CurveLikelihood of_curve = likelihood();
        const auto make_targets = [&](Index count) {
            const auto profiles = std::make_shared<ProfileBatch>(profile, count, Device{});
            TargetBatch targets;
            for (Index n = 0; n < count; ++n)
                targets.push_back(std::make_unique<CurveTarget>(chain, profiles, n, of_curve));
            return targets;
        };
        Context context;
        context.seed = seed;
        return anneal(
            chain, kinds, make_targets, options, [](const Posterior&) { return true; }, "mixing",
            context);
    }
    std::vector<double> distances(const Posterior& found) const {
        std::vector<double> all;
        Conformation at(chain);
        for (Index n = 0; n < found.angles.extent(0); ++n) {
            const double* const angles = &found.angles(n, 0);
            at.set_angles({angles, angles + chain.hinge_count()});
            all.push_back(distance_of(at));
        }
        return all;
    }
};

TEST(Mixing, ConformationsPassFromThePriorToTheCurve) {
    const TwoDomains two;
    const Posterior found = two.sample({.conformations = 256, .moves = 10}, two.moves, 5);
    const std::vector<double> distances = two.distances(found);
    double sum = 0;
    for (const double value : distances) sum += value / static_cast<double>(distances.size());
    EXPECT_NEAR(sum, two.distance_apart, 3);
    // 9 nats from the prior to the posterior.
    EXPECT_NEAR(found.log_evidence, -18.1, 1.5);
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

/// What several runs with other seeds found.
struct Runs {
    std::vector<Spread> pose;  ///< of the numbers of pose_of()
    double claimed = 0;        ///< effective size of the distance, geometric mean of the runs
    double log_evidence = 0, evidence_deviation = 0;
    double evidence_error = 0;  ///< claimed, mean of the runs
    int holding = 0;            ///< runs whose 90 % interval of the distance holds the truth
    double moves = 0;           ///< of a run
};

/// The effective size of a run is the variance of conformations divided by that of the means of
/// runs.
Runs compare_runs(const TwoDomains& two, const AnnealingOptions& options, const Moves& moves,
                  int runs) {
    Runs all;
    std::vector<double> squares, squares_of_means, evidence;
    double count = 0;
    Conformation at(two.chain);
    for (int run = 0; run < runs; ++run) {
        const Posterior found =
            two.sample(options, moves, std::uint64_t{100} + static_cast<std::uint64_t>(run));
        std::vector<double> sums;
        for (Index n = 0; n < options.conformations; ++n, ++count) {
            const double* const angles = &found.angles(n, 0);
            at.set_angles({angles, angles + two.chain.hinge_count()});
            const std::vector<double> numbers = pose_of(at);
            for (auto* const of : {&sums, &squares, &squares_of_means}) of->resize(numbers.size());
            all.pose.resize(numbers.size());
            for (std::size_t k = 0; k < numbers.size(); ++k) {
                sums[k] += numbers[k];
                squares[k] += numbers[k] * numbers[k];
            }
        }
        const auto of_run = static_cast<double>(options.conformations);
        for (std::size_t k = 0; k < sums.size(); ++k) {
            all.pose[k].mean += sums[k] / of_run / runs;
            squares_of_means[k] += std::pow(sums[k] / of_run, 2) / runs;
        }
        std::vector<double> distances = two.distances(found);
        all.claimed +=
            std::log(assess_lineages(distances, found.lineages, options.lineages).effective_size) /
            runs;
        all.evidence_error += evidence_error(found.lineages, options.lineages) / runs;
        std::sort(distances.begin(), distances.end());
        all.holding +=
            distances[distances.size() / 20] <= two.distance_apart &&
            two.distance_apart <= distances[distances.size() - 1 - distances.size() / 20];
        evidence.push_back(found.log_evidence);
        all.log_evidence += evidence.back() / runs;
        for (const std::int64_t made : found.counts.proposed)
            all.moves += static_cast<double>(made) / runs;
    }
    all.claimed = std::exp(all.claimed);
    for (const double one : evidence)
        all.evidence_deviation += std::pow(one - all.log_evidence, 2) / (runs - 1);
    all.evidence_deviation = std::sqrt(all.evidence_deviation);
    for (std::size_t k = 0; k < all.pose.size(); ++k) {
        Spread& one = all.pose[k];
        const double of_means = (squares_of_means[k] - std::pow(one.mean, 2)) * runs / (runs - 1);
        one.error = std::sqrt(of_means / runs);
        one.effective_size = (squares[k] / count - std::pow(one.mean, 2)) / of_means;
    }
    return all;
}

/// ln of the evidence, its standard error, and the mean distance, by independent draws of the
/// prior.
struct Direct {
    double log_evidence = 0, error = 0, distance = 0;
};
Direct draw_directly(const TwoDomains& two, Index draws) {
    const CurveLikelihood likelihood = two.likelihood();
    constexpr Index kBlocks = 64;
    std::array<std::array<double, 4>, kBlocks> sums{};  // of weights, L, L^2, L distance
    parallel_for(resolve_threads({}), kBlocks, [&](Index block, int) {
        ProfileBatch profiles(two.profile, 1, Device{});
        Sterics sterics(two.chain);
        Conformation at(two.chain);
        auto& [weights, first, second, distances] = sums[static_cast<std::size_t>(block)];
        for (Index n = 0; n < draws / kBlocks; ++n) {
            Random random(99, block, n);
            at.set_angles(two.moves.draw_prior(random));
            const OverlapEnergy overlap = sterics.overlap(at);
            if (overlap.hard_pairs > 0 || random.uniform() >= std::exp(-overlap.energy)) continue;
            profiles.start(0, at);
            const double value = std::exp(likelihood.log_likelihood(profiles.profile(0)));
            weights += 1;
            first += value;
            second += value * value;
            distances += value * two.distance_of(at);
        }
    });
    std::array<double, 4> all{};
    for (const auto& one : sums)
        for (std::size_t k = 0; k < 4; ++k) all[k] += one[k];
    return {std::log(all[1] / all[0]), std::sqrt(all[2]) / all[1], all[3] / all[1]};
}

/// The mean square of the angle by which 200 moves at power 1 turn one domain seen from the other,
/// in radians^2, from the truth on in 12 chains.
double square_turned(const TwoDomains& two, const Moves& moves) {
    constexpr Index kChains = 12, kBurnIn = 30, kKept = 30, kMoves = 200;
    const CurveLikelihood likelihood = two.likelihood();
    double sum = 0;
    for (Index chain = 0; chain < kChains; ++chain) {
        CurveTarget target(two.chain, std::make_shared<ProfileBatch>(two.profile, 1, Device{}), 0,
                           likelihood);
        target.set_beta(1);
        Sampler sampler(moves, target, two.chain, 11, chain);
        sampler.settings.distance_share = kDistanceShare;
        sampler.start(two.truth.angles());
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
                adapt(sampler.settings, sampler.counts);
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

/// RPA70's backbone and a curve of the closest of 60 conformations; nothing without shared data.
std::optional<TwoDomains> make_rpa() {
    const auto file = pleat::test::shared_folder() / "data/refine/rpa_multifoxs/1fguA.pdb.gz";
    if (!pleat::test::shared_is_present(file)) return std::nullopt;
    const Ensemble rpa =
        read_ensemble({file.string()}, {.topology = {}, .select = "backbone", .range = {}});
    return std::optional<TwoDomains>(
        std::in_place,
        make_chain_model(rpa.topology, rpa.xyz.view()[0],
                         {.linkers = parse_ranges("A:289-301", "--linkers")}),
        60);
}

Runs print_runs(const char* name, const TwoDomains& two, const AnnealingOptions& options,
                const Moves& moves) {
    constexpr int kRuns = 20;
    const Runs runs = compare_runs(two, options, moves, kRuns);
    std::vector<double> poses;
    for (const Spread& one : runs.pose) poses.push_back(one.effective_size);
    std::printf(
        "%s, %.0f moves a run: distance %.3f +- %.3f, truth %.3f in %d of %d; effective size %.0f "
        "(claimed: %.0f); ln of the evidence %.2f, deviation %.2f (claimed: %.2f); ",
        name, runs.moves, runs.pose[0].mean, runs.pose[0].error, two.distance_apart, runs.holding,
        kRuns, poses[0], runs.claimed, runs.log_evidence, runs.evidence_deviation,
        runs.evidence_error);
    std::sort(poses.begin() + 1, poses.end());
    std::printf("effective size of the pose %.0f (least %.0f)\n", (poses[6] + poses[7]) / 2,
                poses[1]);
    std::fflush(stdout);
    EXPECT_GE(runs.holding, 16);
    return runs;
}

TEST(Mixing, RunsAgreeAndDistanceMovesBringThemTogether) {
    if (!test::runs_long_tests()) GTEST_SKIP() << "PLEAT_LONG_TESTS is not set";
    const TwoDomains two;
    expect_farther_turns(two, "two domains");
    const ChainModel nameless = without_domains(two.chain);
    const Moves without(nameless, two.prior);
    ASSERT_FALSE(without.has_distance_moves());
    const AnnealingOptions options{.conformations = 1024, .moves = 25};
    const Runs plain = print_runs("without distance moves", two, options, without),
               found = print_runs("with distance moves", two, options, two.moves);
    for (std::size_t k = 0; k < found.pose.size(); ++k)
        EXPECT_LT(std::abs(plain.pose[k].mean - found.pose[k].mean),
                  4 * std::hypot(plain.pose[k].error, found.pose[k].error))
            << k;
    EXPECT_LT(found.claimed, 1.5 * found.pose[0].effective_size);
    EXPECT_GT(found.claimed, found.pose[0].effective_size / 1.5);
    const Direct direct = draw_directly(two, 1000000);
    std::printf("independent draws: ln of the evidence %.2f +- %.2f, distance %.3f\n",
                direct.log_evidence, direct.error, direct.distance);
    EXPECT_NEAR(found.log_evidence, direct.log_evidence, 0.3);
    const std::optional<TwoDomains> rpa = make_rpa();
    if (!rpa) return;
    expect_farther_turns(*rpa, "RPA70, backbone");
    print_runs("RPA70, backbone", *rpa, {.conformations = 1024, .moves = 25}, rpa->moves);
}

}  // namespace

}  // namespace pleat::refine

// Average: replicas against enumerated states, two states of known weights, and the residual test.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "pleat/core/error.h"
#include "pleat/core/tests/temporary_folder.h"
#include "pleat/workflows/refine/output.h"
#include "pleat/workflows/refine/tests/made_chain.h"
#include "pleat/workflows/refine/tests/made_hinge.h"

namespace pleat::refine {

namespace {

using pleat::test::TemporaryFolder;
using test::Hinge174;
using test::StopAfter;

/// (phi, psi) of a residue in its quadrants, with these probabilities.
TorsionTables quadrant_tables(const std::array<double, 4>& shares) {
    TorsionTables tables;
    for (std::vector<double>& table : tables)
        for (std::size_t cell = 0; cell < kCells * kCells; ++cell)
            table.push_back(shares[2 * (cell / kCells / 36) + cell % kCells / 36] / (36 * 36));
    return tables;
}

std::size_t quadrant_of(const Conformation& conformation) {
    const LinkerResidue& residue = conformation.model().residues.front();
    return 2 * (conformation.phi(residue) >= 0 ? 1u : 0u) +
           (conformation.psi(residue) >= 0 ? 1u : 0u);
}

constexpr Index kPoints = 12;

Array<double, 2> quadrant_profile(std::size_t quadrant) {
    Array<double, 2> profile(Index{1}, kPoints);
    for (Index k = 0; k < kPoints; ++k)
        profile(0, k) =
            10 * std::exp(-0.02 * static_cast<double>(k * k) * (1 + static_cast<double>(quadrant)));
    return profile;
}

/// A replica whose profile is that of its quadrant.
class QuadrantTarget final : public SamplingTarget {
public:
    QuadrantTarget(ReplicaMean& mean, Index replica) : mean_(&mean), replica_(replica) {}
    void start(const Conformation& at) override {
        mean_->set(replica_, quadrant_profile(quadrant_of(at)).view());
    }
    bool prepare(const Conformation& proposed) override {
        quadrant_ = quadrant_of(proposed);
        return true;
    }
    double prepared_log_weight() override {
        return static_cast<double>(mean_->replicas()) *
               mean_->propose(replica_, quadrant_profile(quadrant_).view());
    }
    void accept() override { mean_->accept(replica_); }
    double accepted_log_weight() override {
        return static_cast<double>(mean_->replicas()) * mean_->log_likelihood();
    }

private:
    ReplicaMean* mean_;
    Index replica_;
    std::size_t quadrant_ = 0;
};

// Three replicas of four states each: 64 joint states, all frequencies within 4 standard errors.
TEST(Average, ReplicasAreDistributedAsEnumeratedStates) {
    constexpr std::array<double, 4> kShares = {0.4, 0.3, 0.2, 0.1};
    constexpr std::size_t kStates = 64, kBatches = 100, kReplicas = 3;
    constexpr Index kLength = 500;
    const ChainModel model = test::made_model("AAAAAAGAAAAAAAA", "A:7");
    const Prior prior(model, quadrant_tables(kShares));
    const Moves moves(model, prior);
    Profile curve;
    const std::vector<double> q = test::grid(kPoints, 0.3);
    curve.q = q;
    for (Index k = 0; k < kPoints; ++k) {
        curve.sigma.push_back(4);
        curve.intensity.push_back(0.5 * (quadrant_profile(0)(0, k) + quadrant_profile(3)(0, k)));
    }
    const CurveLikelihood likelihood(curve, q,
                                     {.model_error = 0.02, .correlation = 0.03, .c2 = {0}});
    ReplicaMean mean(likelihood, kReplicas);
    std::vector<std::unique_ptr<QuadrantTarget>> targets;
    std::vector<Sampler> samplers;
    for (std::size_t n = 0; n < kReplicas; ++n) {
        const auto number = static_cast<Index>(n);
        targets.push_back(std::make_unique<QuadrantTarget>(mean, number));
        samplers.emplace_back(moves, *targets.back(), model, 6, number);
        samplers.back().settings = {.pivot_width = 2.5, .crankshaft_width = 2.0};
        samplers.back().start(std::vector<double>(model.hinges.size()));
    }
    std::vector<std::array<double, kStates>> batches(kBatches);
    for (std::size_t batch = 0; batch < kBatches; ++batch)
        for (Index step = 0; step < kLength; ++step) {
            std::size_t state = 0;
            for (Sampler& sampler : samplers) {
                sampler.run(static_cast<Index>(batch) * kLength + step, 1);
                state = 4 * state + quadrant_of(sampler.conformation());
            }
            batches[batch][state] += 1.0 / kLength;
        }
    std::array<double, kStates> expected{};
    double sum = 0;
    for (std::size_t state = 0; state < kStates; ++state) {
        Array<double, 2> profile(Index{1}, kPoints);
        double share = 1;
        for (std::size_t n = 0; n < kReplicas; ++n) {
            const std::size_t quadrant = state >> (2 * n) & 3;
            share *= kShares[quadrant];
            const Array<double, 2> one = quadrant_profile(quadrant);
            for (Index k = 0; k < kPoints; ++k) profile(0, k) += one(0, k) / kReplicas;
        }
        expected[state] = share * std::exp(kReplicas * likelihood.log_likelihood(profile.view()));
        sum += expected[state];
    }
    double worst = 0, smallest = 1, largest = 0;
    for (std::size_t state = 0; state < kStates; ++state) {
        double mean_share = 0, square = 0;
        for (const auto& batch : batches) mean_share += batch[state] / kBatches;
        for (const auto& batch : batches) square += std::pow(batch[state] - mean_share, 2);
        const double error = std::sqrt(square / (kBatches - 1) / kBatches),
                     share = expected[state] / sum;
        worst = std::max(worst, std::abs(mean_share - share) / error);
        smallest = std::min(smallest, share / std::pow(0.25, 3));
        largest = std::max(largest, share / std::pow(0.25, 3));
    }
    EXPECT_LT(worst, 4);
    EXPECT_GT(largest / smallest, 40);  // the curve and the prior matter
}

/// A hinge of one residue with two states, each a cell of 5 degrees of (phi, psi), and the curve of
/// 0.3 of one and 0.7 of the other.
struct TwoStates : Hinge174 {
    TwoStates() {
        chain = make_chain_model(ensemble.topology, ensemble.xyz.view()[0],
                                 {.linkers = parse_ranges("A:177", "--linkers"), .groups = {}});
        prior = Prior(chain, coil_tables());
        moves = Moves(chain, prior);
        // Two conformations without overlaps, whose domains are at different distances.
        const Conformation one = draw(0);
        Index number = 1;
        while (std::abs(centre_distance(draw(number)) - centre_distance(one)) < 6 && number < 100)
            ++number;
        first_cell = cell(one);
        TorsionTables tables;
        for (std::vector<double>& table : tables) {
            table.assign(kCells * kCells, 1e-12);
            table[first_cell] = table[cell(draw(number))] = 0.5;
        }
        prior = Prior(chain, tables);
        moves = Moves(chain, prior);
    }
    std::size_t cell(const Conformation& at) const {
        const LinkerResidue& residue = chain.residues.front();
        return kCells * cell_of(at.phi(residue)) + cell_of(at.psi(residue));
    }
    double centre_distance(const Conformation& at) const {
        const Domain &a = chain.domains[0], &b = chain.domains[1];
        return distance(at.piece(a.piece)(a.centre), at.piece(b.piece)(b.centre));
    }
    bool is_first(const Conformation& at) const { return cell(at) == first_cell; }
    Conformation state(bool is_first) const {
        Index n = 0;
        while (this->is_first(draw(n)) != is_first && n < 100) ++n;
        return draw(n);
    }

    std::size_t first_cell = 0;

    /// The share of the first state in frames of a sampling, and whether residuals are noise.
    std::pair<double, MisfitTest> sample(const Profile& curve, Index replicas, Index rungs) const {
        Parameters parameters;
        parameters.model_error = 0.005;
        const CurveFitSetup setup(chain, moves, {.curve = &curve}, parameters, {});
        const PoolOptions options{.chains = 2,
                                  .rungs = rungs,
                                  .replicas = replicas,
                                  .moves = 4,
                                  .burn_in = 12,
                                  .kept = 24};
        const Pool pool = sample_pool(
            chain, moves,
            [&](Index walkers, Index of_walker) { return setup.make_targets(walkers, of_walker); },
            options, "two states", {});
        double first = 0;
        std::vector<double> squares, runs;
        Conformation at(chain);
        for (Index frame = 0; frame < options.kept; ++frame)
            for (Index n = 0; n < pool.angles.extent(1); ++n) {
                const double* const angles = &pool.angles(frame, n, 0);
                at.set_angles({angles, angles + chain.hinge_count()});
                first += is_first(at);
                squares.push_back(pool.fits(frame, n / replicas, kSquares));
                runs.push_back(pool.fits(frame, n / replicas, kRuns));
            }
        const auto median = [](std::vector<double>& values) {
            std::sort(values.begin(), values.end());
            return values[values.size() / 2];
        };
        return {first / static_cast<double>(squares.size()), {median(squares), median(runs)}};
    }
};

TEST(Average, FindsTheWeightsOfTwoStates) {
    const TwoStates two;
    const Conformation one = two.state(true), other = two.state(false);
    const ProfileModel model = make_profile_model(two.chain, other, two.q, {});
    const Profile curve = two.curve_of({{0.3, one}, {0.7, other}}, model, 0.005, true);
    const auto [share, misfit] = two.sample(curve, 16, 1);
    EXPECT_NEAR(share, 0.3, 0.1);
    EXPECT_TRUE(misfit.is_passed()) << misfit.squares << ' ' << misfit.runs;
    // No single conformation is the mixture, and the residuals show it.
    const MisfitTest alone = two.sample(curve, 1, 4).second;
    EXPECT_FALSE(alone.is_passed()) << alone.squares << ' ' << alone.runs;
    std::printf("share %.3f, p %.3g and %.3g; alone %.3g and %.3g\n", share, misfit.squares,
                misfit.runs, alone.squares, alone.runs);
}

TEST(Average, HasTheSameBitsHoweverThreadsAndCallsDivideTheWalkers) {
    const TwoStates two;
    const Conformation one = two.state(true);
    const ProfileModel model = make_profile_model(two.chain, one, two.q, {});
    const Profile curve = two.curve_of({{1.0, one}}, model, 0.005, true);
    const CurveFitSetup setup(two.chain, two.moves, {.curve = &curve}, {}, {});
    std::vector<double> first;
    for (const auto& [together, in_turn] :
         {std::pair<Index, Index>{1, 1}, {1, 3}, {2, 2}, {2, 1}, {6, 1}}) {
        const Pool pool = sample_pool(
            two.chain, two.moves,
            [&](Index walkers, Index replicas) { return setup.make_targets(walkers, replicas); },
            {.chains = 3,
             .rungs = 2,
             .replicas = 2,
             .together = together,
             .in_turn = in_turn,
             .moves = 3,
             .burn_in = 1,
             .kept = 2},
            "divided", {});
        const std::vector<double> found(pool.angles.begin(), pool.angles.end());
        if (first.empty()) first = found;
        EXPECT_EQ(found, first) << together << " together, " << in_turn << " in turn";
    }
}

TEST(PoolOptions, DivideWalkersForAGpu) {
    const auto divided = [](Index chains) {
        PoolOptions options{.chains = chains};
        options.divide_for_gpu();
        return std::pair(options.together, options.in_turn);
    };
    EXPECT_EQ(divided(1), std::pair(Index{1}, Index{1}));
    EXPECT_EQ(divided(40), std::pair(Index{1}, Index{2}));
    EXPECT_EQ(divided(64), std::pair(Index{1}, Index{4}));
    EXPECT_EQ(divided(512), std::pair(Index{8}, Index{4}));
    EXPECT_EQ(divided(100000), std::pair(Index{391}, Index{4}));  // 256 sessions of a GPU at most
    const auto ahead = [](Index chains) {
        PoolOptions options{.chains = chains};
        options.divide_for_gpu();
        return std::pair(options.ahead, options.few_moves);
    };
    EXPECT_EQ(ahead(1), std::pair(Index{5}, true));
    EXPECT_EQ(ahead(3), std::pair(Index{5}, false));
    EXPECT_EQ(ahead(40), std::pair(Index{1}, false));  // walkers that share a thread have no copies
}

TEST(ResidualTest, PassesNoiseAndFindsBothKindsOfMisfit) {
    const Hinge174 hinge;
    const ProfileModel model = make_profile_model(hinge.chain, hinge.draw(0), hinge.q, {});
    const Array<double, 3> partial = hinge.partial_of(hinge.draw(1), model);
    const LikelihoodOptions options{.model_error = 0, .correlation = 0.03, .c2 = {0, 1, 2}};
    double squares = 0, runs = 0;
    constexpr int kDraws = 200;
    const auto test_of = [&](const Profile& curve) {
        return CurveLikelihood(curve, hinge.q, options).residual_test(partial.view()[0]);
    };
    for (std::uint64_t seed = 1; seed <= kDraws; ++seed) {
        const ResidualTest test =
            test_of(hinge.curve_of({{1.0, hinge.draw(1)}}, model, 0.02, true, seed));
        squares += test.squares < 0.1 ? 1.0 / kDraws : 0;
        runs += test.runs < 0.1 ? 1.0 / kDraws : 0;
    }
    // Noise has probabilities below 0.1 in a tenth of the cases; runs come in steps.
    EXPECT_NEAR(squares, 0.1, 0.07);
    EXPECT_NEAR(runs, 0.1, 0.08);
    Profile curve = hinge.curve_of({{1.0, hinge.draw(1)}}, model, 0.02, true);
    for (std::size_t k = 0; k < curve.size(); ++k)  // a wave of 1.2 sigma and no noise
        curve.intensity[k] =
            hinge.curve_of({{1.0, hinge.draw(1)}}, model, 0.02, false).intensity[k] +
            1.2 * curve.sigma[k] * (k / 7 % 2 == 0 ? 1 : -1);
    EXPECT_LT(test_of(curve).runs, 1e-3);
    for (std::size_t k = 0; k < curve.size(); ++k)
        curve.intensity[k] += 3 * curve.sigma[k] * (k % 2 == 0 ? 1 : -1);
    EXPECT_LT(test_of(curve).squares, 1e-3);
}

Parameters average_parameters() {
    Parameters parameters;
    parameters.linkers = "A:174-179";
    parameters.frames = 3 * 32;
    parameters.chains = 2;
    parameters.moves = 2;
    parameters.burn_in = 2;
    parameters.rungs = 2;
    return parameters;
}

TEST(Average, HasTheSameBitsForAnyThreadsAndAfterAStop) {
    const TemporaryFolder folder;
    const Hinge174 hinge;
    const ProfileModel model = make_profile_model(hinge.chain, hinge.draw(0), hinge.q, {});
    const Profile curve = hinge.curve_of(hinge.draw(1), model, true);
    Context context;
    context.threads = 1;
    const Result whole = run(hinge.ensemble, {.curve = &curve}, average_parameters(), context);
    EXPECT_EQ(whole.mode, Mode::average);  // the default with a curve
    EXPECT_EQ(whole.replica[17], 1);
    EXPECT_EQ(whole.chain[17], 1);
    EXPECT_EQ(whole.chi2[16], whole.chi2[31]);  // of the mean of the second chain
    EXPECT_NE(whole.chi2[15], whole.chi2[16]);
    EXPECT_NE(convergence_remark(whole).find("96 frames of 2 chains are too few"),
              std::string::npos);
    EXPECT_NE(convergence_remark(whole).find("4 frames of each chain and each of its 16 replicas"),
              std::string::npos);
    context.threads = 2;
    context.checkpoint = folder / "checkpoint.npz";
    for (const int rounds : {2, 2}) {
        StopAfter stop(rounds);
        context.progress = &stop;
        EXPECT_THROW(run(hinge.ensemble, {.curve = &curve}, average_parameters(), context),
                     Cancelled);
    }
    context.progress = nullptr;
    const Result resumed = run(hinge.ensemble, {.curve = &curve}, average_parameters(), context);
    EXPECT_TRUE(
        std::equal(whole.frames.xyz.begin(), whole.frames.xyz.end(), resumed.frames.xyz.begin()));
    EXPECT_EQ(whole.chi2, resumed.chi2);
    EXPECT_EQ(whole.swaps, resumed.swaps);
}

}  // namespace

}  // namespace pleat::refine

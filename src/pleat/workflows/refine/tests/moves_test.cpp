// Moves: balance over enumerated states, and the measure that crankshafts keep.
#include "pleat/workflows/refine/moves/moves.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <span>

#include "pleat/workflows/refine/sampling/sampler.h"
#include "pleat/workflows/refine/tests/made_chain.h"

namespace pleat::refine {

namespace {

using test::kDegree;
using test::made_model;

constexpr std::size_t kStates = 64;

/// Four states of each of three residues: the quadrants of (phi, psi), each with a constant
/// density.
TorsionTables quadrant_tables() {
    const double shares[kResidueClasses][4] = {{0.4, 0.3, 0.2, 0.1},
                                               {0.25, 0.25, 0.25, 0.25},
                                               {0.25, 0.25, 0.25, 0.25},
                                               {0.1, 0.2, 0.3, 0.4},
                                               {0.3, 0.1, 0.4, 0.2}};
    TorsionTables tables;
    for (std::size_t n = 0; n < tables.size(); ++n)
        for (std::size_t cell = 0; cell < kCells * kCells; ++cell)
            tables[n].push_back(shares[n][2 * (cell / kCells / 36) + cell % kCells / 36] /
                                (36 * 36));
    return tables;
}

std::size_t state_of(const Conformation& conformation) {
    std::size_t state = 0;
    const ChainModel& model = conformation.model();
    for (const LinkerResidue& residue :
         std::span(model.residues).first(static_cast<std::size_t>(model.own_residues)))
        state = 4 * state + 2 * (conformation.phi(residue) >= 0 ? 1u : 0u) +
                (conformation.psi(residue) >= 0 ? 1u : 0u);
    return state;
}

/// ln of the weight of a state: some clash, and the others have curves of six points that fit more
/// or less well.
double state_log_weight(std::size_t state) {
    if (state % 7 == 3 || state == 20) return -std::numeric_limits<double>::infinity();
    double chi_square = 0;
    for (int k = 0; k < 6; ++k) {
        const double model = std::cos(0.3 * k + 0.05 * static_cast<double>(state)),
                     measured = std::cos(0.3 * k + 0.7);
        chi_square += (model - measured) * (model - measured) / 2;
    }
    return -chi_square / 2;
}

class StateTarget : public SamplingTarget {
public:
    void start(const Conformation& at) override { accepted_ = weight_of(at); }
    bool prepare(const Conformation& proposed) override {
        pending_ = weight_of(proposed);
        return std::isfinite(pending_);
    }
    double prepared_log_weight() override { return pending_; }
    void accept() override { accepted_ = pending_; }
    double accepted_log_weight() override { return accepted_; }

private:
    virtual double weight_of(const Conformation& at) const {
        return state_log_weight(state_of(at));
    }
    double accepted_ = 0, pending_ = 0;
};

/// A wrong Jacobian of crankshafts: as if angles and not positions were uniform.
class WrongTarget final : public StateTarget {
    double weight_of(const Conformation& at) const override {
        double sum = state_log_weight(state_of(at));
        for (const LinkerResidue& residue : at.model().residues)
            sum -= std::log(std::sin(at.bend(residue)));
        return sum;
    }
};

struct ThreeResidues {
    ChainModel model = made_model("AAAAAAGVAAAAAAAAA", "A:7-9");
    Prior prior{model, quadrant_tables()};
    BendSpring spring{.deviation = 15 * kDegree};
    Moves moves{model, prior, spring};

    std::array<double, kStates> probabilities() const {
        const TorsionTables tables = quadrant_tables();
        std::array<double, kStates> all{};
        double sum = 0;
        for (std::size_t state = 0; state < kStates; ++state) {
            double value = std::exp(state_log_weight(state));
            for (std::size_t n = 0; n < 3; ++n) {
                const std::size_t quadrant = state >> (2 * (2 - n)) & 3,
                                  cell = (quadrant / 2 * 36) * kCells + quadrant % 2 * 36;
                value *= tables[static_cast<std::size_t>(model.residues[n].residue_class)][cell];
            }
            sum += all[state] = value;
        }
        for (double& value : all) value /= sum;
        return all;
    }
    std::vector<double> allowed_start() const {
        for (Index n = 0;; ++n) {
            Random random(9, 0, n, Random::kStart);
            Conformation conformation(model);
            conformation.set_angles(moves.draw_all(random));
            if (std::isfinite(state_log_weight(state_of(conformation))))
                return conformation.angles();
        }
    }
};

struct Found {
    double worst_state = 0;  ///< largest deviation of a frequency, in standard errors
    double bend = 0;         ///< deviation of the mean of cos(N-CA-C), in standard errors
};

/// Mean of cos(bend) for the density sin(bend) exp(-energy).
double expected_cosine(const BendSpring& spring, double start) {
    double sum = 0, weighted = 0;
    for (int n = 0; n < 20000; ++n) {
        const double bend = std::acos(-1.0) * (n + 0.5) / 20000,
                     weight = std::sin(bend) * std::exp(-spring.energy(bend, start));
        sum += weight;
        weighted += weight * std::cos(bend);
    }
    return weighted / sum;
}

/// Runs a chain and compares it with the enumerated states; errors from the means of 100 batches.
Found compare(const ThreeResidues& three, const std::array<double, kMoveKinds>& shares,
              const std::function<void(Conformation& at, Index step)>& step, Index moves) {
    constexpr Index kBatches = 100;
    Conformation at(three.model);
    at.set_angles(three.allowed_start());
    std::vector<std::array<double, kStates>> batches(kBatches);
    std::vector<double> cosines(kBatches);
    const Index length = moves / kBatches;
    for (Index number = 0; number < kBatches * length; ++number) {
        step(at, number);
        const auto batch = static_cast<std::size_t>(number / length);
        batches[batch][state_of(at)] += 1.0 / static_cast<double>(length);
        cosines[batch] += std::cos(at.bend(three.model.residues[0])) / static_cast<double>(length);
    }
    const auto deviation = [&](const std::function<double(std::size_t)>& value, double expected) {
        double mean = 0, square = 0;
        for (std::size_t n = 0; n < kBatches; ++n) mean += value(n) / kBatches;
        for (std::size_t n = 0; n < kBatches; ++n) square += std::pow(value(n) - mean, 2);
        const double error = std::sqrt(square / (kBatches - 1) / kBatches);
        return error > 0 ? std::abs(mean - expected) / error : mean == expected ? 0.0 : 1e9;
    };
    Found found;
    const std::array<double, kStates> expected = three.probabilities();
    for (std::size_t state = 0; state < kStates; ++state)
        found.worst_state =
            std::max(found.worst_state,
                     deviation([&](std::size_t n) { return batches[n][state]; }, expected[state]));
    if (shares[2] > 0)
        found.bend = deviation([&](std::size_t n) { return cosines[n]; },
                               expected_cosine(three.spring, three.model.residues[0].bend));
    return found;
}

Found run_sampler(const ThreeResidues& three, SamplingTarget& target,
                  const std::array<double, kMoveKinds>& shares, Index moves,
                  double pivot_width = 2.5) {
    Sampler sampler(three.moves, target, three.model, 4, 0);
    const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
    sampler.settings = {.pivot_width = pivot_width,
                        .crankshaft_width = 2.0,
                        .distance_width = 0.5,
                        .distance_share = shares[3] / sum,
                        .kind_shares = {shares[0], shares[1], shares[2]}};
    sampler.start(three.allowed_start());
    return compare(
        three, shares,
        [&](Conformation& at, Index number) {
            sampler.run(number, 1);
            at = sampler.conformation();
        },
        moves);
}

// 64 states are compared at once: 4 standard errors.
constexpr double kMaxDeviation = 4;

TEST(Moves, PivotsAreBalanced) {
    const ThreeResidues three;
    StateTarget target;
    EXPECT_LT(run_sampler(three, target, {1, 0, 0}, 1000000).worst_state, kMaxDeviation);
}

TEST(Moves, RedrawsAreBalanced) {
    const ThreeResidues three;
    StateTarget target;
    EXPECT_LT(run_sampler(three, target, {0, 1, 0}, 200000).worst_state, kMaxDeviation);
}

// Crankshafts keep the ends of a linker in place, so alone they cannot reach all states.
TEST(Moves, CrankshaftsAreBalanced) {
    const ThreeResidues three;
    StateTarget target;
    const Found found = run_sampler(three, target, {0, 0.2, 0.8}, 1000000);
    EXPECT_LT(found.worst_state, kMaxDeviation);
    EXPECT_LT(found.bend, kMaxDeviation);
}

// Alone they cannot reach all states either. They need narrow pivots, with which a tenth of the
// redraws remain.
TEST(Moves, DistanceMovesAreBalanced) {
    const ThreeResidues three;
    StateTarget target;
    EXPECT_LT(run_sampler(three, target, {0, 2, 0, 0.9}, 1000000, 0.1).worst_state, kMaxDeviation);
}

TEST(Moves, AllKindsTogetherAreBalanced) {
    const ThreeResidues three;
    StateTarget target;
    const Found found = run_sampler(three, target, {0.4, 0.6, 0.3, 0.4}, 1000000, 0.5);
    EXPECT_LT(found.worst_state, kMaxDeviation);
    EXPECT_LT(found.bend, kMaxDeviation);
}

TEST(Moves, AllKindsTogetherAreBalancedInASymmetricDimer) {
    const ThreeResidues three{
        test::made_symmetric_model("AAAAAAGVAAAAAAAAA", "A:7-9", "A:10-17", 2)};
    ASSERT_EQ(three.model.residues.size(), 6u);
    ASSERT_TRUE(three.moves.has_distance_moves());
    StateTarget target;
    const Found found = run_sampler(three, target, {0.4, 0.6, 0.3, 0.4}, 1000000, 0.5);
    EXPECT_LT(found.worst_state, kMaxDeviation);
    EXPECT_LT(found.bend, kMaxDeviation);
}

TEST(Moves, AWrongJacobianFailsTheComparison) {
    const ThreeResidues three;
    WrongTarget target;
    EXPECT_GT(run_sampler(three, target, {0, 0.2, 0.8}, 1000000).bend, 2 * kMaxDeviation);
}

/// Crankshafts without the prior's ratio, as if they left phi and psi as they are.
TEST(Moves, CrankshaftsWithoutTheRatioOfThePriorFailTheComparison) {
    const ThreeResidues three;
    Conformation proposed(three.model);
    const auto step = [&](Conformation& at, Index number) {
        Random random(4, 0, number);
        const bool is_crankshaft = random.uniform() < 0.8;
        MoveProposal proposal = is_crankshaft ? three.moves.crankshaft(at, 2.0, random)
                                              : three.moves.redraw(at, random);
        proposed.set_angles(proposal.angles);
        if (is_crankshaft)
            proposal.log_ratio -= three.prior.log_density(proposed) - three.prior.log_density(at);
        const double log_ratio = proposal.log_ratio + state_log_weight(state_of(proposed)) -
                                 state_log_weight(state_of(at));
        if (std::log(1 - random.uniform()) <= log_ratio) at = proposed;
    };
    EXPECT_GT(compare(three, {0, 0.2, 0.8}, step, 1000000).worst_state, 2 * kMaxDeviation);
}

TEST(Moves, CrankshaftsLeaveTheRestInPlace) {
    const ChainModel model = made_model("AAAAAAAAGVAAAAAAAAAAAAAAAA", "A:7-12");
    const Prior prior(model, coil_tables());
    const Moves moves(model, prior);
    Conformation before(model), after(model);
    Random start(3, 0, 0);
    before.set_angles(moves.draw_all(start));
    for (Index n = 0; n < 50; ++n) {
        Random random(2, 0, n);
        const MoveProposal proposal = moves.crankshaft(before, 1.0, random);
        after.set_angles(proposal.angles);
        // The log ratio is that of the whole density.
        EXPECT_NEAR(proposal.log_ratio, moves.log_density(after) - moves.log_density(before), 1e-6);
        Index at_rest = 0;
        for (Index atom = 0; atom < model.atom_count(); ++atom)
            at_rest += distance(before.atom(atom), after.atom(atom)) < 1e-9;
        EXPECT_GE(at_rest, model.atom_count() - 6 * 5);
        EXPECT_LT(at_rest, model.atom_count());
    }
}

}  // namespace

}  // namespace pleat::refine

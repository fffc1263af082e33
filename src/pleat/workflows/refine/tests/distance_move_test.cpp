// Distance moves: their ratio by its definition, the prior that they keep, and where there are
// none.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "pleat/workflows/refine/moves/distance_step.h"
#include "pleat/workflows/refine/sampling/sampler.h"
#include "pleat/workflows/refine/tests/made_chain.h"

namespace pleat::refine {

namespace {

using test::made_model;

using Angles = std::vector<double>;

double dot(const Angles& a, const Angles& b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

/// Two strands on a linker with proline, and what a test computes of their conformations.
struct TwoStrands {
    ChainModel model;
    Prior prior{model, coil_tables()};
    Moves moves{model, prior};

    explicit TwoStrands(const std::string& linkers = "A:7-12")
        : model(made_model("AAAAAAAAGPVAAAAAAAA", linkers)) {}

    Conformation at(const Angles& angles) const {
        Conformation conformation(model);
        conformation.set_angles(angles);
        return conformation;
    }
    Conformation draw(Index number) const {
        Random random(3, 0, number);
        return at(moves.draw_all(random));
    }
    double distance_of(const Conformation& at) const {
        const auto centre = [&](const Domain& domain) {
            return at.piece(domain.piece)(domain.centre);
        };
        return distance(centre(model.domains[0]), centre(model.domains[1]));
    }
    /// The derivatives of the distance by the hinges whose angle `change` is not 0, by differences.
    Angles gradient(const Angles& angles, const Angles& change) const {
        constexpr double kStep = 1e-5;
        Angles result(angles.size()), moved = angles;
        Conformation conformation = at(angles);
        const auto distance_at = [&](std::size_t n, double angle) {
            moved[n] = angle;
            conformation.set_angles(moved);
            return distance_of(conformation);
        };
        for (std::size_t n = 0; n < angles.size(); ++n) {
            if (change[n] == 0) continue;
            const double more = distance_at(n, angles[n] + kStep),
                         less = distance_at(n, angles[n] - kStep);
            result[n] = (more - less) / (2 * kStep);
            moved[n] = angles[n];
        }
        return result;
    }
    Angles change(const Angles& from, const Angles& to) const {
        Angles result(from.size());
        for (std::size_t n = 0; n < from.size(); ++n) result[n] = wrapped(to[n] - from[n]);
        return result;
    }
    /// ln(|J| / |J'|)
    double log_jacobian(const Angles& from, const Angles& to) const {
        const Angles turned = change(from, to), before = gradient(from, turned),
                     after = gradient(to, turned);
        return std::log(dot(before, before) / dot(after, after)) / 2;
    }
};

/// The square of the part of `step` across `gradient`.
double square_across(const Angles& step, const Angles& gradient) {
    const double along = dot(step, gradient);
    return dot(step, step) - along * along / dot(gradient, gradient);
}

TEST(DistanceMoves, KeepTheDistanceAndHaveTheRatioOfTheirDefinition) {
    constexpr double kWidth = 0.3;
    const TwoStrands two;
    std::array<int, 9> by_turned{};
    for (Index n = 0; n < 300; ++n) {
        const Conformation before = two.draw(n);
        Random random(2, 0, n);
        const MoveProposal proposal = two.moves.distance(before, kWidth, random);
        if (std::isinf(proposal.log_ratio)) continue;
        const Conformation after = two.at(proposal.angles);
        EXPECT_NEAR(two.distance_of(after), two.distance_of(before), 2e-9);
        const Angles step = two.change(before.angles(), after.angles());
        std::size_t turned = 0;
        for (std::size_t hinge = 0; hinge < step.size(); ++hinge) {
            turned += step[hinge] != 0;
            EXPECT_TRUE(step[hinge] == 0 || two.model.hinges[hinge].kind != HingeKind::bend);
        }
        ASSERT_LE(turned, 8u);
        ++by_turned[turned];
        const double squares = square_across(step, two.gradient(before.angles(), step)) -
                               square_across(step, two.gradient(after.angles(), step));
        EXPECT_NEAR(proposal.log_ratio,
                    two.moves.log_density(after) - two.moves.log_density(before) +
                        squares / (2 * kWidth * kWidth) +
                        two.log_jacobian(before.angles(), after.angles()),
                    1e-5);
    }
    EXPECT_GT(by_turned[4], 50);
    EXPECT_GT(by_turned[8], 50);
    EXPECT_EQ(by_turned[4] + by_turned[8], std::accumulate(by_turned.begin(), by_turned.end(), 0));
}

/// The largest deviation, in standard errors, of the mean change of some numbers of conformations
/// by moves from draws of the prior, which balanced moves keep. `power`: of the factor |J| / |J'|.
double largest_change(double width, double power) {
    constexpr Index kDraws = 6000, kMoves = 24;
    const TwoStrands two;
    const auto numbers_of = [&](const Conformation& at) {
        Angles numbers;
        for (const LinkerResidue& residue : two.model.residues)
            for (const double angle : {at.phi(residue), at.psi(residue)})
                numbers.insert(numbers.end(), {std::cos(angle), std::sin(angle)});
        const Domain &one = two.model.domains[0], &other = two.model.domains[1];
        const Transform pose = inverse(at.piece(one.piece)) * at.piece(other.piece);
        numbers.insert(numbers.end(), pose.rotation.begin(), pose.rotation.end());
        const Vector centre = pose(other.centre);
        numbers.insert(numbers.end(), {centre.x, centre.y, centre.z});
        const Angles slopes = two.gradient(at.angles(), Angles(at.angles().size(), 1.0));
        for (std::size_t n = 0; n + 1 < two.model.residues.size(); ++n) {
            double square = 0;
            for (const LinkerResidue& residue : {two.model.residues[n], two.model.residues[n + 1]})
                for (const Index hinge : {residue.phi_hinge, residue.psi_hinge})
                    if (hinge >= 0) square += slopes[hinge] * slopes[hinge];
            numbers.push_back(std::log(square));
        }
        return numbers;
    };
    Angles sums, squares;
    for (Index draw = 0; draw < kDraws; ++draw) {
        const Conformation start = two.draw(draw);
        Conformation at = start;
        for (Index n = 0; n < kMoves; ++n) {
            Random random(7, draw, n);
            const MoveProposal proposal = two.moves.distance(at, width, random);
            double log_ratio = proposal.log_ratio;
            if (power != 1 && std::isfinite(log_ratio))
                log_ratio += (power - 1) * two.log_jacobian(at.angles(), proposal.angles);
            if (std::log(1 - random.uniform()) <= log_ratio) at.set_angles(proposal.angles);
        }
        const Angles before = numbers_of(start), after = numbers_of(at);
        sums.resize(before.size());
        squares.resize(before.size());
        for (std::size_t n = 0; n < before.size(); ++n) {
            sums[n] += after[n] - before[n];
            squares[n] += std::pow(after[n] - before[n], 2);
        }
    }
    double largest = 0;
    for (std::size_t n = 0; n < sums.size(); ++n)
        if (squares[n] > 0) largest = std::max(largest, std::abs(sums[n]) / std::sqrt(squares[n]));
    return largest;
}

// 41 numbers are compared at once: 4 standard errors.
constexpr double kMaxDeviation = 4;

TEST(DistanceMoves, KeepThePrior) {
    EXPECT_LT(largest_change(0.3, 1), kMaxDeviation);
    EXPECT_LT(largest_change(1.2, 1), kMaxDeviation);  // many do not lead back
}

TEST(DistanceMoves, DoNotKeepThePriorWithAWrongJacobian) {
    EXPECT_GT(largest_change(0.3, 0), 1.5 * kMaxDeviation);
    EXPECT_GT(largest_change(0.3, -1), 1.5 * kMaxDeviation);
}

TEST(DistanceMoves, AreRejectedWhereNoTurnOrNoWayBackExists) {
    const TwoStrands two;
    const auto rejected = [&](double width) {
        int count = 0;
        for (Index n = 0; n < 1000; ++n) {
            Random random(4, 0, n);
            const double log_ratio = two.moves.distance(two.draw(n), width, random).log_ratio;
            EXPECT_FALSE(std::isnan(log_ratio));
            count += std::isinf(log_ratio);
        }
        return count;
    };
    EXPECT_LE(rejected(0.01), 10);
    EXPECT_GT(rejected(1.5), 100);
}

/// Four torsions with axes and ends anywhere in a cube.
TorsionPath any_path(Random& random) {
    const auto anywhere = [&] { return Vector{random.normal(), random.normal(), random.normal()}; };
    TorsionPath path{anywhere(), anywhere(), {}};
    for (int n = 0; n < 4; ++n) path.torsions.push_back({anywhere(), unit(anywhere())});
    return path;
}

TorsionPath turned(const TorsionPath& path, const Turns& turns) {
    TorsionPath result = path;
    Transform before;
    for (std::size_t n = 0; n < path.torsions.size(); ++n) {
        const auto& [origin, axis] = path.torsions[n];
        result.torsions[n] = {before(origin), before.turned(axis)};
        before = before * rotation_about(origin, axis, turns[n]);
    }
    result.last = before(path.last);
    return result;
}

TEST(DistanceMoves, LeadBackByTheSameStep) {
    constexpr double kWidth = 1;
    int found = 0;
    for (Index n = 0; n < 5000; ++n) {
        Random random(8, 0, n);
        const TorsionPath path = any_path(random);
        const Turns normal = {random.normal(), random.normal(), random.normal(), random.normal()};
        const auto step = distance_step(path, normal, kWidth);
        if (!step) continue;
        ++found;
        // The part along the gradient does not count.
        Turns back;
        for (std::size_t k = 0; k < kMaxTurning; ++k) back[k] = -step->turns[k] / kWidth;
        const auto returned = distance_step(turned(path, step->turns), back, kWidth);
        ASSERT_TRUE(returned) << n;
        for (std::size_t k = 0; k < 4; ++k)
            EXPECT_NEAR(returned->turns[k], -step->turns[k], 1e-4) << n;
        EXPECT_NEAR(returned->log_ratio, -step->log_ratio, 1e-3) << n;
    }
    EXPECT_GT(found, 1000);
    EXPECT_LT(found, 4900);
}

TEST(DistanceMoves, AreRejectedWhereTheDistanceDoesNotChangeWithTheTorsions) {
    const Turns normal = {1, -1, 0.5, 0.2};
    TorsionPath path{{}, {10, 0, 0}, {}};
    // Axes through an end, along the line between the ends, and in a plane with both.
    path.torsions = {
        {{}, {0, 1, 0}}, {{5, 0, 0}, {1, 0, 0}}, {{10, 0, 0}, {0, 0, 1}}, {{3, 4, 0}, {0, 1, 0}}};
    EXPECT_EQ(path.slope({}).steepness(), 0);
    EXPECT_FALSE(distance_step(path, normal, 0.3));
    path.torsions[3] = {{3, 4, 0}, {0, 0, 1}};
    EXPECT_NEAR(path.slope({}).steepness(), 4, 1e-12);
    EXPECT_TRUE(distance_step(path, normal, 0.3));
    path.last = path.first;
    EXPECT_FALSE(distance_step(path, normal, 0.3));
}

TEST(DistanceMoves, AreLeftOutBetweenDomainsOfFewTorsionsWithANote) {
    const TwoStrands near("A:7-7");
    EXPECT_FALSE(near.moves.has_distance_moves());
    ASSERT_EQ(near.moves.notes().size(), 1u);
    EXPECT_EQ(near.moves.notes()[0].text,
              "no moves keep the distance of A:8-19 and A:1-6: 2 torsions connect them, fewer "
              "than 4");
    StericTarget target(near.model);
    Sampler sampler(near.moves, target, near.model, 1, 0);
    sampler.settings.pivot_width = 0.1;
    sampler.start(find_start(near.model, near.moves, {}, 1, 0));
    sampler.run(0, 200);
    EXPECT_EQ(sampler.counts.proposed[3], 0);
    EXPECT_GT(sampler.counts.accepted[0], 0);

    const TwoStrands tail("A:12-19");
    EXPECT_FALSE(tail.moves.has_distance_moves());
    EXPECT_EQ(tail.moves.notes().at(0).text,
              "no moves keep a distance of domains: there are fewer than two");
}

TEST(DistanceMoves, AdaptTheirWidth) {
    const TwoStrands two;
    StericTarget target(two.model);
    Sampler sampler(two.moves, target, two.model, 1, 0);
    sampler.settings = {.pivot_width = 0.1, .distance_width = 1e-3, .distance_share = 1};
    sampler.start(find_start(two.model, two.moves, {}, 1, 0));
    for (Index block = 0; block < 30; ++block) {
        sampler.run(block * 100, 100);
        EXPECT_EQ(sampler.counts.proposed[3], 100);
        adapt(sampler.settings, sampler.counts);
    }
    EXPECT_GT(sampler.settings.distance_width, 0.05);
    EXPECT_LT(sampler.settings.distance_width, 3);
}

}  // namespace

}  // namespace pleat::refine

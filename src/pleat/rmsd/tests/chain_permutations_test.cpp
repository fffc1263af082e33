// RMSD over permutations of equal chains: against all permutations, and what must hold of it.
#include "pleat/rmsd/measures/permutations.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "pleat/core/error.h"
#include "pleat/rmsd/superposition/superpose.h"
#include "pleat/rmsd/tests/made_assemblies.h"
#include "pleat/rmsd/tests/random_ensemble.h"

namespace pleat::rmsd {
namespace {

using test::atoms_of;
using test::chains_of;
using test::exchange_chains;

Context context_of(Device::Kind kind, int threads = 2) {
    Context context;
    context.device = {kind, 0};
    context.threads = threads;
    return context;
}

/// Frames with atoms before, in and after the chains; chains are about equal bodies at random.
Array<float, 3> assembly(Index frames, const AtomSets& sets, double spread, std::uint64_t seed) {
    return random_ensemble(frames, atoms_of(sets), spread, seed);
}

/// Each frame with its chains at each other's places at random.
Array<float, 3> permuted(const Array<float, 3>& xyz, const AtomSets& sets, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    Array<float, 3> other = xyz;
    for (Index i = 0; i < xyz.extent(0); ++i) exchange_chains(xyz[i], sets, random, other[i]);
    return other;
}

std::vector<float> matrix_of(const Array<float, 3>& xyz, const AtomSets& sets, Device::Kind kind) {
    std::vector<float> values(static_cast<std::size_t>(xyz.extent(0) * (xyz.extent(0) - 1) / 2));
    run(FrameStore(xyz), sets, {}, context_of(kind), MatrixTarget(std::span<float>(values)));
    return values;
}

double largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
    EXPECT_EQ(a.size(), b.size());
    double largest = 0;
    for (std::size_t n = 0; n < a.size(); ++n)
        largest = std::max(largest, std::fabs(double{a[n]} - double{b[n]}));
    return largest;
}

const std::vector<std::vector<Index>> kGroups = {{2}, {3}, {4}, {5}, {2, 2}, {2, 3}, {3, 2, 2}};

TEST(ChainPermutations, AgreeWithAllPermutations) {
    for (const std::vector<Index>& chains : kGroups)
        for (const double spread : {0.2, 5.0, 40.0}) {
            const AtomSets sets = chains_of(chains, 4);
            const Array<float, 3> xyz = assembly(8, sets, spread, 1);
            const auto found = matrix_of(xyz, sets, Device::Kind::cpu);
            EXPECT_LE(largest_difference(found, matrix_of(xyz, sets, Device::Kind::reference)),
                      1e-5)
                << chains.size() << " groups, spread " << spread;
            const auto plain = matrix_of(xyz, {}, Device::Kind::reference);
            for (std::size_t n = 0; n < found.size(); ++n) EXPECT_LE(found[n], plain[n] + 1e-5);
        }
}

TEST(ChainPermutations, LeaveMatricesOfPermutedFrames) {
    for (const std::vector<Index>& chains : kGroups) {
        const AtomSets sets = chains_of(chains, 6);
        const Array<float, 3> xyz = assembly(10, sets, 2.0, 2), other = permuted(xyz, sets, 3);
        EXPECT_LE(largest_difference(matrix_of(xyz, sets, Device::Kind::cpu),
                                     matrix_of(other, sets, Device::Kind::cpu)),
                  1e-5);
        EXPECT_GT(largest_difference(matrix_of(xyz, {}, Device::Kind::cpu),
                                     matrix_of(other, {}, Device::Kind::cpu)),
                  0.5)
            << "chains did change places";
    }
}

/// Rings, whose rotations are permutations that are equally good, and copies of one structure.
TEST(ChainPermutations, FindZeroOfPermutedCopies) {
    for (const Index chains : {2, 3, 4, 6, 7}) {
        const AtomSets sets = chains_of({chains}, 5);
        Array<float, 3> xyz = assembly(4, sets, 0.0, 4);
        for (Index chain = 0; chain < chains; ++chain)
            for (Index k = 0; k < 5; ++k) {
                const double angle =
                    2 * M_PI * static_cast<double>(chain) / static_cast<double>(chains) +
                    0.1 * static_cast<double>(k);
                for (Index i = 0; i < 4; ++i) {
                    xyz(i, 1 + 5 * chain + k, 0) = static_cast<float>(20 * std::cos(angle));
                    xyz(i, 1 + 5 * chain + k, 1) = static_cast<float>(20 * std::sin(angle));
                    xyz(i, 1 + 5 * chain + k, 2) = static_cast<float>(k);
                }
            }
        for (const float value : matrix_of(permuted(xyz, sets, 5), sets, Device::Kind::cpu))
            EXPECT_LT(value, 2e-6) << chains;
    }
    const AtomSets sets = chains_of({4}, 3);
    Array<float, 3> points(Index{2}, Index{15}, Index{3});  // all atoms at one place
    for (const float value : matrix_of(points, sets, Device::Kind::cpu)) EXPECT_EQ(value, 0.0F);
}

TEST(ChainPermutations, ObeyTheTriangleInequality) {
    const AtomSets sets = chains_of({3, 2}, 4);
    const Index frames = 100;  // a million triples
    const Array<float, 3> xyz = permuted(assembly(frames, sets, 6.0, 6), sets, 7);
    const auto pairs = permuted_pairs(xyz, sets, {}, context_of(Device::Kind::cpu));
    std::vector<float> all(static_cast<std::size_t>(frames * frames));
    std::vector<Index> items(static_cast<std::size_t>(frames));
    for (Index i = 0; i < frames; ++i) items[static_cast<std::size_t>(i)] = i;
    pairs->rows(items, all.data());
    const auto at = [&](Index i, Index j) { return all[static_cast<std::size_t>(i * frames + j)]; };
    float worst = 0.0F;
    for (Index i = 0; i < frames; ++i)
        for (Index j = 0; j < frames; ++j)
            for (Index k = 0; k < frames; ++k)
                worst = std::max(worst, at(i, k) - at(i, j) - at(j, k));
    EXPECT_LE(worst, 1e-5F);
}

TEST(ChainPermutations, AreTheSameBitsInEveryOrder) {
    const AtomSets sets = chains_of({4}, 4);
    const Array<float, 3> xyz = assembly(23, sets, 4.0, 8);
    const auto matrix = matrix_of(xyz, sets, Device::Kind::cpu);
    const auto pairs = permuted_pairs(xyz, sets, {}, context_of(Device::Kind::cpu, 1));
    std::vector<float> band(matrix.size()), among;
    pairs->band({0, 23}, band.data());
    EXPECT_EQ(band, matrix);
    std::vector<Index> some{2, 7, 22};
    pairs->among(some, [&](Block, const float* values) {
        among.insert(among.end(), values, values + (among.empty() ? 2 : 1));
    });
    std::vector<float> rows(3 * 23);
    pairs->rows(some, rows.data());
    EXPECT_EQ(among, (std::vector<float>{rows[7], rows[22], rows[23 + 22]}));
    EXPECT_EQ(rows[2], 0.0F);
    EXPECT_TRUE(pairs->is_below(2, 7, double{rows[7]} + 1e-3));
    EXPECT_FALSE(pairs->is_below(2, 7, double{rows[7]}));
}

TEST(ChainPermutations, RelabelGivesTheBestPlaces) {
    const AtomSets sets = chains_of({4, 2}, 5);
    const Array<float, 3> xyz = assembly(12, sets, 0.5, 9);
    Array<float, 3> other = permuted(xyz, sets, 10);
    const AtomSets plain;
    Parameters no_matrix;
    no_matrix.matrix = MatrixLayout::none;
    const auto to_first = [&](const Array<float, 3>& frames, const AtomSets& of) {
        Array<float, 2> first(xyz.extent(1), Index{3});
        std::copy_n(xyz.data(), first.size(), first.data());
        return run_reference(frames, first, of, no_matrix, context_of(Device::Kind::cpu)).values;
    };
    const std::vector<float> best = to_first(other, sets);
    const Relabelled done = relabel_chains(other, xyz[0], sets, context_of(Device::Kind::cpu));
    EXPECT_GT(done.changed, 6);
    EXPECT_EQ(done.unproven, 0);
    EXPECT_LE(largest_difference(to_first(other, plain), best), 1e-5);
    EXPECT_TRUE(std::equal(xyz.begin(), xyz.end(), other.begin())) << "little spread: as before";
    EXPECT_EQ(relabel_chains(other, xyz[0], sets, context_of(Device::Kind::reference)).changed, 0);
}

/// The sum of squares left of the best candidate.
double best_of(const PlaceTable& table, const Frames& frames, Index i, Index j, double max_tried,
               bool& is_proven) {
    const double squares = frames.square_sum.data()[i] + frames.square_sum.data()[j];
    const double *const p = frames.frame(i), *const q = frames.frame(j);
    const PlaceCandidates found =
        find_places(table, p, q, frames.atom_count(), 0.5e-6 * squares, {.tried = max_tried});
    is_proven = found.is_proven;
    double best = -1.0;
    for (const PlaceChoice& choice : found.choices) {
        Covariance sum = covariance_of(table.blocks.front(), p, q, frames.atom_count());
        for (const std::int32_t block : choice) {
            const Covariance one = covariance_of(table.blocks[static_cast<std::size_t>(block)], p,
                                                 q, frames.atom_count());
            for (std::size_t n = 0; n < 9; ++n) sum[n] += one[n];
        }
        best = std::max(best, Quartic(sum.data()).root_above(0.0));
    }
    return squares - 2 * best;
}

TEST(ChainPermutations, BranchAndBoundFindsTheBestOfAll) {
    std::vector<std::vector<Index>> groups = kGroups;
    groups.insert(groups.end(), {{6}, {7}, {4, 3}, {8}});
    for (const std::vector<Index>& chains : groups)
        for (const double spread : {0.3, 4.0, 30.0}) {
            const AtomSets sets = chains_of(chains, 4);
            const Array<float, 3> xyz = permuted(assembly(3, sets, spread, 13), sets, 14);
            const PlaceTable table(sets.equal_chains, true, xyz.extent(1));
            const Frames frames = centre(xyz, {}, 1);
            for (Index i = 0; i < 3; ++i) {
                bool is_proven = false, all_are = false;
                const double bound = best_of(table, frames, i, (i + 1) % 3, 1.0, is_proven),
                             all = best_of(table, frames, i, (i + 1) % 3, 1e9, all_are);
                EXPECT_TRUE(is_proven && all_are) << chains[0] << " " << spread;
                EXPECT_NEAR(bound, all, 1e-5 * frames.square_sum.data()[i]);
            }
        }
}

/// Chains at random places; frames are copies with noise.
Array<float, 3> noisy_copies(const AtomSets& sets, double noise, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal;
    Array<float, 3> xyz = assembly(6, sets, 0.0, seed);
    for (const auto& group : sets.equal_chains)
        for (const auto& chain : group) {
            const double place[3] = {30 * normal(random), 30 * normal(random), 30 * normal(random)};
            for (const Index atom : chain)
                for (int axis = 0; axis < 3; ++axis) {
                    const double own = place[axis] + 5 * normal(random);
                    for (Index i = 0; i < 6; ++i)
                        xyz(i, atom, axis) = static_cast<float>(own + noise * normal(random));
                }
        }
    return xyz;
}

TEST(ChainPermutations, OfManyChains) {
    for (const std::vector<Index>& chains :
         std::vector<std::vector<Index>>{{8}, {10}, {12}, {6, 6}}) {
        const AtomSets sets = chains_of(chains, 8);
        const Array<float, 3> xyz = noisy_copies(sets, 1.0, 15);
        const auto found = matrix_of(permuted(xyz, sets, 16), sets, Device::Kind::cpu);
        EXPECT_LE(largest_difference(found, matrix_of(xyz, {}, Device::Kind::cpu)), 1e-5)
            << chains[0];
    }
    // Rings, whose rotations are equally good.
    const AtomSets sets = chains_of({12}, 5);
    Array<float, 3> ring = assembly(3, sets, 0.0, 17);
    for (Index chain = 0; chain < 12; ++chain)
        for (Index k = 0; k < 5; ++k)
            for (Index i = 0; i < 3; ++i) {
                const double angle =
                    M_PI / 6 * static_cast<double>(chain) + 0.05 * static_cast<double>(k * k);
                ring(i, 1 + 5 * chain + k, 0) = static_cast<float>(20 * std::cos(angle));
                ring(i, 1 + 5 * chain + k, 1) = static_cast<float>(20 * std::sin(angle));
                ring(i, 1 + 5 * chain + k, 2) = static_cast<float>(2 * k);
            }
    for (const float value : matrix_of(permuted(ring, sets, 18), sets, Device::Kind::cpu))
        EXPECT_LT(value, 5e-6);
}

TEST(ChainPermutations, ThatAreNotProvenAreRefusedOrCounted) {
    // Chains at one place: all permutations are as good, and too many to go through.
    const AtomSets sets = chains_of({11}, 2);
    Array<float, 3> xyz = random_ensemble(2, 25, 5.0, 19);
    for (const auto& chain : sets.equal_chains[0])
        for (std::size_t k = 0; k < 2; ++k)
            for (Index i = 0; i < 2; ++i)
                for (int axis = 0; axis < 3; ++axis)
                    xyz(i, chain[k], axis) = xyz(i, sets.equal_chains[0][0][k], axis);
    try {
        matrix_of(xyz, sets, Device::Kind::cpu);
        FAIL();
    } catch (const InputError& error) {
        EXPECT_NE(
            std::string(error.what()).find("found a pair (0 and 1) where 1000000 partial ones"),
            std::string::npos);
    }
    const Result result = run_reference(xyz, xyz[0], sets, {}, context_of(Device::Kind::cpu));
    EXPECT_EQ(result.unproven, 2);
    EXPECT_LT(result.values[0], 1e-5);
    EXPECT_LE(result.values[1],
              run_reference(xyz, xyz[0], {}, {}, context_of(Device::Kind::cpu)).values[1] + 1e-5);
}

TEST(ChainPermutations, AssignmentIsTheBest) {
    std::mt19937 random(20);
    for (int trial = 0; trial < 50; ++trial) {
        const std::size_t n = 1 + random() % 6;
        std::vector<std::vector<double>> values(n, std::vector<double>(n));
        for (auto& row : values)
            for (double& value : row) value = static_cast<double>(random() % 20) - 10;
        std::vector<Index> order(n);
        for (std::size_t k = 0; k < n; ++k) order[k] = static_cast<Index>(k);
        const auto sum = [&](const std::vector<Index>& columns) {
            double total = 0;
            for (std::size_t k = 0; k < n; ++k)
                total += values[k][static_cast<std::size_t>(columns[k])];
            return total;
        };
        double best = -1e9;
        do best = std::max(best, sum(order));
        while (std::next_permutation(order.begin(), order.end()));
        EXPECT_EQ(sum(best_assignment(values)), best);
    }
}

TEST(ChainPermutations, AgainstOtherFrames) {
    const AtomSets sets = chains_of({3}, 4);
    const Array<float, 3> xyz = assembly(5, sets, 3.0, 11), others = assembly(7, sets, 3.0, 12);
    std::vector<float> cpu(35), reference(35);
    for (auto* values : {&cpu, &reference})
        run_against(xyz, others, sets, {},
                    context_of(values == &cpu ? Device::Kind::cpu : Device::Kind::reference),
                    MatrixTarget(std::span<float>(*values)));
    EXPECT_LE(largest_difference(cpu, reference), 1e-5);
}

TEST(ChainPermutations, RefuseWhatCannotBe) {
    const auto told = [](const AtomSets& sets, Parameters parameters = {}) -> std::string {
        const Array<float, 3> xyz = random_ensemble(2, 68, 1.0, 1);
        parameters.matrix = MatrixLayout::none;
        try {
            run(FrameStore(xyz), sets, parameters, context_of(Device::Kind::cpu), {});
        } catch (const Error& error) {
            return error.what();
        }
        return {};
    };
    EXPECT_EQ(told(chains_of({7}, 2)), "");
    EXPECT_EQ(told(chains_of({8}, 2)), "");
    EXPECT_EQ(told(chains_of({4, 4}, 2)), "");
    EXPECT_EQ(told(chains_of({65}, 1)), "expected at most 64 equal chains, found 65");
    AtomSets sets = chains_of({2}, 3);
    sets.weights.assign(68, 1.0);
    EXPECT_EQ(told(sets), "");
    sets.weights[2] = 2.0;
    EXPECT_NE(told(sets).find("expected one weight for corresponding atoms"), std::string::npos);
    sets = chains_of({2}, 3);
    sets.fit = {0, 1, 2};
    EXPECT_NE(told(sets).find("superposed and measured"), std::string::npos);
    sets = chains_of({2}, 3);
    sets.equal_chains[0][1][0] = 1;
    EXPECT_NE(told(sets).find("each in one chain, found 1"), std::string::npos);
    Parameters drmsd;
    drmsd.metric = Metric::drmsd;
    EXPECT_NE(told(chains_of({2}, 3), drmsd).find("--symmetry needs"), std::string::npos);
}

}  // namespace
}  // namespace pleat::rmsd

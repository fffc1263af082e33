// RMSDs over permutations of chains and atoms: the GPU's kernels on the host against the reference.
#include "pleat/core/tests/host_gpu.h"  // before the kernels

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "pleat/rmsd/cuda/permuted_on_gpu.cuh"
#include "pleat/rmsd/tests/fit_truth.h"
#include "pleat/rmsd/tests/made_assemblies.h"
#include "pleat/rmsd/tests/random_ensemble.h"
#include "pleat/rmsd/tests/turned.h"

namespace pleat::rmsd {
namespace {

using pleat::test::HostGpu;
using pleat::test::HostGpuState;
using test::atoms_of;
using test::by_reference;
using test::chains_of;
using test::expect_fits;

PlaceTable table_of(const AtomSets& sets, Index atoms) {
    return sets.equal_chains.empty() ? PlaceTable(sets.equal_orders, false, atoms)
                                     : PlaceTable(sets.equal_chains, true, atoms);
}

std::vector<float> on_gpu(const Array<float, 3>& rows, const Array<float, 3>& columns,
                          const AtomSets& sets, double cutoff = 0.0,
                          Index sum_bytes = cuda::kBlockSumBytes) {
    HostGpuState state;
    const Index atoms = rows.extent(1);
    const bool is_one = &rows == &columns;
    Array<float, 3> both(columns.extent(0) + (is_one ? 0 : rows.extent(0)), atoms, Index{3});
    std::copy(columns.begin(), columns.end(), both.begin());
    if (!is_one) std::copy(rows.begin(), rows.end(), both.begin() + columns.size());
    const Frames frames = centre(both, sets.weights, 1);
    std::vector<float> values(static_cast<std::size_t>(rows.extent(0) * columns.extent(0)), 7.0F);
    {
        cuda::PermutedOnGpu<HostGpu> permuted(frames, is_one ? 0 : columns.extent(0),
                                              table_of(sets, atoms), cutoff, HostGpu(state),
                                              sum_bytes);
        HostGpu::Array<float> found(static_cast<Index>(values.size()));
        permuted.run({0, rows.extent(0)}, {0, columns.extent(0)}, found.data());
        found.download(values.data());
    }
    EXPECT_EQ(state.used_bytes, 0);
    return values;
}

/// Each frame turned, with its chains at each other's places at random.
Array<float, 3> permuted(const Array<float, 3>& xyz, const AtomSets& sets, unsigned seed) {
    std::mt19937_64 random(seed);
    Array<float, 3> other = xyz;
    for (Index i = 0; i < xyz.extent(0); ++i) {
        test::exchange_chains(xyz[i], sets, random, other[i]);
        test::turn(other[i], random, 20.0);
    }
    return other;
}

TEST(PermutedOnGpu, TakesTheBestOfAllPermutationsOfChains) {
    for (const std::vector<Index>& chains :
         std::vector<std::vector<Index>>{{2}, {3}, {4}, {5}, {2, 2}, {2, 3}, {3, 2, 2}}) {
        for (const double spread : {0.2, 5.0, 40.0}) {
            SCOPED_TRACE(std::to_string(chains.size()) + " groups, spread " +
                         std::to_string(spread));
            const AtomSets sets = chains_of(chains, 5);
            const auto rows = permuted(random_ensemble(5, atoms_of(sets), spread, 1), sets, 1),
                       columns = permuted(random_ensemble(9, atoms_of(sets), spread, 2), sets, 2);
            const auto expected = by_reference(rows, columns, sets);
            expect_fits(on_gpu(rows, columns, sets), expected);
            EXPECT_NE(by_reference(rows, columns, {}), expected) << "chains did change places";
            expect_fits(on_gpu(rows, rows, sets), by_reference(rows, rows, sets));
        }
    }
}

TEST(PermutedOnGpu, KnowsWeightsAndChainsWithoutOtherAtoms) {
    AtomSets sets = chains_of({3}, 4);
    sets.weights.push_back(2.0);
    for (int n = 0; n < 14; ++n) sets.weights.push_back(n < 12 ? 1.0 + n % 4 : 0.5);
    const auto xyz = permuted(random_ensemble(9, 15, 3.0, 3), sets, 3);
    expect_fits(on_gpu(xyz, xyz, sets), by_reference(xyz, xyz, sets));
    AtomSets all;
    all.equal_chains = {{{0, 1, 2, 3, 4}, {5, 6, 7, 8, 9}, {10, 11, 12, 13, 14}}};
    expect_fits(on_gpu(xyz, xyz, all), by_reference(xyz, xyz, all));
}

/// Rings, whose rotations are permutations that are equally good, and copies of one structure.
TEST(PermutedOnGpu, FindsZeroOfPermutedCopies) {
    for (const Index chains : {2, 4, 6, 7}) {
        const AtomSets sets = chains_of({chains}, 5);
        Array<float, 3> xyz = random_ensemble(3, atoms_of(sets), 0.0, 4);
        for (Index chain = 0; chain < chains; ++chain)
            for (Index k = 0; k < 5; ++k) {
                const double angle =
                    2 * M_PI * static_cast<double>(chain) / static_cast<double>(chains) +
                    0.1 * static_cast<double>(k);
                for (Index i = 0; i < xyz.extent(0); ++i) {
                    xyz(i, 1 + 5 * chain + k, 0) = static_cast<float>(20 * std::cos(angle));
                    xyz(i, 1 + 5 * chain + k, 1) = static_cast<float>(20 * std::sin(angle));
                    xyz(i, 1 + 5 * chain + k, 2) = static_cast<float>(k);
                }
            }
        const auto other = permuted(xyz, sets, 5);
        for (const float value : on_gpu(xyz, other, sets)) EXPECT_LT(value, 5e-6) << chains;
    }
    const AtomSets sets = chains_of({4}, 3);
    const Array<float, 3> points(Index{2}, atoms_of(sets), Index{3});
    for (const float value : on_gpu(points, points, sets)) EXPECT_EQ(value, 0.0F);
}

TEST(PermutedOnGpu, TakesTheBestOfAllOrdersOfAtoms) {
    AtomSets sets;
    sets.equal_orders = {
        {{6, 8, 9, 7}, {9, 7, 6, 8}},
        {{3, 4}},
        {{11, 12, 16}, {11, 16, 12}, {12, 11, 16}, {12, 16, 11}, {16, 11, 12}, {16, 12, 11}}};
    for (const double spread : {0.3, 3.0, 30.0}) {
        const auto rows = random_ensemble(7, 19, spread, 6),
                   columns = random_ensemble(9, 19, spread, 7);
        const auto expected = by_reference(rows, columns, sets);
        expect_fits(on_gpu(rows, columns, sets), expected);
        if (spread > 1) {
            EXPECT_NE(by_reference(rows, columns, {}), expected);
        }
    }
    sets.equal_orders = {{{3, 4}}};
    const auto xyz = random_ensemble(7, 19, 1.0, 6);
    expect_fits(on_gpu(xyz, xyz, sets), by_reference(xyz, xyz, {}));
}

TEST(PermutedOnGpu, GivesTheSameBitsInSmallBlocks) {
    const AtomSets sets = chains_of({3, 2}, 4);
    const auto rows = permuted(random_ensemble(3, atoms_of(sets), 2.0, 8), sets, 8),
               columns = permuted(random_ensemble(9, atoms_of(sets), 2.0, 9), sets, 9);
    const auto all = on_gpu(rows, columns, sets);
    for (const Index pairs : {4, 9, 20})
        EXPECT_EQ(on_gpu(rows, columns, sets, 0.0, pairs * 72 * 14), all) << pairs;
}

TEST(PermutedOnGpu, RecomputesPairsAtTheCutoff) {
    const AtomSets sets = chains_of({2, 2}, 4);
    const auto xyz = permuted(random_ensemble(9, atoms_of(sets), 2.0, 10), sets, 10);
    const auto expected = by_reference(xyz, xyz, sets);
    for (std::size_t pair = 1; pair < 9; ++pair)
        EXPECT_EQ(on_gpu(xyz, xyz, sets, double{expected[pair]})[pair], expected[pair]);
}

TEST(PermutedOnGpu, TriesAllOfFewPermutationsOnly) {
    EXPECT_TRUE(can_try_all(chains_of({7}, 2)));
    EXPECT_TRUE(can_try_all(chains_of({4, 4}, 2)));
    EXPECT_FALSE(can_try_all(chains_of({8}, 2)));
    EXPECT_FALSE(can_try_all(chains_of({4, 4, 4}, 2)));
    AtomSets sets;
    for (Index n = 0; n < 13; ++n)
        sets.equal_orders.push_back({{2 * n, 2 * n + 1}, {2 * n + 1, 2 * n}});
    EXPECT_FALSE(can_try_all(sets));
    sets.fit = {30, 31, 32, 33};  // then each group chooses alone
    EXPECT_TRUE(can_try_all(sets));
    sets.fit.clear();
    sets.equal_orders.pop_back();
    EXPECT_TRUE(can_try_all(sets));
    EXPECT_EQ(table_of(sets, 40).choices().size(), 4096U);
}

}  // namespace
}  // namespace pleat::rmsd

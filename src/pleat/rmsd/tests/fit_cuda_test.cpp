// RMSDs of other atoms, of two sets, in place and over permutations on a real GPU against the
// reference, and through whole runs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "pleat/core/error.h"
#include "pleat/core/tests/cuda_absence.h"
#include "pleat/rmsd/measures/comparison.h"
#include "pleat/rmsd/tests/fit_truth.h"
#include "pleat/rmsd/tests/random_ensemble.h"
#include "pleat/rmsd/tests/turned.h"

namespace pleat::rmsd {
namespace {

using test::atoms_from;
using test::scattered;

class CudaKernelOfFits : public testing::Test {
protected:
    void SetUp() override {
        const std::string absence = pleat::test::cuda_absence();
        if (!absence.empty()) GTEST_SKIP() << absence;
        gpu_.device = {Device::Kind::cuda, 0};
        cpu_.threads = gpu_.threads = 4;
    }

    static std::vector<float> values(const TwoSets& sides, const AtomSets& sets,
                                     const Context& context) {
        const auto comparison = make_comparison(sides, sets, Metric::rmsd, {}, context);
        std::vector<float> found(
            static_cast<std::size_t>(sides.rows.extent(0) * sides.columns.extent(0)));
        compare(*comparison, {0, sides.rows.extent(0)}, {0, sides.columns.extent(0)}, 4,
                found.data());
        return found;
    }

    /// On the GPU as by the reference, to what is promised; any block has the same bits.
    void expect_values(const TwoSets& sides, const AtomSets& sets) const {
        Context reference = cpu_;
        reference.device = {Device::Kind::reference, 0};
        const auto found = values(sides, sets, gpu_);
        test::expect_fits(found, values(sides, sets, reference));
        const Index rows = sides.rows.extent(0), columns = sides.columns.extent(0);
        const auto comparison = make_comparison(sides, sets, Metric::rmsd, {}, gpu_);
        std::vector<float> one(static_cast<std::size_t>(columns));
        for (const Index row : {Index{0}, rows / 2, rows - 1}) {
            comparison->block({row, 1}, {columns / 3, columns - columns / 3}, one.data());
            EXPECT_TRUE(std::equal(one.begin(), one.begin() + columns - columns / 3,
                                   found.begin() + row * columns + columns / 3))
                << "row " << row;
        }
    }

    Context gpu_, cpu_;
};

TEST_F(CudaKernelOfFits, TwoSetsAndOtherAtomsAreThoseOfTheReference) {
    for (const Index atoms : {3, 8, 41, 300}) {
        for (const double spread : {0.0, 0.05, 30.0}) {
            SCOPED_TRACE(std::to_string(atoms) + " atoms, spread " + std::to_string(spread));
            const auto rows = scattered(random_ensemble(70, atoms, spread, 1), 40.0, 1),
                       columns = scattered(random_ensemble(101, atoms, spread, 2), 40.0, 2);
            expect_values({rows, columns}, {});
            expect_values({columns, columns}, {});
            if (atoms < 8) continue;
            AtomSets sets;
            sets.fit = atoms_from(0, atoms / 2);
            sets.measured = atoms_from(atoms / 3, atoms);
            expect_values({rows, columns}, sets);
            expect_values({columns, columns}, sets);
            for (Index k = 0; k < atoms; ++k)
                sets.weights.push_back(k % 5 == 1 ? 0.0 : 1.0 + static_cast<double>(k % 3));
            expect_values({rows, columns}, sets);
        }
    }
}

TEST_F(CudaKernelOfFits, FramesInPlaceAndOrdersAreThoseOfTheReference) {
    const auto rows = random_ensemble(70, 30, 2.0, 3), columns = random_ensemble(301, 30, 2.0, 4);
    AtomSets sets;
    sets.in_place = true;
    expect_values({rows, columns}, sets);
    sets.equal_orders = {{{6, 8, 9, 7}, {9, 7, 6, 8}},
                         {{11, 12, 16}, {11, 16, 12}, {12, 11, 16}, {12, 16, 11}}};
    expect_values({rows, columns}, sets);
    sets.in_place = false;
    expect_values({rows, columns}, sets);  // all superposed
    sets.fit = {0, 1, 2, 3, 4, 5, 20, 21};
    sets.measured = atoms_from(4, 20);
    expect_values({rows, columns}, sets);
}

TEST_F(CudaKernelOfFits, EqualChainsAreThoseOfTheReference) {
    for (const std::vector<Index>& chains :
         std::vector<std::vector<Index>>{{2}, {3}, {4}, {5}, {2, 2}, {3, 2, 2}}) {
        for (const double spread : {0.0, 0.2, 5.0, 40.0}) {
            AtomSets sets;
            Index next = 2;
            for (const Index count : chains) {
                sets.equal_chains.emplace_back();
                for (Index chain = 0; chain < count; ++chain, next += 9)
                    sets.equal_chains.back().push_back(atoms_from(next, next + 9));
            }
            SCOPED_TRACE(std::to_string(next) + " atoms, spread " + std::to_string(spread));
            const auto rows = scattered(random_ensemble(5, next + 1, spread, 5), 20.0, 5),
                       columns = scattered(random_ensemble(40, next + 1, spread, 6), 20.0, 6);
            expect_values({rows, columns}, sets);
            expect_values({columns, columns}, sets);
        }
    }
}

TEST_F(CudaKernelOfFits, RunsAsOnTheCpu) {
    const auto xyz = scattered(random_ensemble(700, 50, 1.0, 7), 20.0, 7),
               others = scattered(random_ensemble(90, 50, 1.0, 8), 20.0, 8);
    Parameters parameters;
    parameters.matrix = MatrixLayout::none;
    parameters.cutoff = 1.6;
    AtomSets measure;
    measure.fit = atoms_from(0, 25);
    measure.measured = atoms_from(20, 50);
    AtomSets chains;
    chains.equal_chains = {{atoms_from(0, 12), atoms_from(12, 24), atoms_from(24, 36)}};
    const auto expect_same = [](const Result& found, const Result& expected) {
        EXPECT_EQ(found.statistics.pairs(), expected.statistics.pairs());
        EXPECT_NEAR(found.statistics.mean(), expected.statistics.mean(), 1e-5);
        EXPECT_NEAR(found.statistics.min(), expected.statistics.min(), 1e-5);
        EXPECT_NEAR(found.statistics.max(), expected.statistics.max(), 1e-5);
        EXPECT_EQ(found.neighbours.indices, expected.neighbours.indices);
    };
    for (const AtomSets& sets : {AtomSets(), measure, chains}) {
        if (!sets.are_plain())
            expect_same(run(xyz.view(), sets, parameters, gpu_, {}),
                        run(xyz.view(), sets, parameters, cpu_, {}));
        expect_same(run_against(xyz, others, sets, parameters, gpu_, {}),
                    run_against(xyz, others, sets, parameters, cpu_, {}));
        Parameters plain;
        const auto found = run_reference(xyz, others[3], sets, plain, gpu_).values,
                   expected = run_reference(xyz, others[3], sets, plain, cpu_).values;
        ASSERT_EQ(found.size(), expected.size());
        for (std::size_t n = 0; n < found.size(); ++n) EXPECT_NEAR(found[n], expected[n], 1e-5);
    }
    AtomSets many;
    for (Index chain = 0; chain < 8; ++chain) {
        if (chain == 0) many.equal_chains.emplace_back();
        many.equal_chains.front().push_back(atoms_from(6 * chain, 6 * chain + 6));
    }
    EXPECT_THROW(run(xyz.view(), many, parameters, gpu_, {}), DeviceError);
}

// The source of pairs that is clustered: bands, rows and subsets have the same bits.
TEST_F(CudaKernelOfFits, PermutedPairsAreTheSameWhereverTheyAreAsked) {
    const Index count = 300;
    const auto xyz = scattered(random_ensemble(count, 40, 2.0, 9), 20.0, 9);
    AtomSets sets;
    sets.equal_chains = {{atoms_from(0, 12), atoms_from(12, 24), atoms_from(24, 36)}};
    const auto pairs = permuted_pairs(xyz, sets, {}, gpu_),
               expected = permuted_pairs(xyz, sets, {}, cpu_);
    std::vector<float> band(static_cast<std::size_t>(count * (count - 1) / 2)), truth(band.size());
    pairs->band({0, count}, band.data());
    expected->band({0, count}, truth.data());
    for (std::size_t n = 0; n < band.size(); ++n) ASSERT_NEAR(band[n], truth[n], 2e-6);
    const auto at = [&](Index i, Index j) {
        const Index low = std::min(i, j), high = std::max(i, j);
        return i == j ? 0.0F : band[low * count - low * (low + 1) / 2 + high - low - 1];
    };
    const std::vector<Index> items{250, 3, 299, 0};
    std::vector<float> rows(items.size() * static_cast<std::size_t>(count));
    pairs->rows(items, rows.data());
    for (std::size_t a = 0; a < items.size(); ++a)
        for (Index j = 0; j < count; ++j) EXPECT_EQ(rows[a * count + j], at(items[a], j));
    pairs->among(items, [&](Block some, const float* values) {
        for (Index a = some.first; a < some.first + some.count; ++a)
            for (std::size_t b = static_cast<std::size_t>(a) + 1; b < items.size(); ++b)
                EXPECT_EQ(*values++, at(items[static_cast<std::size_t>(a)], items[b]));
    });
    EXPECT_TRUE(pairs->is_below(3, 250, std::nextafter(at(3, 250), 1e9F)));
    EXPECT_FALSE(pairs->is_below(3, 250, at(3, 250)));
}

}  // namespace
}  // namespace pleat::rmsd

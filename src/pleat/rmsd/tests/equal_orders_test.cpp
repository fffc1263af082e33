// RMSD of atoms that may change places, beside the fit, within it and in place: against all orders.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "pleat/core/error.h"
#include "pleat/rmsd/rmsd.h"
#include "pleat/rmsd/tests/random_ensemble.h"

namespace pleat::rmsd {
namespace {

/// Atoms 0 to 5 are superposed, 4 to 16 measured; two sides of two atoms, three of one.
AtomSets some_orders() {
    AtomSets sets;
    for (Index atom = 0; atom < 6; ++atom) sets.fit.push_back(atom);
    for (Index atom = 4; atom < 17; ++atom) sets.measured.push_back(atom);
    sets.equal_orders = {
        {{6, 8, 9, 7}, {9, 7, 6, 8}},
        {{11, 12, 16}, {11, 16, 12}, {12, 11, 16}, {12, 16, 11}, {16, 11, 12}, {16, 12, 11}}};
    return sets;
}

std::vector<float> rectangle(const Array<float, 3>& rows, const Array<float, 3>& columns,
                             const AtomSets& sets, Device::Kind kind) {
    Context context;
    context.device = {kind, 0};
    context.threads = 2;
    std::vector<float> values(static_cast<std::size_t>(rows.extent(0) * columns.extent(0)));
    run_against(rows, columns, sets, {}, context, MatrixTarget(std::span<float>(values)));
    return values;
}

/// The frames with each atom at the place of another.
Array<float, 3> moved(const Array<float, 3>& xyz,
                      const std::vector<std::pair<Index, Index>>& pairs) {
    Array<float, 3> other(xyz.extent(0), xyz.extent(1), Index{3});
    std::copy(xyz.begin(), xyz.end(), other.begin());
    for (Index i = 0; i < xyz.extent(0); ++i)
        for (const auto& [to, from] : pairs)
            for (int axis = 0; axis < 3; ++axis) other(i, to, axis) = xyz(i, from, axis);
    return other;
}

TEST(EqualOrders, TakeTheBestOfAllPlaces) {
    const AtomSets sets = some_orders();
    AtomSets plain = sets;
    plain.equal_orders.clear();
    for (const double spread : {0.3, 3.0, 30.0}) {
        const Array<float, 3> rows = random_ensemble(7, 19, spread, 1),
                              columns = random_ensemble(9, 19, spread, 2);
        std::vector<float> best(63, 1e9F);
        for (const bool is_flipped : {false, true}) {
            std::vector<Index> places{11, 12, 16};
            do {
                std::vector<std::pair<Index, Index>> pairs{
                    {11, places[0]}, {12, places[1]}, {16, places[2]}};
                if (is_flipped) pairs.insert(pairs.end(), {{6, 9}, {8, 7}, {9, 6}, {7, 8}});
                const auto values =
                    rectangle(rows, moved(columns, pairs), plain, Device::Kind::reference);
                for (std::size_t n = 0; n < best.size(); ++n)
                    best[n] = std::min(best[n], values[n]);
            } while (std::next_permutation(places.begin(), places.end()));
        }
        for (const Device::Kind kind : {Device::Kind::reference, Device::Kind::cpu}) {
            const auto found = rectangle(rows, columns, sets, kind);
            for (std::size_t n = 0; n < best.size(); ++n)
                EXPECT_NEAR(found[n], best[n], 1e-5) << spread;
        }
    }
}

TEST(EqualOrders, OfPermutedCopiesAreZero) {
    const Array<float, 3> xyz = random_ensemble(3, 19, 2.0, 3);
    const Array<float, 3> other =
        moved(xyz, {{6, 9}, {8, 7}, {9, 6}, {7, 8}, {11, 16}, {12, 11}, {16, 12}});
    const auto found = rectangle(xyz, other, some_orders(), Device::Kind::cpu);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_LT(found[4 * i], 1e-5);
}

TEST(EqualOrders, InPlaceAreNotSuperposed) {
    AtomSets sets = some_orders();
    sets.fit.clear();
    sets.in_place = true;
    const Array<float, 3> rows = random_ensemble(4, 19, 2.0, 5),
                          columns = random_ensemble(5, 19, 2.0, 6);
    const auto found = rectangle(rows, columns, sets, Device::Kind::cpu);
    for (Index i = 0; i < 4; ++i)
        for (Index j = 0; j < 5; ++j) {
            const auto square = [&](Index a, Index b) {
                double sum = 0.0;
                for (int axis = 0; axis < 3; ++axis)
                    sum += std::pow(double{rows(i, a, axis)} - columns(j, b, axis), 2);
                return sum;
            };
            double total = 0.0;
            for (const Index atom : {4, 5, 10, 13, 14, 15}) total += square(atom, atom);
            for (const auto& group : sets.equal_orders) {
                double best = 1e9;
                for (const std::vector<Index>& order : group) {
                    double sum = 0.0;
                    for (std::size_t k = 0; k < order.size(); ++k)
                        sum += square(group[0][k], order[k]);
                    best = std::min(best, sum);
                }
                total += best;
            }
            EXPECT_NEAR(found[static_cast<std::size_t>(5 * i + j)], std::sqrt(total / 13), 1e-5);
        }
}

/// Groups of two atoms each within `atoms` atoms, all superposed, whose atoms lie 2 apart.
AtomSets flips(Index groups) {
    AtomSets sets;
    for (Index g = 0; g < groups; ++g)
        sets.equal_orders.push_back({{2 * g, 2 * g + 1}, {2 * g + 1, 2 * g}});
    return sets;
}

/// The same coordinates with groups flipped at random.
Array<float, 3> flipped(const Array<float, 3>& xyz, Index groups, unsigned seed) {
    std::mt19937 random(seed);
    Array<float, 3> other(xyz.extent(0), xyz.extent(1), Index{3});
    std::copy(xyz.begin(), xyz.end(), other.begin());
    for (Index i = 0; i < xyz.extent(0); ++i)
        for (Index g = 0; g < groups; ++g) {
            if (random() % 2 == 0) continue;
            for (int axis = 0; axis < 3; ++axis)
                std::swap(other(i, 2 * g, axis), other(i, 2 * g + 1, axis));
        }
    return other;
}

TEST(EqualOrders, WithinTheFitTakeTheBestOfAll) {
    // 2^9 choices are more than are tried without a bound.
    constexpr Index kGroups = 9;
    for (const double spread : {0.05, 1.0, 20.0})
        for (const Index atoms : {Index{2 * kGroups}, Index{24}, Index{60}}) {
            const Array<float, 3> base = random_ensemble(4, atoms, spread, 7);
            const Array<float, 3> rows = flipped(base, kGroups, 1),
                                  columns =
                                      flipped(random_ensemble(5, atoms, spread, 8), kGroups, 2);
            const auto all = rectangle(rows, columns, flips(kGroups), Device::Kind::reference);
            const auto found = rectangle(rows, columns, flips(kGroups), Device::Kind::cpu);
            for (std::size_t n = 0; n < all.size(); ++n)
                EXPECT_NEAR(found[n], all[n], 1e-5) << spread << " " << atoms;
            const auto copies =
                rectangle(rows, flipped(base, kGroups, 3), flips(kGroups), Device::Kind::cpu);
            for (std::size_t i = 0; i < 4; ++i) EXPECT_LT(copies[5 * i], 1e-5);
        }
}

TEST(EqualOrders, OfSeveralKindsWithinTheFit) {
    AtomSets sets = some_orders();
    sets.fit = sets.measured;
    const Array<float, 3> rows = random_ensemble(5, 19, 1.5, 9),
                          columns = random_ensemble(6, 19, 1.5, 10);
    const auto all = rectangle(rows, columns, sets, Device::Kind::reference);
    const auto found = rectangle(rows, columns, sets, Device::Kind::cpu);
    for (std::size_t n = 0; n < all.size(); ++n) EXPECT_NEAR(found[n], all[n], 1e-5);
    sets.weights.assign(19, 1.0);
    for (const Index atom : {6, 8, 9, 7}) sets.weights[static_cast<std::size_t>(atom)] = 3.0;
    const auto weighted = rectangle(rows, columns, sets, Device::Kind::reference);
    const auto fast = rectangle(rows, columns, sets, Device::Kind::cpu);
    for (std::size_t n = 0; n < all.size(); ++n) EXPECT_NEAR(fast[n], weighted[n], 1e-5);
    EXPECT_GT(std::fabs(weighted[0] - all[0]), 1e-4);
}

TEST(EqualOrders, OfManyFlipsAreProvenInALargeMolecule) {
    // A molecule of 300 atoms and 60 flips, of which the frames have some and 1 angstrom of noise.
    constexpr Index kGroups = 60, kAtoms = 300;
    std::mt19937 random(11);
    std::normal_distribution<double> normal(0.0, 1.0);
    Array<float, 3> xyz(6, kAtoms, Index{3});
    std::vector<double> shape(3 * kAtoms);
    for (double& x : shape) x = 10 * normal(random);
    for (Index g = 0; g < kGroups; ++g)
        for (int axis = 0; axis < 3; ++axis)
            shape[3 * (2 * g + 1) + axis] = shape[3 * (2 * g) + axis] + (axis == 0 ? 2.4 : 0.0);
    for (Index i = 0; i < 6; ++i)
        for (Index k = 0; k < kAtoms; ++k)
            for (int axis = 0; axis < 3; ++axis)
                xyz(i, k, axis) = static_cast<float>(shape[3 * k + axis] + 0.5 * normal(random));
    const auto expected = rectangle(xyz, xyz, {}, Device::Kind::cpu);
    const auto found = rectangle(xyz, flipped(xyz, kGroups, 13), flips(kGroups), Device::Kind::cpu);
    // Noise makes few flips better than the names; more would be an error of the search.
    for (std::size_t n = 0; n < found.size(); ++n) {
        EXPECT_LE(found[n], expected[n] + 1e-5);
        EXPECT_GT(found[n], 0.95 * expected[n] - 1e-5);
    }
}

TEST(EqualOrders, ThatAreNotProvenAreRefusedOrCounted) {
    // Pairs of atoms at one distance in a plane: every flip is as good as the other.
    constexpr Index kGroups = 20;
    Array<float, 3> xyz(2, 2 * kGroups, Index{3});
    std::mt19937 random(14);
    for (float& x : xyz) x = static_cast<float>(random() % 1000) / 100;
    const Context context;
    std::vector<float> values(1);
    try {
        run(xyz, flips(kGroups), {}, context, MatrixTarget(std::span<float>(values)));
        FAIL();
    } catch (const InputError& error) {
        EXPECT_NE(std::string(error.what()).find("doubtful"), std::string::npos);
        EXPECT_NE(std::string(error.what()).find("(0 and 1)"), std::string::npos);
    }
    const Result result = run_reference(xyz, xyz[0], flips(kGroups), {}, context);
    EXPECT_GE(result.unproven, 1);
    EXPECT_LT(result.values[0], 1e-5);
    AtomSets plain;
    EXPECT_LE(result.values[1], run_reference(xyz, xyz[0], plain, {}, context).values[1] + 1e-5);
}

TEST(EqualOrders, KeepTheTriangleInequality) {
    // Exact minima over a group are a metric: 1e6 triples of 182 frames.
    AtomSets sets = some_orders();
    sets.fit = sets.measured;
    constexpr Index kFrames = 182;
    const Array<float, 3> xyz = random_ensemble(kFrames, 19, 1.0, 15);
    const auto d = rectangle(xyz, xyz, sets, Device::Kind::cpu);
    const auto at = [&](Index i, Index j) { return d[static_cast<std::size_t>(i * kFrames + j)]; };
    Index triples = 0;
    float worst = 0.0F;
    for (Index i = 0; i < kFrames; ++i)
        for (Index j = i + 1; j < kFrames; ++j)
            for (Index k = j + 1; k < kFrames; ++k, ++triples) {
                const float a = at(i, j), b = at(j, k), c = at(i, k);
                worst = std::max({worst, a - b - c, b - a - c, c - a - b});
            }
    EXPECT_GE(3 * triples, 1'000'000);
    EXPECT_LT(worst, 1e-5F);
    for (Index i = 0; i < kFrames; ++i) EXPECT_NEAR(at(i, 0), at(0, i), 1e-5);
}

TEST(EqualOrders, AreChecked) {
    const auto told = [](const AtomSets& sets) -> std::string {
        try {
            check(sets, 19);
        } catch (const Error& error) {
            return error.what();
        }
        return {};
    };
    EXPECT_EQ(told(some_orders()), "");
    for (const Index atom : {Index{-1}, Index{3}, Index{5}, Index{17}, Index{19}}) {
        AtomSets sets = some_orders();
        sets.equal_orders[0][0][0] = atom;
        EXPECT_NE(told(sets).find("found " + std::to_string(atom)), std::string::npos);
    }
    AtomSets sets = some_orders();
    sets.equal_orders[0][1].pop_back();
    EXPECT_NE(told(sets).find("orders of the same atoms"), std::string::npos);
    sets = some_orders();
    sets.equal_orders[1][2][0] = 13;
    EXPECT_NE(told(sets).find("orders of the same atoms"), std::string::npos);
    sets = some_orders();
    sets.equal_orders.push_back({{6}});
    EXPECT_NE(told(sets).find("groups of other atoms each"), std::string::npos);
    sets = some_orders();
    sets.weights.assign(19, 1.0);
    EXPECT_EQ(told(sets), "");
    sets.weights[12] = 2.0;
    EXPECT_NE(told(sets).find("one weight"), std::string::npos);
    sets = some_orders();
    sets.fit.clear();
    EXPECT_NE(told(sets).find("not superposed"), std::string::npos);
    sets.in_place = true;
    EXPECT_EQ(told(sets), "");
    sets.fit = {1};
    EXPECT_NE(told(sets).find("in place"), std::string::npos);
    sets.fit = sets.measured;
    sets.in_place = false;
    EXPECT_EQ(told(sets), "");
}

}  // namespace
}  // namespace pleat::rmsd

// RMSD of measured atoms whose sides may change places: against all permutations.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "pleat/core/error.h"
#include "pleat/rmsd/rmsd.h"
#include "pleat/rmsd/tests/random_ensemble.h"

namespace pleat::rmsd {
namespace {

/// Atoms 0 to 5 are superposed, 4 to 16 measured; two sides of two atoms, three of one.
AtomSets some_sides() {
    AtomSets sets;
    for (Index atom = 0; atom < 6; ++atom) sets.fit.push_back(atom);
    for (Index atom = 4; atom < 17; ++atom) sets.measured.push_back(atom);
    sets.equal_sides = {{{6, 8}, {9, 7}}, {{11}, {12}, {16}}};
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

TEST(EqualSides, TakeTheBestOfAllPlaces) {
    const AtomSets sets = some_sides();
    AtomSets plain = sets;
    plain.equal_sides.clear();
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

TEST(EqualSides, OfPermutedCopiesAreZero) {
    const Array<float, 3> xyz = random_ensemble(3, 19, 2.0, 3);
    const Array<float, 3> other =
        moved(xyz, {{6, 9}, {8, 7}, {9, 6}, {7, 8}, {11, 16}, {12, 11}, {16, 12}});
    const auto found = rectangle(xyz, other, some_sides(), Device::Kind::cpu);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_LT(found[4 * i], 1e-5);
}

TEST(EqualSides, AreMeasuredAndNotSuperposed) {
    const auto told = [](const AtomSets& sets) -> std::string {
        try {
            check(sets, 19);
        } catch (const Error& error) {
            return error.what();
        }
        return {};
    };
    EXPECT_EQ(told(some_sides()), "");
    for (const Index atom : {Index{-1}, Index{3}, Index{5}, Index{17}, Index{19}}) {
        AtomSets sets = some_sides();
        sets.equal_sides[0][0][0] = atom;
        EXPECT_NE(told(sets).find("measured and not superposed, found " + std::to_string(atom)),
                  std::string::npos);
    }
    AtomSets sets = some_sides();
    sets.equal_sides[0][1].pop_back();
    EXPECT_NE(told(sets).find("the same number of atoms"), std::string::npos);
    sets = some_sides();
    sets.weights.assign(19, 1.0);
    EXPECT_EQ(told(sets), "");
    sets.weights[12] = 2.0;
    EXPECT_NE(told(sets).find("one weight"), std::string::npos);
    sets = some_sides();
    sets.fit.clear();
    EXPECT_NE(told(sets).find("not superposed"), std::string::npos);
}

}  // namespace
}  // namespace pleat::rmsd

// Close pairs: those of the search are those of all pairs, on every instruction set.
#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>
#include <vector>

#include "pleat/core/hardware/instruction_set.h"
#include "pleat/workflows/refine/sterics/point_set.h"
#include "pleat/workflows/refine/tests/made_hinge.h"

namespace pleat::refine {

namespace {

using ClosePair = std::tuple<Index, Index, double>;  // atoms, the lower index first; square

std::vector<ClosePair> close_pairs_of_all(const Conformation& at, double reach) {
    const ChainModel& model = at.model();
    std::vector<ClosePair> close;
    for (Index a = 0; a < model.atom_count(); ++a)
        for (Index b = a + 1; b < model.atom_count(); ++b) {
            const Vector apart = at.atom(a) - at.atom(b);
            if (dot(apart, apart) < reach * reach &&
                model.piece_of[static_cast<std::size_t>(a)] !=
                    model.piece_of[static_cast<std::size_t>(b)])
                close.emplace_back(a, b, dot(apart, apart));
        }
    return close;
}

TEST(PointSet, FindsThePairsThatAllPairsHaveOnEveryInstructionSet) {
    const test::Hinge174 hinge;  // pieces of many blocks, and of one atom
    std::vector<Index> atoms;
    for (Index atom = 0; atom < hinge.chain.atom_count(); ++atom) atoms.push_back(atom);
    for (const std::string& name : instruction_sets()) {
        restrict_instruction_set(name);
        PointSet points(hinge.chain, atoms);
        Conformation conformation(hinge.chain);
        std::size_t found = 0;
        for (Index step = 0; step < 60; ++step) {
            Random random(8, 0, step);
            // Pivots move some pieces alone, draws all but the root.
            conformation.set_angles(step % 4 == 0
                                        ? hinge.moves.draw_all(random)
                                        : hinge.moves.pivot(conformation, 1, random).angles);
            points.place(conformation);
            const double reach = step % 2 == 0 ? 4.0 : 12.0;
            std::vector<ClosePair> close;
            points.for_each_close_pair(reach, [&](Index a, Index b, double square) {
                const Index one = points.atom(a), other = points.atom(b);
                close.emplace_back(std::min(one, other), std::max(one, other), square);
            });
            std::sort(close.begin(), close.end());
            EXPECT_EQ(close, close_pairs_of_all(conformation, reach)) << name << ", step " << step;
            found += close.size();
        }
        EXPECT_GT(found, 1000U);
    }
    restrict_instruction_set("");
}

}  // namespace

}  // namespace pleat::refine

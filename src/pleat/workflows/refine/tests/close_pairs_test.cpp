// Close pairs: those of the search are those of all pairs, on every instruction set.
#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>
#include <vector>

#include "pleat/core/hardware/instruction_set.h"
#include "pleat/workflows/refine/sterics/sterics.h"
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

/// Pairs that are close in 60 conformations, compared with all pairs.
std::size_t compare_with_all_pairs(const ChainModel& chain, const Moves& moves,
                                   const std::string& note) {
    std::vector<Index> atoms;
    for (Index atom = 0; atom < chain.atom_count(); ++atom) atoms.push_back(atom);
    PointSet points(chain, atoms);
    Conformation conformation(chain);
    std::size_t found = 0;
    for (Index step = 0; step < 60; ++step) {
        Random random(8, 0, step);
        // Pivots move some pieces alone, draws all but the root.
        conformation.set_angles(step % 4 == 0 ? moves.draw_all(random)
                                              : moves.pivot(conformation, 1, random).angles);
        points.set_conformation(conformation);
        const double reach = step % 2 == 0 ? 4.0 : 12.0;
        std::vector<ClosePair> close;
        points.for_each_close_pair(
            reach, [](Index, Index) { return true; },
            [&](Index a, Index b, double square) {
                const Index one = points.atom(a), other = points.atom(b);
                close.emplace_back(std::min(one, other), std::max(one, other), square);
            });
        std::sort(close.begin(), close.end());
        EXPECT_EQ(close, close_pairs_of_all(conformation, reach)) << note << ", step " << step;
        found += close.size();
    }
    return found;
}

TEST(PointSet, FindsThePairsThatAllPairsHaveOnEveryInstructionSet) {
    const test::Hinge174 hinge;  // pieces of many blocks, and of one atom
    // Float32 holds coordinates of 9,000 angstrom to 0.0005.
    Array<float, 2> far(Index{3}, hinge.chain.atom_count());
    std::transform(hinge.ensemble.xyz.begin(), hinge.ensemble.xyz.end(), far.begin(),
                   [](float axis) { return axis + 9000; });
    const ChainModel far_chain =
        make_chain_model(hinge.ensemble.topology, far.view(),
                         {.linkers = parse_ranges("A:174-179", "--linkers"), .groups = {}});
    const Moves far_moves(far_chain, hinge.prior);
    for (const std::string& name : instruction_sets()) {
        restrict_instruction_set(name);
        EXPECT_GT(compare_with_all_pairs(hinge.chain, hinge.moves, name), 1000U);
        EXPECT_GT(compare_with_all_pairs(far_chain, far_moves, name + ", far"), 1000U);
    }
    restrict_instruction_set("");
}

}  // namespace

}  // namespace pleat::refine

// Equal chains: those of the same residues and atoms, whatever their numbers.
#include "pleat/bio/structure/equivalent_atoms.h"

#include <gtest/gtest.h>

#include "pleat/bio/ensemble/frame_table.h"
#include "pleat/bio/tests/refusal.h"
#include "pleat/core/tests/data_folders.h"

namespace pleat {
namespace {

/// Chains of residues of two atoms each, with numbers that go on from chain to chain.
Topology chains_of(const std::vector<std::pair<std::string, std::vector<std::string>>>& chains) {
    Topology topology;
    int number = 0;
    for (const auto& [name, residues] : chains)
        for (const std::string& residue : residues) {
            topology.residues.push_back({residue, ++number, ' ', name});
            for (const char* atom : {"N", "CA"})
                topology.atoms.push_back(
                    {atom, "C", 1, static_cast<Index>(topology.residues.size()) - 1});
        }
    return topology;
}

TEST(EqualChains, HaveTheSameResiduesAndAtoms) {
    const auto groups = equal_chains(chains_of({{"A", {"GLY", "ALA"}},
                                                {"B", {"SER"}},
                                                {"C", {"GLY", "ALA"}},
                                                {"D", {"ALA", "GLY"}},
                                                {"E", {"SER"}},
                                                {"F", {"GLY", "ALA"}}}));
    ASSERT_EQ(groups.size(), 2u);
    EXPECT_EQ(groups[0].names, (std::vector<std::string>{"A", "C", "F"}));
    EXPECT_EQ(groups[0].atoms[1], (std::vector<Index>{6, 7, 8, 9}));
    EXPECT_EQ(groups[1].names, (std::vector<std::string>{"B", "E"}));
    EXPECT_EQ(groups[1].atoms[1], (std::vector<Index>{14, 15}));
}

TEST(EqualChains, AreApartInTheFileOrNone) {
    const auto groups =
        equal_chains(chains_of({{"A", {"GLY"}}, {"B", {"GLY"}}, {"A", {"SER"}}, {"B", {"SER"}}}));
    ASSERT_EQ(groups.size(), 1u);
    EXPECT_EQ(groups[0].atoms[0], (std::vector<Index>{0, 1, 4, 5}));
    EXPECT_TRUE(equal_chains(chains_of({{"A", {"GLY", "GLY"}}, {"B", {"GLY"}}})).empty());
    Topology lacks = chains_of({{"A", {"GLY"}}, {"B", {"GLY"}}});
    lacks.atoms.pop_back();
    EXPECT_TRUE(equal_chains(lacks).empty());
    EXPECT_TRUE(equal_chains({}).empty());
}

TEST(EqualChains, OfHivProtease) {
    const auto groups = equal_chains(read_topology(test::data_folder() / "hivp.pdb.gz"));
    ASSERT_EQ(groups.size(), 1u);
    EXPECT_EQ(groups[0].names, (std::vector<std::string>{"A", "B"}));
    EXPECT_EQ(groups[0].atoms[1].front(), 99);
}

TEST(EqualChains, AreOneGroupIfTheyAreItems) {
    const EqualChains chains = only_equal_chains(
        chains_of({{"A", {"GLY", "ALA"}}, {"B", {"SER"}}, {"C", {"GLY", "ALA"}}}));
    EXPECT_EQ(chains.names, (std::vector<std::string>{"A", "C"}));
    EXPECT_EQ(chains.atoms[1], (std::vector<Index>{6, 7, 8, 9}));
    const auto refuses = [](const Topology& topology, std::string_view text) {
        const std::string said = testing::refusal([&] { only_equal_chains(topology); });
        EXPECT_NE(said.find(text), std::string::npos) << said;
    };
    refuses(chains_of({{"A", {"GLY"}}}), "of the same residues and atoms, found one chain, 'A'");
    refuses(chains_of({{"A", {"GLY"}}, {"B", {"SER"}}}),
            "found none that are equal among 'A', 'B'");
    refuses(chains_of({{"A", {"GLY"}}, {"B", {"SER"}}, {"C", {"GLY"}}, {"D", {"SER"}}}),
            "expected one group of equal chains, found A = C; B = D");
    refuses(unnamed_topology(4, "array"), "atoms without names");
}

TEST(ChainItems, AreOrderedByChainAndThenByFrame) {
    Ensemble ensemble;
    ensemble.xyz = Array<float, 3>(2, 3, 5);
    for (Index frame = 0; frame < 2; ++frame)
        for (Index axis = 0; axis < 3; ++axis)
            for (Index atom = 0; atom < 5; ++atom)
                ensemble.xyz(frame, axis, atom) =
                    static_cast<float>(100 * frame + 10 * atom + axis);
    const EqualChains chains{.names = {"A", "C"}, .atoms = {{0, 3}, {4, 1}}};
    const Array<float, 3> xyz = chain_by_chain(ensemble, chains, 2);
    const ChainItems items{.names = chains.names, .frames = 2};
    ASSERT_EQ(xyz.extent(0), 4);
    for (Index item = 0; item < 4; ++item)
        for (Index n = 0; n < 2; ++n) {
            const Index atom = chains.atoms[static_cast<std::size_t>(items.chain_of(item))]
                                           [static_cast<std::size_t>(n)];
            EXPECT_EQ(xyz(item, n, 2),
                      static_cast<float>(100 * items.frame_of(item) + 10 * atom + 2));
        }
    EXPECT_EQ(ChainItems().frame_of(7), 7);
}

}  // namespace
}  // namespace pleat

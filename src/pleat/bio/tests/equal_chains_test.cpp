// Equal chains: those of the same residues and atoms, whatever their numbers.
#include "pleat/bio/structure/equal_chains.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace pleat

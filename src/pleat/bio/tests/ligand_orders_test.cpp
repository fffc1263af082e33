// Ligand orders: automorphisms of known molecules, against all permutations.
#include "pleat/bio/structure/equivalent_atoms.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

#include "pleat/bio/structure/molecular_graph.h"
#include "pleat/core/error.h"

namespace pleat {
namespace {

struct Bond {
    Index first, second;
    int order;
};

Topology molecule(const std::vector<std::string>& elements, const std::vector<Bond>& bonds) {
    Topology topology;
    topology.source = "made.sdf";
    topology.residues.push_back({"LIG", 1, ' ', ""});
    for (const std::string& element : elements)
        topology.atoms.push_back({element + std::to_string(topology.atoms.size()), element, 12, 0});
    for (const Bond& bond : bonds) {
        topology.bonds.push_back({bond.first, bond.second});
        topology.bond_orders.push_back(static_cast<std::uint8_t>(bond.order));
    }
    topology.has_all_bonds = true;
    return topology;
}

std::vector<Index> all_atoms(const Topology& topology) {
    std::vector<Index> all(topology.atoms.size());
    std::iota(all.begin(), all.end(), Index{0});
    return all;
}

std::size_t count(const Topology& topology) {
    std::size_t product = 1;
    for (const LigandOrders& one : ligand_orders(topology, all_atoms(topology)))
        product *= one.orders.size();
    return product;
}

/// A ring of carbons with alternating bonds, and what is bonded to its first atoms.
Topology benzene(const std::vector<std::string>& at_first = {}, bool is_shifted = false) {
    std::vector<std::string> elements(6, "C");
    std::vector<Bond> bonds;
    for (Index n = 0; n < 6; ++n)
        bonds.push_back({n, (n + 1) % 6, (n + is_shifted) % 2 == 0 ? 2 : 1});
    for (const std::string& element : at_first) {
        bonds.push_back(
            {static_cast<Index>(elements.size()) - 6, static_cast<Index>(elements.size()), 1});
        elements.push_back(element);
    }
    return molecule(elements, bonds);
}

TEST(LigandOrders, OfKnownMolecules) {
    EXPECT_EQ(count(benzene()), 12U);
    EXPECT_EQ(count(benzene({"C"})), 2U);       // toluene
    EXPECT_EQ(count(benzene({"F", "F"})), 2U);  // ortho
    EXPECT_EQ(count(benzene({"F", "Cl"})), 1U);
    EXPECT_EQ(count(molecule({"C", "C", "O", "O"}, {{0, 1, 1}, {1, 2, 2}, {1, 3, 1}})),
              2U);  // acetate
    EXPECT_EQ(count(molecule({"C", "C", "O", "N"}, {{0, 1, 1}, {1, 2, 2}, {1, 3, 1}})),
              1U);  // acetamide
    // An ester's oxygens differ: one of them is not terminal.
    EXPECT_EQ(
        count(molecule({"C", "C", "O", "O", "C"}, {{0, 1, 1}, {1, 2, 2}, {1, 3, 1}, {3, 4, 1}})),
        1U);
    EXPECT_EQ(count(molecule({"C", "F", "F", "F"}, {{0, 1, 1}, {0, 2, 1}, {0, 3, 1}})), 6U);
    // 1,2,3-triazole, whose double bonds are arbitrary, and cyclopentadiene, whose are not.
    const std::vector<Bond> ring{{0, 1, 1}, {1, 2, 2}, {2, 3, 1}, {3, 4, 2}, {4, 0, 1}};
    EXPECT_EQ(count(molecule({"N", "N", "C", "C", "N"},
                             {{0, 1, 2}, {1, 2, 1}, {2, 3, 2}, {3, 4, 1}, {4, 0, 1}})),
              2U);
    EXPECT_EQ(count(molecule({"C", "C", "C", "C", "C"}, ring)), 2U);
    EXPECT_EQ(count(molecule({"C", "C", "C", "C", "C", "C"},
                             {{0, 1, 1}, {1, 2, 2}, {2, 3, 1}, {3, 4, 1}, {4, 0, 1}, {0, 5, 1}})),
              1U);
    // Naphthalene, with the double bond between its rings and without.
    for (const int middle : {1, 2}) {
        std::vector<Bond> bonds;
        for (Index n = 0; n < 10; ++n) bonds.push_back({n, (n + 1) % 10, n % 2 == 0 ? 2 : 1});
        if (middle == 2)  // 0 = 5, and the rest alternates
            for (Bond& bond : bonds)
                bond.order =
                    (bond.first == 1 || bond.first == 3 || bond.first == 6 || bond.first == 8) ? 2
                                                                                               : 1;
        bonds.push_back({0, 5, middle});
        EXPECT_EQ(count(molecule(std::vector<std::string>(10, "C"), bonds)), 4U) << middle;
    }
    // Two molecules of one record do not change places.
    EXPECT_EQ(count(molecule({"C", "O", "C", "O"}, {{0, 1, 1}, {2, 3, 1}})), 1U);
    EXPECT_EQ(count(molecule({"Na"}, {})), 1U);
}

TEST(LigandOrders, AreAllPermutationsThatKeepBonds) {
    std::mt19937 random(1);
    std::size_t with_symmetry = 0;
    for (int trial = 0; trial < 200; ++trial) {
        const Index atoms = 2 + static_cast<Index>(random() % 6);
        std::vector<std::string> elements;
        for (Index n = 0; n < atoms; ++n) elements.push_back(random() % 4 == 0 ? "N" : "C");
        std::set<std::pair<Index, Index>> bonds;
        for (Index n = 1; n < atoms; ++n)
            bonds.insert({static_cast<Index>(random() % static_cast<unsigned>(n)), n});
        if (atoms > 3 && random() % 2 == 0) bonds.insert({0, atoms - 1});
        std::vector<Bond> listed;
        for (const auto& [a, b] : bonds) listed.push_back({a, b, 1});
        const Topology topology = molecule(elements, listed);
        std::vector<Index> order = all_atoms(topology);
        std::size_t expected = 0;
        do {
            bool is_kept = true;
            for (Index n = 0; n < atoms; ++n)
                is_kept = is_kept && elements[order[n]] == elements[n];
            for (const auto& [a, b] : bonds) {
                const auto image = std::minmax(order[a], order[b]);
                is_kept = is_kept && bonds.contains({image.first, image.second});
            }
            expected += is_kept;
        } while (std::next_permutation(order.begin(), order.end()));
        EXPECT_EQ(count(topology), expected);
        with_symmetry += expected > 1;
    }
    EXPECT_GT(with_symmetry, 50U);
}

TEST(LigandOrders, MapOntoAnotherOrderOfTheAtoms) {
    const Topology one = benzene({"F", "Cl", "O"}), other = benzene({"F", "Cl", "O"}, true);
    const MolecularGraph a = heavy_graph(one), b = heavy_graph(other);
    EXPECT_EQ(graph_isomorphisms(a, b, BondKinds::compared, 10).size(),
              1U);  // the ring's bonds are shared
    const Topology less = benzene({"F", "Cl"});
    EXPECT_TRUE(graph_isomorphisms(a, heavy_graph(less), BondKinds::ignored, 10).empty());
    const Topology single = molecule({"C", "C", "O"}, {{0, 1, 1}, {1, 2, 1}}),
                   twice = molecule({"O", "C", "C"}, {{0, 1, 2}, {1, 2, 1}});
    EXPECT_TRUE(graph_isomorphisms(heavy_graph(single), heavy_graph(twice), BondKinds::compared, 9)
                    .empty());
    const auto maps =
        graph_isomorphisms(heavy_graph(single), heavy_graph(twice), BondKinds::ignored, 9);
    ASSERT_EQ(maps.size(), 1U);
    EXPECT_EQ(maps[0], (std::vector<Index>{2, 1, 0}));
}

TEST(LigandOrders, OfSomeAtomsKeepThem) {
    const Topology topology = benzene({"C"});
    const auto some = ligand_orders(topology, {0, 1, 5});
    ASSERT_EQ(some.size(), 1U);
    EXPECT_EQ(some[0].orders, (std::vector<std::vector<Index>>{{0, 1, 5}, {0, 5, 1}}));
    EXPECT_EQ(ligand_orders(topology, {0, 1})[0].orders.size(), 1U);
}

TEST(LigandOrders, AreRefusedWithoutBondsAndBeyondTheLimit) {
    const auto told = [](const Topology& topology) -> std::string {
        try {
            ligand_orders(topology, all_atoms(topology));
        } catch (const InputError& error) {
            return error.what();
        }
        return {};
    };
    Topology part = benzene({"C"});
    part.has_all_bonds = false;
    EXPECT_EQ(told(part), "");
    part.bonds.pop_back();
    part.bond_orders.pop_back();
    EXPECT_NE(told(part).find("expected bonds (CONECT) between all atoms of LIG 1"),
              std::string::npos);
    Topology hydrogen = benzene({"H"});
    EXPECT_NE(told(hydrogen).find("expected heavy atoms"), std::string::npos);
    // A star of eight equal atoms has 40320 automorphisms.
    std::vector<Bond> star;
    for (Index n = 1; n <= 8; ++n) star.push_back({0, n, 1});
    EXPECT_NE(
        told(molecule({"S", "F", "F", "F", "F", "F", "F", "F", "F"}, star)).find("at most 20000"),
        std::string::npos);
    star.pop_back();
    EXPECT_EQ(count(molecule({"S", "F", "F", "F", "F", "F", "F", "F"}, star)), 5040U);
}

}  // namespace
}  // namespace pleat

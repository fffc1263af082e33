// Selections of a small structure of two chains, a calcium ion and an inserted residue.
#include "pleat/bio/selection/selection.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "pleat/bio/tests/refusal.h"

namespace {

using namespace pleat;
using pleat::testing::refusal;

Topology structure() {
    Topology topology;
    topology.source = "s.pdb";
    const auto add = [&](const char* residue, int number, char insertion, const char* chain,
                         const std::vector<std::pair<const char*, const char*>>& atoms) {
        topology.residues.push_back({residue, number, insertion, chain});
        for (const auto& [name, element] : atoms) {
            topology.atoms.push_back(
                {name, element, 1, static_cast<Index>(topology.residues.size()) - 1});
        }
    };
    add("GLY", -1, ' ', "A", {{"N", "N"}, {"CA", "C"}, {"HA2", "H"}});  // 0 1 2
    add("ALA", 10, ' ', "A", {{"N", "N"}, {"CA", "C"}, {"CB", "C"}});   // 3 4 5
    add("ALA", 10, 'A', "A", {{"CA", "C"}, {"O", "O"}});                // 6 7
    add("SER", 11, ' ', "B", {{"CA", "C"}, {"OG", "O"}});               // 8 9
    add("CA", 12, ' ', "B", {{"CA", "Ca"}});                            // 10
    add("HOH", 13, ' ', "B", {{"O", "O"}});                             // 11
    return topology;
}

TEST(Selection, TermsTakeTheirAtoms) {
    const Topology topology = structure();
    using List = std::vector<Index>;
    const auto taken = [&](const char* text) { return select_atoms(topology, text); };
    EXPECT_EQ(taken("all").size(), 12u);
    EXPECT_EQ(taken("ca"), (List{1, 4, 6, 8})) << "calcium is not an alpha carbon";
    EXPECT_EQ(taken("backbone"), (List{0, 1, 3, 4, 6, 7, 8})) << "water's oxygen is not backbone";
    EXPECT_EQ(taken("not heavy"), (List{2}));
    EXPECT_EQ(taken("A:10"), (List{3, 4, 5}));
    EXPECT_EQ(taken("A:10-10A"), (List{3, 4, 5, 6, 7}));
    EXPECT_EQ(taken("A:10A-"), (List{6, 7}));
    EXPECT_EQ(taken("A:-1"), (List{0, 1, 2}));
    EXPECT_EQ(taken("A:-5-9,10A"), (List{0, 1, 2, 6, 7}));
    EXPECT_EQ(taken(":11-12"), (List{8, 9, 10}));
    EXPECT_EQ(taken("B"), (List{8, 9, 10, 11}));
    EXPECT_EQ(taken("//A/10-11/CA"), (List{4, 6}));
    EXPECT_EQ(taken("//B/11/CA"), (List{8})) << "one residue, not all from there on";
    EXPECT_EQ(taken("B/12"), (List{10}));
    EXPECT_EQ(taken("//A/-1"), (List{0, 1, 2}));
    EXPECT_EQ(taken("//B/12-/*"), (List{10, 11}));
    EXPECT_EQ(taken("(ALA,SER)"), (List{3, 4, 5, 6, 7, 8, 9}));
    EXPECT_EQ(taken("ca and A:10- or B:13"), (List{4, 6, 11}));
    EXPECT_EQ(taken("A and not A:10-10A"), (List{0, 1, 2}));
    EXPECT_EQ(taken("CA"), (List{1, 4, 6, 8}));
    EXPECT_EQ(taken("name CA"), (List{1, 4, 6, 8, 10})) << "calcium has this name too";
    EXPECT_EQ(taken("name CA CB and A"), (List{1, 4, 5, 6}));
    EXPECT_EQ(taken("name CA,CB and A"), (List{1, 4, 5, 6}));
    EXPECT_EQ(taken("protein"), (List{0, 1, 2, 3, 4, 5, 6, 7, 8, 9})) << "no ion, no water";
    EXPECT_EQ(taken("resname ALA SER"), taken("(ALA,SER)"));
    EXPECT_EQ(taken("chain B"), taken("B"));
    EXPECT_EQ(taken("resid 10 11-12"), (List{3, 4, 5, 8, 9, 10}));
    EXPECT_EQ(taken("last 1"), (List{6, 7, 8, 9}))
        << "the ion and the water are no ends of chain B";
    EXPECT_EQ(taken("first 2 and A"), (List{0, 1, 2, 3, 4, 5}));
}

TEST(Selection, ParenthesesGroupTerms) {
    const Topology topology = structure();
    const auto taken = [&](const char* text) { return select_atoms(topology, text); };
    EXPECT_EQ(taken("ca and (A:10 or B)"), (std::vector<Index>{4, 8}));
    EXPECT_EQ(taken("ca and A:10 or B"), (std::vector<Index>{4, 8, 9, 10, 11}))
        << "another meaning";
    EXPECT_EQ(taken("(ca) and not((A:10) or (B))"), (std::vector<Index>{1, 6}));
    EXPECT_EQ(taken("not (name CA CB or heavy)"), (std::vector<Index>{2}));
    EXPECT_EQ(taken("( (ALA,SER) and B )"), (std::vector<Index>{8, 9}))
        << "gemmi's list in a group";
    EXPECT_EQ(taken("(//A/10-10/CA or //B/11-11/CA)"), (std::vector<Index>{4, 8}));
    EXPECT_EQ(taken("(CA)"), (std::vector<Index>{10})) << "capitals alone: residues, as before";
}

TEST(Selection, NamesTheWordThatWasNotUnderstood) {
    const Topology topology = structure();
    const std::pair<const char*, const char*> cases[] = {
        {"ca and", "found the end of 'ca and'"},
        {"ca and or A", "found 'or' at character 8 of 'ca and or A'"},
        {"(ca and A", "expected ')', found the end of '(ca and A'"},
        {"ca)", "found ')' at character 3 of 'ca)'"},
        {"ca ca", "found 'ca' at character 4 of 'ca ca'"},
        {"ca or cb",
         "found 'cb' at character 7 of 'ca or cb' (did you mean 'name CB'?): the structure has 12 "
         "atoms"},
        {"ca and q9", "found 'q9' at character 8 of 'ca and q9': the structure has"},
        {"HOH", "found 'HOH' at character 1 of 'HOH' (did you mean 'resname HOH'?)"},
        {"10", "found '10' at character 1 of '10' (did you mean 'resid 10'?)"},
        {"Protein", "(did you mean 'protein'?)"},
        {"noh", "(did you mean 'heavy'?)"},
        {"ca and around 5 protein", "(did you mean '(within 5 of protein) and not protein'?)"},
        {"ca and :1-3@CA",
         "found ':1-3@CA' at character 8 of 'ca and :1-3@CA': did you mean "
         "'amber(:1-3@CA)', where residues are counted from 1?"},
        {"chain A resid 10", "expected 'and' or 'or' before 'resid', found 'resid' at character 9"},
        {"name CA to CB", "expected 'and' or 'or' before 'to'"},
        {"resid 10 to",
         "expected residue numbers such as 10, 10 to 50 or 10-50,60A after 'resid', "
         "found '10 to' (at character 1"},
        {"resid 10- 50", "found '10- 50'"},
        {"resid 50 to 10", "found '50 to 10'"},
        {"resid ALA", "found 'ALA'"},
        {"resid <", "expected a value after 'resid <', found the end"},
        {"resid < x", "found '< x' (at character 1"},
        {"name < CA", "expected = or != between this word and a name, found '< CA'"},
        {"first > 3", "expected a number, found '> 3'"},
        {"index 1.5x", "expected numbers such as 10, 10 to 50 or < 50, found '1.5x'"},
        {"index 5-", "found '5-'"},
        {"same as ca",
         "expected 'residue', 'chain' or 'molecule' after 'same', found 'as' at character 6"},
        {"same residue ca", "expected 'as' after 'same residue', found 'ca'"},
        {"within of ca", "expected a distance in angstrom after 'within', found 'of'"},
        {"within -1 of ca", "expected a distance in angstrom after 'within', found '-1'"},
        {"within 5 ca", "expected 'of' after 'within 5', found 'ca'"},
        {"within 5 of", "found the end"},
        {"within 5 of ca", "s.pdb: expected coordinates of the topology for distances, found none"},
        {"bfactor < 5", "s.pdb: expected B factors for the selection, found none but 0"},
        {"A and not name \"C.*\"",
         "expected a name without quotes, in which * stands for any letters and ? for one, found "
         "\"C.*\" (at character 11"},
        {"resname 'ALA'", "expected a name without quotes"},
        {"ca and plddt >= 0.7",
         "expected pLDDT from 0 to 100, as in plddt >= 70, found 0.7 (at character 8"},
        {"plddt 0.5 to 1", "expected pLDDT from 0 to 100, as in plddt >= 70, found 1"},
        {"amber(:1", "expected ')' after the mask 'amber(:1' at character 1"},
        {"ca and amber(:3-1)", "found '3-1' in ':3-1' (at character 8"},
        {"amber(CA)", "expected an AMBER mask such as :1-3@CA or :ALA,GLY in amber( ), found 'CA'"},
        {"amber(:0)", "found '0' in ':0'"},
        {"amber(:1&)", "found the end of ':1&'"},
        {"ca and C", "expected a keyword or a chain of the structure, found 'C' at character 8"},
        {"A and name", "expected values after 'name', found the end"},
        {"A and last x", "expected a number of residues after 'last', found 'x' (at character 7"},
        {"A and A:5-3", "found 'A:5-3' (at character 7 of"},
        {"ca and //A/1-2/CA/x/y", "(at character 8 of"}};
    for (const auto& one : cases) {
        const std::string found = refusal([&] { select_atoms(topology, one.first); });
        EXPECT_NE(found.find(one.second), std::string::npos) << one.first << ": " << found;
    }
    std::string deep;
    for (int n = 0; n < 10000; ++n) deep += "within 1 of same chain as ";
    deep += "ca";
    for (const std::string& text :
         {std::string(100000, '('), "amber(" + std::string(100000, '(') + ")",
          "amber(" + std::string(100000, '!') + ")", deep})
        EXPECT_NE(refusal([&] { select_atoms(topology, text); }).find("expected"),
                  std::string::npos);
}

TEST(Selection, WordsOfTheFieldTakeTheirAtoms) {
    const Topology topology = structure();
    using List = std::vector<Index>;
    const auto taken = [&](const std::string& text) { return select_atoms(topology, text); };
    EXPECT_EQ(taken("hydrogen"), (List{2}));
    EXPECT_EQ(taken("water"), (List{11}));
    EXPECT_EQ(taken("ion"), (List{10}));
    EXPECT_EQ(taken("sidechain"), (List{5, 9}));
    EXPECT_EQ(taken("name ?A* and not ion"), (List{1, 2, 4, 6, 8}));
    EXPECT_EQ(taken("resname * and chainID B"), taken("chain B"));
    EXPECT_EQ(taken("name != CA and A"), (List{0, 2, 3, 5, 7}));
    EXPECT_EQ(taken("element ca"), (List{10}));
    for (const char* same :
         {"resid 10 to 11", "resid 10:11", "resid 10-11", "resnum 10 : 11", "resSeq 10 - 11",
          "resid >= 10 and resid <= 11", "resid>=10 && resid<=11",
          "(resid 10 or resid 10A)||resid == 11", "! (resid < 10 or resid > 11)"})
        EXPECT_EQ(taken(same), (List{3, 4, 5, 6, 7, 8, 9})) << same;
    EXPECT_EQ(taken("resid = 10"), (List{3, 4, 5})) << "without the inserted residue";
    EXPECT_EQ(taken("resid > 10 and resid < 11"), (List{6, 7}));
    EXPECT_EQ(taken("resid -5 to -1"), (List{0, 1, 2}));
    EXPECT_EQ(taken("index 0 3 to 4 10-11"), (List{0, 3, 4, 10, 11}));
    EXPECT_EQ(taken("amber(@C=)"), taken("name C*")) << "as AMBER's manual writes *";
    EXPECT_EQ(taken("amber(!@C=)"), taken("not name C*"));
    EXPECT_EQ(taken("index < 2 or index != 0 and index <= 2"), (List{0, 1, 2}));
}

TEST(Selection, FindsNeighbours) {
    Topology topology = structure();
    for (std::size_t n = 0; n < topology.atoms.size(); ++n)
        topology.positions.push_back({static_cast<float>(n), 0, 0});
    using List = std::vector<Index>;
    const auto taken = [&](const std::string& text) { return select_atoms(topology, text); };
    EXPECT_EQ(taken("within 1 of ion"), (List{9, 10, 11})) << "the distance itself counts";
    EXPECT_EQ(taken("within 0 of ion"), (List{10}));
    EXPECT_EQ(taken("within 1.5 of ion and not ion"), (List{9, 11})) << "'of' takes one term";
    EXPECT_EQ(taken("within 1 of (ion or index 0)"), (List{0, 1, 9, 10, 11}));
    EXPECT_EQ(taken("within 1e9 of ion").size(), 12u);
    EXPECT_EQ(taken("same residue as within 1 of ion"), (List{8, 9, 10, 11}));
    EXPECT_EQ(taken("same chain as ion"), taken("B"));
    EXPECT_EQ(taken("same residue as not chain B"), taken("A"));
    EXPECT_EQ(taken("amber(:5<@1.5)"), (List{9, 10, 11}));
    EXPECT_EQ(taken("amber(:5<:1.5)"), (List{8, 9, 10, 11}));
    EXPECT_EQ(taken("amber(:5>:1.5)"), taken("A"));
    topology.positions[7][1] = std::numeric_limits<float>::quiet_NaN();
    EXPECT_NE(refusal([&] { taken("within 1 of ion"); }).find("expected finite coordinates"),
              std::string::npos);
}

TEST(Selection, NeighboursAreThoseOfAllDistances) {
    std::mt19937 random(3);
    for (const float edge : {3.0F, 40.0F, 4000.0F}) {
        Topology topology = unnamed_topology(400, "random");
        topology.named = true;
        std::uniform_real_distribution<float> in_box(-edge, edge);
        for (int n = 0; n < 400; ++n)
            topology.positions.push_back({in_box(random), in_box(random), in_box(random) / 20});
        for (const double distance : {0.3, 2.0, 9.0, 300.0}) {
            std::vector<Index> wanted;
            for (Index n = 0; n < 400; ++n)
                for (std::size_t other = 0; other < 20; ++other) {
                    double square = 0;
                    for (std::size_t axis = 0; axis < 3; ++axis)
                        square +=
                            std::pow(double{topology.positions[static_cast<std::size_t>(n)][axis]} -
                                         double{topology.positions[other][axis]},
                                     2);
                    if (square > distance * distance) continue;
                    wanted.push_back(n);
                    break;
                }
            EXPECT_EQ(select_atoms(topology, fmt::format("within {} of index 0 to 19", distance)),
                      wanted)
                << edge << ' ' << distance;
        }
    }
}

TEST(Selection, ReadsConfidencesAndMasks) {
    Topology topology = structure();
    for (std::size_t n = 0; n < topology.atoms.size(); ++n)
        topology.atoms[n].b_factor = 8.0 * static_cast<double>(n);
    using List = std::vector<Index>;
    const auto taken = [&](const std::string& text) { return select_atoms(topology, text); };
    EXPECT_EQ(taken("plddt >= 72"), (List{9, 10, 11}));
    EXPECT_EQ(taken("bfactor 8 to 17"), (List{1, 2}));
    EXPECT_EQ(taken("bfactor 8 80.0"), (List{1, 10}));
    EXPECT_EQ(taken("//A//;b<10"), (List{0, 1})) << "gemmi's own comparison";
    topology.atoms[0].b_factor = 101;
    EXPECT_EQ(refusal([&] { taken("plddt > 5"); }),
              "s.pdb: expected pLDDT from 0 to 100 as B factors, found 8 to 101");
    EXPECT_EQ(taken("amber(:1-2@CA)"), (List{1, 4}));
    EXPECT_EQ(taken("amber(:1-2@CA) and A:10"), (List{4}));
    EXPECT_EQ(taken("amber(@1-3,12)"), (List{0, 1, 2, 11}));
    EXPECT_EQ(taken("amber(:ALA,S*@C?)"), (List{4, 5, 6, 8}));
    EXPECT_EQ(taken("amber(::B@/O)"), (List{9, 11}));
    EXPECT_EQ(taken("amber(!(:1-4|:HOH) & *)"), (List{10}));
    EXPECT_EQ(taken("amber( :1 | :2 & @CA )"), (List{0, 1, 2, 4}));
}

TEST(Subset, HasTheAtomsThatThereAre) {
    const Topology topology = structure();
    const Topology part = subset(topology, {11, 4, 5});
    EXPECT_EQ(part.atom_count(), 3);
    EXPECT_EQ(part.residues.size(), 2u);
    EXPECT_EQ(part.atom_label(1), topology.atom_label(4));
    EXPECT_EQ(subset(topology, {}).atom_count(), 0);
    for (const Index atom : {Index{-1}, Index{12}, Index{1'000'000'000}})
        EXPECT_EQ(refusal([&] {
                      subset(topology, {0, atom});
                  }),
                  "s.pdb: expected atoms from 0 to 11, found " + std::to_string(atom));
}

TEST(Selection, WhatTakesNothingSaysWhatThereIs) {
    const Topology topology = structure();
    const std::string text = refusal([&] { select_atoms(topology, "C:1-5"); });
    EXPECT_EQ(text,
              "s.pdb: expected atoms for the selection 'C:1-5', found none: the structure has 12 "
              "atoms; chains (residues) 'A' (-1 to 10), 'B' (11 to 13); atoms CA, N, O, CB, HA2, "
              "OG");
}

TEST(Selection, WhatIsNoSelectionIsRefused) {
    const Topology topology = structure();
    for (const char* text : {"", "ca and", "and ca", "ca ca", "not", "A:", "A:x", "A:5-3", "A:1,,2",
                             "//A/1-2/CA/x/y", "A:1-2-3"}) {
        const std::string told = refusal([&] { select_atoms(topology, text); });
        EXPECT_NE(told.find("expected"), std::string::npos) << text << ": " << told;
        EXPECT_EQ(told.find("found none: the structure"), std::string::npos) << text;
    }
}

}  // namespace

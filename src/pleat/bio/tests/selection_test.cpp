// Selections of a small structure of two chains, a calcium ion and an inserted residue.
#include "pleat/bio/structure/selection.h"

#include <gtest/gtest.h>

#include "pleat/bio/tests/refusal.h"

namespace {

using namespace pleat;
using pleat::testing::refusal;

Topology structure() {
    Topology topology;
    topology.source = "s.pdb";
    const auto add = [&](const char* residue, int number, char insertion, const char* chain,
                         std::vector<std::pair<const char*, const char*>> atoms) {
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
        {"ca or cb", "found 'cb' at character 7 of 'ca or cb': the structure has 12 atoms"},
        {"ca and C", "expected a keyword or a chain of the structure, found 'C' at character 8"},
        {"A and name", "expected values after 'name', found the end"},
        {"A and last x", "expected a number of residues after 'last', found 'x' (at character 7"},
        {"A and A:5-3", "found 'A:5-3' (at character 7 of"},
        {"ca and //A/1-2/CA/x/y", "(at character 8 of"}};
    for (const auto& [text, told] : cases) {
        const std::string found = refusal([&] { select_atoms(topology, text); });
        EXPECT_NE(found.find(told), std::string::npos) << text << ": " << found;
    }
    EXPECT_NE(refusal([&] { select_atoms(topology, std::string(100000, '(')); }).find("expected"),
              std::string::npos);
}

TEST(Subset, HasTheAtomsThatThereAre) {
    const Topology topology = structure();
    const Topology part = subset(topology, {11, 4, 5});
    EXPECT_EQ(part.atom_count(), 3);
    EXPECT_EQ(part.residues.size(), 2u);
    EXPECT_EQ(part.label(1), topology.label(4));
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

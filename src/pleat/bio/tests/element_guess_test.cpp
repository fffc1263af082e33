// Tests of elements: columns of names in PDB files without element columns, and atoms of element X.
#include "pleat/bio/structure/missing_names.h"

#include <gtest/gtest.h>

#include "pleat/bio/ensemble/ensemble.h"
#include "pleat/bio/structure/topology.h"
#include "pleat/core/tests/temporary_folder.h"

namespace pleat {
namespace {

TEST(ElementGuess, FollowsTheColumnsOfPdb) {
    struct Row {
        const char *columns, *residue, *element;
    };
    for (const Row& row : {Row{"FE  ", "HEM", "Fe"},
                           {" NA ", "HEM", "N"},
                           {" CHA", "HEM", "C"},
                           {"BR1 ", "LIG", "Br"},
                           {"CL2 ", "LIG", "Cl"},
                           {" CA ", "ALA", "C"},
                           {"CA  ", "ALA", "C"},
                           {"CA  ", " CA", "Ca"},
                           {"CA  ", "CA", "Ca"},
                           {" CA ", "LIG", "C"},
                           {"CA  ", "LIG", "Ca"},
                           {"HG  ", "HG", "Hg"},
                           {"HG11", "VAL", "H"},
                           {"HO2A", "LIG", "H"},
                           {"1HB ", "ALA", "H"},
                           {" HO5", "A", "H"},
                           {" P  ", "DA", "P"},
                           {"SE  ", "MSE", "Se"},
                           {" SE ", "MSE", "Se"},
                           {" SD ", "MET", "S"},
                           {"ZN  ", "ZN", "Zn"},
                           {" K  ", "K", "K"},
                           {"CLA ", "CLA", "Cl"},
                           {"SOD ", "SOD", "Na"},
                           {" OH2", "TIP3", "O"},
                           {"C10A", "LIG", "C"},
                           // Of one letter only H, C, N, O, P and S.
                           {" F1 ", "LIG", "X"},
                           {" U  ", "UNX", "X"},
                           {" UNK", "UNX", "X"},
                           {"UNK ", "UNK", "X"},
                           {" Q1 ", "UNK", "X"},
                           {" B1 ", "LIG", "X"},
                           {" 12 ", "LIG", "X"}})
        EXPECT_EQ(guess_element_in_columns(row.columns, row.residue), row.element)
            << "'" << row.columns << "' of " << row.residue;
}

// Without columns a name that may be read in two ways decides nothing.
TEST(ElementGuess, WithoutColumnsIsCertainOrNone) {
    EXPECT_EQ(guess_element("FE", "HEM"), "Fe");
    EXPECT_EQ(guess_element("BR1", "LIG"), "Br");
    EXPECT_EQ(guess_element("C1", "LIG"), "C");
    EXPECT_EQ(guess_element("CA", "ALA"), "C");
    EXPECT_EQ(guess_element("CA", "CA"), "Ca");
    EXPECT_EQ(guess_element("CA", "LIG"), "X");
    EXPECT_EQ(guess_element("U", "UNX"), "X");
    EXPECT_EQ(guess_element("UNK", "UNK"), "X");
}

std::vector<std::string> elements(const std::string& name, const std::string& text) {
    const test::TemporaryFolder folder;
    test::spill(folder / name, text);
    std::vector<std::string> found;
    for (const Topology::Atom& atom : read_ensemble({(folder / name).string()}).topology->atoms)
        found.push_back(atom.element);
    return found;
}

TEST(ElementGuess, IsForMissingElementsAndNotForX) {
    const std::string pdb =
        "HETATM    1  U   UNX A   1       0.000   0.000   0.000  1.00  0.00           X\n"
        "HETATM    2 FE   HEM A   2       5.000   0.000   0.000  1.00  0.00          FE\n"
        "HETATM    3 FE   HEM A   3       9.000   0.000   0.000  1.00  0.00\n"
        "HETATM    4 BR   LIG A   4      14.000   0.000   0.000  1.00  0.00      1ABC  23\n"
        "ATOM      5  CA  ALA A   5      19.000   0.000   0.000  1.00  0.00\n"
        "HETATM    6 CA    CA A   6      24.000   0.000   0.000  1.00  0.00\n";
    EXPECT_EQ(elements("s.pdb", pdb), (std::vector<std::string>{"X", "Fe", "Fe", "Br", "C", "Ca"}));
    const std::string head =
        "data_x\nloop_\n_atom_site.group_PDB\n_atom_site.type_symbol\n_atom_site.label_atom_id\n"
        "_atom_site.label_comp_id\n_atom_site.label_asym_id\n_atom_site.label_seq_id\n"
        "_atom_site.Cartn_x\n_atom_site.Cartn_y\n_atom_site.Cartn_z\n";
    EXPECT_EQ(elements("s.cif", head + "HETATM X U UNX A 1 0 0 0\nHETATM ? FE HEM A 2 5 0 0\n"
                                       "ATOM . CA ALA A 3 9 0 0\nHETATM ? CA CA A 4 15 0 0\n"
                                       "HETATM ? CA LIG A 5 20 0 0\n"),
              (std::vector<std::string>{"X", "Fe", "C", "Ca", "X"}));
}

}  // namespace
}  // namespace pleat

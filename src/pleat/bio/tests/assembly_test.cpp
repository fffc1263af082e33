// Biological assemblies: copies built from REMARK 350 and mmCIF tables, notes about them, refusals.
#include "pleat/bio/structure/assembly.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "pleat/bio/ensemble/ensemble.h"
#include "pleat/bio/tests/refusal.h"
#include "pleat/bio/tests/scratch_file.h"
#include "pleat/bio/tests/structure_text.h"
#include "pleat/bio/tests/written_trajectory.h"
#include "pleat/core/error.h"

namespace {

using namespace pleat;
using pleat::test::AtomText;
using pleat::test::cif_line;
using pleat::test::kCifHeader;
using pleat::test::pdb_line;
using pleat::testing::refusal;
using pleat::testing::ScratchFolder;

using Products = std::vector<std::vector<std::string>>;

const std::string kData = PLEAT_DATA;

Ensemble built(const std::string& file, const std::string& assembly) {
    return read_ensemble({file},
                         {.topology = {}, .assembly = assembly, .select = "all", .range = {}});
}

bool is_noted(const Ensemble& ensemble, std::string_view text) {
    return std::any_of(ensemble.notes.begin(), ensemble.notes.end(), [&](const Note& note) {
        return full_text(note).find(text) != std::string::npos;
    });
}

AtomText atom(const std::string& chain, double x) {
    AtomText text;
    text.chain = chain;
    text.x = x;
    return text;
}

const char* const kIdentity =
    "REMARK 350   BIOMT1   1  1.000000  0.000000  0.000000        0.00000\n"
    "REMARK 350   BIOMT2   1  0.000000  1.000000  0.000000        0.00000\n"
    "REMARK 350   BIOMT3   1  0.000000  0.000000  1.000000        0.00000\n";
const char* const kTenAlongX =
    "REMARK 350   BIOMT1   2  1.000000  0.000000  0.000000       10.00000\n"
    "REMARK 350   BIOMT2   2  0.000000  1.000000  0.000000        0.00000\n"
    "REMARK 350   BIOMT3   2  0.000000  0.000000  1.000000        0.00000\n";

const char* const kOperationNames =
    "loop_\n_pdbx_struct_oper_list.id\n"
    "_pdbx_struct_oper_list.matrix[1][1]\n_pdbx_struct_oper_list.matrix[1][2]\n"
    "_pdbx_struct_oper_list.matrix[1][3]\n_pdbx_struct_oper_list.vector[1]\n"
    "_pdbx_struct_oper_list.matrix[2][1]\n_pdbx_struct_oper_list.matrix[2][2]\n"
    "_pdbx_struct_oper_list.matrix[2][3]\n_pdbx_struct_oper_list.vector[2]\n"
    "_pdbx_struct_oper_list.matrix[3][1]\n_pdbx_struct_oper_list.matrix[3][2]\n"
    "_pdbx_struct_oper_list.matrix[3][3]\n_pdbx_struct_oper_list.vector[3]\n";

std::string described(const std::string& name, const std::string& chains,
                      const std::string& motions) {
    return "REMARK 350 BIOMOLECULE: " + name +
           "\nREMARK 350 AUTHOR DETERMINED BIOLOGICAL UNIT: MONOMERIC"
           "\nREMARK 350 APPLY THE FOLLOWING TO CHAINS: " +
           chains + "\n" + motions;
}

std::string two_chains() { return pdb_line(atom("A", 1)) + pdb_line(atom("B", 2)) + "END\n"; }

// 1A8O is one chain of a dimer; its second operation is (41.98 - y, 41.98 - x, 44.46 - z).
TEST(Assembly, IsTheDimerOfPdbAndMmcifFiles) {
    for (const char* name : {"/1a8o.pdb.gz", "/1a8o.cif.gz"}) {
        SCOPED_TRACE(name);
        const Ensemble listed = built(kData + name, ""), dimer = built(kData + name, "1");
        const Index atoms = listed.atom_count();
        ASSERT_EQ(dimer.atom_count(), 2 * atoms);
        EXPECT_EQ(dimer.topology->chains(), (std::vector<std::string>{"A", "A-2"}));
        for (Index i = 0; i < atoms; ++i) {
            const float x = listed.xyz(0, 0, i), y = listed.xyz(0, 1, i), z = listed.xyz(0, 2, i);
            EXPECT_EQ(dimer.xyz(0, 0, i), x);
            EXPECT_NEAR(dimer.xyz(0, 0, atoms + i), 41.98 - y, 1e-5);
            EXPECT_NEAR(dimer.xyz(0, 1, atoms + i), 41.98 - x, 1e-5);
            EXPECT_NEAR(dimer.xyz(0, 2, atoms + i), 44.46 - z, 1e-5);
            EXPECT_EQ(dimer.topology->atoms[static_cast<std::size_t>(atoms + i)].name,
                      listed.topology->atoms[static_cast<std::size_t>(i)].name);
        }
    }
}

TEST(Assembly, IsNotedIfNoneIsWhatTheFileLists) {
    EXPECT_TRUE(is_noted(built(kData + "/1a8o.pdb.gz", ""), "biological assembly 1 (DIMERIC)"));
    EXPECT_TRUE(is_noted(built(kData + "/1a8o.cif.gz", ""), "biological assembly 1 (dimeric)"));
    EXPECT_FALSE(is_noted(built(kData + "/1a8o.pdb.gz", "1"), "biological assembl"));
    EXPECT_FALSE(is_noted(built(kData + "/1hel.pdb.gz", ""), "biological assembl"));
    const ScratchFolder folder;
    const std::string monomers = folder.write(
        "two.pdb", described("1", "A", kIdentity) + described("2", "B", kIdentity) + two_chains());
    EXPECT_TRUE(is_noted(built(monomers, ""), "assemblies 1 (MONOMERIC), 2 (MONOMERIC)"));
    const std::string dimer =
        folder.write("dimer.pdb", described("1", "A, B", kIdentity) + two_chains());
    EXPECT_FALSE(is_noted(built(dimer, ""), "biological assembl"));
}

TEST(Assembly, MayBeSomeOfTheChains) {
    const ScratchFolder folder;
    const std::string file = folder.write(
        "two.pdb", described("1", "A", kIdentity) + described("2", "B", kIdentity) + two_chains());
    const Ensemble second = built(file, "2");
    ASSERT_EQ(second.atom_count(), 1);
    EXPECT_EQ(second.xyz(0, 0, 0), 2);
    EXPECT_EQ(second.topology->residues[0].chain, "B");
}

TEST(Assembly, NamesCopiesUnlikeChainsOfTheFile) {
    const ScratchFolder folder;
    const std::string taken = [] {
        AtomText text = atom("A-2", 5);
        return std::string(kCifHeader) + cif_line(atom("A", 1)) + cif_line(text) + "#\n";
    }();
    const std::string tables =
        "loop_\n_pdbx_struct_assembly_gen.assembly_id\n_pdbx_struct_assembly_gen.oper_expression\n"
        "_pdbx_struct_assembly_gen.asym_id_list\n1 '(1)(1,2)' A\n1 1 A-2\n#\n" +
        std::string(kOperationNames) +
        "1 1 0 0 10 0 1 0 0 0 0 1 0\n2 1 0 0 100 0 1 0 0 0 0 1 0\n#\n";
    const Ensemble ensemble = built(folder.write("three.cif", taken + tables), "1");
    EXPECT_EQ(ensemble.topology->chains(), (std::vector<std::string>{"A", "A-3", "A-2"}));
    ASSERT_EQ(ensemble.atom_count(), 3);
    EXPECT_EQ(ensemble.xyz(0, 0, 0), 21);
    EXPECT_EQ(ensemble.xyz(0, 0, 1), 111);
    EXPECT_EQ(ensemble.xyz(0, 0, 2), 15);
}

TEST(Assembly, OfEveryModelIsBuilt) {
    const ScratchFolder folder;
    const std::string file = folder.write(
        "models.pdb", described("1", "A", std::string(kIdentity) + kTenAlongX) +
                          "MODEL        1\n" + pdb_line(atom("A", 1)) + "ENDMDL\nMODEL        2\n" +
                          pdb_line(atom("A", 3)) + "ENDMDL\nEND\n");
    const Ensemble ensemble = built(file, "1");
    ASSERT_EQ(ensemble.frame_count(), 2);
    EXPECT_EQ(ensemble.xyz(1, 0, 0), 3);
    EXPECT_EQ(ensemble.xyz(1, 0, 1), 13);
}

TEST(Assembly, ThatIsNotThereIsRefusedNamingThose) {
    const ScratchFolder folder;
    const std::string file = folder.write(
        "two.pdb", described("1", "A", kIdentity) + described("2", "B", kIdentity) + two_chains());
    EXPECT_EQ(refusal([&] { built(file, "3"); }),
              file + ": expected biological assembly '3', found only 1, 2");
    const std::string none = folder.write("none.pdb", two_chains());
    EXPECT_EQ(refusal([&] { built(none, "1"); }),
              none + ": expected biological assembly '1', found no assemblies in the file");
}

TEST(Assembly, ThatCannotBeBuiltIsRefusedOnlyWhenItIsChosen) {
    const ScratchFolder folder;
    const std::string identity = kIdentity;
    const std::string two_rows = identity.substr(0, identity.find("REMARK 350   BIOMT3"));
    const std::string cut = folder.write("cut.pdb", described("1", "A", two_rows) + two_chains());
    EXPECT_EQ(built(cut, "").atom_count(), 2);
    EXPECT_EQ(
        refusal([&] { built(cut, "1"); }),
        cut +
            ": cannot build assembly 1: expected rotations and translations, found another matrix");
    const std::string word = folder.write(
        "word.pdb",
        described("1", "A", "REMARK 350   BIOMT1   1  1.000000  zero  0.000000        0.00000\n") +
            two_chains());
    EXPECT_NE(refusal([&] { built(word, "1"); }).find("expected rows of BIOMT with four numbers"),
              std::string::npos);
    const std::string absent =
        folder.write("absent.pdb", described("1", "C", kIdentity) + two_chains());
    EXPECT_EQ(refusal([&] { built(absent, "1"); }),
              absent + ": cannot build assembly 1: expected atoms of its chains, found none");
}

TEST(Assembly, OfTooManyCopiesIsRefusedWithoutMakingThem) {
    const ScratchFolder folder;
    std::string text = std::string(kCifHeader) + cif_line(atom("A", 1)) +
                       "#\nloop_\n_pdbx_struct_assembly_gen.assembly_id\n"
                       "_pdbx_struct_assembly_gen.oper_expression\n"
                       "_pdbx_struct_assembly_gen.asym_id_list\n";
    for (int row = 0; row < 5000; ++row) text += "1 '(1-100)(1-100)' A\n";
    text += kOperationNames;
    for (int n = 1; n <= 100; ++n) text += std::to_string(n) + " 1 0 0 1 0 1 0 0 0 0 1 0\n";
    const std::string file = folder.write("many.cif", text + "#\n");
    EXPECT_EQ(built(file, "").atom_count(), 1);
    EXPECT_NE(refusal([&] { built(file, "1"); }).find("more than 100,000 copies"),
              std::string::npos);
}

TEST(Assembly, OfATrajectoryIsRefused) {
    const ScratchFolder folder;
    const std::string file = folder.write("frames.dcd", pleat::testing::dcd_file({}));
    EXPECT_NE(refusal([&] {
                  built(file, "1");
              }).find("cannot build biological assembly '1': DCD files describe none"),
              std::string::npos);
}

TEST(Assembly, OperationsAreListsRangesAndProducts) {
    EXPECT_EQ(parse_operations("1"), (Products{{"1"}}));
    EXPECT_EQ(parse_operations("1,P , 3-5"), (Products{{"1"}, {"P"}, {"3"}, {"4"}, {"5"}}));
    EXPECT_EQ(parse_operations("(X0)(1-2)"), (Products{{"X0", "1"}, {"X0", "2"}}));
    EXPECT_EQ(parse_operations("(1,2)\n(3)"), (Products{{"1", "3"}, {"2", "3"}}));
    for (const char* broken : {"", "()", "2-1", "a-b", "1-", "(1-200)(1-200)", "1-99999999"})
        EXPECT_EQ(parse_operations(broken), Products{}) << broken;
}

TEST(Assembly, LastOperationOfAProductIsAppliedFirst) {
    AssemblyOperation turn;  // by 90 degrees about z
    turn.rows = {{{0, -1, 0, 0}, {1, 0, 0, 0}, {0, 0, 1, 0}}};
    AssemblyOperation shift;
    shift.rows = {{{1, 0, 0, 5}, {0, 1, 0, 0}, {0, 0, 1, 0}}};
    EXPECT_EQ(product(turn, shift).rows[1][3], 5);  // shifted along x, then turned to y
    EXPECT_EQ(product(shift, turn).rows[0][3], 5);
}

}  // namespace

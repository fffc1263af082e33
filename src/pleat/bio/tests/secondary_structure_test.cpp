// Tests of secondary structure: the assignments of DSSP, and chains without a backbone.
#include "pleat/bio/structure/secondary_structure.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "pleat/core/tests/data_folders.h"

namespace pleat {
namespace {

Chain chain_of(const char* file) { return read_structure(test::data_folder() / file).chains.at(0); }

/// The letters of DSSP, with '-' for all but H and E.
std::string helices_and_strands(std::string dssp) {
    for (char& letter : dssp)
        if (letter != 'H' && letter != 'E') letter = '-';
    return dssp;
}

// The letters of mkdssp 4.2.2 (Debian 12, dssp 4.2.2-2).
constexpr const char* kCapsid =
    "------TTS-HHHHHHHHHHHHHTTT--HHHHHHHHHTHHHHTS-HHHHHHHHTT-TT--HHHHHHHT--";
constexpr const char* kLysozyme =
    "-B--HHHHHHHHHHTT-TTBTTB-HHHHHHHHHHHHTTBTT-EEE-TTS-EEETTTTEETTTT-B-S--TT---TT-SBGGGGGSSS-"
    "HHHHHHHHHHHHTSSGGGGSHHHHHHTTTS-GGGGGTT---";
constexpr const char* kTrypsin =
    "-BS-EEPPTTSSTTEEEEESSSEEEEEEEEETTEEEE-GGG--SS-EEEES-SBTTS--S--EEEEEEEEEE-TT-BTTTTBT--EEEEESS-"
    "---SSSS---BPPSSPPPTT-EEEEEESS---SSS----SBPEEEEEEBPPHHHHHHHSTTT--TTEEEES-TT-S-B--TT-TT-EEEETTE"
    "EEEEEEE-SSSS-TT--EEEEEGGGTHHHHHHHHHT-";

TEST(SecondaryStructure, IsThatOfDssp) {
    for (const auto& [file, dssp] : {std::pair("1a8o.pdb.gz", kCapsid),
                                     {"1hel.pdb.gz", kLysozyme},
                                     {"1ql9_A.pdb.gz", kTrypsin}})
        EXPECT_EQ(secondary_structure(chain_of(file)), helices_and_strands(dssp)) << file;
}

TEST(SecondaryStructure, MissingAtomsBreakAHelix) {
    Chain chain = chain_of("1hel.pdb.gz");
    const std::string whole = secondary_structure(chain);
    std::vector<Atom>& atoms = chain.residues[30].atoms;  // within the helix 25 to 36
    std::erase_if(atoms, [](const Atom& atom) { return atom.name == "O"; });
    const std::string broken = secondary_structure(chain);
    EXPECT_EQ(whole.substr(24, 12), "HHHHHHHHHHHH");
    // No hydrogen can be placed behind it, and no turn passes it.
    EXPECT_EQ(broken.substr(24, 12), "HHHHH---HHHH");
    EXPECT_EQ(broken.substr(0, 24) + broken.substr(36), whole.substr(0, 24) + whole.substr(36));
}

TEST(SecondaryStructure, IsEmptyWithoutABackbone) {
    Chain chain = chain_of("1hel.pdb.gz");
    for (Residue& residue : chain.residues)
        std::erase_if(residue.atoms, [](const Atom& atom) { return atom.name != "CA"; });
    EXPECT_EQ(secondary_structure(chain), "");
    chain = chain_of("1hel.pdb.gz");
    chain.kind = Chain::Kind::nucleic;
    EXPECT_EQ(secondary_structure(chain), "");
    EXPECT_EQ(secondary_structure(Chain()), "");
}

}  // namespace
}  // namespace pleat

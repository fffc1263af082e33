// Bond names: pairs of heavy atoms that are bonded within amino acids and nucleotides.
#pragma once

#include <array>
#include <string_view>

namespace pleat {

using NamePair = std::array<std::string_view, 2>;

/// Of amino acids. Bonds that only close rings are left out where another residue has both names
/// without the bond (N and CD of proline). SE is that of selenomethionine.
inline constexpr NamePair kAminoAcidBonds[] = {
    {"N", "CA"},    {"CA", "C"},    {"C", "O"},     {"C", "OXT"},   {"C", "OT1"},   {"C", "OT2"},
    {"C", "OC1"},   {"C", "OC2"},   {"C", "O1"},    {"C", "O2"},    {"CA", "CB"},   {"CB", "CG"},
    {"CB", "CG1"},  {"CB", "CG2"},  {"CB", "OG"},   {"CB", "OG1"},  {"CB", "SG"},   {"CG", "CD"},
    {"CG", "CD1"},  {"CG", "CD2"},  {"CG", "OD1"},  {"CG", "OD2"},  {"CG", "ND1"},  {"CG", "ND2"},
    {"CG", "SD"},   {"CG", "SE"},   {"SD", "CE"},   {"SE", "CE"},   {"CD", "CE"},   {"CD", "NE"},
    {"CD", "OE1"},  {"CD", "OE2"},  {"CD", "NE2"},  {"CE", "NZ"},   {"NE", "CZ"},   {"CZ", "NH1"},
    {"CZ", "NH2"},  {"CD1", "CE1"}, {"CD2", "CE2"}, {"CE1", "CZ"},  {"CE2", "CZ"},  {"CZ", "OH"},
    {"ND1", "CE1"}, {"CD2", "NE2"}, {"CE1", "NE2"}, {"CG1", "CD1"}, {"CG1", "CD"},  {"CD1", "NE1"},
    {"NE1", "CE2"}, {"CD2", "CE3"}, {"CE3", "CZ3"}, {"CZ3", "CH2"}, {"CH2", "CZ2"}, {"CZ2", "CE2"}};

/// Of nucleotides; "*" in names stands for "'". C1' is bonded to N9, or to N1 where there is no N9.
inline constexpr NamePair kNucleotideBonds[] = {
    {"P", "OP1"},   {"P", "OP2"},   {"P", "O1P"},   {"P", "O2P"},   {"P", "O5'"},   {"O5'", "C5'"},
    {"C5'", "C4'"}, {"C4'", "O4'"}, {"C4'", "C3'"}, {"C3'", "O3'"}, {"C3'", "C2'"}, {"C2'", "O2'"},
    {"C2'", "C1'"}, {"C1'", "O4'"}, {"C1'", "N9"},  {"N9", "C8"},   {"C8", "N7"},   {"N7", "C5"},
    {"C5", "C4"},   {"C5", "C6"},   {"C6", "N1"},   {"N1", "C2"},   {"C2", "N3"},   {"N3", "C4"},
    {"C4", "N9"},   {"C6", "O6"},   {"C6", "N6"},   {"C2", "N2"},   {"C2", "O2"},   {"C4", "O4"},
    {"C4", "N4"},   {"C5", "C7"},   {"C5", "C5M"}};

}  // namespace pleat

// Element guess: elements of atoms from their names, for files that do not give them.
#include "pleat/bio/structure/element_guess.h"

#include <cctype>
#include <map>
#include <set>

#include "pleat/bio/structure/topology.h"
#include "pleat/bio/structure/topology_gemmi.h"

namespace pleat {

namespace {

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

/// The letters that an atom's name begins with, behind blanks and digits, in upper case.
std::string first_letters(std::string_view name) {
    std::string letters;
    for (const char c : name) {
        if (is_letter(c)) {
            letters += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
        } else if (!letters.empty()) {
            break;
        }
    }
    return letters;
}

/// Amino acids, nucleotides and water: their atoms are H, C, N, O, P and S alone, whichever columns
/// their names fill.
bool is_common_residue(std::string_view name) {
    static const std::set<std::string_view> kNames = {
        "ALA", "ARG", "ASN", "ASP", "CYS", "GLN", "GLU",  "GLY",  "HIS", "ILE", "LEU", "LYS", "MET",
        "PHE", "PRO", "SER", "THR", "TRP", "TYR", "VAL",  "HSD",  "HSE", "HSP", "HID", "HIE", "HIP",
        "CYX", "CYM", "ASH", "GLH", "LYN", "ACE", "NME",  "NMA",  "A",   "C",   "G",   "U",   "DA",
        "DC",  "DG",  "DT",  "ADE", "CYT", "GUA", "THY",  "URA",  "URI", "RA",  "RC",  "RG",  "RU",
        "HOH", "WAT", "H2O", "DOD", "SOL", "TIP", "TIP3", "TIP4", "TP3", "SPC", "DA5", "DA3", "DC5",
        "DC3", "DG5", "DG3", "DT5", "DT3", "RA5", "RA3",  "RC5",  "RC3", "RG5", "RG3", "RU5", "RU3",
        "A5",  "A3",  "C5",  "C3",  "G5",  "G3",  "U5",   "U3"};
    return kNames.contains(name);
}

/// A name's first letter alone is an element only where it is one of molecules of life.
std::string one_letter_element(char letter) {
    constexpr std::string_view kKnown = "HCNOPS";
    return kKnown.find(letter) != std::string_view::npos ? std::string(1, letter) : "X";
}

/// The symbol of an ion whose residue has its name or whose name force fields use; else "X".
std::string ion_element(const std::string& letters, std::string_view residue_name) {
    static const std::map<std::string, std::string, std::less<>> kIons = {
        {"CLA", "Cl"}, {"SOD", "Na"}, {"POT", "K"}, {"CAL", "Ca"}, {"CES", "Cs"}, {"LIT", "Li"}};
    if (letters == "I" && residue_name == "IOD") return "I";
    const auto ion = kIons.find(letters);
    if (ion != kIons.end()) return ion->second;
    return letters == residue_name && letters.size() <= 2 ? element_symbol(letters) : "X";
}

/// The element where the columns of the name do not matter; empty where they do.
std::string clear_element(const std::string& letters, std::string_view residue_name) {
    if (letters.empty()) return "X";
    if (const std::string ion = ion_element(letters, residue_name); ion != "X") return ion;
    if (is_common_residue(residue_name)) return one_letter_element(letters[0]);
    return residue_name == "MSE" && letters == "SE" ? "Se" : "";
}

}  // namespace

std::string guess_element_in_columns(std::string_view columns, std::string_view residue_name) {
    const std::string letters = first_letters(columns);
    if (const std::string clear = clear_element(letters, residue_name); !clear.empty())
        return clear;
    const bool is_pair = columns.size() == 4 && is_letter(columns[0]) && is_letter(columns[1]);
    // Hydrogens of long names begin in the first column too; Hg, Ho and others do not fill four.
    if (!is_pair || (letters[0] == 'H' && columns[3] != ' ')) return one_letter_element(letters[0]);
    const std::string pair = element_symbol(letters.substr(0, 2));
    return pair != "X" ? pair : one_letter_element(letters[0]);
}

std::string guess_element(std::string_view atom_name, std::string_view residue_name) {
    const std::string letters = first_letters(atom_name);
    if (const std::string clear = clear_element(letters, residue_name); !clear.empty())
        return clear;
    const std::string single = one_letter_element(letters[0]);
    const std::string pair = letters.size() > 1 ? element_symbol(letters.substr(0, 2)) : "X";
    // Without columns CA may be carbon or calcium.
    if (single == "X") return pair;
    return pair == "X" ? single : "X";
}

}  // namespace pleat

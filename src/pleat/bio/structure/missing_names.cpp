// Missing names: where polymers begin and end, and which element a name or a mass tells.
#include "pleat/bio/structure/missing_names.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <set>

#include "pleat/bio/selection/residue_kinds.h"
#include "pleat/bio/structure/topology_gemmi.h"

namespace pleat {

namespace {

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

/// The first run of letters in an atom name, after blanks and digits, in upper case.
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

/// Returns the letter as an element if it is H, C, N, O, P or S, else "X".
std::string one_letter_element(char letter) {
    constexpr std::string_view kKnown = "HCNOPS";
    return kKnown.find(letter) != std::string_view::npos ? std::string(1, letter) : "X";
}

/// The element of an ion, by the residue name or by an ion name of force fields; else "X".
std::string ion_element(const std::string& letters, std::string_view residue_name) {
    static const std::map<std::string, std::string, std::less<>> kIons = {
        {"CLA", "Cl"}, {"SOD", "Na"}, {"POT", "K"}, {"CAL", "Ca"}, {"CES", "Cs"}, {"LIT", "Li"}};
    if (letters == "I" && residue_name == "IOD") return "I";
    const auto ion = kIons.find(letters);
    if (ion != kIons.end()) return ion->second;
    return letters == residue_name && letters.size() <= 2 ? element_symbol(letters) : "X";
}

/// The element if the name's columns do not matter; empty if they do.
std::string clear_element(const std::string& letters, std::string_view residue_name) {
    if (letters.empty()) return "X";
    if (const std::string ion = ion_element(letters, residue_name); ion != "X") return ion;
    if ((residue_name == "MSE" || residue_name == "SEC") && letters == "SE") return "Se";
    return is_common_residue(residue_name) ? one_letter_element(letters[0]) : "";
}

/// The element whose mass is within 0.03 dalton; "X" if there is none.
std::string element_of_mass(double mass) {
    constexpr double kRounding = 0.03;
    static const std::vector<std::string> kElements = {
        "H",  "D",  "Li", "B",  "C",  "N",  "O",  "F",  "Na", "Mg", "Al", "Si", "P",
        "S",  "Cl", "K",  "Ca", "Mn", "Fe", "Co", "Ni", "Cu", "Zn", "As", "Se", "Br",
        "Rb", "Sr", "Mo", "Ag", "Cd", "I",  "Cs", "Ba", "Pt", "Au", "Hg", "Pb"};
    for (const std::string& element : kElements)
        if (std::abs(element_mass(element) - mass) < kRounding) return element;
    return "X";
}

/// The element of a single-atom residue, such as NA of NA+; else "X".
std::string lone_element(const std::string& letters, const std::string& residue) {
    if (const std::string ion = ion_element(letters, first_letters(residue)); ion != "X")
        return ion;
    return letters.size() == 2 ? element_symbol(letters) : "X";
}

/// What the atom names of a residue mean.
enum class NameKind : std::uint8_t {
    common,  ///< of water or a polymer: the first letter is the element
    beads,   ///< of several atoms each
    other
};

/// [residue]
std::vector<NameKind> name_kinds(const Topology& topology) {
    enum : unsigned { kN = 1, kCA = 2, kC = 4, kC1 = 8, kC3 = 16, kC4 = 32, kBB = 64 };
    static const std::map<std::string_view, unsigned> kNames = {
        {"N", kN},    {"CA", kCA},  {"C", kC},    {"C1'", kC1}, {"C3'", kC3},
        {"C4'", kC4}, {"C1*", kC1}, {"C3*", kC3}, {"C4*", kC4}, {"BB", kBB}};
    std::vector<unsigned> has(topology.residues.size());
    for (const Topology::Atom& atom : topology.atoms)
        if (const auto found = kNames.find(atom.name); found != kNames.end())
            has[atom.residue] |= found->second;
    const auto has_all = [&](std::size_t r, unsigned names) { return (has[r] & names) == names; };
    const std::vector<selection::ResidueKind> residues = selection::residue_kinds(topology);
    std::vector<NameKind> kinds;
    kinds.reserve(has.size());
    for (std::size_t r = 0; r < has.size(); ++r)
        kinds.push_back(has_all(r, kBB) ? NameKind::beads
                        : has_all(r, kN | kCA | kC) || has_all(r, kC1 | kC3 | kC4) ||
                                residues[r] != selection::ResidueKind::other
                            ? NameKind::common
                            : NameKind::other);
    return kinds;
}

std::string element_by_name(const std::string& name, const std::string& residue, NameKind kind,
                            bool is_alone) {
    const std::string letters = first_letters(name);
    if (kind == NameKind::beads || (is_alone && letters == "W")) return "X";  // MARTINI's
    if (const std::string clear = clear_element(letters, residue); !clear.empty()) return clear;
    if (kind == NameKind::common) return one_letter_element(letters[0]);
    return is_alone ? lone_element(letters, residue) : guess_element(name, residue);
}

}  // namespace

bool is_common_residue(std::string_view name) {
    return selection::is_water(name) ||
           (selection::is_common_name(name) && !is_heterogen(std::string(name)));
}

void guess_elements(Topology& topology, const std::vector<double>& masses) {
    constexpr double kLightest = 0.9;    // dalton; lone pairs and Drude particles are lighter
    constexpr double kMovedMass = 10.0;  // that simulations move at most from atoms to hydrogens
    for (Topology::Atom& atom : topology.atoms) atom.element = "X";
    const std::vector<NameKind> kinds = name_kinds(topology);
    std::vector<Index> sizes(topology.residues.size());
    for (const Topology::Atom& atom : topology.atoms) ++sizes[atom.residue];
    for (std::size_t i = 0; i < topology.atoms.size(); ++i) {
        Topology::Atom& atom = topology.atoms[i];
        const auto r = static_cast<std::size_t>(atom.residue);
        atom.element =
            element_by_name(atom.name, topology.residues[r].name, kinds[r], sizes[r] == 1);
        atom.mass = element_mass(atom.element);
        if (masses.empty()) continue;
        const std::string of_mass = masses[i] < kLightest ? "X" : element_of_mass(masses[i]);
        if (atom.element == "X" || masses[i] < kLightest ||
            (of_mass != "X" && std::abs(atom.mass - masses[i]) > kMovedMass))
            atom.element = of_mass;
        atom.mass = atom.element == "X" ? masses[i] : element_mass(atom.element);
    }
}

std::string guess_element_in_columns(std::string_view columns, std::string_view residue_name) {
    const std::string letters = first_letters(columns);
    if (const std::string clear = clear_element(letters, residue_name); !clear.empty())
        return clear;
    const bool is_pair = columns.size() == 4 && is_letter(columns[0]) && is_letter(columns[1]);
    // Long hydrogen names also begin in the first column; those of Hg, Ho, ... do not fill four.
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

namespace {

using Names = std::set<std::string_view>;

/// [residue]: whether it is bonded to the one before it.
std::vector<bool> bonded_to_previous(const Topology& topology) {
    std::vector<bool> bonded(topology.residues.size());
    const auto residue_of = [&](Index atom) { return topology.atoms[atom].residue; };
    for (const auto& bond : topology.bonds) {
        const Index one = residue_of(bond[0]), other = residue_of(bond[1]);
        if (std::abs(one - other) == 1) bonded[std::max(one, other)] = true;
    }
    return bonded;
}

/// [residue]: whether it is the last residue of a chain, by its name or its atoms.
std::vector<bool> ends_of_chains(const Topology& topology,
                                 const std::vector<selection::ResidueKind>& kinds) {
    static const Names kCaps = {"NME", "NMA", "NHE", "NH2"};
    static const Names kOxygens = {"OXT", "OT2", "OC2", "O2"};
    std::vector<bool> ends(topology.residues.size());
    for (std::size_t r = 0; r < ends.size(); ++r)
        ends[r] = kCaps.contains(topology.residues[r].name);
    for (const Topology::Atom& atom : topology.atoms) {
        const auto r = static_cast<std::size_t>(atom.residue);
        if (kinds[r] == selection::ResidueKind::protein && kOxygens.contains(atom.name))
            ends[r] = true;
    }
    return ends;
}

std::string chain_name(Index number) {
    constexpr Index kLetters = 26;
    std::string name(1, static_cast<char>('A' + number % kLetters));
    if (number >= kLetters) name += std::to_string(number / kLetters + 1);
    return name;
}

}  // namespace

void name_chains(Topology& topology) {
    using selection::ResidueKind;
    topology.has_chain_names = false;
    const std::vector<ResidueKind> kinds = selection::residue_kinds(topology);
    const bool by_bonds = topology.has_all_bonds;
    const std::vector<bool> bonded = by_bonds ? bonded_to_previous(topology) : std::vector<bool>(),
                            ends = by_bonds ? std::vector<bool>() : ends_of_chains(topology, kinds);
    Index chains = 0;
    for (std::size_t r = 0; r < kinds.size(); ++r) {
        Topology::Residue& residue = topology.residues[r];
        residue.chain.clear();
        if (kinds[r] != ResidueKind::protein && kinds[r] != ResidueKind::nucleic) continue;
        const bool follows = r > 0 && kinds[r] == kinds[r - 1];
        const bool same_chain =
            follows && (by_bonds ? bonded[r]
                                 : !ends[r - 1] && residue.name != "ACE" &&
                                       residue.number >= topology.residues[r - 1].number);
        residue.chain = chain_name(same_chain ? chains - 1 : chains++);
    }
}

}  // namespace pleat

// Residue kinds: residues by their names, or by the atoms that they have; the masses of GROMACS.
#include "pleat/bio/selection/residue_kinds.h"

#include <cctype>
#include <set>
#include <string>
#include <string_view>

#include "pleat/bio/structure/topology_gemmi.h"

namespace pleat::selection {

namespace {

using Names = std::set<std::string_view>;

/// Names of force fields, and of chain caps, that gemmi's table lacks.
bool is_protein_name(const std::string& name) {
    static const Names kNames = {
        "ACE",  "NME",  "NMA",  "NHE",  "NH2",  "HSD",  "HSE",  "HSP",  "HID",  "HIE",  "HIP",
        "HIS1", "HIS2", "HISA", "HISB", "HISD", "HISE", "HISH", "CYX",  "CYM",  "CYS1", "CYS2",
        "CYSH", "ASH",  "ASPH", "GLH",  "GLUH", "LYN",  "LYSH", "ARGN", "ASN1", "QLN",  "ORN",
        "HYP",  "PGLU", "NALA", "NGLY", "NSER", "NTHR", "NLEU", "NILE", "NVAL", "NASN", "NGLN",
        "NARG", "NHID", "NHIE", "NHIP", "NTRP", "NPHE", "NTYR", "NGLU", "NASP", "NLYS", "NPRO",
        "NCYS", "NCYX", "NMET", "CALA", "CGLY", "CSER", "CTHR", "CLEU", "CILE", "CVAL", "CASN",
        "CGLN", "CARG", "CHID", "CHIE", "CHIP", "CTRP", "CPHE", "CTYR", "CGLU", "CASP", "CLYS",
        "CPRO", "CCYS", "CCYX", "CMET", "ALAD", "GLUP", "ASPP"};
    return kNames.contains(name) || is_amino_acid(name);
}

bool is_nucleic_name(const std::string& name) {
    static const Names kNames = {"ADE", "URA", "CYT", "GUA", "THY", "DA5", "DC5", "DG5", "DT5",
                                 "DA3", "DC3", "DG3", "DT3", "RA",  "RC",  "RG",  "RU",  "RA5",
                                 "RC5", "RG5", "RU5", "RA3", "RC3", "RG3", "RU3", "A5",  "C5",
                                 "G5",  "U5",  "A3",  "C3",  "G3",  "U3",  "T"};
    return kNames.contains(name) || is_nucleotide(name);
}

/// The centre of a virtual residue, or an atom that OPM or Rosetta adds to draw a membrane.
bool is_dummy_name(std::string_view residue, std::string_view atom) {
    static const Names kMembrane = {"THKN", "CNTR", "NORM"};
    return residue == "DUM" || residue == "VRT" || residue == "VIRT" ||
           (residue == "MEM" && kMembrane.contains(atom));
}

bool can_be_ion(std::string_view element) {
    static const Names kOthers = {"H", "D",  "C",  "N",  "O",  "P", "S",
                                  "X", "He", "Ne", "Ar", "Kr", "Xe"};
    return !kOthers.contains(element);
}

/// What one residue has.
struct Parts {
    unsigned protein = 0;  // 1: alpha carbon, 2: N, 4: C
    unsigned nucleic = 0;  // 1: P, 2: O5', 4: C3', 8: O3'
    int atoms = 0;
    bool is_ion = false, is_dummy = false;
};

unsigned nucleic_bit(std::string_view name) {
    return name == "P" ? 1U : name == "O5'" ? 2U : name == "C3'" ? 4U : name == "O3'" ? 8U : 0U;
}

}  // namespace

bool is_water(std::string_view residue_name) {
    static const Names kNames = {"HOH",  "WAT",  "H2O",  "DOD",   "SOL",   "TIP", "TIP2", "TIP3",
                                 "TIP4", "TIP5", "TP3",  "TP4",   "TP5",   "T3P", "T4P",  "T5P",
                                 "SPC",  "SPCE", "OPC",  "TIP3P", "TIP4P", "HH0", "OHH",  "OH2",
                                 "OPC3", "HOD",  "T4PE", "TIP5P", "SPC/E", "TPW"};
    return kNames.contains(residue_name);
}

bool is_common_name(std::string_view residue_name) {
    const std::string name(residue_name);
    return is_protein_name(name) || is_nucleic_name(name) || is_water(name);
}

bool is_dummy(const Topology::Atom& atom, ResidueKind kind) {
    const std::string_view name = atom.name;
    return kind == ResidueKind::dummy ||
           (atom.element == "X" &&
            (name.starts_with("LP") || name.starts_with("EP") || name.starts_with("MW")));
}

std::vector<std::uint8_t> are_deoxy(const Topology& topology) {
    std::vector<std::uint8_t> deoxy(topology.residues.size(), 1);
    for (const Topology::Atom& atom : topology.atoms)
        if (atom.name == "O2'" || atom.name == "O2*") deoxy[atom.residue] = 0;
    return deoxy;
}

bool is_carbon_alpha(const Topology::Atom& atom) {
    return atom.name == "CA" && atom.element == "C";
}

bool is_hydrogen(const Topology::Atom& atom) { return atom.element == "H" || atom.element == "D"; }

std::vector<ResidueKind> residue_kinds(const Topology& topology) {
    std::vector<Parts> parts(topology.residues.size());
    for (const Topology::Atom& atom : topology.atoms) {
        Parts& part = parts[atom.residue];
        part.protein |= is_carbon_alpha(atom) ? 1U
                        : atom.name == "N"    ? 2U
                        : atom.name == "C"    ? 4U
                                              : 0U;
        part.nucleic |= nucleic_bit(atom.name);
        ++part.atoms;
        part.is_ion = part.atoms == 1 && can_be_ion(atom.element);
        part.is_dummy = is_dummy_name(topology.residues[atom.residue].name, atom.name);
    }
    std::vector<ResidueKind> kinds;
    kinds.reserve(parts.size());
    for (std::size_t n = 0; n < parts.size(); ++n) {
        const std::string& name = topology.residues[n].name;
        kinds.push_back(is_water(name)                                    ? ResidueKind::water
                        : parts[n].is_dummy                               ? ResidueKind::dummy
                        : parts[n].protein == 7 || is_protein_name(name)  ? ResidueKind::protein
                        : parts[n].nucleic == 15 || is_nucleic_name(name) ? ResidueKind::nucleic
                        : parts[n].is_ion                                 ? ResidueKind::ion
                                                                          : ResidueKind::other);
    }
    return kinds;
}

}  // namespace pleat::selection

namespace pleat {

namespace {

struct Entry {
    std::string_view residue, atom;  // beginnings of names; ??? and AAA stand for any residue
    double mass;
};

constexpr Entry kEntries[] = {
    {"???", "H", 1.0079},     {"???", "B", 10.811},     {"???", "C", 12.0107},
    {"???", "N", 14.0067},    {"???", "O", 15.9994},    {"???", "F", 18.9984},
    {"???", "P", 30.9738},    {"???", "S", 32.065},     {"???", "K", 39.0983},
    {"???", "V", 50.9415},    {"???", "Y", 88.9059},    {"???", "I", 126.9045},
    {"???", "W", 183.84},     {"???", "U", 238.0289},   {"AAA", "H2", 1.008},
    {"AAA", "H3", 1.008},     {"AAA", "CA", 13.019},    {"AAA", "CB", 14.027},
    {"AAA", "CG", 14.027},    {"AAA", "CD", 13.019},    {"AAA", "CE", 13.019},
    {"AAA", "CH", 13.019},    {"AAA", "CZ", 13.019},    {"AAA", "N", 15.0147},
    {"AAA", "OG", 15.9994},   {"AAA", "OH", 15.9994},   {"AAA", "SG", 32.06},
    {"ALA", "CB", 15.035},    {"ARG", "CD", 14.027},    {"ARG", "CZ", 12.011},
    {"ARG", "NH", 16.0227},   {"ASN", "ND", 16.0227},   {"ASN", "CG", 12.011},
    {"ASP", "CG", 12.011},    {"ASPH", "OD2", 17.0074}, {"CYS", "SG", 33.068},
    {"GLN", "CD", 12.011},    {"GLN", "NE", 16.0227},   {"GLU", "CD", 12.011},
    {"GLUH", "OE2", 17.0074}, {"HIS", "CG", 12.011},    {"HISA", "NE", 14.0067},
    {"HISB", "ND", 14.0067},  {"HIS1", "NE", 14.0067},  {"ILE", "CB", 13.019},
    {"ILE", "CD", 15.035},    {"ILE", "CG2", 15.035},   {"LEU", "CD", 15.035},
    {"LEU", "CG", 13.019},    {"LYS", "CD", 14.027},    {"LYS", "CE", 14.027},
    {"LYS", "NZ", 16.0227},   {"LYSH", "NZ", 17.0307},  {"MET", "CE", 15.035},
    {"PHE", "CG", 12.011},    {"PRO", "N", 14.0067},    {"PRO", "CD", 14.027},
    {"SER", "OG", 17.0074},   {"THR", "CB", 13.019},    {"THR", "CG", 15.035},
    {"THR", "OG", 17.0074},   {"TRP", "CD2", 12.011},   {"TRP", "CE2", 12.011},
    {"TRP", "CG", 12.011},    {"TYR", "CG", 12.011},    {"TYR", "CZ", 12.011},
    {"TYR", "OH", 17.0074},   {"VAL", "CB", 13.019},    {"VAL", "CG", 15.035}};

constexpr int kNone = -4, kAny = -3, kAnyAminoAcid = -2;

double mass_of(std::string_view residue, std::string name, double of_element) {
    if (!name.empty() && std::isdigit(static_cast<unsigned char>(name.front())) != 0)
        name = name.substr(1) + name.front();
    int atom_length = kNone, residue_length = kNone;
    double mass = of_element;
    for (const Entry& entry : kEntries) {
        if (!name.starts_with(entry.atom)) continue;
        const auto atom = static_cast<int>(entry.atom.size());
        const int of_residue = residue.starts_with(entry.residue)
                                   ? static_cast<int>(entry.residue.size())
                               : entry.residue == "???" ? kAny
                               : entry.residue == "AAA" ? kAnyAminoAcid
                                                        : kNone;
        if (of_residue == kNone || atom < atom_length || of_residue < residue_length ||
            (atom == atom_length && of_residue == residue_length))
            continue;
        atom_length = atom;
        residue_length = of_residue;
        mass = entry.mass;
    }
    return mass;
}

}  // namespace

std::vector<double> gmx_masses(const Topology& topology) {
    std::vector<double> masses;
    for (const Topology::Atom& atom : topology.atoms)
        masses.push_back(mass_of(topology.residues[atom.residue].name, atom.name, atom.mass));
    return masses;
}

}  // namespace pleat

// Residue kinds: residues by their names, or by the atoms that they have.
#include "pleat/bio/selection/residue_kinds.h"

#include <set>
#include <string_view>

#include "pleat/bio/structure/topology_gemmi.h"

namespace pleat::selection {

namespace {

using Names = std::set<std::string_view>;

/// Names of force fields that gemmi's table lacks, and caps of chains.
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

/// The centre of a virtual residue, and what OPM and Rosetta draw of a membrane.
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
        if (atom.name == "O2'" || atom.name == "O2*")
            deoxy[static_cast<std::size_t>(atom.residue)] = 0;
    return deoxy;
}

bool is_carbon_alpha(const Topology::Atom& atom) {
    return atom.name == "CA" && atom.element == "C";
}

bool is_hydrogen(const Topology::Atom& atom) { return atom.element == "H" || atom.element == "D"; }

std::vector<ResidueKind> residue_kinds(const Topology& topology) {
    std::vector<Parts> parts(topology.residues.size());
    for (const Topology::Atom& atom : topology.atoms) {
        Parts& part = parts[static_cast<std::size_t>(atom.residue)];
        part.protein |= is_carbon_alpha(atom) ? 1U
                        : atom.name == "N"    ? 2U
                        : atom.name == "C"    ? 4U
                                              : 0U;
        part.nucleic |= nucleic_bit(atom.name);
        ++part.atoms;
        part.is_ion = part.atoms == 1 && can_be_ion(atom.element);
        part.is_dummy = is_dummy_name(
            topology.residues[static_cast<std::size_t>(atom.residue)].name, atom.name);
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

// GROMACS masses: the entry whose residue and atom have the longest beginnings of the names.
#include "pleat/bio/selection/gmx_masses.h"

#include <cctype>
#include <string>
#include <string_view>

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
        masses.push_back(mass_of(topology.residues[static_cast<std::size_t>(atom.residue)].name,
                                 atom.name, atom.mass));
    return masses;
}

}  // namespace pleat

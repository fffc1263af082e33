// Equivalent atoms: a table by the names of residues and atoms.
#include "pleat/bio/structure/equivalent_atoms.h"

#include <algorithm>
#include <map>
#include <string_view>

namespace pleat {

namespace {

using Side = std::vector<std::string_view>;

/// Heavy atoms of each side, then hydrogens, which some files lack.
struct Rule {
    std::vector<std::string_view> residues;  // empty: any amino acid
    std::vector<Side> heavy;
    std::vector<Side> hydrogens;
};

const std::vector<Rule>& rules() {
    static const std::vector<Rule> kRules = {
        {{"PHE", "TYR"}, {{"CD1", "CE1"}, {"CD2", "CE2"}}, {{"HD1", "HE1"}, {"HD2", "HE2"}}},
        {{"ASP"}, {{"OD1"}, {"OD2"}}, {}},
        {{"GLU"}, {{"OE1"}, {"OE2"}}, {}},
        {{"ARG"}, {{"NH1"}, {"NH2"}}, {{"HH11", "HH12"}, {"HH21", "HH22"}}},
        {{}, {{"O"}, {"OXT"}}, {}},
        {{}, {{"OT1"}, {"OT2"}}, {}},
        {{"ALA"}, {}, {{"HB1"}, {"HB2"}, {"HB3"}}},
        {{"VAL"}, {}, {{"HG11"}, {"HG12"}, {"HG13"}}},
        {{"VAL", "ILE", "THR"}, {}, {{"HG21"}, {"HG22"}, {"HG23"}}},
        {{"LEU", "ILE"}, {}, {{"HD11"}, {"HD12"}, {"HD13"}}},
        {{"LEU"}, {}, {{"HD21"}, {"HD22"}, {"HD23"}}},
        {{"MET"}, {}, {{"HE1"}, {"HE2"}, {"HE3"}}},
        {{"LYS"}, {}, {{"HZ1"}, {"HZ2"}, {"HZ3"}}},
        {{}, {}, {{"H1"}, {"H2"}, {"H3"}}},
        {{}, {}, {{"HT1"}, {"HT2"}, {"HT3"}}}};
    return kRules;
}

using AtomsByName = std::map<std::string_view, Index>;

/// The atoms of each side; false if the residue lacks one.
bool add_sides(const AtomsByName& atoms, const std::vector<Side>& names,
               std::vector<std::vector<Index>>& sides) {
    for (const Side& side : names)
        for (const std::string_view name : side)
            if (!atoms.contains(name)) return false;
    sides.resize(names.size());
    for (std::size_t n = 0; n < names.size(); ++n)
        for (const std::string_view name : names[n]) sides[n].push_back(atoms.at(name));
    return true;
}

bool has_backbone(const AtomsByName& atoms) {
    return atoms.contains("N") && atoms.contains("CA") && atoms.contains("C");
}

/// Whether any of these atoms is there.
bool has_some(const AtomsByName& atoms, const std::vector<Side>& names) {
    for (const Side& side : names)
        for (const std::string_view name : side)
            if (atoms.contains(name)) return true;
    return false;
}

}  // namespace

std::vector<std::vector<std::vector<Index>>> equivalent_atoms(const Topology& topology) {
    std::vector<AtomsByName> residues(topology.residues.size());
    for (Index atom = 0; atom < topology.atom_count(); ++atom) {
        const Topology::Atom& one = topology.atoms[static_cast<std::size_t>(atom)];
        residues[static_cast<std::size_t>(one.residue)].emplace(one.name, atom);
    }
    std::vector<std::vector<std::vector<Index>>> groups;
    for (std::size_t n = 0; n < residues.size(); ++n) {
        const std::string_view name = topology.residues[n].name;
        for (const Rule& rule : rules()) {
            const bool is_meant = rule.residues.empty()
                                      ? has_backbone(residues[n])
                                      : std::ranges::count(rule.residues, name) > 0;
            if (!is_meant) continue;
            std::vector<std::vector<Index>> sides;
            if (!add_sides(residues[n], rule.heavy, sides)) continue;
            // If only one side had hydrogens, they would be left behind when the sides change
            // places.
            if (has_some(residues[n], rule.hydrogens) &&
                !add_sides(residues[n], rule.hydrogens, sides))
                continue;
            if (!sides.empty()) groups.push_back(std::move(sides));
        }
    }
    return groups;
}

}  // namespace pleat

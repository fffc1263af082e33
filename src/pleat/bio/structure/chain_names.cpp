// Chain names: where polymers begin and end.
#include "pleat/bio/structure/chain_names.h"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "pleat/bio/selection/residue_kinds.h"

namespace pleat {

namespace {

using Names = std::set<std::string_view>;

/// [residue]: whether it is bonded to the one before it.
std::vector<bool> bonded_to_previous(const Topology& topology) {
    std::vector<bool> bonded(topology.residues.size());
    const auto residue_of = [&](Index atom) {
        return topology.atoms[static_cast<std::size_t>(atom)].residue;
    };
    for (const auto& bond : topology.bonds) {
        const Index one = residue_of(bond[0]), other = residue_of(bond[1]);
        if (std::abs(one - other) == 1)
            bonded[static_cast<std::size_t>(std::max(one, other))] = true;
    }
    return bonded;
}

/// [residue]: whether a chain ends with it, by its name or its atoms.
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

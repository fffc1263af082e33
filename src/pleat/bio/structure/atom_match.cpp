// Atom match: atoms by their identity.
#include "pleat/bio/structure/atom_match.h"

#include <fmt/format.h>

#include <map>
#include <string>
#include <tuple>

#include "pleat/bio/structure/sequence_match.h"

namespace pleat {

namespace {

using Key = std::tuple<std::string, int, char, std::string>;

std::vector<Index> find_atoms(const Topology& wanted, const Topology& other) {
    const bool with_chain = wanted.chains().size() > 1 || other.chains().size() > 1;
    const ChainName name = common_chain_name(wanted, other);
    const auto key_of = [name](const Topology& topology, Index atom, bool has_chain) -> Key {
        const Topology::Residue& residue = topology.residue_of(atom);
        return {has_chain ? chain_name(residue, name) : std::string(), residue.number,
                residue.insertion, topology.atoms[static_cast<std::size_t>(atom)].name};
    };
    // Files without names of chains: chains count only if the order does not identify the atoms.
    const bool in_order = with_chain && (name == ChainName::segment ||
                                         (wanted.has_chain_names && other.has_chain_names));
    const Index count = wanted.atom_count();
    std::vector<Index> found(static_cast<std::size_t>(count), -1);
    std::map<Key, Index> by_key;  // made when the atoms are not in the same order
    for (Index atom = 0; atom < count; ++atom) {
        if (atom < other.atom_count() &&
            key_of(wanted, atom, in_order) == key_of(other, atom, in_order)) {
            found[static_cast<std::size_t>(atom)] = atom;
            continue;
        }
        if (by_key.empty())
            for (Index n = 0; n < other.atom_count(); ++n)
                by_key.try_emplace(key_of(other, n, with_chain), n);
        const auto at = by_key.find(key_of(wanted, atom, with_chain));
        if (at != by_key.end()) found[static_cast<std::size_t>(atom)] = at->second;
    }
    return found;
}

}  // namespace

AtomMatch match_atoms(const Topology& wanted, const Topology& other) {
    AtomMatch match{find_atoms(wanted, other)};
    Index last = -1;
    for (Index atom = 0; atom < wanted.atom_count(); ++atom) {
        const Index found = match.atoms[static_cast<std::size_t>(atom)];
        const Index residue = wanted.atoms[static_cast<std::size_t>(atom)].residue;
        if (found < 0 || residue == last) continue;
        last = residue;
        ++match.residues;
        const Topology::Residue &one = other.residue_of(found), &two = wanted.residue_of(atom);
        const bool is_same = are_same_residue(one.name, two.name);
        match.residues_of_name += is_same;
        if (!is_same && match.first_other.empty())
            match.first_other = fmt::format("{} {} in chain '{}' for {}", one.name, one.number,
                                            one.chain, two.name);
    }
    return match;
}

}  // namespace pleat

// Topology: names of atoms in messages, and parts of a topology.
#include "pleat/bio/structure/topology.h"

#include <fmt/format.h>

#include <algorithm>

#include "pleat/core/error.h"

namespace pleat {

const Topology::Residue& Topology::residue_of(Index atom) const {
    return residues[static_cast<std::size_t>(atoms[static_cast<std::size_t>(atom)].residue)];
}

std::string Topology::identity(Index atom) const {
    const Residue& residue = residue_of(atom);
    return fmt::format("{}\t{}\t{}\t{}", residue.chain, residue.number, residue.insertion,
                       atoms[static_cast<std::size_t>(atom)].name);
}

std::string Topology::label(Index atom) const {
    const Residue& residue = residue_of(atom);
    std::string text = fmt::format("{} of {} {}", atoms[static_cast<std::size_t>(atom)].name,
                                   residue.name, residue.number);
    if (residue.insertion != ' ') text += residue.insertion;
    if (!residue.chain.empty()) text += fmt::format(" in chain '{}'", residue.chain);
    return text;
}

std::vector<std::string> Topology::chains() const {
    std::vector<std::string> names;
    for (const Residue& residue : residues) {
        if (std::find(names.begin(), names.end(), residue.chain) == names.end()) {
            names.push_back(residue.chain);
        }
    }
    return names;
}

ChainName common_chain_name(const Topology& a, const Topology& b) {
    const auto has = [](const Topology& topology, std::string Topology::Residue::*name) {
        return std::any_of(topology.residues.begin(), topology.residues.end(),
                           [name](const auto& residue) { return !(residue.*name).empty(); });
    };
    using Residue = Topology::Residue;
    const bool segments = has(a, &Residue::segment) && has(b, &Residue::segment);
    const bool a_shares = has(a, &Residue::shared_chain), b_shares = has(b, &Residue::shared_chain);
    if (segments && (!a.has_chain_names || !b.has_chain_names || a_shares != b_shares))
        return ChainName::segment;
    return a_shares != b_shares && a.has_chain_names && b.has_chain_names ? ChainName::shared_chain
                                                                          : ChainName::chain;
}

const std::string& chain_name(const Topology::Residue& residue, ChainName name) {
    const std::string& other = name == ChainName::segment ? residue.segment : residue.shared_chain;
    return name == ChainName::chain || other.empty() ? residue.chain : other;
}

namespace {

/// The bonds among these atoms, if bonds to others are those of hydrogens only: what is left of a
/// molecule would look like another one.
void keep_bonds(const Topology& topology, const std::vector<Index>& atoms, Topology& part) {
    if (topology.bonds.empty()) return;
    std::vector<Index> place(topology.atoms.size(), -1);
    for (std::size_t n = 0; n < atoms.size(); ++n)
        place[static_cast<std::size_t>(atoms[n])] = static_cast<Index>(n);
    for (std::size_t n = 0; n < topology.bonds.size(); ++n) {
        std::array<Index, 2> bond{};
        for (std::size_t end = 0; end < 2; ++end)
            bond[end] = place[static_cast<std::size_t>(topology.bonds[n][end])];
        if (std::max(bond[0], bond[1]) < 0) continue;
        if (std::min(bond[0], bond[1]) < 0) {
            const Index left = topology.bonds[n][bond[0] < 0 ? 0 : 1];
            const std::string& element = topology.atoms[static_cast<std::size_t>(left)].element;
            if (element == "H" || element == "D") continue;
            part.bonds.clear();
            part.bond_orders.clear();
            part.has_all_bonds = false;
            return;
        }
        part.bonds.push_back(bond);
        if (!topology.bond_orders.empty()) part.bond_orders.push_back(topology.bond_orders[n]);
    }
    part.has_all_bonds = topology.has_all_bonds;
}

}  // namespace

Topology subset(const Topology& topology, const std::vector<Index>& atoms) {
    Topology part;
    part.source = topology.source;
    part.named = topology.named;
    part.has_chain_names = topology.has_chain_names;
    part.cell = topology.cell;
    part.atoms.reserve(atoms.size());
    Index last = -1;
    for (const Index at : atoms) {
        if (at < 0 || at >= topology.atom_count())
            throw InputError(topology.source.string(), 0,
                             fmt::format("expected atoms from 0 to {}, found {}",
                                         topology.atom_count() - 1, at));
        Topology::Atom atom = topology.atoms[static_cast<std::size_t>(at)];
        if (atom.residue != last) part.residues.push_back(topology.residue_of(at));
        last = atom.residue;
        atom.residue = static_cast<Index>(part.residues.size()) - 1;
        part.atoms.push_back(std::move(atom));
        if (!topology.positions.empty())
            part.positions.push_back(topology.positions[static_cast<std::size_t>(at)]);
    }
    keep_bonds(topology, atoms, part);
    return part;
}

Topology unnamed_topology(Index atom_count, const std::filesystem::path& source) {
    Topology topology;
    topology.source = source;
    topology.named = false;
    topology.atoms.resize(static_cast<std::size_t>(atom_count));
    topology.residues.resize(static_cast<std::size_t>(atom_count));
    for (Index i = 0; i < atom_count; ++i) {
        topology.atoms[static_cast<std::size_t>(i)] = {"X", "X", 0, i};
        topology.residues[static_cast<std::size_t>(i)] = {"UNK", static_cast<int>(i + 1), ' ', ""};
    }
    return topology;
}

}  // namespace pleat

// Selection terms: the parts of a selection between `and`, `or`, `not` and parentheses
// (selection.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pleat/bio/structure/topology.h"

namespace pleat::selection {

using Flags = std::vector<std::uint8_t>;  ///< [atom]: 1 if selected

bool has_chain(const Topology& topology, std::string_view name);
bool has_residue(const Topology& topology, std::string_view name);
/// The words between commas in `values`.
std::vector<std::string_view> split_commas(const std::vector<std::string_view>& values);

/// Whether a word selects atoms by itself: `all`, `ca`, `protein`, ...
bool is_keyword(std::string_view word);
/// The atoms of such a word; no value for other words. `CA` is `ca` unless a chain has this name.
std::optional<Flags> keyword_flags(const Topology& topology, std::string_view word);
/// Any other term: residues of a chain (`A:10-50`), or gemmi's syntax. Throws UsageError.
Flags written_flags(const Topology& topology, std::string_view term);
/// The first (or last) `count` polymer residues of every chain.
Flags ends_of_chains(const Topology& topology, Index count, bool from_end);

/// All atoms of the residues that have any of these atoms. A residue is a run of consecutive atoms
/// in the file.
Flags whole_residues(const Topology& topology, const Flags& flags);
/// All atoms of the chains that have any of these atoms.
Flags whole_chains(const Topology& topology, const Flags& flags);
/// All atoms of the molecules that have any of these atoms: those that are bonded, by find_bonds()
/// (periodic/bonds.h).
Flags bonded_molecules(const Topology& topology, const Flags& flags);

/// What to write instead of a word that selects nothing, such as `name CB` for `CB`; empty if
/// nothing is near.
std::string advice_for(const Topology& topology, std::string_view word);
/// The contents of a structure, for a message about a selection that selects nothing.
std::string contents_of(const Topology& topology);

}  // namespace pleat::selection

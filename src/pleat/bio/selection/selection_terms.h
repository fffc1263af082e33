// Selection terms: the parts of a selection between `and`, `or`, `not` and parentheses
// (selection.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pleat/bio/input/byte_source.h"
#include "pleat/bio/structure/topology.h"
#include "pleat/core/view.h"

namespace pleat::selection {

using Flags = std::vector<std::uint8_t>;  ///< [atom]: 1 if selected

bool has_chain(const Topology& topology, std::string_view name);
bool has_residue(const Topology& topology, std::string_view name);
/// The words between commas in `values`.
std::vector<std::string_view> split_commas(const std::vector<std::string_view>& values);

/// Whether a word selects atoms by itself: `all`, `ca`, `protein`, ...
bool is_keyword(std::string_view word);
/// The atoms of a keyword; no value for other words. `CA` means `ca` unless it names a chain.
std::optional<Flags> keyword_flags(const Topology& topology, std::string_view word);
/// Any other term: residues of a chain (`A:10-50`), or gemmi's syntax. Throws UsageError.
Flags residue_or_gemmi_flags(const Topology& topology, std::string_view term);
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
std::string suggestion_for(const Topology& topology, std::string_view word);
/// Describes the contents of a structure for an error about an empty selection.
std::string describe_contents(const Topology& topology);

using Words = std::vector<std::string_view>;  ///< parts of the text that was split

/// Returns FILE.ndx if the word is FILE.ndx or FILE.ndx:GROUP; else an empty text.
std::string index_file(std::string_view word);
/// The index files of all words of a selection.
std::vector<std::string> index_files(std::string_view text);

/// Returns the atoms of a group, from 0, ascending and each once. The group may be omitted if the
/// file has only one. Throws InputError if the file is not an index file, lacks the group, has
/// several groups of this name with different atoms, or if the group is empty or has atoms from
/// `atom_count` on.
std::vector<Index> read_index_group(std::string_view text, Index atom_count);
std::vector<Index> read_index_group(ByteSource& source, std::optional<std::string_view> name,
                                    Index atom_count);

enum class Key {
    name,
    resname,
    chain,
    segment,
    element,
    resid,
    index,
    bfactor,
    plddt,
    first,
    last
};

/// The key with this name or alias (`chain`, `chainID`, `segid`, ...).
std::optional<Key> key_of(std::string_view word);

/// The atoms for which a key has one of the values: names with `*` and `?`, numbers, ranges (`10 to
/// 50`, `10:50`, `10-50`, residues also `10-` to the last and insertion codes as in 60A). At least
/// one value. Throws UsageError for values that the key cannot have; InputError for B factors that
/// the file lacks or that are no pLDDT.
Flags value_flags(const Topology& topology, Key key, const Words& values);
/// Like value_flags(), for a comparison such as `resid >= 10`. Names allow only = and !=.
Flags comparison_flags(const Topology& topology, Key key, std::string_view sign,
                       std::string_view value);

/// Whether `text` matches the pattern; `*` matches any number of characters and `?` one.
bool matches(std::string_view pattern, std::string_view text);

/// Residues of a chain (empty: of any chain) in ranges such as `10-50,60A`. `term` appears in
/// errors.
Flags residue_ranges(const Topology& topology, std::string_view term, std::string_view chain,
                     std::string_view ranges);

/// The atoms of a mask, as cpptraj reads it: residues `:1-3,5` by position from 1 or `:ALA,GLY` by
/// name, chains `::A`, atoms `@1-10` by position from 1, `@CA,CB` by name or `@/C` by element, both
/// as `:1-3@CA`; `*` and `?` in names; `&`, `|`, `!` and parentheses; whole residues or atoms that
/// are near as `:5<:3.0` and `:5<@3.0`, or are not as `:5>:3.0`. A residue's position counts
/// residues as the topology lists them. Throws UsageError for other text.
Flags mask_flags(const Topology& topology, std::string_view mask);

/// 1 for `others` and for atoms at most `distance` angstrom from any of them. Uses positions of the
/// topology's file, without periodic images. Throws InputError if the topology has no positions.
Flags near_flags(const Topology& topology, const Flags& others, double distance);

}  // namespace pleat::selection

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
using Words = std::vector<std::string_view>;

bool has_chain(const Topology& topology, std::string_view name);
/// The words between commas in `values`.
Words split_commas(const Words& values);

/// A keyword without values: `all`, `ca`, `protein`, ...; no value for other words.
std::optional<Flags> keyword_flags(const Topology& topology, std::string_view word);
/// Whether the word is a keyword whose values follow: `name`, `resid`, ...
bool takes_values(std::string_view word);
/// `name CA CB`, `resname ALA`, `chain A`, `resid 10-50 60A`, `first 10`, `last 10`. At least one
/// value. Throws UsageError for values that the keyword cannot have.
Flags value_flags(const Topology& topology, std::string_view word, const Words& values);
/// Any other term: residues of a chain (`A:10-50`), or gemmi's syntax. Throws UsageError.
Flags written_flags(const Topology& topology, std::string_view term);

/// The contents of a structure, for a message about a selection that selects nothing.
std::string contents_of(const Topology& topology);

}  // namespace pleat::selection

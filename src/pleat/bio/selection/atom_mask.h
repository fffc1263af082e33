// Atom masks: AMBER's syntax for selections, as in amber(:1-3@CA).
#pragma once

#include <string_view>

#include "pleat/bio/selection/selection_terms.h"

namespace pleat::selection {

/// The atoms of a mask, as cpptraj reads it: residues `:1-3,5` by position from 1 or `:ALA,GLY` by
/// name, chains `::A`, atoms `@1-10` by position from 1, `@CA,CB` by name or `@/C` by element, both
/// as `:1-3@CA`; `*` and `?` in names; `&`, `|`, `!` and parentheses; whole residues or atoms that
/// are near as `:5<:3.0` and `:5<@3.0`, or are not as `:5>:3.0`. A residue's position counts
/// residues as the topology lists them. Throws UsageError for other text.
Flags mask_flags(const Topology& topology, std::string_view mask);

}  // namespace pleat::selection

// Selection keys: words of a selection that values follow, such as `name CA CB` and `resid 10 to
// 50`.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "pleat/bio/selection/selection_terms.h"
#include "pleat/bio/selection/selection_words.h"

namespace pleat::selection {

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

/// The key that a word is, by any of its names (`chain`, `chainID`, `segid`, ...).
std::optional<Key> key_of(std::string_view word);

/// The atoms for which a key has one of the values: names with `*` and `?`, numbers, ranges (`10 to
/// 50`, `10:50`, `10-50`, residues also `10-` to the last and insertion codes as in 60A). At least
/// one value. Throws UsageError for values that the key cannot have; InputError for B factors that
/// the file lacks or that are no pLDDT.
Flags value_flags(const Topology& topology, Key key, const Words& values);
/// The same for `sign` and one value, such as `resid >= 10`. Of names only = and !=.
Flags comparison_flags(const Topology& topology, Key key, std::string_view sign,
                       std::string_view value);

/// Whether `text` has the pattern's characters, where `*` stands for any and `?` for one.
bool matches(std::string_view pattern, std::string_view text);

/// Residues of a chain, or of any if it is empty, in ranges such as `10-50,60A`. `term` is shown in
/// errors.
Flags residue_ranges(const Topology& topology, std::string_view term, std::string_view chain,
                     std::string_view ranges);

}  // namespace pleat::selection

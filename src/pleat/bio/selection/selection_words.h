// Selection words: the text of a selection as words, operators and parentheses.
#pragma once

#include <string_view>
#include <vector>

#include "pleat/bio/structure/topology.h"

namespace pleat::selection {

using Words = std::vector<std::string_view>;  ///< parts of the text that was split

/// Splits at blanks, parentheses and operators. One word each: `!`, `&&`, `||`, the comparisons
/// `<` `<=` `>` `>=` `=` `==` `!=`, a mask as `amber(:1-3@CA)` with its parentheses, and gemmi's
/// syntax, whose lists keep theirs: `//A/(ALA,GLY)`. A list of residue names, `(ALA,GLY)`, is told
/// from a group by its capitals, and is a group if it names a chain of the structure, or CA, and
/// no residue.
Words words_of(const Topology& topology, std::string_view text);

bool is_and(std::string_view word);
bool is_or(std::string_view word);
bool is_not(std::string_view word);
/// `and`, `or`, `not` and their signs.
bool is_operator(std::string_view word);
/// `<`, `<=`, `>`, `>=`, `=`, `==`, `!=`.
bool is_comparison(std::string_view word);

}  // namespace pleat::selection

// Tree null kinds: the ways in which substitutions are redistributed over a tree.
#pragma once

#include <span>
#include <string_view>

#pragma GCC visibility push(default)

namespace pleat::phylogeny {

/// markov: each column keeps its own rate and composition; branch: each branch keeps its
/// substitutions, which fall on random columns (R-scape's null).
enum class TreeNullKind { markov, branch };
std::span<const std::string_view> names_of(TreeNullKind);

}  // namespace pleat::phylogeny

#pragma GCC visibility pop

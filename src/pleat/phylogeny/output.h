// Output: what a comparison with null alignments holds, each value described once.
#pragma once

#include "pleat/core/run/result_columns.h"
#include "pleat/phylogeny/significance.h"

namespace pleat::phylogeny {

/// The values of pairs, in `file`, in the order of tables; null: there is no comparison.
ResultColumns pair_columns(const TreeResult* tree, const char* file);

/// The substitutions of each column, in `file`, the tree, and what the manifest says.
ResultColumns facts(const TreeResult* tree, const char* file);

}  // namespace pleat::phylogeny

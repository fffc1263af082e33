// Output: what a comparison with null alignments holds, each value described once.
#pragma once

#include "pleat/core/run/result_columns.h"
#include "pleat/core/run/run_directory.h"
#include "pleat/phylogeny/significance.h"

namespace pleat::phylogeny {

/// The values of pairs, in `file`, in the order of tables; null: there is no comparison.
ResultColumns pair_columns(const TreeResult* tree, const char* file);

/// The substitutions of each column, in `file`, the tree, and what the manifest says.
ResultColumns facts(const TreeResult* tree, const char* file);

/// Writes tree.nwk and substitutions.nwk, and with TreeOptions::write_null null.fasta.
void write_tree(RunDirectory& run, const TreeResult& tree);

}  // namespace pleat::phylogeny

// Tree pairs: pairs of columns compared with null alignments that evolve along a tree.
#pragma once

#include <cstdint>

#include "pleat/core/context.h"
#include "pleat/mutual_information/mutual_information.h"

namespace pleat::mutual_information {

/// Throws UsageError for options that do not go together with, or without, NullModel::tree.
void check_tree_options(const Parameters& parameters);

/// Sets the result's pairs, weights, rows and tree. Stages "tree" and "null alignments" of the
/// progress. The same bits for any number of threads; every rank computes all. Throws InputError
/// (the tree; names; fewer than 20 rows; columns without residues; no substitutions), UsageError
/// (more rows than UPGMA takes, a device other than the CPU), Cancelled.
void run_tree_pairs(const Alignment& alignment, const Parameters& parameters,
                    const Context& context, Result& result);

/// CPU seconds, and bytes, of the null alignments.
double tree_null_seconds(Index rows, Index columns, const Parameters& parameters);
std::int64_t tree_null_bytes(Index rows, Index columns, int symbols, const Context& context);

}  // namespace pleat::mutual_information

// Tree pairs: pairs of columns compared with null alignments that evolve along a tree.
#pragma once

#include <cstdint>

#include "pleat/core/context.h"
#include "pleat/mutual_information/mutual_information.h"

namespace pleat::mutual_information {

/// Throws UsageError for options that do not go together with, or without, NullModel::tree.
void check_tree_options(const Parameters& parameters);

/// Sets the result's pairs, weights, rows and tree. Stages "tree" and "null alignments" of the
/// progress. The same bits for any number of threads; a few scores on a GPU differ by 2^-30. Every
/// rank computes all. Throws InputError (the tree; names; fewer than 20 rows; columns without
/// residues; no substitutions), UsageError (more rows than UPGMA takes), DeviceError, Cancelled.
void run_tree_pairs(const Alignment& alignment, const Parameters& parameters,
                    const Context& context, Result& result);

/// CPU seconds, and bytes, of the null alignments; and those of a GPU that counts pairs.
double tree_null_seconds(Index rows, Index columns, bool has_gpu, const Parameters& parameters);
double tree_gpu_seconds(Index rows, Index columns, const Parameters& parameters);
std::int64_t tree_gpu_bytes(Index rows, Index columns, int threads);
std::int64_t tree_null_bytes(Index rows, Index columns, int symbols, const Context& context);

}  // namespace pleat::mutual_information

// Tree contacts: scores of pairs compared with those of fits to null alignments along a tree.
#pragma once

#include <cstdint>

#include "pleat/bio/alignment/alignment.h"
#include "pleat/core/context.h"
#include "pleat/couplings/couplings.h"
#include "pleat/phylogeny/significance.h"

namespace pleat::couplings {

/// Fits TreeOptions::alignments null alignments with the weights of `result`, whose scores
/// after APC (without APC, if Parameters::apc is false) they are compared with. On CPUs as many
/// fits run at a time as threads and memory allow, on a GPU one after another. Throws like run()
/// and phylogeny::make_null().
phylogeny::TreeResult compare_with_tree(const Alignment& alignment, const Result& result,
                                        const Parameters& parameters, const Context& context);

/// Bytes of the null fits that run at a time, and of the tree.
std::int64_t null_fit_bytes(Index sequences, Index columns, int letters,
                            const Parameters& parameters, const Context& context);

}  // namespace pleat::couplings

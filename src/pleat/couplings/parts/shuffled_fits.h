// Shuffled fits: scores between parts when the rows of one part are paired at random.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <vector>

#include "pleat/core/context.h"
#include "pleat/couplings/couplings.h"

namespace pleat::couplings {

/// A copy in which the rows of every part but the first are permuted, each part by its own
/// permutation, the same for the same seed.
Alignment shuffle_pairing(const Alignment& alignment, const std::vector<Index>& part_of_column,
                          std::uint64_t seed);

/// The block-corrected scores of all pairs between parts in fits of `fits` alignments of shuffled
/// pairing, drawn from the context's seed. Weights are computed again for each. `checkpoint` names
/// the file of each fit, counted from 1. Throws like run().
std::vector<double> shuffled_scores(const Alignment& alignment,
                                    const std::vector<Index>& part_of_column,
                                    const Parameters& parameters, Index fits,
                                    const Context& context,
                                    const std::function<std::filesystem::path(Index)>& checkpoint);

}  // namespace pleat::couplings

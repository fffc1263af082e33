// Weights file: weights of sequences that another program has computed.
#pragma once

#include <filesystem>
#include <vector>

#include "pleat/core/view.h"

namespace pleat::couplings {

/// Reads the weights of `count` sequences in their order, from a .npy array of one axis or from
/// text, of which the last word of each line counts; a first line without a number, blank lines and
/// those with # are passed over. Throws InputError for another count and for weights that are
/// negative, not finite, or all zero.
std::vector<double> read_weights(const std::filesystem::path& path, Index count);

}  // namespace pleat::couplings

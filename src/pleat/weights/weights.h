// Weights: how much each sequence of an alignment counts, by the number of its near copies.
#pragma once

#include <span>
#include <vector>

#include "pleat/core/context.h"
#include "pleat/core/view.h"

#pragma GCC visibility push(default)

namespace pleat::weights {

/// The weight of each sequence at an identity t in [0, 1]:
///
///     w_n = 1 / (1 + #{m != n : identical(m, n) > ceil(t L)})
///
/// identical(m, n) is the number of the L columns in which both sequences have the same code; a gap
/// equals a gap. A sequence always counts itself, so every weight is in (0, 1]. All weights are 1
/// if ceil(t L) = L: t = 1, or so few columns that a single difference falls below t. This is the
/// rule of CCMpred (Seemayer et al., Bioinformatics 30:3128, 2014) as its program computes it;
/// min_identical() says how t L is rounded.
///
/// `letters` is [sequence, column], any codes. The weights come from counts that are integers, so
/// they have the same bits on every device, instruction set and number of threads. For the device
/// `cuda` the CPU computes weights unless gpu_pays(). Reports progress as the stage "weights".
/// Throws UsageError (identity), DeviceError (a GPU that is needed is missing or out of memory),
/// Cancelled.
std::vector<double> sequence_weights(View<const std::uint8_t, 2> letters, double identity,
                                     const Context& context);

/// Whether a GPU that has not started yet computes the weights sooner than this number of CPU
/// threads, which is the case if these would take more than 0.3 s. Does not check that there is a
/// GPU.
bool gpu_pays(Index sequences, Index columns, int threads);

/// The sum of the weights: the effective number of sequences.
double effective_count(std::span<const double> weights);

/// The smallest number of identical columns that makes two sequences neighbours:
/// ceil(identity * columns) + 1. The ceiling ignores an excess of 1e-9 over an integer, which only
/// rounding causes: 0.55 * 100 is 55.000000000000007 in double precision and counts as 55.
Index min_identical(double identity, Index columns);

}  // namespace pleat::weights

#pragma GCC visibility pop

// Weights: how much each sequence of an alignment counts, by the number of its near copies.
#pragma once

#include <span>
#include <vector>

#include "pleat/core/context.h"
#include "pleat/core/view.h"

#pragma GCC visibility push(default)

namespace pleat::weights {

/// The weight of each sequence at an identity threshold t in [0, 1]:
///
///     w_n = 1 / (1 + #{m != n : identical(m, n) > ceil(t L)})
///
/// where identical(m, n) is the number of the L columns in which both sequences have the same code,
/// a gap against a gap included. The inequality is strict and a sequence always counts itself, so
/// every weight is in (0, 1] and all are 1 where ceil(t L) = L (t = 1, or an alignment so narrow
/// that a single difference falls below t). This is the rule of CCMpred (Seemayer et al.,
/// Bioinformatics 30:3128, 2014) as its program computes it; `minimum_identical` says how t L is
/// rounded.
///
/// `letters` is [sequence, column], any codes. The counts behind the weights are integers, so the
/// result is the same to the last bit on every device, instruction set and number of threads.
/// Stage "weights" of the progress; cancellation is polled between blocks of pairs.
/// For the device `cuda` the CPU computes what it does in the time that a GPU takes to start: see
/// gpu_pays. Throws UsageError (threshold), DeviceError (a GPU that is needed and absent, or lacks
/// memory), Cancelled.
std::vector<double> sequence_weights(View<const std::uint8_t, 2> letters, double threshold,
                                     const Context& context);

/// Whether weights on a GPU, that is still to be started, are sooner there than from this number of
/// CPU threads: where these would take more than 0.3 s. Says nothing of whether there is a GPU.
bool gpu_pays(Index sequences, Index columns, int threads);

/// The sum of the weights: how many independent sequences an alignment amounts to.
double effective_count(std::span<const double> weights);

/// The smallest number of identical columns that makes two sequences neighbours:
/// ceil(threshold * columns) + 1. The ceiling forgives an excess of 1e-9 over an integer, which
/// only rounding makes: 0.55 * 100 is 55.000000000000007 in double precision and counts as 55.
Index minimum_identical(double threshold, Index columns);

}  // namespace pleat::weights

#pragma GCC visibility pop

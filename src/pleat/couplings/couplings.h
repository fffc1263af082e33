// Couplings: from an alignment to a Markov random field and its contact scores.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pleat/bio/alignment/alignment.h"
#include "pleat/core/array.h"
#include "pleat/core/context.h"
#include "pleat/core/fields.h"

#pragma GCC visibility push(default)

namespace pleat::couplings {

/// Options of the fit. Defaults are CCMpred's objective (Seemayer et al. 2014, as its program
/// computes it), minimised to a certified relative gap of 1e-4.
struct Parameters {
    double lambda_single = 0.01;     ///< weight of sum e_i(a)^2
    double lambda_pair = 0.2;        ///< weight of sum e_ij(a,b)^2, in units of (L - 1)
    double threshold = 0.8;          ///< identity above which two sequences share their weight
    bool weights = true;             ///< false: every sequence counts as one
    bool apc = true;                 ///< false: corrected scores are the raw ones
    std::int64_t iterations = 2000;  ///< most iterations
    double tolerance = 1e-4;         ///< certified relative gap of the objective at which to stop
    std::string compatible;          ///< "" or "ccmpred": that program's optimiser and stop
    std::string
        initial;  ///< couplings.npz of an earlier run to start from; "" = from the column counts
    bool models = true;  ///< false: no Result::model
};

/// The options with names, ranges and help, bound to `parameters`.
std::vector<Field> fields(Parameters& parameters);

/// A Markov random field over L columns of q letters (q counts the gap, the last letter).
struct Model {
    Array<float, 2> fields;  ///< e_i(a): [column, letter], L x q; the gap's entry is 0
    Array<float, 3> pairs;   ///< e_ij(a,b): [pair, letter at i, letter at j], L(L-1)/2 x q x q, i <
                             ///< j in row order

    Index column_count() const { return fields.extent(0); }
    Index letter_count() const { return fields.extent(1); }
};

/// Index of the pair i < j of L columns in row order: (0,1), (0,2), ..., (1,2), ...
constexpr Index pair_index(Index i, Index j, Index column_count) {
    return i * (2 * column_count - i - 1) / 2 + (j - i - 1);
}

/// Why a fit ended.
/// settled: by the stop of the compatible program.
enum class Ending { converged, settled, iteration_limit, stalled };

/// What a fit gives back.
struct Result {
    Model model;  ///< empty without Parameters::models: then it never leaves the device
    Array<double, 2>
        raw;  ///< Frobenius norms of the centred couplings, L x L, symmetric, diagonal 0
    Array<double, 2>
        corrected;  ///< raw after APC and shift to a least value of 0 (raw itself without APC)
    std::vector<double> weights;     ///< one a sequence
    double effective_sequences = 0;  ///< sum of weights
    double objective = 0;            ///< f at the end
    double relative_gap = 0;         ///< certified bound of (f - f*) / f
    double relative_gradient = 0;    ///< |g| / max(1, |x|)
    std::int64_t iterations = 0;
    std::int64_t evaluations = 0;
    Ending ending = Ending::converged;
};

/// Fits the field to the alignment and scores every pair of columns.
/// Throws UsageError (parameters), InputError (fewer than 2 columns or sequences), DeviceError
/// (memory, device), Cancelled.
Result run(const Alignment& alignment, const Parameters& parameters, const Context& context);

/// The two halves of run(): first one weight a sequence, then the fit with them. The weights need
/// no GPU, so that one may start meanwhile, unless weights_want_gpu().
std::vector<double> sequence_weights(const Alignment& alignment, const Parameters& parameters,
                                     const Context& context);
Result run(const Alignment& alignment, const Parameters& parameters, std::vector<double> weights,
           const Context& context);

/// Whether the weights should wait until a GPU is settled on, as it computes them sooner than the
/// context's threads do while it starts.
bool weights_want_gpu(const Alignment& alignment, const Parameters& parameters,
                      const Context& context);

/// Bytes of memory that a fit needs on the given device, beyond the alignment and models
/// (Parameters::models, Parameters::initial) on the host. For `cuda` they are the GPU's.
std::int64_t memory_needed(Index sequences, Index columns, int letters, const Device& device,
                           int threads);

}  // namespace pleat::couplings

#pragma GCC visibility pop

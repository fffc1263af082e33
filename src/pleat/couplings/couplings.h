// Couplings: fits a Markov random field to an alignment and scores its pairs of columns as
// contacts.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pleat/bio/alignment/alignment.h"
#include "pleat/core/array.h"
#include "pleat/core/context.h"
#include "pleat/core/fields.h"
#include "pleat/core/name_of.h"
#include "pleat/phylogeny/significance.h"

#pragma GCC visibility push(default)

namespace pleat::couplings {

/// Another program whose optimiser and stopping rule are reproduced for comparison.
enum class CompatibleProgram { none, ccmpred };
std::span<const std::string_view> names_of(CompatibleProgram);

/// The letters over which the norm of a pair's couplings is taken; see frobenius_scores().
/// automatic: residues for proteins, all for nucleic acids.
enum class NormLetters { automatic, residues, all };
std::span<const std::string_view> names_of(NormLetters);

/// What the scores are compared with: nothing, or fits to alignments that evolve along a tree of
/// the sequences, without covariation.
enum class ScoreNull { none, tree };
std::span<const std::string_view> names_of(ScoreNull);

/// Which model files a run writes: couplings.npz, which pleat can read, and model.plmc.
enum class ModelFiles { none, npz, plmc, both };
std::span<const std::string_view> names_of(ModelFiles);
/// Whether these are among them.
constexpr bool has_npz(ModelFiles files) {
    return files == ModelFiles::npz || files == ModelFiles::both;
}
constexpr bool has_plmc(ModelFiles files) {
    return files == ModelFiles::plmc || files == ModelFiles::both;
}
/// Size in bytes of the model files for this many columns and letters (including the gap).
std::int64_t bytes_of(ModelFiles files, Index columns, Index letters);

/// Options of the fit. The default objective is that of CCMpred's program (Seemayer et al. 2014),
/// minimised to a certified relative gap of 1e-4.
struct Parameters {
    double lambda_single = 0.01;  ///< factor of sum e_i(a)^2
    double lambda_pair = 0.2;     ///< factor of sum e_ij(a,b)^2, in units of (L - 1)
    /// Sequences with a higher identity share their weight; not set: 0.8, for nucleic acids 0.9.
    std::optional<double> identity;
    bool sequence_weights = true;  ///< false: every sequence has weight 1
    std::string weights;           ///< file of weights instead, see read_weights(); empty: none
    NormLetters norm = NormLetters::automatic;
    bool apc = true;                     ///< false: corrected scores are the raw ones
    std::int64_t max_iterations = 2000;  ///< of the minimiser
    double tolerance = 1e-4;  ///< the fit stops at this certified relative gap of the objective
    CompatibleProgram compatible = CompatibleProgram::none;
    std::string initial;  ///< couplings.npz of an earlier run to start from; empty: column counts
    bool models = true;   ///< false: Result::model stays empty
    ScoreNull null = ScoreNull::none;
    phylogeny::TreeOptions tree = {.file = {}, .alignments = 100};  ///< of ScoreNull::tree
};

/// The options with names, ranges and help, bound to `parameters`.
std::vector<Field> fields(Parameters& parameters);
/// The options of the null model.
std::vector<Field> null_fields(Parameters& parameters);

/// Fills in the default `identity` and `norm` of an alphabet. With `compatible`, nucleic acids get
/// the defaults of proteins. run() calls this itself.
Parameters resolved(Parameters parameters, const Alphabet& alphabet);

/// A Potts model over L columns of q letters (including the gap, the last letter).
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

/// Why a fit stopped. compatible_rule: by the stop rule of Parameters::compatible; stalled: no step
/// lowers the objective any more.
enum class StopReason { converged, compatible_rule, iteration_limit, stalled };
std::span<const std::string_view> names_of(StopReason);

/// What a fit returns.
struct Result {
    Model model;                  ///< empty without Parameters::models: then it stays on the device
    Array<double, 2> raw;         ///< Frobenius norms of the centred couplings, L x L, symmetric,
                                  ///< diagonal 0
    Array<double, 2> corrected;   ///< raw after APC, shifted to a minimum of 0 (raw without APC)
    std::vector<double> weights;  ///< one per sequence
    double effective_sequences = 0;  ///< sum of weights
    double objective = 0;            ///< f at the end
    double relative_gap = 0;         ///< certified upper bound of (f - min f) / f
    double relative_gradient = 0;    ///< |g| / max(1, |x|)
    std::int64_t iterations = 0;
    std::int64_t evaluations = 0;
    StopReason stop_reason = StopReason::converged;
};

/// Fits the Potts model to the alignment and scores every pair of columns. Throws UsageError
/// (parameters), InputError (fewer than 2 columns or sequences), DeviceError (memory, device),
/// Cancelled.
Result run(const Alignment& alignment, const Parameters& parameters, const Context& context);

/// The two steps of run(): sequence weights, then the fit with these weights. Unless
/// weights_want_gpu(), the weights need no GPU, so a GPU may start meanwhile. The fit throws
/// UsageError unless there is one weight per sequence.
std::vector<double> sequence_weights(const Alignment& alignment, const Parameters& parameters,
                                     const Context& context);
Result run(const Alignment& alignment, const Parameters& parameters, std::vector<double> weights,
           const Context& context);

/// Whether to compute the weights only after a GPU was chosen, because it is faster than the
/// context's threads even including its start.
bool weights_want_gpu(const Alignment& alignment, const Parameters& parameters,
                      const Context& context);

/// Minimum bytes of GPU memory for a fit of the alignment, with the columns in the smallest blocks.
std::int64_t gpu_memory_needed(const Alignment& alignment);

}  // namespace pleat::couplings

#pragma GCC visibility pop

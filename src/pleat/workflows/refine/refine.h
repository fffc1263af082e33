// Refine: conformations of rigid domains on flexible linkers, by Markov chain Monte Carlo.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pleat/bio/ensemble/ensemble.h"
#include "pleat/core/array.h"
#include "pleat/core/context.h"
#include "pleat/core/fields.h"
#include "pleat/core/notes.h"

#pragma GCC visibility push(default)

namespace pleat {
struct Profile;
namespace saxs {
struct Parameters;
}
}  // namespace pleat

namespace pleat::refine {

/// The distribution from which frames are drawn.
enum class Mode {
    automatic,  ///< average with a curve, else pool
    pool,       ///< prior without overlaps
    fit,        ///< the same times the likelihood of a curve: each frame alone explains it
    average     ///< the same for replicas, whose mean profile explains the curve
};
std::span<const std::string_view> names_of(Mode);

/// The options; fields() describes each. README.md of this folder gives the formulas.
struct Parameters {
    std::string linkers;  ///< "A:289-301,A:320-330"; or `rigid`
    std::string rigid;    ///< the rigid domains instead; all else of their chains is linkers
    std::string pae;      ///< file of predicted aligned errors (PAE), for linkers and groups
    /// FASTA with the sequences of chains; residues that the structure lacks are built as linkers.
    std::string sequence;
    std::string group;  ///< "A:1-200,B:1-180": rigid domains that move as one; "/" between groups
    Mode mode = Mode::automatic;
    std::optional<std::int64_t> frames;  ///< not set: 10000; fit: 1000
    std::optional<std::int64_t> chains;  ///< not set: 16; fit and average: 4
    /// Moves between two frames of a conformation; not set: 100; in modes fit and average 25.
    std::optional<std::int64_t> moves;
    /// Number of initial frames of each chain that are discarded; not set: half of the kept frames,
    /// at least 20.
    std::optional<std::int64_t> burn_in;
    /// Number of powers of the likelihood, from 0 to 1; not set: 8, in mode average 1 (only power
    /// 1).
    std::optional<std::int64_t> rungs;
    std::int64_t replicas = 16;  ///< average: conformations of a chain
    double model_error = 0.02;   ///< fit and average: relative error of profiles
};
std::vector<Field> fields(Parameters& parameters);
/// Throws UsageError for options that exclude each other.
void check_options(const Parameters& parameters, bool has_curve);

/// The curve that modes `fit` and `average` compare frames with.
struct CurveInput {
    const Profile* curve = nullptr;  ///< not null in these modes
    double q_max = 0.5;              ///< 1/angstrom; the curve is cut there
    double c2_min = -2, c2_max = 4;  ///< of the hydration layer; all between are equally probable
};
/// Makes the curve input with the bounds in the profile `parameters`.
CurveInput curve_input(const saxs::Parameters& parameters, const Profile* curve);

/// The options of frames' profiles: those of saxs, but frames have no hydrogens and no water.
std::vector<Field> profile_fields(saxs::Parameters& parameters);

/// Convergence of the chains, by Vehtari et al. 2021.
struct Convergence {
    double r_hat = 0;           ///< rank-normalised split R-hat
    double effective_size = 0;  ///< bulk ESS
    bool is_reached() const { return r_hat <= kMaxRHat && effective_size >= kMinSize; }

    static constexpr double kMaxRHat = 1.01, kMinSize = 400;
    static constexpr Index kMinDraws = 4;  ///< of a chain, to be judged
};

/// A quantity of each frame whose convergence is required.
struct Quantity {
    std::string name;            ///< "rg", "distance_1_2"
    std::string meaning;         ///< one line
    std::vector<double> values;  ///< [frame], angstrom; ln L
    Convergence convergence;
};

/// Moves of one kind in all chains, without burn-in.
struct MoveShare {
    std::string name;  ///< "pivot"
    std::int64_t proposed = 0, accepted = 0;
};

/// Test of whether the residuals of the frames are noise. Medians over the frames of two
/// probabilities: of a sum of squares at least as large (model error included), and of as few runs
/// of residuals of one sign.
struct MisfitTest {
    double squares = 1, runs = 1;
    bool is_passed() const { return squares >= kMinProbability && runs >= kMinProbability; }

    static constexpr double kMinProbability = 1e-3;
};

struct Result {
    Ensemble frames;                 ///< the largest domain rests
    Mode mode = Mode::pool;          ///< not automatic
    std::vector<Index> chain, step;  ///< [frame]: Monte Carlo chain, and its moves so far
    std::vector<Index> replica;      ///< [frame], mode average; empty otherwise
    /// Rg, the distances between domains, and with a curve ln L. In mode average convergence is
    /// required of means over replicas, and of ln L of the mean profile.
    std::vector<Quantity> quantities;
    std::vector<double> diameter;      ///< [frame]: largest distance between CA atoms, angstrom
    std::vector<double> log_prior;     ///< [frame], up to a constant
    std::vector<double> clash_energy;  ///< [frame], kT
    /// [frame], modes fit and average: chi^2 per point of the profile by which the chain moved (the
    /// mean of its replicas), at the best c2, and that c2; empty otherwise.
    std::vector<double> chi2, c2;
    std::optional<MisfitTest> misfit;  ///< modes fit and average
    std::vector<double> betas;         ///< [rung]: powers of the likelihood
    std::vector<double> swaps;         ///< [rung - 1]: mean swap probability with the one below
    std::int64_t arrivals = 0;         ///< conformations that came from power 0 to power 1
    std::vector<Index> close_atoms;    ///< [frame]: pairs of heavy atoms closer than 2.5 angstrom
    std::vector<std::string> domains;  ///< "A:1-288"; numbered from 1 in names of quantities
    std::vector<std::string> linkers;
    std::vector<std::string> built;  ///< segments that --sequence added: "A:285-301"
    Index built_residues = 0;        ///< in them
    std::string found_options;       ///< `--linkers ... --group ...` that --pae found; else empty
    std::vector<MoveShare> moves;
    Index hinges = 0;  ///< angles that change
    Notes notes;

    bool is_converged() const;
};

/// Samples conformations by `parameters.mode`. The structure is the first frame; water and
/// hydrogens are left out. Chains run on the threads and ranks of `context`; the same seed gives
/// the same bits for any number of both. Each rank returns the result, only the first one with
/// coordinates of frames. A stopped run resumes from context.checkpoint. Throws UsageError
/// (options), InputError (linkers that the structure does not have or cannot turn, a curve of too
/// few points), Cancelled.
Result run(const Ensemble& structure, const CurveInput& curve, const Parameters& parameters,
           const Context& context);

}  // namespace pleat::refine

#pragma GCC visibility pop

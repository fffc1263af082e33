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
    automatic,  ///< pool
    pool,       ///< prior without overlaps
    fit         ///< the same times the likelihood of a curve: each frame alone explains it
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
    std::string symmetry;  ///< "c2": chains that are copies about one axis; see symmetry_order()
    Mode mode = Mode::automatic;
    std::optional<std::int64_t> frames;  ///< not set: 10000; fit: 1000
    /// Chains of a pool, 16; fit: groups of starts, whose descendants are compared, 64.
    std::optional<std::int64_t> chains;
    /// Moves between two frames of a chain; not set: 100; fit: of each conformation at each power
    /// of the likelihood; not set: 25.
    std::optional<std::int64_t> moves;
    /// Number of initial frames of each chain that are discarded; not set: half of the kept frames,
    /// at least 20.
    std::optional<std::int64_t> burn_in;
    /// fit: how often a run that has not converged is made again, with twice the moves.
    std::int64_t doublings = 2;
    double model_error = 0.02;  ///< fit: relative error of profiles
};
std::vector<Field> fields(Parameters& parameters);
/// Throws UsageError for options that exclude each other.
void check_options(const Parameters& parameters, bool has_curve);

/// The curve that mode `fit` compares frames with.
struct CurveInput {
    const Profile* curve = nullptr;  ///< not null in mode fit
    double q_max = 0.5;              ///< 1/angstrom; the curve is cut there
    double c2_min = -2, c2_max = 4;  ///< of the hydration layer; all between are equally probable
};
/// Makes the curve input with the bounds in the profile `parameters`.
CurveInput curve_input(const saxs::Parameters& parameters, const Profile* curve);

/// The options of frames' profiles: those of saxs, but frames have no hydrogens and no water.
std::vector<Field> profile_fields(saxs::Parameters& parameters);

/// Convergence of the chains, by Vehtari et al. 2021, or of the lineages of mode fit.
struct Convergence {
    double r_hat = 0;  ///< rank-normalised split R-hat; fit: of four groups of lineages
    /// Bulk ESS; fit: variance of the frames / variance of their mean by lineages.
    double effective_size = 0;
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

/// Moves of one kind in all chains, without burn-in and pilot.
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

/// How much the prior explains the curve, and how well mode fit knows it.
struct ModelEvidence {
    double log_evidence = 0, error = 0;  ///< ln of the mean likelihood; its standard error
    Index ancestors = 0;                 ///< draws of the prior from which all frames descend
    std::vector<double> powers;          ///< of the likelihood, through which they went
    bool is_reached() const { return error <= kMaxError; }

    static constexpr double kMaxError = 0.1;
};

struct Result {
    Ensemble frames;                 ///< the largest domain rests
    Mode mode = Mode::pool;          ///< not automatic
    std::vector<Index> chain, step;  ///< [frame]: Monte Carlo chain or lineage, its moves so far
    /// Rg, the distances between domains, and in mode fit ln L.
    std::vector<Quantity> quantities;
    std::vector<double> diameter;      ///< [frame]: largest distance between CA atoms, angstrom
    std::vector<double> log_prior;     ///< [frame], up to a constant
    std::vector<double> clash_energy;  ///< [frame], kT
    /// [frame], mode fit: chi^2 per point of the profile by which the conformation moved, at the
    /// best c2, and that c2; empty otherwise.
    std::vector<double> chi2, c2;
    std::optional<MisfitTest> misfit;       ///< mode fit
    std::optional<ModelEvidence> evidence;  ///< mode fit
    std::vector<Index> close_atoms;    ///< [frame]: pairs of heavy atoms closer than 2.5 angstrom
    std::vector<std::string> domains;  ///< "A:1-288"; numbered from 1 in names of quantities
    std::vector<std::string> linkers;
    std::vector<std::string> built;  ///< segments that --sequence added: "A:285-301"
    Index built_residues = 0;        ///< in them
    std::string found_options;       ///< `--linkers ... --group ...` that --pae found; else empty
    std::vector<MoveShare> moves;
    Index hinges = 0;      ///< angles that change independently
    std::string symmetry;  ///< "c2"; empty if there is none
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

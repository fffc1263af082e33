// Refine: conformations of rigid domains on flexible linkers, by Markov chain Monte Carlo.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pleat/bio/ensemble/ensemble.h"
#include "pleat/core/array.h"
#include "pleat/core/context.h"
#include "pleat/core/fields.h"

#pragma GCC visibility push(default)

namespace pleat::refine {

/// The options; fields() describes each. README.md of this folder gives the formulas.
struct Parameters {
    std::string linkers;  ///< "A:289-301,A:320-330"; or `rigid`
    std::string rigid;    ///< the rigid domains instead; all else of their chains is linkers
    std::string group;    ///< "A:1-200,B:1-180": rigid domains that move as one; "/" between groups
    std::int64_t frames = 10000;
    std::int64_t chains = 16;
    std::int64_t moves = 100;  ///< between two frames of a chain
    /// Frames of each chain that are left out at the start; not set: half of those that are kept,
    /// at least 20.
    std::optional<std::int64_t> burn_in;
};
std::vector<Field> fields(Parameters& parameters);

/// How far the chains agree, by Vehtari et al. 2021.
struct Convergence {
    double r_hat = 0;           ///< rank-normalised split R-hat
    double effective_size = 0;  ///< bulk ESS
    bool is_reached() const { return r_hat <= kMaxRHat && effective_size >= kMinSize; }

    static constexpr double kMaxRHat = 1.01, kMinSize = 400;
};

/// A number of each frame whose convergence counts.
struct Quantity {
    std::string name;            ///< "rg", "distance_1_2"
    std::string meaning;         ///< one line
    std::vector<double> values;  ///< [frame], angstrom
    Convergence convergence;
};

/// Moves of one kind in all chains, burn-in left out.
struct MoveShare {
    std::string name;  ///< "pivot"
    std::int64_t proposed = 0, accepted = 0;
};

struct Result {
    Ensemble frames;                   ///< the largest domain rests
    std::vector<Index> chain, step;    ///< [frame]: Monte Carlo chain, and its moves so far
    std::vector<Quantity> quantities;  ///< Rg, then the distances between domains
    std::vector<double> diameter;      ///< [frame]: largest distance between CA atoms, angstrom
    std::vector<double> log_prior;     ///< [frame], up to a constant
    std::vector<double> clash_energy;  ///< [frame], kT
    std::vector<Index> close_atoms;    ///< [frame]: pairs of heavy atoms closer than 2.5 angstrom
    std::vector<std::string> domains;  ///< "A:1-288"; numbered from 1 in names of quantities
    std::vector<std::string> linkers;
    std::vector<MoveShare> moves;
    Index hinges = 0;  ///< angles that change
    std::vector<std::string> notes;

    bool is_converged() const;
};

/// Samples `parameters.frames` conformations from prior and overlaps alone. The structure is the
/// first frame; water and hydrogens are left out. Chains run on the threads of `context`; the same
/// seed gives the same bits for any number of threads. A stopped run resumes from
/// context.checkpoint. Throws UsageError (options), InputError (linkers that the structure does not
/// have or cannot turn), Cancelled.
Result run(const Ensemble& structure, const Parameters& parameters, const Context& context);

}  // namespace pleat::refine

#pragma GCC visibility pop

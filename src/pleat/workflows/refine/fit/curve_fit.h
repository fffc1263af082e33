// Curve fit: what all targets of mode `fit` share: scatterers, the curve and its likelihood.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pleat/core/notes.h"
#include "pleat/workflows/refine/fit/curve_likelihood.h"
#include "pleat/workflows/refine/fit/profile_model.h"
#include "pleat/workflows/refine/moves/moves.h"
#include "pleat/workflows/refine/refine.h"
#include "pleat/workflows/refine/sampling/pool.h"

namespace pleat::refine {

/// Points of the grid from 0 to `q_max` on which moves have profiles.
Index grid_points(double q_max, double extent);

/// Made once per run. `chain` must outlive it and its targets.
class CurveFitSetup {
public:
    /// `few_moves`: as make_profile_model() has it. Throws InputError for a curve with fewer points
    /// up to q_max than parameters are fitted.
    CurveFitSetup(const ChainModel& chain, const Moves& moves, const CurveInput& input,
                  const Parameters& parameters, const Context& context, bool few_moves = false);

    /// The targets [conformation, replica] of conformations that are computed together.
    TargetBatch make_targets(Index conformations, Index replicas) const;

    Notes notes;

private:
    const ChainModel* chain_;
    Device device_;
    ProfileModel model_;
    std::optional<CurveLikelihood> likelihood_;
};

}  // namespace pleat::refine

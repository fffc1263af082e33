// Curve fit: the open conformation for the hydration layer, the grid of q, and the likelihood.
#include "pleat/workflows/refine/fit/curve_fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "pleat/bio/scattering/profile.h"
#include "pleat/core/error.h"
#include "pleat/core/notes.h"
#include "pleat/saxs/fit/fit.h"
#include "pleat/saxs/model/scatterer_positions.h"
#include "pleat/workflows/refine/fit/curve_target.h"

namespace pleat::refine {

namespace {

constexpr Index kOpenDraws = 20;
constexpr int kContrasts = 9;  // values of c2
constexpr Index kMinPoints = 10;
constexpr Index kMinGrid = 26, kMaxGrid = 401;

/// The diagonal of the box of a conformation, angstrom.
double extent_of(const Conformation& conformation) {
    Array<float, 2> frame(Index{3}, conformation.model().atom_count());
    conformation.write(frame.view(), 0);
    return saxs::box_diagonal(frame.view());
}

/// The widest of some conformations drawn from the prior; its domains cover little of one another's
/// surface.
Conformation open_conformation(const ChainModel& chain, const Moves& moves, std::uint64_t seed) {
    Conformation open(chain), drawn(chain);
    double widest = 0;
    for (Index draw = 0; draw < kOpenDraws; ++draw) {
        drawn.set_angles(find_start(chain, moves, {}, seed, -1 - draw));
        if (const double extent = extent_of(drawn); extent > widest) {
            widest = extent;
            open = drawn;
        }
    }
    return open;
}

}  // namespace

Index grid_points(double q_max, double extent) {
    return std::clamp<Index>(static_cast<Index>(std::ceil(2 * q_max * extent)) + 1, kMinGrid,
                             kMaxGrid);
}

CurveFitSetup::CurveFitSetup(const ChainModel& chain, const Moves& moves, const CurveInput& input,
                             const Parameters& parameters, const Context& context, bool few_moves)
    : chain_(&chain) {
    if (context.device.kind == Device::Kind::cuda) device_ = context.device;
    const Profile curve = saxs::cut_curve(*input.curve, input.q_max);
    if (static_cast<Index>(curve.size()) < kMinPoints)
        throw InputError(curve.source, 0,
                         fmt::format("expected at least {} points up to q = {}, found {}",
                                     kMinPoints, input.q_max, curve.size()));
    const Conformation open = open_conformation(chain, moves, context.seed);
    const double extent = extent_of(open), last = curve.q.back();
    const Index points = grid_points(last, extent);
    std::vector<double> q;
    for (Index n = 0; n < points; ++n)
        q.push_back(last * static_cast<double>(n) / static_cast<double>(points - 1));
    model_ = make_profile_model(chain, open, q, context, few_moves);
    LikelihoodOptions options{
        .model_error = parameters.model_error, .correlation = std::numbers::pi / extent, .c2 = {}};
    const int contrasts = input.c2_max > input.c2_min ? kContrasts : 1;
    for (int n = 0; n < contrasts; ++n)
        options.c2.push_back(input.c2_min +
                             (input.c2_max - input.c2_min) * n / std::max(contrasts - 1, 1));
    likelihood_.emplace(curve, q, options);
    notes.push_back({NoteKind::assumption,
                     fmt::format("chains move by profiles of {} beads and {} sites of the "
                                 "hydration layer at {} values of "
                                 "q, compared with {} points up to q = {:.4g}",
                                 model_.beads, model_.sites, points, curve.size(), last)});
}

TargetBatch CurveFitSetup::make_targets(Index conformations, Index replicas) const {
    const auto profiles = std::make_shared<ProfileBatch>(model_, conformations * replicas, device_);
    TargetBatch targets;
    for (Index n = 0; n < conformations; ++n) {
        const auto mean = std::make_shared<ReplicaMean>(*likelihood_, replicas);
        for (Index replica = 0; replica < replicas; ++replica)
            targets.push_back(std::make_unique<CurveTarget>(*chain_, profiles,
                                                            n * replicas + replica, mean, replica));
    }
    return targets;
}

}  // namespace pleat::refine

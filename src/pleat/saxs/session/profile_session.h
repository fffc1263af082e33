// Session: profiles of Monte Carlo chains, of which a move recomputes what it changes.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "pleat/core/array.h"
#include "pleat/core/context.h"
#include "pleat/saxs/debye/debye.h"

#pragma GCC visibility push(default)

namespace pleat::saxs {

struct ProfileSessionOptions {
    Precision precision = Precision::float32;
    /// Accepted moves of a chain after which all its sums are found anew; 0: never by itself.
    Index refresh = 1000;
};

/// New positions of some scatterers of one chain.
struct Move {
    Index chain = 0;
    std::span<const Index> scatterers;  ///< each once
    View<const float, 2> xyz;           ///< [axis, place in `scatterers`], angstrom
};

/// Chains of the same scatterers, each with positions of its own. Scatterers belong to bodies, best
/// those that move as one: the sums over each two bodies are kept, and a move recomputes those of
/// bodies that it changed. A body moved as a whole, without a change of its shape, keeps its own
/// sum, and bodies moved alike keep those between them. Not for several threads at once.
class ProfileSession {
public:
    /// `xyz` [chain, axis, scatterer]; `scales` [chain, channel with scales, scatterer], which
    /// stay; `bodies` [scatterer] from 0, or empty for a division into consecutive parts. The model
    /// is copied; the context's progress is asked for chain by chain here and never later.
    /// InputError, DeviceError, Cancelled.
    ProfileSession(Model model, View<const float, 3> xyz, View<const float, 3> scales,
            std::span<const std::int32_t> bodies, const ProfileSessionOptions& options,
            const Context& context);
    ProfileSession(ProfileSession&&) noexcept;
    ~ProfileSession();

    Index chain_count() const;
    /// The accepted positions [axis, scatterer] of a chain, and their partial profiles [channel
    /// pair, q]. InputError for a chain that is not there, here and below.
    Array<float, 2> positions(Index chain) const;
    View<const double, 2> profile(Index chain) const;

    /// Partial profiles [move, channel pair, q] as they would be after each move, all in one batch;
    /// one move a chain at most. Valid until the next call. A chain's earlier proposal that was not
    /// accepted is forgotten; after an error none of these chains has one. InputError, DeviceError.
    View<const double, 3> propose(std::span<const Move> moves);
    /// Makes a chain's proposal its state; refreshes it when that is due. UsageError without one.
    void accept(Index chain);
    /// Forgets it: nothing of the state was touched.
    void reject(Index chain);

    /// Finds all sums of a chain anew and returns by how much, of itself, the sum of its partial
    /// profiles had drifted at worst.
    double refresh(Index chain);
    /// The largest drift that a refresh of any chain found.
    double drift() const;

    /// Gradient [axis, scatterer] of sum weight(pair, q) I_pair(q) at a chain's accepted positions.
    /// `weight` [channel pair, q]. InputError; DeviceError on a GPU, which has none.
    void gradient(Index chain, View<const double, 2> weight, View<double, 2> gradient);

    /// Pairs of bodies that the last propose() recomputed: for those who choose bodies.
    Index recomputed_pairs() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Weights [channel pair, q] for Session::gradient() that make it the gradient of
///     chi^2 = sum_q ((intensity - scale I(q)) / sigma)^2
/// at this scale, with I(q) = sum_{a <= b} w_a w_b I_ab of the partial profiles. At the best scale
/// this is also the gradient of the least chi^2.
Array<double, 2> chi_square_weights(View<const double, 2> partial,
                                    std::span<const double> channel_weights,
                                    std::span<const double> intensity,
                                    std::span<const double> sigma, double scale);

/// The scale that fits best, and chi^2 there.
struct ScaleFit {
    double scale = 0, chi_square = 0;
};
ScaleFit fit_scale(std::span<const double> profile, std::span<const double> intensity,
                   std::span<const double> sigma);

}  // namespace pleat::saxs

#pragma GCC visibility pop

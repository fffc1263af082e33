// Profile session: profiles of Monte Carlo chains, of which a move recomputes only what it changes.
#pragma once

#include <memory>
#include <span>

#include "pleat/core/array.h"
#include "pleat/core/context.h"
#include "pleat/saxs/debye/debye.h"

#pragma GCC visibility push(default)

namespace pleat::saxs {

class SharedGpu;

struct ProfileSessionOptions {
    Precision precision = Precision::automatic;
    /// Number of accepted moves after which all sums of a chain are recomputed; 0: only by
    /// refresh().
    Index refresh = 1000;
    /// A GPU that computes the proposals of several sessions together, always in float32; null:
    /// only the context's device is used.
    std::shared_ptr<SharedGpu> gpu = nullptr;
};

/// New positions of some scatterers of one chain.
struct Move {
    Index chain = 0;
    std::span<const Index> scatterers;  ///< each once
    View<const float, 2> xyz;           ///< [axis, index into `scatterers`], angstrom
};

/// Monte Carlo chains of the same scatterers, each with its own positions. Scatterers belong to
/// rigid bodies, ideally the groups that move as one: the sums over each pair of bodies are kept,
/// and a move recomputes the sums of pairs that it changes. A body that moved as a whole, without a
/// change of its shape, keeps its own sum, and bodies that moved alike keep the sums between them;
/// but not in float64, because the rounding of moved positions to float32 would matter there. Not
/// thread-safe.
class ProfileSession {
public:
    /// `xyz` [chain, axis, scatterer]; `scales` [chain, channel with scales, scatterer], which
    /// moves do not change; `bodies` [scatterer] from 0, or empty for a division into consecutive
    /// segments. The model is copied; the context's progress is checked after each chain here, and
    /// not used later. Throws UsageError (shapes), InputError (values), DeviceError, Cancelled.
    ProfileSession(Model model, View<const float, 3> xyz, View<const float, 3> scales,
                   std::span<const std::int32_t> bodies, const ProfileSessionOptions& options,
                   const Context& context);
    ProfileSession(ProfileSession&&) noexcept;
    ~ProfileSession();

    Index chain_count() const;
    /// The accepted positions [axis, scatterer] of a chain. This and all functions below throw
    /// UsageError if there is no such chain.
    Array<float, 2> positions(Index chain) const;
    /// The partial profiles [channel pair, q] of the accepted positions.
    View<const double, 2> profile(Index chain) const;

    /// Computes partial profiles [move, channel pair, q] after each move, in one batch; at most one
    /// move per chain. Valid until the next call. Drops earlier proposals of these chains; after an
    /// error they have none. Throws UsageError, InputError, DeviceError.
    View<const double, 3> propose(std::span<const Move> moves);
    /// The two halves of propose(), for a thread that has other work while a GPU computes. finish()
    /// throws UsageError if nothing was started.
    void start(std::span<const Move> moves);
    View<const double, 3> finish();
    /// Accepts a chain's proposal, and refreshes the sums if that is due. Throws UsageError if
    /// there is no proposal.
    void accept(Index chain);
    /// Drops a chain's proposal, without waiting for it; its state did not change.
    void reject(Index chain);
    /// Computes all sums of a chain again. Returns the largest relative drift over q of the sum of
    /// its partial profiles.
    double refresh(Index chain);
    /// The maximum drift found by a refresh of any chain.
    double drift() const;

    /// Gradient [axis, scatterer] of sum weight(pair, q) I_pair(q) at a chain's accepted positions.
    /// `weight` [channel pair, q]. Throws UsageError, InputError, DeviceError.
    void gradient(Index chain, View<const double, 2> weight, View<double, 2> gradient);

    /// Number of pairs of bodies that the last propose() recomputed; helps to choose bodies.
    Index recomputed_pairs() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Weights [channel pair, q] for which ProfileSession::gradient() returns the gradient of
///     chi^2 = sum_q ((intensity - scale I(q)) / sigma)^2
/// at this scale, with I(q) = sum_{a <= b} w_a w_b I_ab of the partial profiles. At the best scale
/// this is also the gradient of the smallest chi^2.
Array<double, 2> chi_square_weights(View<const double, 2> partial,
                                    std::span<const double> channel_weights,
                                    std::span<const double> intensity,
                                    std::span<const double> sigma, double scale);

/// The scale that minimises chi^2, and that chi^2.
struct ScaleFit {
    double scale = 0, chi_square = 0;
};
ScaleFit fit_scale(std::span<const double> profile, std::span<const double> intensity,
                   std::span<const double> sigma);

}  // namespace pleat::saxs

#pragma GCC visibility pop

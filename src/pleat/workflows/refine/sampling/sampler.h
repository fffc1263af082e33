// Sampler: one Monte Carlo chain over the conformations of a chain model.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "pleat/workflows/refine/fit/curve_likelihood.h"
#include "pleat/workflows/refine/moves/moves.h"
#include "pleat/workflows/refine/sterics/sterics.h"

namespace pleat::refine {

/// What counts besides prior and springs: overlaps, and the curve. A weight is computed in two
/// steps, between which the profiles of many targets are computed together.
class SamplingTarget {
public:
    SamplingTarget() = default;
    virtual ~SamplingTarget() = default;
    SamplingTarget(const SamplingTarget&) = delete;
    SamplingTarget& operator=(const SamplingTarget&) = delete;

    /// Sets the accepted conformation. Throws std::logic_error if it is not allowed. All targets
    /// that are computed together start before the first of them moves.
    virtual void start(const Conformation& at) = 0;
    /// Returns false if a proposal is not allowed; otherwise prepared_log_weight() follows, and
    /// then accept() or reject().
    virtual bool prepare(const Conformation& proposed) = 0;
    /// Starts computing what was prepared, for all conformations that are computed together.
    /// Optional.
    virtual void begin() {}
    /// The logarithm of the weight of the prepared conformation.
    virtual double prepared_log_weight() = 0;
    virtual void accept() {}
    /// Rejects the proposal; may be called before prepared_log_weight().
    virtual void reject() {}
    /// The logarithm of the weight of the accepted conformation.
    virtual double accepted_log_weight() = 0;
    /// The power of the curve's likelihood, from 0 to 1.
    virtual void set_beta(double) {}
    /// The log likelihood to which the power of set_beta() applies.
    virtual double log_likelihood() { return 0; }
    /// The curve's fit to the accepted conformation.
    virtual CurveFit fit() { return {}; }
    virtual ResidualTest residual_test() { return {}; }
};

using TargetBatch = std::vector<std::unique_ptr<SamplingTarget>>;

/// The overlap energy of a start conformation. Throws std::logic_error if it is not allowed.
double allowed_energy(const OverlapEnergy& overlap);

/// Overlaps alone: the target of a pool.
class StericTarget final : public SamplingTarget {
public:
    explicit StericTarget(const ChainModel& model, StericOptions options = {})
        : sterics_(model, options) {}
    void start(const Conformation& at) override {
        accepted_ = -allowed_energy(sterics_.overlap(at));
    }
    bool prepare(const Conformation& proposed) override;
    double prepared_log_weight() override { return pending_; }
    void accept() override { accepted_ = pending_; }
    double accepted_log_weight() override { return accepted_; }

private:
    Sterics sterics_;
    double accepted_ = 0, pending_ = 0;
};

/// How conformations move: what burn-in and pilots adapt.
struct MoveSettings {
    double pivot_width = 0.5, crankshaft_width = 0.5, distance_width = 0.2;  ///< radians
    double distance_share = 0;  ///< of distance moves, where there are domains for them
    /// Of pivots, redraws and crankshafts among the others. If pivots are narrower than 1 radian,
    /// they replace redraws, of which at least a tenth remain.
    std::array<double, 3> kind_shares = {0.4, 0.4, 0.2};
};
/// Share of distance moves where a curve counts: a curve fixes distances, so that others are
/// rejected more often.
inline constexpr double kDistanceShare = 0.6;

/// The widths as numbers.
inline constexpr Index kMoveWidths = 3;
double* write_settings(const MoveSettings& settings, double* to);
MoveSettings read_settings(const double* from);

/// Proposed and accepted moves by MoveKind.
struct MoveCounts {
    std::array<std::int64_t, kMoveKinds> proposed{}, accepted{};

    /// The counts as numbers: those proposed, then those accepted.
    static constexpr Index kNumbers = 2 * kMoveKinds;
    double* write(double* to) const {
        to = std::copy(proposed.begin(), proposed.end(), to);
        return std::copy(accepted.begin(), accepted.end(), to);
    }
    void add(const double* numbers) {
        for (std::size_t kind = 0; kind < kMoveKinds; ++kind) {
            proposed[kind] += static_cast<std::int64_t>(numbers[kind]);
            accepted[kind] += static_cast<std::int64_t>(numbers[kMoveKinds + kind]);
        }
    }
};

/// Narrows moves whose acceptance rate is below 0.2, and widens those above 0.5 (distance
/// moves: 0.4), where at least 20 were proposed, whose counts are 0 afterwards.
void adapt(MoveSettings& settings, MoveCounts& counts);

/// A chain in a conformation, which run() changes by Metropolis moves. Step k of a chain draws the
/// same numbers in every run with this seed.
class Sampler {
public:
    /// All must outlive the sampler. `chain`: number of the chain, for random numbers.
    Sampler(const Moves& moves, SamplingTarget& target, const ChainModel& model, std::uint64_t seed,
            Index chain);

    /// Starts from these angles. All that are computed together start before the first of them
    /// moves. Throws std::logic_error if they are not allowed.
    void start(const std::vector<double>& angles);
    /// Makes the moves [first, first + count).
    void run(Index first, Index count);
    /// First half of a move. Returns false if it was already rejected; otherwise call
    /// accept_or_reject().
    bool propose(Index number);
    /// Second half of a move: accepts or rejects the proposal.
    void accept_or_reject();
    SamplingTarget& target() const { return *target_; }
    const Conformation& conformation() const { return current_; }

    MoveSettings settings;
    MoveCounts counts;

private:
    const Moves* moves_;
    SamplingTarget* target_;
    Conformation current_, proposed_;
    std::uint64_t seed_;
    Index chain_;
    std::size_t kind_ = 0;  ///< of the proposal
    double threshold_ = 0;  ///< of its log weight
};

/// Finds angles without hard overlaps: draws all residues, then moves them until they do not
/// overlap. Different chains start from different draws. Throws InputError, with the number of
/// overlaps, if the linkers cannot remove all overlaps.
std::vector<double> find_start(const ChainModel& model, const Moves& moves, StericOptions options,
                               std::uint64_t seed, Index chain);

}  // namespace pleat::refine

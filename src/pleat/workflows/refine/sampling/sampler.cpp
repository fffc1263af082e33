// Sampler: Metropolis moves, the widths that they have, and a start without overlaps.
#include "pleat/workflows/refine/sampling/sampler.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "pleat/core/error.h"

namespace pleat::refine {

namespace {

constexpr double kWide = 1;        // radians: pivots with which redraws have their whole share
constexpr double kMinShare = 0.1;  // of it, with narrow ones

MoveKind choose_kind(const MoveSettings& settings, const Moves& moves, Random& random) {
    if (moves.has_distance_moves() && settings.distance_share > 0 &&
        random.uniform() < settings.distance_share)
        return MoveKind::distance;
    const auto& shares = settings.kind_shares;
    // If the curve allows only narrow pivots, it rejects almost all redraws.
    const double crankshafts = moves.has_crankshafts() ? shares[2] : 0.0,
                 redraws = shares[1] * std::clamp(settings.pivot_width / kWide, kMinShare, 1.0);
    const double at = random.uniform() * (shares[0] + redraws + crankshafts);
    if (at < shares[0]) return MoveKind::pivot;
    return at < shares[0] + redraws ? MoveKind::redraw : MoveKind::crankshaft;
}

MoveProposal propose(const Moves& moves, MoveKind kind, const Conformation& from,
                     const MoveSettings& settings, Random& random) {
    if (kind == MoveKind::pivot) return moves.pivot(from, settings.pivot_width, random);
    if (kind == MoveKind::redraw) return moves.redraw(from, random);
    if (kind == MoveKind::distance) return moves.distance(from, settings.distance_width, random);
    return moves.crankshaft(from, settings.crankshaft_width, random);
}

}  // namespace

double allowed_energy(const OverlapEnergy& overlap) {
    if (overlap.hard_pairs > 0)
        throw std::logic_error("a chain starts from a conformation that is not allowed");
    return overlap.energy;
}

bool StericTarget::prepare(const Conformation& proposed) {
    const OverlapEnergy overlap = sterics_.overlap(proposed);
    pending_ = -overlap.energy;
    return overlap.hard_pairs == 0;
}

Sampler::Sampler(const Moves& moves, SamplingTarget& target, const ChainModel& model,
                 std::uint64_t seed, Index chain)
    : moves_(&moves),
      target_(&target),
      current_(model),
      proposed_(model),
      seed_(seed),
      chain_(chain) {}

void Sampler::start(const std::vector<double>& angles) {
    current_.set_angles(angles);
    proposed_.set_angles(angles);
    target_->start(current_);
}

void Sampler::run(Index first, Index count) {
    for (Index number = first; number < first + count; ++number)
        if (propose(number)) accept_or_reject();
}

bool Sampler::propose(Index number) {
    Random random(seed_, chain_, number);
    const MoveKind kind = choose_kind(settings, *moves_, random);
    const MoveProposal proposal = refine::propose(*moves_, kind, current_, settings, random);
    kind_ = static_cast<std::size_t>(kind);
    ++counts.proposed[kind_];
    threshold_ =
        std::log(1.0 - random.uniform()) - proposal.log_ratio + target_->accepted_log_weight();
    // The prior excludes the conformation, so the target need not be computed.
    if (std::isinf(threshold_) && threshold_ > 0) return false;
    proposed_.set_angles(proposal.angles);
    return target_->prepare(proposed_);
}

void Sampler::accept_or_reject() {
    const double log_weight = target_->prepared_log_weight();
    if (!(log_weight >= threshold_) || !std::isfinite(log_weight)) {
        target_->reject();
        return;
    }
    target_->accept();
    std::swap(current_, proposed_);
    ++counts.accepted[kind_];
}

double* write_settings(const MoveSettings& settings, double* to) {
    *to++ = settings.pivot_width;
    *to++ = settings.crankshaft_width;
    *to++ = settings.distance_width;
    return to;
}

MoveSettings read_settings(const double* from) {
    MoveSettings settings;
    settings.pivot_width = from[0];
    settings.crankshaft_width = from[1];
    settings.distance_width = from[2];
    return settings;
}

void adapt(MoveSettings& settings, MoveCounts& counts) {
    constexpr std::int64_t kMinProposed = 20;
    const auto change = [&](MoveKind kind, double& width, double low, double high) {
        const auto index = static_cast<std::size_t>(kind);
        if (counts.proposed[index] < kMinProposed) return;
        const double share = static_cast<double>(counts.accepted[index]) /
                             static_cast<double>(counts.proposed[index]);
        if (share < low) width *= 0.7;
        if (share > high) width = std::min(width * 1.4, std::numbers::pi);
        counts.proposed[index] = counts.accepted[index] = 0;
    };
    change(MoveKind::pivot, settings.pivot_width, 0.2, 0.5);
    change(MoveKind::crankshaft, settings.crankshaft_width, 0.2, 0.5);
    change(MoveKind::distance, settings.distance_width, 0.2, 0.4);
}

std::vector<double> find_start(const ChainModel& model, const Moves& moves, StericOptions options,
                               std::uint64_t seed, Index chain) {
    constexpr Index kDraws = 20;
    const Index moves_per_draw = std::max<Index>(1000, 4 * std::ssize(model.residues));
    Sterics sterics(model, options);
    Conformation current(model), proposed(model);
    const OverlapEnergy at_start = sterics.overlap(current);
    Index fewest = std::numeric_limits<Index>::max();
    for (Index draw = 0; draw < kDraws; ++draw) {
        Random drawn(seed, chain, draw * (moves_per_draw + 1), Random::kStart);
        current.set_angles(moves.draw_all(drawn));
        OverlapEnergy overlap = sterics.overlap(current);
        for (Index n = 0; n < moves_per_draw && overlap.hard_pairs > 0; ++n) {
            Random random(seed, chain, draw * (moves_per_draw + 1) + 1 + n, Random::kStart);
            const MoveProposal proposal = moves.redraw(current, random);
            proposed.set_angles(proposal.angles);
            const OverlapEnergy after = sterics.overlap(proposed);
            if (after.energy > overlap.energy) continue;
            std::swap(current, proposed);
            overlap = after;
        }
        if (overlap.hard_pairs == 0) return current.angles();
        fewest = std::min(fewest, overlap.hard_pairs);
    }
    throw InputError(
        model.topology->source.string(), 0,
        fmt::format("expected linkers that can move the domains apart, found at best {} pairs of "
                    "CA atoms closer than {} angstrom ({} in the structure as given)",
                    fewest, options.hard_distance, at_start.hard_pairs));
}

}  // namespace pleat::refine

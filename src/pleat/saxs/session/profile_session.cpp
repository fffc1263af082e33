// Profile session: the chains of a session, and which sums over pairs of bodies a move changes.
#include "pleat/saxs/session/profile_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "pleat/core/error.h"
#include "pleat/core/hardware/memory.h"
#include "pleat/saxs/cancellable_parallel.h"
#include "pleat/saxs/debye/body_pairs.h"
#include "pleat/saxs/kernel/kernel.h"
#include "pleat/saxs/session/chain.h"
#include "pleat/saxs/session/host_sums.h"

namespace pleat::saxs {

namespace {

/// Bodies of consecutive scatterers, few enough that each has many scatterers of a type.
std::vector<std::int32_t> consecutive_bodies(const Model& model) {
    constexpr Index kScatterersOfType = 16, kMaxBodies = 16;
    const Index count = model.scatterer_count();
    const Index bodies =
        std::clamp<Index>(count / (kScatterersOfType * model.type_count()), 1, kMaxBodies);
    std::vector<std::int32_t> result;
    for (Index i = 0; i < count; ++i)
        result.push_back(static_cast<std::int32_t>(i * bodies / count));
    return result;
}

Index count_bodies(const Model& model, std::span<const std::int32_t> bodies) {
    if (static_cast<Index>(bodies.size()) != model.scatterer_count())
        throw UsageError(fmt::format("expected a body for each of {} scatterers, found {}",
                                     model.scatterer_count(), bodies.size()));
    constexpr std::int32_t kMaxBodies = 4096;
    std::int32_t largest = 0;
    for (const std::int32_t body : bodies) {
        if (body < 0 || body >= kMaxBodies)
            throw UsageError(
                fmt::format("expected bodies from 0 to {}, found {}", kMaxBodies - 1, body));
        largest = std::max(largest, body);
    }
    return largest + 1;
}

void check_positions(View<const float, 2> xyz) {
    int is_far = 0;  // no early exit, so that the compiler can use vectors
    for (const float x : xyz) is_far |= !(std::fabs(x) <= kMaxCoordinate);
    if (is_far == 0) return;
    for (const float x : xyz)
        if (!(std::fabs(x) <= kMaxCoordinate))
            throw InputError(fmt::format("expected coordinates within 1e8 angstrom, found {}", x));
}

/// A chain by its number. Throws UsageError if there is no such chain.
template <class Chains>
auto& chain_at(Chains& chains, Index chain) {
    const auto count = static_cast<Index>(chains.size());
    if (chain < 0 || chain >= count)
        throw UsageError(fmt::format("expected chains from 0 to {}, found {}", count - 1, chain));
    return chains[static_cast<std::size_t>(chain)];
}

/// A session outlives the call that made it, and thereby that call's progress.
Context without_progress(Context context) {
    context.progress = nullptr;
    return context;
}

}  // namespace

struct ProfileSession::State {
    State(Model given, View<const float, 3> xyz, View<const float, 3> given_scales,
          std::span<const std::int32_t> bodies, const ProfileSessionOptions& given_options,
          const Context& given_context)
        : model(std::move(given)),
          options(given_options),
          context(without_progress(given_context)),
          body_count(count_bodies(model, bodies)),
          sorted(sort_by_body(model, bodies, body_count)),
          sorted_index_of(sorted.order.size()),
          scales(sorted_positions(sorted, given_scales, 0, xyz.extent(0))),
          sums(make_sums(xyz.extent(0), given_scales)) {
        for (std::size_t n = 0; n < sorted.order.size(); ++n)
            sorted_index_of[static_cast<std::size_t>(sorted.order[n])] = static_cast<Index>(n);
        for (Index body = 0; body < body_count; ++body)
            first_sorted.push_back(first_index_of(body));
        first_sorted.push_back(model.scatterer_count());
        const Array<float, 3> sorted_xyz = sorted_positions(sorted, xyz, 0, xyz.extent(0));
        for (Index n = 0; n < xyz.extent(0); ++n) {
            chains.emplace_back(sorted_xyz.view()[n], first_sorted,
                                options.precision == Precision::float64);
        }
    }

    /// The sums of this session's chains: on the GPU that it shares, or on the host.
    std::unique_ptr<SessionSums> make_sums(Index chain_count,
                                           View<const float, 3> given_scales) const {
        Array<double, 3> self_terms(chain_count, model.pair_count(), model.q_count());
        for (Index n = 0; n < chain_count; ++n) {
            const Array<double, 2> terms = self_profile(
                model, sorted, given_scales.size() > 0 ? given_scales[n] : View<const float, 2>{});
            std::copy(terms.begin(), terms.end(), self_terms.view()[n].data);
        }
        if (options.gpu) {
            options.gpu->check(model, sorted);
            return options.gpu->make_sums(self_terms, scales);
        }
        return std::make_unique<HostSums>(
            model, sorted, make_body_pairs(model, sorted, options.precision, context),
            std::move(self_terms), scales);
    }

    Index first_index_of(Index body) const {
        const Index segment = sorted.first_segment[static_cast<std::size_t>(body)];
        return segment < static_cast<Index>(sorted.segments.size())
                   ? sorted.segments[static_cast<std::size_t>(segment)].first
                   : model.scatterer_count();
    }

    const Model model;
    ProfileSessionOptions options;
    Context context;
    Index body_count;
    SortedScatterers sorted;
    std::vector<Index> sorted_index_of, first_sorted;
    Array<float, 3> scales;  ///< [chain, channel with scales, sorted scatterer]
    std::unique_ptr<SessionSums> sums;
    std::vector<Chain> chains;
    std::unique_ptr<Kernel>
        kernel;  ///< computes gradients; created by the first call of gradient()
    std::vector<Proposal> proposals;  ///< of the last call of start()
    bool is_started = false;          ///< whether finish() must follow
    Index recomputed_pairs = 0;
    double drift = 0.0;
};

namespace {

/// Drops the proposals of all moves at its end unless keep() was called: an error leaves none.
class ProposalGuard {
public:
    ProposalGuard(std::vector<Chain>& chains, std::span<const Move> moves)
        : chains_(chains), moves_(moves) {}
    ~ProposalGuard() {
        for (const Move& move : moves_)
            chains_[static_cast<std::size_t>(move.chain)].drop_proposal();
    }
    ProposalGuard(const ProposalGuard&) = delete;
    ProposalGuard& operator=(const ProposalGuard&) = delete;
    void keep() { moves_ = {}; }

private:
    std::vector<Chain>& chains_;
    std::span<const Move> moves_;
};

}  // namespace

ProfileSession::ProfileSession(Model model, View<const float, 3> xyz, View<const float, 3> scales,
                               std::span<const std::int32_t> bodies,
                               const ProfileSessionOptions& options, const Context& context) {
    check(model);
    if (xyz.extent(0) < 1)
        throw UsageError(fmt::format("expected coordinates [chain, 3, {}], found no chain",
                                     model.scatterer_count()));
    check_sets(model, xyz, scales, "chain");
    std::vector<std::int32_t> consecutive;
    if (bodies.empty()) consecutive = consecutive_bodies(model);
    const std::span<const std::int32_t> used = bodies.empty() ? consecutive : bodies;
    const Index count = count_bodies(model, used);
    // Memory for two sums per pair of bodies: the accepted and the proposed one.
    const std::int64_t profile_bytes = 8 * model.pair_count() * model.q_count();
    const std::int64_t chain_bytes =
        count * (count + 1) * profile_bytes + 48 * model.scatterer_count();
    require_memory(xyz.extent(0) * chain_bytes + kBatchBytes,
                   fmt::format("{} chains of {} bodies", xyz.extent(0), count),
                   "take fewer bodies or chains");
    const View<const float, 3> used_scales =
        model.scale_count() > 0 ? scales : View<const float, 3>{};
    state_ = std::make_unique<State>(std::move(model), xyz, used_scales, used, options, context);
    for (Index n = 0; n < xyz.extent(0); ++n) {
        throw_if_stopped(context);
        refresh(n);
    }
    state_->drift = 0.0;
}

ProfileSession::ProfileSession(ProfileSession&&) noexcept = default;
ProfileSession::~ProfileSession() = default;

Index ProfileSession::chain_count() const { return static_cast<Index>(state_->chains.size()); }

double ProfileSession::drift() const { return state_->drift; }

Index ProfileSession::recomputed_pairs() const { return state_->recomputed_pairs; }

View<const double, 2> ProfileSession::profile(Index chain) const {
    chain_at(state_->chains, chain);
    return state_->sums->profile(chain);
}

Array<float, 2> ProfileSession::positions(Index chain) const {
    const Chain& of = chain_at(state_->chains, chain);
    Array<float, 2> result(Index{3}, state_->model.scatterer_count());
    for (Index axis = 0; axis < 3; ++axis)
        for (Index i = 0; i < result.extent(1); ++i)
            result(axis, i) = of.xyz(axis, state_->sorted_index_of[static_cast<std::size_t>(i)]);
    return result;
}

View<const double, 3> ProfileSession::propose(std::span<const Move> moves) {
    start(moves);
    return finish();
}

void ProfileSession::start(std::span<const Move> moves) {
    State& state = *state_;
    if (state.is_started) finish();
    for (const Move& move : moves) chain_at(state.chains, move.chain).drop_proposal();
    ProposalGuard guard(state.chains, moves);
    state.proposals.clear();
    state.recomputed_pairs = 0;
    for (const Move& move : moves) {
        Chain& chain = state.chains[static_cast<std::size_t>(move.chain)];
        if (chain.is_pending())
            throw UsageError(
                fmt::format("expected one move per chain, found two of chain {}", move.chain));
        check_positions(move.xyz);
        chain.write_move(move, state.sorted_index_of);
        const std::vector<BodyPair>& changed = chain.changed_pairs(state.first_sorted);
        state.recomputed_pairs += static_cast<Index>(changed.size());
        state.proposals.push_back({move.chain, chain.proposed, changed});
    }
    state.sums->start(state.proposals);
    state.is_started = true;
    guard.keep();
}

View<const double, 3> ProfileSession::finish() {
    State& state = *state_;
    if (!state.is_started) throw UsageError("expected proposals that were started, found none");
    state.is_started = false;
    try {
        return state.sums->finish();
    } catch (...) {
        for (const Proposal& proposal : state.proposals)
            state.chains[static_cast<std::size_t>(proposal.chain)].drop_proposal();
        throw;
    }
}

void ProfileSession::accept(Index chain) {
    Chain& of = chain_at(state_->chains, chain);
    if (state_->is_started) finish();
    of.accept();
    state_->sums->accept(chain);
    if (state_->options.refresh > 0 && of.accepted_moves >= state_->options.refresh) refresh(chain);
}

void ProfileSession::reject(Index chain) { chain_at(state_->chains, chain).drop_proposal(); }

bool ProfileSession::is_ready() { return !state_->is_started || state_->sums->is_ready(); }

void ProfileSession::adopt(Index chain, const ProfileSession& from) {
    State& state = *state_;
    const State& other = *from.state_;
    Chain& of = chain_at(state.chains, chain);
    const Chain& one = chain_at(other.chains, chain);
    if (state.model.q != other.model.q || state.model.types != other.model.types ||
        state.model.pair_count() != other.model.pair_count() ||
        state.sorted.order != other.sorted.order || state.first_sorted != other.first_sorted ||
        state.options.gpu != other.options.gpu)
        throw UsageError("expected a session of the same model, bodies and device, found another");
    of.adopt(one);
    state.sums->adopt(chain, *other.sums);
}

double ProfileSession::refresh(Index chain) {
    State& state = *state_;
    Chain& of = chain_at(state.chains, chain);
    if (state.is_started) finish();
    of.drop_proposal();
    const std::vector<double> ones(static_cast<std::size_t>(state.model.channel_count()), 1.0);
    const std::vector<double> before = combine(profile(chain), ones);
    state.sums->refresh(chain, of.xyz);
    of.accepted_moves = 0;
    const std::vector<double> after = combine(profile(chain), ones);
    double drift = 0.0;
    for (std::size_t k = 0; k < after.size(); ++k)
        drift = std::max(drift,
                         std::fabs(before[k] - after[k]) / std::max(std::fabs(after[k]), 1e-300));
    state.drift = std::max(state.drift, drift);
    return drift;
}

void ProfileSession::gradient(Index chain, View<const double, 2> weight, View<double, 2> gradient) {
    State& state = *state_;
    const Array<float, 2> xyz = positions(chain);
    const Index pair_count = state.model.pair_count(), q_count = state.model.q_count();
    if (weight.extent(0) != pair_count || weight.extent(1) != q_count)
        throw UsageError(fmt::format("expected weights [{}, {}], found [{}, {}]", pair_count,
                                     q_count, weight.extent(0), weight.extent(1)));
    for (const double w : weight)
        if (!std::isfinite(w))
            throw InputError(fmt::format("expected finite weights, found {}", w));
    if (!state.kernel)
        state.kernel = state.context.device.kind == Device::Kind::cpu
                           ? make_cpu_kernel(state.model, state.options.precision, state.context)
                           : make_kernel(state.model, {}, state.context);
    Array<float, 2> scales(state.scales.extent(1), state.model.scatterer_count());
    for (Index row = 0; row < scales.extent(0); ++row)
        for (Index i = 0; i < scales.extent(1); ++i)
            scales(row, i) =
                state.scales(chain, row, state.sorted_index_of[static_cast<std::size_t>(i)]);
    state.kernel->gradient(xyz, scales, weight, gradient);
}

ScaleFit fit_scale(std::span<const double> profile, std::span<const double> intensity,
                   std::span<const double> sigma) {
    double product = 0.0, square = 0.0, of_nothing = 0.0;
    for (std::size_t k = 0; k < profile.size(); ++k) {
        const double weight = 1.0 / (sigma[k] * sigma[k]);
        product += weight * intensity[k] * profile[k];
        square += weight * profile[k] * profile[k];
        of_nothing += weight * intensity[k] * intensity[k];
    }
    if (!(square > 0.0)) return {0.0, of_nothing};
    ScaleFit fit{product / square, 0.0};
    for (std::size_t k = 0; k < profile.size(); ++k) {
        const double residual = (intensity[k] - fit.scale * profile[k]) / sigma[k];
        fit.chi_square += residual * residual;
    }
    return fit;
}

Array<double, 2> chi_square_weights(View<const double, 2> partial,
                                    std::span<const double> channel_weights,
                                    std::span<const double> intensity,
                                    std::span<const double> sigma, double scale) {
    const std::vector<double> profile = combine(partial, channel_weights);
    const Index channels = static_cast<Index>(channel_weights.size());
    Array<double, 2> weights(partial.extent(0), partial.extent(1));
    for (Index k = 0; k < partial.extent(1); ++k) {
        const auto n = static_cast<std::size_t>(k);
        const double slope =
            -2.0 * scale * (intensity[n] - scale * profile[n]) / (sigma[n] * sigma[n]);
        for (Index a = 0; a < channels; ++a)
            for (Index b = a; b < channels; ++b)
                weights(channel_pair(a, b, channels), k) =
                    slope * channel_weights[static_cast<std::size_t>(a)] *
                    channel_weights[static_cast<std::size_t>(b)];
    }
    return weights;
}

}  // namespace pleat::saxs

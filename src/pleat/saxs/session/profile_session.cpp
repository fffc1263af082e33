// Profile session: the chains of a session, which pairs of bodies a move changes, and accepting it.
#include "pleat/saxs/session/profile_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "pleat/core/error.h"
#include "pleat/core/hardware/memory.h"
#include "pleat/saxs/cancellable_parallel.h"
#include "pleat/saxs/kernel/kernel.h"
#include "pleat/saxs/session/session_sums.h"

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
    if (std::ssize(bodies) != model.scatterer_count())
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

/// The chain with this number. Throws UsageError if it does not exist.
template <class Chains>
auto& chain_at(Chains& chains, Index chain) {
    const auto count = std::ssize(chains);
    if (chain < 0 || chain >= count)
        throw UsageError(fmt::format("expected chains from 0 to {}, found {}", count - 1, chain));
    return chains[chain];
}

/// x' = after + rotation (x - before)
struct BodyMotion {
    float rotation[9];
    float before[3], after[3];
};

/// Three scatterers of a body: the second is far from the first, the third from their line.
using Anchors = std::array<Index, 3>;

/// Maximum deviation in angstrom of a rigid motion. The next refresh removes its effect.
constexpr float kRigidTolerance = 2e-4f;

using Vector = std::array<double, 3>;

Vector point(View<const float, 2> xyz, Index n) { return {xyz(0, n), xyz(1, n), xyz(2, n)}; }
Vector less(const Vector& a, const Vector& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }
double dot(const Vector& a, const Vector& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
Vector cross(const Vector& a, const Vector& b) {
    return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
Vector unit(const Vector& a) {
    const double size = std::sqrt(dot(a, a));
    return {a[0] / size, a[1] / size, a[2] / size};
}

/// The index of the scatterer with the maximum `measure`.
template <class Measure>
Index farthest(Index first, Index count, const Measure& measure) {
    Index best = first;
    double largest = -1.0;
    for (Index n = first; n < first + count; ++n) {
        const double value = measure(n);
        if (value > largest) {
            largest = value;
            best = n;
        }
    }
    return best;
}

/// Three orthogonal unit vectors defined by a triangle.
std::array<Vector, 3> frame_on(const Vector& a, const Vector& b, const Vector& c) {
    const Vector x = unit(less(b, a)), z = unit(cross(x, less(c, a)));
    return {x, cross(z, x), z};
}

/// Whether a motion moves scatterers [first, first + count) from `before` to `after`.
bool moves_by(const BodyMotion& motion, View<const float, 2> before, View<const float, 2> after,
              Index first, Index count) {
    const float *x = &before(0, first), *y = &before(1, first), *z = &before(2, first);
    const float *u = &after(0, first), *v = &after(1, first), *w = &after(2, first);
    const float* const r = motion.rotation;
    int off = 0;  // no early exit, so that the compiler can use vectors
    for (Index n = 0; n < count; ++n) {
        const float dx = x[n] - motion.before[0], dy = y[n] - motion.before[1],
                    dz = z[n] - motion.before[2];
        const float du = r[0] * dx + r[1] * dy + r[2] * dz - (u[n] - motion.after[0]);
        const float dv = r[3] * dx + r[4] * dy + r[5] * dz - (v[n] - motion.after[1]);
        const float dw = r[6] * dx + r[7] * dy + r[8] * dz - (w[n] - motion.after[2]);
        off |= du * du + dv * dv + dw * dw > kRigidTolerance * kRigidTolerance;
    }
    return off == 0;
}

/// The anchors of scatterers [first, first + count) of `xyz` [axis, sorted scatterer]; count is at
/// least 1.
Anchors find_anchors(View<const float, 2> xyz, Index first, Index count) {
    const Vector a = point(xyz, first);
    const Index second = farthest(first, count, [&](Index n) {
        const Vector d = less(point(xyz, n), a);
        return dot(d, d);
    });
    const Vector along = less(point(xyz, second), a);
    const Index third = farthest(first, count, [&](Index n) {
        const Vector d = cross(along, less(point(xyz, n), a));
        return dot(d, d);
    });
    return {first, second, third};
}

/// The rigid motion that takes these scatterers from `before` to `after`, if there is one.
std::optional<BodyMotion> rigid_motion(const Anchors& anchors, View<const float, 2> before,
                                       View<const float, 2> after, Index first, Index count) {
    const auto triangle = [&](View<const float, 2> xyz) {
        return std::array{point(xyz, anchors[0]), point(xyz, anchors[1]), point(xyz, anchors[2])};
    };
    const auto normal = [](const std::array<Vector, 3>& t) {
        const Vector n = cross(less(t[1], t[0]), less(t[2], t[0]));
        return dot(n, n);
    };
    const auto old = triangle(before), now = triangle(after);
    BodyMotion motion{{1, 0, 0, 0, 1, 0, 0, 0, 1}, {}, {}};
    // Scatterers on a line or at one point define no orientation, but may have been shifted.
    constexpr double kFlat = 1e-4;
    if (normal(old) > kFlat && normal(now) > 0.5 * kFlat) {
        const auto from = frame_on(old[0], old[1], old[2]), to = frame_on(now[0], now[1], now[2]);
        for (std::size_t row = 0; row < 3; ++row)
            for (std::size_t column = 0; column < 3; ++column)
                motion.rotation[3 * row + column] =
                    static_cast<float>(to[0][row] * from[0][column] + to[1][row] * from[1][column] +
                                       to[2][row] * from[2][column]);
    }
    for (Index axis = 0; axis < 3; ++axis) {
        motion.before[axis] = before(axis, anchors[0]);
        motion.after[axis] = after(axis, anchors[0]);
    }
    if (!moves_by(motion, before, after, first, count)) return std::nullopt;
    return motion;
}

/// One chain of a ProfileSession. A proposal does not change the accepted state.
class MonteCarloChain {
public:
    /// `sorted_xyz` [axis, sorted scatterer]; `first_sorted` [body, and one]: the first scatterer
    /// of each body. Rigid motions keep sums unless `is_exact`, since they are rigid only up to the
    /// rounding of positions.
    MonteCarloChain(View<const float, 2> sorted_xyz, const std::vector<Index>& first_sorted,
                    bool is_exact)
        : xyz(sorted_xyz.extent(0), sorted_xyz.extent(1)),
          proposed(sorted_xyz.extent(0), sorted_xyz.extent(1)),
          bodies_(std::ssize(first_sorted) - 1),
          is_exact_(is_exact),
          moved_(bodies_),
          first_moved_(sorted_xyz.extent(1)) {
        for (std::size_t body = 0; body + 1 < first_sorted.size(); ++body) {
            const Index first = first_sorted[body], count = first_sorted[body + 1] - first;
            anchors_.push_back(count > 0 ? find_anchors(sorted_xyz, first, count) : Anchors{});
            body_of_.insert(body_of_.end(), static_cast<std::size_t>(count),
                            static_cast<std::int32_t>(body));
        }
        std::ranges::copy(sorted_xyz, xyz.begin());
        std::ranges::copy(sorted_xyz, proposed.begin());
    }

    bool is_pending() const { return pending_; }

    /// Writes a move's positions into `proposed`. Throws UsageError for wrong shapes and
    /// scatterers. `sorted_index_of` [scatterer].
    void write_move(const Move& move, const std::vector<Index>& sorted_index_of) {
        const Index count = std::ssize(move.scatterers);
        if (move.xyz.extent(0) != 3 || move.xyz.extent(1) != count)
            throw UsageError(fmt::format("expected moved coordinates [3, {}], found [{}, {}]",
                                         count, move.xyz.extent(0), move.xyz.extent(1)));
        const auto is_one = [&](Index scatterer) {
            return scatterer >= 0 && scatterer < std::ssize(sorted_index_of);
        };
        for (const Index scatterer : move.scatterers)
            if (!is_one(scatterer))
                throw UsageError(fmt::format("expected scatterers from 0 to {}, found {}",
                                             sorted_index_of.size() - 1, scatterer));
        pending_ = true;
        const float *const x = move.xyz[0].data, *const y = move.xyz[1].data,
                           *const z = move.xyz[2].data;
        float *const u = proposed[0].data, *const v = proposed[1].data, *const w = proposed[2].data;
        // Local pointers: the compiler must assume that writing flags changes members.
        const Index *const moved = move.scatterers.data(), *const sorted_index =
                                                               sorted_index_of.data();
        const std::int32_t* const bodies = body_of_.data();
        std::uint8_t* const flags = moved_.data();
        Index first = first_moved_, last = last_moved_;
        for (Index n = 0; n < count; ++n) {
            const Index index = sorted_index[moved[n]];
            first = std::min(first, index);
            last = std::max(last, index);
            u[index] = x[n];
            v[index] = y[n];
            w[index] = z[n];
            flags[bodies[index]] = 1;
        }
        first_moved_ = first;
        last_moved_ = last;
    }
    /// The pairs of bodies whose sums the proposal changes; valid until the next call.
    const std::vector<BodyPair>& changed_pairs(const std::vector<Index>& first_sorted) {
        std::vector<std::optional<BodyMotion>> motion(moved_.size());
        const auto block = [&](Index body) {
            return std::pair(first_sorted[body], first_sorted[body + 1] - first_sorted[body]);
        };
        for (Index body = 0; body < bodies_; ++body) {
            if (is_exact_ || !moved_[body]) continue;
            const auto [first, count] = block(body);
            motion[body] = rigid_motion(anchors_[body], xyz, proposed, first, count);
        }
        changed_.clear();
        for (Index a = 0; a < bodies_; ++a) {
            for (Index b = a; b < bodies_; ++b) {
                const auto one = static_cast<std::size_t>(a), other = static_cast<std::size_t>(b);
                if (!moved_[one] && !moved_[other]) continue;
                // Distances inside a rigid body, and between bodies that made the same motion, did
                // not change. The anchors of a rigid body show its motion.
                const auto moves_alike = [&](Index n) {
                    return moves_by(*motion[one], xyz, proposed, n, 1);
                };
                if (motion[one] && motion[other] &&
                    (a == b || std::ranges::all_of(anchors_[other], moves_alike)))
                    continue;
                changed_.push_back({static_cast<std::int32_t>(a), static_cast<std::int32_t>(b)});
            }
        }
        return changed_;
    }
    void accept() {
        if (!pending_) throw UsageError("expected a proposal to accept, found none");
        copy_moved(proposed, xyz);
        ++accepted_moves;
    }
    void drop_proposal() { copy_moved(xyz, proposed); }

    Array<float, 2> xyz, proposed;  ///< [axis, sorted scatterer]
    Index accepted_moves = 0;       ///< moves since all sums were computed

private:
    /// Copies the moved positions of one into the other, and marks all as not moved.
    void copy_moved(const Array<float, 2>& from, Array<float, 2>& to) {
        // Scatterers in between that did not move are equal in both; one long copy is faster.
        for (Index axis = 0; axis < 3 && first_moved_ <= last_moved_; ++axis)
            std::copy_n(&from(axis, first_moved_), last_moved_ - first_moved_ + 1,
                        &to(axis, first_moved_));
        first_moved_ = xyz.extent(1);
        last_moved_ = -1;
        std::ranges::fill(moved_, std::uint8_t{0});
        pending_ = false;
    }

    Index bodies_;
    bool is_exact_;
    std::vector<Anchors> anchors_;             ///< [body]
    std::vector<std::int32_t> body_of_;        ///< [sorted scatterer]
    std::vector<std::uint8_t> moved_;          ///< [body]
    Index first_moved_ = 0, last_moved_ = -1;  ///< sorted scatterers
    std::vector<BodyPair> changed_;
    bool pending_ = false;
};

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
            sorted_index_of[sorted.order[n]] = static_cast<Index>(n);
        for (Index body = 0; body < body_count; ++body)
            first_sorted.push_back(first_index_of(body));
        first_sorted.push_back(model.scatterer_count());
        const Array<float, 3> sorted_xyz = sorted_positions(sorted, xyz, 0, xyz.extent(0));
        for (Index n = 0; n < xyz.extent(0); ++n) {
            chains.emplace_back(sorted_xyz[n], first_sorted,
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
            std::ranges::copy(terms, self_terms[n].data);
        }
        if (options.gpu) {
            options.gpu->check(model, sorted);
            return options.gpu->make_sums(self_terms, scales);
        }
        return make_host_sums(model, sorted,
                              make_body_pairs(model, sorted, options.precision, context),
                              std::move(self_terms), scales);
    }

    Index first_index_of(Index body) const {
        const Index segment = sorted.first_segment[body];
        return segment < std::ssize(sorted.segments) ? sorted.segments[segment].first
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
    std::vector<MonteCarloChain> chains;
    std::unique_ptr<Kernel>
        kernel;  ///< computes gradients; created by the first call of gradient()
    std::vector<ProposedPositions> proposals;  ///< of the last call of start()
    bool is_started = false;                   ///< whether finish() must follow
    Index recomputed_pairs = 0;
    double drift = 0.0;
};

namespace {

/// Drops the proposals of all moves on destruction unless keep() was called (after an error).
class ProposalGuard {
public:
    ProposalGuard(std::vector<MonteCarloChain>& chains, std::span<const Move> moves)
        : chains_(chains), moves_(moves) {}
    ~ProposalGuard() {
        for (const Move& move : moves_) chains_[move.chain].drop_proposal();
    }
    ProposalGuard(const ProposalGuard&) = delete;
    ProposalGuard& operator=(const ProposalGuard&) = delete;
    void keep() { moves_ = {}; }

private:
    std::vector<MonteCarloChain>& chains_;
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

Index ProfileSession::chain_count() const { return std::ssize(state_->chains); }

double ProfileSession::drift() const { return state_->drift; }

Index ProfileSession::recomputed_pairs() const { return state_->recomputed_pairs; }

View<const double, 2> ProfileSession::profile(Index chain) const {
    chain_at(state_->chains, chain);
    return state_->sums->profile(chain);
}

Array<float, 2> ProfileSession::positions(Index chain) const {
    const MonteCarloChain& of = chain_at(state_->chains, chain);
    Array<float, 2> result(Index{3}, state_->model.scatterer_count());
    for (Index axis = 0; axis < 3; ++axis)
        for (Index i = 0; i < result.extent(1); ++i)
            result(axis, i) = of.xyz(axis, state_->sorted_index_of[i]);
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
        MonteCarloChain& chain = state.chains[move.chain];
        if (chain.is_pending())
            throw UsageError(
                fmt::format("expected one move per chain, found two of chain {}", move.chain));
        check_positions(move.xyz);
        chain.write_move(move, state.sorted_index_of);
        const std::vector<BodyPair>& changed = chain.changed_pairs(state.first_sorted);
        state.recomputed_pairs += std::ssize(changed);
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
        for (const ProposedPositions& proposal : state.proposals)
            state.chains[proposal.chain].drop_proposal();
        throw;
    }
}

void ProfileSession::accept(Index chain) {
    MonteCarloChain& of = chain_at(state_->chains, chain);
    if (state_->is_started) finish();
    of.accept();
    state_->sums->accept(chain);
    if (state_->options.refresh > 0 && of.accepted_moves >= state_->options.refresh) refresh(chain);
}

void ProfileSession::reject(Index chain) { chain_at(state_->chains, chain).drop_proposal(); }

double ProfileSession::refresh(Index chain) {
    State& state = *state_;
    MonteCarloChain& of = chain_at(state.chains, chain);
    if (state.is_started) finish();
    of.drop_proposal();
    const std::vector<double> ones(state.model.channel_count(), 1.0);
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
            scales(row, i) = state.scales(chain, row, state.sorted_index_of[i]);
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
    const Index channels = std::ssize(channel_weights);
    Array<double, 2> weights(partial.extent(0), partial.extent(1));
    for (Index k = 0; k < partial.extent(1); ++k) {
        const double slope =
            -2.0 * scale * (intensity[k] - scale * profile[k]) / (sigma[k] * sigma[k]);
        for (Index a = 0; a < channels; ++a)
            for (Index b = a; b < channels; ++b)
                weights(channel_pair(a, b, channels), k) =
                    slope * channel_weights[a] * channel_weights[b];
    }
    return weights;
}

}  // namespace pleat::saxs

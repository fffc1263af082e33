// Session sums: the sums over pairs of bodies of a session's chains, on the host or on a GPU.
#pragma once

#include <memory>
#include <span>

#include "pleat/core/context.h"
#include "pleat/saxs/debye/body_pairs.h"

namespace pleat::saxs {

struct BodyPair {
    std::int32_t a = 0, b = 0;  ///< a <= b
};

struct ProposedPositions {
    Index chain = 0;
    View<const float, 2> xyz;           ///< [axis, sorted scatterer]
    std::span<const BodyPair> changed;  ///< the pairs of bodies whose sums change
};

/// The sums and profiles of some chains, accepted and proposed. Not thread-safe.
class SessionSums {
public:
    virtual ~SessionSums() = default;
    /// Starts computing proposals, at most one per chain; copies their positions. Throws
    /// DeviceError, Cancelled.
    virtual void start(std::span<const ProposedPositions> proposals) = 0;
    /// The partial profiles [proposal, channel pair, q] of those proposals, valid until the next
    /// start(). Throws DeviceError.
    virtual View<const double, 3> finish() = 0;
    /// Accepts the last proposal of a chain. Proposals that are not accepted are dropped at the
    /// next one.
    virtual void accept(Index chain) = 0;
    /// Computes all sums of a chain from its positions [axis, sorted scatterer].
    virtual void refresh(Index chain, View<const float, 2> xyz) = 0;
    /// The accepted partial profiles [channel pair, q].
    virtual View<const double, 2> profile(Index chain) const = 0;
};

/// Sums in the host's memory that `pairs` computes; `self_terms` and `scales` as in
/// SharedGpu::make_sums(). The model, `sorted` and `scales` must outlive it.
std::unique_ptr<SessionSums> make_host_sums(const Model& model, const SortedScatterers& sorted,
                                            std::unique_ptr<BodyPairs> pairs,
                                            Array<double, 3> self_terms,
                                            View<const float, 3> scales);

/// One GPU, and the data that sessions of one model share on it. Sessions may belong to several
/// threads: simultaneous proposals are computed together, with the same bits as separately.
class SharedGpu {
public:
    virtual ~SharedGpu() = default;
    /// Throws UsageError unless a session's scatterers are in this order.
    virtual void check(const Model& model, const SortedScatterers& sorted) const = 0;
    /// Sums of chains whose terms i = j are these, [chain, channel pair, q]; `scales` [chain,
    /// channel with scales, sorted scatterer], empty if there are none. Throws DeviceError.
    virtual std::unique_ptr<SessionSums> make_sums(View<const double, 3> self_terms,
                                                   View<const float, 3> scales) = 0;
};

/// Maximum number of sessions that share a GPU at a time.
inline constexpr Index kMaxSharedSessions = 256;

/// Makes a shared GPU, in float32. `bodies` [scatterer], from 0. Throws DeviceError if the GPU is
/// missing or out of memory.
std::shared_ptr<SharedGpu> make_shared_gpu(const Model& model, std::span<const std::int32_t> bodies,
                                           int index);

/// Maximum bytes of a batch of sums with their pieces, unless one pair needs more.
inline constexpr std::int64_t kBatchBytes = std::int64_t{64} << 20;

}  // namespace pleat::saxs

// Steps ahead: the next steps of a walker, tried by several threads at the same time.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "pleat/workflows/refine/sampling/sampler.h"

namespace pleat::refine {

/// Moves the replicas of a walker in turn, on several threads. The random numbers of a step depend
/// only on its number, and most steps are rejected. Each thread therefore has a copy of the
/// replicas, and the threads try consecutive steps at the same time from the same accepted
/// conformations. Steps count, in order, up to the first accepted one; the others are dropped and
/// repeated from the new conformation. The result is bit-identical to that of one thread.
class StepsAhead {
public:
    /// Samplers by thread and replica; the first thread's have the walker's state. All must outlive
    /// it. `begins_early`: whether overlaps are found while profiles are being computed, in vain
    /// where they exclude a move.
    explicit StepsAhead(std::vector<std::span<Sampler>> copies, bool begins_early = false);

    /// Must be called before threads call run().
    void prepare();
    /// Makes the moves [first, first + count) of all replicas. Each of `threads` threads, at most
    /// as many as there are copies, calls it at the same time, with its number. If one throws, the
    /// others return early.
    void run(Index thread, Index threads, Index first, Index count);
    /// Moves the counts of all copies but the first to `sum`.
    void take_counts(MoveCounts& sum);

    /// Makes all samplers copies of the first thread's state. No thread may be moving them.
    void adopt_all();

    /// Number of dropped steps; it depends on the number of threads.
    std::int64_t dropped() const { return dropped_; }

private:
    /// The result of a thread's step; it does not count if an earlier step was accepted.
    enum class Trial { none, rejected, accepted };
    Trial try_step(Sampler& sampler, Index number, Index thread, Index round);
    /// The first thread of a round whose step is accepted, or a negative number.
    Index first_accepting_thread(Index round) const;
    void note_accepted(Index thread, Index round);
    /// Whether a thread before this one has accepted its step.
    bool is_overtaken(Index thread, Index round) const;
    bool wait_for(const std::atomic<Index>& counter, Index value) const;
    void adopt(Index thread, Index from, Index replica);

    // Rounds are numbered from 1. Flags that other threads read are in separate cache lines.
    alignas(64) std::atomic<Index> arrived_ = 0;  ///< threads that know of their steps, all rounds
    alignas(64) std::atomic<Index> adoptable_ = 0;  ///< the last round whose step was accepted
    /// Of even and odd rounds, see note_accepted().
    alignas(64) std::array<std::atomic<Index>, 2> accepted_ = {};
    alignas(64) std::atomic<bool> has_failed_ = false;
    std::vector<std::span<Sampler>> copies_;
    std::int64_t dropped_ = 0;
};

}  // namespace pleat::refine

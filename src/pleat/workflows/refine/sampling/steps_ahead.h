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
/// on nothing but its number, and most steps are rejected: so each thread has a copy of the
/// replicas, and they try the next steps at the same time, from the same accepted conformations. In
/// the order of steps all count up to the first that is accepted; the others are dropped, and tried
/// again from the new conformation. The walk has the bits of one thread's.
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

    /// Copies of the first thread's state. It and all of them are at rest.
    void adopt_all();

    /// Steps that were dropped; it depends on the number of threads.
    std::int64_t dropped() const { return dropped_; }

private:
    /// The result of a thread's step; it does not count if an earlier step was accepted.
    enum class Trial { none, rejected, accepted };
    Trial try_step(Sampler& sampler, Index number, Index thread, Index round);
    /// The first thread of a round whose step is accepted, or a negative number.
    Index accepting(Index round) const;
    void note_accepted(Index thread, Index round);
    /// Whether a thread before this one has accepted its step.
    bool is_overtaken(Index thread, Index round) const;
    bool wait_for(const std::atomic<Index>& counter, Index value) const;
    void adopt(Index thread, Index from, Index replica);

    // Rounds are numbered from 1. Memory of the flags that threads look at is apart.
    alignas(64) std::atomic<Index> arrived_ = 0;  ///< threads that know of their steps, all rounds
    alignas(64) std::atomic<Index> adoptable_ = 0;  ///< the last round whose step was accepted
    /// Of even and odd rounds, see note_accepted().
    alignas(64) std::array<std::atomic<Index>, 2> accepted_ = {};
    alignas(64) std::atomic<bool> has_failed_ = false;
    std::vector<std::span<Sampler>> copies_;
    std::int64_t dropped_ = 0;
};

}  // namespace pleat::refine

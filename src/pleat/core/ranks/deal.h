// Deal: work for the first rank alone, dealt to the threads of all ranks, or made by ranks in turn.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "pleat/core/ranks/comm.h"
#include "pleat/core/view.h"

namespace pleat {

/// What deal() calls on each rank.
struct DealCalls {
    /// Works on one index. Called on several threads at a time.
    std::function<void(Index)> work;
    /// Returns a report in bytes on work that ended since the last call, for the first rank.
    std::function<std::string()> news;
    /// Called on the first rank with the news of another one.
    std::function<void(std::string_view)> hear;
    /// Whether the user asked this rank to stop. Called on several threads.
    std::function<bool()> is_stopped;
    /// Asks work in progress to end soon; is_stopped() then returns true.
    std::function<void()> stop;
};

/// Calls work() once for each index in [0, count), in this order, on `workers` threads of each
/// rank: whichever thread of any rank is idle gets the next index. If one rank is stopped, all are,
/// and no more work starts. If work() throws, its error is thrown on its rank, and OtherRankFailed
/// on the others, after all their work has ended. A collective call; `count` is that of the first
/// rank, `workers` may differ between ranks. news() and hear() are called on the calling thread.
void deal(Comm& comm, int workers, Index count, const DealCalls& calls);

/// Calls `work` on the first rank; the others wait, and stop if it throws. A collective call.
void run_on_first_rank(Comm& comm, const std::function<void()>& work);

/// What one rank made in a round.
struct RoundPiece {
    std::vector<std::uint8_t> bytes;
    bool has_more = false;  ///< the sequence goes on behind the pieces of this round
};

/// In each round rank n makes piece n, and the leading rank gets the bytes of all in their order;
/// the last round is the first one in which no rank has more. A collective call; what `make` or
/// `collect` throws ends it on all ranks.
void collect_rounds(
    Comm& comm, const std::function<RoundPiece(int rank)>& make,
    const std::function<void(const std::vector<std::vector<std::uint8_t>>& pieces)>& collect);

}  // namespace pleat

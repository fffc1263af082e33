// Deal: work for the first rank alone, or dealt to the threads of all ranks.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "pleat/core/ranks/comm.h"
#include "pleat/core/view.h"

namespace pleat {

/// What deal() calls on each rank.
struct DealCalls {
    /// Works on one index. Called on several threads at a time.
    std::function<void(Index)> work;
    /// A report to the first rank on work that ended since the last call, as bytes of any form.
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
void lead(Comm& comm, const std::function<void()>& work);

}  // namespace pleat

// Team: threads that run at the same time and may wait for one another.
#pragma once

#include <functional>

namespace pleat {

/// Calls `body(member, members)` once on each of up to `threads` threads, all at the same time;
/// there are fewer members if the ThreadBudget has no more, and one inside a parallel_for(). If
/// calls throw, the others go on, and the error of the lowest member is thrown here at the end: a
/// body must not wait for a member that has failed.
void run_team(int threads, const std::function<void(int, int)>& body);

}  // namespace pleat

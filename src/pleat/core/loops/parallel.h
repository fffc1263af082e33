// Threads: how many this process may use, and a loop over them that carries errors out.
#pragma once

#include <functional>

#include "pleat/core/context.h"
#include "pleat/core/view.h"

namespace pleat {

/// Threads that this process may use: the minimum of the CPUs in its affinity mask, the quota of
/// its control group, SLURM_CPUS_PER_TASK and OMP_NUM_THREADS; at least 1.
int available_threads();
/// Like available_threads(), for one of several ranks that share a machine.
int available_threads(const Comm& comm);

/// `context.threads`, or available_threads() of the context's rank if that is 0; 1 on the reference
/// device. Throws UsageError if negative.
int resolve_threads(const Context& context);

/// Calls `body(index, thread)` for each index in [0, count), in no particular order, on up to
/// `threads` threads; `thread` is in [0, threads), and calls that run at the same time have
/// different ones. A free thread takes the next index, so give each index at least a microsecond of
/// work. If calls throw, no further index is started, and the error of the lowest index is thrown
/// here. A parallel_for() inside a body runs serially, as thread 0 of its own loop.
void parallel_for(int threads, Index count, const std::function<void(Index, int)>& body);

}  // namespace pleat

// Threads: how many this process may use, and a loop over them that carries errors out.
#pragma once

#include <functional>

#include "pleat/core/context.h"
#include "pleat/core/view.h"

namespace pleat {

/// Threads that this process may use: the least of the CPUs in its affinity mask, the quota of its
/// control group, SLURM_CPUS_PER_TASK and OMP_NUM_THREADS; at least 1.
int available_threads();
/// The part of them that a rank may use beside the other ranks of its machine.
int available_threads(const Comm& comm);

/// `context.threads`, or the available ones of the context's rank where that is 0; 1 on the
/// reference device; UsageError when negative.
int resolve_threads(const Context& context);

/// Calls `body(index, thread)` for each index in [0, count), in no particular order, on up to
/// `threads` threads; `thread` is in [0, threads) and no two calls at one time share it. Threads
/// take the next index when they are free, so give each index enough work (a microsecond at least).
/// When calls throw, no further index is begun and the error of the lowest index among them is
/// thrown here. Calls from inside a body run serially, as thread 0 of their own loop.
void parallel_for(int threads, Index count, const std::function<void(Index, int)>& body);

}  // namespace pleat

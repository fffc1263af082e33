// Cancellable parallel loops: parallel_for() that stops when the user asks for it.
#pragma once

#include <algorithm>
#include <functional>

#include "pleat/core/loops/parallel.h"
#include "pleat/core/loops/steps.h"

namespace pleat::saxs {

/// Throws Cancelled if the user asked to stop. Inside parallel_for() only thread 0, the caller's,
/// checks, since only one thread may use a Progress.
inline void throw_if_stopped(const Context& context, int thread = 0) {
    if (thread == 0) throw_if_cancelled(context, "saxs");
}

/// parallel_for() that calls throw_if_stopped() before each index.
inline void cancellable_parallel_for(const Context& context, int threads, Index count,
                                     const std::function<void(Index, int)>& body) {
    parallel_for(threads, count, [&](Index n, int thread) {
        throw_if_stopped(context, thread);
        body(n, thread);
    });
}

/// The same for blocks of at most `size` indices: `body(first, last, thread)`.
inline void cancellable_parallel_blocks(const Context& context, int threads, Index count,
                                        Index size,
                                        const std::function<void(Index, Index, int)>& body) {
    cancellable_parallel_for(context, threads, (count + size - 1) / size,
                             [&](Index block, int thread) {
                                 body(block * size, std::min(count, (block + 1) * size), thread);
                             });
}

/// The context for a call inside parallel_for(): only thread 0 keeps the progress.
inline Context context_of_thread(const Context& context, int thread) {
    Context of_thread = context;
    if (thread != 0) of_thread.progress = nullptr;
    return of_thread;
}

/// Calls `body(frame, context)` for frames [0, count) on the threads of `context`. Many frames take
/// one thread each, few frames share all threads, one after another; the results are the same.
/// `body` must throw Cancelled if its context asks for it.
inline void parallel_for_frames(const Context& context, Index count,
                                const std::function<void(Index, const Context&)>& body) {
    const int threads = resolve_threads(context);
    const bool is_few = count < threads;
    parallel_for(is_few ? 1 : threads, count, [&](Index n, int thread) {
        Context of_frame = context_of_thread(context, thread);
        if (!is_few) of_frame.threads = 1;
        body(n, of_frame);
    });
}

}  // namespace pleat::saxs

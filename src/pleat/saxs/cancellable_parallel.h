// Stopping: long work asks between its pieces whether the user wants it to end.
#pragma once

#include <functional>

#include "pleat/core/context.h"
#include "pleat/core/error.h"
#include "pleat/core/loops/parallel.h"

namespace pleat::saxs {

/// Throws Cancelled where the user asked to stop.
inline void stop_if_asked(const Context& context) {
    if (context.cancelled()) throw Cancelled("stopped; nothing was kept");
}
/// The same inside parallel_for(), of whose threads the first is the caller's: a Progress is for
/// one.
inline void stop_if_asked(const Context& context, int thread) {
    if (thread == 0) stop_if_asked(context);
}

/// parallel_for() that asks before each index which the first thread takes.
inline void cancellable_parallel_for(const Context& context, int threads, Index count,
                                   const std::function<void(Index, int)>& body) {
    parallel_for(threads, count, [&](Index n, int thread) {
        stop_if_asked(context, thread);
        body(n, thread);
    });
}

/// What a thread's call gets that may ask by itself: on other threads than the first without
/// progress.
inline Context context_of_thread(const Context& context, int thread) {
    Context own = context;
    if (thread != 0) own.progress = nullptr;
    return own;
}

}  // namespace pleat::saxs

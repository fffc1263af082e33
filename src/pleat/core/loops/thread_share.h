// Thread share: tasks that run at the same time and divide threads among their loops.
#pragma once

#include <atomic>
#include <functional>

#include "pleat/core/context.h"
#include "pleat/core/view.h"

namespace pleat {

/// What one of the tasks of share_threads() may use. Must not outlive the task.
class ThreadShare {
public:
    /// Threads for one loop of this task at present: the tasks that have not ended divide them.
    int threads() const;
    /// `given` with the progress of the caller in its own thread. In another thread it is cancelled
    /// once a task has thrown, and reports nothing.
    Context context(const Context& given) const;

private:
    class Stop;
    struct Tasks;
    friend void share_threads(int threads, Index count,
                              const std::function<void(Index, const ThreadShare&)>& task);

    ThreadShare(Tasks& tasks, Index index) : tasks_(tasks), index_(index) {}

    Tasks& tasks_;
    const Index index_;
};

/// Calls `task(index, share)` for each index in [0, count) on up to `threads` threads, one of which
/// is the caller's. Unlike the bodies of parallel_for(), tasks may begin parallel loops, of
/// `share.threads()` threads: more once other tasks have ended. Once a task has thrown, none is
/// started; its error is thrown here when the others have ended. Inside a parallel_for() the tasks
/// run one after another on the calling thread.
void share_threads(int threads, Index count,
                   const std::function<void(Index, const ThreadShare&)>& task);

}  // namespace pleat

// Job pool: whole jobs, one after another, on threads of their own.
#pragma once

#include <functional>
#include <future>
#include <memory>
#include <system_error>
#include <utility>

#include "pleat/core/view.h"

namespace pleat {

/// Calls `job(index)` for each index of [0, count) on `workers` threads, the calling one among
/// them; each takes the next index when it is free. Unlike the bodies of parallel_for, jobs may use
/// threads themselves. No job begins once `stop()` is true, or once a job threw; then the error of
/// the lowest index among them is thrown here. Fewer threads than asked for serve where the system
/// gives no more.
void run_jobs(int workers, Index count, const std::function<void(Index)>& job,
              const std::function<bool()>& stop);

/// Calls `job()` on a thread of its own; where the system gives none, the call is made when its
/// result is first waited for.
template <class Job>
auto run_behind(Job job) {
    // std::async loses what was moved into it when it throws.
    const auto shared = std::make_shared<Job>(std::move(job));
    const auto call = [shared] { return (*shared)(); };
    try {
        return std::async(std::launch::async, call);
    } catch (const std::system_error&) {
        return std::async(std::launch::deferred, call);
    }
}

}  // namespace pleat

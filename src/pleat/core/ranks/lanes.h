// Lanes: the devices of one process, each driven by a thread that is a rank of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "pleat/core/context.h"

namespace pleat {

/// Calls `work` once for each device of `context.lanes`, or once with `context` if it has none,
/// each in its own thread (the first in the calling thread), and returns when all have ended. Each
/// lane gets a context with one device, its part of the threads, and a Comm in which the lanes of
/// all processes of `context.comm` are ranks: what works on ranks works on lanes, with the same
/// bits. Only the first lane reports progress; all see a cancel. If a lane throws, the others stop
/// at their next collective call, and its error is thrown here. A collective call if `context.comm`
/// has several ranks.
void on_lanes(const Context& context, const std::function<void(const Context& lane)>& work);

/// on_lanes() for a function with a result: returns that of the first lane.
template <class Work>
auto first_of_lanes(const Context& context, Work work) {
    std::optional<decltype(work(context))> result;
    const std::thread::id first = std::this_thread::get_id();
    on_lanes(context, [&](const Context& lane) {
        auto own = work(lane);
        if (std::this_thread::get_id() == first) result.emplace(std::move(own));
    });
    return std::move(*result);
}

/// Throws UsageError if the context has several devices; `what` is what uses only one.
void require_one_device(const Context& context, const char* what);

/// Whether all ranks of the context are lanes of this process, or there is one rank. A collective
/// call.
bool are_one_process(const Context& context);

/// Waits until all ranks are here. A collective call.
void wait_for_ranks(const Context& context);

/// Returns the numbers passed by all ranks, in rank order. A collective call.
std::vector<std::uintptr_t> numbers_of_ranks(const Context& context, std::uintptr_t own);

/// The objects of all lanes, in the order of ranks; only if are_one_process(). A lane must keep its
/// own until the others no longer use it: see wait_for_ranks(). A collective call.
template <class T>
std::vector<T*> objects_of_lanes(const Context& context, T& own) {
    std::vector<T*> objects;
    for (const std::uintptr_t address :
         numbers_of_ranks(context, reinterpret_cast<std::uintptr_t>(&own)))
        objects.push_back(reinterpret_cast<T*>(address));  // NOLINT(performance-no-int-to-ptr)
    return objects;
}

}  // namespace pleat

// Lane objects: lets the lanes of one process see each other's objects.
#pragma once

#include <cstdint>
#include <vector>

#include "pleat/core/context.h"

namespace pleat {

/// Whether all ranks of the context are lanes of this process, or there is one rank. A collective
/// call.
bool are_one_process(const Context& context);

/// Waits until all ranks are here. A collective call.
void wait_for_ranks(const Context& context);

/// The numbers that all ranks pass, in the order of ranks. A collective call.
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

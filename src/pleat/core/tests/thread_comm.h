// Ranks as threads of one process, for tests.
#pragma once

#include "pleat/core/ranks/lanes.h"

namespace pleat::test {

/// Calls action(comm) on each of `size` ranks.
template <class Action>
void on_ranks(int size, Action action) {
    Context context;
    context.lanes.assign(static_cast<std::size_t>(size), Device{});
    on_lanes(context, [&](const Context& lane) { action(*lane.comm); });
}

}  // namespace pleat::test

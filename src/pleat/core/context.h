// Context: how an engine runs: device, threads, seed, progress, ranks, checkpoint.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "pleat/core/device.h"
#include "pleat/core/loops/progress.h"
#include "pleat/core/ranks/comm.h"

#pragma GCC visibility push(default)

namespace pleat {

/// How a computation runs: device, threads, progress and ranks. These affect results only within
/// the tolerances stated in each engine's README.
struct Context {
    Device device;
    int threads = 0;  ///< 0 = all that this process may use (see available_threads)
    std::uint64_t seed = 1;
    Progress* progress = nullptr;      ///< not owned; null = silent, never cancelled
    Comm* comm = nullptr;              ///< not owned; null = one rank
    std::filesystem::path checkpoint;  ///< file to resume from and to save to; empty = none
    double checkpoint_seconds = 10.0;  ///< shortest time between two saves
    /// The devices that share the work of this process, each driven by a thread; `device` is the
    /// first of them. Empty: only `device` (core/ranks/lanes.h).
    std::vector<Device> lanes = {};

    /// The ranks of this run, and this process's number among them.
    int ranks() const { return comm != nullptr ? comm->size() : 1; }
    int rank() const { return comm != nullptr ? comm->rank() : 0; }
    /// The number of ranks on this machine, and this process's number among them.
    int local_ranks() const { return comm != nullptr ? comm->local_size() : 1; }
    int local_rank() const { return comm != nullptr ? comm->local_rank() : 0; }

    void update(std::string_view stage, std::int64_t done, std::int64_t total,
                std::string_view note = {}) const {
        if (progress != nullptr) progress->update(stage, done, total, note);
    }
    bool cancelled() const { return progress != nullptr && progress->cancelled(); }
    void message(std::string_view text) const {
        if (progress != nullptr) progress->message(text);
    }
    void note(const Note& note) const {
        if (progress != nullptr) progress->note(note);
    }
    void notes(const Notes& notes) const {
        for (const Note& one : notes) note(one);
    }
};

/// "cuda:0", or "cuda:0,cuda:1" for lanes.
std::string device_names(const Context& context);

}  // namespace pleat

#pragma GCC visibility pop

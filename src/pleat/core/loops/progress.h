// Progress: how a loop tells of its work and asks whether to stop. The library never prints.
#pragma once

#include <cstdint>
#include <string_view>

#pragma GCC visibility push(default)

namespace pleat {

/// Receives updates from `sweep` and `iterate`. Implementations for a terminal and for a log
/// stand in progress_terminal.h; the default (a null pointer in Context) is silence.
struct Progress {
    virtual ~Progress() = default;
    /// `stage` names the work ("weights", "fit"); `done` of `total` units; total 0 = not known.
    virtual void update(std::string_view stage, std::int64_t done, std::int64_t total,
                        std::string_view note) = 0;
    /// True once the user asked to stop; polled after every tile or step.
    virtual bool cancelled() = 0;
    /// A warning or a remark that a user should read once, such as a guess that was made.
    virtual void message(std::string_view text) = 0;
};

}  // namespace pleat

#pragma GCC visibility pop

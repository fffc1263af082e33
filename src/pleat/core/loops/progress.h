// Progress: how a loop reports its work and asks whether to stop. The library never prints.
#pragma once

#include <cstdint>
#include <string_view>

#include "pleat/core/notes.h"

#pragma GCC visibility push(default)

namespace pleat {

/// Receives progress reports of loops. core/terminal/progress_terminal.h has implementations for a
/// terminal and a log; a null pointer in Context reports nothing.
struct Progress {
    virtual ~Progress() = default;
    /// `done` of `total` units of the stage ("weights", "fit") are finished; total 0: not known.
    virtual void update(std::string_view stage, std::int64_t done, std::int64_t total,
                        std::string_view note) = 0;
    /// Whether the user asked to stop; called after every tile or step.
    virtual bool cancelled() = 0;
    /// Shows a warning or a remark, such as how an ambiguous input was understood.
    virtual void message(std::string_view text) = 0;
    /// Shows what a reader decided.
    virtual void note(const Note& note) { message(full_text(note)); }
};

}  // namespace pleat

#pragma GCC visibility pop

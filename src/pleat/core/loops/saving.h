// Saving: when a checkpoint is due, whether there is room for it, and how one is refused.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>

#include "pleat/core/error.h"

namespace pleat {

/// Decides when a save is due: not before `least` seconds, and not so often that saving a large
/// state takes more than a tenth of the time.
class SaveClock {
public:
    explicit SaveClock(double least) : least_(least) {}
    bool is_due() const { return seconds_since(last_) >= std::max(least_, 9.0 * cost_); }
    /// Less than `least` seconds have gone by since the last save: what was done in them may be
    /// lost.
    bool is_recent() const { return seconds_since(last_) < least_; }
    template <class Action>
    void run(Action action) {
        const Clock::time_point start = Clock::now();
        action();
        cost_ = seconds_since(start);
        last_ = Clock::now();
    }

private:
    using Clock = std::chrono::steady_clock;
    static double seconds_since(Clock::time_point start) {
        return std::chrono::duration<double>(Clock::now() - start).count();
    }
    double least_;
    double cost_ = 0.0;
    Clock::time_point last_ = Clock::now();
};

/// OutputError when the disk of `path` is known to lack this room.
void require_room(const std::filesystem::path& path, std::int64_t bytes);

/// What was wrong with a checkpoint, with the file's name and advice.
std::string refusal(const std::filesystem::path& path, const InputError& error);

}  // namespace pleat

// Saving: when a checkpoint is due, whether there is room for it, and how one is refused.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>

#include "pleat/core/error.h"

namespace pleat {

/// Decides when a save is due: not before `min_seconds` seconds, and not so often that saving a
/// large state takes more than a tenth of the time.
class SaveClock {
public:
    explicit SaveClock(double min_seconds) : min_seconds_(min_seconds) {}
    bool is_due() const { return seconds_since(last_) >= std::max(min_seconds_, 9.0 * cost_); }
    /// Whether the last save was less than `min_seconds` ago, so that the work since may be lost.
    bool is_recent() const { return seconds_since(last_) < min_seconds_; }
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
    double min_seconds_;
    double cost_ = 0.0;
    Clock::time_point last_ = Clock::now();
};

/// Throws OutputError if the disk of `path` is known to have less than this free.
void require_room(const std::filesystem::path& path, std::int64_t bytes);

/// What is wrong with a checkpoint, with the file's name and advice.
std::string refusal(const std::filesystem::path& path, const InputError& error);

}  // namespace pleat

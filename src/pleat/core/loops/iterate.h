// Iterate: the loop over a sequence of states; owns progress, cancellation and checkpoints.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "pleat/core/context.h"
#include "pleat/core/error.h"

namespace pleat {

/// Decides when to save: at least `min_seconds` apart, and so rarely that saving a large state
/// takes at most a tenth of the time.
class SaveClock {
public:
    explicit SaveClock(double min_seconds) : min_seconds_(min_seconds) {}
    bool is_due() const { return seconds_since(last_) >= std::max(min_seconds_, 9.0 * cost_); }
    /// Whether the last save was less than `min_seconds` ago.
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

/// A message about a faulty checkpoint, with the file's name and advice.
std::string refusal(const std::filesystem::path& path, const InputError& error);

class NpzWriter;
class NpzReader;

/// The state that a sequential computation saves in order to resume. `problem()` is a hash of input
/// and parameters; a checkpoint with another hash is refused.
struct State {
    virtual ~State() = default;
    virtual std::string problem() const = 0;
    virtual void save(NpzWriter&) const = 0;
    virtual void load(const NpzReader&) = 0;
    /// False if steps usually finish long before the limit: progress then shows no total and no
    /// time left.
    virtual bool reaches_limit() const { return true; }
    /// Approximate number of bytes that save() writes; 0 if few.
    virtual std::int64_t bytes() const { return 0; }
};

/// What one step returns to the loop.
struct Step {
    bool finished = false;
    std::string note;  ///< shown beside the progress: "gap 3.1e-4"
};

/// Runs `step(k)` for k = first, ..., until it returns `finished` or `limit` steps are done.
/// Returns the number of steps done, including those before a resume.
///
/// Loads `context.checkpoint` if it exists; throws InputError with advice if it is damaged or of
/// another `state.problem()` or `stage`. Saves there (under another name, then renamed) at most
/// every `context.checkpoint_seconds`, less often if saving is slow, and once more before it throws
/// Cancelled. If a save fails, for example on a full disk, the user gets a message and the loop
/// continues without saving. If the user asks to stop during the last step, the result is returned.
/// Names of members that begin with "loop_" belong to the loop. The checkpoint stays at the end:
/// the caller removes it once the result is written.
std::int64_t iterate(const Context& context, std::string_view stage, State& state,
                     std::int64_t limit, const std::function<Step(std::int64_t)>& step);

}  // namespace pleat

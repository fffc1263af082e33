// Iterate: the loop over a sequence of states; owns progress, cancellation and checkpoints.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "pleat/core/context.h"

namespace pleat {

class NpzWriter;
class NpzReader;

/// What a sequential computation must save to go on after a kill. `problem()` is a hash of input
/// and parameters: a checkpoint of another problem is refused.
struct State {
    virtual ~State() = default;
    virtual std::string problem() const = 0;
    virtual void save(NpzWriter&) const = 0;
    virtual void load(const NpzReader&) = 0;
    /// False where the limit is only a bound that steps are not expected to reach: progress then
    /// shows no total and no time left.
    virtual bool reaches_limit() const { return true; }
    /// About the bytes that save() writes; 0 for few.
    virtual std::int64_t bytes() const { return 0; }
};

/// What one step tells the loop.
struct Step {
    bool finished = false;
    std::string note;  ///< shown beside the progress: "gap 3.1e-4"
};

/// Runs `step(k)` for k = first, ..., until it says finished or `limit` steps are done; returns the
/// number of steps done, those before a resume included. Loads `context.checkpoint` when it exists
/// and belongs to `state.problem()` and `stage` (InputError with advice otherwise, or when it is
/// damaged), saves there (written beside, then renamed) at most every `context.checkpoint_seconds`,
/// more rarely where saving is slow, and when cancelled, and then throws Cancelled. Where a save
/// fails, for want of space say, a message tells, or the text of Cancelled, and no other save is
/// tried; the loop goes on. A step that ends the loop ends it even when cancelled. Members whose
/// names begin with "loop_" are the loop's own. The checkpoint stays in place at the end: the
/// caller removes it once its result is written.
std::int64_t iterate(const Context& context, std::string_view stage, State& state,
                     std::int64_t limit, const std::function<Step(std::int64_t)>& step);

}  // namespace pleat

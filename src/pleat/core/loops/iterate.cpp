// Iterate: stepping, saving, resuming and stopping.
#include "pleat/core/loops/iterate.h"

#include <fmt/format.h>

#include <system_error>

#include "pleat/core/files/npy.h"
#include "pleat/core/files/output_file.h"

namespace pleat {

std::string refusal(const std::filesystem::path& path, const InputError& error) {
    const std::string name = path.string(), text = error.what();
    return fmt::format("{}{}; remove this checkpoint, or give --force, to start again",
                       text.starts_with(name) ? "" : name + ": ", text);
}

namespace {

// Names of the loop's own members, which no state may use.
constexpr std::string_view kProblem = "loop_problem", kStage = "loop_stage", kSteps = "loop_steps",
                           kFinished = "loop_finished";

struct Position {
    std::int64_t steps = 0;
    bool finished = false;
};

void save(const std::filesystem::path& path, std::string_view stage, const State& state,
          Position position) {
    require_room(path, state.bytes());
    NpzWriter writer(path);
    writer.add_text(kProblem, state.problem());
    writer.add_text(kStage, stage);
    writer.add_scalar(kSteps, position.steps);
    writer.add_scalar(kFinished, static_cast<int>(position.finished));
    state.save(writer);
    writer.close();
}

Position read_checkpoint(const NpzReader& reader, std::string_view stage, State& state) {
    if (reader.text(kProblem) != state.problem() || reader.text(kStage) != stage)
        throw InputError("expected the state of the same input and options, found another's");
    const Position position{reader.integer(kSteps), reader.integer(kFinished) != 0};
    if (position.steps < 0)
        throw InputError(fmt::format("expected a count of steps, found {}", position.steps));
    state.load(reader);
    return position;
}

Position load(const std::filesystem::path& path, std::string_view stage, State& state) {
    try {
        return read_checkpoint(NpzReader(path), stage, state);
    } catch (const InputError& error) {
        throw InputError(refusal(path, error));
    }
}

/// `unsaved`: why the state could not be saved; empty if it was.
[[noreturn]] void stop(const Context& context, std::string_view stage, std::int64_t steps,
                       const std::string& unsaved) {
    if (!unsaved.empty())
        throw Cancelled(fmt::format("{}: stopped after {} steps; the state could not be saved: {}",
                                    stage, steps, unsaved));
    if (context.checkpoint.empty())
        throw Cancelled(
            fmt::format("{}: stopped after {} steps; the state was not saved, as no "
                        "checkpoint file was given",
                        stage, steps));
    throw Cancelled(
        fmt::format("{}: stopped after {} steps; the state is saved in {}: run the same "
                    "command again to resume",
                    stage, steps, context.checkpoint.string()));
}

}  // namespace

std::int64_t iterate(const Context& context, std::string_view stage, State& state,
                     std::int64_t limit, const std::function<Step(std::int64_t)>& step) {
    const bool has_file = !context.checkpoint.empty();
    // Each rank holds the whole state, which is small; one of them saves it.
    const bool writes = has_file && (context.comm == nullptr || context.comm->rank() == 0);
    Position at;
    std::error_code unreadable;
    if (has_file && std::filesystem::exists(context.checkpoint, unreadable))
        at = load(context.checkpoint, stage, state);
    const std::int64_t total = state.reaches_limit() ? limit : 0;
    if (at.steps > 0) context.update(stage, at.steps, total, "resumed");
    SaveClock clock(context.checkpoint_seconds);
    std::string unsaved;  // why saving was given up; empty while it works
    const auto save_now = [&] {
        try {
            clock.run([&] { save(context.checkpoint, stage, state, at); });
        } catch (const OutputError& error) {
            unsaved = error.what();
        }
    };
    while (!at.finished && at.steps < limit) {
        const Step done = step(at.steps);
        ++at.steps;
        at.finished = done.finished;
        context.update(stage, at.steps, total, done.note);
        const bool more = !at.finished && at.steps < limit;
        const bool wanted = context.cancelled();
        if (more && (context.comm != nullptr ? context.comm->any(wanted) : wanted)) {
            if (writes && unsaved.empty()) save_now();
            stop(context, stage, at.steps, unsaved);
        }
        if (!writes || !unsaved.empty() || !clock.is_due()) continue;
        save_now();
        if (!unsaved.empty())
            context.message(
                fmt::format("{}: goes on without saving its state: {}", stage, unsaved));
    }
    return at.steps;
}

}  // namespace pleat

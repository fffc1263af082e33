// Steps: reporting, and asking whether to stop.
#include "pleat/core/loops/steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "pleat/core/error.h"
#include "pleat/core/loops/parallel.h"

namespace pleat {

StageProgress::StageProgress(const Context& context, std::string_view stage, std::int64_t total,
                             std::string_view unit, std::string_view kept)
    : context_(context), stage_(stage), unit_(unit), kept_(kept), total_(total) {}

void StageProgress::advance_to(std::int64_t done, std::string_view note) {
    context_.update(stage_, done, total_, note);
    if (done < total_) check();
}

void StageProgress::check() const { throw_if_cancelled(context_, stage_, kept_); }

void for_each_block(const Context& context, std::string_view stage, Index total, Index block,
                    const std::function<void(Index first, Index count)>& body,
                    std::string_view unit) {
    StageProgress progress(context, stage, total, unit);
    progress.check();
    for (Index first = 0; first < total; first += block) {
        const Index count = std::min(block, total - first);
        body(first, count);
        progress.advance_to(first + count);
    }
}

void for_each_frame(const Context& context, std::string_view stage, Index count,
                    const std::function<void(Index frame)>& body) {
    for_each_block(
        context, stage, count, 1, [&](Index frame, Index) { body(frame); }, "frames");
}

void throw_if_cancelled(const Context& context, std::string_view stage, std::string_view kept) {
    if (!context.cancelled()) return;
    std::error_code unknown;
    const bool resumes =
        !context.checkpoint.empty() && std::filesystem::exists(context.checkpoint, unknown);
    throw Cancelled(
        fmt::format("{}: stopped; {}{}", stage, kept,
                    resumes ? "; the same command goes on from what was saved before it" : ""));
}

void parallel_for_chunks(const Context& context, std::string_view stage, int threads, Index count,
                         Index chunk, const std::function<void(Index, int)>& body) {
    for (Index first = 0; first < count; first += chunk) {
        throw_if_cancelled(context, stage);
        parallel_for(threads, std::min(chunk, count - first),
                     [&](Index at, int thread) { body(first + at, thread); });
    }
}

}  // namespace pleat

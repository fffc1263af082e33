// Run stages: keeping runs that agree, and making the others.
#include "jobs/run_stages.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "options/ensemble_options.h"
#include "pleat/core/error.h"
#include "pleat/core/files/input_file.h"
#include "pleat/core/files/output_file.h"
#include "pleat/core/jobs/shared_inputs.h"

namespace pleat::program {

namespace {

/// Makes a second folder of a finished run, with hard links to its files if possible.
void copy_run(const std::filesystem::path& from, const std::filesystem::path& to) {
    namespace fs = std::filesystem;
    const fs::path partial = to.parent_path() / ".pleat-stage";
    const auto copy = [&](fs::copy_options how, std::error_code& error) {
        std::error_code ignored;
        fs::remove_all(partial, ignored);
        fs::copy(from, partial, fs::copy_options::recursive | how, error);
    };
    std::error_code error;
    copy(fs::copy_options::create_hard_links, error);
    if (error) copy(fs::copy_options::copy_symlinks, error);
    if (!error) fs::rename(partial, to, error);
    if (error)
        throw OutputError(fmt::format("{}: cannot be copied to {}: {}", from.string(), to.string(),
                                      error.message()));
}

}  // namespace

RunStages::RunStages(const RunOptions& options, const JobTask& task, RunDirectory& run)
    : options_(options), task_(task), run_(run) {}

JobTask RunStages::task_of(const Stage& stage, const Context& context) const {
    return {.arguments = call_words(stage.command, stage.arguments, stage.fields, stage.defaults,
                                    options_, (run_.path() / stage.name).string()),
            .shown = context.progress,
            .shares_process = task_.shares_process,
            .choose_device = task_.choose_device};
}

std::optional<FinishedRun> RunStages::find(const Stage& stage,
                                           const std::filesystem::path& folder) const {
    const auto look = [&](const std::filesystem::path& in) {
        return find_finished_run(in, stage.command, stage.fields, stage.inputs);
    };
    const std::filesystem::path earlier = run_.replaced() / stage.name;
    std::error_code none;
    if (run_.replaced().empty() || std::filesystem::exists(folder, none)) return look(folder);
    std::optional<FinishedRun> run = look(earlier);
    if (run && run->difference.empty()) copy_run(earlier, folder);
    return run;
}

bool RunStages::work_once(const Stage& stage, const std::filesystem::path& folder,
                          const std::function<void()>& work) {
    std::string key = stage.command;
    for (const Field& field : stage.fields) key += '\n' + field.text();
    for (const std::filesystem::path& input : stage.inputs) key += '\n' + input.string();
    bool is_own = false;
    const auto first = shared_input<std::filesystem::path>(task_.inputs, key, [&] {
        work();
        is_own = true;
        return folder;
    });
    std::error_code gone;
    if (!is_own && std::filesystem::exists(*first / "manifest.json", gone) &&
        !std::filesystem::exists(folder, gone)) {
        copy_run(*first, folder);
        return false;
    }
    if (!is_own) work();
    return true;
}

RunStages::StageRun RunStages::make(
    const Stage& stage, const Context& context,
    const std::function<void(const std::filesystem::path& folder, bool force)>& work) {
    const std::filesystem::path folder = run_.stage_folder(stage.name);
    const std::string shown = (run_.path() / stage.name).string();
    run_.stage(stage.name);
    RunDirectory::tidy(folder);
    const std::optional<FinishedRun> run = find(stage, folder);
    bool is_kept = run && run->difference.empty();
    if (is_kept) {
        context.message(fmt::format("{}: unchanged, using the existing results", shown));
    } else {
        if (run) context.message(fmt::format("{}: replaced, it has {}", shown, run->difference));
        is_kept = !work_once(stage, folder, [&] { work(folder, run.has_value()); });
        if (task_.stage_ended) task_.stage_ended();
    }
    take_up(folder, is_kept ? &context : nullptr);
    return {folder, is_kept};
}

void RunStages::take_up(const std::filesystem::path& folder, const Context* kept) {
    const std::vector<std::uint8_t> bytes = read_file(folder / "manifest.json");
    const nlohmann::json manifest = nlohmann::json::parse(bytes, nullptr, false);
    if (!manifest.is_object() || !manifest.contains("citations")) return;
    for (const nlohmann::json& paper : manifest["citations"])
        if (paper.is_object()) run_.cite(paper.value("key", ""));
    if (kept == nullptr || !manifest.contains("notes")) return;
    for (const nlohmann::json& note : manifest["notes"])
        for (int n = 0; n <= static_cast<int>(NoteKind::assumption); ++n)
            if (const auto kind = static_cast<NoteKind>(n); name_of(kind) == note.value("kind", ""))
                kept->note({kind, note.value("text", ""), note.value("option", ""),
                            note.value("warning", false)});
}

}  // namespace pleat::program

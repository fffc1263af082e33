// Select stages: keeping what agrees, making the rest.
#include "select_stages.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "pleat/core/error.h"
#include "pleat/core/files/output_file.h"
#include "pleat/core/files/read_file.h"

namespace pleat::program {

namespace {

/// "--NAME VALUE" as the command line reads it.
void append_option(std::vector<std::string>& words, const Field& field) {
    if (const auto* target = std::get_if<bool*>(&field.target)) {
        words.push_back((**target ? "--" : "--no-") + field.name);
        return;
    }
    const std::string text = field.text();
    const std::string value = !field.automatic.empty() && text == field.automatic ? "auto" : text;
    // A value that begins like a flag must stand in the same word.
    if (value.empty() || value.starts_with('-')) {
        words.push_back("--" + field.name + "=" + value);
        return;
    }
    words.push_back("--" + field.name);
    words.push_back(value);
}

/// Gives a finished run a second folder, whose files are links to the same data if possible.
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

std::vector<std::string> stage_arguments(const Stage& stage, const RunOptions& run,
                                         const std::filesystem::path& folder) {
    std::vector<std::string> words = {stage.command};
    words.insert(words.end(), stage.arguments.begin(), stage.arguments.end());
    words.insert(words.end(), {"-o", folder.string()});
    for (std::size_t n = 0; n < stage.fields.size(); ++n)
        if (stage.fields[n].text() != stage.defaults.at(n).text())
            append_option(words, stage.fields[n]);
    const RunOptions usual;
    if (run.device != usual.device) words.insert(words.end(), {"--device", run.device});
    if (run.threads != usual.threads)
        words.insert(words.end(), {"--threads", std::to_string(run.threads.value_or(1))});
    if (run.seed != usual.seed) words.insert(words.end(), {"--seed", std::to_string(run.seed)});
    return words;
}

Stages::Stages(RunDirectory& run) : run_(run), mark_(run.checkpoint("checkpoint-stages.txt")) {}

std::optional<FinishedRun> Stages::find(const Stage& stage, const std::filesystem::path& folder) {
    const auto look = [&](const std::filesystem::path& in) {
        return find_finished_run(in, stage.command, stage.fields, stage.inputs);
    };
    const std::filesystem::path earlier = run_.replaced() / stage.name;
    std::error_code none;
    if (run_.replaced().empty() || std::filesystem::exists(folder, none)) return look(folder);
    std::optional<FinishedRun> found = look(earlier);
    if (found && found->difference.empty()) copy_run(earlier, folder);
    return found;
}

std::filesystem::path Stages::make(
    const Stage& stage, const Context& context,
    const std::function<void(const std::filesystem::path& folder, bool force)>& work) {
    const std::filesystem::path folder = run_.stage_folder(stage.name);
    const auto mark = [&] { write_text(mark_, "stages of this selection are in folders here\n"); };
    const std::string shown = final_folder(stage).string();
    run_.stage(stage.name);
    RunDirectory::tidy(folder);
    const std::optional<FinishedRun> found = find(stage, folder);
    if (found && found->difference.empty()) {
        context.message(fmt::format("{}: kept, it is what it was", shown));
    } else {
        if (found)
            context.message(fmt::format("{}: replaced, it has {}", shown, found->difference));
        try {
            work(folder, found.has_value());
        } catch (...) {
            if (std::filesystem::exists(folder)) mark();
            throw;
        }
    }
    mark();
    cite(folder);
    return folder;
}

void Stages::cite(const std::filesystem::path& folder) {
    const std::vector<std::uint8_t> bytes = read_file(folder / "manifest.json");
    const nlohmann::json manifest = nlohmann::json::parse(bytes, nullptr, false);
    if (!manifest.is_object() || !manifest.contains("citations")) return;
    for (const nlohmann::json& paper : manifest["citations"])
        if (paper.is_object()) run_.cite(paper.value("key", ""));
}

}  // namespace pleat::program

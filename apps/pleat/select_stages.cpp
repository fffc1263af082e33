// Select stages: keeping what agrees, making the rest.
#include "select_stages.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "pleat/core/finished_run.h"
#include "pleat/core/output_file.h"
#include "pleat/core/read_file.h"

namespace pleat::program {

namespace {

/// The entry of that key in a bibliography; empty where there is none.
std::string entry_of(const std::string& bibliography, const std::string& key) {
    const std::size_t at = bibliography.find("{" + key + ",");
    if (at == std::string::npos) return {};
    const std::size_t from = bibliography.rfind('@', at);
    const std::size_t end = bibliography.find("\n}\n", at);
    if (from == std::string::npos || end == std::string::npos) return {};
    return bibliography.substr(from, end + 3 - from);
}

}  // namespace

Stages::Stages(RunDirectory& run, bool force)
    : run_(run), mark_(run.checkpoint("checkpoint-stages.txt")), force_(force) {}

std::filesystem::path Stages::make(
    const Stage& stage, const Context& context,
    const std::function<void(const std::filesystem::path& folder, bool force)>& work) {
    const std::filesystem::path folder = run_.path() / stage.name;
    const auto mark = [&] { write_text(mark_, "stages of this selection are in folders here\n"); };
    run_.stage(stage.name);
    const std::optional<FinishedRun> found =
        find_finished_run(folder, stage.command, stage.fields, stage.inputs);
    if (found && found->difference.empty()) {
        context.message(fmt::format("{}: kept, it is what it was", folder.string()));
    } else {
        if (found)
            context.message(
                fmt::format("{}: replaced, it has {}", folder.string(), found->difference));
        try {
            work(folder, force_ || found.has_value());
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
    const std::filesystem::path file = folder / "cite.bib";
    std::error_code ignored;
    if (!manifest.is_object() || !manifest.contains("citations") ||
        !std::filesystem::is_regular_file(file, ignored))
        return;
    const std::vector<std::uint8_t> text = read_file(file);
    const std::string bibliography(text.begin(), text.end());
    for (const nlohmann::json& work : manifest["citations"]) {
        if (!work.is_object()) continue;
        const std::string key = work.value("key", "");
        run_.cite({key, work.value("text", ""), entry_of(bibliography, key)});
    }
}

}  // namespace pleat::program

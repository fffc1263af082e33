// Run directory: claiming a folder, recording the run, finishing it or cleaning up.
#include "pleat/core/run/run_directory.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <fstream>
#include <future>
#include <optional>
#include <set>
#include <stdexcept>

#include "pleat/core/error.h"
#include "pleat/core/files/output_file.h"
#include "pleat/core/hardware/instruction_set.h"
#include "pleat/core/hardware/memory.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/core/loops/threads.h"
#include "pleat/core/ranks/deal.h"
#include "pleat/core/ranks/pack.h"
#include "pleat/core/ranks/rank_files.h"
#include "pleat/core/run/folder_claim.h"
#include "pleat/core/run/manifest.h"
#include "pleat/core/terminal/progress_terminal.h"

namespace pleat {

namespace {

/// Now, by two clocks in seconds.
struct Instant {
    std::chrono::steady_clock::time_point wall = std::chrono::steady_clock::now();
    double cpu = cpu_now();

    static double cpu_now() {
        rusage usage{};
        ::getrusage(RUSAGE_SELF, &usage);
        const auto seconds = [](timeval t) {
            return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
        };
        return seconds(usage.ru_utime) + seconds(usage.ru_stime);
    }
    double seconds_until(const Instant& end) const {
        return std::chrono::duration<double>(end.wall - wall).count();
    }
};

constexpr std::string_view kCheckpointPrefix = "checkpoint";

std::string utc_now() {
    return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

bool is_own_name(std::string_view name) {
    return name == kManifestFile || name == kLogFile || name == kBibliographyFile;
}

bool contains(const std::vector<std::string>& names, std::string_view name) {
    return std::ranges::find(names, name) != names.end();
}

/// Throws if a run without --force may not write to the folder.
void require_unfinished(const EarlierRun& earlier, const RunDirectory::Request& request,
                        const std::string& folder) {
    if (!earlier.is_ours)
        throw UsageError(
            fmt::format("{}: expected a new or empty folder, found files that are not of "
                        "a run; choose another folder, or --force to write among them",
                        folder));
    if (earlier.status != "finished" && earlier.command == request.command) return;
    throw UsageError(fmt::format(
        "{}: holds {} run of 'pleat {}'; choose another folder, or --force to "
        "replace it",
        folder, earlier.status == "finished" ? "a finished" : "an unfinished", earlier.command));
}

}  // namespace

struct RunDirectory::Implementation : Progress {
    explicit Implementation(const Request& request) : folder(request.path) {
        try {
            take_over(request);
        } catch (...) {
            folder.remove_created();
            throw;
        }
        manifest.command = request.command;
        manifest.arguments = request.arguments;
        manifest.shares_process = request.shares_process;
        manifest.started = utc_now();
        try {
            list_outputs();
            save_manifest("running");
            open_log();
        } catch (...) {
            if (!has_something_to_keep()) tidy_away();
            throw;
        }
    }

    // A forced run works in a hidden folder within, and replaces the content of the folder only
    // when it has finished (docs/decisions/0025).
    void take_over(const Request& request) {
        finish_replacement(folder);
        const std::filesystem::path hidden = forced_folder(folder.path());
        const EarlierRun stopped = read_earlier_run(hidden / kManifestFile);
        if (resumes_forced_run(folder.path(), request.command, request.arguments, request.force)) {
            forced.emplace(hidden);
            return resume();
        }
        if (stopped.is_ours && !request.force)
            throw UsageError(
                fmt::format("{}: holds a forced run of 'pleat {}' that has not finished; give its "
                            "command again to resume it, or --force to replace it",
                            folder.path().string(), stopped.command));
        std::error_code ignored;
        std::filesystem::remove_all(hidden, ignored);
        if (folder.is_empty()) return;
        if (request.force) {
            forced.emplace(hidden);
            return;
        }
        require_unfinished(read_earlier_run(folder.path() / kManifestFile), request,
                           folder.path().string());
        resume();
    }
    void resume() {
        manifest.resumed = true;
        const RunFiles made = files_of_run(folder_in_use());
        for (const std::string& name : made.names)
            if (!name.starts_with(kCheckpointPrefix) && !is_own_name(name)) stale.push_back(name);
        stale_stages = made.stages;
    }
    void open_log() {
        const std::filesystem::path path = folder_in_use() / kLogFile;
        log_file.open(path, manifest.resumed ? std::ios::app : std::ios::trunc);
        if (!log_file) throw OutputError(fmt::format("{}: cannot be written", path.string()));
        log_progress = std::make_unique<LogProgress>(
            [this](std::string_view line) { log_file << utc_now() << ' ' << line << std::endl; });
    }
    /// The folder that this run writes to: its own, or the hidden folder of a forced run.
    FolderClaim& claim() { return forced ? *forced : folder; }
    const FolderClaim& claim() const { return forced ? *forced : folder; }
    const std::filesystem::path& folder_in_use() const { return claim().path(); }
    /// Removes results of the resumed run that this one did not write again.
    void remove_stale_files() const {
        for (const std::string& name : stale)
            if (!contains(output_names, name)) remove_quietly(folder_in_use() / name);
        for (const std::string& stage : stale_stages)
            if (!contains(manifest.stages, stage)) remove_run(folder_in_use() / stage);
    }
    void switch_stage(std::string_view name, const Instant& since) {
        auto& timings = manifest.timings;
        if (!timings.empty()) {
            timings.back().seconds += stage_start.seconds_until(since);
            timings.back().cpu_seconds += since.cpu - stage_start.cpu;
        }
        stage_start = since;
        timings.push_back({std::string(name), 0.0, 0.0});
    }
    void list_outputs() {
        manifest.outputs.clear();
        std::vector<std::string> names = output_names;
        for (const std::string& name : stale)
            if (!contains(names, name)) names.push_back(name);
        for (const std::string& name : names) {
            std::error_code error;
            const auto bytes = std::filesystem::file_size(folder_in_use() / name, error);
            if (!error) manifest.outputs.push_back({name, static_cast<std::int64_t>(bytes)});
        }
    }
    void await_hashes() {
        for (auto& [input, hash] : std::exchange(hashes, {}))
            manifest.inputs[input].hash = hash.get();
    }
    void save_manifest(std::string_view status) {
        await_hashes();
        const Instant now;
        Manifest shot = manifest;
        shot.status = status;
        if (!shot.timings.empty()) {
            shot.timings.back().seconds += stage_start.seconds_until(now);
            shot.timings.back().cpu_seconds += now.cpu - stage_start.cpu;
        }
        if (status != "running") shot.finished = utc_now();
        shot.seconds = start.seconds_until(now);
        shot.cpu_seconds = now.cpu;
        shot.peak_memory = peak_memory();
        write_text(folder_in_use() / kManifestFile, to_json(shot));
    }
    void tidy_away() {
        log_progress.reset();
        log_file.close();
        if (forced) {
            std::error_code ignored;
            std::filesystem::remove_all(folder_in_use(), ignored);
            return forced.reset();
        }
        remove_partial_files();
        // The manifest is written last: until then a killed run can be repeated.
        for (const char* name : {kLogFile, kBibliographyFile, kManifestFile})
            remove_quietly(folder_in_use() / name);
        folder.clear_notes();
        folder.remove_created();
    }
    /// Removes incomplete files of a killed process.
    void remove_partial_files() const {
        RunFiles own{{output_names.begin(), output_names.end()}, {}};
        own.names.insert(checkpoint_names.begin(), checkpoint_names.end());
        own.names.insert(stale.begin(), stale.end());
        own.names.insert({kManifestFile, kBibliographyFile});
        for (const auto& entry : std::filesystem::directory_iterator(folder_in_use())) {
            const std::string name = entry.path().filename().string();
            if (!complete_name(name).empty() && own.contains(name)) remove_quietly(entry.path());
        }
    }
    bool has_something_to_keep() const {
        // A resumed run may have failed before it listed the files of the earlier run.
        const std::filesystem::directory_iterator entries(folder_in_use());
        const auto is_content = [](const auto& entry) {
            const std::string name = entry.path().filename().string();
            return complete_name(name).empty() && !is_hidden_name(name) && !is_own_name(name);
        };
        if (manifest.resumed && std::any_of(begin(entries), end(entries), is_content)) return true;
        const auto exists = [&](const std::string& name) {
            return std::filesystem::exists(folder_in_use() / name) ||
                   !rank_files(folder_in_use() / name).empty();
        };
        // A stage that failed has removed its folder unless it can be resumed.
        return std::ranges::any_of(output_names, exists) ||
               std::ranges::any_of(manifest.stages, exists) ||
               std::ranges::any_of(checkpoint_names, exists);
    }
    std::filesystem::path file(std::string_view name) const {
        const std::filesystem::path plain(name);
        if (plain.empty() || plain.filename() != plain || is_own_name(name) || is_hidden_name(name))
            throw std::logic_error(fmt::format("'{}' is no name for a file of a run", name));
        return folder_in_use() / plain;
    }

    void update(std::string_view stage, std::int64_t done, std::int64_t total,
                std::string_view note) override {
        // A stage first reports after some work, so its start is the time of the previous event.
        if (manifest.timings.empty() || manifest.timings.back().stage != stage)
            switch_stage(stage, last_event);
        last_event = Instant();
        log_progress->update(stage, done, total, note);
        if (shown != nullptr) shown->update(stage, done, total, note);
    }
    bool cancelled() override { return shown != nullptr && shown->cancelled(); }
    void message(std::string_view text) override {
        manifest.messages.emplace_back(text);
        log_progress->message(text);
        if (shown != nullptr) shown->message(text);
    }
    void note(const Note& note) override {
        manifest.notes.push_back(note);
        log_progress->note(note);
        if (shown == nullptr) return;
        // There may be many files of one kind with the same note.
        constexpr int kMaxShown = 3;
        const int seen = count(manifest.notes, note.kind);
        if (seen <= kMaxShown || note.is_warning) shown->note(note);
        if (seen == kMaxShown + 1)
            shown->message(fmt::format("more notes of the kind '{}' are in {}", name_of(note.kind),
                                       (folder.path() / kManifestFile).string()));
    }

    FolderClaim folder;
    std::optional<FolderClaim> forced;  ///< in `folder`, over what it holds until this run finishes
    Manifest manifest;
    std::string bibliography;
    std::vector<std::string> output_names, checkpoint_names;
    std::vector<std::string> stale;      ///< outputs of the run that this one resumes
    std::set<std::string> stale_stages;  ///< and folders of runs within it
    std::ofstream log_file;
    std::unique_ptr<LogProgress> log_progress;
    Progress* shown = nullptr;
    std::vector<std::pair<std::size_t, std::future<FileHash>>>
        hashes;  ///< background hashes, with the number of the input
    Instant start, stage_start, last_event;
    bool finished = false;
};

RunDirectory::RunDirectory(const Request& request) {
    Comm alone;
    Comm& comm = request.comm != nullptr ? *request.comm : alone;
    run_on_first_rank(comm, [&] {
        implementation_ = std::make_unique<Implementation>(request);
        path_ = implementation_->folder.path();
        path_in_use_ = implementation_->folder_in_use();
    });
    share(comm, path_, path_in_use_);
}

RunDirectory::~RunDirectory() {
    if (!is_here() || implementation_->finished) return;
    Implementation& run = *implementation_;
    try {
        if (!run.has_something_to_keep()) {
            run.tidy_away();
            return;
        }
        run.list_outputs();
        run.save_manifest("unfinished");
    } catch (const std::exception&) {
        // If the disk is full while unwinding, the manifest still says "running", which also
        // resumes.
    }
}

bool RunDirectory::resumed() const { return is_here() && implementation_->manifest.resumed; }

bool RunDirectory::has_state(const std::filesystem::path& folder) {
    const EarlierRun run = read_earlier_run(folder / kManifestFile);
    return (run.is_ours && run.status != "finished") ||
           read_earlier_run(forced_folder(folder) / kManifestFile).is_ours;
}

void RunDirectory::tidy(const std::filesystem::path& folder) {
    std::error_code none;
    if (!std::filesystem::exists(folder / kLockFile, none)) return;
    FolderClaim claim(folder);
    finish_replacement(claim);
}

std::filesystem::path RunDirectory::output(std::string_view name) {
    if (!is_here()) return path_in_use_ / name;
    Implementation& run = *implementation_;
    const std::filesystem::path path = run.file(name);
    const std::filesystem::path target = run.folder.path() / name;
    if (std::filesystem::is_directory(target))
        throw OutputError(fmt::format("{}: cannot be written: it is a folder", target.string()));
    if (contains(run.output_names, name)) return path;
    run.output_names.emplace_back(name);
    run.claim().note(name);
    return path;
}

std::filesystem::path RunDirectory::stage_folder(const std::string& name) {
    if (!is_here()) return path_in_use_ / name;
    Implementation& run = *implementation_;
    run.manifest.stages.push_back(name);
    run.claim().note(name + "/");
    return run.file(name);
}

std::filesystem::path RunDirectory::replaced() const {
    return path_in_use_ == path_ ? std::filesystem::path() : path_;
}

std::filesystem::path RunDirectory::checkpoint(std::string_view name) {
    if (!is_here()) return path_in_use_ / name;
    if (!name.starts_with(kCheckpointPrefix))
        throw std::logic_error(fmt::format("checkpoint names begin with '{}'", kCheckpointPrefix));
    const std::filesystem::path path = implementation_->file(name);
    implementation_->checkpoint_names.emplace_back(name);
    implementation_->claim().note(name);
    return path;
}

void RunDirectory::require_space(std::int64_t bytes) const {
    if (is_here() && !resumed()) require_disk_space(path(), bytes);
}

void RunDirectory::input(const std::filesystem::path& path) {
    if (!is_here()) return;
    Implementation& run = *implementation_;
    for (const Manifest::Input& listed : run.manifest.inputs)
        if (listed.path == path.string()) return;
    if (run.forced) refuse_replaced_input(run.folder.path(), path);
    run.manifest.inputs.push_back({path.string(), {}});
    run.claim().note(input_note(path));
    run.hashes.emplace_back(run.manifest.inputs.size() - 1,
                            run_in_background([path] { return hash_input(path); }));
}

void RunDirectory::input(std::string_view name, const FileHash& hash) {
    if (!is_here()) return;
    implementation_->manifest.inputs.push_back({std::string(name), hash});
    implementation_->claim().note(input_note({}));
}

void RunDirectory::sources(const std::vector<std::string>& paths) {
    if (is_here()) implementation_->manifest.sources = paths;
}

void RunDirectory::parameters(const std::vector<Field>& fields) {
    if (!is_here()) return;
    for (const Field& field : fields)
        implementation_->manifest.parameters.emplace_back(field.name, manifest_value(field));
}

void RunDirectory::context(const Context& context) {
    if (!is_here()) return;
    Manifest& manifest = implementation_->manifest;
    manifest.device = device_names(context);
    const bool uses_simd = context.device.kind == Device::Kind::cpu;
    manifest.instruction_set = uses_simd ? instruction_set() : "";
    manifest.threads = resolve_threads(context);
    manifest.ranks = context.comm != nullptr ? context.comm->size() : 1;
    manifest.seed = context.seed;
}

void RunDirectory::fact(std::string_view name, double value) {
    if (is_here()) implementation_->manifest.results.emplace_back(name, value);
}

void RunDirectory::fact(std::string_view name, std::int64_t value) {
    if (is_here()) implementation_->manifest.results.emplace_back(name, value);
}

void RunDirectory::fact(std::string_view name, std::string_view value) {
    if (is_here()) implementation_->manifest.results.emplace_back(name, std::string(value));
}

void RunDirectory::cite(std::string_view key) {
    if (!is_here()) return;
    auto& citations = implementation_->manifest.citations;
    const auto is_same = [&](const auto& cited) { return cited.first == key; };
    if (std::ranges::any_of(citations, is_same)) return;
    const Citation citation = find_citation(key);
    citations.emplace_back(citation.key, citation.text);
    implementation_->bibliography += citation.bibtex + "\n";
}

void RunDirectory::stage(std::string_view name) {
    if (!is_here()) return;
    implementation_->log_progress->end_stage();
    implementation_->last_event = Instant();
    implementation_->switch_stage(name, implementation_->last_event);
}

Progress* RunDirectory::watch(Progress* shown) {
    if (!is_here()) return shown;
    implementation_->shown = shown;
    if (resumed())
        implementation_->message(fmt::format("resuming the unfinished run in {}", path().string()));
    return implementation_.get();
}

void RunDirectory::finish() {
    if (!is_here()) return;
    Implementation& run = *implementation_;
    run.log_progress.reset();
    run.log_file.close();
    run.remove_stale_files();
    run.stale.clear();
    run.list_outputs();
    if (!run.bibliography.empty())
        write_text(run.folder_in_use() / kBibliographyFile, run.bibliography);
    run.save_manifest("finished");
    run.finished = true;
    for (const std::string& name : run.checkpoint_names) {
        remove_quietly(run.folder_in_use() / name);
        for (const auto& path : rank_files(run.folder_in_use() / name)) remove_quietly(path);
    }
    run.remove_partial_files();
    run.claim().clear_notes();
    if (!run.forced) return;
    replace_run(run.folder, *run.forced);
    run.forced.reset();
}

}  // namespace pleat

// Run directory: taking a folder, recording the run, finishing or tidying away.
#include "pleat/core/run_directory.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <fstream>
#include <future>
#include <stdexcept>

#include "pleat/core/error.h"
#include "pleat/core/folder_claim.h"
#include "pleat/core/instruction_set.h"
#include "pleat/core/job_pool.h"
#include "pleat/core/manifest.h"
#include "pleat/core/memory.h"
#include "pleat/core/output_file.h"
#include "pleat/core/parallel.h"
#include "pleat/core/progress_terminal.h"
#include "pleat/core/rank_files.h"

namespace pleat {

namespace {

constexpr const char* kManifest = "manifest.json";
constexpr const char* kLog = "log.txt";
constexpr const char* kCite = "cite.bib";
constexpr std::string_view kCheckpointPrefix = "checkpoint";

std::string utc_now() {
    return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

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

bool remove_quietly(const std::filesystem::path& path) {
    std::error_code ignored;
    return std::filesystem::remove(path, ignored);
}

}  // namespace

struct RunDirectory::Implementation : Progress {
    explicit Implementation(const Request& request);

    void take_over(const Request& request);
    void open_log();
    void set_earlier_aside();
    static std::string aside(const std::string& name) { return name + ".earlier"; }
    void move_quietly(const std::string& from, const std::string& to) const;
    void remove_stale_files() const;
    void switch_stage(std::string_view name, const Instant& since);
    void list_outputs();
    void await_hashes();
    void save_manifest(std::string_view status);
    void tidy_away();
    void remove_partial_files() const;
    void remove_rank_files(const std::string& name, std::string_view suffix) const;
    bool has_something_to_keep() const;
    std::filesystem::path file(std::string_view name) const;

    void update(std::string_view stage, std::int64_t done, std::int64_t total,
                std::string_view note) override;
    bool cancelled() override { return shown != nullptr && shown->cancelled(); }
    void message(std::string_view text) override;

    FolderClaim folder;
    Manifest manifest;
    std::string bibliography;
    std::vector<std::string> output_names, checkpoint_names;
    std::vector<std::string> stale;  ///< outputs of an earlier run in this folder
    bool replaces = false;           ///< a forced run over an earlier one
    std::ofstream log_file;
    std::unique_ptr<LogProgress> log_progress;
    Progress* shown = nullptr;
    std::vector<std::pair<std::size_t, std::future<FileHash>>> hashes;  ///< of inputs by number
    Instant start, stage_start, last_event;
    bool finished = false;
};

RunDirectory::Implementation::Implementation(const Request& request) : folder(request.path) {
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
        save_manifest("running");
        open_log();
    } catch (...) {
        if (!has_something_to_keep()) tidy_away();
        throw;
    }
}

void RunDirectory::Implementation::open_log() {
    const std::filesystem::path path = folder.path() / kLog;
    log_file.open(path, manifest.resumed ? std::ios::app : std::ios::trunc);
    if (!log_file) throw OutputError(fmt::format("{}: cannot be written", path.string()));
    log_progress = std::make_unique<LogProgress>(
        [this](std::string_view line) { log_file << utc_now() << ' ' << line << std::endl; });
}

void RunDirectory::Implementation::take_over(const Request& request) {
    if (folder.is_empty()) return;
    const std::string name = folder.path().string();
    const EarlierRun earlier = read_earlier_run(folder.path() / kManifest);
    stale = earlier.outputs;
    if (request.force) {
        if (earlier.is_ours) set_earlier_aside();
        return;
    }
    if (!earlier.is_ours)
        throw UsageError(
            fmt::format("{}: expected a new or empty folder, found files that are not of "
                        "a run; choose another folder, or --force to write among them",
                        name));
    if (earlier.status == "finished")
        throw UsageError(
            fmt::format("{}: holds a finished run of 'pleat {}'; choose another folder, "
                        "or --force to replace it",
                        name, earlier.command));
    if (earlier.command != request.command)
        throw UsageError(
            fmt::format("{}: holds an unfinished run of 'pleat {}'; choose another folder, "
                        "or --force to replace it",
                        name, earlier.command));
    manifest.resumed = true;
}

// A forced run replaces the earlier one when it has results of its own, not before: until then the
// earlier results stand, and what describes them waits under another name.
void RunDirectory::Implementation::set_earlier_aside() {
    replaces = true;
    for (const char* name : {kManifest, kLog, kCite}) move_quietly(name, aside(name));
    for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
        const std::string name = entry.path().filename().string();
        if (entry.is_regular_file() && name.starts_with(kCheckpointPrefix))
            remove_quietly(entry.path());
    }
}

void RunDirectory::Implementation::move_quietly(const std::string& from,
                                                const std::string& to) const {
    std::error_code ignored;
    std::filesystem::rename(folder.path() / from, folder.path() / to, ignored);
}

/// What an earlier run left and this one did not write again would pass for a result of this one.
void RunDirectory::Implementation::remove_stale_files() const {
    for (const char* name : {kManifest, kLog, kCite}) remove_quietly(folder.path() / aside(name));
    for (const std::string& name : stale) {
        if (std::find(output_names.begin(), output_names.end(), name) == output_names.end())
            remove_quietly(folder.path() / name);
    }
}

std::filesystem::path RunDirectory::Implementation::file(std::string_view name) const {
    const std::filesystem::path plain(name);
    if (plain.empty() || plain.filename() != plain || name == kManifest || name == kLog)
        throw std::logic_error(fmt::format("'{}' is no name for a file of a run", name));
    return folder.path() / plain;
}

void RunDirectory::Implementation::switch_stage(std::string_view name, const Instant& since) {
    auto& timings = manifest.timings;
    if (!timings.empty()) {
        timings.back().seconds += stage_start.seconds_until(since);
        timings.back().cpu_seconds += since.cpu - stage_start.cpu;
    }
    stage_start = since;
    timings.push_back({std::string(name), 0.0, 0.0});
}

void RunDirectory::Implementation::update(std::string_view stage, std::int64_t done,
                                          std::int64_t total, std::string_view note) {
    // A stage reports after its first piece of work, which began after the last event before it.
    if (manifest.timings.empty() || manifest.timings.back().stage != stage)
        switch_stage(stage, last_event);
    last_event = Instant();
    log_progress->update(stage, done, total, note);
    if (shown != nullptr) shown->update(stage, done, total, note);
}

void RunDirectory::Implementation::message(std::string_view text) {
    manifest.messages.emplace_back(text);
    log_progress->message(text);
    if (shown != nullptr) shown->message(text);
}

void RunDirectory::Implementation::list_outputs() {
    manifest.outputs.clear();
    std::vector<std::string> names = output_names;
    for (const std::string& name : stale) {
        if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
    for (const std::string& name : names) {
        std::error_code error;
        const auto bytes = std::filesystem::file_size(folder.path() / name, error);
        if (!error) manifest.outputs.push_back({name, static_cast<std::int64_t>(bytes)});
    }
}

void RunDirectory::Implementation::await_hashes() {
    for (auto& [input, hash] : std::exchange(hashes, {})) manifest.inputs[input].hash = hash.get();
}

void RunDirectory::Implementation::save_manifest(std::string_view status) {
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
    write_text(folder.path() / kManifest, to_json(shot));
}

bool RunDirectory::Implementation::has_something_to_keep() const {
    const auto exists = [&](const std::string& name) {
        return std::filesystem::exists(folder.path() / name);
    };
    // A resumed run may fail before it names the files that the run before it left.
    const std::filesystem::directory_iterator entries(folder.path());
    const auto is_content = [](const auto& entry) {
        const std::string name = entry.path().filename().string();
        return !name.ends_with(OutputFile::kSuffix) && name != kManifest && name != kLog &&
               name != kCite;
    };
    if (manifest.resumed && std::any_of(begin(entries), end(entries), is_content)) return true;
    const auto exists_for_ranks = [&](const std::string& name) {
        return exists(name) || !rank_files(folder.path() / name).empty();
    };
    return std::any_of(output_names.begin(), output_names.end(), exists) ||
           std::any_of(checkpoint_names.begin(), checkpoint_names.end(), exists_for_ranks);
}

/// Removes what a killed process left of files that it was writing.
void RunDirectory::Implementation::remove_partial_files() const {
    std::vector<std::string> names = output_names;
    names.insert(names.end(), checkpoint_names.begin(), checkpoint_names.end());
    names.insert(names.end(), {kManifest, kCite});
    for (const std::string& name : names)
        remove_quietly(folder.path() / (name + std::string(OutputFile::kSuffix)));
    for (const std::string& name : checkpoint_names) remove_rank_files(name, OutputFile::kSuffix);
}

void RunDirectory::Implementation::remove_rank_files(const std::string& name,
                                                     std::string_view suffix) const {
    for (const auto& path : rank_files(folder.path() / name, suffix)) remove_quietly(path);
}

void RunDirectory::Implementation::tidy_away() {
    log_progress.reset();
    log_file.close();
    for (const char* name : {kManifest, kLog, kCite}) {
        remove_quietly(folder.path() / name);
        if (replaces) move_quietly(aside(name), name);
    }
    remove_partial_files();
    folder.remove_created();
}

RunDirectory::RunDirectory(const Request& request)
    : implementation_(std::make_unique<Implementation>(request)) {}

RunDirectory::~RunDirectory() {
    Implementation& run = *implementation_;
    if (run.finished) return;
    try {
        if (!run.has_something_to_keep()) {
            run.tidy_away();
            return;
        }
        if (run.replaces) run.remove_stale_files();
        run.list_outputs();
        run.save_manifest("unfinished");
    } catch (const std::exception&) {
        // A full disk while unwinding: the manifest keeps saying "running", which resumes as well.
    }
}

const std::filesystem::path& RunDirectory::path() const { return implementation_->folder.path(); }

bool RunDirectory::resumed() const { return implementation_->manifest.resumed; }

std::filesystem::path RunDirectory::output(std::string_view name) {
    auto& names = implementation_->output_names;
    const std::filesystem::path path = implementation_->file(name);
    if (std::find(names.begin(), names.end(), name) == names.end()) names.emplace_back(name);
    return path;
}

std::filesystem::path RunDirectory::checkpoint(std::string_view name) {
    if (!name.starts_with(kCheckpointPrefix))
        throw std::logic_error(fmt::format("checkpoint names begin with '{}'", kCheckpointPrefix));
    const std::filesystem::path path = implementation_->file(name);
    implementation_->checkpoint_names.emplace_back(name);
    return path;
}

void RunDirectory::input(const std::filesystem::path& path) {
    Implementation& run = *implementation_;
    for (const Manifest::Input& listed : run.manifest.inputs)
        if (listed.path == path.string()) return;
    run.manifest.inputs.push_back({path.string(), {}});
    run.hashes.emplace_back(run.manifest.inputs.size() - 1,
                            run_behind([path] { return hash_file(path); }));
}

void RunDirectory::input(std::string_view name, const FileHash& hash) {
    implementation_->manifest.inputs.push_back({std::string(name), hash});
}

void RunDirectory::sources(const std::vector<std::string>& paths) {
    implementation_->manifest.sources = paths;
}

void RunDirectory::parameters(const std::vector<Field>& fields) {
    for (const Field& field : fields)
        implementation_->manifest.parameters.emplace_back(field.name, manifest_value(field));
}

void RunDirectory::context(const Context& context) {
    Manifest& manifest = implementation_->manifest;
    manifest.device = context.device.name();
    const bool uses_simd = context.device.kind == Device::Kind::cpu;
    manifest.instruction_set = uses_simd ? instruction_set() : "";
    manifest.threads = resolve_threads(context);
    manifest.ranks = context.comm != nullptr ? context.comm->size() : 1;
    manifest.seed = context.seed;
}

void RunDirectory::fact(std::string_view name, double value) {
    implementation_->manifest.results.emplace_back(name, value);
}

void RunDirectory::fact(std::string_view name, std::int64_t value) {
    implementation_->manifest.results.emplace_back(name, value);
}

void RunDirectory::fact(std::string_view name, std::string_view value) {
    implementation_->manifest.results.emplace_back(name, std::string(value));
}

void RunDirectory::cite(const Citation& citation) {
    auto& citations = implementation_->manifest.citations;
    const auto same = [&](const auto& known) { return known.first == citation.key; };
    if (std::any_of(citations.begin(), citations.end(), same)) return;
    citations.emplace_back(citation.key, citation.text);
    implementation_->bibliography += citation.bibtex + "\n";
}

void RunDirectory::log(std::string_view line) { implementation_->log_progress->message(line); }

void RunDirectory::stage(std::string_view name) {
    implementation_->log_progress->end_stage();
    implementation_->last_event = Instant();
    implementation_->switch_stage(name, implementation_->last_event);
}

Progress& RunDirectory::watch(Progress* shown) {
    implementation_->shown = shown;
    return *implementation_;
}

void RunDirectory::finish() {
    Implementation& run = *implementation_;
    run.log_progress.reset();
    run.log_file.close();
    run.remove_stale_files();
    run.list_outputs();
    if (!run.bibliography.empty()) write_text(run.folder.path() / kCite, run.bibliography);
    run.save_manifest("finished");
    run.finished = true;
    for (const std::string& name : run.checkpoint_names) {
        remove_quietly(run.folder.path() / name);
        run.remove_rank_files(name, {});
    }
    run.remove_partial_files();
}

}  // namespace pleat

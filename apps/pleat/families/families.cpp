// Families: the order of the fits, the workers, and the report at the end.
#include "families/families.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <mutex>

#include "families/family_progress.h"
#include "families/family_resources.h"
#include "families/family_table.h"
#include "pleat/core/error.h"
#include "pleat/core/files/input_file.h"
#include "pleat/core/files/output_file.h"
#include "pleat/core/files/printable.h"
#include "pleat/core/files/read_file.h"
#include "pleat/core/hardware/memory.h"
#include "pleat/core/loops/job_pool.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/core/run/finished_run.h"
#include "pleat/core/run/folder_claim.h"
#include "process/failure.h"
#include "process/standard_output.h"

namespace pleat::program {

namespace {

constexpr const char* kTable = "families.tsv";
constexpr const char* kManifest = "manifest.json";  // found only in the folder of one run
constexpr double kTableSeconds = 10;  // shortest time between two writings while families run
constexpr int kDeviceOrMemory = 4;    // exit code of DeviceError, and of memory that ran out

double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

std::vector<std::string> all_paths(const CouplingsOptions& options) {
    std::vector<std::string> paths = options.alignment.paths;
    if (options.list.empty()) return paths;
    const std::vector<std::uint8_t> bytes = read_file(options.list, kMaxListBytes);
    const std::vector<std::string> listed =
        parse_path_list(options.list == "-" ? "stdin" : options.list,
                        {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    paths.insert(paths.end(), listed.begin(), listed.end());
    return paths;
}

/// Throws UsageError for options that make sense for one family only.
void check_options(const CouplingsOptions& options, const std::vector<std::string>& paths) {
    const auto refuse = [&](const std::string& option, const char* what) {
        throw UsageError(
            fmt::format("--{}: expected one family, as {} belongs to one, found {} or a "
                        "list; run that family by itself or leave this option out",
                        option, what, paths.size()));
    };
    if (!options.structure.structure.empty()) refuse("structure", "a structure");
    if (!options.structure.row.empty()) refuse("row", "a row");
    if (!options.parameters.initial.empty()) refuse("initial", "an earlier model");
    if (std::find(paths.begin(), paths.end(), "-") != paths.end())
        throw UsageError(
            "expected files where there are several families, found '-'; save standard "
            "input to a file, or run that family by itself");
    refuse_pipes(paths, "a family may be read again");
    std::error_code absent;
    if (std::filesystem::is_regular_file(std::filesystem::path(options.run.output) / kManifest,
                                         absent))
        throw UsageError(
            fmt::format("{}: expected a folder for the runs of several families, found "
                        "the run of one; choose another folder",
                        options.run.output));
}

std::vector<FamilyRecord> make_records(const CouplingsOptions& options,
                                       const std::vector<std::string>& paths) {
    std::vector<FamilyRecord> records;
    for (Family& family : name_families(paths)) {
        if (family.name == kTable || family.name == kManifest)
            throw UsageError(
                fmt::format("expected families of names other than '{}', found '{}'; "
                            "rename this file",
                            family.name, family.path));
        FamilyRecord record;
        record.folder = std::filesystem::path(options.run.output) / family.name;
        std::error_code absent;  // reported when it is read
        const auto bytes = std::filesystem::file_size(family.path, absent);
        if (!absent) record.work = static_cast<double>(bytes);
        record.family = std::move(family);
        records.push_back(std::move(record));
    }
    return records;
}

/// The command that makes the run of this family alone, for its manifest.
std::vector<std::string> single_call(CouplingsOptions options, const FamilyRecord& record) {
    std::vector<std::string> call = {"couplings", record.family.path, "--output",
                                     record.folder.string()};
    CouplingsOptions defaults;
    const std::vector<Field> fields = result_fields(options), usual = result_fields(defaults);
    for (std::size_t k = 0; k < fields.size(); ++k) {
        const Field& field = fields[k];
        if (field.text() == usual[k].text()) continue;
        call.push_back((field.negated_flag ? "--no-" : "--") + field.name);
        if (!std::holds_alternative<bool*>(field.target)) call.push_back(field.text());
    }
    if (options.run.device != defaults.run.device)
        call.insert(call.end(), {"--device", options.run.device});
    return call;
}

class FamilyRuns {
public:
    FamilyRuns(const CouplingsOptions& options, std::vector<FamilyRecord> records);
    void run();

private:
    /// Skips the family if its run is finished; fails it if another run is in its folder.
    void find_earlier_run(FamilyRecord& record);
    void run_all();
    /// `is_alone`: no other family is in progress, as in a second attempt.
    void fit(FamilyRecord& record, bool is_alone);
    CouplingsOutcome attempt(const FamilyRecord& record, bool is_alone);
    /// Fits the families that ran out of memory again, one after another.
    void retry();
    void set_failed(FamilyRecord& record);
    /// The families that are left to fit, the largest first.
    std::vector<std::size_t> order_of_fits() const;
    void save_table();
    void conclude();

    CouplingsOptions options_;
    std::vector<FamilyRecord> records_;
    FolderClaim claim_;
    FamilyProgress progress_;
    std::unique_ptr<FamilyResources> resources_;
    std::mutex mutex_;  // for the records' results, the table and the members below
    std::vector<FamilyRecord*> to_retry_;
    double start_ = now(), saved_ = start_;
};

FamilyRuns::FamilyRuns(const CouplingsOptions& options, std::vector<FamilyRecord> records)
    : options_(options),
      records_(std::move(records)),
      claim_(options.run.output),
      progress_(static_cast<Index>(records_.size()), options.run.quiet, options.run.verbose) {}

void FamilyRuns::set_failed(FamilyRecord& record) {
    const Failure failure = current_failure();
    record.set_failed(failure.text, failure.exit_code);
}

void FamilyRuns::find_earlier_run(FamilyRecord& record) {
    if (options_.run.force || progress_.is_stopped()) return;
    CouplingsOptions own = options_;
    try {
        RunDirectory::tidy(record.folder);
        const auto found =
            find_finished_run(record.folder, "couplings", result_fields(own), record.family.path);
        if (!found) return;
        if (found->difference.empty()) return record.set_skipped(*found);
        throw UsageError(
            fmt::format("{}: expected a run of the same command, found a finished one "
                        "with {}; choose another folder, or --force to replace it",
                        record.folder.string(), found->difference));
    } catch (const std::exception&) {
        set_failed(record);
    }
}

std::vector<std::size_t> FamilyRuns::order_of_fits() const {
    std::vector<std::size_t> order;
    for (std::size_t k = 0; k < records_.size(); ++k)
        if (records_[k].status == FamilyStatus::waiting) order.push_back(k);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return records_[a].work > records_[b].work;
    });
    return order;
}

CouplingsOutcome FamilyRuns::attempt(const FamilyRecord& record, bool is_alone) {
    CouplingsOptions own = options_;
    own.alignment.path = record.family.path;
    const std::unique_ptr<Progress> shown = progress_.watch(record.family.name);
    const auto is_stopped = [&] { return progress_.is_stopped(); };
    FamilyResources::Share share;
    const auto acquire = [&](const Alignment& alignment, Context& context) {
        share = resources_->acquire(alignment, own.parameters, record.work, is_alone, is_stopped,
                                    context);
        return fmt::format("device {}, {} threads", context.device.name(), context.threads);
    };
    return fit_family(own, {.folder = record.folder,
                            .arguments = single_call(options_, record),
                            .shown = shown.get(),
                            .shares_process = true,
                            .threads = resources_->threads_before_fit(),
                            .choose_device = acquire,
                            .fitted = [&] { share.keep_host_memory_only(); }});
}

void FamilyRuns::fit(FamilyRecord& record, bool is_alone) {
    progress_.family_begins();
    const double begin = now();
    FamilyRecord ended = record;
    const auto stops = [&] {
        const bool has_state = RunDirectory::has_state(record.folder);
        ended.status = has_state ? FamilyStatus::unfinished : FamilyStatus::waiting;
        progress_.family_stops();
    };
    bool is_retried = false;
    try {
        const CouplingsOutcome outcome = attempt(record, is_alone);
        ended.set_done(outcome, now() - begin);
        progress_.family_ends(record_line(ended), record.work);
    } catch (const Cancelled&) {
        stops();
    } catch (const std::exception&) {
        const Failure failure = current_failure();
        // A fit that ran out of memory next to others may have enough alone.
        is_retried = failure.exit_code == kDeviceOrMemory && !is_alone && resources_->workers() > 1;
        if (is_retried) {
            stops();
            if (options_.run.verbose)
                progress_.message(fmt::format("{}: will be retried alone at the end: {}",
                                              record.family.name, first_line(failure.text)));
        } else {
            ended.set_failed(failure.text, failure.exit_code);
            progress_.family_fails(record.family.name, ended.error, record.work);
        }
    }
    if (!is_retried) resources_->end_family(record.work);
    const std::lock_guard lock(mutex_);
    record = std::move(ended);
    if (is_retried) to_retry_.push_back(&record);
    try {
        if (now() - saved_ >= kTableSeconds) save_table();
    } catch (const OutputError&) {
        // Reported at the end if it still cannot be written then.
    }
}

void FamilyRuns::retry() {
    for (FamilyRecord* const record : to_retry_) {
        if (progress_.is_stopped()) return;
        fit(*record, true);
    }
}

void FamilyRuns::save_table() {
    write_text(claim_.path() / kTable, table_text(records_));
    saved_ = now();
}

void FamilyRuns::run() {
    try {
        run_all();
    } catch (...) {
        claim_.remove_created();  // if nothing was written
        throw;
    }
}

void FamilyRuns::run_all() {
    parallel_for(resolve_threads(make_context(options_.run)), static_cast<Index>(records_.size()),
                 [&](Index k, int) { find_earlier_run(records_[static_cast<std::size_t>(k)]); });
    const std::vector<std::size_t> order = order_of_fits();
    std::vector<std::string> paths;
    double work = 0;
    for (const std::size_t k : order) {
        paths.push_back(records_[k].family.path);
        work += records_[k].work;
    }
    // If no family is left, looking for GPUs would take most of the time.
    if (!paths.empty()) resources_ = std::make_unique<FamilyResources>(options_, paths);
    if (resources_ && !resources_->gpu_line().empty()) progress_.message(resources_->gpu_line());

    const auto is_skipped = [](const FamilyRecord& record) {
        return record.status == FamilyStatus::skipped;
    };
    const Index skipped = std::count_if(records_.begin(), records_.end(), is_skipped);
    if (skipped > 0)
        progress_.message(
            fmt::format("{} of {} families are finished and skipped", skipped, records_.size()));
    progress_.start(skipped, work);
    for (const FamilyRecord& record : records_) {
        if (record.status != FamilyStatus::failed) continue;
        progress_.family_begins();
        progress_.family_fails(record.family.name, record.error, 0);
    }
    run_jobs(
        resources_ ? resources_->workers() : 1, static_cast<Index>(order.size()),
        [&](Index k) { fit(records_[order[static_cast<std::size_t>(k)]], false); },
        [&] { return progress_.is_stopped(); });
    retry();
    conclude();
}

void FamilyRuns::conclude() {
    save_table();
    const std::string table = (claim_.path() / kTable).string();
    const std::string counts = counts_text(records_);
    const auto waits = [](const FamilyRecord& record) {
        return record.status == FamilyStatus::waiting || record.status == FamilyStatus::unfinished;
    };
    if (std::any_of(records_.begin(), records_.end(), waits))
        throw Cancelled(
            fmt::format("stopped with {} of {} families; run the same command again to "
                        "resume, {} lists them",
                        counts, records_.size(), table));
    if (!options_.run.quiet)
        print(fmt::format(
            "{} families in {:.1f} s: {}\nThe runs are in {}, a folder each; {} lists "
            "them\n",
            records_.size(), now() - start_, counts, printable(claim_.path().string()), kTable));
    for (const FamilyRecord& record : records_) {
        if (record.status == FamilyStatus::failed)
            throw Error(
                fmt::format("of {} families {}; {} says why", records_.size(), counts, table),
                record.exit_code);
    }
}

}  // namespace

std::vector<Field> family_fields(CouplingsOptions& options) {
    return {
        {.name = "list",
         .target = &options.list,
         .help =
             "File with the path of one alignment per line, in addition to those on the command "
             "line; - for standard input. Blank lines and lines that begin with # are skipped",
         .value_name = "FILE"},
        {.name = "jobs",
         .target = &options.jobs,
         .help = "Families in progress at the same time; fewer if memory is short",
         .letter = 'j',
         .min = 1,
         .max = 1024,
         .automatic = "one per thread; at most 8 with a GPU"}};
}

void run_families(const CouplingsOptions& options) {
    const std::vector<std::string> paths = all_paths(options);
    check_options(options, paths);
    return_freed_memory();
    FamilyRuns(options, make_records(options, paths)).run();
}

}  // namespace pleat::program

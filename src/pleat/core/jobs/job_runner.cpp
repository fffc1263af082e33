// Job runner: the order of the jobs, the workers, and the table.
#include "pleat/core/jobs/job_runner.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <mutex>

#include "pleat/core/error.h"
#include "pleat/core/failure.h"
#include "pleat/core/files/output_file.h"
#include "pleat/core/jobs/job_claims.h"
#include "pleat/core/jobs/job_progress.h"
#include "pleat/core/jobs/job_resources.h"
#include "pleat/core/jobs/shared_inputs.h"
#include "pleat/core/loops/job_pool.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/core/run/finished_run.h"
#include "pleat/core/run/folder_claim.h"
#include "pleat/core/run/run_directory.h"

namespace pleat {

namespace {

constexpr double kTableSeconds = 10;  // shortest time between two writings while jobs run
constexpr int kDeviceOrMemory = 4;    // exit code of DeviceError, and of memory that ran out

double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

/// A job, its row of the table, and what dealing needs to know.
struct Item {
    const Job* job = nullptr;
    JobRow* row = nullptr;
    std::filesystem::path folder;
    std::vector<std::string> files = {};
    double work = 0;  ///< expected: bytes of its files
};

bool has_ended(const JobRow& row) {
    return row.status == JobStatus::done || row.status == JobStatus::failed;
}

class JobRunner {
public:
    JobRunner(const JobPlan& plan, const JobCommand& command, JobListRequest& request);
    JobListResult run();

private:
    void check();
    void run_all();
    /// Skips the job if its run is finished; fails it if another run is in its folder.
    void find_earlier_run(Item& item);
    /// The jobs that are left, the largest first.
    std::vector<Item*> jobs_left();
    void deal(const std::vector<Item*>& items);
    /// Deals jobs that other processes had claimed, until all have ended or are in progress there.
    void deal_claimed();
    void run_claimed(Item& item);
    /// `is_alone`: no other job is in progress, as in a second attempt.
    void run_job(Item& item, bool is_alone);
    void attempt(const Item& item, bool is_alone);
    /// Runs the jobs that ran out of memory again, one after another.
    void retry();
    void set_failed(Item& item, const Failure& failure);
    void report_failure(const Item& item);
    void save_table();

    const JobCommand& command_;
    JobListRequest& request_;
    const bool is_shared_;
    JobTable table_;
    std::vector<Item> items_;
    std::optional<FolderClaim> folder_;
    std::unique_ptr<JobClaims> claims_;
    JobProgress progress_;
    std::unique_ptr<JobResources> resources_;
    std::unique_ptr<SharedInputs> inputs_;
    InputHashes hashes_;
    std::mutex mutex_;  // for rows, the table and the members below
    std::vector<Item*> to_retry_, claimed_by_others_;
    std::int64_t skipped_ = 0;
    double start_ = now(), saved_ = start_;
};

JobRunner::JobRunner(const JobPlan& plan, const JobCommand& command, JobListRequest& request)
    : command_(command),
      request_(request),
      is_shared_(request.share),
      table_(request.call, plan, command.numbers),
      progress_(std::move(request.shown), static_cast<Index>(plan.jobs.size()), request.verbose,
                request.shows_count) {
    for (std::size_t k = 0; k < plan.jobs.size(); ++k)
        items_.push_back({.job = &plan.jobs[k],
                          .row = &table_.rows[k],
                          .folder = request.folder / plan.jobs[k].folder});
    check();
    folder_.emplace(request.folder, is_shared_);
    try {
        if (is_shared_) claims_ = std::make_unique<JobClaims>(folder_->path(), folder_->was_free());
        if (!plan.settings_table.empty())
            write_text(folder_->path() / kSettingsTable, plan.settings_table);
    } catch (...) {
        folder_->remove_created();
        throw;
    }
}

void JobRunner::check() {
    for (Item& item : items_) {
        const std::unique_ptr<JobRun> run = command_.make(*item.job, item.folder);
        run->check();
        item.files = run->input_files();
        item.work = file_bytes(item.files);
    }
    std::error_code absent;
    if (std::filesystem::is_regular_file(request_.folder / "manifest.json", absent))
        throw UsageError(fmt::format(
            "{}: expected a folder for the runs of several jobs, found the run of one; choose "
            "another folder",
            request_.folder.string()));
}

void JobRunner::set_failed(Item& item, const Failure& failure) {
    item.row->status = JobStatus::failed;
    item.row->error = first_line(failure.text);
    item.row->exit_code = failure.exit_code;
}

void JobRunner::report_failure(const Item& item) {
    const std::string line = fmt::format("pleat: {}: {}", item.row->folder, item.row->error);
    if (request_.report_failure)
        request_.report_failure(line);
    else
        progress_.message(line);
}

void JobRunner::find_earlier_run(Item& item) {
    if (request_.force || progress_.is_stopped()) return;
    try {
        if (!is_shared_) RunDirectory::tidy(item.folder);
        const std::unique_ptr<JobRun> run = command_.make(*item.job, item.folder);
        const auto found = find_finished_run(item.folder, command_.name, run->options(), item.files,
                                             run->seed(), hashes_);
        if (!found) return;
        if (found->difference.empty()) return update(*item.row, item.folder, table_.numbers);
        throw UsageError(
            fmt::format("{}: expected a run of the same command, found a finished one "
                        "with {}; choose another folder, or --force to replace it",
                        item.folder.string(), found->difference));
    } catch (const std::exception&) {
        set_failed(item, current_failure());
    }
}

std::vector<Item*> JobRunner::jobs_left() {
    std::vector<Item*> left;
    for (Item& item : items_)
        if (!has_ended(*item.row)) left.push_back(&item);
    std::stable_sort(left.begin(), left.end(),
                     [](const Item* a, const Item* b) { return a->work > b->work; });
    return left;
}

void JobRunner::attempt(const Item& item, bool is_alone) {
    const std::unique_ptr<JobRun> run = command_.make(*item.job, item.folder);
    const std::unique_ptr<Progress> shown = progress_.watch(item.row->folder);
    const auto is_stopped = [&] { return progress_.is_stopped(); };
    JobResources::Share share;
    const auto acquire = [&](const JobDemand& demand, Context& context) {
        share = resources_->acquire(demand, is_alone, is_stopped, context);
        return fmt::format("device {}, up to {} threads", context.device.name(), context.threads);
    };
    const ThreadBudget::Worker here;
    run->run({.arguments = run->call(),
              .shown = shown.get(),
              .shares_process = true,
              .inputs = inputs_.get(),
              .choose_device = acquire,
              .computed = [&] { share.gpu_bytes.release(); },
              .stage_ended = [&] { share = {}; }});
}

void JobRunner::run_job(Item& item, bool is_alone) {
    progress_.job_begins();
    JobRow ended;
    {
        const std::lock_guard lock(mutex_);
        ended = *item.row;
    }
    bool is_retried = false;
    const auto stops = [&] {
        const bool has_state = RunDirectory::has_state(item.folder);
        ended.status = has_state ? JobStatus::unfinished : JobStatus::waiting;
        progress_.job_stops();
    };
    Failure failure;
    try {
        attempt(item, is_alone);
        update(ended, item.folder, table_.numbers);
        progress_.job_ends(row_line(ended, table_.numbers), item.work);
    } catch (const Cancelled&) {
        stops();
    } catch (const std::exception&) {
        failure = current_failure();
        // A job that ran out of memory next to others may have enough alone.
        is_retried = failure.exit_code == kDeviceOrMemory && !is_alone && resources_->workers() > 1;
        if (is_retried) stops();
    }
    if (is_retried && request_.verbose)
        progress_.message(fmt::format("{}: will be retried alone at the end: {}", ended.folder,
                                      first_line(failure.text)));
    const std::lock_guard lock(mutex_);
    *item.row = ended;
    if (is_retried) {
        to_retry_.push_back(&item);
    } else if (failure.exit_code != 0) {
        set_failed(item, failure);
        progress_.job_ends({}, item.work);
        report_failure(item);
    }
    try {
        if (claims_ && item.row->status == JobStatus::failed)
            claims_->record_failure(item.row->folder, failure);
        if (now() - saved_ >= kTableSeconds) save_table();
    } catch (const OutputError&) {
        // Reported at the end if it still cannot be written then.
    }
}

void JobRunner::run_claimed(Item& item) {
    if (!claims_) return run_job(item, false);
    if (!claims_->claim(item.row->folder)) {
        const std::lock_guard lock(mutex_);
        claimed_by_others_.push_back(&item);
        return;
    }
    // Another process may have ended it since this one looked.
    const auto failure = claims_->failure(item.row->folder);
    bool is_left = true;
    {
        const std::lock_guard lock(mutex_);
        if (failure) set_failed(item, *failure);
        update(*item.row, item.folder, table_.numbers);
        is_left = !has_ended(*item.row);
    }
    if (!is_left)
        progress_.job_ended_elsewhere(item.work);
    else
        run_job(item, false);
    claims_->release(item.row->folder);
}

void JobRunner::deal(const std::vector<Item*>& items) {
    run_jobs(
        resources_ ? resources_->workers() : 1, static_cast<Index>(items.size()),
        [&](Index k) { run_claimed(*items[static_cast<std::size_t>(k)]); },
        [&] { return progress_.is_stopped(); });
}

void JobRunner::deal_claimed() {
    while (!claimed_by_others_.empty() && !progress_.is_stopped()) {
        const std::vector<Item*> before = std::exchange(claimed_by_others_, {});
        deal(before);
        if (claimed_by_others_.size() == before.size()) return;
    }
}

void JobRunner::retry() {
    if (!to_retry_.empty()) inputs_ = std::make_unique<SharedInputs>(0);
    for (Item* const item : std::exchange(to_retry_, {})) {
        if (progress_.is_stopped()) return;
        if (claims_ && !claims_->claim(item->row->folder)) continue;
        if (!claims_ || !claims_->failure(item->row->folder)) run_job(*item, true);
        if (claims_) claims_->release(item->row->folder);
    }
}

void JobRunner::save_table() {
    const auto write = [&] { write_text(folder_->path() / kJobTable, table_.text()); };
    saved_ = now();
    if (!claims_) return write();
    claims_->one_at_a_time([&] {
        for (Item& item : items_) {
            if (has_ended(*item.row)) continue;
            if (const auto failure = claims_->failure(item.row->folder)) set_failed(item, *failure);
            update(*item.row, item.folder, table_.numbers);
        }
        write();
    });
}

JobListResult JobRunner::run() {
    try {
        run_all();
    } catch (...) {
        if (claims_) claims_->tidy();
        folder_->remove_created();  // if nothing was written
        throw;
    }
    JobListResult result{
        .table = std::move(table_), .skipped = skipped_, .seconds = now() - start_};
    for (const JobRow& row : result.table.rows)
        if (row.status == JobStatus::failed && result.exit_code == 0)
            result.exit_code = row.exit_code;
    return result;
}

void JobRunner::run_all() {
    parallel_for(request_.threads, static_cast<Index>(items_.size()),
                 [&](Index k, int) { find_earlier_run(items_[static_cast<std::size_t>(k)]); });
    const std::vector<Item*> left = jobs_left();
    std::vector<std::vector<std::string>> files;
    double work = 0;
    for (const Item* item : left) {
        files.push_back(item->files);
        work += item->work;
    }
    // If no job is left, looking for GPUs would take most of the time.
    if (!left.empty()) {
        resources_ =
            std::make_unique<JobResources>(JobResources::Request{.devices = request_.devices,
                                                                 .threads = request_.threads,
                                                                 .workers = request_.workers},
                                           files);
        // Input that one job alone uses is freed when that job has prepared it.
        const auto is_same = [](const Item* a, const Item* b) { return a->files == b->files; };
        const bool has_shared = std::adjacent_find(left.begin(), left.end(), is_same) != left.end();
        inputs_ = std::make_unique<SharedInputs>(
            has_shared ? static_cast<std::size_t>(resources_->workers()) : 0);
        if (!resources_->gpu_line().empty()) progress_.message(resources_->gpu_line());
        save_table();  // from here on `pleat table` knows all jobs
    }
    skipped_ = std::count_if(items_.begin(), items_.end(),
                             [](const Item& item) { return item.row->status == JobStatus::done; });
    if (skipped_ > 0)
        progress_.message(
            fmt::format("{} of {} jobs are finished and skipped", skipped_, items_.size()));
    progress_.start(skipped_, work);
    for (const Item& item : items_) {
        if (item.row->status != JobStatus::failed) continue;
        progress_.job_begins();
        progress_.job_ends({}, 0);
        report_failure(item);
    }
    deal(left);
    deal_claimed();
    retry();
    for (const Item& item : items_)  // empty if all settings of an input have failed
        if (item.row->status == JobStatus::failed)
            ::rmdir((folder_->path() / item.job->name).c_str());
    save_table();
    if (claims_) claims_->tidy();
    if (progress_.is_stopped() && !table_.all_ended())
        throw Cancelled(
            fmt::format("stopped with {} of {} jobs; run the same command again to resume, {} "
                        "lists them",
                        table_.counts(), items_.size(), (folder_->path() / kJobTable).string()));
}

}  // namespace

JobListResult run_job_list(const JobPlan& plan, const JobCommand& command, JobListRequest request) {
    return JobRunner(plan, command, request).run();
}

JobTable renew_job_table(const std::filesystem::path& folder) {
    JobTable table(folder);
    for (JobRow& row : table.rows) update(row, folder / row.folder, table.numbers);
    write_text(folder / kJobTable, table.text());
    return table;
}

}  // namespace pleat

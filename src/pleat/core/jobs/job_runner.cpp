// Job runner: the order of the jobs, the workers, and the table.
#include "pleat/core/jobs/job_runner.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <utility>

#include "pleat/core/error.h"
#include "pleat/core/failure.h"
#include "pleat/core/files/output_file.h"
#include "pleat/core/hardware/memory.h"
#include "pleat/core/jobs/job_claims.h"
#include "pleat/core/jobs/job_ranks.h"
#include "pleat/core/jobs/job_resources.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/core/ranks/deal.h"
#include "pleat/core/run/folder_claim.h"
#include "pleat/core/run/manifest.h"
#include "pleat/core/run/run_directory.h"
#include "pleat/core/terminal/progress_terminal.h"
#include "pleat/core/view.h"

namespace pleat {

namespace {

/// Shows how many jobs have ended: a bar on a terminal, one line per job in a log. Thread-safe.
class JobProgress {
public:
    /// `shown`: see make_progress(). `is_verbose`: also shows messages of jobs. `shows_job_count`:
    /// `shown` gets the count even if it is not a progress bar.
    JobProgress(std::unique_ptr<Progress> shown, Index total, bool is_verbose, bool shows_job_count)
        : shown_(std::move(shown)),
          bar_(dynamic_cast<TerminalProgress*>(shown_.get())),
          total_(total),
          is_verbose_(is_verbose),
          shows_count_(shows_job_count) {}

    /// Starts with the number of jobs that ended in earlier calls. `work`: total work of the other
    /// jobs in any unit, for the remaining time.
    void start(Index ended, double work) {
        const std::lock_guard lock(mutex_);
        all_work_ = work;
        ended_ = ended;
        draw();
    }
    void job_begins() {
        const std::lock_guard lock(mutex_);
        ++running_;
        draw();
    }
    void job_ends(const std::string& line, double work) {
        job_stops();
        job_ended_elsewhere(line, work);
    }
    /// Records that a job was stopped: it neither ended nor failed.
    void job_stops() {
        const std::lock_guard lock(mutex_);
        --running_;
    }
    /// Records a job that another process has ended; `line` may be empty.
    void job_ended_elsewhere(const std::string& line, double work) {
        const std::lock_guard lock(mutex_);
        ++ended_;
        done_work_ += work;
        // On a terminal the bar shows the count.
        if (!line.empty() && (bar_ == nullptr || is_verbose_))
            shown_->message(fmt::format("[{}/{}] {}", ended_, total_, line));
        draw();
    }
    void message(const std::string& text) {
        const std::lock_guard lock(mutex_);
        shown_->message(text);
    }
    /// Whether the user asked to stop, or stop() was called.
    bool is_stopped() {
        const std::lock_guard lock(mutex_);
        return is_stopped_ || shown_->cancelled();
    }
    void stop() {
        const std::lock_guard lock(mutex_);
        is_stopped_ = true;
    }

    /// Returns the progress of one job for its engine; this object must outlive it. It redraws the
    /// bar and, if verbose, shows messages, which are also in the job's log.txt.
    std::unique_ptr<Progress> watch(const std::string& name) {
        struct Watch : Progress {
            Watch(JobProgress& of, std::string job) : all(of), name(std::move(job)) {}
            void update(std::string_view, std::int64_t, std::int64_t, std::string_view) override {
                const std::lock_guard lock(all.mutex_);
                all.draw();
            }
            bool cancelled() override { return all.is_stopped(); }
            void message(std::string_view text) override {
                if (all.is_verbose_) all.message(fmt::format("{}: {}", name, text));
            }
            JobProgress& all;
            std::string name;
        };
        return std::make_unique<Watch>(*this, name);
    }

private:
    void draw() {
        if (bar_ == nullptr && !shows_count_) return;
        const std::string note = fmt::format("{} running", running_);
        if (bar_ == nullptr) return shown_->update("jobs", ended_, total_, note);
        const double share = all_work_ > 0 ? done_work_ / all_work_ : 0.0;
        bar_->update("jobs", ended_, total_, note, share);
    }

    std::mutex mutex_;
    std::unique_ptr<Progress> shown_;
    TerminalProgress* bar_ = nullptr;  ///< shown_ if that is one, else null
    double all_work_ = 0, done_work_ = 0;
    Index total_, ended_ = 0, running_ = 0;
    bool is_verbose_, shows_count_, is_stopped_ = false;
};

constexpr double kTableSeconds = 10;  // shortest time between two writings while jobs run
constexpr int kDeviceOrMemory = 4;    // exit code of DeviceError, and of memory that ran out

double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

/// A job, its row in the table, and the data needed to schedule it.
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
    JobRunner(const JobPlan& plan, const JobCommand& command, JobListRequest& request)
        : command_(command),
          request_(request),
          is_shared_(request.share),
          ranks_(request.comm),
          table_(request.call, plan, command.numbers),
          settings_table_(plan.settings_table),
          progress_(std::move(request.shown), std::ssize(plan.jobs), request.verbose,
                    request.shows_job_count) {
        for (std::size_t k = 0; k < plan.jobs.size(); ++k)
            items_.push_back({.job = &plan.jobs[k],
                              .row = &table_.rows[k],
                              .folder = request.folder / plan.jobs[k].folder});
        check();
    }
    JobListResult run() {
        try {
            run_all();
        } catch (...) {
            if (claims_) claims_->tidy();
            if (folder_) folder_->remove_created();  // if nothing was written
            throw;
        }
        JobListResult result{
            .table = std::move(table_), .skipped = skipped_, .seconds = now() - start_};
        for (const JobRow& row : result.table.rows)
            if (row.status == JobStatus::failed && result.exit_code == 0)
                result.exit_code = row.exit_code;
        return result;
    }

private:
    void check() {
        for (Item& item : items_) {
            const std::unique_ptr<JobRun> run = command_.make(*item.job, item.folder);
            run->check();
            item.files = run->input_files();
            item.work = file_bytes(item.files);
        }
    }
    void claim_folder() {
        std::error_code absent;
        if (std::filesystem::is_regular_file(request_.folder / "manifest.json", absent))
            throw UsageError(fmt::format(
                "{}: expected a folder for the runs of several jobs, found the run of one; choose "
                "another folder",
                request_.folder.string()));
        folder_.emplace(request_.folder, is_shared_);
        earlier_ = earlier_jobs(folder_->path(), table_);
        if (is_shared_) claims_ = std::make_unique<JobClaims>(folder_->path(), folder_->was_free());
        if (!settings_table_.empty()) write_text(folder_->path() / kSettingsTable, settings_table_);
    }
    void run_all() {
        run_on_first_rank(ranks_.comm(), [&] { claim_folder(); });
        ranks_.check_shared_folder(request_.folder);
        find_earlier_runs();
        run_on_first_rank(ranks_.comm(), [&] { refuse_other_runs(table_); });
        const std::vector<Item*> left = jobs_left();
        std::vector<std::vector<std::string>> files;
        double work = 0;
        for (const Item* item : left) {
            files.push_back(item->files);
            work += item->work;
        }
        // If no job is left, looking for GPUs would take most of the time.
        if (!left.empty()) {
            const Comm& comm = ranks_.comm();
            if (comm.local_size() > 1) limit_memory(memory_ / comm.local_size());
            resources_ = std::make_unique<JobResources>(
                JobResources::Request{.devices = request_.devices,
                                      .threads = request_.threads,
                                      .workers = request_.workers,
                                      .local_rank = comm.local_rank(),
                                      .local_ranks = comm.local_size(),
                                      .ranks_per_gpu = request_.ranks_per_gpu},
                files);
            // Input that only one job uses is freed as soon as that job has prepared it.
            const auto is_same = [](const Item* a, const Item* b) { return a->files == b->files; };
            const bool has_shared =
                std::adjacent_find(left.begin(), left.end(), is_same) != left.end();
            inputs_ = std::make_unique<SharedInputs>(
                has_shared ? static_cast<std::size_t>(resources_->workers()) : 0);
            if (!resources_->gpu_line().empty()) progress_.message(resources_->gpu_line());
            save_table();  // from here on `pleat table` knows all jobs
        }
        skipped_ = std::ranges::count_if(
            items_, [](const Item& item) { return item.row->status == JobStatus::done; });
        if (skipped_ > 0)
            progress_.message(
                fmt::format("{} of {} jobs are finished and skipped", skipped_, items_.size()));
        progress_.start(skipped_, work);
        is_dealt_ = true;
        for (const Item& item : items_) {
            if (item.row->status != JobStatus::failed) continue;
            progress_.job_begins();
            progress_.job_ends({}, 0);
            report_failure(item);
        }
        deal(left);
        deal_claimed();
        retry();
        if (ranks_.comm().any(progress_.is_stopped())) progress_.stop();
        if (!ranks_.is_leader()) return;
        for (const Item& item : items_)  // empty if all settings of an input have failed
            if (item.row->status == JobStatus::failed)
                ::rmdir((folder_->path() / item.job->name).c_str());
        save_table();
        if (claims_) claims_->tidy();
        if (progress_.is_stopped() && !table_.all_ended())
            throw Cancelled(fmt::format(
                "stopped with {} of {} jobs; run the same command again to resume, {} "
                "lists them",
                table_.counts(), items_.size(), (folder_->path() / kJobTable).string()));
    }
    /// Each rank looks at a block of the jobs, so that it reads few inputs.
    void find_earlier_runs() {
        const auto count = std::ssize(items_);
        const auto start_of = [&](int rank) { return count * rank / ranks_.size(); };
        const int rank = ranks_.comm().rank();
        const Index first = start_of(rank);
        parallel_for(request_.threads, start_of(rank + 1) - first, [&](Index k, int) {
            Item& item = items_[first + k];
            find_earlier_run(item);
            if (has_ended(*item.row)) ranks_.add_row_report(first + k, *item.row);
        });
        ranks_.gather_row_reports(hear_);
    }
    /// Completes the end of a run that was killed. Shared jobs may be started by other processes.
    void tidy(const Item& item) {
        if (!claims_) return RunDirectory::tidy(item.folder);
        if (!std::filesystem::exists(item.folder / kLockFile) || !claims_->claim(item.row->folder))
            return;
        const std::shared_ptr<void> release(nullptr,
                                            [&](void*) { claims_->release(item.row->folder); });
        RunDirectory::tidy(item.folder);
    }
    /// Skips the job if its run is finished; fails it if another run is in its folder.
    void find_earlier_run(Item& item) {
        if (request_.force || progress_.is_stopped()) return;
        try {
            tidy(item);
            const std::unique_ptr<JobRun> run = command_.make(*item.job, item.folder);
            const auto found = find_finished_run(item.folder, command_.name, run->options(),
                                                 item.files, run->seed(), hashes_);
            if (!found) return;
            if (found->difference.empty()) return update(*item.row, item.folder, table_.numbers);
            throw UsageError(
                fmt::format("{}: expected a run of the same command, found a finished one "
                            "with {}; choose another folder, or --force to replace it",
                            item.folder.string(), found->difference));
        } catch (const std::exception&) {
            set_failed(*item.row, current_failure());
        }
    }
    /// The remaining jobs, largest first; the same on all ranks.
    std::vector<Item*> jobs_left() {
        std::vector<Index> left;
        for (const Item& item : items_)
            if (!has_ended(*item.row)) left.push_back(&item - items_.data());
        const auto work = [&](Index k) { return items_[k].work; };
        std::ranges::stable_sort(left, [&](Index a, Index b) { return work(a) > work(b); });
        std::vector<Item*> items;
        for (const Index k : ranks_.share(left)) items.push_back(&items_[k]);
        return items;
    }
    void deal(const std::vector<Item*>& items) {
        const int workers = resources_ ? resources_->workers() : 1;
        const auto work = [&](Index k) { run_claimed(*items[k]); };
        ranks_.deal(workers, std::ssize(items),
                    {.run = work,
                     .is_stopped = [&] { return progress_.is_stopped(); },
                     .stop = [&] { progress_.stop(); }},
                    hear_);
    }
    /// Deals jobs that other processes had claimed, until all have ended or are in progress there.
    void deal_claimed() {
        while (!claimed_by_others_.empty() && !progress_.is_stopped()) {
            const std::vector<Item*> before = std::exchange(claimed_by_others_, {});
            deal(before);
            if (claimed_by_others_.size() == before.size()) return;
        }
    }
    void run_claimed(Item& item) {
        if (!claims_) return run_job(item, false);
        if (!claims_->claim(item.row->folder)) {
            const std::lock_guard lock(mutex_);
            claimed_by_others_.push_back(&item);
            return;
        }
        // Another process may have ended the job since the last check.
        const auto failure = claims_->failure(item.row->folder);
        bool is_left = true;
        {
            const std::lock_guard lock(mutex_);
            if (failure) set_failed(*item.row, *failure);
            update(*item.row, item.folder, table_.numbers);
            is_left = !has_ended(*item.row);
        }
        if (!is_left)
            progress_.job_ended_elsewhere({}, item.work);
        else
            run_job(item, false);
        claims_->release(item.row->folder);
    }
    /// `is_alone`: no other job is in progress, as in a second attempt.
    void run_job(Item& item, bool is_alone) {
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
            // A job that ran out of memory beside others may succeed alone.
            is_retried = failure.exit_code == kDeviceOrMemory && !is_alone &&
                         (resources_->workers() > 1 || ranks_.comm().local_size() > 1);
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
            set_failed(*item.row, failure);
            progress_.job_ends({}, item.work);
            report_failure(item);
        }
        ranks_.add_row_report(&item - items_.data(), *item.row);
        try {
            if (claims_ && item.row->status == JobStatus::failed)
                claims_->record_failure(item.row->folder, failure);
        } catch (const OutputError&) {
            // Another process may try the job again.
        }
        save_table_in_time();
    }
    void attempt(const Item& item, bool is_alone) {
        const std::unique_ptr<JobRun> run = command_.make(*item.job, item.folder);
        const std::unique_ptr<Progress> shown = progress_.watch(item.row->folder);
        const auto is_stopped = [&] { return progress_.is_stopped(); };
        JobResources::Share share;
        const auto acquire = [&](const JobDemand& demand, Context& context) {
            share = resources_->acquire(demand, is_alone, is_stopped, context);
            return fmt::format("device {}, up to {} threads", context.device.name(),
                               context.threads);
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
    /// Runs the jobs that ran out of memory again, one after another on each machine.
    void retry() {
        if (!ranks_.comm().any(!to_retry_.empty())) return;
        ranks_.run_ranks_in_turn([&] { retry_own(); });
        ranks_.gather_row_reports(hear_);
    }
    void retry_own() {
        if (ranks_.comm().local_size() > 1) limit_memory(memory_);
        if (!to_retry_.empty()) inputs_ = std::make_unique<SharedInputs>(0);
        for (Item* const item : std::exchange(to_retry_, {})) {
            if (progress_.is_stopped()) return;
            if (claims_ && !claims_->claim(item->row->folder)) continue;
            if (!claims_ || !claims_->failure(item->row->folder)) run_job(*item, true);
            if (claims_) claims_->release(item->row->folder);
        }
    }
    /// Sets what another rank knows of a job.
    void hear(Index index, const JobRow& heard) {
        const Item& item = items_[index];
        const std::lock_guard lock(mutex_);
        JobRow& row = *item.row;
        copy_outcome(row, heard);
        if (!is_dealt_ || !has_ended(row)) return;
        const bool is_done = row.status == JobStatus::done;
        progress_.job_ended_elsewhere(is_done ? row_line(row, table_.numbers) : "", item.work);
        if (!is_done) report_failure(item);
        save_table_in_time();
    }
    void report_failure(const Item& item) {
        if (!ranks_.is_leader()) return;  // the first rank reports it when it hears of it
        const std::string line = fmt::format("pleat: {}: {}", item.row->folder, item.row->error);
        request_.report_failure ? request_.report_failure(line) : progress_.message(line);
    }
    void save_table() {
        if (!ranks_.is_leader()) return;
        const auto write = [&] { write_job_table(folder_->path(), earlier_, table_); };
        saved_ = now();
        if (!claims_) return write();
        claims_->run_exclusively([&] {
            for (Item& item : items_) {
                if (has_ended(*item.row)) continue;
                if (const auto failure = claims_->failure(item.row->folder))
                    set_failed(*item.row, *failure);
                update(*item.row, item.folder, table_.numbers);
            }
            write();
        });
    }
    /// save_table() if the last time is long ago.
    void save_table_in_time() {
        try {
            if (now() - saved_ >= kTableSeconds) save_table();
        } catch (const OutputError&) {
            // Reported at the end if writing still fails then.
        }
    }

    const JobCommand& command_;
    JobListRequest& request_;
    const bool is_shared_;
    JobRanks ranks_;
    const JobRanks::Hear hear_ = [this](Index index, const JobRow& row) { hear(index, row); };
    JobTable table_, earlier_;  // the second: jobs of earlier calls, for jobs.tsv alone
    const std::string& settings_table_;
    std::vector<Item> items_;
    std::optional<FolderClaim> folder_;
    std::unique_ptr<JobClaims> claims_;
    JobProgress progress_;
    std::unique_ptr<JobResources> resources_;
    std::unique_ptr<SharedInputs> inputs_;
    InputHashes hashes_;
    std::mutex mutex_;  // for rows, the table and the members below
    std::vector<Item*> to_retry_, claimed_by_others_;
    bool is_dealt_ = false;  // jobs that end from now on are new
    std::int64_t skipped_ = 0;
    double start_ = now(), saved_ = start_;
    const std::int64_t memory_ = available_memory();  // for all ranks of this machine
};

}  // namespace

JobListResult run_job_list(const JobPlan& plan, const JobCommand& command, JobListRequest request) {
    return JobRunner(plan, command, request).run();
}

}  // namespace pleat

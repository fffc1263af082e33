// Job ranks: what the ranks that run a list of jobs tell each other.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "pleat/core/jobs/job_table.h"
#include "pleat/core/ranks/pack.h"
#include "pleat/core/view.h"

namespace pleat {

/// The ranks that share one job list. Every rank has the same rows; the first rank learns the
/// results of jobs on other ranks. All functions except add_row_report() are collective calls.
class JobRanks {
public:
    /// Called on the first rank with a row from another rank: its position in the table and its
    /// results; name, settings and folder are empty.
    using Hear = std::function<void(Index index, const JobRow& row)>;

    /// `comm`: null for this process alone.
    explicit JobRanks(Comm* comm) : comm_(comm != nullptr ? *comm : alone_) {}

    Comm& comm() const { return comm_; }
    int size() const { return comm_.size(); }
    /// Whether this rank has the folder of all jobs, the table and the terminal.
    bool is_leader() const { return comm_.rank() == 0; }

    /// Throws OutputError if a rank does not see this folder, which the first rank has made.
    /// `patience`: for file systems that show new files late.
    void check_shared_folder(const std::filesystem::path& folder,
                             std::chrono::milliseconds patience = std::chrono::seconds(10));
    /// The indices of the first rank.
    std::vector<Index> share(std::vector<Index> indices);

    /// Notes a job's row for the first rank. Thread-safe; ignored on the first rank.
    void add_row_report(Index index, JobRow row);
    /// Sends the noted rows to the first rank.
    void gather_row_reports(const Hear& hear);

    struct Work {
        std::function<void(Index)> run;
        std::function<bool()> is_stopped;
        std::function<void()> stop;
    };
    /// Calls run() for each index in [0, count) on worker threads of all ranks, and reports queued
    /// rows to the first rank. See pleat::deal() and run_jobs().
    void deal(int workers, Index count, const Work& work, const Hear& hear);
    /// Calls `action` on the ranks of each machine, one after another.
    void run_ranks_in_turn(const std::function<void()>& action);

private:
    std::string take_row_reports();
    static void read_row_reports(std::string_view news, const Hear& hear);

    Comm alone_;
    Comm& comm_;
    std::mutex mutex_;  ///< of the news
    Packer row_reports_;
};

}  // namespace pleat

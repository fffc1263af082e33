// Job runner: runs the jobs of a plan side by side, each into its own folder.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pleat/core/jobs/job_command.h"
#include "pleat/core/jobs/job_plan.h"
#include "pleat/core/jobs/job_table.h"
#include "pleat/core/ranks/comm.h"

namespace pleat {

struct JobListRequest {
    std::filesystem::path folder;              ///< of all jobs
    std::vector<std::string> call = {};        ///< the words behind `pleat`, for the table
    std::vector<Device> devices = {};          ///< that the user named
    int threads = 1;                           ///< for all jobs together
    std::optional<std::int64_t> workers = {};  ///< jobs in progress; not set: chosen
    bool force = false;                        ///< finished runs are replaced
    bool share = false;  ///< other processes work on the same jobs: see JobClaims
    /// The ranks that run the list together; null: only this process. Requests of all ranks are
    /// equal except for `devices`, `threads` and `shown`.
    Comm* comm = nullptr;
    int ranks_per_gpu = 1;                 ///< on this machine
    bool verbose = false;                  ///< messages of jobs are shown
    std::unique_ptr<Progress> shown = {};  ///< as make_progress() makes it
    bool shows_job_count =
        false;  ///< `shown` is no log: it gets the number of jobs that have ended
    /// Receives a line for each failed job, instead of `shown`; may be empty.
    std::function<void(const std::string& line)> report_failure = {};
};

struct JobListResult {
    JobTable table;
    std::int64_t skipped = 0;  ///< jobs that had finished before
    double seconds = 0;        ///< rows, numbers and exit code: complete on the first rank
    /// Exit code of the first failed job in the order of the plan; 0 if none failed.
    int exit_code = 0;
};

/// Checks all jobs, then runs those that have not finished, the largest first. A job that fails
/// does not stop the others; one that runs out of memory is run again, alone, at the end. jobs.tsv
/// in the folder lists them, below jobs of earlier calls whose runs are still there. Several ranks
/// share the jobs: each idle worker thread of any rank gets the next one; the first rank has the
/// folder, and writes the table. Throws before any work what JobRun::check() throws, and UsageError
/// if the folder holds a run of its own or another process uses it; Cancelled on the first rank,
/// after which the same call resumes; OutputError if the table cannot be written.
JobListResult run_job_list(const JobPlan& plan, const JobCommand& command, JobListRequest request);

}  // namespace pleat

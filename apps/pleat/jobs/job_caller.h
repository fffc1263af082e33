// Job caller: a library that runs lists of jobs as the program does, without a terminal.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "pleat/core/jobs/job_runner.h"

namespace pleat::program {

/// A job list requested by a library call instead of a command line.
struct JobCall {
    std::string command;              ///< "couplings"
    std::vector<std::string> inputs;  ///< files, each a job
    /// Option values by name without dashes; a bool for flags. An option may occur several times.
    std::vector<std::pair<std::string, std::variant<bool, std::string>>> options;
};

/// Receives progress and results of run_job_list() instead of the terminal.
struct JobCaller {
    std::unique_ptr<Progress> shown;  ///< also gets the number of jobs that have ended
    std::optional<JobListResult> result = {};
};

/// Runs the jobs of the call without printing; the caller handles signals. Failed jobs are rows of
/// the result and are also reported as messages. Throws UsageError for an unknown command or
/// option, and whatever pleat::run_job_list() throws.
JobListResult run_jobs(const JobCall& call, std::unique_ptr<Progress> shown);

}  // namespace pleat::program

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

/// The request for a list of jobs, instead of a command line.
struct JobCall {
    std::string command;              ///< "couplings"
    std::vector<std::string> inputs;  ///< files, each a job
    /// Options by their names without dashes; a bool for flags. One may be given several times.
    std::vector<std::pair<std::string, std::variant<bool, std::string>>> options;
};

/// Takes the place of the terminal in run_job_list().
struct JobCaller {
    std::unique_ptr<Progress> shown;  ///< also gets the number of jobs that have ended
    std::optional<JobListResult> result = {};
};

/// Runs the jobs of the call; prints nothing, and leaves signals to the caller. Failures of jobs
/// are rows of the result; messages tell of them, too. Throws UsageError for a command or an option
/// that does not exist, and what pleat::run_job_list() throws.
JobListResult run_jobs(const JobCall& call, std::unique_ptr<Progress> shown);

}  // namespace pleat::program

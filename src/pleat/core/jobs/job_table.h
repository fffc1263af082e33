// Job table: jobs.tsv, the status and main results of each job, from the manifests of their runs.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "pleat/core/failure.h"
#include "pleat/core/jobs/job_plan.h"

namespace pleat {

enum class JobStatus { waiting, unfinished, done, failed };

struct JobRow {
    std::string name;
    std::vector<std::string> settings = {};  ///< a value per column; empty: not set
    std::string folder;                      ///< below that of the table
    JobStatus status = JobStatus::waiting;
    std::string device = {}, seconds = {};  ///< empty: not known
    std::vector<std::string> numbers = {};  ///< a value per column; empty: not known
    std::string error = {};                 ///< one line
    int exit_code = 0;                      ///< of the error; not in the file
};

struct JobTable {
    std::vector<std::string> call;           ///< the words behind `pleat`
    std::vector<std::string> options;        ///< columns of settings
    std::vector<std::string> swept_options;  ///< those of them that --sweep names
    std::vector<std::string> numbers;        ///< columns from "results" of the manifests
    std::vector<JobRow> rows;

    JobTable() = default;
    /// The rows of a plan, all waiting.
    JobTable(std::vector<std::string> call, const JobPlan& plan, std::vector<std::string> numbers);
    /// Reads `folder`/jobs.tsv. Throws InputError if it is missing or no table of jobs.
    explicit JobTable(const std::filesystem::path& folder);

    /// jobs.tsv: lines with # for version, command and swept options; column names; one line per
    /// job.
    std::string text() const;
    std::vector<std::string> columns() const;
    /// The texts of a row's cells, empty where nothing is known.
    std::vector<std::string> cells(const JobRow& row) const;
    /// "40 done, 1 failed"; counts of 0 are left out, except "done".
    std::string counts() const;
    bool all_ended() const;
};

/// Sets what the manifest in `folder` says of the row, unless the job has failed.
void update(JobRow& row, const std::filesystem::path& folder,
            const std::vector<std::string>& numbers);

void set_failed(JobRow& row, const Failure& failure);
/// Throws UsageError if all rows were refused: the folder holds runs of another call, whose table
/// must stay.
void refuse_other_runs(const JobTable& table);

/// Copies all values of another row except name, settings and folder.
void copy_outcome(JobRow& row, const JobRow& other);

/// The rows of `folder`/jobs.tsv that are not in `table` and whose folders contain a pleat run,
/// updated from its manifest: jobs of earlier calls. Empty if there is no job table.
JobTable earlier_jobs(const std::filesystem::path& folder, const JobTable& table);

/// Writes `folder`/jobs.tsv: the rows of `earlier`, then those of `table`, with the columns of
/// both; a number of one that is an option of the other fills its column.
void write_job_table(const std::filesystem::path& folder, const JobTable& earlier,
                     const JobTable& table);

/// Rewrites `folder`/jobs.tsv from the manifests of its jobs.
JobTable renew_job_table(const std::filesystem::path& folder);

/// Formats a job's line: "PF00072: sequences 3068, columns 117, 1.2 s".
std::string row_line(const JobRow& row, const std::vector<std::string>& numbers);

}  // namespace pleat

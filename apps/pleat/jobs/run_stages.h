// Run stages: runs of other commands in folders within a run, kept if they agree.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "options/common_options.h"
#include "pleat/core/context.h"
#include "pleat/core/fields.h"
#include "pleat/core/jobs/job_command.h"
#include "pleat/core/run/finished_run.h"
#include "pleat/core/run/run_directory.h"

namespace pleat::program {

/// One stage: the command, options and inputs that it runs with.
struct Stage {
    std::string name;     ///< name of its folder
    std::string command;  ///< "couplings"
    std::vector<Field> fields;
    std::vector<Field> defaults;         ///< the same options with the defaults of the command
    std::vector<std::string> arguments;  ///< the command's arguments without a flag
    std::vector<std::filesystem::path> inputs;  ///< in the order of its manifest
};

/// Stages of one run as runs of other commands in folders within its own. A finished run of the
/// same command, version, options and inputs is read instead of computed again. While there is a
/// stage, an unfinished run keeps its folder, so that the same command resumes there. References
/// must outlive this object.
class RunStages {
public:
    /// `task`: the run as a job.
    RunStages(const RunOptions& options, const JobTask& task, RunDirectory& run);

    struct StageRun {
        std::filesystem::path folder;
        bool is_kept =
            false;  ///< the folder has a finished run of the same command, options and inputs
    };
    /// Runs the stage unless a run is kept; says which to `context`. Its citations become those of
    /// the run. `work` computes in a folder, replacing the run there if `force` is true.
    StageRun make(const Stage& stage, const Context& context,
                  const std::function<void(const std::filesystem::path& folder, bool force)>& work);
    /// How the stage runs as a job.
    JobTask task_of(const Stage& stage, const Context& context) const;

private:
    /// Calls `work`, or copies the run of the same stage from another job of the list; returns
    /// whether it worked.
    bool work_once(const Stage& stage, const std::filesystem::path& folder,
                   const std::function<void()>& work);
    /// The finished run in the stage's folder, which a forced run copies from the one that it
    /// replaces.
    std::optional<FinishedRun> find(const Stage& stage, const std::filesystem::path& folder) const;
    /// Cites what the stage cites; of a kept stage its notes are shown again, to `kept`.
    void take_up(const std::filesystem::path& folder, const Context* kept);

    const RunOptions& options_;
    const JobTask& task_;
    RunDirectory& run_;
};

}  // namespace pleat::program

// Select stages: the computations of a selection as runs in folders within, kept if they agree.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "pleat/bio/scattering/profile.h"
#include "pleat/core/context.h"
#include "pleat/core/fields.h"
#include "pleat/core/run/finished_run.h"
#include "pleat/core/run/run_directory.h"
#include "pleat/workflows/select/stages.h"
#include "process/ranks.h"
#include "select/select_options.h"

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

/// Stages of one selection as runs of `pleat saxs`, `cluster` and `couplings` in folders within the
/// selection's. A finished run of the same command, version, options and inputs is read instead of
/// computed again. While there is a stage, an unfinished selection keeps its folder, so that the
/// same command resumes there. References must outlive this object.
class FolderStages final : public select::Stages {
public:
    /// `superposed`: as in select::Input. `curve` may be null. `task`: the selection as a job.
    FolderStages(const SelectOptions& options, const Ensemble& ensemble,
                 const std::vector<Index>& superposed, const ProfileFile* curve,
                 const JobTask& task, Ranks& ranks, RunDirectory& run);

    std::vector<double> fit_frames(const Ensemble& ensemble, const Profile& curve,
                                   const Context& context) override;
    select::Clusters cluster_frames(View<const float, 3> xyz, const cluster::Parameters& parameters,
                                    const Context& context) override;
    PredictedContacts fit_couplings(const Alignment& alignment,
                                    const std::vector<std::string>& full_rows,
                                    const std::string& row, const Context& context) override;

    /// The superposed atoms; after cluster_frames().
    const ClusterInput& superposed() const { return superposed_; }

private:
    struct StageRun {
        std::filesystem::path folder;
        bool is_kept =
            false;  ///< the folder has a finished run of the same command, options and inputs
    };
    /// Runs the stage unless a run is kept; says which to `context`. Its citations become those of
    /// the selection. `work` computes in a folder, replacing the run there if `force` is true.
    StageRun make(const Stage& stage, const Context& context,
                  const std::function<void(const std::filesystem::path& folder, bool force)>& work);
    /// Calls `work`, or copies the run of the same stage from another job of the list; returns
    /// whether it worked.
    bool work_once(const Stage& stage, const std::filesystem::path& folder,
                   const std::function<void()>& work);
    /// The finished run in the stage's folder, which a forced selection copies from the selection
    /// that it replaces.
    std::optional<FinishedRun> find(const Stage& stage, const std::filesystem::path& folder) const;
    JobTask task_of(const Stage& stage, const Context& context) const;
    void cite(const std::filesystem::path& folder);

    const SelectOptions& options_;
    const Ensemble& ensemble_;
    const std::vector<Index>& superposed_atoms_;
    const ProfileFile* curve_;
    const JobTask& task_;
    Ranks& ranks_;
    RunDirectory& run_;
    std::filesystem::path marker_file_;
    ClusterInput superposed_;
};

}  // namespace pleat::program

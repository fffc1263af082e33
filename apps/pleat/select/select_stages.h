// Select stages: the computations of a selection as runs in folders within, kept if they agree.
#pragma once

#include <string>
#include <vector>

#include "jobs/run_stages.h"
#include "pleat/bio/scattering/profile.h"
#include "pleat/core/context.h"
#include "pleat/core/run/run_directory.h"
#include "pleat/workflows/select/stages.h"
#include "process/ranks.h"
#include "select/select_options.h"

namespace pleat::program {

/// Stages of one selection as runs of `pleat saxs`, `cluster` and `couplings` in folders within the
/// selection's: see RunStages. References must outlive this object.
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
    PredictedContacts fit_couplings(const Alignment& alignment, const std::string& row,
                                    const Context& context) override;

    /// The superposed atoms; after cluster_frames().
    const ClusterInput& superposed() const { return superposed_; }

private:
    const SelectOptions& options_;
    const Ensemble& ensemble_;
    const std::vector<Index>& superposed_atoms_;
    const ProfileFile* curve_;
    Ranks& ranks_;
    RunStages stages_;
    ClusterInput superposed_;
};

}  // namespace pleat::program

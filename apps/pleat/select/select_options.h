// Select options: what `pleat select` takes, and what its stages are run with.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cluster/cluster_run.h"
#include "couplings/couplings_fit.h"
#include "options/common_options.h"
#include "options/ensemble_options.h"
#include "pleat/workflows/select/select.h"
#include "saxs/saxs_run.h"

namespace pleat::program {

/// All options of `pleat select`.
struct SelectOptions {
    RunOptions run;
    EnsembleSource ensemble;
    std::string alignment, contacts;  ///< at most one of them; empty: none
    ReadOptions alignment_reading;
    std::string curve;  ///< file; empty: none
    ProfileOptions curve_reading;
    StructureOutput structures;
    select::Parameters parameters;
    JobListOptions jobs;

    SelectOptions();
    bool has_contacts() const { return !alignment.empty() || !contacts.empty(); }
    bool uses_score() const { return !ensemble.score.empty(); }
};
std::vector<Field> evidence_fields(SelectOptions& options);
std::vector<Field> structure_fields(SelectOptions& options);
/// The options that decide what is computed, in the manifest's order.
std::vector<Field> result_fields(SelectOptions& options);
/// Throws UsageError for options that exclude each other, and if there is no evidence besides the
/// clusters.
void check_options(const SelectOptions& options);

/// The files of the ensemble as stages list them: each once, the topology last.
std::vector<std::filesystem::path> ensemble_inputs(const EnsembleSource& ensemble);

/// What the stages are run with, the folder apart. `row`: see select::Stages.
CouplingsOptions couplings_stage(const SelectOptions& options, const std::string& row);
/// `clustering`: with the cutoff that was chosen.
ClusterOptions clusters_stage(const SelectOptions& options, const cluster::Parameters& clustering);
SaxsOptions saxs_stage(const SelectOptions& options);

}  // namespace pleat::program

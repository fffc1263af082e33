// Select options: what `pleat select` takes, and what its stages get of it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cluster_run.h"
#include "common_options.h"
#include "couplings_fit.h"
#include "ensemble_options.h"
#include "pleat/select/select.h"
#include "saxs_run.h"

namespace pleat::program {

/// All options of `pleat select`.
struct SelectOptions {
    RunOptions run;
    EnsembleSource ensemble{.sources = {},
                            .topology = {},
                            .assembly = {},
                            .select = "ca",
                            .frames = "::",
                            .weights = {}};
    std::string alignment, contacts;  ///< at most one of them; empty: none
    std::string curve;
    ProfileChoices curve_reading;
    cluster::Parameters clustering;
    StructureOutput structures{.atoms = "all"};
    select::Parameters parameters;

    bool has_contacts() const { return !alignment.empty() || !contacts.empty(); }
};
std::vector<Field> evidence_fields(SelectOptions& options);
std::vector<Field> clustering_fields(SelectOptions& options);
std::vector<Field> structure_fields(SelectOptions& options);
/// The options that decide what is computed, in the manifest's order.
std::vector<Field> result_fields(SelectOptions& options);
/// UsageError for options that exclude each other, and for no evidence beside clusters.
void check_options(const SelectOptions& options);

/// d0 of the TM-score, 1.24 (L - 15)^(1/3) - 1.8 angstrom for L residues, at least 1: Zhang and
/// Skolnick, Proteins 57:702 (2004).
double usual_cutoff(Index residues);

/// The files of the ensemble as stages list them: each once, the topology last.
std::vector<std::filesystem::path> ensemble_inputs(const EnsembleSource& ensemble);

/// What the stages are run with, `folder` apart.
CouplingsOptions couplings_stage(const SelectOptions& options, const std::string& row);
ClusterOptions clusters_stage(const SelectOptions& options, Index residues);
SaxsOptions saxs_stage(const SelectOptions& options);

}  // namespace pleat::program

// SAXS: options of `pleat saxs`, and its runs.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "jobs/job_list.h"
#include "options/common_options.h"
#include "options/ensemble_options.h"
#include "pleat/bio/scattering/profile.h"
#include "pleat/saxs/analysis/analysis.h"
#include "pleat/saxs/model/model_joining.h"
#include "pleat/saxs/saxs.h"

namespace pleat::program {

/// All options of `pleat saxs`.
struct SaxsOptions {
    RunOptions run;
    EnsembleSource ensemble;  ///< without weights
    saxs::ModelsAre models_are = saxs::ModelsAre::automatic;
    std::string data, series, form_factors;
    saxs::AnalysisParameters analysis;
    std::string observables, observable_values;
    ProfileOptions curve;
    bool mixture = false;
    saxs::Parameters parameters;
    JobListOptions jobs;
};
std::vector<Field> curve_fields(SaxsOptions& options);
/// The options that affect results, in the order of the manifest.
std::vector<Field> result_fields(SaxsOptions& options);

/// Input that was read before: states of one ensemble, and a curve.
struct SaxsInputRead {
    std::span<const Ensemble> components = {};  ///< empty: nothing was read before
    const ProfileFile* curve = nullptr;         ///< not null if there are components
};
struct SaxsOutcome {
    saxs::Result result;
    std::string summary;  ///< for standard output; empty on other ranks
};

/// Reads, computes and, on the leading rank, writes the folder options.run.output. Throws every
/// kind of Error.
SaxsOutcome make_profiles(SaxsOptions& options, const JobTask& task, Ranks& ranks,
                          const SaxsInputRead& read = {});
/// What make_profiles() needs.
RunEstimate estimate_profiles(SaxsOptions& options);

}  // namespace pleat::program

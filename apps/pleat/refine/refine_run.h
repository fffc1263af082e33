// Refine run: sampling and fits from their options to the files of their run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "jobs/job_list.h"
#include "options/common_options.h"
#include "options/ensemble_options.h"
#include "pleat/workflows/refine/refine.h"
#include "saxs/saxs_run.h"

namespace pleat::program {

/// All options of `pleat refine`.
struct RefineOptions {
    RunOptions run;
    EnsembleSource ensemble;  ///< one file, or those of domains, and the assembly
    bool join = false;        ///< whether several files are domains of one protein
    refine::Parameters parameters;
    SaxsOptions saxs;                      ///< data, curve and parameters of the fit
    bool profiles = false;                 ///< of the frames without a curve, too
    std::optional<double> cluster_cutoff;  ///< angstrom; not set: no clusters

    bool has_curve() const { return !saxs.data.empty(); }
    bool has_profiles() const { return profiles || has_curve(); }
    JobListOptions jobs;
};

std::vector<Field> input_fields(RefineOptions& options);
/// The options of the curve: one of X-rays, whose likelihood is not smeared.
std::vector<Field> refined_curve_fields(RefineOptions& options);
/// The option of the clusters of frames.
std::vector<Field> frame_cluster_fields(RefineOptions& options);
/// The options of the profiles of frames.
std::vector<Field> frame_profile_fields(RefineOptions& options);
/// The options that decide what is computed, in the manifest's order.
std::vector<Field> result_fields(RefineOptions& options);

/// Sets the mode that follows from whether there is a curve.
void choose_mode(RefineOptions& options);
/// Throws if options exclude each other or a file is missing.
void check_job(const RefineOptions& options);
/// Reads, samples, and writes the folder options.run.output. Returns the summary for standard
/// output. Throws every kind of Error.
std::string make_frames(RefineOptions& options, const JobTask& task, Ranks& ranks);
/// What make_frames() needs.
RunEstimate estimate_frames(RefineOptions& options);

}  // namespace pleat::program

// Mutants run: options of `pleat mutants`, and the run of one family or model.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "jobs/job_list.h"
#include "options/common_options.h"
#include "options/run_estimate.h"
#include "options/structure_choice.h"
#include "pleat/couplings/couplings.h"
#include "pleat/workflows/mutants/mutants.h"

namespace pleat::program {

/// All options of `pleat mutants`.
struct MutantsOptions {
    RunOptions run;
    AlignmentOptions alignment;            ///< or the folder or file of a model
    std::string focus;                     ///< name of the target's row, whose columns are kept
    std::string row;                       ///< name of the target's row; empty: the first
    std::string target, table, sequences;  ///< files; empty: none
    couplings::Parameters fit;
    mutants::Parameters parameters;
    JobListOptions jobs;
};
/// The options that name the target's row of an alignment.
std::vector<Field> mutant_row_fields(MutantsOptions& options);
/// The files besides the family.
std::vector<Field> mutant_file_fields(MutantsOptions& options);
/// The options of the fit, which a model does not need.
std::vector<Field> mutant_fit_fields(MutantsOptions& options);
/// The options that affect results, in the order of the manifest.
std::vector<Field> result_fields(MutantsOptions& options);
/// Throws UsageError for options that exclude each other, InputError for missing files.
void check_options(const MutantsOptions& options);

/// The file of the model that a path names: itself, or that of a finished run's folder. Empty for
/// an alignment. Throws InputError for a folder without a model.
std::filesystem::path model_file(const std::string& path);

/// Makes options.run.output from options.alignment.path; returns the text for standard output.
/// Throws every kind of Error.
std::string compute_mutants(MutantsOptions options, const JobTask& task);

/// What compute_mutants() needs.
RunEstimate estimate_mutants(MutantsOptions& options, SharedInputs& inputs);

}  // namespace pleat::program

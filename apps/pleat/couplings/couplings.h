// Couplings: options of `pleat couplings`, and the run of one family.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "jobs/job_list.h"
#include "options/common_options.h"
#include "options/structure_choice.h"
#include "pleat/couplings/couplings.h"
#include "pleat/couplings/output.h"

namespace pleat::program {

/// All options of `pleat couplings`.
struct CouplingsOptions {
    RunOptions run;
    AlignmentOptions alignment;
    StructureOptions structure;
    couplings::Parameters parameters;
    couplings::ModelFiles models = couplings::ModelFiles::none;
    std::int64_t min_separation = 6;
    std::string secondary;           ///< file of a secondary structure; empty: none
    std::string parts;               ///< see couplings::parse_parts()
    std::int64_t shuffle_parts = 0;  ///< fits of shuffled pairing
    JobListOptions jobs;
};
/// The options that affect results, in the order of the manifest.
std::vector<Field> result_fields(CouplingsOptions& options);

/// Reads options.alignment.path, fits it and writes options.run.output; returns the text for
/// standard output. `written` gets the result when the run has finished, `check` the filtered
/// alignment and its reference row before the fit; both may be empty. Throws every kind of Error.
std::string fit_family(
    CouplingsOptions options, const JobTask& task,
    const std::function<void(const couplings::Report&)>& written = {},
    const std::function<void(const Alignment&, const ReferenceRow&)>& check = {});

/// What fit_family() needs.
RunEstimate estimate_family(CouplingsOptions& options, SharedInputs& inputs);

}  // namespace pleat::program

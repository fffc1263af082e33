// Couplings fit: options of `pleat couplings`, and the run of one family.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "options/common_options.h"
#include "options/structure_choice.h"
#include "pleat/couplings/couplings.h"
#include "pleat/couplings/output.h"

namespace pleat::program {

/// All options of `pleat couplings`. Families are described in families.h.
struct CouplingsOptions {
    RunOptions run;
    AlignmentOptions alignment;
    StructureOptions structure;
    couplings::Parameters parameters;
    std::int64_t min_separation = 6;
    std::string list;  ///< file with paths of alignments; empty: none
    std::optional<std::int64_t>
        jobs;  ///< families in progress at once; not set: by device and threads
};
std::vector<Field> output_fields(CouplingsOptions& options);
/// The options that affect results, in the order of the manifest.
std::vector<Field> result_fields(CouplingsOptions& options);

/// How one family is run.
struct CouplingsTask {
    std::filesystem::path folder;
    std::vector<std::string> arguments;  ///< for the manifest
    Progress* shown = nullptr;           ///< may be null
    bool shares_process = false;         ///< other families run at the same time in this process
    /// options.alignment.path and its full rows if they have been read already; else null.
    const Alignment* alignment = nullptr;
    const std::vector<std::string>* full_rows = nullptr;
    int threads = 0;  ///< until `choose_device` sets them; 0: from the options
    /// Sets the context's device and threads for the alignment; returns the reason in one line.
    std::function<std::string(const Alignment&, Context&)> choose_device;
    /// Called when the fit has ended and its memory is free; may be empty.
    std::function<void()> fitted = {};
    /// Called with the result when the run has finished; may be empty.
    std::function<void(const couplings::Report&)> written = {};
};

/// The outcome of a family's run.
struct CouplingsOutcome {
    Index sequences = 0, columns = 0;
    double effective_sequences = 0, relative_gap = 0;
    std::int64_t evaluations = 0;
    couplings::StopReason stop_reason = couplings::StopReason::converged;
    std::string summary;  ///< text for standard output
};

/// Reads options.alignment.path, fits it and writes task.folder. Throws every kind of Error.
CouplingsOutcome fit_family(CouplingsOptions options, const CouplingsTask& task);

}  // namespace pleat::program

// Output: what a selection leaves in its run directory, structures apart.
#pragma once

#include <string>
#include <vector>

#include "pleat/core/run/run_directory.h"
#include "pleat/select/contacts.h"
#include "pleat/select/select.h"

namespace pleat::select {

/// Everything that the files tell. References outlive the call.
struct Report {
    const Evidence& evidence;
    const Result& result;
    const std::vector<std::string>& files;      ///< [frame]: where it comes from
    const std::vector<Index>& frames_of_files;  ///< [frame], from 0
    const std::vector<Index>& medoids;          ///< [cluster]
    const std::vector<float>& rmsd;             ///< [frame]: from the first selected cluster's
                                                ///< medoid, angstrom; empty: not known
    const std::vector<ExpectedContact>& contacts;
};

/// Writes scores.tsv, clusters.tsv and, with contacts, explained.tsv; README.md of this folder
/// describes each. OutputError.
void write_results(RunDirectory& run, const Report& report);

}  // namespace pleat::select

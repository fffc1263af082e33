// Structure choice: the structure that the options name, laid over an alignment.
#pragma once

#include <optional>

#include "common_options.h"
#include "pleat/bio/structure/known_structure.h"

namespace pleat::program {

/// UsageError where options say how to measure in a structure and none is given.
void check_structure_options(const StructureOptions& options);

/// Throws InputError if the structure's file does not exist or may not be read.
void check_structure_file(const StructureOptions& options);

/// Reads the structure and maps it to the columns of `source`, the alignment as read. Nothing
/// without
/// --structure. Lists the file among the run's inputs.
std::optional<KnownStructure> read_known_structure(const StructureOptions& options,
                                                   const Alignment& source, RunDirectory& run);

/// Lays it over the columns that were kept.
void measure(KnownStructure& known, const Alignment& kept);

/// The row that the lists show: that of the structure, else the one named, else the first.
/// `full_rows`: see ReadOptions; may be empty where the residues that columns leave out do not
/// matter.
ReferenceRow reference_row(const StructureOptions& options, const Alignment& source,
                           const std::vector<std::string>& full_rows,
                           const std::optional<KnownStructure>& known);

}  // namespace pleat::program

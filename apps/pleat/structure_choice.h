// Structure choice: the structure that the options name, laid over an alignment.
#pragma once

#include <optional>

#include "common_options.h"
#include "pleat/couplings/output.h"

namespace pleat::program {

/// Reads the structure and maps it to the columns of `source`, the alignment as read. Nothing without
/// --structure. Lists the file among the run's inputs.
std::optional<couplings::KnownStructure> read_known_structure(const StructureOptions& options,
                                                              const Alignment& source,
                                                              RunDirectory& run);

/// Lays it over the columns that were kept.
void measure(couplings::KnownStructure& known, const Alignment& kept);

/// The row that the lists show: that of the structure, else the one named, else the first.
couplings::ReferenceRow reference_row(const StructureOptions& options, const Alignment& source,
                                      const std::optional<couplings::KnownStructure>& known);

}  // namespace pleat::program

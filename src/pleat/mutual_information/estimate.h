// Estimate: the memory and the time of the mutual information of an alignment.
#pragma once

#include <cstdint>

#include "pleat/core/estimate.h"
#include "pleat/mutual_information/mutual_information.h"

namespace pleat::mutual_information {

/// Throws like run() for options and alignments that are not supported.
void check_input(const Alignment& alignment, Parameters parameters);

/// Bytes of host memory per rank, beyond the alignment.
std::int64_t host_bytes(const Alignment& alignment, const Parameters& parameters,
                        const Context& context);

/// Bytes of the arrays of pairs and of all triples.
std::int64_t disk_needed(const Alignment& alignment, const Parameters& parameters);

/// Resources for reading the alignment, run(), and writing the results. The time is within a factor
/// of about three. Throws like run().
Estimate estimate(const Alignment& alignment, const Parameters& parameters, const Context& context);

}  // namespace pleat::mutual_information

// Filters: removing columns with many gaps and sequences with low coverage.
#pragma once

#include <optional>
#include <string>

#include "pleat/bio/alignment/alignment.h"

#pragma GCC visibility push(default)

namespace pleat {

/// All filters are off by default. A letter that reads as a gap (X, N, ...) counts as a gap.
struct FilterOptions {
    double max_gaps = 1.0;      ///< keep columns whose fraction of gaps is at most this
    double min_coverage = 0.0;  ///< keep sequences whose fraction of non-gaps is at least this
    std::optional<Index> focus = {};  ///< keep columns where this sequence has no gap
};

/// Returns a copy without the columns beyond the limits and then without the sequences beyond them;
/// the focus is applied first. The gap fraction of a column counts all sequences, unweighted; the
/// coverage of a sequence counts the kept columns. The first sequence is not exempt. `columns` of
/// the result refers to the source. Throws UsageError for a fraction outside [0, 1], InputError if
/// fewer than 2 columns or 2 sequences are left.
Alignment filter(const Alignment& alignment, const FilterOptions& options);

/// "2 columns and 1 sequence hold only gaps"; empty if there are none.
std::string gap_only_text(const Alignment& alignment);

}  // namespace pleat

#pragma GCC visibility pop

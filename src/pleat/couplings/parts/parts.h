// Parts: chains whose alignments stand side by side in the columns of one alignment, and their
// structure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pleat/bio/alignment/alignment.h"
#include "pleat/bio/structure/known_structure.h"

namespace pleat::couplings {

/// One chain of a concatenated alignment: the source columns [first, last).
struct Part {
    std::string name;
    Index first = 0, last = 0;
};

/// The parts of a source alignment in column order; they cover all columns.
using Parts = std::vector<Part>;

/// Parses lengths ("218,310": parts A and B) or names with ranges from 1 ("A:1-218,B:219-528").
/// Throws UsageError for other text, repeated names, and ranges that overlap or leave out columns.
/// Empty text: no parts.
Parts parse_parts(std::string_view text);

/// Throws InputError, naming the sum of the lengths, unless it equals the number of source columns.
void check_parts(const Parts& parts, const Alignment& source);

/// The parts of `text`; if it is empty and the columns have no focus those that the file states
/// (Alignment::parts), with a note. Empty for one part. Throws as parse_parts() and check_parts(),
/// and UsageError for shuffled fits of one part.
Parts choose_parts(std::string_view text, const Alignment& source, bool has_focus,
                   Index shuffled_fits, Notes& notes);

/// [fitted column]: index of its part in `parts`; 0 without parts. Throws InputError if filters
/// removed all columns of a part.
std::vector<Index> parts_of_columns(const Parts& parts, const Alignment& alignment);

/// The number of parts, and of fitted columns per part.
Index part_count(const std::vector<Index>& part_of_column);
std::vector<Index> column_counts(const std::vector<Index>& part_of_column);

/// Column numbers that keep their differences within a part, but differ between parts by more than
/// any separation.
std::vector<Index> apart(const std::vector<Index>& columns,
                         const std::vector<Index>& part_of_column);

/// Adds to `structure` a chain named `chains` ("A,B") that joins the chains of these names, and
/// maps the columns of each part to its chain. All parts use the same row: `row`, or if empty the
/// row that fits the first part's chain best. Throws UsageError unless there is one name per part,
/// and like map_residues().
ResidueMap map_parts(const Alignment& source, const Parts& parts, const std::string& row,
                     const std::string& chains, Structure& structure);

}  // namespace pleat::couplings

// Parts: chains whose alignments stand side by side in the columns of one alignment, and their
// structure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pleat/bio/alignment/alignment.h"
#include "pleat/bio/structure/known_structure.h"

namespace pleat::couplings {

/// One chain: the columns [first, last) of the source.
struct Part {
    std::string name;
    Index first = 0, last = 0;
};

/// The parts of an alignment's source, in the order of their columns; they cover all of them.
using Parts = std::vector<Part>;

/// Reads lengths ("218,310": the parts A and B) or names with ranges from 1 ("A:1-218,B:219-528").
/// Throws UsageError for other text, names that repeat, and ranges that leave columns out or
/// overlap. Empty text: no parts.
Parts parse_parts(std::string_view text);

/// Throws InputError, which names the sum of the lengths, unless it is the source's columns.
void check_parts(const Parts& parts, const Alignment& source);

/// The parts of `text`; if it is empty and the columns have no focus those that the file states
/// (Alignment::parts), with a note. Empty for one part. Throws as parse_parts() and check_parts(),
/// and UsageError for shuffled fits of one part.
Parts choose_parts(std::string_view text, const Alignment& source, bool has_focus,
                   Index shuffled_fits, Notes& notes);

/// Part of each fitted column, by its index in `parts`; 0 without parts. Throws InputError if the
/// filters left a part without columns.
std::vector<Index> parts_of_columns(const Parts& parts, const Alignment& alignment);

/// Number of parts, and of fitted columns in each.
Index part_count(const std::vector<Index>& part_of_column);
std::vector<Index> column_counts(const std::vector<Index>& part_of_column);

/// Numbers of columns that keep their differences within a part, and differ by more than any
/// separation between parts.
std::vector<Index> apart(const std::vector<Index>& columns,
                         const std::vector<Index>& part_of_column);

/// Adds to `structure` a chain named `chains` ("A,B") that joins the chains of these names, and
/// maps the columns of each part to its chain. All parts use the same row: `row`, or if empty the
/// row that fits the first part's chain best. Throws UsageError unless there is one name per part,
/// and like map_residues().
ResidueMap map_parts(const Alignment& source, const Parts& parts, const std::string& row,
                     const std::string& chains, Structure& structure);

}  // namespace pleat::couplings

// Known structure: a structure aligned to an alignment, and the row whose letters results show.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pleat/bio/alignment/alignment.h"
#include "pleat/bio/structure/contacts.h"
#include "pleat/bio/structure/residue_map.h"
#include "pleat/bio/structure/structure.h"
#include "pleat/core/array.h"
#include "pleat/core/notes.h"

namespace pleat {

/// The row whose letters and residues the contact files show, over all columns of the source.
struct ReferenceRow {
    std::string name;
    std::string letters;  ///< one per column of the source, '-' for a gap
    std::string sequence =
        {};  ///< all residues of the row, insertions and unknown letters included
    /// For each column of the source: the number of its residue in `sequence`, from 1; 0 for a gap.
    std::vector<Index> numbers = {};
    /// For each column of the source the number that tables and the screen show; empty: its
    /// position, from 1.
    std::vector<Index> shown = {};

    Index shown_number(Index source_column) const {
        return shown.empty() ? source_column + 1 : shown[static_cast<std::size_t>(source_column)];
    }
};

/// Makes results show the numbers of the row's residues instead of columns, from START of a name
/// NAME/START-END or from 1.
void show_residue_numbers(ReferenceRow& reference);

/// For each kept column the number that results show, minus 1, as arrays have it.
std::vector<Index> shown_columns(const Alignment& kept, const ReferenceRow& reference);

/// START of a name NAME/START-END.
std::optional<Index> start_in_name(const std::string& name);

/// A line for the user if a sequence of the name NAME/START-END has another number of residues, so
/// that counting them from START gives wrong numbers; else empty.
std::string doubt_about_numbers(const std::string& name, Index residues);

/// A row of an alignment before filtering, with its insertions if the reader kept them.
ReferenceRow make_reference_row(const Alignment& source, Index row);
/// What tables on the screen say of the numbers of columns.
std::string numbers_text(const ReferenceRow& reference);
/// "column i", or "number i" if they are numbers of residues.
std::string number_heading(const ReferenceRow& reference, char index);

/// A known structure, aligned to the columns that were kept.
struct KnownStructure {
    Structure structure;
    Notes notes;                  ///< of its file
    ResidueMap map;               ///< over all columns of the source
    std::vector<Index> residues;  ///< of each kept column: index into the chain, or -1
    ContactDefinition definition;
    Array<double, 2> distances;  ///< of each two kept columns, angstrom; NaN: not known

    const Chain& chain() const { return structure.chains[static_cast<std::size_t>(map.chain)]; }
};

/// "GLY 121" of a kept column; `none` if it has no residue.
std::string residue_label(const KnownStructure& known, Index column, std::string_view none = {});

/// "133 (G)": the number that results show for a kept column, and its letter in the reference row;
/// "9 (gap)" if it has a gap there.
std::string column_label(const Alignment& kept, const ReferenceRow& reference, Index column);

}  // namespace pleat

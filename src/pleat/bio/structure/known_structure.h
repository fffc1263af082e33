// Known structure: a structure aligned to an alignment, its distances, and the row whose letters
// results show.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pleat/bio/alignment/alignment.h"
#include "pleat/bio/structure/structure.h"
#include "pleat/core/array.h"
#include "pleat/core/name_of.h"
#include "pleat/core/notes.h"
#include "pleat/core/view.h"

namespace pleat {

/// The atoms between which a distance is measured.
enum class ContactAtoms {
    beta,   ///< proteins: CB, and CA for glycine or if CB is missing (CASP's definition)
    heavy,  ///< the closest pair of atoms other than hydrogen
    sugar,  ///< nucleic acids: C1'
};

/// When two residues are in contact: distance below `cutoff` angstrom.
struct ContactDefinition {
    ContactAtoms atoms = ContactAtoms::beta;
    double cutoff = 8.0;

    /// CB-CB below 8 angstrom for proteins (CASP), heavy atoms below 8 angstrom for nucleic acids.
    static ContactDefinition standard(Chain::Kind kind);
    /// The atoms' default cut-off: beta 8, heavy 5 (proteins) or 8 (nucleic acids), sugar 12, wide
    /// enough for the two sugars of a base pair (10.5).
    static ContactDefinition with_default_cutoff(ContactAtoms atoms, Chain::Kind kind);
};

/// The names of ContactAtoms in options and files: "cb", "heavy", "sugar".
std::span<const std::string_view> names_of(ContactAtoms);
/// The reverse of name_of(); throws UsageError for any other name.
ContactAtoms parse_contact_atoms(std::string_view name);

/// Distances in angstrom between the residues of every two columns: [column, column], symmetric,
/// diagonal 0. NaN, diagonal included, in rows and columns that have no residue (-1 in `residues`)
/// or whose residue lacks the atom: these pairs can be called neither right nor wrong.
/// Throws UsageError if the atoms do not suit the kind of chain (beta: protein, sugar: nucleic
/// acid).
Array<double, 2> column_distances(const Chain& chain, const std::vector<Index>& residues,
                                  ContactAtoms atoms);

/// Choices that the user may make.
struct ResidueMapOptions {
    std::string row = {};  ///< name of the row to align to the chain; empty: the best matching row
    std::string chain = {};  ///< name of the chain; empty: the best matching chain
    /// Minimum sequence identity of the structure; lower ones throw. Not set: 0.3 for proteins, 0.6
    /// for nucleic acids (unrelated sequences reach about 0.2 and 0.5).
    std::optional<double> min_identity = {};
};

/// The map from alignment columns to the residues of one chain.
struct ResidueMap {
    std::vector<Index> residues;  ///< per column an index into the chain's residues, or -1
    Index mapped = 0;             ///< columns that have a residue
    Index row = 0;                ///< row of the alignment that was aligned to the chain
    std::string row_name;
    Index chain = 0;  ///< index into the structure's chains
    std::string chain_name;
    double identity =
        0;  ///< identical letters over mapped columns whose residue has a known letter
};

/// Finds the row with this name: the full name, its first word, or the part of that before the
/// slash of a range, if only one row has it; among rows with the same name and letters the first.
/// Throws UsageError if no row, or more than one, has the name.
Index find_row(const Alignment& alignment, const std::string& name);

/// Aligns one row to the sequence of one chain (see pairwise.h) and maps its columns to the aligned
/// residues; columns where the row has a gap have no residue.
///
/// The row is the one named (see find_row), else that of the highest alignment score (of equals the
/// first). Of large alignments only the rows that share most words of 3 amino acids or 5
/// nucleotides with the chain are aligned: at least 64 rows, and all rows of small families.
///
/// Throws UsageError if no row, or more than one, has the name. Throws InputError if no chain is of
/// the alignment's kind or has the name, if the identity is below the minimum, or if less than 0.3
/// of the shorter sequence is mapped.
ResidueMap map_residues(const Alignment& alignment, const Structure& structure,
                        const ResidueMapOptions& options = {});

/// A line for the user if a chain of `structure` has so few letters in common with `sequence`
/// ("row 'a'") that it may be of another family; else empty. `identity`: see ResidueMap.
std::string doubt_about_family(const std::string& structure, const std::string& chain,
                               double identity, const std::string& sequence);

/// The same for a sequence: [letter], the residue of the chain `chain` (empty: the best matching
/// one), or -1; unknown letters have none. Throws as map_residues(), whose text calls it `name`.
ResidueMap map_sequence(const std::string& name, std::string_view letters, const Alphabet& alphabet,
                        const Structure& structure, const std::string& chain);

/// The row whose letters and residue numbers the contact files show, over all source columns.
struct ReferenceRow {
    std::string name;
    std::string letters;  ///< one per column of the source, '-' for a gap
    std::string sequence =
        {};  ///< all residues of the row, insertions and unknown letters included
    /// [source column]: number of its residue in `sequence`, from 1; 0 for a gap.
    std::vector<Index> numbers = {};
    /// [source column]: the number that results show; empty: its position, from 1.
    std::vector<Index> shown = {};

    Index shown_number(Index source_column) const {
        return shown.empty() ? source_column + 1 : shown[source_column];
    }
};

/// Makes results show residue numbers of the row instead of columns, beginning with START of a name
/// NAME/START-END, else 1.
void show_residue_numbers(ReferenceRow& reference);

/// [kept column]: the number that results show, minus 1, as used in arrays.
std::vector<Index> shown_columns(const Alignment& kept, const ReferenceRow& reference);

/// START of a name NAME/START-END.
std::optional<Index> start_in_name(const std::string& name);

/// A warning if a sequence named NAME/START-END has a different number of residues, so that numbers
/// counted from START are wrong; else empty.
std::string doubt_about_numbers(const std::string& name, Index residues);

/// Makes the reference row from a row of the unfiltered alignment, with insertions if the reader
/// kept them.
ReferenceRow make_reference_row(const Alignment& source, Index row);
/// Explains the column numbers below tables on the screen.
std::string numbers_text(const ReferenceRow& reference);
/// Table heading: "column i", or "number i" for residue numbers.
std::string number_heading(const ReferenceRow& reference, char index);

/// A known structure aligned to the kept columns of an alignment.
struct KnownStructure {
    Structure structure;
    Notes notes;                  ///< of its file
    ResidueMap map;               ///< over all columns of the source
    std::vector<Index> residues;  ///< of each kept column: index into the chain, or -1
    ContactDefinition definition;
    Array<double, 2> distances;  ///< of each two kept columns, angstrom; NaN: not known

    const Chain& chain() const { return structure.chains[map.chain]; }
};

/// Formats the residue of a kept column as "GLY 121"; returns `none` if it has no residue.
std::string residue_label(const KnownStructure& known, Index column, std::string_view none = {});

/// Formats a kept column as "133 (G)": the number that results show, and its letter in the
/// reference row; "9 (gap)" for a gap.
std::string column_label(const Alignment& kept, const ReferenceRow& reference, Index column);

}  // namespace pleat

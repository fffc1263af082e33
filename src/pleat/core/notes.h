// Notes: what a reader decided about its input, with a kind that programs and tests compare.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)

namespace pleat {

/// The subject of a note. `name_of` returns the names that manifests and Python show.
enum class NoteKind {
    format,          ///< the format or dialect of a file
    unit,            ///< the unit of q, intensities or coordinates
    columns,         ///< which columns of a table hold what
    alphabet,        ///< letters of an alignment that were taken as other letters
    insertions,      ///< columns of an alignment left out or kept as insertions
    helper_rows,     ///< rows of an alignment that are no sequences
    sequence_names,  ///< sequences that were given a name
    parts,           ///< chains of an alignment of several
    several,         ///< a file that holds several of what one is read of
    selection,       ///< atoms that were selected
    atoms,           ///< atoms that were left out
    dummies,         ///< atoms that stand for no matter
    ions,            ///< ions that were left out or kept
    alternatives,    ///< alternative locations
    numbering,       ///< residue or atom numbers that were made up
    names_differ,    ///< matched atoms of residues with other names
    matching,        ///< chains and residues paired by sequence or order
    molecules,       ///< molecules made whole, chains, bonds
    frames,          ///< models or frames that were left out
    truncated,       ///< a file that ends early
    points,          ///< points of a curve that were left out
    errors,          ///< errors of a curve that were assumed
    order,           ///< points that were sorted or merged
    moved,           ///< coordinates that were moved
    residues,        ///< residues understood by their atoms, or left out
    hydrogens,       ///< hydrogens that were added or counted
    scores,          ///< scores of models
    weights,         ///< weights of sequences or atoms
    assumption,      ///< what a calculation assumed
};
std::string_view name_of(NoteKind kind);

/// One decision: its subject, a sentence, and the option that changes it.
struct Note {
    NoteKind kind = NoteKind::assumption;
    std::string text;
    /// The option as a user writes it ("--q-unit 1/angstrom"); empty if there is none.
    std::string option = {};
    bool is_warning = false;  ///< the result is probably not what the user wants

    bool operator==(const Note&) const = default;
};
using Notes = std::vector<Note>;

/// Adds "SOURCE: " before the sentence of each note.
Notes with_source(Notes notes, std::string_view source);
/// The number of notes of a kind.
int count(const Notes& notes, NoteKind kind);
/// The note as text: "warning: " if it is one, the sentence, and the option in brackets.
std::string full_text(const Note& note);

}  // namespace pleat

#pragma GCC visibility pop

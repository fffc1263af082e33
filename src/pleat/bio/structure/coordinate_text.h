// Coordinate text: detecting mmCIF or PDB, the fields of PDB's lines, and what they tell together.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pleat/bio/input/byte_source.h"
#include "pleat/bio/periodic/periodic_cell.h"
#include "pleat/bio/structure/topology_gemmi.h"
#include "pleat/core/error.h"
#include "pleat/core/files/text.h"
#include "pleat/core/notes.h"

namespace pleat {

/// Moves to the first line with text, which is given again, and returns whether it is of CIF: a
/// block, or content of one. Throws InputError if there is no text.
bool is_mmcif(ByteSource& source);

/// Returns the remaining text as a CIF block, after one empty line for each line already read, so
/// that a parser's line numbers are those of the file. Throws InputError for more than
/// `max_from_pipe` bytes from a pipe.
std::string remaining_text(ByteSource& source, std::size_t max_from_pipe);

/// Completes the atom records of a file, model by model; decisions of the first model hold for all.
///
/// Digits in column 17 end atom names that begin in column 14 if no other atoms have them;
/// otherwise they are alternate locations. Column 21 is the fourth letter of residue names (TIP3,
/// LYSH), or the first of two-character chain names if residues of such a chain have known
/// three-letter names. Residue numbers are decimal; hybrid-36; hexadecimal from 2710 on after 9999
/// (VMD); of four or five digits up to column 27, unless a neighbouring residue has the same first
/// four digits (then the fifth character is an insertion code); or follow the order if there are
/// stars. Segments (columns 73-76) name chains that the file leaves blank, if there are several,
/// and chains that several segments share, if these are polymers or number their residues alike.
class PdbDialect {
public:
    /// Sets the residue names, numbers and chains of a model.
    void complete(std::vector<AtomRecord>& atoms, const std::vector<PdbFields>& fields,
                  Complaints& complaints);
    /// The decisions that were made; the texts do not name the file.
    const Notes& notes() const { return notes_; }

private:
    struct Counter;
    void choose_names(const std::vector<PdbFields>& fields);
    void choose_locations(const std::vector<AtomRecord>& atoms,
                          const std::vector<PdbFields>& fields);
    void choose_segments(const std::vector<AtomRecord>& atoms,
                         const std::vector<PdbFields>& fields);
    void read_names(AtomRecord& atom, const PdbFields& fields);
    void read_numbers(std::vector<AtomRecord>& atoms, const std::vector<PdbFields>& fields,
                      Complaints& complaints);
    bool read_number(const std::string& text, const std::string& next, Counter& chain);
    void note(NoteKind kind, const std::string& text);

    bool has_chosen_dialect_ = false;
    std::set<std::string> pairs_;  // chains of two characters
    bool has_long_names_ = false;  // column 17 holds the last digits of atom names
    bool has_segments_ = false;    // columns 73-76 hold segments
    bool names_blank_ = false;     // segments name blank chains
    std::map<std::pair<std::string, std::string>, std::string> names_;  // [chain, segment]
    Notes notes_;
};

/// True for a line that holds an atom.
bool is_atom_line(std::string_view line);

/// The minimum length of an atom line: up to the end of its coordinates.
inline constexpr std::size_t kCoordinatesEnd = 54;

/// Sets `value` to the finite number in a field of fixed columns; false if it has none.
bool parse_coordinate(std::string_view field, double& value);
/// Parses a decimal number or, from 10000 on, hybrid-36 (base 36, beginning with a letter); returns
/// false for other text.
bool parse_residue_number(std::string_view field, int& number);

/// Parses an atom line except for what PdbDialect completes. Returns a complaint (`expected X,
/// found Y`), or an empty text. Serial numbers of six or more digits may begin in column 6 or shift
/// the following columns; such atoms get no serial number.
std::string parse_atom_line(std::string_view line, AtomRecord& atom, PdbFields& fields);

/// Atom lines that are parsed together. Records take five times the memory of lines, and a file
/// without an end is refused before they are made.
class AtomLines {
public:
    void add(std::string_view line, std::int64_t number);
    std::size_t size() const { return at_.size(); }
    /// Parses the lines, appends them to `atoms` and `fields`, and clears them. Returns the numbers
    /// of lines with complaints.
    std::vector<std::int64_t> parse(std::vector<AtomRecord>& atoms, std::vector<PdbFields>& fields,
                                    Complaints& complaints);

private:
    std::string text_;
    std::vector<std::pair<std::size_t, std::int64_t>> at_;  // where a line begins, and its number
};

/// The cell in a CRYST1 record; no cell if its fields are no numbers, or if its space group is not
/// P 1, as that of a crystal.
PeriodicCell parse_cell(std::string_view line);

}  // namespace pleat

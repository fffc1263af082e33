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

/// The remaining text, in a CIF block, behind one empty line for each line before it, so that line
/// numbers of a parser are those of the file. Throws InputError for more than `max_from_pipe` bytes
/// from a pipe.
std::string remaining_text(ByteSource& source, std::size_t max_from_pipe);

/// Completes the atoms of a file, model by model; the first model decides for all.
///
/// Digits in column 17 are the last of atom names that begin in column 14, where no other atoms
/// have them; else alternate locations. Column 21 is the fourth letter of residue names (TIP3,
/// LYSH), or the first of chain names of two characters where residues of such a chain have names
/// of three letters that are known. Residue numbers: decimal, hybrid-36, hexadecimal from 2710 on
/// behind 9999 (VMD), of four or five digits to column 27 unless the residue before or behind has
/// the first four (then an insertion code), and by order where there are stars. Segments (columns
/// 73-76) name the chains that the file leaves blank, if there are several, and those that several
/// segments share, if these are polymers or number their residues alike.
class PdbDialect {
public:
    /// Sets the residue names, numbers and chains of a model.
    void complete(std::vector<AtomRecord>& atoms, const std::vector<PdbFields>& fields,
                  Complaints& complaints);
    /// The decisions made, without the name of the file.
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

    bool is_chosen_ = false;
    std::set<std::string> pairs_;  // chains of two characters
    bool has_long_names_ = false;  // column 17 holds the last digits of atom names
    bool has_segments_ = false;    // columns 73-76 hold segments
    bool names_blank_ = false;     // segments name blank chains
    std::map<std::pair<std::string, std::string>, std::string> names_;  // [chain, segment]
    Notes notes_;
};

/// True for a line that holds an atom.
bool is_atom_line(std::string_view line);

/// Number of columns that an atom's line has at least: those up to its coordinates.
inline constexpr std::size_t kCoordinatesEnd = 54;

/// Sets `value` to the finite number in a field of fixed columns; false if it has none.
bool parse_coordinate(std::string_view field, double& value);
/// Sets `number` from a decimal number, or from 10000 on from a number of base 36 that begins with
/// a letter (hybrid-36); false for another text.
bool parse_residue_number(std::string_view field, int& number);

/// Parses the line of an atom, but for what PdbDialect completes. Returns the complaint (`expected
/// X, found Y`), empty if there is none. Serial numbers of six and more digits may begin in column
/// 6, or move the columns behind them; such an atom gets no serial number.
std::string parse_atom_line(std::string_view line, AtomRecord& atom, PdbFields& fields);

/// Lines of atoms that are parsed together: records take five times the memory, and a file without
/// an end is refused before.
class AtomLines {
public:
    void add(std::string_view line, std::int64_t number);
    std::size_t size() const { return at_.size(); }
    /// Appends the parsed lines to both and forgets them. Returns the numbers of those that were
    /// complained about.
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

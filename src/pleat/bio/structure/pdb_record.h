// PDB records: the fields of one ATOM or HETATM line, and complaints about them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pleat/bio/periodic/periodic_cell.h"
#include "pleat/bio/structure/pdb_dialect.h"
#include "pleat/bio/structure/topology_gemmi.h"

namespace pleat {

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

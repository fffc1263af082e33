// Curve tables: the tables of numbers of a file, the names of their columns, and the unit of q.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pleat/bio/scattering/profile.h"
#include "pleat/core/notes.h"
#include "pleat/core/view.h"

namespace pleat {

struct CurveRow {
    Index line = 0;  ///< of the file, or the number of the point
    std::vector<double> values;
    std::string text;      ///< what messages show
    bool is_point = true;  ///< false: the line cannot be a point of a curve
};

/// A table that may be a curve.
struct CurveTable {
    std::string name;                             ///< by which --curve chooses it
    std::vector<std::string> columns;             ///< names; empty: the file has none
    MomentumUnit unit = MomentumUnit::automatic;  ///< of q, if the file says it
    std::string unknown_unit;                     ///< of q, where the file has another one
    bool is_stored = false;                       ///< by a format of entries: sasCIF, XML, HDF5
    std::vector<CurveRow> rows;
    std::size_t other_lines = 0;  ///< of text around the tables of a file, comments aside
    Notes notes;                  ///< about the format
};

/// What a column of a known name is.
enum class ColumnRole { unknown, momentum, intensity, error, spread, other };
ColumnRole role_of(std::string_view name);
/// The names of at most `width` columns in a line of text if there is one for q and one for the
/// intensity; else empty. `unit` becomes that of q if the line has it.
std::vector<std::string> column_names(std::string_view line, std::size_t width, MomentumUnit& unit);
/// The unit that a text such as "1/nm", "A^-1" or "inverse angstrom" names; automatic: none.
MomentumUnit unit_named(std::string_view text);
/// The same of a line of prose, which must also speak of q, s or a unit.
MomentumUnit unit_in_prose(std::string_view line);

/// The text in UTF-8 or Latin-1 with ASCII for what numbers and units are made of: non-breaking
/// spaces, the minus sign, angstrom, superscripts.
std::string plain_text(std::string_view text);
/// Every table of three or more lines of numbers in a plain text. Throws InputError.
std::vector<CurveTable> tables_of_text(const std::string& file, std::string_view text);

/// The columns, from 0, of a curve.
struct CurveColumns {
    std::size_t q = 0, intensity = 1;
    std::optional<std::size_t> error, spread;
};
/// By --columns, else by names, else in the order q, intensity, error, dq; appends what was decided
/// to `notes`. Throws InputError for a column that is missing, or whose errors look like a model.
CurveColumns choose_columns(const std::string& file, const CurveTable& table,
                            const ProfileOptions& options, Notes& notes);

/// Converts q to 1/angstrom, in this order: as told, as the file says, by the Rg of the structure
/// or of a plausible molecule, by the curve's end. Notes how. Throws InputError for a range of q
/// that no unit explains.
void convert_unit(const std::string& file, const ProfileOptions& options, MomentumUnit named,
                  ProfileFile& read);

}  // namespace pleat

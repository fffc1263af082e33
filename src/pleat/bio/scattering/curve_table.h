// Curve tables: the tables of numbers of a file, their columns and the unit of q. The doors to
// gemmi, in C++17, include it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pleat {

enum class MomentumUnit;
struct Note;
struct Profile;
struct ProfileFile;
struct ProfileOptions;

constexpr std::size_t kMinCurvePoints = 3, kMaxCurvePoints = 1000000;
constexpr const char* kErrorAdvice = "--assume-error takes errors as a part of the intensity";

struct CurveRow {
    std::int64_t line = 0;  ///< of the file, or the number of the point
    std::vector<double> values;
    std::string text = {};  ///< what messages show; empty: the values
    bool is_point = true;   ///< false: the line cannot be a point of a curve
};
std::string text_of(const CurveRow& row);

struct CurveTable {
    std::string name;                 ///< by which --curve chooses it
    std::string q_unit = {};          ///< as the file has it; empty: it has none
    std::vector<CurveRow> rows = {};  ///< in structured formats q, intensity, error, dq, or NaN
    std::vector<std::string> columns = {};      ///< names; empty: none
    std::vector<std::string> words_above = {};  ///< as many as columns, or none
    bool is_stored = false;                     ///< by a format of entries: sasCIF, XML, HDF5
    bool is_offered = true;                     ///< false: such a file names others to be shown
    std::size_t other_lines = 0;            ///< of text around the tables of a file, comments aside
    std::vector<std::string> formats = {};  ///< what notes say of the format
};

/// Every table of three or more lines of numbers in a plain text. Throws InputError.
std::vector<CurveTable> tables_of_text(const std::string& file, std::string_view text);
/// Every curve of a sasCIF file: one per scan of _sas_scan_intensity. Throws InputError.
std::vector<CurveTable> curves_from_cif(const std::string& file, const std::string& text);
/// Every SASdata of a CanSAS 1D file, version 1.0 or 1.1. Throws InputError.
std::vector<CurveTable> curves_from_xml(const std::string& file, const std::string& text);
/// Every one-dimensional SASdata of an NXcanSAS file in memory. Throws InputError; always if this
/// build has no HDF5.
std::vector<CurveTable> curves_from_hdf5(const std::string& file, std::string_view bytes);

/// The text in UTF-8 or Latin-1 with ASCII for what numbers and units are made of: non-breaking
/// spaces, the minus sign, angstrom, superscripts.
std::string plain_text(std::string_view text);

/// What a column of a known name is.
enum class ColumnRole { unknown, momentum, intensity, error, spread, other };
ColumnRole role_of(std::string_view name);
/// Whether a name is that of a density of lengths: P(r), g(r), "Size distribution".
bool is_density_name(std::string_view name);
/// The names of at most `width` columns in a line of text if there is one for q and one for the
/// intensity; else empty.
std::vector<std::string> column_names(std::string_view line, std::size_t width);
/// The unit that a text such as "1/nm", "A^-1" or "inverse angstrom" names; automatic: none.
MomentumUnit unit_named(std::string_view text);
/// The same of a line of prose, which must also speak of q, s or a unit.
MomentumUnit unit_in_prose(std::string_view line);

/// The columns, from 0, of a curve.
struct CurveColumns {
    std::size_t q = 0, intensity = 1;
    std::optional<std::size_t> error = {}, spread = {};
};
/// By --columns, else by names, else in the order q, intensity, error, dq; appends the decisions to
/// `notes`. Throws InputError for a column that is missing, or whose errors look like a model.
CurveColumns choose_columns(const std::string& file, const CurveTable& table,
                            const ProfileOptions& options, std::vector<Note>& notes);

/// The points of these columns by rising q; appends the changes to `notes`. Throws InputError with
/// up to ten complaints about points.
///
/// The settings of an instrument may be in any order and overlap. Refused as a second curve is a
/// range of q that begins again behind another one if it begins within that range, or if both
/// overlap by more than half of the curve. Points of equal q become one, of the mean intensity
/// weighted by 1 / sigma^2, with 1 / sigma^2 the sum of theirs and dq^2 the mean with the same
/// weights.
Profile read_points(const std::string& file, const CurveTable& table, const CurveColumns& columns,
                    const ProfileOptions& options, std::vector<Note>& notes);

/// Converts q to 1/angstrom, in this order: by the option, by the file, by the Rg of the structure
/// or of a plausible molecule, by the curve's end. Returns how. Throws InputError for a range of q
/// that no unit explains.
Note convert_unit(const std::string& file, const ProfileOptions& options, MomentumUnit named,
                  ProfileFile& read);

}  // namespace pleat

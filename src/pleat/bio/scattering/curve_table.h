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
    std::vector<std::string> columns = {};             ///< names; empty: none
    std::vector<std::string> column_names_above = {};  ///< as many as columns, or none
    bool is_stored = false;                 ///< by a format of entries: sasCIF, XML, HDF5
    bool is_default_curve = true;           ///< false: such a file names others to be shown
    std::size_t text_line_count = 0;        ///< of text around the tables of a file, comments aside
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

/// Converts UTF-8 or Latin-1 text, with ASCII replacements in numbers and units: non-breaking
/// spaces, the minus sign, angstrom, superscripts.
std::string plain_text(std::string_view text);

/// What a column of a known name is.
enum class ColumnRole { unknown, momentum, intensity, error, spread, other };
ColumnRole role_of(std::string_view name);
/// Whether a column is a distribution of lengths by its name: P(r), g(r), "Size distribution".
bool is_density_name(std::string_view name);
/// Parses at most `width` column names from a line of text; empty unless they include q and the
/// intensity.
std::vector<std::string> column_names(std::string_view line, std::size_t width);
/// The unit that a text such as "1/nm", "A^-1" or "inverse angstrom" names; automatic: none.
MomentumUnit unit_named(std::string_view text);
/// The unit in a line of prose, which must also mention q, s or a unit.
MomentumUnit unit_in_prose(std::string_view line);

/// The columns, from 0, of a curve.
struct CurveColumns {
    std::size_t q = 0, intensity = 1;
    std::optional<std::size_t> error = {}, spread = {};
};
/// Chooses columns by --columns, else by names, else in the order q, intensity, error, dq; appends
/// decisions to `notes`. Throws InputError for a missing column or errors that look like a model.
CurveColumns choose_columns(const std::string& file, const CurveTable& table,
                            const ProfileOptions& options, std::vector<Note>& notes);

/// The points of these columns by rising q; appends the changes to `notes`. Throws InputError with
/// up to ten complaints about points.
///
/// Ranges measured with different settings may come in any order and overlap. A further range is
/// refused as a second curve if it begins inside an earlier one, or if they overlap by more than
/// half of the curve. Points of equal q are merged: the mean intensity is weighted by 1 / sigma^2,
/// the new 1 / sigma^2 is the sum of theirs, and dq^2 is the mean with the same weights.
Profile read_points(const std::string& file, const CurveTable& table, const CurveColumns& columns,
                    const ProfileOptions& options, std::vector<Note>& notes);

/// Converts q to 1/angstrom. The unit comes from the option, else the file, else the Rg of the
/// structure or of a plausible molecule, else the end of the curve. Returns a note that says which.
/// Throws InputError if no unit explains the range of q.
Note convert_unit(const std::string& file, const ProfileOptions& options, MomentumUnit named,
                  ProfileFile& read);

}  // namespace pleat

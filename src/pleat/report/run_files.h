// Run files: the manifest and the files of a run, and tab-separated tables, read row by row.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pleat/core/view.h"
#include "pleat/report/reduced_data.h"

namespace pleat::report {

/// The first rows of a table, as texts.
struct Table {
    std::filesystem::path path;
    std::vector<std::string> columns;
    std::vector<std::vector<std::string>> rows;
    Index total = 0;  ///< rows of the file, kept or not

    /// The index of the column with this name; nothing if there is none.
    std::optional<std::size_t> find(std::string_view column) const;
    bool has(std::initializer_list<std::string_view> names) const;
    /// The column of the kept rows as numbers, "NA" as NaN. Throws InputError, with file and line,
    /// if the column is missing or a cell is not a number.
    std::vector<double> numbers(std::string_view column) const;
};

/// Called with every row and its number from 0; the views are valid during the call.
using RowVisitor = std::function<void(Index row, std::span<const std::string_view> cells)>;

/// No limit to the rows that read_table() keeps.
constexpr Index kEveryRow = std::numeric_limits<Index>::max();

/// Reads a table and keeps its first `max_rows` rows. Throws InputError, with file and line, if the
/// header line is missing or a row has another number of cells. Memory: the file and the kept rows.
Table read_table(const std::filesystem::path& path, Index max_rows, const RowVisitor& visit = {});

/// Columns of all rows as numbers, like Table::numbers(). Memory: the file and the numbers.
std::vector<std::vector<double>> read_columns(const std::filesystem::path& path,
                                              std::span<const std::string_view> names);

/// Throws DeviceError if `times` the file's size, the approximate memory to read and draw it,
/// exceeds the available memory.
void require_room(const std::filesystem::path& path, std::int64_t times);
/// `times` for JSON, whose values take far more memory than their text.
constexpr std::int64_t kJsonRoom = 40;

/// A cell as a number, "NA" as NaN; nothing for other text.
std::optional<double> cell_number(std::string_view cell);

/// The last component of a path.
std::string folder_name(const std::filesystem::path& path);

/// A folder with a manifest. Files are drawn by their content, whichever command wrote them.
class RunFolder {
public:
    /// Throws InputError if the path is not a folder with a manifest written by pleat.
    explicit RunFolder(const std::filesystem::path& path);

    const std::filesystem::path& path() const { return path_; }
    std::string name() const { return folder_name(path_); }
    const Json& manifest() const { return manifest_; }
    /// A parameter as text; empty if it is missing.
    std::string parameter(std::string_view name) const;
    /// The names of its files: those in the manifest in their order, then the others by name.
    const std::vector<std::string>& files() const { return files_; }
    bool has(std::string_view file) const;
    std::filesystem::path file(std::string_view name) const { return path_ / name; }
    /// The inputs that the manifest lists.
    const Json& inputs() const;

private:
    std::filesystem::path path_;
    Json manifest_;
    std::vector<std::string> files_;
};

}  // namespace pleat::report

// Tables: tab-separated files with a header line, read row by row.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pleat/core/view.h"

namespace pleat::report {

/// The first rows of a table, as texts.
struct Table {
    std::filesystem::path path;
    std::vector<std::string> columns;
    std::vector<std::vector<std::string>> rows;
    Index total = 0;  ///< rows of the file, kept or not

    /// The place of a column; nothing where the table has none of that name.
    std::optional<std::size_t> find(std::string_view column) const;
    bool has(std::initializer_list<std::string_view> names) const;
    /// A column of the kept rows as numbers, "NA" as NaN. InputError, naming file and line, for a
    /// column that is missing and a cell that is no number.
    std::vector<double> numbers(std::string_view column) const;
};

/// Sees every row with its number from 0, the views valid during the call.
using RowVisitor = std::function<void(Index row, std::span<const std::string_view> cells)>;

/// Reads a table, keeping its first `most` rows. InputError, naming file and line, for a file
/// without a header line and a row with another number of cells. Memory: the file and what is kept.
Table read_table(const std::filesystem::path& path, Index most, const RowVisitor& visit = {});

/// Columns of all rows as numbers, as Table::numbers() has them. Memory: the file and the numbers.
std::vector<std::vector<double>> read_columns(const std::filesystem::path& path,
                                              std::span<const std::string_view> names);

/// DeviceError where `times` the size of a file is more than the memory that is left: what reading
/// it, and writing to the page what it holds, takes about.
void require_room(const std::filesystem::path& path, std::int64_t times);
/// That of JSON, whose values take far more room than their texts.
constexpr std::int64_t kJsonRoom = 40;

/// A cell as a number, "NA" as NaN; nothing where it is neither.
std::optional<double> cell_number(std::string_view cell);

}  // namespace pleat::report

// Result columns: what a result holds, each value described once. The manifest's results, arrays,
// tables, Python's attributes with their types, and the page of formats are made from them.
#pragma once

#include <charconv>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "pleat/core/array.h"
#include "pleat/core/files/output_file.h"
#include "pleat/core/pairs/pair_statistics.h"
#include "pleat/core/run/run_directory.h"

namespace pleat {

/// NumPy's name of a type: "<f4", "<i8", "|u1"; "|S1" for a character.
template <class T>
std::string numpy_type() {
    if (std::is_same_v<T, char>) return "|S1";
    const char kind = std::is_floating_point_v<T> ? 'f' : std::is_signed_v<T> ? 'i' : 'u';
    return {sizeof(T) == 1 ? '|' : '<', kind, static_cast<char>('0' + sizeof(T))};
}

/// How a table shows numbers: the column name, the format (printf's %g or %f) and digits, the
/// number that `first` gives to index 0, and the value shown as NA.
struct Shown {
    std::string name = {};  ///< empty: that in Python; "-": the table does not show it
    std::chars_format format = std::chars_format::general;
    int digits = 6;
    Index first = 0;
    std::optional<Index> missing = {};
};

/// A member of the records in an array. Tables have the fields in the listed order, Python arrays
/// in memory order.
struct RecordField {
    std::string name, type;  ///< in Python; as numpy_type() has it
    std::size_t offset = 0;
    Shown shown = {};
};
template <class Record, class T>
RecordField record_field(std::string_view name, T Record::*member, Shown shown = {}) {
    static const Record one{};
    const auto* const begin = reinterpret_cast<const char*>(&one);
    return {std::string(name), numpy_type<T>(),
            static_cast<std::size_t>(reinterpret_cast<const char*>(&(one.*member)) - begin), shown};
}

/// A number, text, list of texts or array, or nothing.
class ColumnValue {
public:
    /// Numbers or records, row-major; `owner` keeps them alive if the result does not.
    struct Numbers {
        const void* data = nullptr;
        std::vector<Index> shape = {};
        std::string type = {};                 ///< as numpy_type() has it; empty: records
        std::vector<RecordField> fields = {};  ///< of records
        std::size_t stride = 0;                ///< bytes from one element to the next
        std::shared_ptr<const void> owner = {};
    };
    using Content = std::variant<std::monostate, bool, std::int64_t, double, std::string,
                                 std::vector<std::string>, Numbers>;

    /// A value that the caller keeps alive; `type`: the Python type.
    static ColumnValue kept(std::string type) {
        ColumnValue value{std::string()};
        value.content = {};
        value.kept_type_ = std::move(type);
        return value;
    }
    template <class T>
    requires std::is_arithmetic_v<T> ColumnValue(T number) {
        using Wide = std::conditional_t<std::is_floating_point_v<T>, double, std::int64_t>;
        content = static_cast<std::conditional_t<std::is_same_v<T, bool>, bool, Wide>>(number);
    }
    ColumnValue(const char* text) : content(std::string(text)) {}
    ColumnValue(std::string_view text) : content(std::string(text)) {}
    ColumnValue(std::string text) : content(std::move(text)) {}
    ColumnValue(std::vector<std::string> texts) : content(std::move(texts)) {}
    template <class T>
    ColumnValue(const std::optional<T>& value) : ColumnValue(value.value_or(T())) {
        *this = std::move(*this).or_none(value.has_value());
    }
    /// The vector or array must outlive the column; one that is moved in is kept.
    template <class T>
    requires std::is_arithmetic_v<T> ColumnValue(const std::vector<T>& values)
        : content(
              Numbers{values.data(), {std::ssize(values)}, numpy_type<T>(), {}, sizeof(T), {}}) {}
    template <class T, int Rank>
    ColumnValue(const Array<T, Rank>& values)
        : content(Numbers{values.data(), {}, numpy_type<T>(), {}, sizeof(T), {}}) {
        for (int axis = 0; axis < Rank; ++axis)
            std::get<Numbers>(content).shape.push_back(values.extent(axis));
    }
    template <class Values>
    requires(!std::is_lvalue_reference_v<Values> &&
             requires(Values values) { values.data(); }) static ColumnValue owned(Values&& values) {
        return owned_with(std::forward<Values>(values));
    }
    template <class Record>
    static ColumnValue owned(std::vector<Record> records, std::vector<RecordField> fields) {
        return owned_with(std::move(records), std::move(fields));
    }
    /// One member of all records.
    template <class Record>
    ColumnValue(const std::vector<Record>& records, const RecordField& field)
        : content(Numbers{reinterpret_cast<const char*>(records.data()) + field.offset,
                          {std::ssize(records)},
                          field.type,
                          {},
                          sizeof(Record),
                          {}}) {}
    template <class Record>
    ColumnValue(const std::vector<Record>& records, std::vector<RecordField> fields)
        : content(Numbers{
              records.data(), {std::ssize(records)}, {}, std::move(fields), sizeof(Record), {}}) {}

    /// Makes the value None in Python unless `is_there`.
    ColumnValue or_none(bool is_there) && {
        is_optional_ = true;
        is_there_ = is_there;
        return std::move(*this);
    }
    bool is_optional() const { return is_optional_; }
    bool is_there() const { return is_there_ && content.index() != 0; }
    /// As Python writes it: "float", "NDArray[np.float32] | None".
    std::string python_type() const;

    Content content;

private:
    template <class Values, class... Fields>
    static ColumnValue owned_with(Values values, Fields... fields) {
        const auto own = std::make_shared<const Values>(std::move(values));
        ColumnValue value(*own, std::move(fields)...);
        std::get<Numbers>(value.content).owner = own;
        return value;
    }

    bool is_optional_ = false, is_there_ = true;
    std::string kept_type_;
};

/// One value of a result, and where it appears.
struct ResultColumn {
    std::string name;  ///< of the attribute in Python; empty: none; with '_': of Python's own use
    std::string help;  ///< type and shape of arrays, unit and meaning; no full stop
    ColumnValue value;
    /// `results`, `parameters` or `manifest`: parts of manifest.json; else a file: "best.npz",
    /// "reference.tsv". {metric} in the file or the key stands for the value of the column metric.
    std::string file = {};
    std::string key = {};     ///< its name there; empty: its own name
    std::string table = {};   ///< that to_dataframe() shows it in
    std::string header = {};  ///< its name there; empty: its own name
};
using ResultColumns = std::vector<ResultColumn>;
/// A value that the manifest alone shows.
inline ResultColumn fact(std::string name, ColumnValue value, std::string help) {
    return {{}, std::move(help), std::move(value), "results", std::move(name)};
}
ResultColumns joined(std::initializer_list<ResultColumns> parts);

/// Adds the values of `results` to the manifest.
void record(RunDirectory& run, const ResultColumns& columns);
/// The names of these values.
std::vector<std::string> names_of_results(const ResultColumns& columns);

/// Writes every .npy and .npz file that has a value; or only this file.
void write_arrays(RunDirectory& run, const ResultColumns& columns, std::string_view file = {});

/// A column of a table: its name, and a function that appends the cell of a row.
struct TableColumn {
    std::string name;
    std::function<void(std::size_t row, std::string& text)> append;
};
/// Appends a cell: text, whole number or other number; NaN becomes "NA".
void append_cell(std::string& text, std::string_view value);
template <class T>
requires std::is_integral_v<T>
void append_cell(std::string& text, T value) { append_integer(text, static_cast<Index>(value)); }
void append_cell(std::string& text, double value, const Shown& shown = {});
/// A column of texts, or of whole numbers.
template <class Cell>
TableColumn table_column(std::string name, Cell cell) {
    return {std::move(name), [cell = std::move(cell)](std::size_t row, std::string& text) {
                append_cell(text, cell(row));
            }};
}

/// 0, 1, 2, ...
inline TableColumn row_numbers(const char* name) {
    return table_column(name, [](std::size_t row) { return row; });
}

/// The table columns of a value: one for numbers, one per field for records. The value's data must
/// outlive them.
std::vector<TableColumn> table_columns(const std::string& name, const ColumnValue& value,
                                       const Shown& shown = {});
/// The columns of all values of a result that are shown in the table `file`.
std::vector<TableColumn> table_columns(const ResultColumns& columns, std::string_view file);
/// Inserts `more` into `columns` before the column of this name, or at the end.
std::vector<TableColumn> with_columns(std::vector<TableColumn> columns, std::string_view before,
                                      const std::vector<TableColumn>& more);

/// The header line of a table.
std::string header_line_of(const std::vector<TableColumn>& columns);
/// Writes a table, with as many threads.
void write_table(const std::filesystem::path& path, std::size_t rows,
                 const std::vector<TableColumn>& columns, int threads = 1);

/// Writes histogram.tsv: the number of pairs with values in [from, to) per bin.
void write_histogram(RunDirectory& run, const PairStatistics& pairs);

}  // namespace pleat

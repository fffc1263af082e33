// Result columns: what a result holds, each value described once. The manifest's results, arrays,
// tables, Python's attributes with their types, and the page of formats are made from them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "pleat/core/array.h"
#include "pleat/core/pairs/pair_statistics.h"
#include "pleat/core/run/run_directory.h"

namespace pleat {

/// NumPy's name of a type: "<f4", "<i8", "|u1"; of a letter "|S1".
template <class T>
std::string numpy_type() {
    if (std::is_same_v<T, char>) return "|S1";
    const char kind = std::is_floating_point_v<T> ? 'f' : std::is_signed_v<T> ? 'i' : 'u';
    return {sizeof(T) == 1 ? '|' : '<', kind, static_cast<char>('0' + sizeof(T))};
}

/// A member of records that lie in an array.
struct RecordField {
    std::string name, type;  ///< in Python; as numpy_type() has it
    std::size_t offset = 0;
};
template <class Record, class T>
RecordField record_field(std::string_view name, T Record::*member) {
    static const Record one{};
    const auto* const begin = reinterpret_cast<const char*>(&one);
    return {std::string(name), numpy_type<T>(),
            static_cast<std::size_t>(reinterpret_cast<const char*>(&(one.*member)) - begin)};
}

/// A number, text, list of texts or array, or nothing.
class ColumnValue {
public:
    /// Numbers or records, row-major; `owner` keeps what no result holds.
    struct Numbers {
        const void* data = nullptr;
        std::vector<Index> shape = {};
        std::string type = {};                 ///< as numpy_type() has it; empty: records
        std::vector<RecordField> fields = {};  ///< of records
        std::size_t bytes = 0;                 ///< of an element
        std::shared_ptr<const void> owner = {};
    };
    using Content = std::variant<std::monostate, bool, std::int64_t, double, std::string,
                                 std::vector<std::string>, Numbers>;

    /// A value that the caller keeps; `type`: as Python writes it.
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
        const auto own = std::make_shared<const Values>(std::move(values));
        ColumnValue value(*own);
        std::get<Numbers>(value.content).owner = own;
        return value;
    }
    template <class Record>
    ColumnValue(const std::vector<Record>& records, std::vector<RecordField> fields)
        : content(Numbers{
              records.data(), {std::ssize(records)}, {}, std::move(fields), sizeof(Record), {}}) {}

    /// The same, but None in Python unless `is_there`.
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
    bool is_optional_ = false, is_there_ = true;
    std::string kept_type_;
};

/// One value of a result, and where it is shown.
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

/// Adds the values of `results` to the manifest.
void record(RunDirectory& run, const ResultColumns& columns);
/// The names of these values.
std::vector<std::string> names_of_results(const ResultColumns& columns);

/// Writes the arrays, each .npy and .npz of which there is a value; or only this file.
void write_arrays(RunDirectory& run, const ResultColumns& columns, std::string_view file = {});

/// A column of a table that is no value of the result: its name, and the cell of each row.
struct TableColumn {
    std::string name;
    std::function<std::string(std::size_t row)> cell;
};
/// Writes the columns of the table `file` between others.
void write_table(RunDirectory& run, const ResultColumns& columns, std::string_view file,
                 const std::vector<TableColumn>& before, const std::vector<TableColumn>& after);

/// Writes histogram.tsv: the pairs of values in [from, to).
void write_histogram(RunDirectory& run, const PairStatistics& pairs);

}  // namespace pleat

// Result columns: into the manifest, arrays and tables.
#include "pleat/core/run/result_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "pleat/core/files/npy.h"

namespace pleat {

namespace {

using Numbers = ColumnValue::Numbers;

/// Replaces column names in braces by the values of these columns.
std::string filled(const std::string& text, const ResultColumns& columns) {
    const std::size_t begin = text.find('{'), end = text.find('}');
    if (begin == std::string::npos || end == std::string::npos) return text;
    const std::string name = text.substr(begin + 1, end - begin - 1);
    for (const ResultColumn& column : columns)
        if (column.name == name)
            return text.substr(0, begin) + std::get<std::string>(column.value.content) +
                   text.substr(end + 1);
    throw std::logic_error(fmt::format("expected a column '{}' for {}, found none", name, text));
}

std::string key_of(const ResultColumn& column, const ResultColumns& columns) {
    return filled(column.key.empty() ? column.name : column.key, columns);
}

/// Calls `use` with a typed pointer to the numbers.
template <class Use>
auto with_type(const Numbers& numbers, const Use& use) {
    if (numbers.type == "<f4") return use(static_cast<const float*>(numbers.data));
    if (numbers.type == "<f8") return use(static_cast<const double*>(numbers.data));
    if (numbers.type == "<i4") return use(static_cast<const std::int32_t*>(numbers.data));
    if (numbers.type == "<i8") return use(static_cast<const std::int64_t*>(numbers.data));
    if (numbers.type == "<u4") return use(static_cast<const std::uint32_t*>(numbers.data));
    if (numbers.type == "|u1") return use(static_cast<const std::uint8_t*>(numbers.data));
    throw std::logic_error(
        fmt::format("expected numbers of a known type, found '{}'", numbers.type));
}

const void* at(const Numbers& numbers, std::size_t row) {
    return static_cast<const char*>(numbers.data) + row * numbers.stride;
}

/// A cell of one number or letter.
void append_value(std::string& text, const void* value, const std::string& type,
                  const Shown& shown) {
    if (type == "|S1") {
        text += *static_cast<const char*>(value);
        return;
    }
    with_type(Numbers{.data = value, .type = type}, [&](const auto* number) {
        if constexpr (std::is_floating_point_v<std::remove_cvref_t<decltype(*number)>>)
            append_cell(text, *number, shown);
        else if (shown.missing && static_cast<Index>(*number) == *shown.missing)
            text += "NA";
        else
            append_integer(text, static_cast<Index>(*number) + shown.first);
    });
}

/// The numbers one after another.
template <class T>
std::vector<T> gathered(const Numbers& numbers, const T*) {
    std::vector<T> values;
    for (std::size_t row = 0; row < static_cast<std::size_t>(numbers.shape[0]); ++row)
        values.push_back(*static_cast<const T*>(at(numbers, row)));
    return values;
}

void add(NpzWriter& writer, const std::string& key, const Numbers& numbers) {
    with_type(numbers, [&](const auto* values) {
        if (numbers.stride == sizeof(*values))
            writer.add(key, values, numbers.shape);
        else
            writer.add(key, gathered(numbers, values).data(), numbers.shape);
    });
}

bool ends_with(const ResultColumn& column, std::string_view ending) {
    return std::string_view(column.file).ends_with(ending);
}

void write_npz(const std::filesystem::path& path, const std::string& file,
               const ResultColumns& columns) {
    NpzWriter writer(path);
    for (const ResultColumn& column : columns) {
        if (column.file != file || !column.value.is_there()) continue;
        const std::string key = key_of(column, columns);
        if (const auto* numbers = std::get_if<Numbers>(&column.value.content))
            add(writer, key, *numbers);
        else if (const auto* whole = std::get_if<std::int64_t>(&column.value.content))
            writer.add_scalar(key, *whole);
        else if (const auto* text = std::get_if<std::string>(&column.value.content))
            writer.add_text(key, *text);
        else
            writer.add_scalar(key, std::get<double>(column.value.content));
    }
    writer.close();
}

}  // namespace

std::string ColumnValue::python_type() const {
    static constexpr const char* kNames[] = {"", "bool", "int", "float", "str", "list[str]"};
    if (content.index() == 0) return kept_type_;
    std::string name;
    if (const auto* numbers = std::get_if<Numbers>(&content)) {
        const std::string& type = numbers->type;
        name = type.empty() ? "Records"
                            : fmt::format("NDArray[np.{}{}]",
                                          type[1] == 'f'   ? "float"
                                          : type[1] == 'i' ? "int"
                                                           : "uint",
                                          8 * (type[2] - '0'));
    } else {
        name = kNames[content.index()];
    }
    return name + (is_optional_ ? " | None" : "");
}

ResultColumns joined(std::initializer_list<ResultColumns> parts) {
    ResultColumns all;
    for (const ResultColumns& part : parts) all.insert(all.end(), part.begin(), part.end());
    return all;
}

void record(RunDirectory& run, const ResultColumns& columns) {
    for (const ResultColumn& column : columns) {
        if (column.file != "results" || !column.value.is_there()) continue;
        const std::string key = key_of(column, columns);
        if (const auto* whole = std::get_if<std::int64_t>(&column.value.content))
            run.fact(key, *whole);
        else if (const auto* number = std::get_if<double>(&column.value.content))
            run.fact(key, *number);
        else
            run.fact(key, std::string_view(std::get<std::string>(column.value.content)));
    }
}

std::vector<std::string> names_of_results(const ResultColumns& columns) {
    std::vector<std::string> names;
    for (const ResultColumn& column : columns)
        if (column.file == "results") names.push_back(key_of(column, columns));
    return names;
}

void write_arrays(RunDirectory& run, const ResultColumns& columns, std::string_view only) {
    std::vector<std::string> done;
    for (const ResultColumn& column : columns) {
        if (!column.value.is_there() || std::ranges::find(done, column.file) != done.end() ||
            (!only.empty() && column.file != only))
            continue;
        const std::string file = filled(column.file, columns);
        if (ends_with(column, ".npz")) {
            write_npz(run.output(file), column.file, columns);
        } else if (ends_with(column, ".npy")) {
            const auto& numbers = std::get<Numbers>(column.value.content);
            with_type(numbers, [&](const auto* values) {
                write_npy(run.output(file), values, numbers.shape);
            });
        }
        done.push_back(column.file);
    }
}

void append_cell(std::string& text, std::string_view value) { text += value; }

void append_cell(std::string& text, double value, const Shown& shown) {
    if (std::isnan(value))
        text += "NA";
    else
        append_number(text, value, shown.format, shown.digits);
}

std::vector<TableColumn> table_columns(const std::string& name, const ColumnValue& value,
                                       const Shown& shown) {
    std::vector<TableColumn> all;
    const auto& numbers = std::get<Numbers>(value.content);
    if (numbers.fields.empty())
        all.push_back({name, [numbers, shown](std::size_t row, std::string& text) {
                           append_value(text, at(numbers, row), numbers.type, shown);
                       }});
    for (const RecordField& field : numbers.fields)
        if (field.shown.name != "-")
            all.push_back({field.shown.name.empty() ? field.name : field.shown.name,
                           [numbers, field](std::size_t row, std::string& text) {
                               const auto* const record =
                                   static_cast<const char*>(at(numbers, row));
                               append_value(text, record + field.offset, field.type, field.shown);
                           }});
    return all;
}

std::vector<TableColumn> table_columns(const ResultColumns& columns, std::string_view file) {
    std::vector<TableColumn> all;
    for (const ResultColumn& column : columns)
        if (column.file == file && column.value.is_there())
            for (TableColumn& one : table_columns(key_of(column, columns), column.value))
                all.push_back(std::move(one));
    return all;
}

std::vector<TableColumn> with_columns(std::vector<TableColumn> columns, std::string_view before,
                                      const std::vector<TableColumn>& more) {
    const auto place = std::ranges::find(columns, before, &TableColumn::name);
    columns.insert(place, more.begin(), more.end());
    return columns;
}

std::string header_line_of(const std::vector<TableColumn>& columns) {
    std::string head;
    for (const TableColumn& column : columns)
        head += (&column == columns.data() ? "" : "\t") + column.name;
    return head;
}

void write_table(const std::filesystem::path& path, std::size_t rows,
                 const std::vector<TableColumn>& columns, int threads) {
    TextPieces pieces =
        make_lines(threads, static_cast<Index>(rows), [&](Index row, std::string& text) {
            for (const TableColumn& column : columns) {
                if (&column != columns.data()) text += '\t';
                column.append(static_cast<std::size_t>(row), text);
            }
            text += '\n';
        });
    pieces.insert(pieces.begin(), header_line_of(columns) + '\n');
    write_text(path, pieces);
}

void write_histogram(RunDirectory& run, const PairStatistics& pairs) {
    std::string text = "from\tto\tpairs\n";
    const std::vector<std::int64_t>& counts = pairs.histogram();
    for (std::size_t n = 0; n < counts.size(); ++n) {
        const bool is_open = static_cast<Index>(n) == kMaxBins - 1;
        const double from = static_cast<double>(n) * pairs.bin_width();
        const double to = static_cast<double>(n + 1) * pairs.bin_width();
        text += fmt::format("{:.6g}\t{}\t{}\n", from, is_open ? "NA" : fmt::format("{:.6g}", to),
                            counts[n]);
    }
    write_text(run.output("histogram.tsv"), text);
}

}  // namespace pleat

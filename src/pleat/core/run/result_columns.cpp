// Result columns: into the manifest, arrays and tables.
#include "pleat/core/run/result_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "pleat/core/files/npy.h"
#include "pleat/core/files/output_file.h"

namespace pleat {

namespace {

using Numbers = ColumnValue::Numbers;

/// A file or key with the value of a column in place of its name in braces.
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

/// Calls `use` with the numbers' typed pointer.
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

std::string cell_of(const Numbers& numbers, std::size_t row) {
    return with_type(numbers, [&](const auto* values) {
        if constexpr (std::is_floating_point_v<std::remove_cvref_t<decltype(*values)>>)
            return std::isnan(values[row]) ? "NA" : fmt::format("{:.6g}", values[row]);
        else
            return fmt::format("{}", values[row]);
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
            with_type(*numbers,
                      [&](const auto* values) { writer.add(key, values, numbers->shape); });
        else if (const auto* whole = std::get_if<std::int64_t>(&column.value.content))
            writer.add_scalar(key, *whole);
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

void write_table(RunDirectory& run, const ResultColumns& columns, std::string_view file,
                 const std::vector<TableColumn>& before, const std::vector<TableColumn>& after) {
    std::vector<TableColumn> all = before;
    std::size_t rows = 0;
    for (const ResultColumn& column : columns) {
        if (column.file != file || !column.value.is_there()) continue;
        const auto& numbers = std::get<Numbers>(column.value.content);
        rows = static_cast<std::size_t>(numbers.shape[0]);
        all.push_back({key_of(column, columns),
                       [&numbers](std::size_t row) { return cell_of(numbers, row); }});
    }
    all.insert(all.end(), after.begin(), after.end());
    std::string text;
    for (const TableColumn& column : all) text += (&column == all.data() ? "" : "\t") + column.name;
    text += '\n';
    for (std::size_t row = 0; row < rows; ++row) {
        for (const TableColumn& column : all)
            text += (&column == all.data() ? "" : "\t") + column.cell(row);
        text += '\n';
    }
    write_text(run.output(file), text);
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

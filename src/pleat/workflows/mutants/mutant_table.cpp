// Mutant table: cells in quotes, line ends, and columns of numbers.
#include "pleat/workflows/mutants/mutant_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "pleat/bio/input/byte_source.h"
#include "pleat/core/error.h"
#include "pleat/core/files/text.h"

namespace pleat::mutants {

namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

/// The most frequent separator of the header; a comma if it has none.
char separator_of(std::string_view header) {
    char best = ',';
    std::ptrdiff_t highest = 0;
    for (const char candidate : {'\t', ';', ','}) {
        const std::ptrdiff_t count = std::count(header.begin(), header.end(), candidate);
        if (count > highest) {
            highest = count;
            best = candidate;
        }
    }
    return best;
}

std::vector<std::string> header_names(std::string_view header, char separator) {
    std::vector<std::string_view> cells;
    split_record(header, separator, cells);
    std::vector<std::string> names;
    names.reserve(cells.size());
    for (const std::string_view cell : cells) names.push_back(cell_text(cell));
    return names;
}

std::optional<std::size_t> column_of(const std::vector<std::string>& names,
                                     std::initializer_list<std::string_view> wanted) {
    for (const std::string_view name : wanted) {
        const auto at = std::find(names.begin(), names.end(), name);
        if (at != names.end()) return static_cast<std::size_t>(at - names.begin());
    }
    return std::nullopt;
}

struct MutantColumns {
    std::optional<std::size_t> mutant, sequence;
    std::vector<std::size_t> split;  ///< columns of wild type, number and letter; or empty

    explicit MutantColumns(const std::vector<std::string>& names)
        : mutant(column_of(names, {"mutant", "mutants", "mutations", "mutation", "hgvs_pro"})),
          sequence(column_of(names, {"mutated_sequence", "mutant_sequence"})) {
        // EVE's downloads, tables of the Bloom lab (whose `mutant` is a letter), EVcouplings.
        const bool has_site = column_of(names, {"site"}) && column_of(names, {"wildtype"});
        for (const auto& [wild_type, number, letter] :
             {std::array{"wt_aa", "position", "mt_aa"}, std::array{"wildtype", "site", "mutant"},
              std::array{"wildtype", "site", "mutation"}, std::array{"wt", "pos", "subs"}}) {
            const auto a = column_of(names, {wild_type}), b = column_of(names, {number}),
                       c = column_of(names, {letter});
            if (a && b && c && split.empty() && (!mutant || has_site)) split = {*a, *b, *c};
        }
        // Often a number of the row.
        if (split.empty() && !mutant && !sequence)
            mutant = column_of(names, {"variant", "protein_variant"});
    }
    /// Takes the third column as one of whole mutants if a cell has a digit.
    void see(const std::vector<std::string_view>& cells) {
        if (!split.empty() && split[2] == mutant && cells.size() > *mutant &&
            has_digit(cells[*mutant]))
            split.clear();
    }
    bool has_any() const { return mutant || sequence || !split.empty(); }
    bool is_mutants(std::size_t column) const {
        return column == mutant || column == sequence ||
               std::find(split.begin(), split.end(), column) != split.end();
    }
    /// Sets the mutant of a row, else its sequence.
    void read(const std::vector<std::string_view>& cells, MutantRow& row) const {
        if (split.empty() && mutant) row.mutant = cell_text(cells[*mutant]);
        if (split.empty() && !mutant) row.sequence = cell_text(cells[*sequence]);
        bool is_whole = split.empty() || has_digit(cells[split[1]]);
        for (const std::size_t part : split) {
            const std::string text = cell_text(cells[part]);
            is_whole = is_whole && !is_blank(text);
            row.mutant += trimmed(text);
        }
        if (!is_whole) row.mutant = "?";  // joined they might be a word for the target
    }

private:
    static bool has_digit(std::string_view text) {
        return text.find_first_of("0123456789") != std::string_view::npos;
    }
};

void check_header(const MutantTable& table, Index line) {
    std::vector<std::string> sorted = table.names;
    std::sort(sorted.begin(), sorted.end());
    const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
    // pandas leaves the name of the first column, its index, empty.
    if (std::find(table.names.begin() + 1, table.names.end(), "") != table.names.end())
        throw InputError(table.source, line,
                         "expected a name for each column in the header, found one without");
    if (twice != sorted.end())
        throw InputError(table.source, line,
                         fmt::format("expected columns of different names, found '{}' twice",
                                     printable(*twice)));
    const MutantColumns columns(table.names);
    if (!columns.has_any())
        throw InputError(table.source, line,
                         fmt::format("expected a column 'mutant' or 'mutated_sequence', found {}",
                                     in_quotes(table.header)));
}

/// Reads the header, skipping comment lines with # above it; false if there is none.
bool next_header(RecordReader& records, std::string_view& header, std::string_view& end,
                 Index& line) {
    while (records.next(header, end, line))
        if (!header.starts_with('#')) return true;
    return false;
}

/// A table of one column may contain mutants with unquoted commas.
void choose_separator(MutantTable& table) {
    table.separator = separator_of(table.header);
    if (table.header.find(table.separator) != std::string_view::npos) return;
    const std::string_view rows(table.header_end.data(),
                                static_cast<std::size_t>(table.bytes.data() + table.bytes.size() -
                                                         table.header_end.data()));
    if (rows.find(',') != std::string_view::npos) table.separator = '\t';
}

/// The numbers in columns other than those of mutants; a column without any number is dropped.
class NumberColumns {
public:
    NumberColumns(const std::vector<std::string>& names, const MutantColumns& mutants) {
        // Numbers of residues measure nothing; the main measure comes first.
        static constexpr std::string_view kPlaces[] = {"pos",    "position", "site",
                                                       "column", "number",   "index"};
        static constexpr std::string_view kScores[] = {"dms_score", "score", "fitness"};
        for (std::size_t n = 0; n < names.size(); ++n)
            if (!mutants.is_mutants(n) && !names[n].empty() &&
                std::ranges::find(kPlaces, in_lower_case(names[n])) == std::end(kPlaces))
                columns_.push_back(n);
        std::ranges::stable_sort(columns_, {}, [&](std::size_t n) {
            return std::ranges::find(kScores, in_lower_case(names[n])) - std::begin(kScores);
        });
        values_.resize(columns_.size());
    }
    void add(const std::vector<std::string_view>& cells) {
        for (std::size_t n = 0; n < columns_.size(); ++n) {
            double value = kNone;
            if (cells.empty() || !parse_number(trimmed(cells[columns_[n]]), value) ||
                !std::isfinite(value))
                value = kNone;
            values_[n].push_back(value);
        }
    }
    void keep(MutantTable& table) {
        for (std::size_t n = 0; n < columns_.size(); ++n) {
            const bool has_number = std::any_of(values_[n].begin(), values_[n].end(),
                                                [](double value) { return !std::isnan(value); });
            if (!has_number) continue;
            table.number_names.push_back(table.names[columns_[n]]);
            table.numbers.push_back(std::move(values_[n]));
        }
    }

private:
    std::vector<std::size_t> columns_;
    std::vector<std::vector<double>> values_;
};

void read_rows(MutantTable& table, RecordReader& records) {
    MutantColumns columns(table.names);
    std::vector<std::string_view> cells;
    MutantRow row;
    for (RecordReader ahead = records; ahead.next(row.text, row.line_end, row.line);) {
        split_record(row.text, table.separator, cells);
        columns.see(cells);
    }
    table.has_mutants = columns.mutant || !columns.split.empty();
    NumberColumns numbers(table.names, columns);
    while (records.next(row.text, row.line_end, row.line)) {
        row.is_blank = table.names.size() > 1 && is_blank(row.text);
        row.mutant.clear();
        row.sequence.clear();
        cells.clear();
        if (!row.is_blank) {
            split_record(row.text, table.separator, cells);
            if (cells.size() != table.names.size())
                throw InputError(table.source, row.line,
                                 fmt::format("expected {} cells as in the header, found {}",
                                             table.names.size(), cells.size()));
            columns.read(cells, row);
        }
        numbers.add(cells);
        table.rows.push_back(row);
    }
    numbers.keep(table);
}

}  // namespace

MutantTable parse_mutant_table(std::string name, std::string bytes) {
    MutantTable table;
    table.source = std::move(name);
    // A short text would be copied when the table is moved, which would invalidate views of it.
    bytes.reserve(64);
    table.bytes = std::move(bytes);
    if (table.bytes.find('\0') != std::string::npos)
        throw InputError(table.source, 0, "expected a table of mutants, found a zero byte");
    std::string_view text = table.bytes;
    if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
    RecordReader records(text);
    Index line = 0;
    if (!next_header(records, table.header, table.header_end, line) || is_blank(table.header))
        throw InputError(table.source, 1,
                         "expected a header with column names, found an empty line");
    choose_separator(table);
    table.names = header_names(table.header, table.separator);
    check_header(table, line);
    read_rows(table, records);
    if (table.rows.empty())
        throw InputError(table.source, line, "expected mutants below the header, found none");
    return table;
}

MutantTable read_mutant_table(const std::filesystem::path& path) {
    ByteReader reader(path);
    std::string bytes;
    std::string step(std::size_t{1} << 16, '\0');
    while (const std::size_t count = reader.read(step.data(), step.size()))
        bytes.append(step.data(), count);
    return parse_mutant_table(path == "-" ? "stdin" : path.string(), std::move(bytes));
}

bool is_mutant_table(std::string_view text) {
    if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
    std::string_view header, end;
    Index line = 0;
    RecordReader records(text);
    if (!next_header(records, header, end, line)) return false;
    const std::vector<std::string> names = header_names(header, separator_of(header));
    const MutantColumns columns(names);
    return columns.has_any() && !column_of(names, {"alignment", "input"});
}

}  // namespace pleat::mutants

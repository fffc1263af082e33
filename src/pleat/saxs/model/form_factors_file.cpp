// Form factors from a file: columns with or without names, or the published rows in brackets.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "pleat/bio/input/byte_source.h"
#include "pleat/core/error.h"
#include "pleat/core/notes.h"
#include "pleat/saxs/model/form_factors.h"

namespace pleat::saxs {

namespace {

constexpr Index kMaxBytes = 16 << 20;
constexpr std::size_t kPublishedPoints = 51;
constexpr double kPublishedStep = 0.015;

struct Row {
    Index line = 0;
    std::vector<double> values;
};

struct Rows {
    std::vector<std::string> names;  // column names of the line above, if there is one
    std::vector<Row> rows;
    bool in_brackets = false;
};

bool parse(std::string_view word, double& value) {
    const auto parsed = std::from_chars(word.data(), word.data() + word.size(), value);
    return parsed.ec == std::errc() && parsed.ptr == word.data() + word.size();
}

/// Splits a text into words and brackets.
class RowReader {
public:
    explicit RowReader(ByteSource& source) : source_(source) {}

    Rows read() {
        std::string_view line;
        while (source_.next(line)) {
            if (line.starts_with('#')) line.remove_prefix(1);
            const bool had_brackets = rows_.in_brackets;
            read_line(line);
            if (!rows_.in_brackets && !had_brackets) end_row();
        }
        end_row();
        return std::move(rows_);
    }

private:
    void read_line(std::string_view line) {
        constexpr std::string_view kBetween = " \t,;";
        std::size_t at = 0;
        while (at < line.size()) {
            const char c = line[at];
            if (c == '[' || c == ']') {
                rows_.in_brackets = true;
                end_row();
                ++at;
            } else if (kBetween.find(c) != std::string_view::npos) {
                ++at;
            } else {
                const std::size_t end = std::min(line.find_first_of(" \t,;[]", at), line.size());
                read_word(line.substr(at, end - at));
                at = end;
            }
        }
    }

    void read_word(std::string_view word) {
        double value = 0;
        if (parse(word, value) && !std::isfinite(value))
            throw InputError(
                source_.name(), source_.line(),
                "expected finite form factors, found " + std::string(word.substr(0, 20)));
        if (parse(word, value)) {
            if (row_.values.empty()) row_.line = source_.line();
            row_.values.push_back(value);
        } else if (rows_.rows.empty() && row_.values.empty() && !rows_.in_brackets) {
            words_.emplace_back(word.substr(0, 20));
        } else {
            std::string clean(word.substr(0, 20));
            for (char& letter : clean) letter = letter < ' ' || letter > '~' ? '?' : letter;
            throw InputError(source_.name(), source_.line(),
                             fmt::format("expected numbers, found '{}'", clean));
        }
    }

    void end_row() {
        if (!row_.values.empty()) rows_.rows.push_back(std::move(row_));
        if (!words_.empty()) rows_.names = std::move(words_);  // the last line of words before
        row_ = {};
        words_.clear();
    }

    ByteSource& source_;
    Rows rows_;
    Row row_;
    std::vector<std::string> words_;
};

/// Whether the rows begin with q. Throws InputError if their width fits neither case.
bool has_q(const std::string& file, const Rows& read, std::size_t types) {
    const std::size_t width = read.rows.front().values.size();
    for (const Row& row : read.rows) {
        if (row.values.size() != width)
            throw InputError(file, row.line,
                             fmt::format("expected {} numbers as in the rows before, "
                                         "found {}",
                                         width, row.values.size()));
    }
    if (width == types + 1) return true;
    if (width == types && read.rows.size() == kPublishedPoints && read.names.empty()) return false;
    throw InputError(
        file, read.rows.front().line,
        fmt::format("expected q and {} form factors in a row, found {} numbers", types, width));
}

/// Names of the columns after q.
std::vector<std::string> column_names(const std::string& file, const Rows& read,
                                      const std::vector<std::string>& expected) {
    if (read.names.empty()) return expected;
    if (read.names.size() != expected.size() + 1)
        throw InputError(file, 0,
                         fmt::format("expected a line of {} names above the numbers, found "
                                     "{}",
                                     expected.size() + 1, read.names.size()));
    std::vector<std::string> names(read.names.begin() + 1, read.names.end());
    for (const std::string& type : expected) {
        if (std::find(names.begin(), names.end(), type) == names.end())
            throw InputError(file, 0, fmt::format("expected a column {}, found none", type));
    }
    return names;
}

}  // namespace

void check_bead_model(Resolution resolution) {
    if (resolution != Resolution::one_bead && resolution != Resolution::two_bead)
        throw UsageError(
            fmt::format("expected --model one-bead or two-bead with --form-factors, found '{}'",
                        name_of(resolution)));
}

FormFactorTable read_form_factors(const std::filesystem::path& path, Resolution resolution,
                                  Notes& notes) {
    check_bead_model(resolution);
    ByteSource source(path, kMaxBytes);
    const Rows read = RowReader(source).read();
    const std::string file = source.name();
    if (read.rows.size() < 2)
        throw InputError(file, 0, "expected a table of form factors, found no rows of numbers");
    FormFactorTable table;
    table.source = file;
    const std::vector<std::string> expected = bead_types(resolution);
    const bool with_q = has_q(file, read, expected.size());
    table.types = column_names(file, read, expected);
    const auto rows = static_cast<Index>(read.rows.size());
    table.factors = Array<double, 2>(rows, static_cast<Index>(expected.size()));
    for (Index k = 0; k < rows; ++k) {
        const Row& row = read.rows[static_cast<std::size_t>(k)];
        const double q = with_q ? row.values[0] : kPublishedStep * static_cast<double>(k);
        if (q < 0 || (!table.q.empty() && q <= table.q.back()))
            throw InputError(file, row.line,
                             fmt::format("expected q of 0 or more that rises, found {:g}", q));
        table.q.push_back(q);
        std::copy(row.values.begin() + (with_q ? 1 : 0), row.values.end(),
                  table.factors[k].begin());
    }
    if (!with_q)
        notes.push_back({NoteKind::columns,
                         fmt::format("form factors without q taken at 0, {}, ..., {} 1/angstrom",
                                     kPublishedStep,
                                     kPublishedStep * static_cast<double>(kPublishedPoints - 1))});
    if (table.q.front() > 0)
        throw InputError(file, read.rows.front().line,
                         fmt::format("expected q from 0 on, found {:g}", table.q.front()));
    return table;
}

}  // namespace pleat::saxs

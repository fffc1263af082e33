// Curve text: the tables of numbers in a text, among titles, comments and footers of any kind.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>
#include <utility>

#include "pleat/bio/scattering/curve_table.h"
#include "pleat/bio/scattering/profile.h"
#include "pleat/core/error.h"
#include "pleat/core/files/text.h"
#include "pleat/core/hardware/system.h"
#include "pleat/core/name_of.h"

namespace pleat {

namespace {

// Files of DOS may end in a control-Z.
constexpr std::string_view kBlanks = " \t;\"\v\f\x1a";

/// Decodes the Unicode character at `at` of a UTF-8 text, and its number of bytes; in other
/// encodings returns the byte itself, as in Latin-1.
std::pair<std::uint32_t, std::size_t> character(std::string_view text, std::size_t at) {
    const auto byte = [&](std::size_t k) {
        return at + k < text.size() ? static_cast<unsigned char>(text[at + k]) : 0U;
    };
    const std::size_t size = byte(0) >= 0xf0 ? 4 : byte(0) >= 0xe0 ? 3 : byte(0) >= 0xc2 ? 2 : 1;
    std::uint32_t code = size == 1 ? byte(0) : byte(0) & (0x7fU >> size);
    for (std::size_t k = 1; k < size; ++k) {
        if ((byte(k) & 0xc0U) != 0x80U) return {byte(0), 1};
        code = code << 6 | (byte(k) & 0x3fU);
    }
    return {code, size};
}

/// Formats a line for messages: printable ASCII, at most 60 characters.
std::string shown(std::string_view text) {
    constexpr std::size_t kMaxShown = 60;
    std::string clean(text.substr(0, kMaxShown));
    if (text.size() > kMaxShown) clean += "...";
    for (char& c : clean) {
        if (c == '\t') c = ' ';
        if (c < ' ' || c > '~') c = '?';
    }
    return clean;
}

/// Parses a whole word as a number, including Fortran's D exponents, nan, inf, and Windows' forms
/// of these (-1.#IND).
bool parse(std::string_view word, double& value) {
    std::string text(word);
    if (text.starts_with('+')) text.erase(0, 1);
    value = NAN;
    if (text.find(".#") != std::string::npos && text.find_first_of("0123456789") <= 1) return true;
    if (text.starts_with("nan") || text.starts_with("NaN")) return true;
    for (char& c : text) {
        if (c == 'D' || c == 'd') c = 'e';
    }
    const auto parsed = system::read_real(text, value);
    if (parsed.ptr != text.data() + text.size()) return false;
    // Numbers too large for a double become infinite, too small ones 0.
    if (parsed.ec == std::errc::result_out_of_range) value = std::strtod(text.c_str(), nullptr);
    return parsed.ec != std::errc::invalid_argument;
}

/// Whether a line uses decimal commas: "0,01 10,5 0,1". A point anywhere, or a comma at the end of
/// a word, which separates words, means no.
bool has_decimal_commas(std::string_view line) {
    const std::vector<std::string_view> all = words(line, kBlanks);
    if (all.size() < 2 || line.find('.') != std::string_view::npos) return false;
    bool any = false;
    for (const std::string_view word : all) {
        const std::size_t comma = word.find(',');
        if (comma == std::string_view::npos) continue;
        any = true;
        const auto is_digit = [&](std::size_t at) {
            return at < word.size() && word[at] >= '0' && word[at] <= '9';
        };
        if (comma == 0 || !is_digit(comma - 1) || !is_digit(comma + 1) ||
            word.find(',', comma + 1) != std::string_view::npos)
            return false;
    }
    return any;
}

struct Line {
    CurveRow row;           ///< the numbers that the line begins with
    std::size_t words = 0;  ///< of the whole line
    bool decimal_commas = false;
};

Line split(std::string_view given, std::int64_t number) {
    constexpr std::size_t kMaxColumns = 32;
    Line one;
    one.row.line = number;
    std::string line(given);
    one.decimal_commas = has_decimal_commas(given);
    if (one.decimal_commas) std::replace(line.begin(), line.end(), ',', '.');
    std::vector<std::string_view> all = words(line, std::string(kBlanks) + ",");
    if (all.empty()) return one;
    const auto is_comment = [](std::string_view word) { return word.starts_with('#'); };
    all.erase(std::find_if(all.begin() + 1, all.end(), is_comment), all.end());
    one.words = all.size();
    one.row.text = shown(given.substr(static_cast<std::size_t>(all.front().data() - line.data())));
    std::vector<double>& values = one.row.values;
    double value = 0;
    while (values.size() < std::min(all.size(), kMaxColumns) && parse(all[values.size()], value))
        values.push_back(value);
    // A point has exactly two numbers and nothing else, or three numbers and anything.
    one.row.is_point = values.size() >= 3 || (values.size() == 2 && one.words == 2);
    return one;
}

/// The number of first lines that contain constants instead of points: up to three lines with more
/// numbers than the table (PDH, GLOBSYMM), or one or two lines of two numbers above three columns.
std::size_t lines_of_constants(const std::vector<CurveRow>& rows) {
    constexpr std::size_t kMaxConstants = 3;
    std::size_t many = 0, few = 0;
    if (rows.size() >= kMaxConstants + kMinCurvePoints)
        while (many < kMaxConstants && rows[many].values.size() > rows[kMaxConstants].values.size())
            ++many;
    while (few < rows.size() && rows[few].values.size() < 3) ++few;
    return few < kMinCurvePoints && rows.size() >= few + kMinCurvePoints ? std::max(many, few)
                                                                         : many;
}

/// Collects tables of a text. A table begins with three consecutive lines of points, and ends at a
/// line that does not begin with a number or a comment that names different columns.
class TableFinder {
public:
    TableFinder(const std::string& file) : file_(file) {}

    void take(std::string_view text, std::int64_t number) {
        Line line = split(text, number);
        if (line.words == 0) return;
        if (line.row.text.front() == '#') {
            comment_ = text;
            comment_words_ = line.words - (line.row.text.starts_with("# ") ? 1 : 0);
            if (pending_.size() < kMinCurvePoints) note_title(text);
            return;
        }
        const bool changes = !comment_.empty() && pending_.size() >= kMinCurvePoints &&
                             line.row.values.size() == comment_words_ &&
                             line.row.values.size() != pending_.back().values.size();
        if (changes) {
            end_table();
            note_title(comment_);
        }
        comment_ = {};
        if (pending_.size() < kMinCurvePoints ? !line.row.is_point : line.row.values.empty()) {
            end_table();
            note_title(text);
            ++other_lines_;
            return;
        }
        commas_ = commas_ || line.decimal_commas;
        pending_.push_back(std::move(line.row));
        if (pending_.size() > kMaxCurvePoints)
            throw InputError(
                file_, number,
                fmt::format("expected at most {} points, found more", kMaxCurvePoints));
    }
    std::vector<CurveTable> finish() {
        end_table();
        for (CurveTable& table : tables_) table.text_line_count = other_lines_;
        return std::move(tables_);
    }

private:
    void note_title(std::string_view text) {
        constexpr std::size_t kMaxTitles = 200, kMaxLength = 2000;
        const std::string low = in_lower_case(text.substr(0, kMaxLength));
        for (const char* const name : {"spinecholength", "spin echo length", "depolarisation"})
            if (low.find(name) != std::string::npos)
                throw InputError(file_, 0,
                                 "expected a scattering curve I(q), found SESANS (depolarisation "
                                 "by spin-echo length), which pleat does not read");
        gnom_ = gnom_ || text.find("G N O M") != std::string_view::npos;
        if (titles_.size() < kMaxTitles) titles_.emplace_back(text.substr(0, kMaxLength));
    }
    /// Stores the current table, if it is valid, with the information in the titles above it.
    void end_table() {
        std::vector<CurveRow> rows = std::exchange(pending_, {});
        const bool commas = std::exchange(commas_, false);
        if (rows.size() < kMinCurvePoints) return;
        CurveTable table;
        const std::size_t constants = lines_of_constants(rows);
        if (constants > 0 && rows.front().values.size() > 2)
            table.formats.push_back(
                fmt::format("{} lines of more numbers above the table passed over", constants));
        rows.erase(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(constants));
        std::size_t width = 0;
        for (const CurveRow& row : rows) width = std::max(width, row.values.size());
        table.name = fmt::format("lines {}-{}", rows.front().line, rows.back().line);
        read_titles(width, table);
        if (gnom_) table.formats.emplace_back("read as an output of GNOM");
        if (commas) table.formats.emplace_back("commas between digits read as decimal points");
        table.rows = std::move(rows);
        tables_.push_back(std::move(table));
        titles_.clear();
    }
    /// The unit comes from the nearest title that names columns, else from all titles with a unit.
    void read_titles(std::size_t width, CurveTable& table) const {
        constexpr std::size_t kNear = 4;
        MomentumUnit named = MomentumUnit::automatic;
        std::set<MomentumUnit> said;
        for (std::size_t n = 0; n < titles_.size(); ++n) {
            const std::string& title = titles_[titles_.size() - 1 - n];
            if (table.columns.empty() && n < kNear) {
                table.columns = column_names(title, width);
                if (!table.columns.empty()) named = unit_of_names(table.columns, n);
            }
            const std::vector<std::string_view> above = words(title, " \t,;\"#");
            if (n == 0 && above.size() == width)
                table.column_names_above = {above.begin(), above.end()};
            said.insert(unit_in_prose(title));
        }
        said.erase(MomentumUnit::automatic);
        if (named == MomentumUnit::automatic && said.size() == 1) named = *said.begin();
        if (named != MomentumUnit::automatic) table.q_unit = name_of(named);
    }

    /// The unit of q in the names of the n-th nearest title, or in a line of units below or above.
    MomentumUnit unit_of_names(const std::vector<std::string>& names, std::size_t n) const {
        const auto q = std::ranges::find(names, ColumnRole::momentum, role_of) - names.begin();
        if (q == std::ssize(names)) return MomentumUnit::automatic;
        MomentumUnit unit = unit_named(names[q]);
        for (const std::size_t near : {n - 1, n + 1}) {
            if (unit != MomentumUnit::automatic || near >= titles_.size()) continue;
            const std::vector<std::string_view> units =
                words(titles_[titles_.size() - 1 - near], " \t,;\"#");
            if (units.size() == names.size()) unit = unit_named(units[q]);
        }
        return unit;
    }

    const std::string& file_;
    std::vector<CurveTable> tables_;
    std::vector<CurveRow> pending_;
    std::vector<std::string> titles_;  ///< the text above the next table
    std::string comment_;              ///< behind the last point
    std::size_t comment_words_ = 0, other_lines_ = 0;
    bool commas_ = false, gnom_ = false;
};

}  // namespace

std::string plain_text(std::string_view text) {
    std::string plain;
    plain.reserve(text.size());
    for (std::size_t at = 0; at < text.size();) {
        const auto [code, size] = character(text, at);
        if (code == 0xa0 || (code >= 0x2000 && code <= 0x200b) || code == 0x202f || code == 0x3000)
            plain += ' ';
        else if (code == 0x2212 || (code >= 0x2010 && code <= 0x2013) || code == 0x207b)
            plain += '-';
        else if (code == 0xc5 || code == 0x212b)
            plain += 'A';  // angstrom
        else if (code == 0xb9)
            plain += '1';
        else
            plain += text.substr(at, size);
        at += size;
    }
    return plain;
}

std::vector<CurveTable> tables_of_text(const std::string& file, std::string_view text) {
    TableFinder finder(file);
    std::int64_t number = 0;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        finder.take(text.substr(0, end), ++number);
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    std::vector<CurveTable> tables = finder.finish();
    if (tables.empty())
        throw InputError(file, 0,
                         "expected 3 or more lines of numbers in succession (q, intensity, error), "
                         "found none");
    return tables;
}

}  // namespace pleat

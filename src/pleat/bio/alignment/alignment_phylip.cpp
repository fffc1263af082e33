// PHYLIP: reading interleaved files and those of one sequence after another.
#include "pleat/bio/alignment/text_alignment.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

namespace pleat {

namespace {

struct Line {
    std::string text;
    Index number = 0;
};

struct Piece {
    std::string_view letters;
    Index line = 0;
};

struct PhylipRow {
    std::string_view name;
    std::vector<Piece> pieces = {};
    Index letters = 0;

    void add(std::string_view text, Index line) {
        pieces.push_back({text, line});
        letters += std::ranges::count_if(text, [](unsigned char c) { return c > ' '; });
    }
};

using Size = std::pair<Index, Index>;  // sequences, columns

/// "5 42", or "5 42 I" as PAML writes it; nothing for another line.
std::optional<Size> size_of(std::string_view line) {
    std::vector<std::string_view> found = words(line);
    if (found.size() == 3 && (found[2] == "I" || found[2] == "S")) found.pop_back();
    Size size;
    const bool is_header = found.size() == 2 && parse_number(found[0], size.first) &&
                           parse_number(found[1], size.second) && size.first > 0 && size.second > 0;
    return is_header ? std::optional(size) : std::nullopt;
}

PhylipRow first_piece(const Line& line, bool has_wide_names) {
    constexpr std::size_t kWide = 10;
    const std::string_view text = has_wide_names ? std::string_view(line.text) : trimmed(line.text);
    const std::size_t end =
        std::min(has_wide_names ? kWide : text.find_first_of(" \t"), text.size());
    PhylipRow row{trimmed(text.substr(0, end))};
    row.add(text.substr(end), line.number);
    return row;
}

/// Parses the rows in one of the two PHYLIP layouts; nothing if the lines have the other one. Sets
/// `end` to the first line after the rows.
std::vector<PhylipRow> rows_of(const std::vector<Line>& lines, Size size, bool is_interleaved,
                               bool has_wide_names, std::size_t& end) {
    const auto count = static_cast<std::size_t>(size.first);
    std::vector<PhylipRow> rows;
    if (count == 0 || lines.size() < count) return rows;
    for (end = 0; end < lines.size(); ++end) {
        const std::size_t n = end;
        const PhylipRow* last =
            rows.size() < count ? nullptr : &rows[is_interleaved ? 0 : count - 1];
        if (last != nullptr && (!is_interleaved || n % count == 0) && last->letters >= size.second)
            break;
        const bool is_first =
            is_interleaved ? n < count : rows.empty() || rows.back().letters >= size.second;
        if (is_first)
            rows.push_back(first_piece(lines[n], has_wide_names));
        else
            rows[is_interleaved ? n % count : rows.size() - 1].add(lines[n].text, lines[n].number);
    }
    const auto is_sound = [&](const PhylipRow& row) {
        return row.letters == size.second && !row.name.empty();
    };
    if (rows.size() != count || !std::ranges::all_of(rows, is_sound)) rows.clear();
    return rows;
}

}  // namespace

bool is_phylip_header(std::string_view line) { return size_of(line).has_value(); }

void read_phylip(ByteSource& source, TextAlignment& text) {
    std::string_view line;
    std::vector<Line> lines;
    Size size;
    Index number = 0, header = 1;  // of the alignment, and the line of its header
    while (source.next(line)) {
        if (is_blank(line)) continue;
        if (const std::optional<Size> next = size_of(line)) {
            if (++number != text.record) continue;
            size = *next;
            header = source.line();
        } else if (number == 0) {
            throw InputError(source.name(), source.line(),
                             fmt::format("expected the numbers of sequences and columns, found {}",
                                         in_quotes(line)));
        } else if (number == text.record) {
            lines.push_back({std::string(line), source.line()});
        }
    }
    text.end_records(number, source.line());
    std::vector<PhylipRow> rows;
    std::size_t end = 0;
    for (const bool has_wide_names : {false, true})
        for (const bool is_interleaved : {true, false})
            if (rows.empty()) rows = rows_of(lines, size, is_interleaved, has_wide_names, end);
    if (rows.empty())
        throw InputError(
            source.name(), header,
            fmt::format("expected {} sequences of {} letters, interleaved or one after another, "
                        "found {} lines that are not; the first is {}",
                        size.first, size.second, lines.size(),
                        in_quotes(lines.empty() ? "" : lines.front().text)));
    if (end < lines.size())
        text.notes.push_back(
            {NoteKind::several,
             fmt::format("{} lines behind the alignment left out, from line {} on: {}",
                         lines.size() - end, lines[end].number, in_quotes(lines[end].text))});
    for (const PhylipRow& row : rows) {
        text.add_row(row.name, row.pieces.front().line);
        for (const Piece& piece : row.pieces)
            text.append(text.rows.back(), piece.letters, piece.line, true);
    }
    text.finish(source.line());
}

}  // namespace pleat

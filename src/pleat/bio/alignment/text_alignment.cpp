// Text alignments: checking characters, remembering lines, joining blocks.
#include "pleat/bio/alignment/text_alignment.h"

#include <algorithm>
#include <array>
#include <unordered_set>

#include <fmt/format.h>

namespace pleat {

namespace {

enum class Sort : unsigned char { other, letter, blank };

std::array<Sort, 256> sorts() {
    std::array<Sort, 256> table{};
    for (int c = 'A'; c <= 'Z'; ++c) table[c] = table[c - 'A' + 'a'] = Sort::letter;
    for (unsigned char c : std::string_view("-.~_*")) table[c] = Sort::letter;
    for (unsigned char c : std::string_view(" \t")) table[c] = Sort::blank;
    return table;
}

std::string character(char c) {
    if (c == ' ') return "a blank";
    if (c == '\t') return "a tab";
    if (c > ' ' && c < 0x7f) return fmt::format("'{}'", c);
    return fmt::format("byte 0x{:02x}", static_cast<unsigned char>(c));
}

}  // namespace

TextAlignment::TextAlignment(const ByteSource& source, Index most_bytes)
    : complaints(source.name()), file(source.name()), most_bytes_(most_bytes) {}

void TextAlignment::spend(std::size_t bytes, Index line) {
    spent_ += static_cast<Index>(bytes);
    if (spent_ > most_bytes_) {
        throw InputError(
            file, line,
            fmt::format("expected an alignment that fits into {} bytes, found more", most_bytes_));
    }
}

Index TextAlignment::add_row(std::string_view name, Index line) {
    spend(sizeof(Row) + name.size(), line);
    rows.push_back({std::string(name), {}, line});
    return static_cast<Index>(rows.size()) - 1;
}

void TextAlignment::append(Index row, std::string_view letters, Index line, bool blanks) {
    static const std::array<Sort, 256> kSorts = sorts();
    spend(sizeof(Piece) + letters.size(), line);
    Row& to = rows[row];
    pieces_.push_back({row, static_cast<Index>(to.letters.size()), line});
    const auto sort = [](char c) { return kSorts[static_cast<unsigned char>(c)]; };
    const auto odd = std::find_if(letters.begin(), letters.end(),
                                  [&](char c) { return sort(c) != Sort::letter; });
    if (odd == letters.end()) {
        to.letters.append(letters);
        return;
    }
    for (char c : letters) {
        if (sort(c) == Sort::letter) {
            to.letters.push_back(c);
        } else if (sort(c) == Sort::other || !blanks) {
            complaints.add(line, fmt::format("expected letters and gaps, found {} in {}",
                                             character(c), label(row)));
            return;
        }
    }
}

std::string TextAlignment::label(Index row) const {
    if (!named) return fmt::format("sequence {}", row + 1);
    return fmt::format("sequence {}", in_quotes(rows[row].name));
}

Index TextAlignment::line_of(Index row, Index offset) const {
    Index line = rows[row].line;
    for (const Piece& piece : pieces_) {
        if (piece.row == row && piece.offset <= offset) line = piece.line;
    }
    return line;
}

void TextAlignment::require_rows(Index line) const {
    complaints.throw_if_any();
    if (rows.empty()) {
        throw InputError(file, std::max<Index>(line, 1), "expected sequences, found none");
    }
}

void Blocks::add(std::string_view name, std::string_view letters, Index line) {
    if (first_block_) {
        text_.add_row(name, line);
    } else if (row_ == static_cast<Index>(text_.rows.size())) {
        throw InputError(
            text_.file, line,
            fmt::format("expected {} sequences in each block as in the first, found one "
                        "more, {}",
                        row_, in_quotes(name)));
    } else if (text_.rows[row_].name != name) {
        throw InputError(text_.file, line,
                         fmt::format("expected sequence {} as in the first block, found {}",
                                     in_quotes(text_.rows[row_].name), in_quotes(name)));
    }
    const auto length = [this] { return static_cast<Index>(text_.rows[row_].letters.size()); };
    const Index before = length();
    const bool sound = text_.complaints.empty();
    text_.append(row_, letters, line, false);
    const Index width = length() - before;
    if (row_ == 0) width_ = width;
    // A row that was complained about has lost its tail: its width says nothing.
    if (sound && text_.complaints.empty() && width != width_) {
        text_.complaints.add(line,
                             fmt::format("expected {} columns as in the first sequence of the "
                                         "block, found {} in {}",
                                         width_, width, text_.label(row_)));
    }
    ++row_;
}

void Blocks::end(Index line) {
    if (row_ == 0) return;
    const Index count = static_cast<Index>(text_.rows.size());
    if (row_ < count) {
        throw InputError(
            text_.file, line,
            fmt::format("expected {} sequences in each block as in the first, found {}", count,
                        row_));
    }
    if (first_block_) {
        std::unordered_set<std::string_view> names;
        for (const TextAlignment::Row& row : text_.rows) {
            if (!names.insert(row.name).second) {
                text_.complaints.add(row.line,
                                     fmt::format("expected each name once in a block, found {} "
                                                 "again",
                                                 in_quotes(row.name)));
            }
        }
        text_.complaints.throw_if_any();
    }
    first_block_ = false;
    row_ = 0;
}

}  // namespace pleat

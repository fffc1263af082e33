// Text alignments: checking characters, remembering lines, joining blocks.
#include "pleat/bio/alignment/text_alignment.h"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>

namespace pleat {

namespace {

enum class Sort : unsigned char { other, letter, blank };

std::array<Sort, 256> sorts() {
    std::array<Sort, 256> table{};
    for (int c = 'A'; c <= 'Z'; ++c) table[c] = table[c - 'A' + 'a'] = Sort::letter;
    for (unsigned char c : std::string_view("-.~_*?")) table[c] = Sort::letter;
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

TextAlignment::TextAlignment(const ByteSource& source, Index max_bytes, Index max_kept_bytes)
    : complaints(source.name()),
      file(source.name()),
      max_bytes_(max_bytes),
      max_kept_bytes_(max_kept_bytes),
      is_read_once_(source.is_from_pipe()) {}

void TextAlignment::spend(std::size_t bytes, Index line) {
    spent_ += static_cast<Index>(bytes);
    if (spent_ > max_bytes_) {
        throw InputError(
            file, line,
            fmt::format("expected an alignment that fits into {} bytes, found more", max_bytes_));
    }
}

void TextAlignment::keep(std::size_t bytes, Index line) {
    kept_ += static_cast<Index>(bytes);
    if (kept_ <= max_kept_bytes_ || !keeps_letters_) return;
    if (is_read_once_) {
        throw InputError(file, line,
                         fmt::format("expected an alignment that fits into {} bytes from a pipe "
                                     "or a device, found more; save it to a file first",
                                     max_kept_bytes_));
    }
    keeps_letters_ = false;
    for (TextRow& row : rows) std::string().swap(row.letters);
}

void TextAlignment::close_rows() {
    for (const TextRow& row : rows) summary.close(row);
}

void TextAlignment::add_row(std::string_view name, Index line) {
    spend(sizeof(TextRow) + name.size(), line);
    // A vector that is full takes twice the memory, and for a moment the earlier one too.
    const std::size_t growth =
        rows.size() < rows.capacity() ? 0 : std::max<std::size_t>(1, rows.size());
    keep(growth * sizeof(TextRow) + name.size(), line);
    if (!keeps_letters_ && !keeps_names) {
        close_rows();
        std::vector<TextRow>().swap(rows);
    }
    rows.push_back({.name = std::string(name), .letters = {}, .line = line, .number = row_count_});
    ++row_count_;
}

Index TextAlignment::append(TextRow& row, std::string_view letters, Index line, bool blanks) {
    static const std::array<Sort, 256> kSorts = sorts();
    const auto sort = [](char c) { return kSorts[static_cast<unsigned char>(c)]; };
    spend(letters.size(), line);
    const auto odd = std::find_if(letters.begin(), letters.end(),
                                  [&](char c) { return sort(c) != Sort::letter; });
    if (odd != letters.end()) {
        letters_.clear();
        for (char c : letters) {
            if (sort(c) == Sort::letter) {
                letters_.push_back(c);
            } else if (sort(c) == Sort::other || !blanks) {
                complaints.add(line, fmt::format("expected letters and gaps, found {} in {}",
                                                 character(c), summary.label(row)));
                break;
            }
        }
        letters = letters_;
    }
    summary.add(row, letters, line);
    if (!keeps_letters_) return static_cast<Index>(letters.size());
    const std::size_t needed = row.letters.size() + letters.size(), room = row.letters.capacity();
    if (needed > room) keep(std::max(needed, 2 * room) - room, line);
    if (keeps_letters_) row.letters.append(letters);
    return static_cast<Index>(letters.size());
}

bool TextAlignment::next_line(ByteSource& source, std::string_view& line) {
    while (source.next(line))
        if (source.record() == record) return true;
    end_records(source.record(), source.line());
    return false;
}

void TextAlignment::end_records(Index count, Index line) {
    if (record > count && count > 0)
        throw InputError(
            file, line,
            fmt::format("expected {} alignments or more for --record, found {}", record, count));
    if (count > 1 && !names_record)
        notes.push_back({NoteKind::several,
                         fmt::format("the file holds {} alignments: the first is read", count),
                         fmt::format("--record 2, or --sweep record=1:{}:1 for all", count), true});
}

void TextAlignment::finish(Index line) {
    complaints.throw_if_any();
    if (rows.empty()) {
        throw InputError(file, std::max<Index>(line, 1), "expected sequences, found none");
    }
    close_rows();
}

void Blocks::add(std::string_view name, std::string_view letters, Index line) {
    // A block after a blank line begins with the first sequence again.
    if (pause_ > 0 && row_ > 0 &&
        (name == text_.rows.front().name || (!first_block_ && row_ == std::ssize(text_.rows))))
        end(pause_);
    pause_ = 0;
    if (row_ > 0 && std::ssize(letters) == width_ && name == text_.rows[row_ - 1].name &&
        letters == last_) {
        repeated_ += first_block_;
        return;
    }
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
    const bool sound = text_.complaints.empty();
    const Index width = text_.append(text_.rows[row_], letters, line, false);
    if (row_ == 0) width_ = width;
    // A row that was complained about has lost its tail: its width says nothing.
    if (sound && text_.complaints.empty() && width != width_) {
        text_.complaints.add(line,
                             fmt::format("expected {} columns as in the first sequence of the "
                                         "block, found {} in {}",
                                         width_, width, text_.summary.label(text_.rows[row_])));
    }
    last_ = letters;
    ++row_;
}

void Blocks::require_different_names() {
    std::set<std::string_view> names;
    for (const TextRow& row : text_.rows)
        if (!names.insert(row.name).second)
            text_.complaints.add(row.line,
                                 fmt::format("expected each name once in a block, found {} again",
                                             in_quotes(row.name)));
    text_.complaints.throw_if_any();
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
    if (first_block_) require_different_names();
    if (first_block_ && repeated_ > 0)
        text_.notes.push_back(
            {NoteKind::helper_rows,
             fmt::format("rows that repeat the one above them are left out: {}", repeated_)});
    first_block_ = false;
    row_ = 0;
}

}  // namespace pleat

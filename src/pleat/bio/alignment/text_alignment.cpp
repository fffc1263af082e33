// Text alignments: counting letters, checking characters, remembering lines, joining blocks.
#include "pleat/bio/alignment/text_alignment.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace pleat {

namespace {

constexpr std::size_t kMaxFaults = 10;  // as many as Complaints reports

// Bits that classify letters. The last two exist per alphabet, for all letters and for letters that
// are not insertions.
constexpr std::uint32_t kLower = 1, kDot = 2, kUpper = 4;
std::size_t reading(Alphabet::Kind kind, bool match_only) {
    return 2 * static_cast<std::size_t>(kind) + (match_only ? 1 : 0);
}
std::uint32_t odd_bit(std::size_t reading) { return std::uint32_t{1} << (8 + reading); }
std::uint32_t residue_bit(std::size_t reading) { return std::uint32_t{1} << (16 + reading); }

std::array<std::uint32_t, 256> kinds() {
    std::array<std::uint32_t, 256> table{};
    for (int n = 0; n < 256; ++n) {
        const char c = static_cast<char>(n);
        std::uint32_t& bits = table[n];
        if (c >= 'a' && c <= 'z') bits |= kLower;
        if (c >= 'A' && c <= 'Z') bits |= kUpper;
        if (c == '.') bits |= kDot;
        for (const Alphabet* alphabet :
             {&Alphabet::protein(), &Alphabet::rna(), &Alphabet::dna()}) {
            for (const bool match_only : {false, true}) {
                if (match_only && is_insertion(c)) continue;
                const std::size_t at = reading(alphabet->kind(), match_only);
                if (alphabet->code(c) == Alphabet::invalid) bits |= odd_bit(at);
                if (alphabet->code(c) < alphabet->gap()) bits |= residue_bit(at);
            }
        }
    }
    return table;
}

std::uint32_t kinds_of(char c) {
    static const std::array<std::uint32_t, 256> table = kinds();
    return table[static_cast<unsigned char>(c)];
}

}  // namespace

void AlignmentSummary::add(TextRow& row, std::string_view letters, Index line) {
    if (row.number == 0 && row.length == 0) first_letters_line_ = line;
    std::uint32_t seen = 0;
    Index insertions = 0;
    for (const char c : letters) {
        const std::uint32_t kind = kinds_of(c);
        ++counts_[static_cast<unsigned char>(c)];
        seen |= kind;
        insertions += (kind & (kLower | kDot)) != 0;
    }
    compare_insertions(row, letters, seen);
    add_odd_letters(row, letters, line, seen & ~row.seen);
    seen_ |= seen;
    row.seen |= seen;
    row.length += std::ssize(letters);
    row.match += std::ssize(letters) - insertions;
}

void AlignmentSummary::compare_insertions(const TextRow& row, std::string_view letters,
                                          std::uint32_t seen) {
    if (!has_pure_columns_) return;
    if (row.number == 0) {
        for (const char c : letters) insertions_.push_back(is_insertion(c));
        return;
    }
    if (((seen | seen_) & (kLower | kDot)) == 0) return;
    // Letters beyond the first row's length are ignored: only rows of equal length use this.
    const std::size_t from = static_cast<std::size_t>(row.length);
    for (std::size_t i = 0; i < letters.size() && from + i < insertions_.size(); ++i) {
        if (is_insertion(letters[i]) == insertions_[from + i]) continue;
        has_pure_columns_ = false;
        std::vector<bool>().swap(insertions_);
        return;
    }
}

void AlignmentSummary::add_odd_letters(const TextRow& row, std::string_view letters, Index line,
                                       std::uint32_t fresh) {
    for (std::size_t n = 0; n < odd_.size(); ++n) {
        auto& rows = odd_[n];
        const bool is_full = rows.size() == kMaxFaults;
        if ((fresh & odd_bit(n)) == 0 || (is_full && row.number > rows.rbegin()->first)) continue;
        const char letter =
            *std::ranges::find_if(letters, [n](char c) { return (kinds_of(c) & odd_bit(n)) != 0; });
        rows.emplace(row.number, OddLetter{line, letter, label(row)});
        if (is_full) rows.erase(std::prev(rows.end()));
    }
}

void AlignmentSummary::close(const TextRow& row) {
    const std::array<Index, 2> found = {row.length, row.match};
    if (row_count_++ == 0) {
        first_line_ = row.line;
        width_ = found;
        return;
    }
    for (std::size_t n = 0; n < 2; ++n) {
        if (found[n] == width_[n]) continue;
        ++other_count_[n];
        if (other_[n].size() < kMaxFaults) other_[n].push_back({row.line, found[n], label(row)});
    }
}

std::string AlignmentSummary::label(const TextRow& row) const {
    return named ? fmt::format("sequence {}", in_quotes(row.name)) : row.name;
}

bool AlignmentSummary::is_like_a2m() const {
    return has_pure_columns_ && !is_ragged() && (seen_ & (kLower | kDot)) != 0 &&
           (seen_ & kUpper) != 0;
}

AlignmentFormat AlignmentSummary::detect_fasta_format(const std::string& file) const {
    const bool has_insertions = (seen_ & (kLower | kDot)) != 0;
    if (!has_insertions || (seen_ & kUpper) == 0) return AlignmentFormat::fasta;
    if (is_ragged())
        return other_count_[1] < other_count_[0] ? AlignmentFormat::a3m : AlignmentFormat::fasta;
    if (has_pure_columns_) return AlignmentFormat::a2m;
    if ((seen_ & kLower) != 0 && other_count_[1] == 0) {
        throw InputError(
            file, first_line_,
            "expected letters of FASTA or of A3M, found rows that fit both (equal "
            "length, equal count of upper case and '-'): name the format, or give --insertions");
    }
    return AlignmentFormat::fasta;
}

const Alphabet& AlignmentSummary::likely_alphabet() const {
    if (is_rich_in_uracil()) return Alphabet::rna();
    const auto [all, nucleic] = letter_counts();
    const Index min_percent = ambiguity_codes() > 0 ? 80 : 95;
    if (nucleic * 100 < all * min_percent || all == 0) return Alphabet::protein();
    return count('U') > 0 && count('U') >= count('T') ? Alphabet::rna() : Alphabet::dna();
}

Index AlignmentSummary::ambiguity_codes() const {
    const auto [all, nucleic] = letter_counts();
    Index found = 0;
    for (const char c : std::string_view("RYSWKMBDHVX")) found += count(c);
    return found + nucleic == all ? found : 0;
}

std::pair<Index, Index> AlignmentSummary::letter_counts() const {
    Index all = 0, nucleic = 0;
    for (char c = 'A'; c <= 'Z'; ++c) all += count(c);
    for (char c : std::string_view("ACGTUN")) nucleic += count(c);
    return {all, nucleic};
}

bool AlignmentSummary::is_rich_in_uracil() const {
    const auto [all, nucleic] = letter_counts();
    return all > 0 && count('U') * 10 >= all && count('U') >= count('T') && nucleic * 10 >= all * 8;
}

bool AlignmentSummary::has_modified_bases() const {
    return is_rich_in_uracil() && count('P') + count('I') > 0;
}

void AlignmentSummary::check(const std::string& file, bool match_only, const Alphabet& alphabet,
                             bool told) const {
    const std::string_view what =
        match_only ? "match columns (upper case and '-')" : "aligned columns";
    const Index expected = width(match_only);
    const bool is_modified = alphabet.kind() == Alphabet::Kind::rna && has_modified_bases();
    Complaints complaints(file);
    for (const OtherWidth& row : other_[match_only ? 1 : 0]) {
        complaints.add(row.line,
                       fmt::format("expected {} {} as in the first sequence, found {} in {}",
                                   expected, what, row.found, row.label));
    }
    complaints.throw_if_any();
    if (row_count_ < 2)
        throw InputError(file, first_line_, "expected at least 2 sequences, found 1");
    if (expected < 2) {
        throw InputError(file, first_letters_line_,
                         fmt::format("expected at least 2 {}, found {}", what, expected));
    }
    const std::size_t n = reading(alphabet.kind(), match_only);
    for (const auto& [number, row] : odd_[n]) {
        if (is_modified) break;
        complaints.add(
            row.line,
            fmt::format(
                "expected {} letters{}, found '{}' in {}", alphabet.name(),
                told ? " (detected from most of the letters: name the alphabet if it is another)"
                     : "",
                row.letter, row.label));
    }
    complaints.throw_if_any();
    if ((seen_ & residue_bit(n)) == 0) {
        throw InputError(file, first_line_,
                         fmt::format("expected {} letters, found gaps only", alphabet.name()));
    }
}

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

void TextAlignment::count_memory(std::size_t bytes, Index line) {
    counted_bytes_ += static_cast<Index>(bytes);
    if (counted_bytes_ > max_bytes_) {
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
    count_memory(sizeof(TextRow) + name.size(), line);
    // A growing vector doubles its memory, and for a moment holds the old data as well.
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
    count_memory(letters.size(), line);
    const auto odd = std::ranges::find_if(letters, [&](char c) { return sort(c) != Sort::letter; });
    if (odd != letters.end()) {
        letters_.clear();
        for (char c : letters) {
            if (sort(c) == Sort::letter) {
                letters_.push_back(c);
            } else if (sort(c) == Sort::other || !blanks) {
                complaints.add(line, fmt::format("expected letters and gaps, found {} in {}{}",
                                                 character(c), summary.label(row),
                                                 c == ':' && blanks
                                                     ? "; write each chain as a sequence of its own"
                                                     : ""));
                break;
            }
        }
        letters = letters_;
    }
    summary.add(row, letters, line);
    if (!keeps_letters_) return std::ssize(letters);
    const std::size_t needed = row.letters.size() + letters.size(), room = row.letters.capacity();
    if (needed > room) keep(std::max(needed, 2 * room) - room, line);
    if (keeps_letters_) row.letters.append(letters);
    return std::ssize(letters);
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
    if (count > 1 && !record_is_named)
        notes.push_back({NoteKind::several,
                         fmt::format("the file holds {} alignments: the first is read", count),
                         fmt::format("--record 2, or --sweep record=1:{}:1 for all", count), true});
}

void TextAlignment::finish(Index line) {
    complaints.throw_if_any();
    if (rows.empty())
        throw InputError(file, std::max<Index>(line, 1), "expected sequences, found none");
    close_rows();
}

void Blocks::add(std::string_view name, std::string_view letters, Index line) {
    // A block after a blank line begins with the first sequence again.
    if (possible_end_line_ > 0 && row_ > 0 &&
        (name == text_.rows.front().name || (!is_first_block_ && row_ == std::ssize(text_.rows))))
        end(possible_end_line_);
    possible_end_line_ = 0;
    if (row_ > 0 && std::ssize(letters) == width_ && name == text_.rows[row_ - 1].name &&
        letters == last_) {
        repeated_rows_ += is_first_block_;
        return;
    }
    if (is_first_block_) {
        text_.add_row(name, line);
    } else if (row_ == std::ssize(text_.rows)) {
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
    // A row with a complaint was cut there, so its width means nothing.
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
    const Index count = std::ssize(text_.rows);
    if (row_ < count) {
        throw InputError(
            text_.file, line,
            fmt::format("expected {} sequences in each block as in the first, found {}", count,
                        row_));
    }
    if (is_first_block_) require_different_names();
    if (is_first_block_ && repeated_rows_ > 0)
        text_.notes.push_back(
            {NoteKind::helper_rows,
             fmt::format("rows that repeat the one above them are left out: {}", repeated_rows_)});
    is_first_block_ = false;
    row_ = 0;
}

}  // namespace pleat

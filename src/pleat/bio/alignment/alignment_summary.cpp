// Alignment summaries: counting the letters of rows, and what follows from the counts.
#include "pleat/bio/alignment/alignment_summary.h"

#include <algorithm>

#include <fmt/format.h>

#include "pleat/bio/input/text_fields.h"
#include "pleat/core/error.h"

namespace pleat {

namespace {

constexpr std::size_t kMaxFaults = 10;  // as many as Complaints reports

// Kinds of letters, one bit each. The last two are of each alphabet, among all letters or among
// those that are no insertions.
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
        std::uint32_t& bits = table[static_cast<std::size_t>(n)];
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
    row.length += static_cast<Index>(letters.size());
    row.match += static_cast<Index>(letters.size()) - insertions;
}

void AlignmentSummary::compare_insertions(const TextRow& row, std::string_view letters,
                                          std::uint32_t seen) {
    if (!pure_) return;
    if (row.number == 0) {
        for (const char c : letters) insertions_.push_back(is_insertion(c));
        return;
    }
    if (((seen | seen_) & (kLower | kDot)) == 0) return;
    // Beyond the first row: of rows of unequal length nobody asks.
    const std::size_t from = static_cast<std::size_t>(row.length);
    for (std::size_t i = 0; i < letters.size() && from + i < insertions_.size(); ++i) {
        if (is_insertion(letters[i]) == insertions_[from + i]) continue;
        pure_ = false;
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
        const char letter = *std::find_if(letters.begin(), letters.end(),
                                          [n](char c) { return (kinds_of(c) & odd_bit(n)) != 0; });
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
    return pure_ && !is_ragged() && (seen_ & (kLower | kDot)) != 0 && (seen_ & kUpper) != 0;
}

AlignmentFormat AlignmentSummary::fasta_relative(const std::string& file) const {
    const bool has_insertions = (seen_ & (kLower | kDot)) != 0;
    if (!has_insertions || (seen_ & kUpper) == 0) return AlignmentFormat::fasta;
    if (is_ragged()) {
        return other_count_[1] < other_count_[0] ? AlignmentFormat::a3m : AlignmentFormat::fasta;
    }
    if (pure_) return AlignmentFormat::a2m;
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
    if (row_count_ < 2) {
        throw InputError(file, first_line_, "expected at least 2 sequences, found 1");
    }
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

}  // namespace pleat

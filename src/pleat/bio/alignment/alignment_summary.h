// Alignment summary: what decides whether rows of letters are an alignment, counted while they are
// read, so that the rows need not be kept.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pleat/bio/alignment/alignment.h"
#include "pleat/core/view.h"

namespace pleat {

/// In the order of `alignment_formats()`.
enum class AlignmentFormat { fasta, a2m, a3m, stockholm, clustal, psicov, phylip };

/// Letters of modified bases of RNA (Sprinzl et al. 1998, NAR 26:148) that no alphabet of nucleic
/// acids has but D, and their parents.
inline constexpr std::string_view kModifiedBases = "DEFIJLOPQZ", kParentBases = "UANAUGAUGU";

/// What an A2M or A3M drops: residues inserted beside the match columns, and their padding.
inline bool is_insertion(char c) { return (c >= 'a' && c <= 'z') || c == '.'; }

/// Whether only the match columns of a format are columns of the alignment.
inline bool has_match_columns(AlignmentFormat format) {
    return format == AlignmentFormat::a2m || format == AlignmentFormat::a3m;
}

/// A row of letters and gap characters as the file has it.
struct TextRow {
    std::string name;
    std::string letters;     ///< empty if letters are not kept
    Index line = 0;          ///< of the name
    Index number = 0;        ///< from 0
    Index length = 0;        ///< letters read so far
    Index match = 0;         ///< of them those that are no insertions
    std::uint32_t seen = 0;  ///< the kinds of its letters, see alignment_summary.cpp
};

/// Counts of all rows, and the first faults of each kind. Which of them is a fault depends on the
/// format and the alphabet, which are known only at the end.
class AlignmentSummary {
public:
    /// Counts letters from one line of the file that continue `row`.
    void add(TextRow& row, std::string_view letters, Index line);
    /// Compares a whole row with the first one. Call once per row, in their order.
    void close(const TextRow& row);

    /// FASTA, A2M or A3M, detected from the letters of all rows (the rule is in README.md). Throws
    /// InputError if the rows could be A3M as well as FASTA.
    AlignmentFormat fasta_relative(const std::string& file) const;
    /// Whether rows of one length have insertions as A2M writes them: each column is either all
    /// match or all lower case and '.', and there are both.
    bool is_like_a2m() const;
    bool is_ragged() const { return other_count_[0] > 0; }
    /// Nucleic acid if at least 95 % of the letters are A, C, G, T, U or N: RNA if U is at least as
    /// frequent as T and occurs, DNA otherwise. So are 80 % if all others are ambiguity codes. RNA
    /// as well if is_rich_in_uracil(). Else protein.
    const Alphabet& likely_alphabet() const;
    std::pair<Index, Index> letter_counts() const;  ///< all, and A, C, G, T, U and N
    /// How many letters are ambiguity codes, if all letters are codes of nucleic acids; else 0.
    Index ambiguity_codes() const;
    /// How often a character occurs that is no letter.
    Index count_mark(char mark) const { return counts_[static_cast<unsigned char>(mark)]; }
    /// Whether letters that are no codes of nucleic acids stand for modified bases of RNA:
    /// is_rich_in_uracil(), with pseudouridine (P) or inosine (I).
    bool has_modified_bases() const;
    /// How often a letter occurs, in upper or lower case.
    Index count(char upper) const {
        return count_mark(upper) + count_mark(static_cast<char>(upper - 'A' + 'a'));
    }
    /// Throws InputError if the rows are no alignment of this alphabet; `match_only`: lower case
    /// and '.' are no columns; `told`: the alphabet was not named.
    void check(const std::string& file, bool match_only, const Alphabet& alphabet, bool told) const;
    Index width(bool match_only) const { return width_[match_only ? 1 : 0]; }

    /// How errors call a row: "sequence 'name'", or "sequence 3" if the format has no names.
    std::string label(const TextRow& row) const;
    bool named = true;  ///< false: the names were made up by the reader

private:
    struct OtherWidth {
        Index line, found;
        std::string label;
    };
    struct OddLetter {
        Index line;
        char letter;
        std::string label;
    };
    // U is 10 % of the letters and as frequent as T, and those of nucleic acids are 80 %.
    bool is_rich_in_uracil() const;
    void compare_insertions(const TextRow& row, std::string_view letters, std::uint32_t seen);
    void add_odd_letters(const TextRow& row, std::string_view letters, Index line,
                         std::uint32_t fresh);

    std::array<Index, 256> counts_{};
    std::uint32_t seen_ = 0;
    Index row_count_ = 0;
    Index first_line_ = 0;          // of the first row's name
    Index first_letters_line_ = 0;  // and of its first letters
    // With [0] all letters, with [1] those that are no insertions.
    std::array<Index, 2> width_{};                    // of the first row
    std::array<Index, 2> other_count_{};              // rows of another width
    std::array<std::vector<OtherWidth>, 2> other_{};  // the first of them
    std::array<std::map<Index, OddLetter>, 6>
        odd_{};                     // first rows with a letter not in an alphabet
    std::vector<bool> insertions_;  // of the first row, while `pure_`
    bool pure_ = true;              // each column so far is either all match or all insertion
};

}  // namespace pleat

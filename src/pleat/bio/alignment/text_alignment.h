// Text alignments: the readers of formats, the rows of characters that they return, and what is
// counted of them while they are read, so that the rows need not be kept.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pleat/bio/alignment/alignment.h"
#include "pleat/bio/input/byte_source.h"
#include "pleat/core/error.h"
#include "pleat/core/files/text.h"
#include "pleat/core/view.h"

namespace pleat {

/// In the order of `alignment_formats()`.
enum class AlignmentFormat { fasta, a2m, a3m, stockholm, clustal, psicov, phylip };

/// One-letter codes of modified RNA bases (Sprinzl et al. 1998, NAR 26:148) that no nucleic acid
/// alphabet has, except D; and their parent bases.
inline constexpr std::string_view kModifiedBases = "DEFIJLOPQZ", kParentBases = "UANAUGAUGU";

/// What is dropped from A2M and A3M: insertions between match columns, and their padding.
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
    std::uint32_t seen = 0;  ///< the kinds of its letters, see text_alignment.cpp
};

/// Counts over all rows, and the first examples of each possible fault. Whether they are faults
/// depends on the format and the alphabet, which are known only at the end.
class AlignmentSummary {
public:
    /// Counts letters from one line of the file that continue `row`.
    void add(TextRow& row, std::string_view letters, Index line);
    /// Compares a whole row with the first one. Call once per row, in their order.
    void close(const TextRow& row);

    /// Distinguishes FASTA, A2M and A3M by the letters of all rows (rule: README.md). Throws
    /// InputError if the rows fit both A3M and FASTA.
    AlignmentFormat detect_fasta_format(const std::string& file) const;
    /// Whether rows of equal length mark insertions as A2M does: each column is either all match or
    /// all lower case and '.', and both kinds occur.
    bool is_like_a2m() const;
    bool is_ragged() const { return other_count_[0] > 0; }
    /// Returns a nucleic acid alphabet if at least 95 % of the letters are A, C, G, T, U or N, or
    /// 80 % are and all others are ambiguity codes: RNA if U occurs and is at least as frequent as
    /// T, else DNA. Also returns RNA if is_rich_in_uracil(). Else protein.
    const Alphabet& likely_alphabet() const;
    std::pair<Index, Index> letter_counts() const;  ///< all, and A, C, G, T, U and N
    /// How many letters are ambiguity codes, if all letters are codes of nucleic acids; else 0.
    Index ambiguity_codes() const;
    /// How often `mark`, a character that is not a letter, occurs.
    Index count_mark(char mark) const { return counts_[static_cast<unsigned char>(mark)]; }
    /// Whether letters that are no codes of nucleic acids are modified bases of RNA:
    /// is_rich_in_uracil(), with pseudouridine (P) or inosine (I).
    bool has_modified_bases() const;
    /// How often a letter occurs, in upper or lower case.
    Index count(char upper) const {
        return count_mark(upper) + count_mark(static_cast<char>(upper - 'A' + 'a'));
    }
    /// Throws InputError unless the rows are an alignment of this alphabet. `match_only`: lower
    /// case and '.' are not columns; `told`: the alphabet was detected, not named by the user.
    void check(const std::string& file, bool match_only, const Alphabet& alphabet, bool told) const;
    Index width(bool match_only) const { return width_[match_only ? 1 : 0]; }

    /// The name of a row in errors: "sequence 'name'", or "sequence 3" if the format has no names.
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
    // [0]: over all letters; [1]: over letters that are not insertions.
    std::array<Index, 2> width_{};                    // of the first row
    std::array<Index, 2> other_count_{};              // rows of another width
    std::array<std::vector<OtherWidth>, 2> other_{};  // the first of them
    std::array<std::map<Index, OddLetter>, 6>
        odd_{};                     // first rows with a letter not in an alphabet
    std::vector<bool> insertions_;  // of the first row, while `has_pure_columns_`
    bool has_pure_columns_ = true;  // each column so far is either all match or all insertion
};

/// Rows of letters and gap characters, unchanged from the file. Each character must be allowed in
/// some format; `summary` describes all of them.
///
/// Letters are kept as long as the rows take at most `max_kept_bytes`; then they are only counted,
/// so that an input that is refused takes little memory however long it is, and the caller reads
/// the source again. A source that can be read only once is refused instead.
class TextAlignment {
public:
    static constexpr Index kKeepAll = std::numeric_limits<Index>::max();

    /// `max_bytes` bounds the memory that rows, names and letters would take together.
    TextAlignment(const ByteSource& source, Index max_bytes, Index max_kept_bytes);

    void add_row(std::string_view name, Index line);
    /// Appends the letters of one line to one of `rows`; returns their number. Blanks and tabs
    /// between letters are dropped if `blanks` is true; otherwise they are reported.
    Index append(TextRow& row, std::string_view letters, Index line, bool blanks);
    /// Sets `line` to the next line of the requested record; NUL bytes separate records.
    bool next_line(ByteSource& source, std::string_view& line);
    /// Throws if the file has fewer than `record` alignments; notes that it has `count`.
    void end_records(Index count, Index line);
    /// Ends the last row. Throws recorded complaints, and throws if the file has no row; `line`:
    /// the last line.
    void finish(Index line);

    bool keeps_letters() const { return keeps_letters_; }
    Index row_count() const { return row_count_; }

    /// All rows. If letters are not kept, only the current row unless `keeps_names`.
    std::vector<TextRow> rows;
    AlignmentSummary summary;
    Complaints complaints;
    std::string file;
    bool keeps_names = false;      ///< for formats that come back to earlier rows
    Index record = 1;              ///< which alignment of the file is read
    bool record_is_named = false;  ///< the user named it
    std::string reference;         ///< the RF line of Stockholm
    std::string parts;             ///< see Alignment
    Notes notes;

private:
    void count_memory(std::size_t bytes, Index line);
    void keep(std::size_t bytes, Index line);
    void close_rows();

    Index row_count_ = 0;
    Index max_bytes_, max_kept_bytes_;
    Index counted_bytes_ = 0, kept_ = 0;
    bool keeps_letters_ = true;
    bool is_read_once_;
    std::string letters_;  // of a line with blanks
};

/// Joins the blocks of interleaved formats by name. Every block must contain the sequences of the
/// first block, once each, in the same order and with equal numbers of columns. Blank lines within
/// a block are skipped; a row that repeats the one above is skipped with a note.
class Blocks {
public:
    explicit Blocks(TextAlignment& text) : text_(text) { text.keeps_names = true; }
    void add(std::string_view name, std::string_view letters, Index line);
    /// Marks that the block may end at this line.
    void pause(Index line) { possible_end_line_ = line; }
    /// Ends the current block, if any; `line` is the one that ends it.
    void end(Index line);

private:
    void require_different_names();

    TextAlignment& text_;
    bool is_first_block_ = true;
    Index row_ = 0;            // next row of the block
    Index width_ = 0;          // columns of the block
    Index repeated_rows_ = 0;  // rows left out
    std::string last_;         // letters of the row above, which rows without letters do not have
    Index possible_end_line_ = 0;  // a line since the last row at which the block may end; 0: none
};

/// Reads FASTA, A2M or A3M, which share their records and differ in the meaning of letters. In an
/// alignment, HH-suite rows that are not sequences are left out.
void read_fasta(ByteSource& source, TextAlignment& text, bool is_alignment = true);
/// Stockholm 1.0, interleaved or not; `text.reference` becomes the RF line.
void read_stockholm(ByteSource& source, TextAlignment& text);
/// Reads CLUSTAL and similar formats.
void read_clustal(ByteSource& source, TextAlignment& text);
/// PSICOV .aln: one row of letters a line, no names.
void read_psicov(ByteSource& source, TextAlignment& text);

/// Reads PHYLIP, interleaved or sequential, with names of one word or of 10 columns.
void read_phylip(ByteSource& source, TextAlignment& text);

/// Sets `text.parts` to the lengths in ColabFold's first line "#218,310<tab>1,1".
void read_part_lengths(std::string_view line, TextAlignment& text);

/// Whether this character of the RF line marks a column to leave out.
inline bool is_reference_gap(char c) { return c == '.' || c == '-' || c == '_' || c == '~'; }
bool is_phylip_header(std::string_view line);
bool is_stockholm_header(std::string_view line);
bool is_clustal_header(std::string_view line);
/// Letters and gap characters only, apart from blanks around them.
bool is_psicov_row(std::string_view line);

}  // namespace pleat

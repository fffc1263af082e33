// Text alignments: the rows of characters that a reader of a format returns, with their lines in
// the file.
#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "pleat/bio/alignment/alignment_summary.h"
#include "pleat/bio/input/byte_source.h"
#include "pleat/bio/input/text_fields.h"
#include "pleat/core/error.h"
#include "pleat/core/view.h"

namespace pleat {

/// Rows of letters and gap characters as the file has them. Readers check here that every character
/// is one that some format allows; `summary` says what they are together.
///
/// Letters are kept as long as the rows take at most `max_kept_bytes`; then they are only counted,
/// so that an input that is refused takes little memory however long it is, and the caller reads
/// the source again. A source that can be read only once is refused instead.
class TextAlignment {
public:
    static constexpr Index kKeepAll = std::numeric_limits<Index>::max();

    /// `max_bytes` bounds the memory that rows, names and letters would take together.
    TextAlignment(const ByteSource& source, Index max_bytes, Index max_kept_bytes);

    /// Adds a row behind `rows`.
    void add_row(std::string_view name, Index line);
    /// Appends the letters of one line to one of `rows`; returns how many. Blanks and tabs between
    /// letters are dropped when `blanks` says so and complained about otherwise.
    Index append(TextRow& row, std::string_view letters, Index line, bool blanks);
    /// Sets `line` to the next line of the record that is read, of a file that NUL bytes divide.
    bool next_line(ByteSource& source, std::string_view& line);
    /// Throws if the file has fewer than `record` alignments; notes that it has `count`.
    void end_records(Index count, Index line);
    /// Ends the last row. Throws what was complained about, or when the file has no row at all;
    /// `line` is its last line.
    void finish(Index line);

    bool keeps_letters() const { return keeps_letters_; }
    Index row_count() const { return row_count_; }

    /// All rows; without letters only the current one, unless `keeps_names`.
    std::vector<TextRow> rows;
    AlignmentSummary summary;
    Complaints complaints;
    std::string file;
    bool keeps_names = false;   ///< for formats that come back to earlier rows
    Index record = 1;           ///< which alignment of the file is read
    bool names_record = false;  ///< the user named it
    std::string reference;      ///< the RF line of Stockholm
    std::string parts;          ///< see Alignment
    Notes notes;

private:
    void spend(std::size_t bytes, Index line);
    void keep(std::size_t bytes, Index line);
    void close_rows();

    Index row_count_ = 0;
    Index max_bytes_, max_kept_bytes_;
    Index spent_ = 0, kept_ = 0;
    bool keeps_letters_ = true;
    bool is_read_once_;
    std::string letters_;  // of a line with blanks
};

/// Joins the pieces of interleaved formats by name: every block must hold the sequences of the
/// first block, each once and in the same order, all with the same number of columns. Blank lines
/// within a block are passed over, and so is a row that repeats the one above, with a note.
class Blocks {
public:
    explicit Blocks(TextAlignment& text) : text_(text) { text.keeps_names = true; }
    void add(std::string_view name, std::string_view letters, Index line);
    /// Marks that the block may end at this line.
    void pause(Index line) { pause_ = line; }
    /// Ends the current block, if any; `line` is the one that ends it.
    void end(Index line);

private:
    void require_different_names();

    TextAlignment& text_;
    bool first_block_ = true;
    Index row_ = 0;       // next row of the block
    Index width_ = 0;     // columns of the block
    Index repeated_ = 0;  // rows left out
    std::string last_;    // letters of the row above, which rows without letters do not have
    Index pause_ = 0;     // a line since the last row at which the block may end; 0: none
};

}  // namespace pleat

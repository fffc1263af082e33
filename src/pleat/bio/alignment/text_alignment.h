// Text alignments: the rows of characters that a reader of a format returns, with their lines in
// the file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pleat/bio/input/byte_source.h"
#include "pleat/bio/input/text_fields.h"
#include "pleat/core/error.h"
#include "pleat/core/view.h"

namespace pleat {

/// Rows of letters and gap characters as the file has them. Readers check here that every character
/// is one that some format allows; what it means is decided later (read_alignment.cpp).
class TextAlignment {
public:
    struct Row {
        std::string name;
        std::string letters;
        Index line;  ///< of the row's name
    };

    /// `most_bytes` bounds the memory that rows, names and letters may take together.
    TextAlignment(const ByteSource& source, Index most_bytes);

    Index add_row(std::string_view name, Index line);
    /// Appends the letters of one line to a row. Blanks and tabs between letters are dropped when
    /// `blanks` says so and complained about otherwise.
    void append(Index row, std::string_view letters, Index line, bool blanks);

    /// How errors call a row: "sequence 'name'", or "sequence 3" where the format has no names.
    std::string label(Index row) const;
    /// Line of the letter at `offset` of a row.
    Index line_of(Index row, Index offset) const;
    /// Throws when the file has no row at all; `line` is its last line.
    void require_rows(Index line) const;

    std::vector<Row> rows;
    Complaints complaints;
    std::string file;
    bool named = true;  ///< false: the names were made up by the reader

private:
    /// Letters from `offset` on, of that row, stand on that line (until the row's next piece).
    struct Piece {
        Index row, offset, line;
    };
    void spend(std::size_t bytes, Index line);

    std::vector<Piece> pieces_;
    Index most_bytes_;
    Index spent_ = 0;
};

/// Joins the pieces of interleaved formats by name: every block must hold the sequences of the
/// first block, each once and in the same order, all with the same number of columns.
class Blocks {
public:
    explicit Blocks(TextAlignment& text) : text_(text) {}
    void add(std::string_view name, std::string_view letters, Index line);
    /// Ends the current block, if any; `line` is the one that ends it.
    void end(Index line);

private:
    TextAlignment& text_;
    bool first_block_ = true;
    Index row_ = 0;    // next row of the block
    Index width_ = 0;  // columns of the block
};

}  // namespace pleat

// Written alignments: one table of names and rows as the text of each format, for tests.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pleat/bio/alignment/alignment.h"

namespace pleat::testing {

struct Table {
    std::vector<std::string> names;
    std::vector<std::string> rows;  ///< upper case and '-'
};

inline std::string wrapped(std::string_view row, std::size_t width) {
    std::string text;
    for (std::size_t at = 0; at < row.size(); at += width) {
        text += std::string(row.substr(at, width)) + "\n";
    }
    return text;
}

inline std::string as_fasta(const Table& table, std::size_t width) {
    std::string text;
    for (std::size_t n = 0; n < table.rows.size(); ++n) {
        text += ">" + table.names[n] + " a description\n" + wrapped(table.rows[n], width);
    }
    return text;
}

/// Inserts `count` lower-case letters before column n of row n; `padded` (A2M) fills the other rows
/// with '.' there, unpadded is A3M.
inline std::string as_a2m(const Table& table, std::size_t count, bool padded, std::size_t width) {
    std::string text;
    for (std::size_t n = 0; n < table.rows.size(); ++n) {
        std::string row;
        for (std::size_t j = 0; j < table.rows[n].size(); ++j) {
            if (j == n) row += std::string(count, 'a');
            if (j != n && padded && j < table.rows.size()) row += std::string(count, '.');
            row += table.rows[n][j];
        }
        text += ">" + table.names[n] + "\n" + wrapped(row, width);
    }
    return text;
}

inline std::string as_blocks(const Table& table, std::size_t width, std::string_view between) {
    std::string text;
    for (std::size_t at = 0; at < table.rows[0].size(); at += width) {
        for (std::size_t n = 0; n < table.rows.size(); ++n) {
            text += table.names[n] + "    " + table.rows[n].substr(at, width) + "\n";
        }
        text += between;
    }
    return text;
}

inline std::string as_stockholm(const Table& table, std::size_t width) {
    return "# STOCKHOLM 1.0\n#=GF ID family\n#=GS " + table.names[0] + " AC P12345\n\n" +
           as_blocks(table, width, "#=GC SS_cons <<>>\n\n") + "//\n";
}

inline std::string as_clustal(const Table& table, std::size_t width) {
    return "CLUSTAL O(1.2.4) multiple sequence alignment\n\n\n" +
           as_blocks(table, width, "        ** :. *\n\n");
}

inline std::string as_psicov(const Table& table) {
    std::string text;
    for (const std::string& row : table.rows) text += row + "\n";
    return text;
}

/// The rows of an alignment as letters, to compare and to show.
inline std::vector<std::string> rows_of(const Alignment& alignment) {
    std::vector<std::string> rows;
    for (Index n = 0; n < alignment.sequence_count(); ++n) {
        std::string row;
        for (std::uint8_t code : alignment.letters[n]) row += alignment.alphabet->letter(code);
        rows.push_back(row);
    }
    return rows;
}

}  // namespace pleat::testing

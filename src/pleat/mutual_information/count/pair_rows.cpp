// Pair rows: leaving rows out and closing the gaps in the codes.
#include "pleat/mutual_information/count/pair_rows.h"

namespace pleat::mutual_information {

namespace {

/// Bit c: code c of the column is an omitted letter.
std::uint32_t omitted_codes(const Columns& columns, Index column, LetterSet omitted) {
    std::uint32_t codes = 0;
    for (int code = 0; code < columns.symbol_count(column); ++code) {
        const std::uint8_t letter = columns.letters[columns.first_symbol[column] + code];
        if (omitted & letter_set(letter)) codes |= std::uint32_t{1} << code;
    }
    return codes;
}

/// Numbers the codes that occur from 0 on and counts them.
void close_up(std::vector<std::uint8_t>& codes, std::vector<Index>& margin) {
    Index count[32] = {};
    for (const std::uint8_t code : codes) ++count[code];
    std::uint8_t renumbered[32] = {};
    margin.clear();
    for (int code = 0; code < 32; ++code) {
        if (count[code] == 0) continue;
        renumbered[code] = static_cast<std::uint8_t>(margin.size());
        margin.push_back(count[code]);
    }
    for (std::uint8_t& code : codes) code = renumbered[code];
}

}  // namespace

void PairRows::take(const Columns& columns, Index i, Index j, LetterSet omitted) {
    const std::uint32_t out_i = omitted_codes(columns, i, omitted);
    const std::uint32_t out_j = omitted_codes(columns, j, omitted);
    code_i.clear();
    code_j.clear();
    row.clear();
    for (Index at = 0; at < columns.row_count(); ++at) {
        const std::uint8_t a = columns.codes(i, at), b = columns.codes(j, at);
        if ((out_i >> a | out_j >> b) & 1) continue;
        code_i.push_back(a);
        code_j.push_back(b);
        row.push_back(at);
    }
    close_up(code_i, margin_i);
    close_up(code_j, margin_j);
}

}  // namespace pleat::mutual_information

// Columns: counting and ranking the symbols of each column.
#include "pleat/mutual_information/count/columns.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace pleat::mutual_information {

CodedColumns compact_columns(View<const std::uint8_t, 2> letters) {
    const Index rows = letters.extent(0), column_count = letters.extent(1);
    CodedColumns columns;
    columns.codes = Array<std::uint8_t, 2>(column_count, rows);
    columns.first_symbol.push_back(0);
    for (Index column = 0; column < column_count; ++column) {
        std::array<Index, kMaxSymbols> count{};
        for (Index row = 0; row < rows; ++row) ++count[letters(row, column)];
        std::array<std::uint8_t, kMaxSymbols> order;
        std::iota(order.begin(), order.end(), std::uint8_t{0});
        std::stable_sort(order.begin(), order.end(),
                         [&](std::uint8_t a, std::uint8_t b) { return count[a] > count[b]; });
        std::array<std::uint8_t, kMaxSymbols> code{};
        for (int rank = 0; rank < kMaxSymbols && count[order[rank]] > 0; ++rank) {
            code[order[rank]] = static_cast<std::uint8_t>(rank);
            columns.counts.push_back(count[order[rank]]);
            columns.letters.push_back(order[rank]);
        }
        columns.first_symbol.push_back(static_cast<Index>(columns.counts.size()));
        for (Index row = 0; row < rows; ++row)
            columns.codes(column, row) = code[letters(row, column)];
    }
    return columns;
}

double entropy(std::span<const Index> counts, Index rows) {
    // Keeps the precision of sums of p lg(1/p) if one count is nearly all rows.
    double sum = 0;
    for (const Index n : counts) {
        if (n == 0) continue;
        const auto count = static_cast<double>(n), all = static_cast<double>(rows);
        sum += count / all * std::log2(all / count);
    }
    return sum;
}

}  // namespace pleat::mutual_information

// Plain counts: T of pairs and triples row by row, made-up columns, and sums of made-up shuffles.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <random>
#include <span>
#include <vector>

#include "pleat/core/array.h"
#include "pleat/mutual_information/count/columns.h"
#include "pleat/mutual_information/count/statistic.h"
#include "pleat/mutual_information/kernel/kernel.h"

namespace pleat::mutual_information::test {

using Letters = std::vector<std::uint8_t>;

/// Columns given one by one, each with a letter a row.
inline CodedColumns columns_of(const std::vector<Letters>& columns) {
    Array<std::uint8_t, 2> letters(columns[0].size(), columns.size());
    for (std::size_t column = 0; column < columns.size(); ++column)
        for (std::size_t row = 0; row < columns[0].size(); ++row)
            letters(row, column) = columns[column][row];
    return compact_columns(letters);
}

/// A column of `rows` letters below `symbols`, all as frequent or falling off by half.
inline Letters random_column(std::mt19937_64& random, Index rows, int symbols, bool even = true) {
    Letters letters(rows);
    for (std::uint8_t& letter : letters) {
        if (even) {
            letter = static_cast<std::uint8_t>(random() % symbols);
        } else {
            while (letter + 1 < symbols && random() % 2 == 0) ++letter;
        }
    }
    return letters;
}

/// T of the table of these columns' codes.
inline std::int64_t count(const Statistic& statistic,
                          const std::vector<std::span<const std::uint8_t>>& codes) {
    std::vector<std::uint32_t> cells;
    for (std::size_t row = 0; row < codes[0].size(); ++row) {
        std::uint32_t cell = 0;
        for (const auto& column : codes) cell = cell * 32 + column[row];
        cells.push_back(cell);
    }
    std::sort(cells.begin(), cells.end());
    std::int64_t t = 0;
    for (auto at = cells.begin(); at != cells.end();) {
        const auto end = std::upper_bound(at, cells.end(), *at);
        t += statistic.f[end - at];
        at = end;
    }
    return t;
}

inline std::span<const std::uint8_t> codes_of(const CodedColumns& columns, Index column) {
    return {&columns.codes(column, 0), static_cast<std::size_t>(columns.row_count())};
}

inline std::vector<std::int64_t> observe_pairs(const CodedColumns& columns,
                                               const Statistic& statistic) {
    std::vector<std::int64_t> t;
    for (Index i = 0; i < columns.column_count(); ++i)
        for (Index j = i + 1; j < columns.column_count(); ++j)
            t.push_back(count(statistic, {codes_of(columns, i), codes_of(columns, j)}));
    return t;
}

inline std::vector<std::int64_t> observe_triples(const CodedColumns& columns,
                                                 const Statistic& statistic) {
    std::vector<std::int64_t> t;
    for (Index i = 0; i < columns.column_count(); ++i)
        for (Index j = i + 1; j < columns.column_count(); ++j)
            for (Index k = j + 1; k < columns.column_count(); ++k)
                t.push_back(count(
                    statistic, {codes_of(columns, i), codes_of(columns, j), codes_of(columns, k)}));
    return t;
}

/// Adds one shuffle's D = T_shuffled - T_observed to an item's sums, as NullSums says.
inline void add_difference(NullSums& sums, Index item, std::int64_t difference, int shift) {
    sums.less_count[item] += difference < 0;
    sums.equal_count[item] += difference == 0;
    const std::int64_t d = moment_difference(difference, shift), cube = d * d * d;
    sums.first[item] += d;
    sums.second[item] += d * d;
    sums.third_low[item] += cube & 0xffffffff;
    sums.third_high[item] += cube >> 32;
}

}  // namespace pleat::mutual_information::test

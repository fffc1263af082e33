// Random columns: alignments of chosen shape for tests of mutual information.
#pragma once

#include <random>

#include "pleat/mutual_information/count/columns.h"

namespace pleat::mutual_information {

/// Columns of up to `max_symbols` symbols each, from one symbol in all rows to all equally
/// frequent; neighbouring columns are alike, so that pairs and triples share information.
inline CodedColumns random_columns(Index rows, Index columns, int max_symbols, unsigned seed) {
    std::mt19937 random(seed);
    Array<std::uint8_t, 2> letters(rows, columns);
    for (Index c = 0; c < columns; ++c) {
        const int symbols = std::uniform_int_distribution(1, max_symbols)(random);
        const double rare = std::uniform_real_distribution(0.0, 1.0)(random);
        for (Index row = 0; row < rows; ++row) {
            const bool other = std::uniform_real_distribution(0.0, 1.0)(random) < rare;
            int symbol = other ? std::uniform_int_distribution(0, symbols - 1)(random) : 0;
            if (c > 0 && random() % 2 == 0) symbol = letters(row, c - 1) % symbols;
            letters(row, c) = static_cast<std::uint8_t>(symbol);
        }
    }
    return compact_columns(letters);
}

}  // namespace pleat::mutual_information

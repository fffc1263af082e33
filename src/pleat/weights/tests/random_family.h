// Random alignments for tests: families with near and exact copies, of any size and alphabet.
#pragma once

#include <cstdint>
#include <random>

#include "pleat/core/array.h"

namespace pleat::weights {

/// A family of `sequences` x `columns` with codes below `codes`: each sequence is a copy of an
/// earlier one with a random share of its columns drawn anew: none, a few, or all.
inline Array<std::uint8_t, 2> random_family(Index sequences, Index columns, int codes,
                                            std::uint64_t seed) {
    std::mt19937_64 generator(seed);
    const auto below = [&](Index n) {
        return static_cast<Index>(generator() % static_cast<std::uint64_t>(n));
    };
    Array<std::uint8_t, 2> letters(sequences, columns);
    for (Index n = 0; n < sequences; ++n) {
        const Index kind = below(8);
        const bool unrelated = n == 0 || kind == 7;
        const Index parent = n == 0 ? 0 : below(n);
        const Index changed_percent = kind == 0 ? 0 : 5 * kind;
        for (Index i = 0; i < columns; ++i) {
            const bool anew = unrelated || below(100) < changed_percent;
            letters(n, i) = anew ? static_cast<std::uint8_t>(below(codes)) : letters(parent, i);
        }
    }
    return letters;
}

}  // namespace pleat::weights

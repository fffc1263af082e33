// Shuffle: uniform random permutations of a column's symbols, the same on every device.
#pragma once

#include <cstdint>
#include <span>

#include "pleat/core/view.h"

namespace pleat::mutual_information {

/// The words of Philox4x32-10 (Salmon et al., SC 2011) that give the draws of one shuffle. Draw
/// number i of column c in shuffle s is word i % 4 of the block with
///     key = (low, high 32 bits of the seed),
///     counter = (i / 4, c, s, kShufflePurpose + attempt).
constexpr std::uint32_t kShufflePurpose = 0x4d490000;  // "MI"

/// Draw `index` of a shuffle as a uniform integer in [0, range): the high half of word * range. If
/// the low half is below 2^32 mod range, the word of the next attempt is used instead (Lemire, ACM
/// TOMACS 29:3, 2019), so that all values are equally likely.
std::uint32_t bounded_draw(std::uint64_t seed, std::uint32_t shuffle, std::uint32_t column,
                           std::uint32_t index, std::uint32_t range);

/// Permutes a column's symbols uniformly: writes codes in which symbol a stands in margin[a] rows.
///
/// It is the Fisher-Yates shuffle of the column sorted by descending code, so that the most
/// frequent symbol, code 0, comes last. With m rows of other symbols, for i = m - 1, ..., 0 element
/// i is exchanged with element i + bounded_draw(index = i, range = N - i). Elements from m on are
/// equal, hence already in uniform order; each step adds one element to this end.
void shuffle_column(std::span<const Index> margin, std::uint64_t seed, std::uint32_t shuffle,
                    std::uint32_t column, std::span<std::uint8_t> codes);

}  // namespace pleat::mutual_information

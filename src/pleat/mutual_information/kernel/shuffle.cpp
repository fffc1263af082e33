// Shuffle: Philox words as bounded draws, and Fisher-Yates from the first unlike symbol on.
#include "pleat/mutual_information/kernel/shuffle.h"

#include <algorithm>
#include <utility>

#include <Random123/philox.h>

namespace pleat::mutual_information {

namespace {

std::uint32_t word(std::uint64_t seed, std::uint32_t shuffle, std::uint32_t column,
                   std::uint32_t index, std::uint32_t attempt) {
    const r123::Philox4x32::key_type key{
        {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)}};
    const r123::Philox4x32::ctr_type counter{
        {index / 4, column, shuffle, kShufflePurpose + attempt}};
    return r123::Philox4x32()(counter, key)[index % 4];
}

}  // namespace

std::uint32_t bounded_draw(std::uint64_t seed, std::uint32_t shuffle, std::uint32_t column,
                           std::uint32_t index, std::uint32_t range) {
    for (std::uint32_t attempt = 0;; ++attempt) {
        const std::uint64_t product =
            std::uint64_t{word(seed, shuffle, column, index, attempt)} * range;
        // 2^32 mod range is less than range: most words need no division.
        const auto low = static_cast<std::uint32_t>(product);
        if (low >= range || low >= (0u - range) % range)
            return static_cast<std::uint32_t>(product >> 32);
    }
}

void shuffle_column(std::span<const Index> margin, std::uint64_t seed, std::uint32_t shuffle,
                    std::uint32_t column, std::span<std::uint8_t> codes) {
    Index filled = 0;
    for (std::size_t symbol = margin.size(); symbol-- > 0;) {
        std::fill_n(codes.begin() + filled, margin[symbol], static_cast<std::uint8_t>(symbol));
        filled += margin[symbol];
    }
    const auto rows = static_cast<std::uint32_t>(codes.size());
    for (auto i = static_cast<std::uint32_t>(rows - margin[0]); i-- > 0;)
        std::swap(codes[i], codes[i + bounded_draw(seed, shuffle, column, i, rows - i)]);
}

}  // namespace pleat::mutual_information

// Bit planes: packing of distinct sequences.
#include "pleat/weights/kernel.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <string_view>
#include <unordered_map>

#include "pleat/core/loops/parallel.h"

namespace pleat::weights {
namespace {

constexpr Index kWordColumns = 64;

int planes_for(View<const std::uint8_t, 2> letters) {
    std::uint8_t seen = 0;
    for (const std::uint8_t code : letters) seen |= code;
    const int width = std::bit_width(seen);
    return width <= 3 ? 3 : width <= 5 ? 5 : 8;
}

/// The columns, sorted by the probability that two sequences agree in them, lowest first; estimated
/// from at most 1024 evenly spaced sequences. Ties keep their order.
std::vector<Index> order_by_diversity(View<const std::uint8_t, 2> letters) {
    constexpr Index kSample = 1024;
    const Index sequences = letters.extent(0);
    const Index columns = letters.extent(1);
    const Index stride = (sequences + kSample - 1) / kSample;
    std::vector<Index> agreement(static_cast<std::size_t>(columns));
    for (Index i = 0; i < columns; ++i) {
        std::array<Index, 256> count{};
        for (Index n = 0; n < sequences; n += stride) ++count[letters(n, i)];
        agreement[i] = std::inner_product(count.begin(), count.end(), count.begin(), Index{0});
    }
    std::vector<Index> order(static_cast<std::size_t>(columns));
    std::iota(order.begin(), order.end(), Index{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](Index i, Index j) { return agreement[i] < agreement[j]; });
    return order;
}

/// Numbers the distinct rows in the order of their first appearance. Returns the number of each
/// row; `first` gets the first row with each number.
std::vector<Index> number_distinct(View<const std::uint8_t, 2> letters, std::vector<Index>& first) {
    const auto columns = static_cast<std::size_t>(letters.extent(1));
    std::unordered_map<std::string_view, Index> numbers;
    numbers.reserve(static_cast<std::size_t>(letters.extent(0)));
    std::vector<Index> number(static_cast<std::size_t>(letters.extent(0)));
    for (Index n = 0; n < letters.extent(0); ++n) {
        const std::string_view row(reinterpret_cast<const char*>(letters[n].data), columns);
        const auto [entry, is_new] = numbers.emplace(row, static_cast<Index>(first.size()));
        if (is_new) first.push_back(n);
        number[n] = entry->second;
    }
    return number;
}

/// Gathers bit `plane` of eight codes into one byte, the first code lowest: the product moves bit
/// 8 k to bit 56 + k, and no two terms overlap, so nothing carries.
std::uint64_t gather_plane(std::uint64_t eight_codes, int plane) {
    constexpr std::uint64_t kLowBits = 0x0101010101010101;
    constexpr std::uint64_t kGather = 0x0102040810204080;
    return (((eight_codes >> plane) & kLowBits) * kGather) >> 56;
}

std::uint64_t little_endian_word(const std::uint8_t* bytes) {
    std::uint64_t word = 0;
    for (int k = 0; k < 8; ++k) word |= std::uint64_t{bytes[k]} << (8 * k);
    return word;
}

/// Packs the rows of one group into `bits` [word, plane, sequence in the group].
void pack_group(View<const std::uint8_t, 2> letters, View<const Index, 1> rows,
                const std::vector<Index>& order, View<std::uint64_t, 3> bits) {
    const Index words = bits.extents[0], planes = bits.extents[1];
    std::vector<std::uint8_t> row(static_cast<std::size_t>(words * kWordColumns), 0);
    for (Index lane = 0; lane < rows.size(); ++lane) {
        const std::uint8_t* source = &letters(rows(lane), 0);
        std::uint8_t* to = row.data();
        for (const Index column : order) *to++ = source[column];
        for (Index byte = 0; byte < words * 8; ++byte) {
            const std::uint64_t codes = little_endian_word(row.data() + 8 * byte);
            for (Index p = 0; p < planes; ++p) {
                bits(byte / 8, p, lane) |= gather_plane(codes, static_cast<int>(p))
                                           << (8 * (byte % 8));
            }
        }
    }
}

}  // namespace

BitPlanes pack(View<const std::uint8_t, 2> letters, int threads) {
    constexpr Index kGroup = BitPlanes::kGroup;
    const Index columns = letters.extent(1);
    const Index words = (columns + kWordColumns - 1) / kWordColumns;
    const int planes = planes_for(letters);

    BitPlanes packed;
    std::vector<Index> first;
    packed.distinct = number_distinct(letters, first);
    const Index groups = (static_cast<Index>(first.size()) + kGroup - 1) / kGroup;
    packed.bits = Array<std::uint64_t, 4>(groups, words, planes, kGroup);
    packed.multiplicity = Array<std::uint64_t, 2>(groups, kGroup);
    for (const Index u : packed.distinct) ++packed.multiplicity(u / kGroup, u % kGroup);

    const std::vector<Index> order = order_by_diversity(letters);
    parallel_for(threads, groups, [&](Index group, int) {
        const Index from = group * kGroup, left = static_cast<Index>(first.size()) - from;
        pack_group(letters, {first.data() + from, std::min(kGroup, left)}, order,
                   packed.bits[group]);
    });
    return packed;
}

}  // namespace pleat::weights

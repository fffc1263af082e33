// Shuffled planes: Philox, Fisher-Yates and bit planes of eight shuffles at a time, vectorised.
#include "pleat/mutual_information/kernel/shuffled_planes.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "pleat/core/loops/parallel.h"
#include "pleat/mutual_information/kernel/shuffle.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pleat/mutual_information/kernel/shuffled_planes.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace pleat::mutual_information::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Words = hn::CappedTag<std::uint64_t, kLanes>;
using Vector = hn::Vec<Words>;

/// The product of the low 32 bits of each lane. A template, so that the second branch is not
/// compiled for the scalar target, which cannot split a lane.
template <class V>
HWY_INLINE V low_product(V a, V b) {
    if constexpr (HWY_TARGET == HWY_SCALAR) {
        return V((a.raw & 0xffffffffu) * (b.raw & 0xffffffffu));
    } else {
        const hn::Repartition<std::uint32_t, hn::DFromV<V>> halves;
        return hn::MulEven(hn::BitCast(halves, a), hn::BitCast(halves, b));
    }
}

/// Philox4x32-10 (Salmon et al., SC 2011) of the counters (c0, c1, c2, c3), one word in the low
/// half of each lane; the high halves never affect the low ones.
HWY_INLINE void philox(Vector& c0, Vector& c1, Vector& c2, Vector& c3, std::uint64_t seed) {
    const Words d;
    const Vector factor0 = hn::Set(d, 0xD2511F53u), factor1 = hn::Set(d, 0xCD9E8D57u);
    auto key0 = static_cast<std::uint32_t>(seed), key1 = static_cast<std::uint32_t>(seed >> 32);
    for (int round = 0; round < 10; ++round) {
        const Vector p0 = low_product(c0, factor0), p1 = low_product(c2, factor1);
        c0 = hn::Xor(hn::ShiftRight<32>(p1), hn::Xor(c1, hn::Set(d, key0)));
        c2 = hn::Xor(hn::ShiftRight<32>(p0), hn::Xor(c3, hn::Set(d, key1)));
        c1 = p1;
        c3 = p0;
        key0 += 0x9E3779B9u;
        key1 += 0xBB67AE85u;
    }
}

/// bounded_draw() for the lanes' shuffles `first` + lane, the draws 4 block, ..., 4 block + 3.
void draw_block(std::uint64_t seed, std::uint32_t first, std::uint32_t column, std::uint32_t block,
                std::uint32_t rows, std::uint32_t* HWY_RESTRICT draws) {
    const Words d;
    const auto lanes = static_cast<Index>(hn::Lanes(d));
    const Vector low_half = hn::Set(d, 0xffffffffu);
    HWY_ALIGN std::uint64_t values[kLanes];
    for (Index lane = 0; lane < kLanes; lane += lanes) {
        const auto shuffle = first + static_cast<std::uint32_t>(lane);
        Vector word[4] = {hn::Set(d, block), hn::Set(d, column), hn::Iota(d, shuffle),
                          hn::Set(d, kShufflePurpose)};
        philox(word[0], word[1], word[2], word[3], seed);
        for (std::uint32_t i = 0; i < 4; ++i) {
            const std::uint32_t index = 4 * block + i;
            if (index >= rows) break;
            const std::uint32_t range = rows - index;
            const Vector product = low_product(word[i], hn::Set(d, range));
            hn::Store(hn::ShiftRight<32>(product), d, values);
            for (Index at = 0; at < lanes; ++at)
                draws[i * kLanes + lane + at] = static_cast<std::uint32_t>(values[at]);
            // Only these words, a few in a million, may need another draw.
            if (hn::AllFalse(d, hn::Lt(hn::And(product, low_half), hn::Set(d, range)))) continue;
            for (Index at = 0; at < lanes; ++at)
                draws[i * kLanes + lane + at] = bounded_draw(
                    seed, shuffle + static_cast<std::uint32_t>(at), column, index, range);
        }
    }
}

/// Turns a row of codes (padded with 0 to whole words) into bits, `stride` words apart.
void pack(const std::uint8_t* HWY_RESTRICT codes, Index words, int symbols,
          std::uint64_t* HWY_RESTRICT bits) {
    const hn::CappedTag<std::uint8_t, 64> d;
    const auto lanes = static_cast<Index>(hn::Lanes(d));
    for (int symbol = 1; symbol < symbols; ++symbol) {
        const auto wanted = hn::Set(d, static_cast<std::uint8_t>(symbol));
        for (Index word = 0; word < words; ++word) {
            std::uint64_t found = 0;
            for (Index at = 0; at < 64; at += lanes) {
                std::uint8_t mask[8] = {};
                hn::StoreMaskBits(d, hn::Eq(hn::Load(d, codes + 64 * word + at), wanted), mask);
                std::uint64_t mask_bits = 0;
                std::memcpy(&mask_bits, mask, sizeof mask_bits);
                found |= mask_bits << at;
            }
            bits[((symbol - 1) * words + word) * kLanes] = found;
        }
    }
}

/// One column for one group of shuffles; `codes` has room for kLanes rows of 64 `words` bytes,
/// `draws` for kLanes numbers per row.
void shuffle_group(const CodedColumns& columns, Index column, Index words, std::uint64_t seed,
                   std::uint32_t first, std::uint8_t* HWY_RESTRICT codes,
                   std::uint32_t* HWY_RESTRICT draws, std::uint64_t* HWY_RESTRICT bits) {
    const std::span<const Index> margin = columns.margin(column);
    const auto rows = static_cast<std::uint32_t>(columns.row_count());
    const auto unlike = static_cast<std::uint32_t>(rows - margin[0]);
    for (std::uint32_t block = 0; 4 * block < unlike; ++block)
        draw_block(seed, first, static_cast<std::uint32_t>(column), block, rows,
                   draws + 4 * block * kLanes);
    const Index stride = 64 * words;
    std::fill_n(codes, stride, std::uint8_t{0});
    Index filled = 0;
    for (std::size_t symbol = margin.size(); symbol-- > 1;) {
        std::fill_n(codes + filled, margin[symbol], static_cast<std::uint8_t>(symbol));
        filled += margin[symbol];
    }
    for (Index lane = 1; lane < kLanes; ++lane) std::copy_n(codes, stride, codes + lane * stride);
    // Eight chains of exchanges at a time hide their latency.
    for (std::uint32_t i = unlike; i-- > 0;) {
        for (Index lane = 0; lane < kLanes; ++lane) {
            std::uint8_t* const at = codes + lane * stride + i;
            std::swap(*at, at[draws[i * kLanes + lane]]);
        }
    }
    for (Index lane = 0; lane < kLanes; ++lane)
        pack(codes + lane * stride, words, static_cast<int>(margin.size()), bits + lane);
}

}  // namespace pleat::mutual_information::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pleat::mutual_information {
namespace {

HWY_EXPORT(shuffle_group);

}  // namespace

PlaneLayout::PlaneLayout(const CodedColumns& all, Block first, Block second)
    : words((all.row_count() + 63) / 64),
      first_bit_plane(all.column_count(), -1),
      position(all.column_count(), -1) {
    for (const Block& block : {first, second}) {
        for (Index column = block.first; column < block.first + block.count; ++column) {
            if (first_bit_plane[column] >= 0) continue;
            first_bit_plane[column] = planes;
            position[column] = static_cast<Index>(columns.size());
            columns.push_back(column);
            planes += all.symbol_count(column) - 1;
        }
    }
}

void shuffle_planes(const CodedColumns& columns, const PlaneLayout& layout, std::uint64_t seed,
                    Index first, Index groups, int threads, std::uint64_t* bits,
                    std::uint8_t* codes) {
    const Index words = layout.words, group_words = layout.planes * words * kLanes;
    const auto count = static_cast<Index>(layout.columns.size());
    Array<std::uint8_t, 2> work(Index{threads},
                                codes == nullptr ? kLanes * layout.code_bytes() : 0);
    Array<std::uint32_t, 2> draws(Index{threads}, kLanes * (columns.row_count() + 4));
    parallel_for(threads, count * groups, [&](Index task, int thread) {
        const Index group = task / count, column = layout.columns[task % count];
        std::uint8_t* const column_codes =
            codes == nullptr ? work[thread].data : codes + task * kLanes * layout.code_bytes();
        HWY_DYNAMIC_DISPATCH(shuffle_group)
        (columns, column, words, seed, static_cast<std::uint32_t>(first + group * kLanes),
         column_codes, draws[thread].data,
         bits + group * group_words + layout.first_bit_plane[column] * words * kLanes);
    });
}

}  // namespace pleat::mutual_information
#endif

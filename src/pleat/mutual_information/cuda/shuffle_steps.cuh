// Shuffle steps: bit planes on a GPU, and shuffles of them.
#pragma once

#include <Random123/philox.h>

#include <cstdint>

#include "pleat/mutual_information/cuda/cuda_layout.h"
#include "pleat/mutual_information/kernel/shuffle.h"

namespace pleat::mutual_information::cuda {

/// [arrangement][plane][word]: bit planes of columns in several arrangements of the rows. Bit r of
/// word w of a plane is set if row 32 w + r has the plane's symbol.
struct PlaneSet {
    std::uint32_t* bits = nullptr;
    const std::int32_t* first_bit_plane = nullptr;  ///< [position + 1], of the columns in it
    Index arrangement_stride = 0, stride = 0;       ///< words between arrangements, and planes

    __device__ std::uint32_t* plane_words(Index arrangement, Index position) const {
        return bits + arrangement * arrangement_stride + first_bit_plane[position] * stride;
    }
};

/// Four words copied at once.
struct alignas(16) FourWords {
    std::uint32_t words[4];
};

/// A mask with one bit for each row in a word, if `left` rows remain.
__device__ __forceinline__ std::uint32_t valid_rows(Index left) {
    return left >= kWordRows ? ~0u : left <= 0 ? 0 : (1u << left) - 1;
}

/// Columns to arrange, and their positions in a set of planes.
struct ArrangeTask {
    const std::uint8_t* codes;   ///< [column, row]
    const std::int32_t* order;   ///< [arrangement, row]: row of the alignment; null: unchanged
    const std::int32_t* column;  ///< [position]; null: column `position`
    const std::int32_t* planes;  ///< [column]
    Index rows, positions;
};

/// Writes planes of the alignment's own rows. One warp per column (blockIdx.x)
/// and arrangement (blockIdx.y).
static __global__ void __launch_bounds__(kLanes) arrange_columns(ArrangeTask task, PlaneSet to) {
    const int lane = static_cast<int>(threadIdx.x);
    const Index position = blockIdx.x, arrangement = blockIdx.y;
    const Index column = task.column == nullptr ? position : task.column[position];
    const int planes = task.planes[column];
    const int with_empty = to.first_bit_plane[position + 1] - to.first_bit_plane[position];
    const std::int32_t* order =
        task.order == nullptr ? nullptr : task.order + arrangement * task.rows;
    std::uint32_t* word = to.plane_words(arrangement, position) + lane * to.stride;
    for (Index first = 0; first < task.rows; first += kWordRows, ++word) {
        const Index row = first + lane;
        int code = kMaxSymbols;
        if (row < task.rows)
            code = task.codes[column * task.rows + (order == nullptr ? row : order[row])];
        std::uint32_t mine = 0;
        for (int a = 0; a < planes; ++a) {
            const std::uint32_t plane = __ballot_sync(~0u, code == a);
            mine = lane == a ? plane : mine;
        }
        if (lane < with_empty) *word = mine;
    }
}

/// The codes of a column in 32 shuffles, one per lane. A word has four rows, and the words of a
/// row's lanes are side by side, so that each lane uses its own bank of shared memory for any row.
struct LaneCodes {
    std::uint32_t* words;  ///< [row / 4][lane]
    int lane;

    /// Words for all lanes; rows are padded to whole words of a plane.
    __host__ __device__ static Index size(Index rows) {
        return (rows + kWordRows - 1) / kWordRows * (kWordRows / 4) * kLanes;
    }
    __device__ unsigned char& at(std::uint32_t row) const {
        auto* bytes = reinterpret_cast<unsigned char*>(words + lane);
        return bytes[static_cast<std::size_t>(row & ~3u) * kLanes + (row & 3u)];
    }
    __device__ std::uint32_t four(Index row) const { return words[row / 4 * kLanes + lane]; }
};

/// The random numbers for one shuffle of one column, as defined in shuffle.h.
struct Draws {
    std::uint64_t seed;
    std::uint32_t shuffle, column;

    __device__ r123::Philox4x32::ctr_type block(std::uint32_t number, std::uint32_t attempt) const {
        const r123::Philox4x32::ctr_type counter{
            {number, column, shuffle, kShufflePurpose + attempt}};
        const r123::Philox4x32::key_type key{
            {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)}};
        return r123::Philox4x32()(counter, key);
    }
    /// Random number `index` as an integer in [0, range); `word` is its first random word.
    __device__ std::uint32_t bounded(std::uint32_t word, std::uint32_t index,
                                     std::uint32_t range) const {
        std::uint64_t product = std::uint64_t{word} * range;
        for (std::uint32_t attempt = 1; static_cast<std::uint32_t>(product) < range; ++attempt) {
            if (static_cast<std::uint32_t>(product) >= (0u - range) % range) break;
            const r123::Philox4x32::ctr_type words = block(index / 4, attempt);
            product = std::uint64_t{words.v[index % 4]} * range;
        }
        return static_cast<std::uint32_t>(product >> 32);
    }
};

/// Fills a lane's codes as shuffle_column() does, and zeros behind the last row.
__device__ inline void shuffle_codes(const std::uint32_t* margin, int symbols, std::uint32_t rows,
                                     const Draws& draws, const LaneCodes& codes) {
    std::uint32_t filled = 0;
    for (int symbol = symbols - 1; symbol > 0; --symbol) {
        for (const std::uint32_t last = filled + margin[symbol]; filled < last; ++filled)
            codes.at(filled) = static_cast<unsigned char>(symbol);
    }
    const std::uint32_t unlike = filled;
    for (; filled < rows || filled % kWordRows != 0; ++filled) codes.at(filled) = 0;
    for (std::uint32_t four = (unlike + 3) / 4; four-- > 0;) {
        const r123::Philox4x32::ctr_type words = draws.block(four, 0);
#pragma unroll
        for (int k = 3; k >= 0; --k) {
            const std::uint32_t i = 4 * four + static_cast<std::uint32_t>(k);
            if (i >= unlike) continue;
            const std::uint32_t other = i + draws.bounded(words.v[k], i, rows - i);
            const unsigned char code = codes.at(i), met = codes.at(other);
            codes.at(i) = met;
            codes.at(other) = code;
        }
    }
}

/// Bit r of the result is bit `bit` of the code of row `first_row` + r.
__device__ __forceinline__ std::uint32_t gather_code_bit(const std::uint32_t (&fours)[8], int bit) {
    std::uint32_t gathered = 0;
#pragma unroll
    for (int k = 0; k < 8; ++k) {
        // The product moves the lowest bit of byte b to bit 24 + b; the terms do not overlap.
        const std::uint32_t bits = ((fours[k] >> bit & 0x01010101u) * 0x01020408u) >> 24;
        gathered |= bits << (4 * k);
    }
    return gathered;
}

constexpr int kCodeBits = 5;

/// Writes four words of each plane of a column, from `first_word` on: bit r of a word of plane a is
/// whether row r of the word has the code a.
__device__ __forceinline__ void write_planes(const LaneCodes& codes, Index rows, Index first_word,
                                             int planes, int code_bits, std::uint32_t* to,
                                             Index stride) {
    std::uint32_t bits[4][kCodeBits], valid[4];
#pragma unroll
    for (int w = 0; w < 4; ++w) {
        const Index row = (first_word + w) * kWordRows;
        valid[w] = valid_rows(rows - row);
        std::uint32_t fours[8];
#pragma unroll
        for (int k = 0; k < 8; ++k) fours[k] = row < rows ? codes.four(row + 4 * k) : 0;
#pragma unroll
        for (int bit = 0; bit < kCodeBits; ++bit)
            bits[w][bit] = bit < code_bits ? gather_code_bit(fours, bit) : 0;
    }
    for (int a = 0; a < planes; ++a) {
        FourWords plane;
#pragma unroll
        for (int w = 0; w < 4; ++w) {
            plane.words[w] = valid[w];
#pragma unroll
            for (int bit = 0; bit < kCodeBits; ++bit)
                plane.words[w] &= (a >> bit & 1) != 0 ? bits[w][bit] : ~bits[w][bit];
        }
        *reinterpret_cast<FourWords*>(to + a * stride + first_word) = plane;
    }
}

/// The margins of all columns.
struct ColumnTable {
    const std::int32_t* first_symbol;  ///< [column + 1]
    const std::uint32_t* margin;       ///< [symbol]
    const std::int32_t* planes;        ///< [column]
    Index columns, rows;
};

/// Shuffles every column for `groups` groups of shuffles, starting with shuffle `first`; each
/// shuffle is an arrangement of planes. A CTA of one warp shuffles a column of a group at a time.
/// Its codes are in shared memory, or, if a column has too many rows, in `scratch`,
/// LaneCodes::size() words per CTA.
template <bool kInShared>
__global__ void __launch_bounds__(kLanes)
    shuffle_columns(ColumnTable table, std::uint64_t seed, std::uint32_t first, Index groups,
                    std::uint32_t* scratch, PlaneSet to) {
    PLEAT_DYNAMIC_SHARED(std::uint32_t, shared_words);
    const int lane = static_cast<int>(threadIdx.x);
    const LaneCodes codes{
        kInShared ? shared_words : scratch + blockIdx.x * LaneCodes::size(table.rows), lane};
    for (Index task = blockIdx.x; task < table.columns * groups; task += gridDim.x) {
        const Index column = task % table.columns, group = task / table.columns;
        const int symbol = table.first_symbol[column];
        const int symbols = table.first_symbol[column + 1] - symbol;
        const auto shuffle = first + static_cast<std::uint32_t>(group * kLanes + lane);
        const Draws draws{seed, shuffle, static_cast<std::uint32_t>(column)};
        shuffle_codes(table.margin + symbol, symbols, static_cast<std::uint32_t>(table.rows), draws,
                      codes);
        int code_bits = 0;
        while ((symbols - 1) >> code_bits != 0) ++code_bits;
        std::uint32_t* to_column = to.plane_words(group * kLanes + lane, column);
        for (Index word = 0; word * kWordRows < table.rows; word += 4)
            write_planes(codes, table.rows, word, table.planes[column], code_bits, to_column,
                         to.stride);
    }
}

}  // namespace pleat::mutual_information::cuda

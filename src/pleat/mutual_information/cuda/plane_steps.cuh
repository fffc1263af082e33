// Plane steps: bit planes on a GPU, their layout, and those of the alignment itself.
#pragma once

#include <cstdint>

#include "pleat/mutual_information/cuda/cuda_layout.h"

namespace pleat::mutual_information::cuda {

/// Bit planes of columns in several arrangements of their rows: bit r of word w of a plane is
/// whether row 32 w + r has the plane's symbol: [arrangement][plane][word].
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

/// The mask of the bits of a word that are rows, if `left` rows are left.
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

}  // namespace pleat::mutual_information::cuda

// Bit planes on a GPU: where they lie, and those of the alignment itself.
#pragma once

#include <cstdint>

#include "pleat/mutual_information/cuda/cuda_layout.h"

namespace pleat::mutual_information::cuda {

/// Bit planes of columns in several arrangements of their rows: bit r of word w of a plane is
/// whether row 32 w + r has the plane's symbol. [slot][plane][word], a slot being an arrangement.
struct PlaneSet {
    std::uint32_t* bits = nullptr;
    const std::int32_t* first_plane = nullptr;  ///< [place + 1], of the columns in it
    Index slot = 0, stride = 0;  ///< words from a slot, and from a plane, to the next

    __device__ std::uint32_t* start(Index number, Index place) const {
        return bits + number * slot + first_plane[place] * stride;
    }
};

/// Four words that are copied at once.
struct alignas(16) FourWords {
    std::uint32_t words[4];
};

/// The bits of a word that are rows, where `left` rows are left.
__device__ __forceinline__ std::uint32_t valid_rows(Index left) {
    return left >= kWordRows ? ~0u : left <= 0 ? 0 : (1u << left) - 1;
}

/// What to arrange: columns at places of a set of planes, in so many arrangements.
struct ArrangeTask {
    const std::uint8_t* codes;   ///< [column, row]
    const std::int32_t* order;   ///< [slot, row]: the row of the alignment there; null: as they are
    const std::int32_t* column;  ///< [place]; null: column `place`
    const std::int32_t* planes;  ///< [column]
    Index rows, places;
};

/// Writes planes of the alignment's own rows. One warp a column (blockIdx.x) and slot (blockIdx.y).
static __global__ void __launch_bounds__(kLanes) arrange_columns(ArrangeTask task, PlaneSet to) {
    const int lane = static_cast<int>(threadIdx.x);
    const Index place = blockIdx.x, slot = blockIdx.y;
    const Index column = task.column == nullptr ? place : task.column[place];
    const int planes = task.planes[column];
    const int with_empty = to.first_plane[place + 1] - to.first_plane[place];
    const std::int32_t* order = task.order == nullptr ? nullptr : task.order + slot * task.rows;
    std::uint32_t* word = to.start(slot, place) + lane * to.stride;
    for (Index first = 0; first < task.rows; first += kWordRows, ++word) {
        const Index row = first + lane;
        int code = kMostSymbols;
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

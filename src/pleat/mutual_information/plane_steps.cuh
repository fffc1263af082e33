// Bit planes on a GPU: those of the alignment itself, and those of shuffles cut by column i's
// symbols.
#pragma once

#include <cstdint>

#include "pleat/mutual_information/plane_set.cuh"

namespace pleat::mutual_information::cuda {

/// The planes of the columns of a set in one arrangement, row order[r] of the alignment as row r
/// (null: as they are), the same for all lanes. One warp a column.
__global__ void __launch_bounds__(kLanes)
    arrange_columns(const std::uint8_t* codes, Index rows, const std::int32_t* order,
                    const std::int32_t* first_plane, PlaneSet to) {
    const int lane = static_cast<int>(threadIdx.x);
    const Index column = to.columns.column(blockIdx.x);
    const int planes = first_plane[column + 1] - first_plane[column];
    std::uint32_t* word = to.start(first_plane, 0, column) + lane;
    for (Index first = 0; first < rows; first += kWordRows, word += planes * kLanes) {
        const Index row = first + lane;
        int code = kMostSymbols;
        if (row < rows) code = codes[column * rows + (order == nullptr ? row : order[row])];
        for (int a = 0; a < planes; ++a) word[a * kLanes] = __ballot_sync(~0u, code == a);
    }
}

constexpr int kSliceWarps = 4;

/// What to slice: `from` has planes of all rows for groups from `first_group` on.
struct SliceTask {
    PlaneSet from;
    Index first_group;
    const std::int32_t* first_plane;
    Index after;  ///< columns up to this one are left out
    Slices slices;
};

/// Cuts planes into the rows of each slice, moved to begin with a word, so that counting needs no
/// masks. A symbol that has less than two rows of the slice in every shuffle of the group gets no
/// plane there: no cell of it counts. One warp a column of a group; blockIdx.y is the group.
__global__ void __launch_bounds__(kLanes* kSliceWarps)
    slice_planes(SliceTask task, PlaneSet to, PlaneCounts kept) {
    const int lane = static_cast<int>(threadIdx.x);
    const Index place = static_cast<Index>(blockIdx.x) * kSliceWarps + threadIdx.y;
    if (place >= to.columns.size()) return;
    const Index column = to.columns.column(place), group = blockIdx.y;
    if (column <= task.after) return;
    const int planes = task.first_plane[column + 1] - task.first_plane[column];
    const Index stride = planes * kLanes;
    const std::uint32_t* from =
        task.from.start(task.first_plane, task.first_group + group, column) + lane;
    std::uint32_t* const out = to.start(task.first_plane, group, column) + lane;
    std::int32_t* const counts = kept.of(group, place);
    for (int s = 0; s < task.slices.count; ++s) {
        const Index first = task.slices.first_row[s], rows = task.slices.rows[s];
        const Index words = task.slices.first_word[s + 1] - task.slices.first_word[s];
        const auto shift = static_cast<unsigned>(first % kWordRows);
        const std::uint32_t* const source = from + first / kWordRows * stride;
        const Index last_source = task.from.words - 1 - first / kWordRows;
        std::uint32_t* const slice = out + task.slices.first_word[s] * stride;
        int count = 0;
        for (int a = 0; a < planes; ++a) {
            int rows_of_symbol = 0;
            for (Index word = 0; word < words; ++word) {
                const std::uint32_t low = source[word * stride + a * kLanes];
                const std::uint32_t high =
                    word < last_source ? source[(word + 1) * stride + a * kLanes] : 0;
                const std::uint32_t bits =
                    __funnelshift_r(low, high, shift) & valid_rows(rows - word * kWordRows);
                slice[word * stride + count * kLanes] = bits;
                rows_of_symbol += __popc(bits);
            }
            // A plane that is not kept is written over by the next one.
            count += __any_sync(~0u, rows_of_symbol >= 2) != 0;
        }
        if (lane == 0) counts[s] = count;
    }
}

}  // namespace pleat::mutual_information::cuda

// Sets of bit planes on a GPU: which columns they are of, and where each begins.
#pragma once

#include <cstdint>

#include "pleat/mutual_information/cuda_layout.h"

namespace pleat::mutual_information::cuda {

/// The columns of up to two runs, in order; the second run begins behind the first one's end.
struct ColumnSet {
    Index first[2] = {}, count[2] = {};
    Index first_plane[2] = {};  ///< of a run among the planes of all columns
    Index run_planes[2] = {};

    __host__ __device__ Index size() const { return count[0] + count[1]; }
    __host__ __device__ Index planes() const { return run_planes[0] + run_planes[1]; }
    __host__ __device__ Index column(Index place) const {
        return place < count[0] ? first[0] + place : first[1] + place - count[0];
    }
    __host__ __device__ bool is_in_second(Index column) const {
        return column >= first[0] + count[0];
    }
    __host__ __device__ Index place(Index column) const {
        return is_in_second(column) ? count[0] + column - first[1] : column - first[0];
    }
    /// Where a plane lies in the set, by its number among the planes of all columns.
    __host__ __device__ Index plane(Index column, Index number) const {
        return is_in_second(column) ? run_planes[0] + number - first_plane[1]
                                    : number - first_plane[0];
    }
};

/// Bit planes of the columns of a set for groups of 32 arrangements of their rows: bit r of a word
/// is whether row r of the word has the plane's symbol. [group][column][word][plane of the
/// column][lane].
struct PlaneSet {
    std::uint32_t* bits = nullptr;
    ColumnSet columns;
    Index words = 0;  ///< of a plane

    __host__ __device__ Index group_size() const { return columns.planes() * words * kLanes; }
    __device__ std::uint32_t* start(const std::int32_t* first_plane, Index group,
                                    Index column) const {
        const Index plane = columns.plane(column, first_plane[column]);
        return bits + group * group_size() + plane * words * kLanes;
    }
};

/// How many planes of a column are counted in a slice: the first ones. [group][place][slice].
struct PlaneCounts {
    std::int32_t* counts = nullptr;
    Index group_stride = 0;  ///< 0: every group has the same
    int slices = 1;

    __device__ std::int32_t* of(Index group, Index place) const {
        return counts + group * group_stride + place * slices;
    }
};

/// The bits of a word that are rows, where `left` rows are left.
__device__ __forceinline__ std::uint32_t valid_rows(Index left) {
    return left >= kWordRows ? ~0u : (1u << left) - 1;
}

}  // namespace pleat::mutual_information::cuda

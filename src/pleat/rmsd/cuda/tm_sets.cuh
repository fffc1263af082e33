// TM sets: the sets of atoms that the search of one pair reached, as bits, and a hash table of
// them.
#pragma once

#include <cstdint>

#include "pleat/core/view.h"

namespace pleat::rmsd::cuda {

constexpr int kTmThreads = 32;  ///< one warp searches a pair
constexpr int kTmItems = 2;     ///< superpositions of a thread
constexpr int kTmBatch = kTmThreads * kTmItems;

/// The sets of one warp, in the order in which they were found.
struct TmSets {
    std::uint32_t* bits;       ///< [word of 32 atoms][position]
    std::int32_t* table;       ///< positions plus 1; 0: free
    int words, capacity;       ///< of positions; the last kTmBatch are for candidates
    unsigned mask;             ///< table size, a power of two, less 1
    int first = 0, count = 0;  ///< of the sets that are superposed in this round
    int end = 0;               ///< sets of the next round end here

    __device__ std::uint32_t& word(int n, int position) const {
        return bits[static_cast<Index>(n) * capacity + position];
    }
    __device__ int room() const { return capacity - kTmBatch - end; }

    __device__ void clear_table() const {
        for (unsigned n = threadIdx.x; n <= mask; n += kTmThreads) table[n] = 0;
        __syncwarp();
    }

    /// The sets found since the last call are to be superposed now. Makes room for as many again:
    /// if there is none, the sets of earlier rounds are forgotten, which may only cost time.
    __device__ void next_round() {
        first += count;
        count = end - first;
        if (room() >= count) return;
        for (int from = 0; from < count; from += kTmThreads) {
            const int position = from + static_cast<int>(threadIdx.x);
            for (int n = 0; n < words; ++n) {
                const std::uint32_t some = position < count ? word(n, first + position) : 0;
                __syncwarp();
                if (position < count) word(n, position) = some;
            }
        }
        first = 0;
        end = count;
        clear_table();
    }

    __device__ bool are_equal(int one, int other) const {
        for (int n = 0; n < words; ++n)
            if (word(n, one) != word(n, other)) return false;
        return true;
    }

    /// Keeps those candidates, at positions behind `end`, that are not among the sets. All threads
    /// call it, with positions in their order or, without a candidate, with `is_valid` false.
    __device__ void insert(bool is_valid, int candidate, std::uint32_t hash) {
        __syncwarp();
        bool is_new = false;
        unsigned slot = hash & mask;
        while (is_valid) {
            const int found = atomicCAS(table + slot, 0, candidate + 1);
            is_new = found == 0;
            if (is_new || are_equal(found - 1, candidate)) break;
            slot = (slot + 1) & mask;
        }
        const unsigned kept = __ballot_sync(0xffffffffu, is_new);
        const int position = end + __popc(kept & ((1u << threadIdx.x) - 1));
        for (int n = 0; n < words; ++n) {
            const std::uint32_t some = is_new ? word(n, candidate) : 0;
            __syncwarp();
            if (is_new) word(n, position) = some;
        }
        if (is_new) table[slot] = position + 1;
        end += __popc(kept);
        __syncwarp();
    }
};

}  // namespace pleat::rmsd::cuda

// Frame lists: packed frames that are copied together, so that they are the rows or columns of
// tiles.
#pragma once

#include "pleat/rmsd/cuda/tile_pack.h"
#include "pleat/rmsd/cuda/tile_product.cuh"

namespace pleat::rmsd::cuda {

/// Packed frames in panels, and the frames that they are.
struct PackedFrames {
    const Words* operands;
    const FrameTerms* terms;
    const std::uint32_t* ids;
};

/// Memory for packed frames.
struct FrameSlots {
    Words* operands;
    FrameTerms* terms;
    std::uint32_t* ids;
};

/// Frames [first, end) of packed ones; `first` is that of a tile. Lengths that are found on the GPU
/// replace those that the host knows.
struct FrameList {
    PackedFrames frames;
    Index first, end;
    const unsigned* length = nullptr;  ///< replaces `end` unless null
    const unsigned* before = nullptr;  ///< frames in earlier panels; null: none

    __device__ __forceinline__ void find_frames(Index panel_words) {
        if (length != nullptr) end = *length;
        if (before == nullptr) return;
        const Index panels = (*before + kPanelFrames - 1) / kPanelFrames;
        frames.operands += panels * panel_words;
        frames.terms += panels * kPanelFrames;
        frames.ids += panels * kPanelFrames;
    }
};

/// Offset of the n-th of a frame's numbers in a chunk of a panel, in units of 32 bits.
__device__ __forceinline__ int word_offset(int frame, int n) {
    constexpr int kOfPart = 4 * kPartWords / kPanelFrames;
    const int part = n / kOfPart, of_part = n % kOfPart;
    return part * 4 * kPartWords + half_offset(frame, of_part / 3 * 2, of_part % 3) / 2;
}

/// A warp copies a packed frame to a slot.
template <TileFormat kFormat>
__device__ __forceinline__ void copy_frame(const TileTask& from, Index frame, const FrameSlots& to,
                                           Index slot) {
    constexpr int kPanel = 4 * chunk_words(kFormat), kFrame = kPanel / kPanelFrames;
    const int lane = threadIdx.x % 32, words = static_cast<int>(from.chunks) * kFrame;
    const int of_frame = static_cast<int>(frame % kPanelFrames),
              of_slot = static_cast<int>(slot % kPanelFrames);
    const auto* const source = reinterpret_cast<const std::uint32_t*>(from.operands) +
                               frame / kPanelFrames * from.chunks * kPanel;
    auto* const target =
        reinterpret_cast<std::uint32_t*>(to.operands) + slot / kPanelFrames * from.chunks * kPanel;
    for (int n = lane; n < words; n += 32) {
        const int chunk = n / kFrame * kPanel, of_chunk = n % kFrame;
        target[chunk + word_offset(of_slot, of_chunk)] =
            source[chunk + word_offset(of_frame, of_chunk)];
    }
    constexpr int kTermWords = static_cast<int>(sizeof(FrameTerms) / 8);
    if (lane < kTermWords)
        reinterpret_cast<std::uint64_t*>(to.terms + slot)[lane] =
            reinterpret_cast<const std::uint64_t*>(from.terms + frame)[lane];
    if (lane == 0) to.ids[slot] = static_cast<std::uint32_t>(frame);
}

constexpr int kGatherThreads = 256;

/// Copies the first `count` frames that `to.ids` numbers to their slots, one warp per frame.
template <TileFormat kFormat>
__global__ void __launch_bounds__(kGatherThreads)
    gather_frames(TileTask from, FrameSlots to, Index count) {
    const Index warps = static_cast<Index>(gridDim.x) * (kGatherThreads / 32);
    for (Index n = (blockIdx.x * Index{kGatherThreads} + threadIdx.x) / 32; n < count; n += warps)
        copy_frame<kFormat>(from, to.ids[n], to, n);
}

/// Memory of `Gpu` for slots.
template <class Gpu>
struct SlotArrays {
    template <class T>
    using Array = typename Gpu::template Array<T>;

    Array<Words> operands;
    Array<FrameTerms> terms;
    Array<std::uint32_t> ids;

    SlotArrays() = default;
    SlotArrays(Index frames, Index chunks, TileFormat format)
        : operands(panels(frames) * chunks * chunk_words(format)),
          terms(panels(frames) * kPanelFrames),
          ids(panels(frames) * kPanelFrames) {}
    Index size() const { return ids.size(); }
    FrameSlots slots() const { return {operands.data(), terms.data(), ids.data()}; }
    PackedFrames frames() const { return {operands.data(), terms.data(), ids.data()}; }

private:
    static Index panels(Index frames) { return (frames + kPanelFrames - 1) / kPanelFrames; }
};

}  // namespace pleat::rmsd::cuda

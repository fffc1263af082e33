// Tile work: an ensemble on a GPU, and bands of its pairs sent to a sink, launch by launch.
#pragma once

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "pleat/core/cuda/gpu_sides.h"
#include "pleat/core/hardware/memory.h"
#include "pleat/core/pairs/pair_order.h"
#include "pleat/rmsd/cuda/tile_kernel.cuh"
#include "pleat/rmsd/cuda/tile_pack.h"
#include "pleat/rmsd/superposition/common_structure.h"
#include "pleat/rmsd/superposition/frame_source.h"

namespace pleat::rmsd::cuda {

using pleat::cuda::Sides;

/// Pairs of one launch: few enough that a cancel is noticed soon.
constexpr Index kLaunchPairs = Index{1} << 30;
/// Bytes that are left free for the CUDA runtime.
constexpr std::int64_t kReserve = std::int64_t{256} << 20;

/// Rows from `first` on with at most `pairs` pairs, in whole tiles if that is at least one.
inline Block rows_of(Index first, Index end, Index frames, Index pairs) {
    const Index rows = std::max<Index>(pairs / std::max<Index>(frames - first, 1), 1);
    const Index next = rows < kTileRows ? first + rows : (first + rows) / kTileRows * kTileRows;
    return {first, std::min(end, next) - first};
}

/// Launches on a `Gpu`: CudaGpu, or the host in its place.
template <class Gpu>
class TileWork {
public:
    /// Throws DeviceError if the GPU lacks the memory.
    TileWork(const FrameSource& frames, TileFormat format, int threads, Gpu gpu,
             Index max_doubts = kMaxDoubtfulPairs)
        : gpu_(std::move(gpu)), format_(format) {
        const Index count = frames.frame_count(), atoms = frames.atom_count();
        require_memory(tile_memory(count, atoms, format),
                       std::to_string(count) + " frames of " + std::to_string(atoms) + " atoms",
                       "take fewer frames or atoms, or --device cpu",
                       std::max<std::int64_t>(gpu_.free_bytes() - kReserve, 0),
                       " on " + gpu_.name());
        const Frames sample = frames.subset(averaged_frames(count), threads);
        const TilePacker packer(sample, format, threads);
        const Index panels = (count + kPanelFrames - 1) / kPanelFrames;
        operands_ = Array<Words>(panels * packer.chunks() * chunk_words(format));
        terms_ = Array<FrameTerms>(panels * kPanelFrames);
        xyz_ = Array<double>(3 * atoms * count);
        upload(frames, packer, threads);
        const Index doubts = std::min(max_doubts, std::max<Index>(pairs_before(count, count), 1));
        doubts_ = Array<DoubtfulPair>(doubts);
        doubt_count_ = Array<unsigned>(1);
        task_ = {operands_.data(),
                 terms_.data(),
                 xyz_.data(),
                 count,
                 atoms,
                 panels,
                 packer.chunks(),
                 sample.weight,
                 packer.scale(),
                 {},
                 0,
                 0,
                 {doubts_.data(), doubt_count_.data(), static_cast<unsigned>(doubts)}};
    }

    Index frames() const { return task_.frames; }
    /// An upper bound of the RMSD of all pairs, angstrom.
    double largest_rmsd() const { return 2 * std::sqrt(square_sum_max_ / task_.weight); }
    TileFormat format() const { return format_; }
    Gpu& gpu() { return gpu_; }
    const Gpu& gpu() const { return gpu_; }

    /// Gives every pair of the rows with a later frame to the sink; returns before that is done.
    template <class Sink>
    void run(Block rows, const Sink& sink) {
        const Index end = rows.first + rows.count;
        for (Block some = rows_of(rows.first, end, frames(), kLaunchPairs); some.count > 0;
             some = rows_of(some.first + some.count, end, frames(), kLaunchPairs))
            launch(some, sink);
    }

    /// How many pairs the last launch left to float64.
    Index doubtful() const {
        unsigned count = 0;
        doubt_count_.download(&count, 0, 1);
        return count;
    }

private:
    template <class T>
    using Array = typename Gpu::template Array<T>;

    /// Packs and copies some frames after the others, so that the host needs no memory for all.
    void upload(const FrameSource& frames, const TilePacker& packer, int threads) {
        const Frames* const all = frames.in_memory();
        const Index count = frames.frame_count(), size = 3 * frames.atom_count();
        const Index panel_words = packer.chunks() * chunk_words(format_);
        TilePack pack;
        const Index read_at_once = frames.block() / kPanelFrames * kPanelFrames;
        const Index step =
            std::min(packer.frames_at_once(), std::max<Index>(read_at_once, kPanelFrames));
        for (Index first = 0; first < count; first += step) {
            const Index some = std::min(step, count - first);
            Frames read;
            if (all == nullptr) read = frames.subset(consecutive(first, some), threads);
            const Frames& from = all != nullptr ? *all : read;
            const Index start = all != nullptr ? first : 0;
            packer.pack(from, {start, some}, threads, pack);
            operands_.upload(reinterpret_cast<const Words*>(pack.operands.data()),
                             first / kPanelFrames * panel_words, pack.panels * panel_words);
            terms_.upload(pack.terms.data(), first, pack.panels * kPanelFrames);
            xyz_.upload(from.frame(start), first * size, some * size);
            for (Index i = start; i < start + some; ++i)
                square_sum_max_ = std::max(square_sum_max_, from.square_sum[i]);
        }
    }

    template <class Sink>
    void launch(Block rows, const Sink& sink) {
        task_.rows = rows;
        task_.first_panel = rows.first / kPanelFrames;
        const Index last_panel = (rows.first + rows.count - 1) / kPanelFrames;
        task_.row_tiles = (last_panel - task_.first_panel) / kRowPanels + 1;
        gpu_.clear(doubt_count_, 1);
        switch (format_) {
            case TileFormat::floats: start<TileFormat::floats>(sink); break;
            case TileFormat::halves: start<TileFormat::halves>(sink); break;
            case TileFormat::half: start_coarse(sink); break;
        }
        constexpr Index kCtasOfProcessor = 4;
        gpu_.launch("recompute doubtful pairs", &recompute_doubtful<Sink>,
                    Sides{kCtasOfProcessor * gpu_.processors()}, Sides{32, kRecomputeWarps}, 0,
                    task_, sink);
    }

    template <TileFormat kFormat, class Sink>
    void start(const Sink& sink) {
        const Index grid = task_.row_tiles * (task_.panels - task_.first_panel);
        gpu_.launch("superpose frames", &superpose_tiles<kFormat, Sink>, Sides{grid},
                    Sides{kTileThreads}, tile_bytes(kFormat, task_.chunks), task_, sink);
    }

    /// Coarse values suffice to decide on which side of a cutoff a pair is.
    void start_coarse(const BitSink& sink) { start<TileFormat::half>(sink); }
    template <class Sink>
    [[noreturn]] void start_coarse(const Sink&) {
        throw std::logic_error("values need more than one float16 a coordinate");
    }

    Gpu gpu_;
    TileFormat format_;
    double square_sum_max_ = 0.0;
    Array<Words> operands_;
    Array<FrameTerms> terms_;
    Array<double> xyz_;
    Array<DoubtfulPair> doubts_;
    Array<unsigned> doubt_count_;
    TileTask task_{};
};

}  // namespace pleat::rmsd::cuda

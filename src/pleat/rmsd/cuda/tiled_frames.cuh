// Tiled frames: an ensemble on a GPU, and bands of its pairs sent to a sink: products of tiles with
// the solver behind them, doubtful pairs in float64.
#pragma once

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "pleat/core/cuda/gpu_sides.h"
#include "pleat/core/hardware/memory.h"
#include "pleat/core/pairs/pair_order.h"
#include "pleat/rmsd/cuda/frame_lists.cuh"
#include "pleat/rmsd/cuda/tile_pack.h"
#include "pleat/rmsd/cuda/tile_product.cuh"
#include "pleat/rmsd/cuda/tile_sinks.cuh"
#include "pleat/rmsd/superposition/frames.h"
#include "pleat/rmsd/superposition/superpose.h"

namespace pleat::rmsd::cuda {

/// Words of shared memory that the terms of a tile's frames take.
constexpr int kTermsWords =
    (kPanelsOfTile * kPanelFrames * static_cast<int>(sizeof(FrameTerms)) + 15) / 16;

/// The dynamic shared memory of the CTA.
__device__ __forceinline__ Words* shared_words() {
    PLEAT_DYNAMIC_SHARED(Words, memory);
    return memory;
}

/// One pair in float64 by a single thread, used if the list of doubtful pairs is full.
__device__ __attribute__((noinline)) inline float exact_rmsd(const TileTask& task, Index i,
                                                             Index j) {
    const double sum = superposed_residual(task.frame(i), task.frame(j), task.atoms);
    return static_cast<float>(sqrt(sum / task.weight));
}

/// Lists a doubtful pair; returns false if the list is full.
__device__ __forceinline__ bool note(const Doubts& doubts, const DoubtfulPair& pair) {
    const unsigned at = atomicAdd(doubts.count, 1u);
    if (at >= doubts.capacity) return false;
    doubts.pairs[at] = pair;
    return true;
}

__device__ __forceinline__ void load_terms(const TilePanels& panels, Words* memory) {
    auto* const to = reinterpret_cast<std::uint64_t*>(memory);
    constexpr int kNumbers = kPanelFrames * static_cast<int>(sizeof(FrameTerms) / 8);
    for (int n = threadIdx.x; n < kPanelsOfTile * kNumbers; n += kTileThreads) {
        const auto* const from = panel_of(panels.terms, n / kNumbers);
        to[n] = reinterpret_cast<const std::uint64_t*>(from)[n % kNumbers];
    }
}

/// Pairs that a thread solves at a time.
constexpr int kSolvedTogether = 2;

/// A CTA passes the pairs of a tile to the sink.
template <class Sink, class Position>
__device__ __forceinline__ void superpose_tile(const TileTask& task, const TilePanels& panels,
                                               const Position& position, const Sink& sink) {
    Words* const memory = shared_words();
    Sums sums;
    multiply_tile<Sink::kPrecision>(task, panels, memory, sums);

    const auto* const terms = reinterpret_cast<const FrameTerms*>(memory);
    Words* const of_sink = memory + kTermsWords;
    load_terms(panels, memory);
    sink.open(of_sink);
    __syncthreads();
    typename Sink::Local local;
    const bool has_all = position.has_all();
    unsigned left = 0;  // one bit per doubtful pair
#pragma unroll
    for (int first = 0; first < kPairsOfThread; first += kSolvedTogether) {
        TilePair pairs[kSolvedTogether];
        Solved solved[kSolvedTogether];
#pragma unroll
        for (int n = 0; n < kSolvedTogether; ++n) {
            const auto [row, column] = position_of(threadIdx.x, first + n);
#pragma unroll
            for (int entry = 0; entry < 9; ++entry) pairs[n].a[entry] = sums[entry][first + n];
            pairs[n].p_terms = terms + row;
            pairs[n].q_terms = terms + kTileRows + column;
        }
        solve_pairs(pairs, task.scale, solved);
#pragma unroll
        for (int n = 0; n < kSolvedTogether; ++n) {
            const auto [row, column] = position_of(threadIdx.x, first + n);
            if ((has_all || position.has(row, column)) &&
                !sink.put(local, of_sink, position, row, column, solved[n]))
                left |= 1u << (first + n);
        }
    }
    for (int pair = 0; left >> pair != 0; ++pair) {
        if ((left >> pair & 1) == 0) continue;
        const auto [row, column] = position_of(threadIdx.x, pair);
        const DoubtfulPair of = position.pair(row, column);
        if (!note(task.doubts, of))
            sink.put_exact(local, of_sink, position, row, column, exact_rmsd(task, of.i, of.j));
    }
    __syncthreads();
    sink.close(local, of_sink, position);
}

/// One CTA per tile; consecutive tiles have the same columns, so that CTAs that run together share
/// frames.
template <class Sink>
__global__ void __launch_bounds__(kTileThreads, 2) superpose_tiles(TileTask task, Sink sink) {
    constexpr Index kWords = chunk_words(format_of(Sink::kPrecision));
    const Index row_panel = task.first_panel + blockIdx.x % task.row_tiles * kRowPanels;
    const Index column_panel = task.first_panel + blockIdx.x / task.row_tiles;
    if (column_panel < row_panel) return;  // no later frame in it
    const auto operands = [&](Index panel) { return task.operands + panel * task.chunks * kWords; };
    const auto terms = [&](Index panel) { return task.terms + panel * kPanelFrames; };
    // Skips row panels after the last one of the band.
    const Index second = row_panel + 1 < task.panels ? row_panel + 1 : row_panel;
    superpose_tile(
        task,
        {{operands(row_panel), operands(second), operands(column_panel)},
         {terms(row_panel), terms(second), terms(column_panel)}},
        TilePosition{row_panel * kPanelFrames, column_panel * kPanelFrames, task.rows, task.frames},
        sink);
}

/// Like superpose_tiles() for two lists of frames, whose lengths may only be known on the GPU.
template <class Sink>
__global__ void __launch_bounds__(kTileThreads, 2)
    superpose_lists(TileTask task, FrameList rows, FrameList columns, Sink sink) {
    const Index words = task.chunks * chunk_words(format_of(Sink::kPrecision));
    rows.find_frames(words);
    columns.find_frames(words);
    const Index row_tiles = (rows.end - rows.first + kTileRows - 1) / kTileRows;
    const Index tiles = row_tiles * ((columns.end + kPanelFrames - 1) / kPanelFrames);
    for (Index tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const ListPosition position{rows.first + tile % row_tiles * kTileRows,
                                    tile / row_tiles * kPanelFrames,
                                    rows.end,
                                    columns.end,
                                    rows.frames.ids,
                                    columns.frames.ids,
                                    Sink::kIsTriangle};
        if (Sink::kIsTriangle && position.column + kPanelFrames - 1 <= position.row) continue;
        const Index row = position.row / kPanelFrames;
        const Index second = position.row + kPanelFrames < rows.end ? row + 1 : row;
        const Index column = position.column / kPanelFrames;
        superpose_tile(
            task,
            {{rows.frames.operands + row * words, rows.frames.operands + second * words,
              columns.frames.operands + column * words},
             {rows.frames.terms + row * kPanelFrames, rows.frames.terms + second * kPanelFrames,
              columns.frames.terms + position.column}},
            position, sink);
        __syncthreads();  // the sink's memory is free
    }
}

/// Number of warps per CTA that recompute doubtful pairs.
constexpr int kRecomputeWarps = 4;

__device__ __forceinline__ double warp_sum(double value) {
    for (int apart = 16; apart > 0; apart /= 2) value += __shfl_xor_sync(~0u, value, apart);
    return value;
}

/// A warp computes the covariance of two frames; every lane gets it.
__device__ __forceinline__ void warp_covariance(const double* p, const double* q, Index atoms,
                                                double (&sums)[9]) {
    for (double& sum : sums) sum = 0.0;
    for (Index k = threadIdx.x; k < atoms; k += 32)
        for (int entry = 0; entry < 9; ++entry)
            sums[entry] += p[entry / 3 * atoms + k] * q[entry % 3 * atoms + k];
    for (double& sum : sums) sum = warp_sum(sum);
}

/// A warp computes the sum of squared distances after p is rotated by m; every lane gets it.
__device__ __forceinline__ double warp_residual(const double* p, const double* q, Index atoms,
                                                const double (&m)[9]) {
    double sum = 0.0;
    for (Index k = threadIdx.x; k < atoms; k += 32) {
        for (int axis = 0; axis < 3; ++axis) {
            const double difference = m[3 * axis] * p[k] + m[3 * axis + 1] * p[atoms + k] +
                                      m[3 * axis + 2] * p[2 * atoms + k] - q[axis * atoms + k];
            sum += difference * difference;
        }
    }
    return warp_sum(sum);
}

/// Recomputes doubtful pairs as the reference does. A warp processes 32 at a time: lanes share the
/// atoms of one pair after the other, and each lane solves the eigenproblem of one pair. Threads
/// are [warp][lane].
template <class Sink>
__global__ void __launch_bounds__(32 * kRecomputeWarps)
    recompute_doubtful(TileTask task, Sink sink) {
    const Index found = *task.doubts.count;
    const Index count = found < task.doubts.capacity ? found : task.doubts.capacity;
    const Index warps = static_cast<Index>(gridDim.x) * kRecomputeWarps;
    const int lane = threadIdx.x;
    for (Index first = (blockIdx.x * Index{kRecomputeWarps} + threadIdx.y) * 32; first < count;
         first += warps * 32) {
        const int together = count - first < 32 ? static_cast<int>(count - first) : 32;
        double own[9] = {}, rotation[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, residual = 0.0;
        for (int n = 0; n < together; ++n) {
            const DoubtfulPair pair = task.doubts.pairs[first + n];
            double sums[9];
            warp_covariance(task.frame(pair.i), task.frame(pair.j), task.atoms, sums);
            for (int entry = 0; entry < 9; ++entry)
                if (lane == n) own[entry] = sums[entry];
        }
        rotation_by_jacobi(own, rotation);
        for (int n = 0; n < together; ++n) {
            const DoubtfulPair pair = task.doubts.pairs[first + n];
            double m[9];
            for (int entry = 0; entry < 9; ++entry) m[entry] = __shfl_sync(~0u, rotation[entry], n);
            const double sum = warp_residual(task.frame(pair.i), task.frame(pair.j), task.atoms, m);
            if (lane == n) residual = sum;
        }
        if (lane >= together) continue;
        const DoubtfulPair pair = task.doubts.pairs[first + lane];
        sink.put_recomputed(pair.i, pair.j, static_cast<float>(sqrt(residual / task.weight)));
    }
}

using pleat::cuda::Sides;

/// Pairs of one launch: few enough that a cancel is noticed soon.
constexpr Index kLaunchPairs = Index{1} << 30;
/// Bytes of GPU memory left free for the CUDA runtime.
constexpr std::int64_t kReserve = std::int64_t{256} << 20;

/// Rows from `first` on with at most `pairs` pairs, in whole tiles if that is at least one.
inline Block rows_of(Index first, Index end, Index frames, Index pairs) {
    const Index rows = std::max<Index>(pairs / std::max<Index>(frames - first, 1), 1);
    const Index next = rows < kTileRows ? first + rows : (first + rows) / kTileRows * kTileRows;
    return {first, std::min(end, next) - first};
}

/// Counters of doubtful pairs, so that kernels that follow each other need not clear one between.
constexpr Index kDoubtCounts = 2;

/// Superposes all pairs of frames on a `Gpu`: CudaGpu, or a host emulation.
template <class Gpu>
class TiledFrames {
public:
    /// Throws DeviceError if GPU memory is too small.
    TiledFrames(const FrameSource& frames, TileFormat format, int threads, Gpu gpu,
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
        doubt_count_ = Array<unsigned>(kDoubtCounts);
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
    /// An upper bound in angstrom of the RMSD of all pairs.
    double largest_rmsd() const { return 2 * std::sqrt(square_sum_max_ / task_.weight); }
    TileFormat format() const { return format_; }
    Gpu& gpu() { return gpu_; }
    const Gpu& gpu() const { return gpu_; }

    /// Passes every pair of the rows with a later frame to the sink; returns before that is done.
    template <class Sink>
    void run(Block rows, const Sink& sink) {
        const Index end = rows.first + rows.count;
        for (Block some = rows_of(rows.first, end, frames(), kLaunchPairs); some.count > 0;
             some = rows_of(some.first + some.count, end, frames(), kLaunchPairs))
            launch(some, sink);
    }

    /// Passes pairs of frames of two lists to the sink; returns before that is done. `task`: task()
    /// with an empty list of doubtful pairs.
    template <class Sink>
    void run_lists(TileTask task, const FrameList& rows, const FrameList& columns,
                   const Sink& sink) {
        prepare<Sink>(task);
        constexpr Index kCtasOfProcessor = 2;
        gpu_.launch("superpose listed frames", &superpose_lists<Sink>,
                    Sides{kCtasOfProcessor * gpu_.processors()}, Sides{kTileThreads},
                    tile_bytes(format_, task_.chunks), task, rows, columns, sink);
        recompute(task, sink);
    }

    /// Copies the frames of a list, which `to.ids` numbers, to its slots.
    template <TileFormat kFormat>
    void gather(const FrameSlots& to, Index count) {
        if (count > 0)
            gpu_.launch("gather frames", &gather_frames<kFormat>, Sides{8 * gpu_.processors()},
                        Sides{kGatherThreads}, 0, task_, to, count);
    }

    const TileTask& task() const { return task_; }
    void clear_doubts() { gpu_.clear(doubt_count_, kDoubtCounts); }

    /// Number of pairs that the last launch left for float64.
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
        prepare<Sink>(task_);
        const Index grid = task_.row_tiles * (task_.panels - task_.first_panel);
        gpu_.launch("superpose frames", &superpose_tiles<Sink>, Sides{grid}, Sides{kTileThreads},
                    tile_bytes(format_, task_.chunks), task_, sink);
        recompute(task_, sink);
    }

    template <class Sink>
    void prepare(TileTask& task) const {
        if (format_ != format_of(Sink::kPrecision))
            throw std::logic_error("expected frames packed for the sink");
        task.scale.product_error = product_error(Sink::kPrecision, task.atoms);
    }

    template <class Sink>
    void recompute(const TileTask& task, const Sink& sink) {
        constexpr Index kCtasOfProcessor = 4;
        gpu_.launch("recompute doubtful pairs", &recompute_doubtful<Sink>,
                    Sides{kCtasOfProcessor * gpu_.processors()}, Sides{32, kRecomputeWarps}, 0,
                    task, sink);
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

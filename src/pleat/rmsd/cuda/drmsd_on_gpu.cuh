// dRMSD on a GPU: both sides' frames, packed deviations of distances, and blocks launched.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "pleat/core/cuda/gpu_sides.h"
#include "pleat/core/cuda/grow.h"
#include "pleat/core/hardware/memory.h"
#include "pleat/rmsd/cuda/drmsd_kernel.cuh"
#include "pleat/rmsd/measures/comparison.h"
#include "pleat/rmsd/measures/distance_block.h"
#include "pleat/rmsd/superposition/frames.h"

namespace pleat::rmsd::cuda {

using pleat::cuda::Sides;

/// A measure of GpuComparison. Packed deviations are kept for all frames where they fit, else
/// packed again for each block, some distances at a time.
template <class Gpu>
class DrmsdOnGpu {
public:
    /// Frames are [frame, atom, axis]; for a single set both sides are the same data. `kept_bytes`:
    /// GPU memory for packed deviations; `block_bytes`: for those of a block, if they are not kept.
    /// Throws DeviceError if memory is too small, InputError as check_coordinates().
    DrmsdOnGpu(View<const float, 3> rows, View<const float, 3> columns,
               const std::vector<double>& weights, FitPrecision precision, Gpu gpu,
               std::int64_t kept_bytes, std::int64_t block_bytes = std::int64_t{1} << 30)
        : gpu_(std::move(gpu)),
          is_exact_(precision == FitPrecision::float64),
          block_bytes_(block_bytes),
          weight_(pair_weight(weights, rows.extent(1))) {
        list(rows.extent(1), weights);
        double furthest = add(rows);
        if (!TwoSets{rows, columns}.are_one()) furthest = std::max(furthest, add(columns));
        set_scale(furthest, weights);
        const DistanceFrames averaged = frames_of(sides_.back());
        const Index used = static_cast<Index>(averaged_frames(averaged.frames).size());
        means_ = Array<double>(std::max<Index>(count_, 1));
        if (count_ > 0)
            gpu_.launch("average distances", &average_distances, grid(count_), kThreads, 0,
                        averaged, distances(), used, means_.data());
        std::int64_t bytes = 0;
        for (const Side& side : sides_) bytes += 16 * words(panels(side.frames), chunks());
        is_kept_ = !is_exact_ && bytes <= kept_bytes;
        for (Side& side : sides_) prepare(side);
    }

    double cost() const { return 0.02 + (is_exact_ ? 6e-3 : 3e-5) * static_cast<double>(count_); }

    void run(Block rows, Block columns, float* values) {
        if (rows.count <= 0 || columns.count <= 0) return;
        if (!is_exact_) multiply(rows, columns, values);
        const Index tiles = ((rows.count + kNearTile - 1) / kNearTile) *
                            ((columns.count + kNearTile - 1) / kNearTile);
        gpu_.launch("compute near pairs", &compute_near_pairs, Sides{tiles}, kThreads, 0,
                    NearTask{frames_of(sides_.front()), frames_of(sides_.back()), distances(),
                             weight_, limit_, is_exact_, rows, columns, values});
    }

private:
    template <class T>
    using Array = typename Gpu::template Array<T>;
    static constexpr Sides kThreads{kDrmsdThreads};

    struct Side {
        Index frames = 0;
        Array<double> xyz;      ///< [frame, axis, atom]
        Array<double> squares;  ///< [frame]
        Array<Words> operands;  ///< all panels, if they are kept
    };

    static Sides grid(Index threads) { return {(threads + kDrmsdThreads - 1) / kDrmsdThreads}; }
    static Index panels(Index frames) { return (frames + kDrmsdPanel - 1) / kDrmsdPanel; }
    static Index words(Index panel_count, Index chunk_count) {
        return panel_count * chunk_count * kPanelWords;
    }
    /// Of all distances, in whole stages.
    Index chunks() const {
        constexpr Index kStage = kStageChunks * kDrmsdChunk;
        return std::max<Index>((count_ + kStage - 1) / kStage, 1) * kStageChunks;
    }
    DistanceFrames frames_of(const Side& side) const {
        return {side.xyz.data(), side.frames, atoms_, roots_.data()};
    }
    DistanceList distances() const { return {pairs_.data(), means_.data(), count_, scale_}; }

    void list(Index atoms, const std::vector<double>& weights) {
        atoms_ = atoms;
        std::vector<ListedPair> pairs;
        pairs.reserve(atoms * (atoms - 1) / 2);
        for (Index k = 0; k < atoms; ++k)
            for (Index l = k + 1; l < atoms; ++l)
                pairs.push_back({static_cast<std::int32_t>(k), static_cast<std::int32_t>(l)});
        count_ = std::ssize(pairs);
        std::vector<double> roots(atoms, 1.0);
        for (std::size_t k = 0; k < weights.size(); ++k) roots[k] = std::sqrt(weights[k]);
        pleat::cuda::upload(pairs_, pairs);
        pleat::cuda::upload(roots_, roots);
    }

    /// Copies frames [frame, atom, axis]; returns the maximum distance of an atom from the first
    /// atom of its frame.
    double add(View<const float, 3> frames) {
        constexpr Index kAtOnce = Index{1} << 24;  // coordinates
        Side side;
        side.frames = frames.extent(0);
        const Index size = 3 * atoms_, step = std::max<Index>(kAtOnce / size, 1);
        require_memory(
            8 * frames.size(),
            std::to_string(side.frames) + " frames of " + std::to_string(atoms_) + " atoms",
            "take fewer frames or atoms, or --device cpu", gpu_.free_bytes(), " on " + gpu_.name());
        side.xyz = Array<double>(frames.size());
        Array<float> some(std::min(step, side.frames) * size);
        Array<unsigned long long> furthest(1);
        for (Index first = 0; first < side.frames; first += step) {
            const Index count = std::min(step, side.frames - first);
            some.upload(frames.data + first * size, 0, count * size);
            gpu_.launch("widen frames", &widen_frames, grid(32 * count), kThreads, 0, some.data(),
                        count, atoms_, side.xyz.data() + first * size, furthest.data());
        }
        unsigned long long bits = 0;
        furthest.download(&bits, 0, 1);
        const auto square = std::bit_cast<double>(bits);
        if (!(square < kNotFinite)) check_coordinates(frames);  // names the frame
        sides_.push_back(std::move(side));
        return std::sqrt(square);
    }

    /// Chooses the scale so that no deviation exceeds the largest float16.
    void set_scale(double furthest, const std::vector<double>& weights) {
        constexpr double kLargest = 32768;
        double weight = weights.empty() ? 1.0 : 0.0;
        for (const double of_atom : weights) weight = std::max(weight, of_atom);
        const double distance = 2 * furthest, largest = distance * weight;
        // Below this, the rounding of distances to float32 is no longer small compared with their
        // differences.
        limit_ = static_cast<float>(distance * 0x1p-19);
        if (largest > 0) scale_ = std::exp2(std::floor(std::log2(kLargest / largest)));
        unit_ = weight_ > 0 ? 1 / (scale_ * scale_ * weight_) : 0.0;
    }

    void prepare(Side& side) {
        side.squares = Array<double>(side.frames);
        if (is_exact_) return;
        gpu_.launch("add deviations", &add_deviations, grid(32 * side.frames), kThreads, 0,
                    frames_of(side), distances(), unit_, side.squares.data());
        if (!is_kept_) return;
        side.operands = Array<Words>(words(panels(side.frames), chunks()));
        pack(side, 0, panels(side.frames), 0, chunks(), side.operands.data());
    }

    void pack(const Side& side, Index first_panel, Index panel_count, Index first_chunk,
              Index chunk_count, Words* to) {
        const Index threads = words(panel_count, chunk_count) / 2;
        gpu_.launch("pack deviations", &pack_deviations, grid(threads), kThreads, 0,
                    frames_of(side), distances(), first_panel, first_chunk, chunk_count, threads,
                    to);
    }

    static Index first_panel(Block block) { return block.first / kDrmsdPanel; }
    static Index panels_of(Block block) {
        return panels(block.first + block.count) - first_panel(block);
    }

    void multiply(Block rows, Block columns, float* values) {
        const Index all = chunks();
        Index step = all;
        if (!is_kept_) {
            const Index fitting =
                block_bytes_ / (16 * kPanelWords * (panels_of(rows) + panels_of(columns)));
            step = std::clamp<Index>(fitting / kStageChunks * kStageChunks, kStageChunks, all);
        }
        const Index row_tiles = (panels_of(rows) + kDrmsdRowPanels - 1) / kDrmsdRowPanels,
                    column_tiles =
                        (panels_of(columns) + kDrmsdColumnPanels - 1) / kDrmsdColumnPanels;
        for (Index first = 0; first < all; first += step) {
            const Index some = std::min(step, all - first);
            const DrmsdTask task{side_of(sides_.front(), rows, first, some, row_operands_),
                                 side_of(sides_.back(), columns, first, some, column_operands_),
                                 some,
                                 row_tiles,
                                 unit_,
                                 product_error(),
                                 kTolerance,
                                 first == 0,
                                 first + some == all,
                                 values};
            // GPUs of compute capability 8.6 have shared memory for two stages only.
            const bool has_three = gpu_.max_shared_bytes() >= 3 * kStageBytes;
            gpu_.launch(
                "multiply distances", has_three ? &multiply_distances<3> : &multiply_distances<2>,
                Sides{row_tiles * column_tiles}, kThreads, (has_three ? 3 : 2) * kStageBytes, task);
        }
    }

    DrmsdSide side_of(const Side& side, Block block, Index first, Index some,
                      Array<Words>& operands) {
        if (is_kept_) return {side.operands.data(), 0, side.squares.data(), block};
        pleat::cuda::grow(operands, words(panels_of(block), some));
        pack(side, first_panel(block), panels_of(block), first, some, operands.data());
        return {operands.data(), first_panel(block), side.squares.data(), block};
    }

    /// Twice the typical error: tensor cores truncate the sum of a chunk, and sums of chunks are
    /// rounded, up as often as down. Added to it is the remainder that float16 cannot represent,
    /// which does not average out over few distances.
    float product_error() const {
        const double few = 24.0 / std::sqrt(static_cast<double>(std::max<Index>(count_, 1)));
        return static_cast<float>(0x1p-24 *
                                  (4.0 + few + 0.67 * std::sqrt(static_cast<double>(chunks()))));
    }

    /// Tolerance in angstrom, besides the rounding to float32.
    static constexpr float kTolerance = 8e-6f;

    Gpu gpu_;
    bool is_exact_, is_kept_ = false;
    std::int64_t block_bytes_;
    double weight_, scale_ = 1.0, unit_ = 0.0;
    float limit_ = 0.0f;
    Index atoms_ = 0, count_ = 0;  ///< of distances
    std::vector<Side> sides_;      ///< rows and columns, or one for both
    Array<ListedPair> pairs_;
    Array<double> roots_, means_;
    Array<Words> row_operands_, column_operands_;
};

}  // namespace pleat::rmsd::cuda

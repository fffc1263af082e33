// GROMOS clustering on a GPU: neighbour bits of all pairs, then one cluster after the other.
#pragma once

#include <string>
#include <vector>

#include "pleat/core/loops/steps.h"
#include "pleat/rmsd/cuda/gromos_steps.cuh"
#include "pleat/rmsd/cuda/tile_work.cuh"

namespace pleat::rmsd::cuda {

/// How many clusters are found before the host checks whether the clustering has finished.
constexpr int kClustersAtOnce = 64;

template <class Gpu>
class GpuGromos {
public:
    /// Throws DeviceError if the GPU lacks the memory.
    GpuGromos(const FrameSource& frames, TileFormat format, int threads, Gpu gpu)
        : work_(frames, format, threads, std::move(gpu)) {
        const Index count = frames.frame_count();
        side_ = (count + kBitSide - 1) / kBitSide;
        require_memory(bit_memory(count), "neighbours of " + std::to_string(count) + " frames",
                       "take fewer frames, --device auto or --device cpu",
                       std::max<std::int64_t>(work_.gpu().free_bytes() - kReserve, 0),
                       " on " + work_.gpu().name());
        words_ = Array<unsigned>(BitTiles::squares(side_) * kBitSide);
        counts_ = Array<int>(side_ * kBitSide);
        active_ = Array<unsigned>(side_);
        assignment_ = Array<std::int32_t>(count);
        centres_ = Array<std::int32_t>(count);
        members_ = Array<std::uint32_t>(count);
        state_ = Array<GromosState>(1);
    }

    /// Marks all pairs below `cutoff`. Throws Cancelled.
    void find_neighbours(double cutoff, const Context& context) {
        const Index frames = work_.frames();
        const auto limit = static_cast<float>(cutoff);
        const BitSink sink{bits(), counts_.data(), limit, limit * limit};
        StageProgress progress(context, "neighbours", frames);
        for (Block rows = rows_of(0, frames, frames, kLaunchPairs); rows.count > 0;
             rows = rows_of(rows.first + rows.count, frames, frames, kLaunchPairs)) {
            work_.run(rows, sink);
            work_.gpu().wait();
            progress.check();
            progress.advance_to(rows.first + rows.count);
        }
    }

    /// Clusters the frames by the neighbours that find_neighbours() marked. Call it once.
    DeviceClusters cluster(const Context& context) {
        const Index frames = work_.frames();
        std::vector<unsigned> active(static_cast<std::size_t>(side_), ~0u);
        if (frames % kBitSide != 0) active.back() = (1u << frames % kBitSide) - 1;
        active_.upload(active.data());
        const std::vector<std::int32_t> none(static_cast<std::size_t>(frames), -1);
        assignment_.upload(none.data());
        const GromosTask task{
            bits(),          frames,          counts_.data(), active_.data(), assignment_.data(),
            centres_.data(), members_.data(), state_.data()};
        GromosState state{};
        state_.upload(&state);
        StageProgress progress(context, "clusters", frames);
        while (state.done == 0) {
            for (int n = 0; n < kClustersAtOnce; ++n) step(task);
            state_.download(&state, 0, 1);
            progress.check();
            progress.advance_to(std::min<Index>(state.clusters, frames));
        }
        return finish(state.clusters);
    }

    TileWork<Gpu>& work() { return work_; }

    /// How many neighbours each frame has; to be called before cluster().
    std::vector<int> neighbour_counts() const {
        std::vector<int> counts(static_cast<std::size_t>(work_.frames()));
        counts_.download(counts.data(), 0, work_.frames());
        return counts;
    }

private:
    template <class T>
    using Array = typename Gpu::template Array<T>;

    BitTiles bits() const { return {words_.data(), side_}; }

    void step(const GromosTask& task) {
        const Gpu& gpu = work_.gpu();
        const Sides all{8 * gpu.processors()}, threads{kGromosThreads};
        gpu.launch("find the largest cluster", &find_largest, Sides{2 * gpu.processors()}, threads,
                   0, task);
        gpu.launch("assign a cluster", &assign_cluster, all, threads, 0, task);
        gpu.launch("subtract a cluster", &subtract_members, all, threads, 0, task);
    }

    /// Frames without neighbours follow as clusters of their own.
    DeviceClusters finish(Index clusters) const {
        DeviceClusters found;
        found.assignment.resize(static_cast<std::size_t>(work_.frames()));
        assignment_.download(found.assignment.data(), 0, work_.frames());
        found.centres.resize(static_cast<std::size_t>(clusters));
        if (clusters > 0) centres_.download(found.centres.data(), 0, clusters);
        for (std::size_t i = 0; i < found.assignment.size(); ++i) {
            if (found.assignment[i] >= 0) continue;
            found.assignment[i] = static_cast<std::int32_t>(found.centres.size());
            found.centres.push_back(static_cast<std::int32_t>(i));
        }
        return found;
    }

    TileWork<Gpu> work_;
    Index side_ = 0;
    Array<unsigned> words_, active_;
    Array<int> counts_;
    Array<std::int32_t> assignment_, centres_;
    Array<std::uint32_t> members_;
    Array<GromosState> state_;
};

}  // namespace pleat::rmsd::cuda

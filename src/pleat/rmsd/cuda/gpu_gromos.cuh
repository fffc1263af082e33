// GROMOS clustering on one GPU or several: neighbour bits of all pairs, then one cluster after the
// other.
#pragma once

#include <string>
#include <vector>

#include "pleat/core/loops/steps.h"
#include "pleat/core/ranks/lanes.h"
#include "pleat/rmsd/cuda/tile_pack.h"
#include "pleat/rmsd/cuda/tiled_frames.cuh"

namespace pleat::rmsd::cuda {

/// The clustering state of one part. Two copies alternate, so that a part can prepare one while
/// others still read the other.
struct GromosState {
    unsigned long long
        best[2];          ///< neighbours + 1 of the best frame, and its index from behind; 0 none
    unsigned members[2];  ///< of a cluster
    int clusters;
    int done;  ///< no frame has a neighbour left
};

/// The arrays of one part (GPU). Each part stores the neighbour bits of some rows and counts with
/// these; the counts of a frame are summed over all parts. Every part knows which frames are
/// unclustered: `active` has one bit per frame, and counts of clustered frames are -1.
struct GromosTask {
    BitTiles own, all;  ///< the bits of this part; those of all parts
    Index frames;
    int* counts;                   ///< [frame]: active neighbours
    const int* const* all_counts;  ///< [part]: `counts` of each
    int parts;
    unsigned* active;          ///< [square]
    std::int32_t* assignment;  ///< [frame]
    std::int32_t* centres;     ///< [cluster]
    std::uint32_t* members;    ///< [frame]: of the newest cluster, in any order
    GromosState* state;
    const GromosState* first_state;  ///< of the first part, which chooses the centres
};

constexpr int kGromosThreads = 256;
constexpr Index kStride = 32;  // squares that a warp visits at a time

/// Combines a count and a frame into a number that is larger for larger counts and, for equal
/// counts, for lower frames.
__device__ __forceinline__ unsigned long long choice_key(int count, Index frame) {
    return static_cast<unsigned long long>(count + 1) << 32 |
           (0xffffffffu - static_cast<unsigned>(frame));
}
__device__ __forceinline__ Index frame_of(unsigned long long key) {
    return 0xffffffffu - static_cast<unsigned>(key);
}
__device__ __forceinline__ int count_of(unsigned long long key) {
    return static_cast<int>(key >> 32) - 1;
}

/// First of three kernels, only on the first part: finds the frame with the most active neighbours,
/// the lowest of several.
static __global__ void __launch_bounds__(kGromosThreads) find_largest(GromosTask task, int step) {
    const Index all = static_cast<Index>(gridDim.x) * kGromosThreads;
    unsigned long long best = 0;
    for (Index i = blockIdx.x * Index{kGromosThreads} + threadIdx.x; i < task.frames; i += all) {
        const int own = task.counts[i];
        int count = own;
        for (int part = 1; part < task.parts; ++part) count += task.all_counts[part][i];
        const unsigned long long key = choice_key(count, i);
        if (own >= 0 && key > best) best = key;
    }
    for (int apart = 16; apart > 0; apart /= 2) {
        const unsigned long long other = __shfl_xor_sync(~0u, best, apart);
        best = other > best ? other : best;
    }
    if (threadIdx.x % 32 == 0 && best != 0) atomicMax(&task.state->best[step % 2], best);
}

/// Called by a warp: calls visit(square, mask) for up to kStride squares from `first` on. Bit l of
/// the mask, the same on all lanes, is set if frame 32 square + l is a neighbour.
template <class Visit>
__device__ __forceinline__ void visit_neighbours(const BitTiles& bits, Index frame, Index first,
                                                 const Visit& visit) {
    const Index own = frame / kBitSide;
    const int lane = threadIdx.x % 32, position = static_cast<int>(frame % kBitSide);
    const Index later = first + lane;
    const unsigned row =
        later >= own && later < bits.side && bits.has(own) ? bits.word(frame, later) : 0;
    constexpr int kAhead = 8;
    for (int from = 0; from < kStride; from += kAhead) {
        unsigned column[kAhead];
#pragma unroll
        for (int n = 0; n < kAhead; ++n) {
            const Index square = first + from + n;
            column[n] = square <= own && bits.has(square) ? bits.square(square, own)[lane] : 0;
        }
#pragma unroll
        for (int n = 0; n < kAhead; ++n) {
            const Index square = first + from + n;
            const unsigned mask = __shfl_sync(~0u, row, from + n) |
                                  __ballot_sync(~0u, static_cast<int>(column[n] >> position & 1));
            if (square < bits.side && mask != 0) visit(square, mask);
        }
    }
}

/// Second kernel, on every part: makes the chosen frame and its active neighbours cluster `step`.
/// One warp per square.
static __global__ void __launch_bounds__(kGromosThreads) assign_cluster(GromosTask task, int step) {
    const unsigned long long best = task.first_state->best[step % 2];
    const int lane = threadIdx.x % 32;
    const bool is_first = blockIdx.x == 0 && threadIdx.x == 0;
    if (count_of(best) <= 0) {
        if (is_first) task.state->done = 1;
        return;
    }
    const Index centre = frame_of(best);
    if (is_first) {
        task.centres[step] = static_cast<std::int32_t>(centre);
        task.state->clusters = step + 1;
    }
    const Index warp = (blockIdx.x * Index{kGromosThreads} + threadIdx.x) / 32;
    const Index warps = static_cast<Index>(gridDim.x) * (kGromosThreads / 32);
    const auto take = [&](Index square, unsigned mask) {
        mask &= task.active[square];
        __syncwarp();  // wait until the other lanes have read what this lane overwrites
        if (mask >> lane & 1) {
            const Index i = square * kBitSide + lane;
            task.assignment[i] = step;
            task.counts[i] = -1;
            task.members[atomicAdd(&task.state->members[step % 2], 1u)] =
                static_cast<std::uint32_t>(i);
        }
        if (lane == 0) task.active[square] &= ~mask;
        __syncwarp();
    };
    for (Index first = warp * kStride; first < task.all.side; first += warps * kStride) {
        visit_neighbours(task.all, centre, first, take);
        const Index own = centre / kBitSide;
        if (own >= first && own < first + kStride) take(own, 1u << centre % kBitSide);
    }
}

/// Third kernel, on every part: subtracts the members from the counts of their neighbours by the
/// part's own bits, and prepares the state for the next cluster.
static __global__ void __launch_bounds__(kGromosThreads)
    subtract_members(GromosTask task, int step) {
    const int lane = threadIdx.x % 32;
    const Index warp = (blockIdx.x * Index{kGromosThreads} + threadIdx.x) / 32;
    const Index warps = static_cast<Index>(gridDim.x) * (kGromosThreads / 32);
    const Index strides = (task.own.side + kStride - 1) / kStride;
    const Index members = task.state->members[step % 2];
    for (Index n = warp; n < members * strides; n += warps) {
        visit_neighbours(task.own, task.members[n / strides], n % strides * kStride,
                         [&](Index square, unsigned mask) {
                             if ((mask & task.active[square]) >> lane & 1)
                                 atomicAdd(task.counts + square * kBitSide + lane, -1);
                         });
    }
    if (blockIdx.x != 0 || threadIdx.x != 0) return;
    task.state->best[(step + 1) % 2] = 0;
    task.state->members[(step + 1) % 2] = 0;
}

/// Number of clusters between two checks by the host whether clustering has finished.
constexpr int kClustersAtOnce = 64;

/// The part of one GPU: all frames, and the neighbour bits of its share of rows. `Gpu`:
/// pleat::cuda::PeerGpu or similar. Functions are called on the GPU's own thread, except cluster().
template <class Gpu>
class GpuGromos {
public:
    /// Throws DeviceError if GPU memory is too small.
    GpuGromos(const FrameSource& frames, int threads, Gpu gpu, BitShare share = {})
        : work_(frames, TileFormat::half, threads, std::move(gpu)), share_(share) {
        const Index count = frames.frame_count();
        const std::string part =
            share.parts == 1 ? "" : " on one of " + std::to_string(share.parts) + " GPUs";
        require_memory(bit_memory(count, share.parts),
                       "neighbours of " + std::to_string(count) + " frames" + part,
                       "take fewer frames, more GPUs, --device auto or --device cpu",
                       std::max<std::int64_t>(work_.gpu().free_bytes() - kReserve, 0),
                       " on " + work_.gpu().name());
        bands_ = divide_bit_rows(count, share.parts);
        side_ = bit_side(count);
        allocate(count);
    }

    /// Marks the pairs below `cutoff` in the rows of this part. Throws Cancelled.
    void find_neighbours(double cutoff, const Context& context) {
        const Index frames = work_.frames();
        const auto limit = static_cast<float>(cutoff);
        const BitSink sink{own_bits(), counts_.data(), limit, limit * limit};
        StageProgress progress(context, "neighbours", frames);
        Index launched = 0;
        for (const BitBand& band : bands_) {
            if (band.part == share_.part) {
                work_.run(band.rows, sink);
                launched += squares_of(band.rows, frames) * kBitSide * kBitSide;
            }
            const Index end = band.rows.first + band.rows.count;
            if (launched < kLaunchPairs && end < frames) continue;
            work_.gpu().wait();
            launched = 0;
            progress.check();
            progress.advance_to(end);
        }
    }

    /// Gives this part access to the neighbours that all parts have found; `parts` includes this
    /// one, in order. Call it once, before cluster().
    void join(const std::vector<GpuGromos*>& parts) {
        std::vector<unsigned*> rows(rows_.size());
        std::vector<const int*> counts;
        for (const GpuGromos* part : parts) {
            if (part != this) work_.gpu().read_memory_of(part->work_.gpu());
            counts.push_back(part->counts_.data());
            for (std::size_t row = 0; row < rows.size(); ++row)
                if (part->rows_[row] != nullptr) rows[row] = part->rows_[row];
        }
        all_rows_.upload(rows.data());
        all_counts_ = Array<const int*>(std::ssize(counts));
        all_counts_.upload(counts.data());
        const Index frames = work_.frames();
        std::vector<unsigned> active(side_, ~0u);
        if (frames % kBitSide != 0) active.back() = (1u << frames % kBitSide) - 1;
        active_.upload(active.data());
        const std::vector<std::int32_t> none(frames, -1);
        assignment_.upload(none.data());
        task_ = {own_bits(),
                 {all_rows_.data(), side_},
                 frames,
                 counts_.data(),
                 all_counts_.data(),
                 static_cast<int>(counts.size()),
                 active_.data(),
                 assignment_.data(),
                 centres_.data(),
                 members_.data(),
                 state_.data(),
                 parts.front()->state_.data()};
        work_.gpu().wait();  // another thread launches what follows
    }

    /// Clusters the frames by the neighbours of all parts, each of which has called join(). The
    /// calling thread, that of the first part, drives all GPUs, and they have ended their work when
    /// this returns or throws.
    static DeviceClusters cluster(const std::vector<GpuGromos*>& parts, const Context& context) {
        GpuGromos& first = *parts.front();
        const WaitForAll at_end{parts};
        StageProgress progress(context, "clusters", first.work_.frames());
        GromosState state{};
        for (int step = 0; state.done == 0;) {
            for (int n = 0; n < kClustersAtOnce; ++n) find_cluster(parts, step++);
            first.work_.gpu().use();
            first.state_.download(&state, 0, 1);
            progress.check();
            progress.advance_to(std::min<Index>(state.clusters, first.work_.frames()));
        }
        return first.finish(state.clusters);
    }

    const BitShare& share() const { return share_; }
    TiledFrames<Gpu>& work() { return work_; }

    /// Number of neighbours of each frame according to this part's bits; call it before cluster().
    std::vector<int> neighbour_counts() const {
        std::vector<int> counts(work_.frames());
        counts_.download(counts.data(), 0, work_.frames());
        return counts;
    }

private:
    template <class T>
    using Array = typename Gpu::template Array<T>;

    struct WaitForAll {
        const std::vector<GpuGromos*>& parts;

        ~WaitForAll() {
            for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
                try {
                    (*part)->work_.gpu().use();
                    (*part)->work_.gpu().wait();
                } catch (const DeviceError&) {
                    // Another call has reported it.
                }
            }
        }
    };

    void allocate(Index count) {
        Index squares = 0;
        for (const BitBand& band : bands_)
            if (band.part == share_.part) squares += squares_of(band.rows, count);
        words_ = Array<unsigned>(std::max<Index>(squares, 1) * kBitSide);
        rows_.assign(side_, nullptr);
        unsigned* next = words_.data();
        for (const BitBand& band : bands_) {
            if (band.part != share_.part) continue;
            const Index end = bit_side(band.rows.first + band.rows.count);
            for (Index row = band.rows.first / kBitSide; row < end; ++row) {
                rows_[row] = next;
                next += (side_ - row) * kBitSide;
            }
        }
        own_rows_ = Array<unsigned*>(side_);
        own_rows_.upload(rows_.data());
        all_rows_ = Array<unsigned*>(side_);
        counts_ = Array<int>(side_ * kBitSide);
        active_ = Array<unsigned>(side_);
        assignment_ = Array<std::int32_t>(count);
        centres_ = Array<std::int32_t>(count);
        members_ = Array<std::uint32_t>(count);
        state_ = Array<GromosState>(1);
    }

    BitTiles own_bits() const { return {own_rows_.data(), side_}; }

    /// Launches one step on all parts. The first part chooses the centre after all others have
    /// subtracted the previous cluster; the others continue after it has chosen.
    static void find_cluster(const std::vector<GpuGromos*>& parts, int step) {
        const GpuGromos& first = *parts.front();
        const Sides threads{kGromosThreads};
        first.work_.gpu().use();
        for (const GpuGromos* part : parts)
            if (part != &first) first.work_.gpu().wait_for(part->event_);
        // Reading counts from other GPUs has a long latency, which more threads hide.
        const Index ctas = (parts.size() == 1 ? 2 : 8) * first.work_.gpu().processors();
        first.work_.gpu().launch("find the largest cluster", &find_largest, Sides{ctas}, threads, 0,
                                 first.task_, step);
        if (parts.size() > 1) first.work_.gpu().record(first.event_);
        for (const GpuGromos* part : parts) {
            const Gpu& gpu = part->work_.gpu();
            const Sides all{8 * gpu.processors()};
            gpu.use();
            if (part != &first) gpu.wait_for(first.event_);
            gpu.launch("assign a cluster", &assign_cluster, all, threads, 0, part->task_, step);
            gpu.launch("subtract a cluster", &subtract_members, all, threads, 0, part->task_, step);
            if (part != &first) gpu.record(part->event_);
        }
    }

    /// Frames without neighbours become clusters of one frame at the end.
    DeviceClusters finish(Index clusters) const {
        DeviceClusters found;
        found.assignment.resize(work_.frames());
        assignment_.download(found.assignment.data(), 0, work_.frames());
        found.centres.resize(clusters);
        if (clusters > 0) centres_.download(found.centres.data(), 0, clusters);
        for (std::size_t i = 0; i < found.assignment.size(); ++i) {
            if (found.assignment[i] >= 0) continue;
            found.assignment[i] = static_cast<std::int32_t>(found.centres.size());
            found.centres.push_back(static_cast<std::int32_t>(i));
        }
        return found;
    }

    TiledFrames<Gpu> work_;
    BitShare share_;
    std::vector<BitBand> bands_;
    Index side_ = 0;
    std::vector<unsigned*> rows_;  ///< on the GPU, where the rows of this part begin; else null
    Array<unsigned> words_, active_;
    Array<unsigned*> own_rows_, all_rows_;
    Array<int> counts_;
    Array<const int*> all_counts_;
    Array<std::int32_t> assignment_, centres_;
    Array<std::uint32_t> members_;
    Array<GromosState> state_;
    GromosTask task_{};
    /// First part: a centre was chosen. Other parts: a cluster was subtracted.
    typename Gpu::Event event_;
};

/// Clusters with all lanes of this process, each of which contributes its part after finding all
/// neighbours; alone if it is the only part. All lanes get the result. A collective call.
template <class Gpu>
DeviceClusters cluster_together(GpuGromos<Gpu>& own, const Context& context) {
    if (own.share().parts == 1) {
        own.join({&own});
        return GpuGromos<Gpu>::cluster({&own}, context);
    }
    const std::vector<GpuGromos<Gpu>*> parts = objects_of_lanes(context, own);
    own.join(parts);
    DeviceClusters found;
    const std::vector<DeviceClusters*> results = objects_of_lanes(context, found);
    if (own.share().part == 0) found = GpuGromos<Gpu>::cluster(parts, context);
    wait_for_ranks(context);
    if (own.share().part != 0) found = *results.front();
    wait_for_ranks(context);
    return found;
}

}  // namespace pleat::rmsd::cuda

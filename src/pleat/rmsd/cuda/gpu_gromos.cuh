// GROMOS clustering on one GPU or several without stored neighbours: each frame's number of
// neighbours, lowered as clusters leave.
#pragma once

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "pleat/core/error.h"
#include "pleat/core/files/hash.h"
#include "pleat/core/files/npy.h"
#include "pleat/core/loops/iterate.h"
#include "pleat/core/loops/steps.h"
#include "pleat/core/ranks/lanes.h"
#include "pleat/rmsd/cuda/tile_pack.h"
#include "pleat/rmsd/cuda/tiled_frames.cuh"
#include "pleat/rmsd/kernel/kernel.h"

namespace pleat::rmsd::cuda {

/// The clustering state of one part. Two copies of what other parts read alternate, so that a part
/// can prepare one while others still read the other.
struct GromosState {
    unsigned long long best[2];    ///< neighbours + 1 of the best frame of this part, and its index
                                   ///< from behind; 0: none
    unsigned active[2];            ///< frames of this part that have neighbours
    unsigned members, candidates;  ///< of the newest cluster, in this part
    unsigned rows;                 ///< frames in the block: the centre, then all members
    std::uint32_t centre;
    int clusters;
    int done;  ///< no frame has a neighbour left
};

/// What other parts read of a part.
struct GromosPart {
    const GromosState* state;
    const std::uint32_t* members;
};

/// The arrays of one part (GPU), which owns some of the frames. A frame is active if its count is
/// above 0: it is in no cluster and has neighbours that are in none either.
struct GromosTask {
    const std::uint32_t* owned;  ///< [owned_count]
    Index owned_count;
    int* counts;               ///< [frame]: active neighbours; -1: in a cluster. Of owned frames
    std::int32_t* assignment;  ///< [frame]: of owned frames
    std::int32_t* centres;     ///< [cluster]
    std::uint32_t *members, *candidates;  ///< of the newest cluster, in any order
    FrameSlots block;                     ///< its centre; then all members, and the candidates
    GromosState* state;
    const GromosPart* all;  ///< [part]
    int parts;
    unsigned* doubt_counts;
};

constexpr int kGromosThreads = 256, kMaxParts = 64;

/// Combines a count and a frame into a number that is larger for larger counts and, for equal
/// counts, for lower frames.
__device__ __forceinline__ unsigned long long choice_key(int count, std::uint32_t frame) {
    return static_cast<unsigned long long>(count + 1) << 32 | (0xffffffffu - frame);
}
__device__ __forceinline__ std::uint32_t frame_of(unsigned long long key) {
    return 0xffffffffu - static_cast<std::uint32_t>(key);
}

/// Finds the owned frame with the most active neighbours, the lowest of several.
static __global__ void __launch_bounds__(kGromosThreads) find_largest(GromosTask task, int step) {
    const Index all = static_cast<Index>(gridDim.x) * kGromosThreads;
    unsigned long long best = 0;
    unsigned active = 0;
    for (Index n = blockIdx.x * Index{kGromosThreads} + threadIdx.x; n < task.owned_count;
         n += all) {
        const std::uint32_t i = task.owned[n];
        const int count = task.counts[i];
        if (count <= 0) continue;
        ++active;
        const unsigned long long key = choice_key(count, i);
        best = key > best ? key : best;
    }
    for (int apart = 16; apart > 0; apart /= 2) {
        const unsigned long long other = __shfl_xor_sync(~0u, best, apart);
        best = other > best ? other : best;
        active += __shfl_xor_sync(~0u, active, apart);
    }
    if (threadIdx.x % 32 != 0 || active == 0) return;
    atomicMax(&task.state->best[step % 2], best);
    atomicAdd(&task.state->active[step % 2], active);
}

/// One warp: chooses the centre among the best frames of all parts, makes it the only row of the
/// block, and prepares the state for the next cluster.
static __global__ void __launch_bounds__(32)
    begin_cluster(TileTask frames, GromosTask task, int step) {
    unsigned long long best = 0;
    for (int part = 0; part < task.parts; ++part) {
        const unsigned long long other = task.all[part].state->best[step % 2];
        best = other > best ? other : best;
    }
    GromosState& state = *task.state;
    const std::uint32_t centre = frame_of(best);
    if (threadIdx.x == 0) {
        state.best[(step + 1) % 2] = 0;
        state.active[(step + 1) % 2] = 0;
        state.members = state.candidates = 0;
        state.rows = best != 0;
        state.centre = centre;
        for (int n = 0; n < kDoubtCounts; ++n) task.doubt_counts[n] = 0;
        if (best == 0) {
            state.done = 1;
        } else {
            task.centres[step] = static_cast<std::int32_t>(centre);
            state.clusters = step + 1;
        }
    }
    if (best != 0) copy_frame<TileFormat::half>(frames, centre, task.block, 0);
}

/// Makes active frames below the cutoff from the centre members of its cluster. Others that may be
/// neighbours of a member become candidates: the RMSD is a metric, so their distance from the
/// centre is below twice the cutoff.
struct MemberSink {
    struct Local {};
    static constexpr TilePrecision kPrecision = TilePrecision::coarse;
    static constexpr bool kIsTriangle = false;

    GromosTask task;
    CoarseCutoff cutoff, reach;
    int step;

    __device__ __forceinline__ void open(Words* memory) const {
        if (threadIdx.x < 2) marks(memory)[threadIdx.x] = 0;
    }
    __device__ __forceinline__ bool put(Local&, Words* memory, const ListPosition& position,
                                        int row, int column, const Solved& solved) const {
        const std::uint32_t id = position.column_id(column);
        if (task.counts[id] <= 0) return true;
        const Side side = id == position.row_id(row) ? Side::below : cutoff.side_of(solved);
        if (side == Side::below)
            mark(memory, 0, column);
        else if (side == Side::above && reach.side_of(solved) != Side::above)
            mark(memory, 1, column);
        return side != Side::unknown;
    }
    __device__ __forceinline__ void put_exact(Local&, Words* memory, const ListPosition&, int,
                                              int column, float value) const {
        if (value < reach.value) mark(memory, value < cutoff.value ? 0 : 1, column);
    }
    /// The first warp appends the marked columns to the lists.
    __device__ __forceinline__ void close(const Local&, Words* memory,
                                          const ListPosition& position) const {
        const int lane = threadIdx.x;
        if (lane >= 32) return;
        for (int list = 0; list < 2; ++list) {
            const unsigned mask = marks(memory)[list];
            unsigned first = 0;
            if (lane == 0 && mask != 0)
                first = atomicAdd(list == 0 ? &task.state->members : &task.state->candidates,
                                  static_cast<unsigned>(__popc(mask)));
            first = __shfl_sync(~0u, first, 0);
            if ((mask >> lane & 1) != 0)
                append(list, first + __popc(mask & ((1u << lane) - 1)), position.column_id(lane));
        }
    }
    __device__ __forceinline__ void put_recomputed(Index i, Index j, float value) const {
        if (!(value < reach.value)) return;
        const auto id = static_cast<std::uint32_t>(i == task.state->centre ? j : i);
        const int list = value < cutoff.value ? 0 : 1;
        append(list, atomicAdd(list == 0 ? &task.state->members : &task.state->candidates, 1u), id);
    }

private:
    __device__ __forceinline__ static unsigned* marks(Words* memory) {
        return reinterpret_cast<unsigned*>(memory);
    }
    __device__ __forceinline__ static void mark(Words* memory, int list, int column) {
        atomicOr(marks(memory) + list, 1u << column);
    }
    __device__ __forceinline__ void append(int list, unsigned at, std::uint32_t id) const {
        (list == 0 ? task.members : task.candidates)[at] = id;
        if (list == 1) return;
        task.assignment[id] = step;
        task.counts[id] = -1;
    }
};

/// Copies the members of all parts and the candidates of this one into the block; without
/// candidates, none.
static __global__ void __launch_bounds__(kGatherThreads)
    gather_block(TileTask frames, GromosTask task) {
    __shared__ unsigned members[kMaxParts];
    if (threadIdx.x < static_cast<unsigned>(task.parts))
        members[threadIdx.x] = task.all[threadIdx.x].state->members;
    __syncthreads();
    const Index candidates = task.state->candidates;
    Index rows = 0;
    for (int part = 0; part < task.parts && candidates > 0; ++part) rows += members[part];
    if (blockIdx.x == 0 && threadIdx.x == 0) task.state->rows = static_cast<unsigned>(rows);
    const Index first = (rows + kPanelFrames - 1) / kPanelFrames * kPanelFrames;
    const Index warps = static_cast<Index>(gridDim.x) * (kGatherThreads / 32);
    for (Index n = (blockIdx.x * Index{kGatherThreads} + threadIdx.x) / 32; n < rows + candidates;
         n += warps) {
        Index in_part = n;
        int part = 0;
        if (n < rows)
            for (; in_part >= members[part]; ++part) in_part -= members[part];
        const std::uint32_t id =
            n < rows ? task.all[part].members[in_part] : task.candidates[n - rows];
        // A member that another part owns, too, is told from candidates by its count.
        if (n < rows && threadIdx.x % 32 == 0) task.counts[id] = -1;
        copy_frame<TileFormat::half>(frames, id, task.block, n < rows ? n : first + n - rows);
    }
}

/// Lowers the counts of candidates (columns) by the number of members (rows) near them.
struct LoweringSink : NeighbourSink {
    static constexpr bool kIsTriangle = false;

    __device__ __forceinline__ void close(const Local&, Words* memory,
                                          const ListPosition& position) const {
        const int column = threadIdx.x;
        if (column >= kPanelFrames) return;
        const int count = TileMarks{memory}.of_column(column);
        if (count != 0) atomicAdd(counts + position.column_id(column), -count);
    }
    __device__ __forceinline__ void put_recomputed(Index i, Index j, float value) const {
        if (value < cutoff.value) atomicAdd(counts + (counts[i] < 0 ? j : i), -1);
    }
};

/// Which of several GPUs.
struct GpuShare {
    int part = 0, parts = 1;
};

/// The part of one GPU: all frames, and the counts of those that it owns. `Gpu`:
/// pleat::cuda::PeerGpu or similar. Functions are called on the GPU's own thread until join().
template <class Gpu>
class GpuGromos {
public:
    /// Throws DeviceError if GPU memory is too small.
    GpuGromos(const FrameSource& frames, int threads, Gpu gpu, GpuShare share = {})
        : work_(frames, TileFormat::half, threads, std::move(gpu)), share_(share) {
        const Index count = frames.frame_count();
        if (share.parts > kMaxParts) throw DeviceError("at most 64 GPUs find clusters together");
        require_memory(gromos_memory(count, frames.atom_count()),
                       "clusters of " + std::to_string(count) + " frames",
                       "take fewer frames, --device auto or --device cpu",
                       std::max<std::int64_t>(work_.gpu().free_bytes() - kReserve, 0),
                       " on " + work_.gpu().name());
        const Index chunks = work_.task().chunks;
        owned_ = {count, chunks, TileFormat::half};
        block_ = {count + 2 * kPanelFrames, chunks, TileFormat::half};
        counts_ = Array<int>(count);
        assignment_ = Array<std::int32_t>(count);
        centres_ = Array<std::int32_t>(count);
        members_ = Array<std::uint32_t>(count);
        candidates_ = Array<std::uint32_t>(count);
        state_ = Array<GromosState>(1);
    }

    /// Returns each frame's number of neighbours in this part's share of all pairs. Throws
    /// Cancelled.
    std::vector<std::int32_t> count_neighbours(double cutoff, const Context& context) {
        constexpr Index kBandsOfPart = 8;
        const Index frames = work_.frames(), all = pairs_before(frames, frames);
        const Index pairs = std::min(kLaunchPairs, all / (kBandsOfPart * share_.parts) + 1);
        const NeighbourSink sink{counts_.data(), cutoff_at(cutoff)};
        work_.gpu().clear(counts_, frames);
        StageProgress progress(context, "neighbours", frames);
        int band = 0;
        for (Block rows = rows_of(0, frames, frames, pairs); rows.count > 0;
             rows = rows_of(rows.first + rows.count, frames, frames, pairs), ++band) {
            if (band % share_.parts != share_.part) continue;
            work_.run(rows, sink);
            work_.gpu().wait();
            progress.check();
            progress.advance_to(rows.first + rows.count);
        }
        std::vector<std::int32_t> counts(frames);
        counts_.download(counts.data(), 0, frames);
        return counts;
    }

    /// Gives this part access to all parts, in order, which include this one.
    void join(const std::vector<GpuGromos*>& parts) {
        std::vector<GromosPart> all;
        for (const GpuGromos* part : parts) {
            if (part != this) work_.gpu().read_memory_of(part->work_.gpu());
            all.push_back({part->state_.data(), part->members_.data()});
        }
        all_ = Array<GromosPart>(std::ssize(all));
        all_.upload(all.data());
        work_.gpu().wait();  // another thread launches what follows
    }

    /// Makes these frames (ascending) the owned ones, and sets the counts of all.
    void own(const std::vector<std::uint32_t>& ids, const std::vector<std::int32_t>& counts) {
        const auto count = std::ssize(ids);
        counts_.upload(counts.data(), 0, std::ssize(counts));
        if (count > 0) owned_.ids.upload(ids.data(), 0, count);
        work_.template gather<TileFormat::half>(owned_.slots(), count);
        columns_ = {owned_.frames(), 0, count};
        task_ = {owned_.ids.data(),
                 count,
                 counts_.data(),
                 assignment_.data(),
                 centres_.data(),
                 members_.data(),
                 candidates_.data(),
                 block_.slots(),
                 state_.data(),
                 all_.data(),
                 static_cast<int>(all_.size()),
                 work_.task().doubts.count};
    }

    void find_largest_cluster(int step) {
        work_.gpu().launch("find the largest cluster", &find_largest,
                           Sides{2 * work_.gpu().processors()}, Sides{kGromosThreads}, 0, task_,
                           step);
    }
    void assign_members(int step, double cutoff) {
        // Wide enough for the rounding of three distances.
        const double reach = 2.0 * cutoff * (1.0 + 1e-5) + 1e-6;
        work_.gpu().launch("begin a cluster", &begin_cluster, Sides{1}, Sides{32}, 0, work_.task(),
                           task_, step);
        work_.run_lists(work_.task(), {block_.frames(), 0, 0, &state_.data()->rows}, columns_,
                        MemberSink{task_, cutoff_at(cutoff), cutoff_at(reach), step});
    }
    void subtract_members(double cutoff) {
        const unsigned* const rows = &state_.data()->rows;
        work_.gpu().launch("gather a cluster", &gather_block, Sides{8 * work_.gpu().processors()},
                           Sides{kGatherThreads}, 0, work_.task(), task_);
        TileTask task = work_.task();
        ++task.doubts.count;
        work_.run_lists(task, {block_.frames(), 0, 0, rows},
                        {block_.frames(), 0, 0, &state_.data()->candidates, rows},
                        LoweringSink{{counts_.data(), cutoff_at(cutoff)}});
    }

    GromosState state() const {
        GromosState state{};
        state_.download(&state, 0, 1);
        return state;
    }
    void set_state(const GromosState& state) { state_.upload(&state, 0, 1); }
    /// Copies the counts and the assignment of all frames, of which the owned ones are current.
    void download(std::vector<std::int32_t>& counts, std::vector<std::int32_t>& assignment) const {
        counts_.download(counts.data(), 0, std::ssize(counts));
        assignment_.download(assignment.data(), 0, std::ssize(assignment));
    }
    void download_centres(std::int32_t* to, Index first, Index count) const {
        centres_.download(to, first, count);
    }

    const GpuShare& share() const { return share_; }
    const Gpu& gpu() const { return work_.gpu(); }
    Index frames() const { return work_.frames(); }
    const typename Gpu::Event& event() const { return event_; }

private:
    template <class T>
    using Array = typename Gpu::template Array<T>;

    TiledFrames<Gpu> work_;
    GpuShare share_;
    SlotArrays<Gpu> owned_, block_;
    Array<int> counts_;
    Array<std::int32_t> assignment_, centres_;
    Array<std::uint32_t> members_, candidates_;
    Array<GromosState> state_;
    Array<GromosPart> all_;
    FrameList columns_{};
    GromosTask task_{};
    typename Gpu::Event event_;  ///< this part has ended a step
};

/// Clusters the frames of all parts, each of which has called join(). The calling thread, that of
/// the first part, drives all GPUs, and they have ended their work at destruction.
template <class Gpu>
class GromosRun final : public State {
public:
    GromosRun(const std::vector<GpuGromos<Gpu>*>& parts, GromosProblem problem)
        : parts_(parts), problem_(std::move(problem)), counts_(problem_.neighbours) {
        assignment_.assign(counts_.size(), -1);
    }
    ~GromosRun() override {
        for (auto part = parts_.rbegin(); part != parts_.rend(); ++part) {
            try {
                (*part)->gpu().use();
                (*part)->gpu().wait();
            } catch (const DeviceError&) {
                // Another call has reported it.
            }
        }
    }
    GromosRun(const GromosRun&) = delete;
    GromosRun& operator=(const GromosRun&) = delete;

    /// Frames without neighbours become clusters of one frame at the end.
    DeviceClusters run(const Context& context) {
        iterate(context, "clusters", *this, std::ssize(counts_) + 1,
                [&](std::int64_t) { return find_some(); });
        collect();
        for (std::size_t i = 0; i < assignment_.size(); ++i) {
            if (assignment_[i] >= 0) continue;
            assignment_[i] = static_cast<std::int32_t>(centres_.size());
            centres_.push_back(static_cast<std::int32_t>(i));
        }
        return {std::move(assignment_), std::move(centres_)};
    }

    std::string problem() const override {
        return Sha256().field(problem_.hash).field(problem_.cutoff).field("gromos on GPUs").hex();
    }
    bool reaches_limit() const override { return false; }
    std::int64_t bytes() const override { return 4 * 3 * std::ssize(counts_); }
    void save(NpzWriter& file) const override {
        collect();
        file.add("assignment", assignment_.data(), {std::ssize(assignment_)});
        file.add("centres", centres_.data(), {std::ssize(centres_)});
        file.add("counts", counts_.data(), {std::ssize(counts_)});
    }
    void load(const NpzReader& file) override {
        const auto read = [&](const char* name) {
            return file.get(name).template as<std::int32_t>(file.label(name));
        };
        std::vector<std::int32_t> assignment = read("assignment"), counts = read("counts");
        centres_ = read("centres");
        const auto clusters = static_cast<std::int32_t>(centres_.size());
        bool is_right = assignment.size() == counts_.size() && counts.size() == counts_.size();
        for (std::size_t i = 0; is_right && i < counts.size(); ++i)
            is_right = assignment[i] >= -1 && assignment[i] < clusters &&
                       (assignment[i] >= 0) == (counts[i] < 0);
        if (!is_right) throw InputError("expected the clusters of these frames, found others");
        assignment_ = std::move(assignment);
        counts_ = std::move(counts);
    }

private:
    /// Finds clusters for about the time between two checks whether to stop or save.
    Step find_some() {
        constexpr int kMaxAtOnce = 64;
        constexpr double kSeconds = 0.2;
        if (owned_.empty()) deal();
        const auto start = std::chrono::steady_clock::now();
        for (int n = 0; n < at_once_; ++n) find_cluster(step_++);
        Index active = 0;
        GromosState state{};
        for (auto part = parts_.rbegin(); part != parts_.rend(); ++part) {
            (*part)->gpu().use();
            state = (*part)->state();
            active += state.active[(step_ - 1) % 2];
        }
        const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
        at_once_ = taken.count() < kSeconds ? std::min(2 * at_once_, kMaxAtOnce)
                                            : std::max(at_once_ / 2, 1);
        step_ = state.clusters;
        if (state.done == 0 && active > kPanelFrames && 2 * active < dealt_) {
            collect();
            deal();
        }
        return {state.done != 0, std::to_string(state.clusters) + " clusters, " +
                                     std::to_string(active) + " frames left"};
    }

    /// Launches the kernels that find one cluster.
    void find_cluster(int step) {
        const auto on_each = [&](const auto& work) {
            for (GpuGromos<Gpu>* const part : parts_) {
                part->gpu().use();
                work(*part);
            }
        };
        on_each([&](auto& part) { part.find_largest_cluster(step); });
        wait_for_all();
        on_each([&](auto& part) { part.assign_members(step, problem_.cutoff); });
        wait_for_all();
        on_each([&](auto& part) { part.subtract_members(problem_.cutoff); });
    }

    /// Later launches on any GPU wait until earlier ones have ended on all.
    void wait_for_all() const {
        if (parts_.size() == 1) return;
        const GpuGromos<Gpu>& first = *parts_.front();
        for (const GpuGromos<Gpu>* const part : parts_) {
            if (part == &first) continue;
            part->gpu().use();
            part->gpu().record(part->event());
        }
        first.gpu().use();
        for (const GpuGromos<Gpu>* const part : parts_)
            if (part != &first) first.gpu().wait_for(part->event());
        first.gpu().record(first.event());
        for (const GpuGromos<Gpu>* const part : parts_) {
            if (part == &first) continue;
            part->gpu().use();
            part->gpu().wait_for(first.event());
        }
    }

    /// Divides the active frames among the parts.
    void deal() {
        step_ = static_cast<int>(centres_.size());
        owned_.assign(parts_.size(), {});
        std::vector<std::uint32_t> active;
        for (std::size_t i = 0; i < counts_.size(); ++i)
            if (counts_[i] > 0) active.push_back(static_cast<std::uint32_t>(i));
        dealt_ = std::ssize(active);
        for (std::size_t n = 0; n < active.size(); ++n)
            owned_[n % owned_.size()].push_back(active[n]);
        for (std::size_t part = 0; part < parts_.size(); ++part) {
            parts_[part]->gpu().use();
            parts_[part]->own(owned_[part], counts_);
            GromosState state{};
            state.clusters = step_;
            parts_[part]->set_state(state);
        }
    }

    /// Brings the counts, the assignment and the centres up to date.
    void collect() const {
        std::vector<std::int32_t> counts(counts_.size()), assignment(counts_.size());
        for (std::size_t part = 0; part < owned_.size(); ++part) {
            parts_[part]->gpu().use();
            parts_[part]->download(counts, assignment);
            for (const std::uint32_t i : owned_[part]) {
                if (counts[i] < 0 && assignment_[i] < 0) assignment_[i] = assignment[i];
                counts_[i] = counts[i];
            }
        }
        const Index before = std::ssize(centres_);
        if (step_ <= before) return;
        centres_.resize(step_);
        parts_.front()->gpu().use();
        parts_.front()->download_centres(centres_.data() + before, before, step_ - before);
    }

    std::vector<GpuGromos<Gpu>*> parts_;
    GromosProblem problem_;
    std::vector<std::vector<std::uint32_t>> owned_;  ///< [part]; empty before the first deal()
    Index dealt_ = 0;                                ///< active frames at the last deal()
    int step_ = 0, at_once_ = 1;
    // As of the last collect():
    mutable std::vector<std::int32_t> counts_, assignment_, centres_;
};

/// Clusters with all lanes of this process, each of which contributes its part; alone if it is the
/// only part. All lanes get the result. A collective call.
template <class Gpu>
DeviceClusters cluster_together(GpuGromos<Gpu>& own, GromosProblem problem,
                                const Context& context) {
    Context alone = context;
    alone.comm = nullptr;
    if (context.rank() > 0) alone.checkpoint.clear();
    const bool is_counted = !problem.neighbours.empty();
    if (!is_counted) problem.neighbours = own.count_neighbours(problem.cutoff, context);
    if (own.share().parts == 1) {
        own.join({&own});
        return GromosRun<Gpu>({&own}, std::move(problem)).run(alone);
    }
    const std::vector<GpuGromos<Gpu>*> parts = objects_of_lanes(context, own);
    own.join(parts);
    const std::vector<GromosProblem*> problems = objects_of_lanes(context, problem);
    DeviceClusters found;
    const std::vector<DeviceClusters*> results = objects_of_lanes(context, found);
    if (own.share().part == 0) {
        for (std::size_t part = 1; part < problems.size() && !is_counted; ++part)
            for (std::size_t i = 0; i < problem.neighbours.size(); ++i)
                problem.neighbours[i] += problems[part]->neighbours[i];
        found = GromosRun<Gpu>(parts, std::move(problem)).run(alone);
    }
    wait_for_ranks(context);
    if (own.share().part != 0) found = *results.front();
    wait_for_ranks(context);
    return found;
}

}  // namespace pleat::rmsd::cuda

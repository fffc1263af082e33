// The CUDA kernel of saxs: tasks and factors stay on the GPU; small calls are one graph.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "pleat/core/cuda_device.h"
#include "pleat/core/error.h"
#include "pleat/core/memory.h"
#include "pleat/saxs/body_pairs.h"
#include "pleat/saxs/device_memory.cuh"
#include "pleat/saxs/kernel.h"
#include "pleat/saxs/pair_launch.cuh"
#include "pleat/saxs/pair_sums.h"
#include "pleat/saxs/task_table.h"

namespace pleat::saxs {

namespace {

using namespace cuda;

/// Bytes of positions up to which a call is a graph.
constexpr Index kSmallBytes = Index{1} << 20;
/// Bytes for the sums of tasks in one launch, unless one job needs more.
constexpr Index kSumBytes = Index{128} << 20;
/// Jobs of a launch: what a grid takes.
constexpr Index kMostJobs = 65535;

class CudaBodyPairs final : public BodyPairs {
public:
    CudaBodyPairs(const Model& model, const Runs& runs)
        : model_(model), runs_(runs), classes_(model), grid_(model.q), small_(runs, 1), bulk_(runs, 3) {
        factors_ = DeviceArray<double>(model.factors.size());
        factors_.upload(model.factors.data());
        std::vector<double> inverse_q;
        for (const double q : model.q) inverse_q.push_back(q > 0.0 ? 1.0 / q : 0.0);
        inverse_q_ = uploaded<double>(inverse_q);
        class_of_ = uploaded<std::int32_t>(
            std::vector<std::int32_t>(classes_.of_channel.begin(), classes_.of_channel.end()));
        make_passes();
        *done_.data() = ticket_;
    }
    ~CudaBodyPairs() override {
        cudaStreamSynchronize(stream_);
        for (auto& [size, graph] : graphs_) cudaGraphExecDestroy(graph);
    }

    void evaluate(View<const float, 3> xyz, View<const float, 3> scales,
                  std::span<const PairJob> jobs, View<double, 3> partial) override {
        if (jobs.empty()) return;
        const Index bytes = 4 * (xyz.size() + scales.size());
        const Index job_count = static_cast<Index>(jobs.size());
        if (bytes <= kSmallBytes && job_count <= kSmallJobs &&
            job_count * sum_bytes(small_.table.most) <= kSumBytes)
            evaluate_graph(xyz, scales, jobs, partial);
        else
            evaluate_bulk(xyz, scales, jobs, partial);
        if (model_.q.front() == 0.0) set_first(scales, jobs, partial);
    }

    double device_seconds() const override { return device_seconds_; }

private:
    static constexpr Index kSmallJobs = 4096;

    void set_first(View<const float, 3> scales, std::span<const PairJob> jobs,
                   View<double, 3> partial) {
        for (std::size_t n = 0; n < jobs.size(); ++n) {
            const bool scaled = scales.size() > 0;
            if (forward_set_ < 0 || (scaled && (n == 0 || forward_set_ != jobs[n].set))) {
                forward_ = forward_sums(model_, runs_,
                                        scaled ? scales[jobs[n].set] : View<const float, 2>{});
                forward_set_ = jobs[n].set;
            }
            set_forward(forward_, jobs[n], partial[static_cast<Index>(n)]);
        }
    }

    void make_passes() {
        pass_count_ = (model_.q_count() + kPassSums - 1) / kPassSums;
        std::vector<Split<float>> turns(static_cast<std::size_t>(pass_count_ * kPassSums));
        for (Index k = 0; k < model_.q_count(); ++k)
            turns[static_cast<std::size_t>(k)] =
                SineGrid::turns<float>(model_.q[static_cast<std::size_t>(k)]);
        turns_ = uploaded<Split<float>>(turns);
        std::vector<Pass> passes;
        for (Index pass = 0; pass < pass_count_; ++pass) {
            const double centre = static_cast<double>(pass * kPassSums + kReach);
            passes.push_back({SineGrid::turns<float>(grid_.step),
                              SineGrid::turns<float>(grid_.first + centre * grid_.step),
                              turns_.data() + pass * kPassSums});
        }
        passes_ = uploaded<Pass>(passes);
    }

    Scattering scattering(const DeviceTasks& tasks) const {
        return {tasks.tasks.data(),
                tasks.first.data(),
                passes_.data(),
                factors_.data(),
                inverse_q_.data(),
                class_of_.data(),
                static_cast<std::int32_t>(tasks.table.bodies),
                static_cast<std::int32_t>(pass_count_),
                static_cast<std::int32_t>(classes_.count),
                classes_.has_plain ? 1 : 0,
                static_cast<std::int32_t>(model_.channel_count()),
                static_cast<std::int32_t>(model_.type_count()),
                static_cast<std::int32_t>(model_.q_count()),
                grid_.from_zero ? 1 : 0};
    }

    /// Bytes of the sums of `tasks` tasks of a job.
    Index sum_bytes(Index tasks) const {
        return 4 * classes_.count * classes_.count * pass_count_ * tasks * kTaskSums;
    }
    Index profile_size() const { return model_.pair_count() * model_.q_count(); }

    Index q_blocks() const { return (model_.q_count() + kReducedQ - 1) / kReducedQ; }
    /// Depends on nothing but the tasks, so that sums do not depend on what else is computed.
    static Index slice_count(Index tasks) {
        return std::clamp<Index>((tasks + kParts * kPartTasks - 1) / (kParts * kPartTasks), 1,
                                 kMostSlices);
    }
    void grow_slices(Slices& slices, Index jobs, Index tasks) const {
        grow(slices.sums, jobs * profile_size() * slice_count(tasks));
        grow(slices.arrived, jobs * model_.pair_count() * q_blocks());
    }

    /// Launches what `work` is, for up to `jobs` jobs.
    void launch(const DeviceTasks& tasks, Work work, Index jobs, cudaStream_t stream) const {
        const Scattering from = scattering(tasks);
        const auto rows = static_cast<unsigned>(jobs);
        const dim3 grid(static_cast<unsigned>((work.task_count + kWarps - 1) / kWarps), rows,
                        static_cast<unsigned>(classes_.count * classes_.count * pass_count_));
        // A sine a pair and q hides what a scale of 1 costs.
        const auto sum = !grid_.even               ? sum_tasks<false, true>
                         : model_.scale_count() > 0 ? sum_tasks<true, true>
                                                    : sum_tasks<true, false>;
        if (work.task_count > 0) sum<<<grid, kWarps * kLanes, 0, stream>>>(from, work);
        check(cudaGetLastError(), "cannot start to sum over pairs");
        const dim3 reduction(static_cast<unsigned>(q_blocks() * work.slice_count), rows,
                             static_cast<unsigned>(model_.pair_count()));
        reduce_tasks<<<reduction, kReducedQ * kParts, 0, stream>>>(from, work);
        check(cudaGetLastError(), "cannot start to sum over tasks");
    }

    template <class Array>
    static void grow(Array& array, Index count) {
        if (array.size() >= count) return;
        array = Array();
        array = Array(count);
    }

    /// The place of everything that a small call sends, in one block of bytes.
    struct Layout {
        Index jobs, xyz, scales, bytes;
    };
    static Layout layout(Index job_capacity, Index xyz, Index scales) {
        const auto round = [](Index bytes) { return (bytes + 255) / 256 * 256; };
        Layout to{256, 0, 0, 0};
        to.xyz = to.jobs + round(job_capacity * static_cast<Index>(sizeof(PairJob)));
        to.scales = to.xyz + round(4 * xyz);
        to.bytes = to.scales + round(4 * scales);
        return to;
    }

    Work small_work(const Layout& at, const View<const float, 3>& xyz, Index scale_count) const {
        std::uint8_t* const base = device_block_.data();
        return {reinterpret_cast<const PairJob*>(base + at.jobs),
                reinterpret_cast<const std::int32_t*>(base),
                reinterpret_cast<const float*>(base + at.xyz),
                reinterpret_cast<const float*>(base + at.scales),
                xyz.extent(2),
                static_cast<std::int32_t>(scale_count),
                0,
                static_cast<std::int32_t>(small_.table.most),
                sums_.data(),
                results_.data(),
                0,
                static_cast<std::int32_t>(slice_count(small_.table.most)),
                small_slices_.sums.data(),
                small_slices_.arrived.data(),
                reinterpret_cast<const std::uint32_t*>(base) + 1,
                finished_.data(),
                done_.data()};
    }

    /// One graph: what is sent, taken out of the host's memory, both kernels, results written into it.
    /// A graph serves all calls of its number of sets with as many jobs or fewer.
    void evaluate_graph(View<const float, 3> xyz, View<const float, 3> scales,
                        std::span<const PairJob> jobs, View<double, 3> partial) {
        Index capacity = 1;
        while (capacity < static_cast<Index>(jobs.size())) capacity *= 2;
        const Layout at = layout(capacity, xyz.size(), scales.size());
        const std::pair key(xyz.extent(0), capacity);
        if (!graphs_.contains(key)) prepare(key, at, xyz, scales.extent(1));
        std::uint8_t* const block = host_block_.data();
        const auto count = static_cast<std::int32_t>(jobs.size());
        std::memcpy(block, &count, sizeof(count));
        ++ticket_;
        std::memcpy(block + sizeof(count), &ticket_, sizeof(ticket_));
        std::memcpy(block + at.jobs, jobs.data(), jobs.size_bytes());
        std::memcpy(block + at.xyz, xyz.data, static_cast<std::size_t>(4 * xyz.size()));
        if (scales.size() > 0)
            std::memcpy(block + at.scales, scales.data, static_cast<std::size_t>(4 * scales.size()));
        check(cudaGraphLaunch(graphs_.at(key), stream_), "cannot start a graph");
        wait();
        std::memcpy(partial.data, results_.data(),
                    static_cast<std::size_t>(partial.size()) * sizeof(double));
    }

    /// Until the last CTA has written this call's ticket into the host's memory, which is sooner than
    /// the stream tells its end; that is looked at now and then, for a GPU that fails.
    void wait() {
        constexpr int kLooks = 4096;
        const std::atomic_ref<std::uint32_t> done(*done_.data());
        while (true) {
            for (int look = 0; look < kLooks; ++look)
                if (done.load(std::memory_order_acquire) == ticket_) return;
            const cudaError_t status = cudaStreamQuery(stream_);
            if (status == cudaErrorNotReady) continue;
            check(status, "cannot compute profiles");
            return;
        }
    }

    /// Takes memory and captures the graph. Memory that moves makes all graphs stale.
    void prepare(std::pair<Index, Index> key, const Layout& at, const View<const float, 3>& xyz,
                 Index scale_count) {
        const Index sums = key.second * sum_bytes(small_.table.most) / 4;
        const Index results = key.second * profile_size();
        if (host_block_.size() < at.bytes || sums_.size() < sums || results_.size() < results) {
            check(cudaStreamSynchronize(stream_), "cannot compute profiles");
            for (auto& [size, graph] : graphs_) cudaGraphExecDestroy(graph);
            graphs_.clear();
            grow(host_block_, at.bytes);
            grow(device_block_, at.bytes);
            grow(sums_, std::max<Index>(sums, 1));
            grow(results_, results);
            grow_slices(small_slices_, key.second, small_.table.most);
            // Arrays are cleared in another stream.
            check(cudaDeviceSynchronize(), "cannot clear memory");
        }
        cudaGraph_t graph = nullptr;
        check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal),
              "cannot capture a graph");
        const Index count = at.bytes / static_cast<Index>(sizeof(uint4));
        fetch<<<static_cast<unsigned>((count + 255) / 256), 256, 0, stream_>>>(
            reinterpret_cast<const uint4*>(host_block_.data()),
            reinterpret_cast<uint4*>(device_block_.data()), count);
        check(cudaGetLastError(), "cannot copy to the device");
        launch(small_, small_work(at, xyz, scale_count), key.second, stream_);
        check(cudaStreamEndCapture(stream_, &graph), "cannot capture a graph");
        cudaGraphExec_t executable = nullptr;
        const cudaError_t status = cudaGraphInstantiate(&executable, graph, 0);
        cudaGraphDestroy(graph);
        check(status, "cannot make a graph");
        graphs_[key] = executable;
    }

    /// Many sets or large ones: jobs and tasks as many at a time as memory takes.
    void evaluate_bulk(View<const float, 3> xyz, View<const float, 3> scales,
                       std::span<const PairJob> jobs, View<double, 3> partial) {
        const Index count = static_cast<Index>(jobs.size()), size = profile_size();
        const Index most = bulk_.table.most;
        const Index at_once =
            std::clamp<Index>(kSumBytes / std::max<Index>(sum_bytes(most), 1), 1, kMostJobs);
        const Index tasks = std::clamp<Index>(kSumBytes / std::max<Index>(sum_bytes(1), 1), 1,
                                              std::max<Index>(most, 1));
        require(xyz, scales, std::min(at_once, count), std::min(tasks, most), count * size);
        grow(bulk_xyz_, xyz.size());
        bulk_xyz_.upload(xyz.data, 0, xyz.size());
        grow(bulk_scales_, std::max<Index>(scales.size(), 1));
        if (scales.size() > 0) bulk_scales_.upload(scales.data, 0, scales.size());
        DeviceArray<PairJob> device_jobs = uploaded<PairJob>(jobs);
        const std::vector<std::int32_t> counts{static_cast<std::int32_t>(std::min(at_once, count)),
                                               static_cast<std::int32_t>(count % at_once)};
        DeviceArray<std::int32_t> device_counts = uploaded<std::int32_t>(counts);
        grow(bulk_sums_, std::max<Index>(std::min(at_once, count) *
                                         sum_bytes(std::min(tasks, most)) / 4, 1));
        grow_slices(bulk_slices_, std::min(at_once, count), std::min(tasks, most));
        DeviceArray<double> device_partial(count * size);
        check(cudaDeviceSynchronize(), "cannot copy to the device");
        Timer timer(stream_);
        for (Index first = 0; first < count; first += at_once) {
            const Index now = std::min(at_once, count - first);
            for (Index task = 0; task == 0 || task < most; task += tasks) {
                const Index some = std::min(tasks, most - task);
                const Work work{device_jobs.data() + first,
                                device_counts.data() + (now == counts[0] ? 0 : 1),
                                bulk_xyz_.data(),
                                bulk_scales_.data(),
                                xyz.extent(2),
                                static_cast<std::int32_t>(scales.extent(1)),
                                static_cast<std::int32_t>(task),
                                static_cast<std::int32_t>(some),
                                bulk_sums_.data(),
                                device_partial.data() + first * size,
                                task > 0 ? 1 : 0,
                                static_cast<std::int32_t>(slice_count(some)),
                                bulk_slices_.sums.data(),
                                bulk_slices_.arrived.data(),
                                nullptr,
                                nullptr,
                                nullptr};
                launch(bulk_, work, now, stream_);
            }
        }
        device_seconds_ = timer.seconds();
        device_partial.download(partial.data);
    }

    void require(const View<const float, 3>& xyz, const View<const float, 3>& scales, Index jobs,
                 Index tasks, Index results) const {
        std::size_t free = 0, total = 0;
        check(cudaMemGetInfo(&free, &total), "cannot read its free memory");
        const Index held = 4 * (bulk_xyz_.size() + bulk_scales_.size() + bulk_sums_.size());
        require_memory(4 * (xyz.size() + scales.size()) + jobs * sum_bytes(tasks) +
                           8 * (results + jobs * profile_size() * slice_count(tasks)),
                       std::to_string(xyz.extent(0)) + " frames of " +
                           std::to_string(xyz.extent(2)) + " scatterers",
                       "take fewer frames at a time, or use --device cpu",
                       static_cast<std::int64_t>(free) + held, " on the GPU");
    }

    const Model& model_;
    Runs runs_;
    ScaleClasses classes_;
    SineGrid grid_;
    DeviceTasks small_, bulk_;  ///< tasks of small calls, and of others, which are larger
    Stream stream_;
    Index pass_count_ = 1;
    DeviceArray<std::int32_t> class_of_;
    DeviceArray<double> factors_, inverse_q_;
    DeviceArray<Split<float>> turns_;
    DeviceArray<Pass> passes_;
    PinnedArray<std::uint8_t> host_block_;
    DeviceArray<std::uint8_t> device_block_;
    DeviceArray<float> sums_, bulk_xyz_, bulk_scales_, bulk_sums_;
    Slices small_slices_, bulk_slices_;
    PinnedArray<double> results_;
    PinnedArray<std::uint32_t> done_{1};  ///< ticket of the last call that was ready
    DeviceArray<unsigned> finished_{1};
    std::uint32_t ticket_ = 0;
    std::map<std::pair<Index, Index>, cudaGraphExec_t> graphs_;  ///< by sets and jobs
    double device_seconds_ = 0.0;
    ForwardSums forward_;             ///< of a set, or of all where there are no scales
    std::int32_t forward_set_ = -1;
};

/// Frames that are sent and computed at a time.
constexpr Index kFrames = 512;

class CudaKernel final : public Kernel {
public:
    explicit CudaKernel(const Model& model)
        : runs_(sort_by_type(model)), frames_(model, runs_), pairs_(model, runs_) {}

    void profiles(View<const float, 3> xyz, View<const float, 3> scales,
                  View<double, 3> partial) override {
        frames_.compute(pairs_, kFrames, xyz, scales, partial);
    }

    void gradient(View<const float, 2>, View<const float, 2>, View<const double, 2>,
                  View<double, 2>) override {
        throw DeviceError("CUDA: expected a device with gradients of profiles, found a GPU; use the "
                          "CPU for them");
    }

private:
    Runs runs_;
    FrameProfiles frames_;
    CudaBodyPairs pairs_;
};

}  // namespace

std::unique_ptr<Kernel> make_cuda_kernel(const Model& model, const Context& context) {
    use_cuda_device(context.device.index);
    return std::make_unique<CudaKernel>(model);
}

std::unique_ptr<BodyPairs> make_cuda_body_pairs(const Model& model, const Runs& runs, int index) {
    use_cuda_device(index);
    return std::make_unique<CudaBodyPairs>(model, runs);
}

}  // namespace pleat::saxs

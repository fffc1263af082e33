// The CUDA kernel of saxs: tasks and factors stay on the GPU; a small call launches one kernel.
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "pleat/core/cuda/cuda_device.h"
#include "pleat/core/error.h"
#include "pleat/core/hardware/memory.h"
#include "pleat/saxs/cuda/device_memory.cuh"
#include "pleat/saxs/cuda/small_calls.cuh"
#include "pleat/saxs/cuda/task_table.h"
#include "pleat/saxs/debye/body_pairs.h"
#include "pleat/saxs/debye/pair_sums.h"
#include "pleat/saxs/kernel/kernel.h"

namespace pleat::saxs {

namespace {

using namespace cuda;

/// Bytes for the sums of tasks in one launch, unless one job needs more.
constexpr Index kSumBytes = Index{128} << 20;
/// Jobs of a launch: the limit of a grid.
constexpr Index kMaxJobs = 65535;

class CudaBodyPairs final : public BodyPairs {
public:
    CudaBodyPairs(const Model& model, const SortedScatterers& sorted, int device)
        : model_(model), sorted_(sorted), classes_(model), grid_(model.q), bulk_(sorted, 3) {
        factors_ = DeviceArray<double>(model.factors.size());
        factors_.upload(model.factors.data());
        std::vector<double> inverse_q;
        for (const double q : model.q) inverse_q.push_back(q > 0.0 ? 1.0 / q : 0.0);
        inverse_q_ = uploaded<double>(inverse_q);
        class_of_ = uploaded<std::int32_t>(std::vector<std::int32_t>(
            classes_.class_of_channel.begin(), classes_.class_of_channel.end()));
        make_passes();
        check(cudaDeviceSynchronize(), "cannot copy to the device");
        calls_.emplace(model, sorted, grid_, scattering(bulk_), device);
    }

    void evaluate(View<const float, 3> xyz, View<const float, 3> scales,
                  std::span<const PairJob> jobs, View<double, 3> partial) override {
        if (jobs.empty()) return;
        if (calls_->can_compute(xyz, scales, static_cast<Index>(jobs.size()), partial.size()))
            calls_->evaluate(xyz, scales, jobs, partial);
        else
            evaluate_bulk(xyz, scales, jobs, partial);
        if (model_.q.front() == 0.0) set_first(scales, jobs, partial);
    }

    double device_seconds() const override { return device_seconds_; }

private:
    void set_first(View<const float, 3> scales, std::span<const PairJob> jobs,
                   View<double, 3> partial) {
        for (std::size_t n = 0; n < jobs.size(); ++n) {
            const bool scaled = scales.size() > 0;
            if (forward_set_ < 0 || (scaled && (n == 0 || forward_set_ != jobs[n].set))) {
                zero_angle_sums_ = zero_angle_sums(
                    model_, sorted_, scaled ? scales[jobs[n].set] : View<const float, 2>{});
                forward_set_ = jobs[n].set;
            }
            set_zero_angle_profile(zero_angle_sums_, jobs[n], partial[static_cast<Index>(n)]);
        }
    }

    void make_passes() {
        pass_count_ = (model_.q_count() + kPassSums - 1) / kPassSums;
        std::vector<SplitNumber<float>> turns(static_cast<std::size_t>(pass_count_ * kPassSums));
        for (Index k = 0; k < model_.q_count(); ++k)
            turns[static_cast<std::size_t>(k)] =
                SineGrid::turns<float>(model_.q[static_cast<std::size_t>(k)]);
        turns_ = uploaded<SplitNumber<float>>(turns);
        std::vector<Pass> passes;
        for (Index pass = 0; pass < pass_count_; ++pass) {
            const double centre = static_cast<double>(pass * kPassSums + kMaxOffset);
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
                classes_.has_unscaled_class ? 1 : 0,
                static_cast<std::int32_t>(model_.channel_count()),
                static_cast<std::int32_t>(model_.type_count()),
                static_cast<std::int32_t>(model_.q_count()),
                grid_.starts_at_zero ? 1 : 0};
    }

    /// Bytes of the sums of `tasks` tasks of a job.
    Index sum_bytes(Index tasks) const {
        return 4 * classes_.count * classes_.count * pass_count_ * tasks * kTaskSums;
    }
    Index profile_size() const { return model_.pair_count() * model_.q_count(); }

    Index q_blocks() const { return (model_.q_count() + kReducedQ - 1) / kReducedQ; }
    /// Depends only on the number of tasks, so that sums do not depend on other jobs.
    static Index slice_count(Index tasks) {
        return std::clamp<Index>((tasks + kParts * kPartTasks - 1) / (kParts * kPartTasks), 1,
                                 kMaxSlices);
    }
    void grow_slices(Slices& slices, Index jobs, Index tasks) const {
        grow(slices.sums, jobs * profile_size() * slice_count(tasks));
        grow(slices.arrived, jobs * model_.pair_count() * q_blocks());
    }

    /// Launches the sums of `jobs` jobs and their reduction.
    void launch(const DeviceTasks& tasks, Work work, Index jobs, cudaStream_t stream) const {
        const Scattering from = scattering(tasks);
        const auto rows = static_cast<unsigned>(jobs);
        const dim3 grid(static_cast<unsigned>((work.task_count + kWarps - 1) / kWarps), rows,
                        static_cast<unsigned>(classes_.count * classes_.count * pass_count_));
        // Scales of 1 cost little beside one sine per pair and q.
        const auto sum = !grid_.even                ? sum_tasks<false, true>
                         : model_.scale_count() > 0 ? sum_tasks<true, true>
                                                    : sum_tasks<true, false>;
        if (work.task_count > 0) sum<<<grid, kWarps * kLanes, 0, stream>>>(from, work);
        check(cudaGetLastError(), "cannot start to sum over pairs");
        const dim3 reduction(static_cast<unsigned>(q_blocks() * work.slice_count), rows,
                             static_cast<unsigned>(model_.pair_count()));
        reduce_tasks<<<reduction, kReducedQ * kParts, 0, stream>>>(from, work);
        check(cudaGetLastError(), "cannot start to sum over tasks");
    }

    /// Computes many sets or large sets, as many jobs and tasks at a time as fit into memory.
    void evaluate_bulk(View<const float, 3> xyz, View<const float, 3> scales,
                       std::span<const PairJob> jobs, View<double, 3> partial) {
        const Index count = static_cast<Index>(jobs.size()), size = profile_size();
        const Index max_tasks = bulk_.table.max_tasks;
        const Index batch_size =
            std::clamp<Index>(kSumBytes / std::max<Index>(sum_bytes(max_tasks), 1), 1, kMaxJobs);
        const Index tasks = std::clamp<Index>(kSumBytes / std::max<Index>(sum_bytes(1), 1), 1,
                                              std::max<Index>(max_tasks, 1));
        require_gpu_memory(xyz, scales, std::min(batch_size, count), std::min(tasks, max_tasks),
                           count * size);
        grow(bulk_xyz_, xyz.size());
        bulk_xyz_.upload(xyz.data, 0, xyz.size());
        grow(bulk_scales_, std::max<Index>(scales.size(), 1));
        if (scales.size() > 0) bulk_scales_.upload(scales.data, 0, scales.size());
        DeviceArray<PairJob> device_jobs = uploaded<PairJob>(jobs);
        grow(bulk_sums_,
             std::max<Index>(
                 std::min(batch_size, count) * sum_bytes(std::min(tasks, max_tasks)) / 4, 1));
        grow_slices(bulk_slices_, std::min(batch_size, count), std::min(tasks, max_tasks));
        DeviceArray<double> device_partial(count * size);
        check(cudaDeviceSynchronize(), "cannot copy to the device");
        Timer timer(stream_);
        timer.start();
        for (Index first = 0; first < count; first += batch_size) {
            const Index now = std::min(batch_size, count - first);
            for (Index task = 0; task == 0 || task < max_tasks; task += tasks) {
                const Index some = std::min(tasks, max_tasks - task);
                const Work work{device_jobs.data() + first,
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
                                bulk_slices_.arrived.data()};
                launch(bulk_, work, now, stream_);
            }
        }
        timer.stop();
        device_seconds_ = timer.seconds();
        device_partial.download(partial.data);
    }

    void require_gpu_memory(const View<const float, 3>& xyz, const View<const float, 3>& scales,
                            Index jobs, Index tasks, Index results) const {
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
    SortedScatterers sorted_;
    ScaleClasses classes_;
    SineGrid grid_;
    DeviceTasks bulk_;
    Stream stream_;
    Index pass_count_ = 1;
    DeviceArray<std::int32_t> class_of_;
    DeviceArray<double> factors_, inverse_q_;
    DeviceArray<SplitNumber<float>> turns_;
    DeviceArray<Pass> passes_;
    std::optional<SmallCalls> calls_;
    DeviceArray<float> bulk_xyz_, bulk_scales_, bulk_sums_;
    Slices bulk_slices_;
    double device_seconds_ = 0.0;
    ZeroAngleSums zero_angle_sums_;  ///< of a set, or of all sets if there are no scales
    std::int32_t forward_set_ = -1;
};

/// Frames that are copied and computed at a time.
constexpr Index kFrames = 512;

class CudaKernel final : public Kernel {
public:
    CudaKernel(const Model& model, int device)
        : sorted_(sort_by_type(model)), frames_(model, sorted_), pairs_(model, sorted_, device) {}

    void profiles(View<const float, 3> xyz, View<const float, 3> scales,
                  View<double, 3> partial) override {
        frames_.compute(pairs_, kFrames, xyz, scales, partial);
    }

    void gradient(View<const float, 2>, View<const float, 2>, View<const double, 2>,
                  View<double, 2>) override {
        throw DeviceError(
            "CUDA: expected a device with gradients of profiles, found a GPU; use the "
            "CPU for them");
    }

private:
    SortedScatterers sorted_;
    FrameProfiles frames_;
    CudaBodyPairs pairs_;
};

}  // namespace

std::unique_ptr<Kernel> make_cuda_kernel(const Model& model, const Context& context) {
    use_cuda_device(context.device.index);
    return std::make_unique<CudaKernel>(model, context.device.index);
}

std::unique_ptr<BodyPairs> make_cuda_body_pairs(const Model& model, const SortedScatterers& sorted,
                                                int index) {
    use_cuda_device(index);
    return std::make_unique<CudaBodyPairs>(model, sorted, index);
}

}  // namespace pleat::saxs

// GPU kernel of saxs: tasks and factors stay on the GPU; a small call launches one kernel.
#pragma once

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "pleat/core/cuda/gpu_sides.h"
#include "pleat/core/cuda/grow.h"
#include "pleat/core/error.h"
#include "pleat/core/hardware/memory.h"
#include "pleat/saxs/cuda/gradients.cuh"
#include "pleat/saxs/cuda/pair_sums.cuh"
#include "pleat/saxs/cuda/small_calls.cuh"
#include "pleat/saxs/cuda/task_tables.h"
#include "pleat/saxs/debye/body_pairs.h"
#include "pleat/saxs/debye/sorted_scatterers.h"
#include "pleat/saxs/kernel/kernel.h"

namespace pleat::saxs::cuda {

template <class Gpu, class Real>
class ScatteringData {
public:
    ScatteringData(const Model& model, const ScaleClasses& classes, const SineGrid& grid)
        : pass_count_((model.q_count() + kPassSums - 1) / kPassSums) {
        shared_.classes = static_cast<std::int32_t>(classes.count);
        shared_.has_unscaled_class = classes.has_unscaled_class ? 1 : 0;
        shared_.channels = static_cast<std::int32_t>(model.channel_count());
        shared_.types = static_cast<std::int32_t>(model.type_count());
        shared_.q_count = static_cast<std::int32_t>(model.q_count());
        shared_.starts_at_zero = grid.starts_at_zero ? 1 : 0;
        factors_ = Array<double>(model.factors.size());
        factors_.upload(model.factors.data());
        std::vector<double> inverse_q;
        for (const double q : model.q) inverse_q.push_back(q > 0.0 ? 1.0 / q : 0.0);
        pleat::cuda::upload(inverse_q_, inverse_q);
        pleat::cuda::upload(class_of_, std::vector<std::int32_t>(classes.class_of_channel.begin(),
                                                                 classes.class_of_channel.end()));
        std::vector<std::uint8_t> scatters;
        for (Index of = 0; of < classes.count; ++of)
            for (std::int32_t type = 0; type < shared_.types; ++type)
                scatters.push_back(classes.scatters(of, type) ? 1 : 0);
        pleat::cuda::upload(scatters_, scatters);
        make_passes(model, grid);
    }

    Index pass_count() const { return pass_count_; }

    /// The data with these tasks. Pointers are valid as long as this object.
    Scattering<Real> with(const Task* tasks, const std::int32_t* first_task, Index bodies) const {
        Scattering<Real> all = shared_;
        all.tasks = tasks;
        all.first_task = first_task;
        all.bodies = static_cast<std::int32_t>(bodies);
        all.passes = passes_.data();
        all.factors = factors_.data();
        all.inverse_q = inverse_q_.data();
        all.class_of = class_of_.data();
        all.scatters = scatters_.data();
        all.pass_count = static_cast<std::int32_t>(pass_count_);
        return all;
    }

private:
    template <class T>
    using Array = typename Gpu::template Array<T>;

    void make_passes(const Model& model, const SineGrid& grid) {
        std::vector<SplitNumber<Real>> turns(pass_count_ * kPassSums);
        for (Index k = 0; k < model.q_count(); ++k) turns[k] = SineGrid::turns<Real>(model.q[k]);
        pleat::cuda::upload(turns_, turns);
        std::vector<Pass<Real>> passes;
        for (Index pass = 0; pass < pass_count_; ++pass) {
            const double centre = static_cast<double>(pass * kPassSums + kMaxOffset);
            passes.push_back({SineGrid::turns<Real>(grid.step),
                              SineGrid::turns<Real>(grid.first + centre * grid.step),
                              turns_.data() + pass * kPassSums});
        }
        pleat::cuda::upload(passes_, passes);
    }

    Index pass_count_;
    Scattering<Real> shared_{};  ///< sizes
    Array<double> factors_, inverse_q_;
    Array<std::int32_t> class_of_;
    Array<std::uint8_t> scatters_;
    Array<SplitNumber<Real>> turns_;
    Array<Pass<Real>> passes_;
};

/// Bytes for the sums of tasks in one launch, unless one job needs more.
constexpr Index kSumBytes = Index{128} << 20;
/// Jobs of a launch: the limit of a grid.
constexpr Index kMaxJobs = 65535;

/// Sums over pairs in Real on a `Gpu`: CudaGpu, or a host emulation. The model must outlive it.
template <class Gpu, class Real = float>
class GpuBodyPairs final : public BodyPairs {
public:
    GpuBodyPairs(const Model& model, const SortedScatterers& sorted, Gpu gpu,
                 Index max_sum_bytes = kSumBytes)
        : model_(model),
          sorted_(sorted),
          classes_(model),
          grid_(model.q),
          gpu_(std::move(gpu)),
          max_sum_bytes_(max_sum_bytes),
          table_(sorted, 3),
          data_(model, classes_, grid_) {
        upload(tasks_, table_.tasks);
        upload(first_task_, table_.first);
        if constexpr (kHasSmallCalls) calls_.emplace(model, sorted, grid_, scattering(), gpu_);
    }

    void evaluate(View<const float, 3> xyz, View<const float, 3> scales,
                  std::span<const PairJob> jobs, View<double, 3> partial) override {
        if (jobs.empty()) return;
        if (calls_ && calls_->can_compute(xyz, scales, std::ssize(jobs), partial.size()))
            calls_->evaluate(xyz, scales, jobs, partial);
        else
            evaluate_bulk(xyz, scales, jobs, partial);
        if (model_.q.front() == 0.0) set_first(scales, jobs, partial);
    }

    double device_seconds() const override { return device_seconds_; }

    /// Data for a gradient; pointers are valid as long as this object.
    Scattering<Real> scattering() const {
        return data_.with(tasks_.data(), first_task_.data(), table_.bodies);
    }

private:
    template <class T>
    using Array = typename Gpu::template Array<T>;
    /// In float64 lanes would not have enough registers.
    static constexpr bool kHasSmallCalls = sizeof(Real) == 4;

    void set_first(View<const float, 3> scales, std::span<const PairJob> jobs,
                   View<double, 3> partial) {
        for (std::size_t n = 0; n < jobs.size(); ++n) {
            const bool scaled = scales.size() > 0;
            if (forward_set_ < 0 || (scaled && (n == 0 || forward_set_ != jobs[n].set))) {
                forward_ = zero_angle_sums(model_, sorted_,
                                           scaled ? scales[jobs[n].set] : View<const float, 2>{});
                forward_set_ = jobs[n].set;
            }
            set_zero_angle_profile(forward_, jobs[n], partial[static_cast<Index>(n)]);
        }
    }

    Index sum_bytes(Index tasks) const {
        return static_cast<Index>(sizeof(Real)) * classes_.count * classes_.count *
               data_.pass_count() * tasks * kTaskSums;
    }
    Index profile_size() const { return model_.pair_count() * model_.q_count(); }

    Index q_blocks() const { return (model_.q_count() + kReducedQ - 1) / kReducedQ; }
    /// Depends only on the number of tasks, so that sums do not depend on other jobs.
    static Index slice_count(Index tasks) {
        return std::clamp<Index>((tasks + kParts * kPartTasks - 1) / (kParts * kPartTasks), 1,
                                 kMaxSlices);
    }
    /// Launches the sums of `jobs` jobs and their reduction.
    void launch(const Work<Real>& work, Index jobs) const {
        const Scattering<Real> from = scattering();
        const Sides grid{(work.task_count + kWarps - 1) / kWarps, jobs,
                         classes_.count * classes_.count * data_.pass_count()};
        // Multiplying by scales of 1 costs little compared with one sine per pair and q.
        const auto sum = !grid_.even                ? sum_tasks<false, true, Real>
                         : model_.scale_count() > 0 ? sum_tasks<true, true, Real>
                                                    : sum_tasks<true, false, Real>;
        if (work.task_count > 0)
            gpu_.launch("sum over pairs", sum, grid, Sides{kWarps * kLanes}, 0, from, work);
        gpu_.launch("sum over tasks", &reduce_tasks<Real>,
                    Sides{q_blocks() * work.slice_count, jobs, model_.pair_count()},
                    Sides{kReducedQ * kParts}, 0, from, work);
    }

    /// Computes many sets or large sets, as many jobs and tasks at a time as fit into memory.
    void evaluate_bulk(View<const float, 3> xyz, View<const float, 3> scales,
                       std::span<const PairJob> jobs, View<double, 3> partial) {
        const Index count = std::ssize(jobs), size = profile_size();
        const Index max_tasks = table_.max_tasks;
        const Index at_once = std::clamp<Index>(
            max_sum_bytes_ / std::max<Index>(sum_bytes(max_tasks), 1), 1, kMaxJobs);
        const Index tasks = std::clamp<Index>(max_sum_bytes_ / std::max<Index>(sum_bytes(1), 1), 1,
                                              std::max<Index>(max_tasks, 1));
        require_gpu_memory(xyz, scales, std::min(at_once, count), std::min(tasks, max_tasks),
                           count * size);
        grow(bulk_xyz_, xyz.size());
        bulk_xyz_.upload(xyz.data, 0, xyz.size());
        grow(bulk_scales_, std::max<Index>(scales.size(), 1));
        if (scales.size() > 0) bulk_scales_.upload(scales.data, 0, scales.size());
        upload(bulk_jobs_, jobs);
        grow(bulk_sums_,
             std::max<Index>(std::min(at_once, count) * sum_bytes(std::min(tasks, max_tasks)) /
                                 static_cast<Index>(sizeof(Real)),
                             1));
        const Index max_jobs = std::min(at_once, count);
        grow(slices_, max_jobs * size * slice_count(std::min(tasks, max_tasks)));
        grow(arrived_, max_jobs * model_.pair_count() * q_blocks());
        grow(bulk_partial_, count * size);
        typename Gpu::Timer timer;
        timer.start();
        for (Index first = 0; first < count; first += at_once) {
            const Index now = std::min(at_once, count - first);
            for (Index task = 0; task == 0 || task < max_tasks; task += tasks) {
                const Index some = std::min(tasks, max_tasks - task);
                const Work<Real> work{bulk_jobs_.data() + first,
                                      bulk_xyz_.data(),
                                      bulk_scales_.data(),
                                      xyz.extent(2),
                                      static_cast<std::int32_t>(scales.extent(1)),
                                      static_cast<std::int32_t>(task),
                                      static_cast<std::int32_t>(some),
                                      bulk_sums_.data(),
                                      bulk_partial_.data() + first * size,
                                      task > 0 ? 1 : 0,
                                      static_cast<std::int32_t>(slice_count(some)),
                                      slices_.data(),
                                      arrived_.data()};
                launch(work, now);
            }
        }
        timer.stop();
        device_seconds_ = timer.seconds();
        bulk_partial_.download(partial.data, 0, count * size);
    }

    void require_gpu_memory(const View<const float, 3>& xyz, const View<const float, 3>& scales,
                            Index jobs, Index tasks, Index results) const {
        const Index held = 4 * (bulk_xyz_.size() + bulk_scales_.size()) +
                           static_cast<Index>(sizeof(Real)) * bulk_sums_.size() +
                           8 * bulk_partial_.size();
        require_memory(4 * (xyz.size() + scales.size()) + jobs * sum_bytes(tasks) +
                           8 * (results + jobs * profile_size() * slice_count(tasks)),
                       std::to_string(xyz.extent(0)) + " frames of " +
                           std::to_string(xyz.extent(2)) + " scatterers",
                       "take fewer frames at a time, or use --device cpu", gpu_.free_bytes() + held,
                       " on the GPU");
    }

    const Model& model_;
    SortedScatterers sorted_;
    ScaleClasses classes_;
    SineGrid grid_;
    Gpu gpu_;
    Index max_sum_bytes_;
    TaskTable table_;
    ScatteringData<Gpu, Real> data_;
    Array<Task> tasks_;
    Array<std::int32_t> first_task_;
    std::optional<SmallCalls<Gpu>> calls_;
    Array<float> bulk_xyz_, bulk_scales_;
    Array<Real> bulk_sums_;
    Array<PairJob> bulk_jobs_;
    Array<double> bulk_partial_;
    Array<double> slices_;  ///< of the last step of a reduction
    Array<unsigned> arrived_;
    double device_seconds_ = 0.0;
    ZeroAngleSums forward_;  ///< of a set, or of all sets if there are no scales
    std::int32_t forward_set_ = -1;
};

/// Number of frames copied and computed at a time.
constexpr Index kFrames = 512;

template <class Gpu, class Real = float>
class GpuKernel final : public Kernel {
public:
    /// `threads`: for the host's part.
    GpuKernel(const Model& model, Gpu gpu, int threads)
        : sorted_(sort_by_type(model)),
          frames_(model, sorted_, threads),
          pairs_(model, sorted_, gpu),
          gradients_(model, sorted_, pairs_.scattering(), std::move(gpu)) {}

    void profiles(View<const float, 3> xyz, View<const float, 3> scales,
                  View<double, 3> partial) override {
        frames_.compute(pairs_, kFrames, xyz, scales, partial);
    }

    void gradient(View<const float, 2> xyz, View<const float, 2> scales,
                  View<const double, 2> weight, View<double, 2> gradient) override {
        gradients_.compute(xyz, scales, weight, gradient);
    }

private:
    SortedScatterers sorted_;
    FrameProfiles frames_;
    GpuBodyPairs<Gpu, Real> pairs_;
    GpuGradients<Gpu, Real> gradients_;
};

}  // namespace pleat::saxs::cuda

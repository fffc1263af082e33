// Scattering data: form factors and values of q on a GPU, which all sums over pairs need.
#pragma once

#include <vector>

#include "pleat/core/cuda/grow.h"
#include "pleat/saxs/cuda/pair_kernel.cuh"
#include "pleat/saxs/debye/pair_sums.h"

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

    /// With these tasks. Pointers are valid as long as the object.
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
        std::vector<SplitNumber<Real>> turns(static_cast<std::size_t>(pass_count_ * kPassSums));
        for (Index k = 0; k < model.q_count(); ++k)
            turns[static_cast<std::size_t>(k)] =
                SineGrid::turns<Real>(model.q[static_cast<std::size_t>(k)]);
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

}  // namespace pleat::saxs::cuda

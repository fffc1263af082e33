// Curve target: overlaps, and the likelihood of a curve to the power of a temperature's inverse.
#pragma once

#include <memory>

#include "pleat/workflows/refine/fit/profile_batch.h"
#include "pleat/workflows/refine/fit/replica_mean.h"
#include "pleat/workflows/refine/sampling/sampler.h"

namespace pleat::refine {

/// ln w = -overlap energy + beta R ln L(mean profile of R replicas), of which this is one. Overlaps
/// are found before the profile, which is not computed for a conformation that they exclude, unless
/// it was begun early.
class CurveTarget final : public Target {
public:
    /// `in_batch`: the number of its conformation in `profiles`; `replica`: in `mean`.
    CurveTarget(const ChainModel& chain, std::shared_ptr<ProfileBatch> profiles, Index in_batch,
                std::shared_ptr<ReplicaMean> mean, Index replica);

    void start(const Conformation& at) override;
    bool prepare(const Conformation& proposed) override;
    void begin() override { profiles_->begin(); }
    void begin_early() override { begins_early_ = true; }
    bool is_ready() override { return profiles_->is_ready(); }
    double prepared_log_weight() override;
    void accept() override;
    void reject() override;
    void adopt(const Target& from) override;
    void refresh() override;
    void set_beta(double beta) override { beta_ = beta; }
    double accepted_log_weight() override;
    double log_likelihood() override;
    CurveFit fit() override { return mean_->fit(); }
    ResidualTest residual_test() override { return mean_->residual_test(); }

private:
    double power() const { return static_cast<double>(mean_->replicas()); }

    Sterics sterics_;
    std::shared_ptr<ProfileBatch> profiles_;
    std::shared_ptr<ReplicaMean> mean_;
    Index in_batch_, replica_;
    double energy_ = 0, pending_energy_ = 0;  ///< of overlaps
    double beta_ = 1;
    bool begins_early_ = false;
};

}  // namespace pleat::refine

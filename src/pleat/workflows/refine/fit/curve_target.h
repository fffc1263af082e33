// Curve target: overlaps, and the likelihood of a curve to the power of a temperature's inverse.
#pragma once

#include <optional>

#include "pleat/saxs/session/profile_session.h"
#include "pleat/workflows/refine/fit/curve_likelihood.h"
#include "pleat/workflows/refine/fit/profile_model.h"
#include "pleat/workflows/refine/sampling/sampler.h"

namespace pleat::refine {

/// ln w = -overlap energy + beta ln L. Overlaps are found before the profile, which is not computed
/// for a conformation that they exclude. Model and likelihood must outlive it.
class CurveTarget final : public Target {
public:
    CurveTarget(const ChainModel& chain, const ProfileModel& model,
                const CurveLikelihood& likelihood);

    double log_weight(const Conformation& proposed) override;
    void accept() override;
    void reject() override;
    void refresh() override;
    void set_beta(double beta) override { beta_ = beta; }
    double accepted_log_weight() const override {
        return -energy_ + beta_ * accepted_.log_likelihood;
    }
    CurveFit fit() const override { return accepted_; }

private:
    const ProfileModel* model_;
    const CurveLikelihood* likelihood_;
    Sterics sterics_;
    std::optional<saxs::ProfileSession> session_;
    std::vector<Index> all_, moved_;
    Array<float, 2> frame_, current_, proposed_, moved_xyz_;
    CurveFit accepted_, pending_;
    double energy_ = 0, pending_energy_ = 0;  ///< of overlaps
    double beta_ = 1;
    bool has_proposal_ = false;
};

}  // namespace pleat::refine

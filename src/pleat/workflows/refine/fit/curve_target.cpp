// Curve target: profiles of moves by a session, of the scatterers that moved.
#include "pleat/workflows/refine/fit/curve_target.h"

#include <algorithm>
#include <limits>

namespace pleat::refine {

CurveTarget::CurveTarget(const ChainModel& chain, const ProfileModel& model,
                         const CurveLikelihood& likelihood)
    : model_(&model),
      likelihood_(&likelihood),
      sterics_(chain),
      frame_(Index{3}, chain.atom_count()),
      current_(Index{3}, model.model.scatterer_count()),
      proposed_(Index{3}, model.model.scatterer_count()) {}

double CurveTarget::log_weight(const Conformation& proposed) {
    has_proposal_ = false;
    const Overlap overlap = sterics_.overlap(proposed);
    if (overlap.hard_pairs > 0) return -std::numeric_limits<double>::infinity();
    pending_energy_ = overlap.energy;
    model_->write(proposed, frame_, proposed_.view());
    if (!session_) {
        Array<float, 3> xyz(Index{1}, Index{3}, proposed_.extent(1));
        std::copy(proposed_.begin(), proposed_.end(), xyz.begin());
        Array<float, 3> scales(Index{1}, Index{1}, model_->scales.extent(1));
        std::copy(model_->scales.begin(), model_->scales.end(), scales.begin());
        Context context;
        context.threads = 1;  // chains run beside one another
        session_.emplace(model_->model, xyz.view(), scales.view(), model_->bodies,
                         saxs::ProfileSessionOptions{.refresh = 0}, context);
        current_ = proposed_;
        pending_ = likelihood_->fit(session_->profile(0));
        return -overlap.energy + beta_ * pending_.log_likelihood;
    }
    moved_.clear();
    for (Index n = 0; n < proposed_.extent(1); ++n)
        if (proposed_(0, n) != current_(0, n) || proposed_(1, n) != current_(1, n) ||
            proposed_(2, n) != current_(2, n))
            moved_.push_back(n);
    if (moved_.empty()) {
        pending_ = accepted_;
        return -overlap.energy + beta_ * pending_.log_likelihood;
    }
    moved_xyz_ = Array<float, 2>(Index{3}, static_cast<Index>(moved_.size()));
    for (Index axis = 0; axis < 3; ++axis)
        for (std::size_t n = 0; n < moved_.size(); ++n)
            moved_xyz_(axis, static_cast<Index>(n)) = proposed_(axis, moved_[n]);
    const saxs::Move move{0, moved_, moved_xyz_.view()};
    pending_ = likelihood_->fit(session_->propose({&move, 1})[0]);
    has_proposal_ = true;
    return -overlap.energy + beta_ * pending_.log_likelihood;
}

void CurveTarget::accept() {
    if (has_proposal_) session_->accept(0);
    has_proposal_ = false;
    std::swap(current_, proposed_);
    accepted_ = pending_;
    energy_ = pending_energy_;
}

void CurveTarget::reject() {
    if (has_proposal_) session_->reject(0);
    has_proposal_ = false;
}

void CurveTarget::refresh() {
    session_->refresh(0);
    accepted_ = likelihood_->fit(session_->profile(0));
}

}  // namespace pleat::refine

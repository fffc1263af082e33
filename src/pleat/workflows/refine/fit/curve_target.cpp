// Curve target: weights of proposals from their overlaps and profiles.
#include "pleat/workflows/refine/fit/curve_target.h"

#include <utility>

namespace pleat::refine {

CurveTarget::CurveTarget(const ChainModel& chain, std::shared_ptr<ProfileBatch> profiles,
                         Index in_batch, std::shared_ptr<ReplicaMean> mean, Index replica)
    : sterics_(chain),
      profiles_(std::move(profiles)),
      mean_(std::move(mean)),
      in_batch_(in_batch),
      replica_(replica) {}

void CurveTarget::start(const Conformation& at) {
    energy_ = allowed_energy(sterics_.overlap(at));
    profiles_->start(in_batch_, at);
}

bool CurveTarget::prepare(const Conformation& proposed) {
    if (begins_early_) {
        profiles_->propose(in_batch_, proposed);
        profiles_->begin();
    }
    const Overlap overlap = sterics_.overlap(proposed);
    if (overlap.hard_pairs > 0) {
        if (begins_early_) profiles_->reject(in_batch_);
        return false;
    }
    pending_energy_ = overlap.energy;
    if (!begins_early_) profiles_->propose(in_batch_, proposed);
    return true;
}

double CurveTarget::prepared_log_weight() {
    const double log_likelihood = mean_->propose(replica_, profiles_->proposed_profile(in_batch_));
    return -pending_energy_ + beta_ * power() * log_likelihood;
}

void CurveTarget::accept() {
    profiles_->accept(in_batch_);
    mean_->accept(replica_);
    energy_ = pending_energy_;
}

void CurveTarget::reject() { profiles_->reject(in_batch_); }

void CurveTarget::adopt(const Target& from) {
    const auto& other = dynamic_cast<const CurveTarget&>(from);
    profiles_->adopt(in_batch_, *other.profiles_);
    mean_->adopt(replica_, *other.mean_);
    energy_ = other.energy_;
    beta_ = other.beta_;
}

void CurveTarget::refresh() {
    profiles_->refresh(in_batch_);
    mean_->set(replica_, profiles_->profile(in_batch_));
}

double CurveTarget::log_likelihood() { return power() * mean_->log_likelihood(); }

double CurveTarget::accepted_log_weight() { return -energy_ + beta_ * log_likelihood(); }

}  // namespace pleat::refine

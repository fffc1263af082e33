// Replica mean: a mean that follows the moves of its replicas.
#include "pleat/workflows/refine/fit/replica_mean.h"

#include <algorithm>
#include <utility>

namespace pleat::refine {

namespace {

void copy(View<const double, 2> from, Array<double, 2>& to) {
    if (to.size() != from.size()) to = Array<double, 2>(from.extent(0), from.extent(1));
    std::copy(from.begin(), from.end(), to.begin());
}

}  // namespace

ReplicaMean::ReplicaMean(const CurveLikelihood& likelihood, Index replicas)
    : likelihood_(&likelihood), profiles_(static_cast<std::size_t>(replicas)) {}

void ReplicaMean::set(Index replica, View<const double, 2> profile) {
    copy(profile, profiles_[static_cast<std::size_t>(replica)]);
    is_stale_ = true;
}

void ReplicaMean::add_up() {
    copy(profiles_.front().view(), mean_);
    for (std::size_t n = 1; n < profiles_.size(); ++n)
        for (Index k = 0; k < mean_.size(); ++k) mean_.data()[k] += profiles_[n].data()[k];
    for (double& value : mean_) value /= static_cast<double>(profiles_.size());
    log_likelihood_ = likelihood_->log_likelihood(mean_.view());
    is_stale_ = false;
}

double ReplicaMean::propose(Index replica, View<const double, 2> profile) {
    if (is_stale_) add_up();
    copy(profile, proposed_);
    copy(profile, proposed_mean_);
    if (profiles_.size() > 1) {
        const double share = 1 / static_cast<double>(profiles_.size());
        const double* const before = profiles_[static_cast<std::size_t>(replica)].data();
        for (Index k = 0; k < mean_.size(); ++k)
            proposed_mean_.data()[k] = mean_.data()[k] + share * (proposed_.data()[k] - before[k]);
    }
    return proposed_log_likelihood_ = likelihood_->log_likelihood(proposed_mean_.view());
}

void ReplicaMean::accept(Index replica) {
    std::swap(profiles_[static_cast<std::size_t>(replica)], proposed_);
    std::swap(mean_, proposed_mean_);
    log_likelihood_ = proposed_log_likelihood_;
}

void ReplicaMean::adopt(Index replica, const ReplicaMean& from) {
    const auto n = static_cast<std::size_t>(replica);
    copy(from.profiles_[n].view(), profiles_[n]);
    copy(from.mean_.view(), mean_);
    log_likelihood_ = from.log_likelihood_;
    is_stale_ = false;
}

double ReplicaMean::log_likelihood() {
    if (is_stale_) add_up();
    return log_likelihood_;
}

CurveFit ReplicaMean::fit() {
    if (is_stale_) add_up();
    return likelihood_->fit(mean_.view());
}

ResidualTest ReplicaMean::residual_test() {
    if (is_stale_) add_up();
    return likelihood_->residual_test(mean_.view());
}

}  // namespace pleat::refine

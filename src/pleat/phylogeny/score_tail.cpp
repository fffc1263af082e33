// Score tail: counts of null scores, the largest of them, and the gamma distribution of these.
#include "pleat/phylogeny/score_tail.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "pleat/core/math/incomplete_gamma.h"

namespace pleat::phylogeny {

namespace {

constexpr double kMinP = 1e-300;

/// ln a less the digamma function of a: falls from infinity to 0. Abramowitz and Stegun 6.3.5 and
/// 6.3.18.
double log_minus_digamma(double a) {
    double sum = 0, x = a;
    while (x < 10) sum += 1 / x++;
    const double square = 1 / (x * x);
    return std::log(a / x) + sum + 1 / (2 * x) +
           square * (1.0 / 12 - square * (1.0 / 120 - square / 252));
}

}  // namespace

ScoreTail fit_gamma(std::span<const double> excess) {
    const auto count = static_cast<double>(excess.size());
    double mean = 0, mean_log = 0;
    for (const double value : excess) {
        mean += value / count;
        mean_log += std::log(value) / count;
    }
    // The shape solves ln a - digamma(a) = ln mean - mean ln.
    const double wanted = std::log(mean) - mean_log;
    if (excess.size() < 2 || !(wanted > 1e-9)) return {};
    double low = 1e-4, high = 1e9;
    for (int step = 0; step < 200; ++step) {
        const double middle = std::sqrt(low * high);
        (log_minus_digamma(middle) > wanted ? low : high) = middle;
    }
    return {.shape = low, .scale = mean / low};
}

ScorePool::ScorePool(std::span<const double> observed, std::int64_t nulls, double tail_mass)
    : observed_(observed.begin(), observed.end()),
      sorted_(observed_),
      above_(observed.size() + 1),
      total_(nulls * static_cast<std::int64_t>(observed.size())),
      cut_(-std::numeric_limits<double>::infinity()) {
    std::sort(sorted_.begin(), sorted_.end());
    const auto asked = static_cast<std::int64_t>(tail_mass * static_cast<double>(total_));
    tail_count_ = std::min(std::max(asked, kMinTail), total_ / 2);
}

void ScorePool::add(std::span<const double> scores) {
    for (const double score : scores) {
        ++above_[static_cast<std::size_t>(std::upper_bound(sorted_.begin(), sorted_.end(), score) -
                                          sorted_.begin())];
        if (score > cut_) largest_.push_back(score);
    }
    if (std::ssize(largest_) > 2 * tail_count_ + 1000) drop_smallest();
}

void ScorePool::merge(const ScorePool& other) {
    std::transform(above_.begin(), above_.end(), other.above_.begin(), above_.begin(),
                   std::plus<>());
    largest_.insert(largest_.end(), other.largest_.begin(), other.largest_.end());
    drop_smallest();
}

/// Keeps the largest scores, one more than the tail has: that one is the threshold.
void ScorePool::drop_smallest() {
    if (std::ssize(largest_) <= tail_count_ + 1) return;
    std::nth_element(largest_.begin(), largest_.begin() + tail_count_, largest_.end(),
                     std::greater<>());
    largest_.resize(static_cast<std::size_t>(tail_count_) + 1);
    cut_ = largest_.back();
}

ScoreTail ScorePool::fit() {
    drop_smallest();
    std::sort(largest_.begin(), largest_.end(), std::greater<>());
    const double threshold = largest_.back();
    std::vector<double> excess;
    for (const double score : largest_)
        if (score > threshold) excess.push_back(score - threshold);
    ScoreTail tail = fit_gamma(excess);
    tail.threshold = threshold;
    tail.mass = static_cast<double>(excess.size()) / static_cast<double>(total_);
    tail.max = largest_.front();
    return tail;
}

std::vector<double> ScorePool::p(const ScoreTail& tail) const {
    // reaching[k]: null scores of sorted_[k] or more.
    std::vector<std::int64_t> reaching(above_.size());
    for (std::size_t k = sorted_.size(); k-- > 0;) reaching[k] = reaching[k + 1] + above_[k + 1];
    std::vector<double> all;
    for (const double score : observed_) {
        if (tail.shape > 0 && score > tail.threshold) {
            const double q =
                incomplete_gamma(tail.shape, (score - tail.threshold) / tail.scale).upper;
            all.push_back(std::max(kMinP, tail.mass * q));
            continue;
        }
        const auto first = static_cast<std::size_t>(
            std::lower_bound(sorted_.begin(), sorted_.end(), score) - sorted_.begin());
        all.push_back((1 + static_cast<double>(reaching[first])) /
                      (1 + static_cast<double>(total_)));
    }
    return all;
}

}  // namespace pleat::phylogeny

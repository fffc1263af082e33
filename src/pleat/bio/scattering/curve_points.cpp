// Curve points: complaints about points, their order, settings that overlap, and equal q.
#include "pleat/bio/scattering/curve_points.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace pleat {

namespace {

constexpr std::size_t kMinPoints = 3;
constexpr double kLargest = 1e30;  // squares of what is read must stay finite

/// The points of a curve in another order.
Profile in_order(const Profile& curve, const std::vector<std::size_t>& order) {
    Profile sorted;
    for (const std::size_t k : order) {
        sorted.q.push_back(curve.q[k]);
        sorted.intensity.push_back(curve.intensity[k]);
        sorted.sigma.push_back(curve.sigma[k]);
        if (!curve.dq.empty()) sorted.dq.push_back(curve.dq[k]);
    }
    return sorted;
}

}  // namespace

void CurvePoints::add(Index line, std::span<const double> values, bool is_point,
                      const std::string& text) {
    const std::size_t wanted = options_.smear ? 4 : with_errors_ ? 3 : 2;
    if (values.size() < wanted || !is_point) {
        complaints_.add(line, fmt::format("expected {}, found '{}'",
                                          options_.smear ? "q, intensity, error and dq (--smear)"
                                          : with_errors_ ? "q, intensity and error"
                                                         : "q and intensity",
                                          text));
        return;
    }
    const double q = values[0], intensity = values[1];
    const double sigma = with_errors_ ? values[2] : 0, dq = options_.smear ? values[3] : 0;
    if (!std::isfinite(q) || !std::isfinite(intensity) || !std::isfinite(sigma) ||
        !std::isfinite(dq)) {
        if (not_finite_++ == 0) first_not_finite_ = line;
    } else if (std::abs(intensity) > kLargest || sigma > kLargest ||
               (sigma > 0 && sigma < 1 / kLargest)) {
        complaints_.add(line, fmt::format("expected intensity and error of at most {:g} and an "
                                          "error of at least {:g}, found '{}'",
                                          kLargest, 1 / kLargest, text));
    } else if (q < 0) {
        complaints_.add(line, fmt::format("expected q of 0 or more, found {:g}", q));
    } else if (sigma < 0) {
        complaints_.add(line, fmt::format("expected an error above 0, found {:g}", sigma));
    } else if (dq < 0) {
        complaints_.add(line, fmt::format("expected dq of 0 or more, found {:g}", dq));
    } else {
        keep(line, q, intensity, sigma, dq);
    }
}

void CurvePoints::keep(Index line, double q, double intensity, double sigma, double dq) {
    if (sigma == 0 && options_.assumed_error && intensity != 0) {
        sigma = *options_.assumed_error * std::abs(intensity);
        assumed_ += sigma >= 1 / kLargest;
    }
    if (!(sigma >= 1 / kLargest)) {
        if (without_error_++ == 0) first_without_error_ = line;
        return;
    }
    profile_.q.push_back(q);
    profile_.intensity.push_back(intensity);
    profile_.sigma.push_back(sigma);
    if (options_.smear) profile_.dq.push_back(dq);
    lines_.push_back(line);
}

void CurvePoints::check_errors() const {
    const std::size_t all = profile_.size() + without_error_;
    if (profile_.size() >= kMinPoints && profile_.size() >= without_error_) return;
    if (without_error_ == 0)
        throw InputError(file_, 0,
                         fmt::format("expected {} or more points, found {}", kMinPoints, all));
    throw InputError(file_, first_without_error_,
                     fmt::format("expected errors above 0, found none at {} of {} points; "
                                 "{}",
                                 without_error_, all, kAdvice));
}

/// Column 4 of other programs' files may be a model.
void CurvePoints::check_dq() const {
    if (!options_.smear) return;
    const double largest = *std::max_element(profile_.dq.begin(), profile_.dq.end());
    const double end = *std::max_element(profile_.q.begin(), profile_.q.end());
    if (largest == 0)
        throw InputError(file_, lines_.front(),
                         "expected dq above 0 in column 4 (--smear), found 0 at all points");
    const auto at = static_cast<std::size_t>(
        std::max_element(profile_.dq.begin(), profile_.dq.end()) - profile_.dq.begin());
    if (largest > end / 2)
        throw InputError(file_, lines_[at],
                         fmt::format("expected dq in column 4 (--smear) of at most half of the "
                                     "largest q ({:g}), found {:g}",
                                     end, largest));
}

Profile CurvePoints::finish(Notes& notes) {
    complaints_.throw_if_any();
    if (not_finite_ > profile_.size() + without_error_)
        throw InputError(file_, first_not_finite_,
                         fmt::format("expected finite numbers, found none at {} of {} points",
                                     not_finite_, not_finite_ + without_error_ + profile_.size()));
    check_errors();
    check_dq();
    const std::size_t all = profile_.size() + without_error_;
    if (not_finite_ > 0)
        notes.push_back(
            {NoteKind::points, fmt::format("{} of {} points without finite numbers (NaN) left out",
                                           not_finite_, all + not_finite_)});
    if (without_error_ > 0)
        notes.push_back(
            {NoteKind::points,
             fmt::format("{} of {} points without a usable error left out", without_error_, all),
             options_.assumed_error ? "" : "--assume-error, which keeps those of an intensity"});
    if (assumed_ > 0)
        notes.push_back({NoteKind::errors,
                         fmt::format("errors of {} of {} points taken as {:g} of the intensity",
                                     assumed_, profile_.size(), *options_.assumed_error)});
    sort(notes);
    merge(notes);
    profile_.source = file_;
    return std::move(profile_);
}

void CurvePoints::sort(Notes& notes) {
    const std::vector<double>& q = profile_.q;
    std::size_t falls = 0;
    for (std::size_t k = 1; k < q.size(); ++k) falls += q[k] < q[k - 1];
    if (falls == 0) return;
    refuse_second_curve();
    std::vector<std::size_t> order(q.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return q[a] < q[b]; });
    profile_ = in_order(profile_, order);
    notes.push_back({NoteKind::order, fmt::format("points sorted by q, which falls at {} of {}",
                                                  falls, profile_.size())});
}

void CurvePoints::merge(Notes& notes) {
    const std::vector<double>& q = profile_.q;
    Profile merged;
    for (std::size_t first = 0; first < q.size();) {
        std::size_t last = first;
        double weights = 0, intensity = 0, dq2 = 0;
        for (; last < q.size() && q[last] == q[first]; ++last) {
            const double weight = 1 / (profile_.sigma[last] * profile_.sigma[last]);
            weights += weight;
            intensity += weight * profile_.intensity[last];
            if (options_.smear) dq2 += weight * profile_.dq[last] * profile_.dq[last];
        }
        const bool is_one = last == first + 1;
        merged.q.push_back(q[first]);
        merged.intensity.push_back(is_one ? profile_.intensity[first] : intensity / weights);
        merged.sigma.push_back(is_one ? profile_.sigma[first] : 1 / std::sqrt(weights));
        if (options_.smear)
            merged.dq.push_back(is_one ? profile_.dq[first] : std::sqrt(dq2 / weights));
        first = last;
    }
    if (merged.size() == q.size()) return;
    if (merged.size() < kMinPoints)
        throw InputError(file_, 0,
                         fmt::format("expected {} or more different q, found {} at {} points",
                                     kMinPoints, merged.size(), q.size()));
    notes.push_back({NoteKind::order,
                     fmt::format("points of equal q merged by their weights 1 / error^2: {} of {} "
                                 "remain",
                                 merged.size(), q.size())});
    profile_ = std::move(merged);
}

void CurvePoints::refuse_second_curve() const {
    const std::vector<double>& q = profile_.q;
    const auto [min, max] = std::minmax_element(q.begin(), q.end());
    const double half = (*max - *min) / 2;
    double begin = q.front();  // of the rising points before k
    bool rises = false;
    for (std::size_t k = 1; k < q.size(); ++k) {
        rises = rises || q[k] > q[k - 1];
        if (!(q[k] < q[k - 1])) continue;
        std::size_t end = k + 1;  // of the rising points from k
        while (end < q.size() && q[end] > q[end - 1]) ++end;
        const double overlap = std::min(q[k - 1], q[end - 1]) - std::max(begin, q[k]);
        const bool begins_again = q[k - 1] - q[k] > half && q[k] >= begin;
        if (rises && end - k >= kMinPoints && (begins_again || overlap > half))
            throw InputError(file_, lines_[k],
                             fmt::format("expected one curve, found q that begins again at {:g} "
                                         "after {:g}",
                                         q[k], q[k - 1]));
        begin = q[k];
    }
}

}  // namespace pleat

// Select: parts by ranks, their weighted mean, and clusters one after another.
#include "pleat/select/select.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "pleat/core/error.h"

namespace pleat::select {

namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

void check_shapes(const Evidence& evidence) {
    const auto frames = evidence.assignment.size();
    const bool fits =
        frames > 0 && evidence.density.size() == frames &&
        (!evidence.has_chi2() || evidence.chi2.size() == frames) &&
        (!evidence.has_contacts() ||
         (evidence.satisfied.extent(0) == static_cast<Index>(frames) &&
          evidence.satisfied.extent(1) == static_cast<Index>(evidence.strengths.size())));
    if (!fits) throw std::logic_error("select: evidence of different lengths");
}

void check_weights(const Evidence& evidence, const Parameters& p) {
    const double sum = p.cluster_weight + (evidence.has_contacts() ? p.contact_weight : 0) +
                       (evidence.has_chi2() ? p.curve_weight : 0);
    if (!(sum > 0))
        throw UsageError(
            "expected a weight above 0 for contacts, clusters or scattering that are "
            "given, found 0 for each");
}

double median(std::vector<double> values) {
    if (values.empty()) return kUnknown;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    if (values.size() % 2 == 1) return *middle;
    return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

std::vector<double> picked(std::span<const double> values, const std::vector<Index>& frames) {
    std::vector<double> some;
    some.reserve(frames.size());
    if (values.empty()) return some;
    for (const Index frame : frames) some.push_back(values[static_cast<std::size_t>(frame)]);
    return some;
}

/// Share of the strengths of all contacts that are open and satisfied, for each of these frames.
std::vector<double> satisfied_share(const Evidence& evidence, const std::vector<std::uint8_t>& open,
                                    const std::vector<Index>& frames) {
    if (!evidence.has_contacts()) return {};
    const double all = std::accumulate(evidence.strengths.begin(), evidence.strengths.end(), 0.0);
    std::vector<double> share;
    share.reserve(frames.size());
    for (const Index frame : frames) {
        const View<const std::uint8_t, 1> satisfied = evidence.satisfied[frame];
        double sum = 0;
        for (std::size_t c = 0; c < open.size(); ++c)
            if (open[c] != 0 && satisfied(static_cast<Index>(c)) != 0) sum += evidence.strengths[c];
        share.push_back(sum / all);
    }
    return share;
}

/// The parts of some frames and their weighted mean.
struct Joined {
    std::vector<double> contact_part, cluster_part, curve_part, mean;
};
Joined join(const Evidence& evidence, const Parameters& p, std::span<const double> contacts,
            const std::vector<Index>& frames) {
    Joined joined;
    joined.contact_part = parts_of(contacts, true);
    joined.cluster_part = parts_of(picked(evidence.density, frames), true);
    joined.curve_part = parts_of(picked(evidence.chi2, frames), false);
    joined.mean.assign(frames.size(), 0.0);
    double weights = 0;
    const auto add = [&](const std::vector<double>& part, double weight) {
        if (part.empty()) return;
        weights += weight;
        for (std::size_t n = 0; n < part.size(); ++n) joined.mean[n] += weight * part[n];
    };
    add(joined.contact_part, p.contact_weight);
    add(joined.cluster_part, p.cluster_weight);
    add(joined.curve_part, p.curve_weight);
    for (double& value : joined.mean) value /= weights;
    return joined;
}

std::vector<Index> places(const std::vector<double>& joined) {
    std::vector<Index> order(joined.size()), place(joined.size());
    std::iota(order.begin(), order.end(), Index{0});
    std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) {
        return joined[static_cast<std::size_t>(a)] > joined[static_cast<std::size_t>(b)];
    });
    for (std::size_t n = 0; n < order.size(); ++n)
        place[static_cast<std::size_t>(order[n])] = static_cast<Index>(n) + 1;
    return place;
}

std::vector<std::vector<Index>> members_of(std::span<const std::int32_t> assignment) {
    std::vector<std::vector<Index>> members;
    for (std::size_t frame = 0; frame < assignment.size(); ++frame) {
        if (assignment[frame] < 0) continue;
        const auto cluster = static_cast<std::size_t>(assignment[frame]);
        if (cluster >= members.size()) members.resize(cluster + 1);
        members[cluster].push_back(static_cast<Index>(frame));
    }
    return members;
}

/// Selects clusters and keeps account of what they explain.
class Selection {
public:
    Selection(const Evidence& evidence, const Parameters& parameters)
        : evidence_(evidence),
          parameters_(parameters),
          members_(members_of(evidence.assignment)),
          taken_(members_.size(), 0),
          open_(evidence.strengths.size(), 1),
          explained_by_(evidence.strengths.size(), 0) {}

    /// The next cluster; false where none is left.
    bool step() {
        const std::vector<Index> frames = frames_left();
        const std::vector<double> contacts = satisfied_share(evidence_, open_, frames);
        const Joined joined = join(evidence_, parameters_, contacts, frames);
        std::vector<double> of_frame(evidence_.assignment.size(), kUnknown);
        for (std::size_t n = 0; n < frames.size(); ++n)
            of_frame[static_cast<std::size_t>(frames[n])] = joined.mean[n];
        ClusterEvidence next{.cluster = -1, .when_selected = -1.0};
        for (std::size_t cluster = 0; cluster < members_.size(); ++cluster) {
            if (!may_take(cluster)) continue;
            const double value = median(picked(of_frame, members_[cluster]));
            if (value <= next.when_selected) continue;
            next.cluster = static_cast<std::int32_t>(cluster);
            next.when_selected = value;
        }
        if (next.cluster < 0) return false;
        next.selected = static_cast<Index>(chosen_.size()) + 1;
        next.added = explain(members_[static_cast<std::size_t>(next.cluster)], next.selected);
        taken_[static_cast<std::size_t>(next.cluster)] = 1;
        chosen_.push_back(next);
        return true;
    }

    const std::vector<std::vector<Index>>& members() const { return members_; }
    const std::vector<std::uint8_t>& open() const { return open_; }
    const std::vector<Index>& explained_by() const { return explained_by_; }

    /// The selected, then the others.
    std::vector<ClusterEvidence> clusters() const {
        std::vector<ClusterEvidence> all = chosen_;
        for (std::size_t cluster = 0; cluster < members_.size(); ++cluster)
            if (taken_[cluster] == 0 && !members_[cluster].empty())
                all.push_back({.cluster = static_cast<std::int32_t>(cluster),
                               .when_selected = kUnknown,
                               .added = kUnknown});
        return all;
    }

private:
    bool may_take(std::size_t cluster) const {
        return taken_[cluster] == 0 && !members_[cluster].empty() &&
               static_cast<Index>(members_[cluster].size()) >= parameters_.least_size;
    }
    std::vector<Index> frames_left() const {
        std::vector<Index> frames;
        for (std::size_t frame = 0; frame < evidence_.assignment.size(); ++frame) {
            const std::int32_t cluster = evidence_.assignment[frame];
            if (cluster < 0 || taken_[static_cast<std::size_t>(cluster)] == 0)
                frames.push_back(static_cast<Index>(frame));
        }
        return frames;
    }
    /// Closes the contacts that enough of these frames satisfy; their share of all strengths.
    double explain(const std::vector<Index>& frames, Index place) {
        if (!evidence_.has_contacts()) return kUnknown;
        double added = 0, all = 0;
        for (std::size_t c = 0; c < open_.size(); ++c) {
            all += evidence_.strengths[c];
            if (open_[c] == 0) continue;
            Index count = 0;
            for (const Index frame : frames)
                count += evidence_.satisfied(frame, static_cast<Index>(c)) != 0;
            if (static_cast<double>(count) < kExplains * static_cast<double>(frames.size()))
                continue;
            open_[c] = 0;
            explained_by_[c] = place;
            added += evidence_.strengths[c];
        }
        return added / all;
    }

    const Evidence& evidence_;
    const Parameters& parameters_;
    std::vector<std::vector<Index>> members_;
    std::vector<std::uint8_t> taken_, open_;
    std::vector<Index> explained_by_;
    std::vector<ClusterEvidence> chosen_;
};

void describe(const Evidence& evidence, const Scores& scores, const std::vector<Index>& frames,
              ClusterEvidence& cluster) {
    cluster.size = static_cast<Index>(frames.size());
    cluster.best = *std::min_element(frames.begin(), frames.end(), [&](Index a, Index b) {
        return scores.place[static_cast<std::size_t>(a)] <
               scores.place[static_cast<std::size_t>(b)];
    });
    cluster.joined = median(picked(scores.joined, frames));
    cluster.contacts = median(picked(scores.contacts, frames));
    cluster.left = median(picked(scores.left, frames));
    cluster.density = median(picked(evidence.density, frames));
    const std::vector<double> chi2 = picked(evidence.chi2, frames);
    cluster.chi2 = median(chi2);
    cluster.least_chi2 = chi2.empty() ? kUnknown : *std::min_element(chi2.begin(), chi2.end());
}

}  // namespace

std::vector<double> parts_of(std::span<const double> values, bool higher_is_better) {
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return higher_is_better ? values[a] < values[b] : values[a] > values[b];
    });
    std::vector<double> parts(values.size(), 0.5);
    if (values.size() < 2) return parts;
    const auto last = static_cast<double>(values.size() - 1);
    for (std::size_t first = 0; first < order.size();) {
        std::size_t end = first;
        while (end < order.size() && values[order[end]] == values[order[first]]) ++end;
        const double mean = static_cast<double>(first + end - 1) / 2;
        for (; first < end; ++first) parts[order[first]] = mean / last;
    }
    return parts;
}

Result run(const Evidence& evidence, const Parameters& parameters) {
    Parameters copy = parameters;
    check(fields(copy));
    check_shapes(evidence);
    check_weights(evidence, parameters);
    Result result;
    std::vector<Index> frames(evidence.assignment.size());
    std::iota(frames.begin(), frames.end(), Index{0});
    Selection selection(evidence, parameters);
    Scores& scores = result.scores;
    scores.contacts = satisfied_share(evidence, selection.open(), frames);
    Joined joined = join(evidence, parameters, scores.contacts, frames);
    scores.contact_part = std::move(joined.contact_part);
    scores.cluster_part = std::move(joined.cluster_part);
    scores.curve_part = std::move(joined.curve_part);
    scores.joined = std::move(joined.mean);
    scores.place = places(scores.joined);
    for (Index n = 0; n < parameters.best; ++n) {
        if (!selection.step()) break;
        if (n == 0) scores.left = satisfied_share(evidence, selection.open(), frames);
    }
    result.explained_by = selection.explained_by();
    result.clusters = selection.clusters();
    for (ClusterEvidence& cluster : result.clusters)
        describe(evidence, scores, selection.members()[static_cast<std::size_t>(cluster.cluster)],
                 cluster);
    std::stable_sort(result.clusters.begin(), result.clusters.end(),
                     [](const ClusterEvidence& a, const ClusterEvidence& b) {
                         if ((a.selected > 0) != (b.selected > 0)) return a.selected > 0;
                         return a.selected > 0 ? a.selected < b.selected : a.joined > b.joined;
                     });
    return result;
}

}  // namespace pleat::select

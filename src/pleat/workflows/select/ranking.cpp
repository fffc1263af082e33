// Ranking: ranks of scores, their weighted mean, and clusters one after another.
#include "pleat/workflows/select/ranking.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "pleat/core/error.h"

namespace pleat::select {

namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

void check_shapes(const Evidence& evidence) {
    const auto frames = evidence.assignment.size();
    const bool fits = frames > 0 && evidence.density.size() == frames &&
                      (!evidence.has_chi2() || evidence.chi2.size() == frames) &&
                      (evidence.score.empty() || evidence.score.size() == frames) &&
                      (!evidence.has_contacts() ||
                       (evidence.formed_contacts.extent(0) == static_cast<Index>(frames) &&
                        evidence.formed_contacts.extent(1) ==
                            static_cast<Index>(evidence.contact_strengths.size())));
    if (!fits) throw std::logic_error("select: evidence of different lengths");
}

double median(std::vector<double> values) {
    if (values.empty()) return kUnknown;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    if (values.size() % 2 == 1) return *middle;
    return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

/// The values of these frames; empty if the values are not known.
std::vector<double> values_of(std::span<const double> values, const std::vector<Index>& frames) {
    std::vector<double> some;
    some.reserve(frames.size());
    if (values.empty()) return some;
    for (const Index frame : frames) some.push_back(values[frame]);
    return some;
}

/// For each of these frames: the summed strength of the formed contacts that no selected cluster
/// explains, divided by the total strength.
std::vector<double> formed_share(const Evidence& evidence, const std::vector<std::uint8_t>& open,
                                 const std::vector<Index>& frames) {
    if (!evidence.has_contacts()) return {};
    const double all =
        std::accumulate(evidence.contact_strengths.begin(), evidence.contact_strengths.end(), 0.0);
    std::vector<double> share;
    share.reserve(frames.size());
    for (const Index frame : frames) {
        const View<const std::uint8_t, 1> formed_contacts = evidence.formed_contacts[frame];
        double sum = 0;
        for (std::size_t c = 0; c < open.size(); ++c)
            if (open[c] != 0 && formed_contacts(static_cast<Index>(c)) != 0)
                sum += evidence.contact_strengths[c];
        share.push_back(sum / all);
    }
    return share;
}

/// The ranks of some frames and their weighted mean.
struct Ranks {
    std::vector<double> contact, cluster, curve, score, mean;
};
Ranks rank_some(const Evidence& evidence, const Parameters& p, std::span<const double> contacts,
                const std::vector<Index>& frames) {
    Ranks ranks;
    ranks.contact = ranks_of(contacts, true);
    ranks.cluster = ranks_of(values_of(evidence.density, frames), true);
    ranks.curve = ranks_of(values_of(evidence.chi2, frames), false);
    ranks.score = ranks_of(values_of(evidence.score, frames), true);
    ranks.mean.assign(frames.size(), 0.0);
    double weights = 0;
    const auto add = [&](const std::vector<double>& some, double weight) {
        if (some.empty()) return;
        weights += weight;
        for (std::size_t n = 0; n < some.size(); ++n) ranks.mean[n] += weight * some[n];
    };
    add(ranks.contact, p.contact_weight);
    add(ranks.cluster, p.cluster_weight);
    add(ranks.curve, p.curve_weight);
    add(ranks.score, p.score_weight);
    for (double& value : ranks.mean) value /= weights;
    return ranks;
}

/// Positions from 1, the highest score first.
std::vector<Index> positions(const std::vector<double>& joint_rank) {
    std::vector<Index> order(joint_rank.size()), position(joint_rank.size());
    std::iota(order.begin(), order.end(), Index{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](Index a, Index b) { return joint_rank[a] > joint_rank[b]; });
    for (std::size_t n = 0; n < order.size(); ++n) position[order[n]] = static_cast<Index>(n) + 1;
    return position;
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

/// Selects clusters one by one, and marks the contacts that each explains.
class ClusterSelector {
public:
    ClusterSelector(const Evidence& evidence, const Parameters& parameters)
        : evidence_(evidence),
          parameters_(parameters),
          members_(members_of(evidence.assignment)),
          selected_(members_.size(), 0),
          open_(evidence.contact_strengths.size(), 1),
          explained_by_(evidence.contact_strengths.size(), 0) {}

    /// Selects the next cluster; false if none is left.
    bool select_next() {
        const std::vector<Index> frames = remaining_frames();
        const std::vector<double> contacts = formed_share(evidence_, open_, frames);
        const Ranks ranks = rank_some(evidence_, parameters_, contacts, frames);
        std::vector<double> of_frame(evidence_.assignment.size(), kUnknown);
        for (std::size_t n = 0; n < frames.size(); ++n) of_frame[frames[n]] = ranks.mean[n];
        ClusterSummary next{.cluster = -1, .joint_rank_when_selected = -1.0};
        for (std::size_t cluster = 0; cluster < members_.size(); ++cluster) {
            if (!is_candidate(cluster)) continue;
            const double value = median(values_of(of_frame, members_[cluster]));
            if (value <= next.joint_rank_when_selected) continue;
            next.cluster = static_cast<std::int32_t>(cluster);
            next.joint_rank_when_selected = value;
        }
        if (next.cluster < 0) return false;
        next.selected = static_cast<Index>(chosen_.size()) + 1;
        next.added = explain(members_[next.cluster], next.selected);
        selected_[next.cluster] = 1;
        chosen_.push_back(next);
        return true;
    }

    const std::vector<std::vector<Index>>& members() const { return members_; }
    const std::vector<std::uint8_t>& open() const { return open_; }
    const std::vector<Index>& explained_by() const { return explained_by_; }

    /// Sorts the clusters: the selected ones first, then the others.
    std::vector<ClusterSummary> clusters() const {
        std::vector<ClusterSummary> all = chosen_;
        for (std::size_t cluster = 0; cluster < members_.size(); ++cluster)
            if (selected_[cluster] == 0 && !members_[cluster].empty())
                all.push_back({.cluster = static_cast<std::int32_t>(cluster),
                               .joint_rank_when_selected = kUnknown,
                               .added = kUnknown});
        return all;
    }

private:
    bool is_candidate(std::size_t cluster) const {
        return selected_[cluster] == 0 && !members_[cluster].empty() &&
               static_cast<Index>(members_[cluster].size()) >= parameters_.min_size;
    }
    std::vector<Index> remaining_frames() const {
        std::vector<Index> frames;
        for (std::size_t frame = 0; frame < evidence_.assignment.size(); ++frame) {
            const std::int32_t cluster = evidence_.assignment[frame];
            if (cluster < 0 || selected_[cluster] == 0) frames.push_back(static_cast<Index>(frame));
        }
        return frames;
    }
    /// Marks the contacts that enough of these frames form as explained by the cluster at this
    /// position. Returns their share of all strengths.
    double explain(const std::vector<Index>& frames, Index position) {
        if (!evidence_.has_contacts()) return kUnknown;
        double added = 0, all = 0;
        for (std::size_t c = 0; c < open_.size(); ++c) {
            all += evidence_.contact_strengths[c];
            if (open_[c] == 0) continue;
            Index count = 0;
            for (const Index frame : frames)
                count += evidence_.formed_contacts(frame, static_cast<Index>(c)) != 0;
            if (static_cast<double>(count) < kMinShareOfFrames * static_cast<double>(frames.size()))
                continue;
            open_[c] = 0;
            explained_by_[c] = position;
            added += evidence_.contact_strengths[c];
        }
        return added / all;
    }

    const Evidence& evidence_;
    const Parameters& parameters_;
    std::vector<std::vector<Index>> members_;
    std::vector<std::uint8_t> selected_, open_;
    std::vector<Index> explained_by_;
    std::vector<ClusterSummary> chosen_;
};

void describe(const Evidence& evidence, const Scores& scores, const std::vector<Index>& frames,
              ClusterSummary& cluster) {
    cluster.size = static_cast<Index>(frames.size());
    cluster.best_frame = *std::min_element(frames.begin(), frames.end(), [&](Index a, Index b) {
        return scores.position[a] < scores.position[b];
    });
    cluster.joint_rank = median(values_of(scores.joint_rank, frames));
    cluster.contacts = median(values_of(scores.contacts, frames));
    cluster.unexplained_share = median(values_of(scores.unexplained_share, frames));
    cluster.density = median(values_of(evidence.density, frames));
    const std::vector<double> chi2 = values_of(evidence.chi2, frames);
    cluster.chi2 = median(chi2);
    cluster.min_chi2 = chi2.empty() ? kUnknown : *std::min_element(chi2.begin(), chi2.end());
}

}  // namespace

void check_weights(const Parameters& p, bool has_contacts, bool has_curve, bool has_score) {
    const double sum = p.cluster_weight + (has_contacts ? p.contact_weight : 0) +
                       (has_curve ? p.curve_weight : 0) + (has_score ? p.score_weight : 0);
    if (!(sum > 0))
        throw UsageError(
            "expected a weight above 0 for contacts, clusters, scattering or a score that are "
            "given, found 0 for each");
}

bool wants_cutoff(const cluster::Parameters& clustering) {
    return !clustering.cutoff.is_set() && !clustering.k.is_set() &&
           clustering.method != cluster::Method::kmedoids &&
           clustering.method != cluster::Method::density_peaks &&
           clustering.method != cluster::Method::iterated_density &&
           !(clustering.method == cluster::Method::jarvis_patrick && clustering.nearest > 0);
}

std::vector<double> ranks_of(std::span<const double> values, bool higher_is_better) {
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return higher_is_better ? values[a] < values[b] : values[a] > values[b];
    });
    std::vector<double> ranks(values.size(), 0.5);
    if (values.size() < 2) return ranks;
    const auto last = static_cast<double>(values.size() - 1);
    for (std::size_t first = 0; first < order.size();) {
        std::size_t end = first;
        while (end < order.size() && values[order[end]] == values[order[first]]) ++end;
        const double mean = static_cast<double>(first + end - 1) / 2;
        for (; first < end; ++first) ranks[order[first]] = mean / last;
    }
    return ranks;
}

Ranking rank(const Evidence& evidence, const Parameters& parameters) {
    Parameters copy = parameters;
    check(fields(copy));
    check_shapes(evidence);
    check_weights(parameters, evidence.has_contacts(), evidence.has_chi2(),
                  !evidence.score.empty());
    Ranking result;
    std::vector<Index> frames(evidence.assignment.size());
    std::iota(frames.begin(), frames.end(), Index{0});
    ClusterSelector selector(evidence, parameters);
    Scores& scores = result.scores;
    scores.contacts = formed_share(evidence, selector.open(), frames);
    Ranks ranks = rank_some(evidence, parameters, scores.contacts, frames);
    scores.contact_rank = std::move(ranks.contact);
    scores.cluster_rank = std::move(ranks.cluster);
    scores.curve_rank = std::move(ranks.curve);
    scores.score_rank = std::move(ranks.score);
    scores.joint_rank = std::move(ranks.mean);
    scores.position = positions(scores.joint_rank);
    for (Index n = 0; n < parameters.max_clusters; ++n) {
        if (!selector.select_next()) break;
        if (n == 0) scores.unexplained_share = formed_share(evidence, selector.open(), frames);
    }
    result.explained_by = selector.explained_by();
    result.clusters = selector.clusters();
    for (ClusterSummary& cluster : result.clusters)
        describe(evidence, scores, selector.members()[cluster.cluster], cluster);
    std::stable_sort(result.clusters.begin(), result.clusters.end(),
                     [](const ClusterSummary& a, const ClusterSummary& b) {
                         if ((a.selected > 0) != (b.selected > 0)) return a.selected > 0;
                         return a.selected > 0 ? a.selected < b.selected
                                               : a.joint_rank > b.joint_rank;
                     });
    return result;
}

}  // namespace pleat::select

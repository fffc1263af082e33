// Score tail: p of observed scores against those of all null alignments, with a gamma tail beyond
// the sampled ones.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace pleat::phylogeny {

/// The tail of the pooled null scores: P(S >= s) = mass Q(shape, (s - threshold) / scale) for s
/// above the threshold.
struct ScoreTail {
    double threshold = 0, mass = 0;
    double shape = 0, scale = 0;  ///< 0: fewer than two different scores lie above the threshold
    double max = 0;               ///< the largest null score
};

/// The shape and scale of the gamma distribution of greatest likelihood for these numbers above 0;
/// shape and scale 0 if they are all equal or fewer than two.
ScoreTail fit_gamma(std::span<const double> excess);

/// Compares observed scores with the pooled scores of all null alignments.
class ScorePool {
public:
    /// `nulls` alignments follow, with as many scores each as `observed` has. The tail is fitted to
    /// the fraction `tail_mass` of the largest, to at least kMinTail scores.
    ScorePool(std::span<const double> observed, std::int64_t nulls, double tail_mass);

    /// Adds scores. What p() returns does not depend on the order.
    void add(std::span<const double> scores);

    /// Adds the scores of a pool of the same observed scores.
    void merge(const ScorePool& other);

    /// Fits the tail; call after all scores were added.
    ScoreTail fit();

    /// For each observed score: the tail's probability above its threshold, below it
    /// (1 + null scores of at least it) / (1 + null scores).
    std::vector<double> p(const ScoreTail& tail) const;

    static constexpr std::int64_t kMinTail = 50;

private:
    void drop_smallest();

    std::vector<double> observed_, sorted_;
    std::vector<std::int64_t> above_;  ///< [k]: null scores of at least k sorted observed ones
    std::int64_t total_, tail_count_;
    std::vector<double> largest_;
    double cut_;
};

}  // namespace pleat::phylogeny

// Calibration: the logistic function and its fitted constants.
#include "pleat/couplings/contacts/calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>

namespace pleat::couplings {

namespace {

constexpr Index kMinSeparation = 6;

// Printed by scripts/calibrate_probability.py.
constexpr double kConstant = 0.7058, kOfScore = 1.1038, kOfColumns = -0.9045;
constexpr double kSaturation = 6, kMinColumns = 50, kMaxColumns = 500;

// Families reduced to a number of effective sequences (medians): the mean probability of their best
// L pairs, and the fraction of these that were contacts. README.md says how it was measured.
struct Depth {
    double effective, probability, contacts;
};
constexpr int kCutFamilies = 35;
constexpr Depth kDepths[] = {{10, 0.37, 0.09}, {20, 0.37, 0.12},  {40, 0.38, 0.15},
                             {80, 0.38, 0.21}, {159, 0.39, 0.27}, {316, 0.41, 0.36}};
constexpr double kWarnBelow = 500;

struct Moments {
    double count = 0, mean = 0, squares = 0;
    void add(double value) {
        count += 1;
        const double step = value - mean;
        mean += step / count;
        squares += step * (value - mean);
    }
};

Moments moments(View<const double, 2> scores, const std::vector<Index>& columns,
                Index min_separation) {
    Moments all;
    for (Index i = 0; i < scores.extent(0); ++i) {
        for (Index j = i + 1; j < scores.extent(1); ++j) {
            const Index separation = std::abs(columns[static_cast<std::size_t>(j)] -
                                              columns[static_cast<std::size_t>(i)]);
            if (separation >= min_separation) all.add(scores(i, j));
        }
    }
    return all;
}

}  // namespace

ScoreScale score_scale(View<const double, 2> scores, const std::vector<Index>& columns) {
    Moments all = moments(scores, columns, kMinSeparation);
    if (all.count < 2) all = moments(scores, columns, 0);
    return {all.mean, all.count > 1 ? std::sqrt(all.squares / (all.count - 1)) : 0.0};
}

std::string depth_warning(double effective_sequences) {
    if (effective_sequences >= kWarnBelow) return {};
    if (effective_sequences < kMinEffectiveSequences)
        return fmt::format(
            "only {:.1f} effective sequences: probabilities of contacts need at least {:g}",
            effective_sequences, kMinEffectiveSequences);
    const auto distance = [&](const Depth& depth) {
        return std::abs(std::log(depth.effective / effective_sequences));
    };
    const Depth& nearest = *std::min_element(
        std::begin(kDepths), std::end(kDepths),
        [&](const Depth& a, const Depth& b) { return distance(a) < distance(b); });
    return fmt::format(
        "only {:.1f} effective sequences: probabilities are too high. In {} families reduced to "
        "about "
        "{:g}, the best L pairs had a mean probability of {:.2f}, but only {:.2f} of them were "
        "contacts",
        effective_sequences, kCutFamilies, nearest.effective, nearest.probability,
        nearest.contacts);
}

double contact_probability(double z, Index columns) {
    const double score = z / std::sqrt(1 + (z / kSaturation) * (z / kSaturation));
    const double length = std::clamp(static_cast<double>(columns), kMinColumns, kMaxColumns);
    return 1 / (1 + std::exp(-(kConstant + kOfScore * score + kOfColumns * std::log(length))));
}

}  // namespace pleat::couplings

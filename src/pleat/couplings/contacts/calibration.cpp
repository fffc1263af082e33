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

// Over the pairs whose columns are in these two parts.
Moments moments(View<const double, 2> scores, const std::vector<Index>& columns,
                const std::vector<Index>& part_of_column, Index a, Index b, Index min_separation) {
    const auto at = [](Index index) { return static_cast<std::size_t>(index); };
    Moments all;
    for (Index i = 0; i < scores.extent(0); ++i) {
        const Index part = part_of_column[at(i)];
        if (part != a && part != b) continue;
        for (Index j = i + 1; j < scores.extent(1); ++j) {
            if (part_of_column[at(j)] != (part == a ? b : a)) continue;
            const Index separation = std::abs(columns[at(j)] - columns[at(i)]);
            if (a != b || separation >= min_separation) all.add(scores(i, j));
        }
    }
    return all;
}

}  // namespace

ScoreScale score_scale(View<const double, 2> scores, const std::vector<Index>& columns) {
    return score_scale(scores, columns, std::vector<Index>(columns.size()), 0, 0);
}

ScoreScale score_scale(View<const double, 2> scores, const std::vector<Index>& columns,
                       const std::vector<Index>& part_of_column, Index a, Index b) {
    Moments all = moments(scores, columns, part_of_column, a, b, kMinSeparation);
    if (all.count < 2) all = moments(scores, columns, part_of_column, a, b, 0);
    return {all.mean, all.count > 1 ? std::sqrt(all.squares / (all.count - 1)) : 0.0};
}

std::string depth_warning(double effective_sequences, bool is_nucleic) {
    if (effective_sequences >= (is_nucleic ? kMinEffectiveSequences : kWarnBelow)) return {};
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

namespace {

double saturated(double z) { return z / std::sqrt(1 + (z / kSaturation) * (z / kSaturation)); }

double logistic(double x) { return 1 / (1 + std::exp(-x)); }

// L and n of README.md, within the range of the families that were fitted.
double log_columns(const RnaFamily& family) {
    return std::log(std::clamp(static_cast<double>(family.columns), 41.0, 496.0));
}
double log_depth(const RnaFamily& family) {
    const double depth = family.effective_sequences / static_cast<double>(family.columns);
    return std::clamp(std::log(depth), -4.5, 4.8);
}

}  // namespace

double rna_contact_probability(double z, double stacked_z, const RnaFamily& family) {
    const double s = saturated(z), n = log_depth(family);
    return logistic(2.521 + 0.596 * s - 1.151 * log_columns(family) + 0.014 * n + 0.155 * s * n +
                    0.496 * saturated(stacked_z));
}

double tertiary_contact_probability(double z, const RnaFamily& family) {
    constexpr double kMax = 0.8;
    const double s = saturated(z), n = log_depth(family);
    return std::min(kMax, logistic(1.512 + 0.566 * s - 1.032 * log_columns(family) + 0.013 * n +
                                   0.135 * s * n));
}

double contact_probability(double z, Index columns) {
    const double score = saturated(z);
    const double length = std::clamp(static_cast<double>(columns), kMinColumns, kMaxColumns);
    return 1 / (1 + std::exp(-(kConstant + kOfScore * score + kOfColumns * std::log(length))));
}

}  // namespace pleat::couplings

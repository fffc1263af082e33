// Independent: regularised fields of single columns, and log odds with background counts.
#include "pleat/workflows/mutants/independent.h"

#include <algorithm>
#include <cmath>

namespace pleat::mutants {

ProfileScoring family_profile(const couplings::ModelDescription& about) {
    constexpr double kBackgroundCounts = 5, kPerBit = 100;
    constexpr int kGapOpen = 800, kGapExtend = 100;
    const Index columns = about.frequencies.extent(0), residues = about.alphabet->size() - 1;
    const double weight = about.effective_sequences;
    std::vector<double> background(static_cast<std::size_t>(residues), 1.0);
    double total = static_cast<double>(residues);
    for (Index i = 0; i < columns; ++i) {
        for (Index a = 0; a < residues; ++a) {
            const double count = weight * about.frequencies(i, a);
            background[a] += count;
            total += count;
        }
    }
    ProfileScoring profile{Array<std::int32_t, 2>(columns, residues + 1), kGapOpen, kGapExtend};
    for (Index i = 0; i < columns; ++i) {
        double count = 0;
        for (Index a = 0; a < residues; ++a) count += weight * about.frequencies(i, a);
        for (Index a = 0; a < residues; ++a) {
            const double expected = background[a] / total;
            const double odds = (weight * about.frequencies(i, a) + kBackgroundCounts * expected) /
                                ((count + kBackgroundCounts) * expected);
            profile.scores(i, a) =
                static_cast<std::int32_t>(std::lround(kPerBit * std::log2(odds)));
        }
    }
    return profile;
}

std::vector<Index> profile_columns(const ProfileScoring& profile,
                                   std::span<const std::uint8_t> sequence) {
    const std::vector<Index> residues = profile_partners(profile, sequence);
    std::vector<Index> columns(sequence.size(), -1);
    for (std::size_t i = 0; i < residues.size(); ++i)
        if (residues[i] >= 0) columns[residues[i]] = static_cast<Index>(i);
    return columns;
}

namespace {

/// One column: its objective, gradient and Newton step.
class ColumnFit {
public:
    ColumnFit(View<const double, 1> shares, double count, double lambda)
        : shares_(shares), count_(count), lambda_(lambda), probabilities_(size()) {}

    std::size_t size() const { return static_cast<std::size_t>(shares_.size()); }

    /// Sets the fields and their probabilities; returns the objective.
    double set(const std::vector<double>& fields) {
        const double top = *std::max_element(fields.begin(), fields.end());
        double sum = 0, value = 0;
        for (std::size_t a = 0; a < size(); ++a)
            sum += probabilities_[a] = std::exp(fields[a] - top);
        for (double& p : probabilities_) p /= sum;
        for (std::size_t a = 0; a < size(); ++a)
            value += lambda_ * fields[a] * fields[a] - count_ * share(a) * fields[a];
        return value + count_ * (top + std::log(sum));
    }
    /// Computes the gradient at these fields; returns its largest absolute component.
    double gradient(const std::vector<double>& fields, std::vector<double>& out) const {
        double greatest = 0;
        for (std::size_t a = 0; a < size(); ++a) {
            out[a] = count_ * (probabilities_[a] - share(a)) + 2 * lambda_ * fields[a];
            greatest = std::max(greatest, std::abs(out[a]));
        }
        return greatest;
    }
    /// Replaces the gradient by inverse(Hessian) times it. The Hessian is D - N p p^T with D = N p
    /// + 2 lambda; its inverse follows from that of D (Sherman and Morrison 1950), where 1 - N sum
    /// of p^2 / D is the sum of 2 lambda p / D, as sum p = 1.
    void solve(std::vector<double>& step) const {
        double product = 0, rest = 0;
        for (std::size_t a = 0; a < size(); ++a) {
            const double p = probabilities_[a], diagonal = count_ * p + 2 * lambda_;
            product += p * step[a] / diagonal;
            rest += 2 * lambda_ * p / diagonal;
        }
        for (std::size_t a = 0; a < size(); ++a) {
            const double p = probabilities_[a], diagonal = count_ * p + 2 * lambda_;
            step[a] = (step[a] + count_ * p * product / rest) / diagonal;
        }
    }

private:
    double share(std::size_t a) const { return shares_(static_cast<Index>(a)); }

    View<const double, 1> shares_;
    double count_, lambda_;
    std::vector<double> probabilities_;
};

std::vector<double> fit_column(View<const double, 1> shares, double count, double lambda) {
    constexpr int kMaxSteps = 500;
    constexpr double kTolerance = 1e-10;
    ColumnFit fit(shares, count, lambda);
    std::vector<double> fields(fit.size(), 0.0), step(fit.size()), trial(fit.size());
    double value = fit.set(fields);
    for (int n = 0; n < kMaxSteps; ++n) {
        if (fit.gradient(fields, step) < kTolerance * count) break;
        fit.solve(step);
        double length = 1;
        for (int halvings = 0; halvings < 60; ++halvings, length /= 2) {
            for (std::size_t a = 0; a < fields.size(); ++a) trial[a] = fields[a] - length * step[a];
            const double reached = fit.set(trial);
            // Near the minimum the objective changes by less than its rounding.
            if (reached <= value + 1e-12 * std::abs(value)) {
                value = reached;
                break;
            }
        }
        fields = trial;
    }
    return fields;
}

}  // namespace

Array<double, 2> residue_frequencies(View<const double, 2> frequencies, Index residues) {
    const Index columns = frequencies.extent(0);
    Array<double, 2> shares(columns, residues);
    for (Index i = 0; i < columns; ++i) {
        double sum = 0;
        for (Index a = 0; a < residues; ++a) sum += frequencies(i, a);
        if (sum <= 0) continue;
        for (Index a = 0; a < residues; ++a) shares(i, a) = frequencies(i, a) / sum;
    }
    return shares;
}

Array<double, 2> independent_fields(View<const double, 2> frequencies, double effective_sequences,
                                    double lambda) {
    Array<double, 2> fields(frequencies.extent(0), frequencies.extent(1));
    for (Index i = 0; i < frequencies.extent(0); ++i) {
        const View<const double, 1> shares = frequencies[i];
        const bool has_residues =
            std::any_of(shares.begin(), shares.end(), [](double share) { return share > 0; });
        if (!has_residues) continue;
        const std::vector<double> fitted = fit_column(shares, effective_sequences, lambda);
        std::copy(fitted.begin(), fitted.end(), fields[i].begin());
    }
    return fields;
}

}  // namespace pleat::mutants

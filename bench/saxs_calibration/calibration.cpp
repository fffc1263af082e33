// Calibration: factors q by q with a ridge, and cross-validation by clusters of sequences.
#include "calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "pleat/core/error.h"
#include "pleat/core/loops/steps.h"
#include "pleat/saxs/fit/least_squares.h"

namespace pleat::saxs {

namespace {

constexpr double kMaxValidatedQ = 0.5;
constexpr Index kFolds = 5;

/// A structure of a fit and its weight.
struct WeightedCase {
    const CalibrationCase* structure;
    double weight;
};

/// Relative deviation of a structure's profile at one q, and its derivatives by the form factors
/// (may be null).
double deviation(const CalibrationCase& one, std::size_t k, double excess,
                 const std::vector<double>& factors, std::vector<double>* slopes) {
    const std::size_t types = factors.size(), rows = types + 1;
    const double* const sums = &one.pair_sums[k * rows * rows];
    double total = 0;
    for (std::size_t t = 0; t < rows; ++t) {
        double row = sums[t * rows + types] * excess;
        for (std::size_t u = 0; u < types; ++u) row += sums[t * rows + u] * factors[u];
        total += (t < types ? factors[t] : excess) * row;
        if (slopes != nullptr && t < types) (*slopes)[t] = 2 * row / one.reference[k];
    }
    return total / one.reference[k] - 1;
}

/// The mean amplitude of the complete beads of each type, [q][type]; if there are none, that of an
/// excess of the complete bead's electrons.
std::vector<std::vector<double>> mean_amplitudes(const std::vector<WeightedCase>& cases,
                                                 Resolution resolution) {
    const std::vector<double> q = calibration_grid(),
                              electrons = complete_bead_electrons(resolution);
    std::vector<std::vector<double>> amplitudes(q.size(), std::vector<double>(electrons.size()));
    for (std::size_t t = 0; t < electrons.size(); ++t) {
        double count = 0;
        for (const WeightedCase& one : cases) count += one.structure->complete_counts[t];
        for (std::size_t k = 0; k < q.size(); ++k) {
            double sum = 0;
            for (const WeightedCase& one : cases)
                sum += one.structure->amplitudes[t * q.size() + k];
            amplitudes[k][t] = count > 0 ? sum / count : electrons[t] * excess_factor(q[k]);
        }
    }
    return amplitudes;
}

/// Least-squares fit of the form factors to some of the calibration structures.
class Solver {
public:
    Solver(const std::vector<WeightedCase>& cases, Resolution resolution)
        : cases_(cases),
          types_(bead_types(resolution).size()),
          amplitudes_(mean_amplitudes(cases, resolution)) {}

    FormFactorTable run(Resolution resolution, double ridge) const {
        FormFactorTable table;
        table.q = calibration_grid();
        table.types = bead_types(resolution);
        table.factors =
            Array<double, 2>(static_cast<Index>(table.q.size()), static_cast<Index>(types_));
        std::vector<double> factors = amplitudes_.front();
        for (std::size_t k = 0; k < table.q.size(); ++k) {
            factors = fit_point(k, factors, ridge);
            std::copy(factors.begin(), factors.end(), table.factors[static_cast<Index>(k)].begin());
        }
        return table;
    }

private:
    double objective(std::size_t k, double excess, const std::vector<double>& factors,
                     double ridge) const {
        double sum = 0;
        for (const WeightedCase& one : cases_) {
            const double d = deviation(*one.structure, k, excess, factors, nullptr);
            sum += one.weight * d * d;
        }
        for (std::size_t t = 0; t < types_; ++t)
            sum += ridge * (factors[t] - amplitudes_[k][t]) * (factors[t] - amplitudes_[k][t]);
        return sum;
    }

    std::vector<double> fit_point(std::size_t k, const std::vector<double>& start,
                                  double ridge) const {
        constexpr int kMaxSteps = 100;
        const double excess = excess_factor(calibration_grid()[k]);
        std::vector<double> factors = start;
        double value = objective(k, excess, factors, ridge), damping = 1e-4;
        for (int step = 0; step < kMaxSteps && damping < 1e10; ++step) {
            std::vector<double> matrix(types_ * types_, 0), right(types_, 0), slopes(types_), move;
            for (const WeightedCase& one : cases_) {
                const double d = deviation(*one.structure, k, excess, factors, &slopes);
                for (std::size_t t = 0; t < types_; ++t) {
                    const double slope = slopes[t] * one.weight;
                    right[t] -= slope * d;
                    for (std::size_t u = 0; u < types_; ++u)
                        matrix[t * types_ + u] += slope * slopes[u];
                }
            }
            for (std::size_t t = 0; t < types_; ++t) {
                right[t] -= ridge * (factors[t] - amplitudes_[k][t]);
                matrix[t * types_ + t] += ridge + damping * matrix[t * types_ + t] + 1e-300;
            }
            if (!solve_cholesky(matrix, right, move)) break;
            std::vector<double> next = factors;
            for (std::size_t t = 0; t < types_; ++t) next[t] += move[t];
            const double lower = objective(k, excess, next, ridge);
            if (!(lower < value)) {
                damping *= 10;
                continue;
            }
            const bool is_done = value - lower < 1e-10 * value;
            factors = std::move(next);
            value = lower;
            damping /= 10;
            if (is_done) break;
        }
        return factors;
    }

    const std::vector<WeightedCase>& cases_;
    const std::size_t types_;
    const std::vector<std::vector<double>> amplitudes_;  // [q][type]
};

std::vector<double> deviations_of(const CalibrationCase& one, const FormFactorTable& table) {
    std::vector<double> all;
    for (std::size_t k = 0; k < table.q.size(); ++k) {
        const auto factors = table.factors[static_cast<Index>(k)];
        all.push_back(deviation(one, k, excess_factor(table.q[k]), {factors.begin(), factors.end()},
                                nullptr));
    }
    return all;
}

/// The structures of a calibration, and the clusters of their sequences.
class Fitting {
public:
    Fitting(const std::vector<CalibrationCase>& cases, Resolution resolution)
        : cases_(cases), resolution_(resolution), clusters_(sequence_clusters(cases)) {
        const Index count = *std::max_element(clusters_.begin(), clusters_.end()) + 1;
        if (count < kFolds)
            throw InputError(
                fmt::format("expected structures of {} or more clusters of sequences, "
                            "to leave each fifth of them out, found {}",
                            kFolds, count));
        sizes_.assign(static_cast<std::size_t>(count), 0);
        for (const Index cluster : clusters_) sizes_[static_cast<std::size_t>(cluster)] += 1;
    }

    /// Fits all clusters but those whose number leaves the remainder `fold` when divided by the
    /// number of folds; -1: all.
    FormFactorTable fit(double ridge, Index fold) const {
        std::vector<WeightedCase> seen;
        double sum = 0;
        for (std::size_t n = 0; n < cases_.size(); ++n) {
            if (clusters_[n] % kFolds == fold) continue;
            seen.push_back({&cases_[n], weight(n)});
            sum += weight(n);
        }
        for (WeightedCase& one : seen) one.weight /= sum;
        return Solver(seen, resolution_).run(resolution_, ridge);
    }

    /// Deviations of each structure with factors fitted without its fold.
    Deviations leave_out(double ridge) const {
        Deviations all(cases_.size());
        for (Index fold = 0; fold < kFolds; ++fold) {
            const FormFactorTable table = fit(ridge, fold);
            for (std::size_t n = 0; n < cases_.size(); ++n) {
                if (clusters_[n] % kFolds == fold) all[n] = deviations_of(cases_[n], table);
            }
        }
        return all;
    }

    /// Sum of squares in units of the error model, in which each cluster counts as one structure.
    double squares(const Deviations& all) const {
        const std::vector<double> q = calibration_grid();
        double sum = 0;
        for (std::size_t n = 0; n < all.size(); ++n) {
            for (std::size_t k = 0; k < q.size() && q[k] <= kMaxValidatedQ + 1e-9; ++k)
                sum += weight(n) * std::pow(all[n][k] / error_model(q[k]), 2);
        }
        return sum;
    }

private:
    double weight(std::size_t n) const {
        return 1 / sizes_[static_cast<std::size_t>(clusters_[n])];
    }

    const std::vector<CalibrationCase>& cases_;
    const Resolution resolution_;
    const std::vector<Index> clusters_;
    std::vector<double> sizes_;  // [cluster]: number of structures
};

void check_types(const std::vector<CalibrationCase>& cases, Resolution resolution) {
    const std::vector<std::string> types = bead_types(resolution);
    for (std::size_t t = 0; t < types.size(); ++t) {
        double amount = 0;
        for (const CalibrationCase& one : cases) amount += one.bead_counts[t];
        if (amount == 0)
            throw InputError(
                fmt::format("expected structures with every type of the {} model, found "
                            "none with {}",
                            name_of(resolution), types[t]));
    }
}

}  // namespace

double error_model(double q) { return 0.30 * (q + 0.15); }

Calibration calibrate(const std::vector<CalibrationCase>& cases, Resolution resolution,
                      const Context& context) {
    static constexpr std::array<double, 7> kRidges = {1e-6, 3e-6, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3};
    check_types(cases, resolution);
    const Fitting fitting(cases, resolution);
    Calibration result;
    double best = INFINITY;
    const auto try_ridge = [&](Index n, Index) {
        const double ridge = kRidges[static_cast<std::size_t>(n)];
        Deviations left_out = fitting.leave_out(ridge);
        const double value = fitting.squares(left_out);
        if (!(value < best)) return;
        best = value;
        result.ridge = ridge;
        result.left_out = std::move(left_out);
    };
    for_each_block(context, "ridge", static_cast<Index>(kRidges.size()), 1, try_ridge, "ridges");
    result.table = fitting.fit(result.ridge, -1);
    return result;
}

Deviations deviations(const std::vector<CalibrationCase>& cases, const FormFactorTable& table) {
    Deviations all;
    all.reserve(cases.size());
    for (const CalibrationCase& one : cases) all.push_back(deviations_of(one, table));
    return all;
}

double root_mean_square(const Deviations& deviations, double q_min, double q_max) {
    double sum = 0, count = 0;
    const std::vector<double> q = calibration_grid();
    for (const std::vector<double>& row : deviations) {
        for (std::size_t k = 0; k < q.size(); ++k) {
            if (q[k] < q_min - 1e-9 || q[k] >= q_max - 1e-9) continue;
            sum += row[k] * row[k];
            count += 1;
        }
    }
    return count > 0 ? std::sqrt(sum / count) : 0;
}

std::vector<double> largest_by_error_model(const Deviations& deviations, double q_max) {
    const std::vector<double> q = calibration_grid();
    std::vector<double> largest;
    for (const std::vector<double>& row : deviations) {
        double value = 0;
        for (std::size_t k = 0; k < q.size() && q[k] <= q_max + 1e-9; ++k)
            value = std::max(value, std::abs(row[k]) / error_model(q[k]));
        largest.push_back(value);
    }
    return largest;
}

}  // namespace pleat::saxs

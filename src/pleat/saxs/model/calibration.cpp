// Calibration: sums over pairs of types, and factors q by q with a ridge.
#include "pleat/saxs/model/calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "pleat/core/error.h"
#include "pleat/core/loops/steps.h"
#include "pleat/saxs/debye/debye.h"
#include "pleat/saxs/fit/least_squares.h"
#include "pleat/saxs/model/scatterers.h"

namespace pleat::saxs {

namespace {

constexpr std::size_t kPoints = 51;
constexpr double kStep = 0.015;

/// Throws InputError unless there are enough residues, almost all of them with all heavy atoms.
void check_complete(const Topology& topology) {
    static const std::map<std::string, Index> kHeavyAtoms = {
        {"ALA", 5}, {"ARG", 11}, {"ASN", 8}, {"ASP", 8},  {"CYS", 6},  {"GLN", 9}, {"GLU", 9},
        {"GLY", 4}, {"HIS", 10}, {"ILE", 8}, {"LEU", 8},  {"LYS", 9},  {"MET", 8}, {"PHE", 11},
        {"PRO", 7}, {"SER", 6},  {"THR", 7}, {"TRP", 14}, {"TYR", 12}, {"VAL", 7}};
    constexpr Index kMin = 40;
    std::vector<Index> counts(topology.residues.size(), 0);
    for (const Topology::Atom& atom : topology.atoms)
        counts[static_cast<std::size_t>(atom.residue)] +=
            atom.element != "H" && atom.element != "D";
    Index complete = 0;
    for (std::size_t r = 0; r < counts.size(); ++r) {
        const auto known = kHeavyAtoms.find(topology.residues[r].name);
        complete += known != kHeavyAtoms.end() && counts[r] >= known->second;
    }
    const auto residues = static_cast<Index>(counts.size());
    if (residues < kMin || 20 * complete < 19 * residues)
        throw InputError(topology.source.string(), 0,
                         fmt::format("expected {} or more residues, 95 % of them with all heavy "
                                     "atoms, found {} of {}",
                                     kMin, complete, residues));
}

/// Profile of the atoms with net amplitudes.
std::vector<double> reference_profile(const Scatterers& atoms, View<const float, 2> xyz,
                                      const Context& context) {
    const std::vector<double> q = calibration_grid();
    const Model full = make_model(atoms, nullptr, q);
    Model net;
    net.q = q;
    net.types = full.types;
    net.scaled = {0};
    net.factors = Array<double, 3>(1, full.type_count(), full.q_count());
    for (Index t = 0; t < full.type_count(); ++t) {
        for (Index k = 0; k < full.q_count(); ++k)
            net.factors(0, t, k) = full.factors(0, t, k) - full.factors(1, t, k);
    }
    Array<float, 3> positions(1, 3, atoms.count());
    set_centres_of_mass(atoms, xyz, positions[0]);
    Context alone = context;
    alone.progress = nullptr;
    const Array<double, 3> profile = profiles(
        net, positions, {}, {.precision = Precision::float64, .method = Method::debye}, alone);
    return {profile.begin(), profile.end()};
}

/// Sums over pairs of beads by their types, [q][type][type].
std::vector<double> sum_pairs(const Scatterers& resolution, View<const float, 2> positions,
                              std::size_t types) {
    const std::vector<double> q = calibration_grid();
    std::vector<double> sums(kPoints * types * types, 0);
    for (Index i = 0; i < resolution.count(); ++i) {
        const auto a = static_cast<std::size_t>(resolution.types[static_cast<std::size_t>(i)]);
        for (Index j = 0; j <= i; ++j) {
            const auto b = static_cast<std::size_t>(resolution.types[static_cast<std::size_t>(j)]);
            double r2 = 0;
            for (Index axis = 0; axis < 3; ++axis) {
                const double d = static_cast<double>(positions(axis, i)) -
                                 static_cast<double>(positions(axis, j));
                r2 += d * d;
            }
            const double r = std::sqrt(r2);
            for (std::size_t k = 0; k < kPoints; ++k) {
                const double x = q[k] * r, s = x > 0 ? std::sin(x) / x : 1;
                // A pair counts in both orders: twice on the diagonal of types, else once on each
                // side of it.
                const double term = i == j || a != b ? s : 2 * s;
                sums[(k * types + a) * types + b] += term;
                if (a != b) sums[(k * types + b) * types + a] += term;
            }
        }
    }
    return sums;
}

/// Least-squares fit of the form factors to some of the calibration structures.
class Solver {
public:
    Solver(const std::vector<const CalibrationCase*>& cases, std::size_t types)
        : cases_(cases), types_(types) {}

    /// Factors [q][type].
    std::vector<std::vector<double>> run(double ridge) const {
        std::vector<double> before(types_, 0);
        for (std::size_t t = 0; t < types_; ++t) {
            double electrons = 0, amount = 0;
            for (const CalibrationCase* one : cases_) {
                electrons += one->electrons[t];
                amount += one->bead_counts[t];
            }
            before[t] = amount > 0 ? electrons / amount : 0;
        }
        std::vector<std::vector<double>> all;
        for (std::size_t k = 0; k < kPoints; ++k) {
            before = fit_point(k, before, ridge);
            all.push_back(before);
        }
        return all;
    }

    /// Relative deviation of a structure's profile at one q, and its derivatives by the form
    /// factors.
    double deviation(const CalibrationCase& one, std::size_t k, const std::vector<double>& factors,
                     std::vector<double>* slopes) const {
        const double* const sums = &one.pair_sums[k * types_ * types_];
        double total = 0;
        for (std::size_t t = 0; t < types_; ++t) {
            double row = 0;
            for (std::size_t u = 0; u < types_; ++u) row += sums[t * types_ + u] * factors[u];
            total += factors[t] * row;
            if (slopes != nullptr) (*slopes)[t] = 2 * row / one.reference[k];
        }
        return total / one.reference[k] - 1;
    }

private:
    double objective(std::size_t k, const std::vector<double>& factors,
                     const std::vector<double>& before, double ridge) const {
        double sum = 0;
        for (const CalibrationCase* one : cases_) {
            const double d = deviation(*one, k, factors, nullptr);
            sum += d * d / static_cast<double>(cases_.size());
        }
        for (std::size_t t = 0; t < types_; ++t)
            sum += ridge * (factors[t] - before[t]) * (factors[t] - before[t]);
        return sum;
    }

    std::vector<double> fit_point(std::size_t k, const std::vector<double>& before,
                                  double ridge) const {
        constexpr int kMaxSteps = 100;
        std::vector<double> factors = before;
        double value = objective(k, factors, before, ridge), damping = 1e-4;
        for (int step = 0; step < kMaxSteps && damping < 1e10; ++step) {
            std::vector<double> matrix(types_ * types_, 0), right(types_, 0), slopes(types_), move;
            for (const CalibrationCase* one : cases_) {
                const double d = deviation(*one, k, factors, &slopes);
                for (std::size_t t = 0; t < types_; ++t) {
                    const double slope = slopes[t] / static_cast<double>(cases_.size());
                    right[t] -= slope * d;
                    for (std::size_t u = 0; u < types_; ++u)
                        matrix[t * types_ + u] += slope * slopes[u];
                }
            }
            for (std::size_t t = 0; t < types_; ++t) {
                right[t] -= ridge * (factors[t] - before[t]);
                matrix[t * types_ + t] += ridge + damping * matrix[t * types_ + t] + 1e-300;
            }
            if (!solve_cholesky(matrix, right, move)) break;
            std::vector<double> next = factors;
            for (std::size_t t = 0; t < types_; ++t) next[t] += move[t];
            const double lower = objective(k, next, before, ridge);
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

    const std::vector<const CalibrationCase*>& cases_;
    const std::size_t types_;
};

/// Mean squared deviation of the structures that were left out of the fit (cross-validation).
double validate(const std::vector<CalibrationCase>& cases, std::size_t types, double ridge) {
    constexpr std::size_t kFolds = 5;
    double sum = 0;
    for (std::size_t fold = 0; fold < kFolds; ++fold) {
        std::vector<const CalibrationCase*> seen, unseen;
        for (std::size_t n = 0; n < cases.size(); ++n)
            (n % kFolds == fold ? unseen : seen).push_back(&cases[n]);
        if (seen.empty()) continue;
        const Solver solver(seen, types);
        const auto factors = solver.run(ridge);
        for (const CalibrationCase* one : unseen) {
            for (std::size_t k = 0; k < kPoints; ++k) {
                const double d = solver.deviation(*one, k, factors[k], nullptr);
                sum += d * d;
            }
        }
    }
    return sum;
}

}  // namespace

std::vector<double> calibration_grid() {
    std::vector<double> q(kPoints);
    for (std::size_t k = 0; k < kPoints; ++k) q[k] = kStep * static_cast<double>(k);
    return q;
}

CalibrationCase make_case(std::string name, const Topology& topology, View<const float, 2> xyz,
                          Resolution resolution, const Context& context) {
    check_complete(topology);
    const Scatterers coarse = make_scatterers(topology, xyz, {.resolution = resolution});
    const Scatterers atoms = make_scatterers(topology, xyz, {});
    const std::size_t types = coarse.type_names.size();
    CalibrationCase result;
    result.name = std::move(name);
    result.reference = reference_profile(atoms, xyz, context);
    Array<float, 2> positions(3, coarse.count());
    set_centres_of_mass(coarse, xyz, positions);
    result.pair_sums = sum_pairs(coarse, positions, types);
    result.bead_counts.assign(types, 0);
    result.electrons.assign(types, 0);
    std::vector<double> net(static_cast<std::size_t>(topology.atom_count()), 0);
    for (std::size_t i = 0; i < atoms.types.size(); ++i) {
        const UnitedAtom& atom = atoms.atom_types[static_cast<std::size_t>(atoms.types[i])];
        net[static_cast<std::size_t>(atoms.members[i])] =
            vacuum_factor(atom, 0) - excluded_factor(atom, 0);
    }
    for (std::size_t s = 0; s < coarse.types.size(); ++s) {
        const auto type = static_cast<std::size_t>(coarse.types[s]);
        result.bead_counts[type] += 1;
        for (Index m = coarse.starts[s]; m < coarse.starts[s + 1]; ++m)
            result.electrons[type] +=
                net[static_cast<std::size_t>(coarse.members[static_cast<std::size_t>(m)])];
    }
    return result;
}

Calibration calibrate(const std::vector<CalibrationCase>& cases, Resolution resolution,
                      const Context& context) {
    Calibration result;
    result.table.q = calibration_grid();
    result.table.types = bead_types(resolution);
    const std::size_t types = result.table.types.size();
    for (std::size_t t = 0; t < types; ++t) {
        double amount = 0;
        for (const CalibrationCase& one : cases) amount += one.bead_counts[t];
        if (amount == 0)
            throw InputError(
                fmt::format("expected structures with every type of the {} model, found "
                            "none with {}",
                            name_of(resolution), result.table.types[t]));
    }
    double best = INFINITY;
    const auto try_ridge = [&](Index n, Index) {
        const double ridge = std::pow(10, n - 6), value = validate(cases, types, ridge);
        if (value < best) {
            best = value;
            result.ridge = ridge;
        }
    };
    for_each_block(context, "ridge", 6, 1, try_ridge, "ridges");
    std::vector<const CalibrationCase*> all;
    all.reserve(cases.size());
    for (const CalibrationCase& one : cases) all.push_back(&one);
    const auto factors = Solver(all, types).run(result.ridge);
    result.table.factors = Array<double, 2>(static_cast<Index>(kPoints), static_cast<Index>(types));
    for (std::size_t k = 0; k < kPoints; ++k)
        std::copy(factors[k].begin(), factors[k].end(),
                  result.table.factors[static_cast<Index>(k)].begin());
    return result;
}

std::vector<std::vector<double>> deviations(const std::vector<CalibrationCase>& cases,
                                            const FormFactorTable& table) {
    const std::vector<const CalibrationCase*> none;
    const Solver solver(none, table.types.size());
    std::vector<std::vector<double>> all;
    for (const CalibrationCase& one : cases) {
        std::vector<double> row;
        for (std::size_t k = 0; k < kPoints; ++k) {
            const auto factors = table.factors[static_cast<Index>(k)];
            row.push_back(solver.deviation(one, k, {factors.begin(), factors.end()}, nullptr));
        }
        all.push_back(std::move(row));
    }
    return all;
}

double root_mean_square(const std::vector<std::vector<double>>& deviations, double q_min,
                        double q_max) {
    double sum = 0, count = 0;
    const std::vector<double> q = calibration_grid();
    for (const std::vector<double>& row : deviations) {
        for (std::size_t k = 0; k < kPoints; ++k) {
            if (q[k] < q_min - 1e-9 || q[k] >= q_max - 1e-9) continue;
            sum += row[k] * row[k];
            count += 1;
        }
    }
    return count > 0 ? std::sqrt(sum / count) : 0;
}

double largest_by_error_model(const std::vector<std::vector<double>>& deviations, double q_max) {
    const std::vector<double> q = calibration_grid();
    double found = 0;
    for (const std::vector<double>& row : deviations) {
        for (std::size_t k = 0; k < kPoints && q[k] <= q_max + 1e-9; ++k)
            found = std::max(found, std::abs(row[k]) / (0.30 * (q[k] + 0.15)));
    }
    return found;
}

}  // namespace pleat::saxs

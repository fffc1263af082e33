// Calibration: form factors of beads, derived from all-atom profiles of structures.
#pragma once

#include <string>
#include <vector>

#include "pleat/bio/structure/topology.h"
#include "pleat/core/context.h"
#include "pleat/saxs/model/form_factors.h"

namespace pleat::saxs {

/// One structure: its all-atom profile in solution without a hydration layer (c1 = 1, c2 = 0), and
/// the sums over pairs of beads by type on the same grid.
struct CalibrationCase {
    std::string name;
    std::vector<double> reference;  ///< [q]
    /// [q][type][type], symmetric: sum of sin(q r) / (q r) over pairs of beads of these types, in
    /// both orders, including each bead with itself.
    std::vector<double> pair_sums;
    std::vector<double> bead_counts;  ///< [type]: number of beads
    std::vector<double> electrons;    ///< [type]: net electrons of the atoms of these beads
};

/// Grid of the tables: q = 0, 0.015, ..., 0.75 1/angstrom, as the published ones.
std::vector<double> calibration_grid();

/// Throws InputError for a structure with residues that the bead model does not know.
CalibrationCase make_case(std::string name, const Topology& topology, View<const float, 2> xyz,
                          Resolution resolution, const Context& context);

struct Calibration {
    FormFactorTable table;
    double ridge = 0;  ///< chosen by cross-validation
};

/// The factors with which the beads' profiles come closest to the references: for each q the
/// smallest sum of squares of relative deviations over the cases, with a ridge towards the factors
/// at the previous q (at q = 0: the mean net electrons of the type), by the Levenberg-Marquardt
/// method. The ridge is the best of 10^-6, 10^-5, ..., 10^-1 in five-fold cross-validation. Throws
/// InputError if a type is in no case.
Calibration calibrate(const std::vector<CalibrationCase>& cases, Resolution resolution,
                      const Context& context);

/// Relative deviations [case][q] of the profiles with these factors.
std::vector<std::vector<double>> deviations(const std::vector<CalibrationCase>& cases,
                                            const FormFactorTable& table);

/// Root mean square of deviations over cases and the points with q_min <= q < q_max.
double root_mean_square(const std::vector<std::vector<double>>& deviations, double q_min,
                        double q_max);

/// The largest deviation at q <= q_max in units of the error model of Antonov et al. (2012),
/// sigma = 0.30 (q + 0.15) I.
double largest_by_error_model(const std::vector<std::vector<double>>& deviations, double q_max);

}  // namespace pleat::saxs

// Calibration: form factors of coarse bodies, derived from all-atom profiles of structures.
#pragma once

#include <string>
#include <vector>

#include "pleat/bio/structure/topology.h"
#include "pleat/core/context.h"
#include "pleat/saxs/model/form_factors.h"

namespace pleat::saxs {

/// One structure: its all-atom profile in solution without a hydration layer (c1 = 1, c2 = 0), and
/// the sums over pairs of its bodies' types on the same grid.
struct CalibrationCase {
    std::string name;
    std::vector<double> reference;  ///< [q]
    /// [q][type][type], symmetric: sum of sin(q r) / (q r) over pairs of bodies of these types, in
    /// either order, a body with itself included.
    std::vector<double> pair_sums;
    std::vector<double> amounts;    ///< [type]: bodies of it
    std::vector<double> electrons;  ///< [type]: net electrons of these bodies' atoms, all together
};

/// Grid of the tables: q = 0, 0.015, ..., 0.75 1/angstrom, as the published ones.
std::vector<double> calibration_grid();

/// InputError for a structure that the coarse model does not know.
CalibrationCase make_case(std::string name, const Topology& topology, View<const float, 2> xyz,
                          Bodies bodies, const Context& context);

struct Calibration {
    FormFactorTable table;
    double ridge = 0;  ///< the one that validation among the cases chose
};

/// Factors with which the bodies' profiles come closest to the references: for each q the least sum
/// of squares of relative deviations over the cases, with a ridge towards the factors at the q
/// before (at q = 0: the mean net electrons of the type), by Levenberg and Marquardt. The ridge is
/// the one of 10^-6, 10^-5, ..., 10^-1 that does best on fifths of the cases left out. InputError
/// where a type is in no case.
Calibration calibrate(const std::vector<CalibrationCase>& cases, Bodies bodies,
                      const Context& context);

/// Relative deviations [case][q] of profiles by these factors.
std::vector<std::vector<double>> deviations(const std::vector<CalibrationCase>& cases,
                                            const FormFactorTable& table);

/// Root mean square of deviations over cases and the points with q_min <= q < q_max.
double root_mean_square(const std::vector<std::vector<double>>& deviations, double q_min,
                        double q_max);

/// The largest deviation at q <= q_max, by the error model of measured curves that Antonov et al.
/// (2012) use, sigma = 0.30 (q + 0.15) I.
double largest_by_error_model(const std::vector<std::vector<double>>& deviations, double q_max);

}  // namespace pleat::saxs

// Calibration: form factors of beads, derived from all-atom profiles of structures.
#pragma once

#include <cstdint>
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
    /// Every four residues in a row within a chain, each quadruple once, rising.
    std::vector<std::uint32_t> quadruples;
    std::vector<double> reference;  ///< [q]
    /// [q][row][column], symmetric: sum of w_i w_j sin(q r) / (q r) over pairs of beads, in both
    /// orders, including each bead with itself. Rows are the types, in which a bead of the type has
    /// w = 1, and a last one, in which w is the bead's excess of electrons.
    std::vector<double> pair_sums;
    std::vector<double> bead_counts;      ///< [type]: number of beads
    std::vector<double> complete_counts;  ///< [type]: beads without an excess of electrons
    /// [type][q], sums over complete beads: sum of f_j(q) sin(q r) / (q r) over a bead's atoms j at
    /// distances r from its centre.
    std::vector<double> amplitudes;
};

/// Grid of the tables: q = 0, 0.015, ..., 0.75 1/angstrom, as the published ones.
std::vector<double> calibration_grid();

/// Throws InputError for a structure with residues that the bead model does not know, fewer than 40
/// residues, or fewer than 95 % of them with all heavy atoms.
CalibrationCase make_case(std::string name, const Topology& topology, View<const float, 2> xyz,
                          Resolution resolution, const Context& context);

/// The number of each structure's cluster [case], in the order of their first members. Two
/// structures are in one cluster if they share more than 15 % of the quadruples of the one that has
/// fewer, or if both are in one with a third.
std::vector<Index> sequence_clusters(const std::vector<CalibrationCase>& cases);

/// Relative deviations of profiles from their references, [case][q].
using Deviations = std::vector<std::vector<double>>;

struct Calibration {
    FormFactorTable table;
    double ridge = 0;     ///< chosen by cross-validation
    Deviations left_out;  ///< of each structure, with factors fitted without its cluster
};

/// The factors with which the beads' profiles come closest to the references: for each q the
/// smallest mean square of relative deviations, in which each cluster of sequences counts as one
/// structure, with a ridge towards the mean amplitude of the type's complete beads, by the
/// Levenberg-Marquardt method. The ridge is the best of 1e-6, 3e-6, 1e-5, ..., 1e-3 by the mean
/// square in units of error_model() for q <= 0.5 when each fifth of the clusters is left out.
/// Throws InputError if a type is in no case, or for fewer than five clusters.
Calibration calibrate(const std::vector<CalibrationCase>& cases, Resolution resolution,
                      const Context& context);

/// Deviations of the profiles with these factors.
Deviations deviations(const std::vector<CalibrationCase>& cases, const FormFactorTable& table);

/// Root mean square of deviations over cases and the points with q_min <= q < q_max.
double root_mean_square(const Deviations& deviations, double q_min, double q_max);

/// Relative standard error of an intensity by the error model of Antonov et al. (2012):
/// 0.30 (q + 0.15).
double error_model(double q);

/// The largest deviation of each case at q <= q_max in units of error_model(), [case].
std::vector<double> largest_by_error_model(const Deviations& deviations, double q_max);

}  // namespace pleat::saxs

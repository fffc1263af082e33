// Input checks: refuses structures, curves and options that do not fit together.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "pleat/saxs/fit/fit.h"
#include "pleat/saxs/model/scatterers.h"
#include "pleat/saxs/saxs.h"

namespace pleat::saxs {

/// Throws unless run() supports this input: UsageError for options that exclude each other and for
/// features that the context's device lacks, InputError for structures and curves (`curve` may be
/// null).
void check_input(std::span<const Ensemble> components, const Profile* curve,
                 const Parameters& parameters, const Context& context,
                 std::span<const FurtherCurve> further = {});

/// Throws UsageError for inconsistent neutron options. `has_neutron_curves`: whether further curves
/// are of neutrons.
void check_neutrons(const Parameters& parameters, bool has_neutron_curves);

/// Throws InputError if no structure has a chain that --deuterate names.
void check_deuterated_chains(std::span<const Ensemble> components, const std::string& deuterate);

/// Throws InputError unless a structure of this resolution has the atoms that neutrons need.
void require_atoms_for_neutrons(const Ensemble& ensemble, Resolution resolution);

/// Throws unless an ensemble has frames, atoms, a topology of these atoms, and coordinates within
/// 1e8 angstrom: UsageError for shapes, InputError for values.
void check_structures(const Ensemble& ensemble, int threads = 1);

/// Throws InputError, naming file and frame, if P(r) of a frame would have more than kMaxBins bins.
/// `xyz` [frame, axis, scatterer]: the scatterers of the ensemble.
void check_size(const Ensemble& ensemble, View<const float, 3> xyz, const Parameters& parameters);
inline constexpr double kMaxBins = 1e6;

/// The options that determine how a structure is divided into scatterers. Throws InputError if its
/// atoms do not suffice for the model, UsageError for options that the model does not have.
ScattererOptions scatterer_options(const Ensemble& ensemble, const Parameters& parameters);

/// The bounds of c1 and c2, and whether a background is fitted, from the options.
FitOptions fit_options(const Parameters& parameters);

/// `points` evenly spaced values of q from 0 to `q_max`.
std::vector<double> even_grid(double q_max, std::size_t points);

}  // namespace pleat::saxs

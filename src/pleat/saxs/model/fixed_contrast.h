// Prepared: the scatterers of an ensemble at a contrast that is known, as sessions take them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "pleat/bio/ensemble/ensemble.h"
#include "pleat/saxs/model/form_factors.h"
#include "pleat/saxs/saxs.h"

namespace pleat::saxs {

/// Structures as Session and profiles() take them.
struct FixedContrastModel {
    /// Channels: net amplitudes; where c2 is not 0 the hydration layer too, c2 in its factors, so
    /// that the weight of every channel is 1.
    Model model;
    Array<float, 3> xyz;       ///< [frame, axis, scatterer], angstrom; sites of the layer come last
    Array<float, 3> scales;    ///< [frame, channel with scales, scatterer]; empty without the layer
    std::vector<Index> atoms;  ///< [scatterer]: its first atom; of a site that of what touches it
    std::vector<std::string> type_names;  ///< [type]: "CH3", "ALA", "BB"; the last is "water"
    Index sites = 0;
    std::string name;                ///< the model that was taken: "all-atom", ...
    std::vector<std::string> notes;  ///< what was left out or assumed, a line each
};

/// Divides the frames of an ensemble by `parameters` (model, water, hydrogens; c1 and c2, NaN for 1
/// and 0), with factors at `q`, rising from 0 or more, in 1/angstrom. `form_factors` (may be null)
/// is for coarse models. UsageError, InputError, Cancelled.
FixedContrastModel prepare(const Ensemble& ensemble, const FormFactorTable* form_factors,
                 const Parameters& parameters, std::span<const double> q, const Context& context);

/// `points` values of q, evenly from 0 to `q_max`.
std::vector<double> even_grid(double q_max, std::size_t points);

/// InputError unless an ensemble has frames, atoms, a topology of these atoms, and coordinates
/// within 1e8 angstrom.
void check_structures(const Ensemble& ensemble);

/// How the options divide a structure; InputError where its atoms do not suffice, UsageError where
/// its model does not know them.
ScattererOptions scatterer_options(const Ensemble& ensemble, const Parameters& parameters);

/// How the options sum over pairs.
Options debye_options(const Parameters& parameters);

/// The model with the contrast built in: net amplitudes and, if they are wanted, hydration.
Model fix_contrast(const Model& full, const Contrast& contrast, double mean_radius,
                      bool with_hydration);

}  // namespace pleat::saxs

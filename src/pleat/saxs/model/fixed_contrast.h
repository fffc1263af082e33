// Fixed contrast: models of scatterers with known c1 and c2, for sessions and profiles().
#pragma once

#include <span>
#include <string>
#include <vector>

#include "pleat/bio/ensemble/ensemble.h"
#include "pleat/core/notes.h"
#include "pleat/saxs/model/form_factors.h"
#include "pleat/saxs/saxs.h"

namespace pleat::saxs {

/// Structures in the form that ProfileSession and profiles() take.
struct FixedContrastModel {
    /// Channels: net amplitudes and, if c2 is not 0, the hydration layer multiplied by c2, so that
    /// every channel has weight 1.
    Model model;
    Array<float, 3> xyz;       ///< [frame, axis, scatterer], angstrom; hydration sites come last
    Array<float, 3> scales;    ///< [frame, channel with scales, scatterer]; empty without a layer
    std::vector<Index> atoms;  ///< [scatterer]: its first atom; for a site that of what touches it
    /// [type]: "CH3", "ALA", "BB"; the last is "water". Beads whose electrons differ from a
    /// complete bead have a separate type with the same name.
    std::vector<std::string> type_names;
    Index sites = 0;
    std::string name;  ///< of the resolution: "all-atom", ...
    Notes notes;       ///< what was left out or assumed, one line each
};

/// Divides the frames of an ensemble into scatterers by `parameters` (model, water, hydrogens; c1
/// and c2 default to 1 and 0), with form factors at `q`, ascending and >= 0, in 1/angstrom.
/// `form_factors` (may be null): for bead models. Throws UsageError, InputError, Cancelled.
FixedContrastModel make_fixed_contrast_model(const Ensemble& ensemble,
                                             const FormFactorTable* form_factors,
                                             const Parameters& parameters,
                                             std::span<const double> q, const Context& context);

/// A model of the same scatterers whose form factors include the contrast: net amplitudes and, if
/// wanted, hydration.
Model fix_contrast(const Model& full, const Contrast& contrast, double mean_radius,
                   bool with_hydration);

}  // namespace pleat::saxs

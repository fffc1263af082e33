// SAXS: scattering profiles of structures and ensembles, fitted to measured curves.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "pleat/bio/ensemble/ensemble.h"
#include "pleat/bio/scattering/profile.h"
#include "pleat/core/array.h"
#include "pleat/core/context.h"
#include "pleat/core/fields.h"
#include "pleat/saxs/fit/ensemble_fit.h"
#include "pleat/saxs/fit/fit.h"
#include "pleat/saxs/fit/shape.h"
#include "pleat/saxs/model/form_factors.h"

#pragma GCC visibility push(default)

namespace pleat::saxs {

/// The options; fields() describes each.
struct Parameters {
    std::string model = "auto";  ///< "auto", "all-atom", "one-body", "two-body"
    double q_max = 0.5;          ///< 1/angstrom
    std::int64_t points = 101;
    bool water = false;
    std::string hydrogens = "implicit";  ///< "implicit", "explicit"
    double c1 = std::numeric_limits<double>::quiet_NaN();
    double c1_min = 0.95, c1_max = 1.05;
    double c2 = std::numeric_limits<double>::quiet_NaN();
    double c2_min = -2, c2_max = 4;
    bool background = false;
    double bin = 1;
    std::int64_t members = 5;
    bool reweight = true;
    std::string precision = "auto";  ///< "auto", "float32", "float64"
    std::string method = "auto";     ///< "auto", "debye", "multipole"
};
std::vector<Field> fields(Parameters& parameters);

/// What a curve says of an ensemble beside its mean.
struct EnsembleResult {
    std::vector<Weighted> minimal;  ///< by size, from 1
    std::size_t minimal_chosen = 0;
    std::vector<Reweighted> scan;  ///< by theta, large to small; empty where not asked for
    std::size_t scan_chosen = 0;
};

struct Result {
    std::vector<double> q;               ///< 1/angstrom
    std::vector<std::string> files;      ///< [frame]: where each comes from
    std::vector<Index> frames_of_files;  ///< [frame]: its number there, from 0
    Array<double, 2> intensity;          ///< [frame, q], electrons^2, at `contrast`
    std::vector<double> mean;            ///< [q]
    Contrast contrast;                   ///< fitted where there is a curve, else as given
    std::vector<Shape> shapes;           ///< [frame]; Rg with the extent of scatterers; no P(r)
    std::vector<double> pairs;           ///< P(r) of the mean over frames, bins of Parameters::bin
    Index scatterers = 0;                ///< of the largest component
    std::string model;                   ///< the one that was taken
    std::vector<std::string> notes;      ///< what was assumed or left out, a line each
    std::vector<std::string> warnings;   ///< what is probably wrong, a line each

    bool has_fit = false;
    Profile curve;  ///< the points that were used
    Fit fit;        ///< of the mean profile to the curve
    /// [frame], where there are several: each alone, with a contrast of its own; no Fit::model
    std::vector<Fit> frame_fits;
    Guinier guinier;  ///< of the curve
    bool has_ensemble = false;
    EnsembleResult ensemble;
};

/// Computes the profile of each frame and, with a curve, fits scale, background, c1 and c2 of the
/// mean, and for several frames weights. Components of a mixture may have different atoms; their
/// frames count on from one to the next. `form_factors` (may be null: pleat's own) is for coarse
/// models. Layers, sums over pairs and shapes of frames are dealt over the ranks of `context`, each
/// of which does the fits. UsageError, InputError, DeviceError, Cancelled.
Result run(std::span<const Ensemble> components, const Profile* curve,
           const FormFactorTable* form_factors, const Parameters& parameters,
           const Context& context);

/// Rg of the mean profile of frames: the root of the mean of Rg^2, weighted by I(0); NaN where that
/// is negative.
double root_mean_gyration(std::span<const Shape> shapes);

/// Bytes of memory that the profiles of these frames need at Parameters::points, and their places,
/// beside the coordinates.
std::int64_t memory_needed(Index frames, Index scatterers, const Parameters& parameters);

/// Bytes of memory that run() needs beside the coordinates: the same for all components at the
/// points that they are given, the fits to a curve, and P(r).
std::int64_t memory_needed(std::span<const Ensemble> components, const Profile* curve,
                           const Parameters& parameters, const Context& context);

/// What the sums over pairs of run() take, roughly, for those who choose a device.
struct Effort {
    double cpu_seconds = 0;      ///< of one core, by the cheaper method
    std::int64_t gpu_bytes = 0;  ///< of a GPU's memory; negative where the options keep to the CPU
};
Effort effort(std::span<const Ensemble> components, const Profile* curve,
              const Parameters& parameters);

}  // namespace pleat::saxs

#pragma GCC visibility pop

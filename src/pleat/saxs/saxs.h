// SAXS and SANS: scattering profiles of structures and ensembles, fitted to measured curves.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pleat/bio/ensemble/ensemble.h"
#include "pleat/bio/scattering/profile.h"
#include "pleat/core/array.h"
#include "pleat/core/context.h"
#include "pleat/core/fields.h"
#include "pleat/core/name_of.h"
#include "pleat/core/notes.h"
#include "pleat/saxs/analysis/analysis.h"
#include "pleat/saxs/debye/debye.h"
#include "pleat/saxs/observables.h"

#pragma GCC visibility push(default)

namespace pleat::saxs {

/// The kind of scatterers into which a structure is divided.
enum class Resolution {
    automatic,  ///< all_atom; one_bead for a structure of CA atoms alone
    all_atom,   ///< each heavy atom with the hydrogens that it carries
    one_bead,   ///< each residue, at its centre of mass: 20 types (the paper's one-body model)
    two_bead    ///< side chain, and backbone with CB; alanine and glycine whole: 21 types
};
std::span<const std::string_view> names_of(Resolution);

/// Which hydrogens scatter.
enum class Hydrogens {
    implicit,  ///< those that each heavy atom carries, with it
    listed     ///< those in the file, each for itself; "explicit" as an option
};
std::span<const std::string_view> names_of(Hydrogens);

/// Which ions scatter.
enum class Ions {
    near,  ///< those within 4 angstrom of an atom that is neither water nor an ion, in the first
           ///< frame
    keep   ///< all
};
std::span<const std::string_view> names_of(Ions);

/// The options; fields() describes each.
struct Parameters {
    Resolution model = Resolution::automatic;
    double q_max = 0.5;  ///< 1/angstrom
    std::int64_t q_points = 101;
    bool includes_water = false;
    Ions ions = Ions::near;
    Hydrogens hydrogens = Hydrogens::implicit;
    std::optional<double> c1;  ///< not set: fitted to a curve, 1 without one
    double c1_min = 0.9, c1_max = 1.1;
    std::optional<double> c2;  ///< not set: fitted to a curve, 0 without one
    double c2_min = -2, c2_max = 4;
    bool background = false;    ///< curves of neutrons always have one
    bool neutrons = false;      ///< neutrons instead of X-rays; all_atom alone
    std::optional<double> d2o;  ///< fraction of D2O in the solvent; not set: 0
    std::string deuterate;      ///< CHAIN[:FRACTION],...: D on carbon, of neutrons
    double backbone_exchange =
        0.9;               ///< fraction of the backbone's NH that exchange with the solvent
    double bin_width = 1;  ///< of P(r), angstrom; 0: no P(r)
    std::int64_t max_members = 5;
    bool reweight = true;
    Precision precision = Precision::automatic;
    Method method = Method::automatic;
};
std::vector<Field> fields(Parameters& parameters);

/// Rg by which the reader of a curve decides the unit of q (ProfileOptions::structure_gyration),
/// angstrom: of net electrons at c1 = 1 and c2 = 0, for neutrons, too; of all electrons if the net
/// electrons are a tenth of them or less. `frames` [frame, axis, atom] are parts of one structure.
/// Throws InputError as run().
double gyration_of_structure(const Topology& topology, View<const float, 3> frames,
                             const Parameters& parameters);
/// The same of the first frame.
double gyration_of_structure(const Ensemble& ensemble, const Parameters& parameters);

/// Form factors of beads, minus the displaced water.
struct FormFactorTable {
    std::vector<double> q;           ///< 1/angstrom, rising
    std::vector<std::string> types;  ///< "BB", "ALA", ...
    Array<double, 2> factors;        ///< [q, type], electrons
    std::string source = {};         ///< its file, for messages; empty: pleat's own table
};

/// Reads a form factor table of the one- or two-bead model: rows of q and one column per type,
/// below a header ("q BB ALA ..."), or without header in the order of the published tables; or rows
/// in brackets without q, as published by Stovgaard et al. (2010), at q = 0, 0.015, ..., 0.75. Adds
/// assumptions to `notes`. Throws InputError.
FormFactorTable read_form_factors(const std::filesystem::path& path, Resolution resolution,
                                  Notes& notes);

/// Weights of the displaced water (c1) and the hydration layer (c2).
struct Contrast {
    double c1 = 1;  ///< scale factor of the atoms' radii in the excluded volume
    double c2 = 0;  ///< excess water molecules per exposed atom in the hydration layer
};

/// A profile fitted to a measured curve.
struct Fit {
    Contrast contrast;
    double scale = 1, background = 0;
    double chi2 = 0;          ///< mean over the points of ((I - model) / sigma)^2
    double chi2_reduced = 0;  ///< sum over the points divided by the degrees of freedom
    Index points = 0, parameters = 0;
    bool c1_at_bound = false, c2_at_bound = false;
    std::vector<double> model;  ///< [point], scaled and with background
};

/// A further curve of the same sample, fitted together with the first: a contrast series.
struct FurtherCurve {
    Profile curve;
    std::optional<double> d2o;  ///< D2O fraction of a curve of neutrons; not set: X-rays
};

/// The fit of a further curve at the shared contrast.
struct FurtherFit {
    Profile curve;  ///< the points that were fitted
    std::optional<double> d2o;
    Fit fit;
};

/// The joint fit of several curves: they share the contrast (c1, c2), not scales and backgrounds.
struct JointFit {
    double chi2 = 0;          ///< mean over all points of all curves
    double chi2_reduced = 0;  ///< sum over the points divided by the degrees of freedom
    Index points = 0, parameters = 0;
};

/// The D2O fraction at which a molecule, or one of its chains, scatters as the solvent that it
/// displaces: length + f gain = solvent density (f) volume. The hydration layer is not part of it.
struct MatchPoint {
    std::string name;       ///< "molecule", "component 2" of a mixture, "chain A"
    double volume = 0;      ///< displaced at the result's c1, angstrom^3
    double length = 0;      ///< scattering length in H2O, fm
    double gain = 0;        ///< how much more it is in D2O, by exchange of hydrogens, fm
    double d2o = 0;         ///< the fraction, which may lie outside of 0 to 1; NaN: there is none
    double with_layer = 0;  ///< the same with the hydration layer of c2, where I(0) = 0; of
                            ///< chains NaN
};

/// Weights of frames, with the fit of their mean profile.
struct Weighted {
    std::vector<Index> frames;    ///< ascending
    std::vector<double> weights;  ///< of those frames, not negative, sum 1
    Fit fit;
    double validation = 0;        ///< chi^2 per point on points that the fit did not see
    double validation_error = 0;  ///< standard error of `validation`
    double effective_frames = 0;  ///< exp(entropy of the weights): how many frames count
    bool is_exhaustive = false;   ///< minimal ensembles: all sets of up to as many were fitted
};

/// Weights of all frames by maximum entropy: they minimise
///     sum_k ((I_k - model_k) / sigma_k)^2 / 2 + theta * sum_i w_i ln(M w_i)
/// (Rozycki, Kim and Hummer 2011).
struct Reweighted {
    double theta = 0;
    Weighted result;
};

/// The shape of scatterers with net amplitudes at q = 0, in angstrom and electrons (fm of
/// neutrons).
struct Shape {
    double gyration_radius2 = 0;   ///< Rg^2 = sum A |x - centre|^2 / sum A; below 0 if negative
                                   ///< amplitudes outweigh the others
    double gyration_radius = 0;    ///< Rg; NaN if Rg^2 is negative
    double forward_intensity = 0;  ///< I(0) = (sum A)^2, electrons^2 or fm^2
    double diameter = 0;  ///< largest distance between two scatterers, without hydration sites
    std::vector<double> pairs;  ///< P(r): sum of A_i A_j over pairs i, j (both orders) by distance
};

using pleat::Guinier;

/// Results of fitting an ensemble to a curve, besides the fit of its mean.
struct EnsembleResult {
    std::vector<Weighted> minimal;  ///< the best ensemble of each size, from 1 frame
    std::size_t minimal_chosen = 0;
    std::vector<Reweighted> scan;  ///< theta from large to small; empty unless asked for
    std::size_t scan_chosen = 0;
};

struct Result {
    std::vector<double> q;               ///< 1/angstrom
    std::vector<std::string> files;      ///< [frame]: the file of each
    std::vector<Index> frames_of_files;  ///< [frame]: its number within its file, from 0
    std::vector<Index> numbers;          ///< [frame]: among all frames of a single component
    FrameScores scores;                  ///< of the frames; empty for several components
    Array<double, 2> intensity;          ///< [frame, q], electrons^2 or fm^2, at `contrast`
    std::vector<double> mean;            ///< [q]: mean over the frames
    Contrast contrast;                   ///< fitted if there is a curve, else as given
    std::vector<Shape> frame_shapes;     ///< [frame]; Rg with the extent of scatterers; no P(r)
    std::vector<double> pairs;           ///< P(r) of the mean, bins of Parameters::bin_width
    Index scatterers = 0;                ///< of the largest component
    Resolution model = Resolution::all_atom;
    Notes notes;                        ///< what was assumed or left out, one line each
    std::vector<std::string> warnings;  ///< what is probably wrong, one line each

    bool neutrons = false;                 ///< whether profiles and the first curve are of neutrons
    double d2o = 0;                        ///< their D2O fraction
    std::vector<MatchPoint> match_points;  ///< of each component and its chains, if a curve or the
                                           ///< profile is of neutrons

    bool has_fit = false;
    Profile curve;  ///< the points that were fitted
    Fit fit;        ///< of the mean profile to the curve
    /// [frame]: the separate fit of each frame, with its own contrast and without Fit::model; empty
    /// for a single frame.
    std::vector<Fit> frame_fits;
    std::vector<FurtherFit> further;     ///< of further curves, in their order
    JointFit joint;                      ///< of all curves, if there are further ones
    Guinier guinier;                     ///< of the curve
    std::optional<CurveAnalysis> alone;  ///< what the curve shows without the structure
    bool has_ensemble = false;
    EnsembleResult ensemble;
    ObservableFits observables;  ///< with the weights of ensemble.scan
};

/// Computes the profile of each frame and, with a curve (may be null), fits scale, background, c1
/// and c2 of the mean, and for several frames weights. Components of a mixture may have different
/// atoms; their frames are numbered one component after another. `form_factors` (may be null:
/// pleat's own table) is for the bead models. `further` curves are fitted together with the first;
/// then no weights of frames are fitted. `observables` (may be null) determine these weights too,
/// or alone if there is no curve. Frames are divided among the ranks of `context`; each rank does
/// the fits. Finished profiles of many or large frames are kept in
/// component_checkpoint(context.checkpoint, n), from which the same call resumes with the same
/// bits. Throws UsageError, InputError, DeviceError, Cancelled.
Result run(std::span<const Ensemble> components, const Profile* curve,
           const FormFactorTable* form_factors, const Parameters& parameters,
           const Context& context, std::span<const FurtherCurve> further = {},
           const Observables* observables = nullptr);

/// The checkpoint file of a component's profiles, numbered from 0; if there are neutron and X-ray
/// curves, neutron profiles follow as further components. Empty if `checkpoint` is empty.
std::filesystem::path component_checkpoint(const std::filesystem::path& checkpoint,
                                           std::size_t component);

/// Rg of the mean profile of frames: the root of the mean of Rg^2, weighted by I(0); NaN if that
/// mean is negative.
double root_mean_gyration(std::span<const Shape> shapes);

/// Bytes of memory that run() needs for profiles, fits and P(r), besides the coordinates.
std::int64_t memory_needed(std::span<const Ensemble> components, const Profile* curve,
                           const Parameters& parameters, const Context& context,
                           std::span<const FurtherCurve> further = {});

/// Estimated cost of the pair sums of run(), by which the device is chosen.
struct Effort {
    double cpu_seconds = 0;  ///< of one core, by the cheaper method
    /// Bytes of GPU memory; not set: the options exclude GPUs.
    std::optional<std::int64_t> gpu_bytes;
    /// On one GPU: about 300 times as fast as a core (an H200, bench/saxs.md).
    double gpu_seconds() const { return cpu_seconds / 300; }
};
Effort effort(std::span<const Ensemble> components, const Profile* curve,
              const Parameters& parameters, std::span<const FurtherCurve> further = {});

}  // namespace pleat::saxs

#pragma GCC visibility pop

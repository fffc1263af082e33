// Analysis of measured curves by themselves: Guinier's law, P(r), masses, and comparisons of
// curves.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "pleat/bio/scattering/guinier.h"
#include "pleat/core/fields.h"
#include "pleat/core/notes.h"
#include "pleat/saxs/analysis/elution.h"

#pragma GCC visibility push(default)

namespace pleat::saxs {

/// The options; fields() describes each.
struct AnalysisParameters {
    std::string concentration;    ///< mg/ml of each curve, separated by commas; empty: not known
    bool absolute_scale = false;  ///< whether intensities are in 1/cm
    double q_max = 0.5;           ///< points beyond are left out, 1/angstrom; above 0
    bool elution = false;         ///< whether the curves are frames of an elution (SEC-SAXS)
    std::string buffer_frames, sample_frames;  ///< FIRST:END of an elution; empty: found
};
std::vector<Field> fields(AnalysisParameters& parameters);

/// P(r), with I(q) = 4 pi integral P(r) sin(q r) / (q r) dr, as mean over Dmax and smoothness.
struct PairDistances {
    bool is_valid = false;
    std::vector<double> r, p, p_error;  ///< angstrom; [distance], the standard deviation of p
    double gyration_radius = 0, gyration_radius_error = 0;      ///< angstrom
    double forward_intensity = 0, forward_intensity_error = 0;  ///< in the curve's unit
    double diameter = 0, diameter_low = 0, diameter_high = 0;   ///< Dmax, and its 90 % interval
    double chi2 = 0;                                            ///< mean over the points
    double error_scale = 1;       ///< factor of the curve's errors that was used
    double good_parameters = 0;   ///< number that the points determine
    double shannon_channels = 0;  ///< Dmax (q_max - q_min) / pi
    double log_alpha = 0;         ///< log10 of the smoothness
    std::vector<double> model;    ///< [point] of the curve
};

/// What the shape of a curve says of the particle; volumes and masses assume a compact protein.
/// Numbers that the curve does not determine are NaN.
struct CurveFeatures {
    double kratky_position = 0, kratky_height = 0;  ///< peak of (q Rg)^2 I / I(0) against q Rg
    double porod_exponent = 0, porod_exponent_error = 0;  ///< I ~ q^-exponent beyond the peak
    double porod_volume = 0;           ///< corrected for the end of the curve, angstrom^3
    double volume_of_correlation = 0;  ///< angstrom^2
    double mass_of_porod_volume = 0, mass_of_correlation = 0;  ///< kDa
    double mass_of_intensity = 0;  ///< kDa; with concentration and absolute scale
    std::string shape;  ///< compact, elongated, flexible or disordered, with the criterion
};

/// One curve by itself.
struct CurveAnalysis {
    std::string name;                     ///< its file, "average" or "extrapolated"
    std::optional<double> concentration;  ///< mg/ml
    Profile curve;                        ///< the points that were used
    std::size_t negative = 0;             ///< points with a negative intensity
    double scatter = 1;                   ///< variance of neighbours over that of their errors
    Guinier guinier = {};
    CrossSection section = {};
    PairDistances pairs = {};
    CurveFeatures features = {};
    std::vector<std::string> findings = {};  ///< what is probably wrong, one line each
    /// Rg of P(r) if there is one, else by Guinier's law; NaN without either.
    double gyration_radius() const;
};

/// Two curves at the same q: the longest run of one sign of their difference.
struct CurvePair {
    std::size_t first = 0, second = 0;  ///< curves, from 0
    std::size_t longest_run = 0;        ///< points
    double probability = 1;             ///< of such a run or a longer one, if they are equal
    double adjusted = 1;                ///< by Holm's method over all pairs
};

/// Curves of one sample. The last of `curves` is the one to report: the only curve, or the average
/// or extrapolation of those before it.
struct SampleAnalysis {
    std::vector<CurveAnalysis> curves;
    std::vector<CurvePair> pairs;  ///< of curves with one q grid and no different concentrations
    std::vector<std::size_t> averaged;  ///< the curves in the average
    std::optional<Elution> elution;     ///< whose sample is the only one of `curves`
    Notes notes;
    const CurveAnalysis& result() const { return curves.back(); }
};

/// Fewest points of a curve that is analysed.
inline constexpr std::size_t kMinAnalysedPoints = 15;

/// A P(r) whose residuals keep one sign for too long, and are this many errors, tells nothing of
/// the shape.
inline constexpr double kMaxErrorScale = 3;

/// What a curve with a structure shows by itself, without a P(r) that does not fit; nothing if it
/// has too few points or none with a positive intensity.
std::optional<CurveAnalysis> analyse_alone(const Profile& curve);

/// Throws UsageError for options that do not go together, or not with so many curves.
void check(const AnalysisParameters& parameters, std::size_t curves);

/// Analyses each curve, compares them, and analyses the average of those that agree with the first,
/// or with different concentrations the extrapolation to none, or the sample of an elution. Throws
/// as check(), and InputError for a curve of fewer than 15 points or without a positive intensity,
/// for the same curve twice, and for curves with other q.
SampleAnalysis analyse(std::span<const Profile> curves, const AnalysisParameters& parameters);

}  // namespace pleat::saxs

#pragma GCC visibility pop

// Elution: frames of a size-exclusion chromatography (SEC-SAXS), of which buffer and sample are
// found.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "pleat/bio/scattering/guinier.h"
#include "pleat/bio/scattering/profile.h"
#include "pleat/core/array.h"
#include "pleat/core/loops/sweep.h"
#include "pleat/core/notes.h"

#pragma GCC visibility push(default)

namespace pleat::saxs {

/// Curves on one grid of q, in the order of measurement.
struct CurveSeries {
    std::vector<double> q;                ///< 1/angstrom
    Array<double, 2> intensity, sigma;    ///< [frame, point]
    std::vector<std::string> names = {};  ///< of frames

    Index frame_count() const { return intensity.extent(0); }
};

/// The points that all curves have. Throws InputError if a curve lacks more than a tenth of the
/// first one's points.
CurveSeries series_of(std::span<const Profile> curves);

/// The mean of frames, with the errors of independent frames.
Profile mean_of(const CurveSeries& series, Block frames);
/// Sample - buffer, with the errors of both. Throws InputError if their q differ.
Profile subtract(const Profile& sample, const Profile& buffer);

struct ElutionOptions {
    std::optional<Block> buffer = {}, sample = {};  ///< not set: found
};

/// Frames of a size-exclusion chromatography.
struct Elution {
    Block buffer, sample;
    bool buffer_is_behind = false;      ///< found only behind the peak
    std::vector<double> signal, error;  ///< [frame]: integral of I(q) - buffer over q, its error
    std::vector<Guinier> guinier;       ///< [frame] of the frame without buffer; invalid where
                                        ///< the signal is below a tenth of its maximum
    double buffer_probability = 0;      ///< of such differences among frames that are equal
    double sample_probability = 0;      ///< of such differences among frames of one shape
    std::optional<double> drift = {};   ///< of the buffer from before to behind the peak: the
                                        ///< integral's change relative to the peak
    Profile mean_buffer, subtracted;    ///< the mean sample without the buffer
    std::vector<std::string> names;     ///< of frames
    Array<float, 2> logarithms;         ///< [frame, point]: log10(I - buffer), NaN below 0
};

/// Finds the longest range of frames whose curves are equal (a chi-squared test and a trend of each
/// of 8 bands of q), before the peak if one is there, and around the peak the range of frames whose
/// curves without buffer differ only in scale, with the best signal-to-noise ratio of their mean.
/// Throws InputError if there is no peak, or no buffer.
Elution analyse_elution(const CurveSeries& series, const ElutionOptions& options, Notes* notes);

}  // namespace pleat::saxs

#pragma GCC visibility pop

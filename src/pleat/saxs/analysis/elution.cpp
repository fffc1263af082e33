// Elution: tests of bands of q for ranges of equal frames, and of frames of one shape.
#include "pleat/saxs/analysis/elution.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "pleat/core/error.h"
#include "pleat/core/math/incomplete_gamma.h"

namespace pleat::saxs {

namespace {

constexpr int kBands = 8;
/// Frames differ below this probability; those of ranges that are found are above the other.
constexpr double kDifferent = 1e-3, kEqual = 0.01;
constexpr Index kMinBuffer = 5;
/// Elutions have a peak this many standard errors high.
constexpr double kMinPeak = 8;

using OfBands = std::array<double, kBands>;

/// Means over bands of q with about equally many points. A frame's values are comparable with those
/// of other frames: all have the weights of the mean errors.
struct Bands {
    std::vector<OfBands> mean;  ///< [frame]
    OfBands variance{};         ///< of a frame's means
    /// [frame, and one more]: of the frames before it, sums of the means and of their squares, the
    /// first frame's means being 0.
    std::vector<OfBands> sum, square;
};

void add_sums(Bands& bands) {
    bands.sum.assign(bands.mean.size() + 1, {});
    bands.square = bands.sum;
    for (std::size_t f = 0; f < bands.mean.size(); ++f)
        for (int band = 0; band < kBands; ++band) {
            const double value = bands.mean[f][band] - bands.mean[0][band];
            bands.sum[f + 1][band] = bands.sum[f][band] + value;
            bands.square[f + 1][band] = bands.square[f][band] + value * value;
        }
}

double chi_squared_tail(double chi_squared, double freedom) {
    return freedom <= 0 ? 1.0 : incomplete_gamma(freedom / 2, std::max(chi_squared, 0.0) / 2).upper;
}

double median(std::vector<double> values) {
    const auto middle = values.begin() + std::ssize(values) / 2;
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

/// Raises the variances if frames scatter more about the lines between their neighbours than the
/// stated errors allow.
void scale_variances(Bands& bands) {
    std::vector<double> bends;
    for (std::size_t f = 1; f + 1 < bands.mean.size(); ++f)
        for (int band = 0; band < kBands; ++band) {
            const double line = (bands.mean[f - 1][band] + bands.mean[f + 1][band]) / 2;
            bends.push_back(std::fabs(bands.mean[f][band] - line) /
                            std::sqrt(1.5 * bands.variance[band]));
        }
    if (bends.empty()) return;
    constexpr double kMedianOfNormal = 0.6745;
    const double chance = 3 / std::sqrt(static_cast<double>(bends.size()));
    const double scatter = median(std::move(bends)) / kMedianOfNormal;
    if (scatter * scatter < 1 + chance) return;
    for (double& variance : bands.variance) variance *= scatter * scatter;
}

Bands bands_of(const CurveSeries& series) {
    const Index frames = series.frame_count(), points = std::ssize(series.q);
    Bands bands;
    bands.mean.resize(frames);
    for (int band = 0; band < kBands; ++band) {
        const Index from = points * band / kBands, to = points * (band + 1) / kBands;
        std::vector<double> weight(to - from);
        double weights = 0, variance = 0;
        for (Index k = from; k < to; ++k) {
            double square = 0;
            for (Index f = 0; f < frames; ++f)
                square += series.sigma(f, k) * series.sigma(f, k) / static_cast<double>(frames);
            weights += weight[k - from] = 1 / square;
            variance += 1 / square;  // weight^2 square
        }
        for (Index f = 0; f < frames; ++f) {
            double sum = 0;
            for (Index k = from; k < to; ++k) sum += weight[k - from] * series.intensity(f, k);
            bands.mean[f][band] = sum / weights;
        }
        bands.variance[band] = variance / (weights * weights);
    }
    scale_variances(bands);
    add_sums(bands);
    return bands;
}

/// The probability that frames without a difference differ this much, by the smaller one of two
/// tests: chi squared of all bands, and the largest difference of a band between the frames before
/// and behind some eighth of the range, corrected for their number.
double probability_of_equal(const Bands& bands, Block frames) {
    constexpr int kParts = 8;
    const auto n = static_cast<double>(frames.count);
    const Index end = frames.first + frames.count;
    double chi_squared = 0, change = 0;
    for (int band = 0; band < kBands; ++band) {
        const auto within = [&](const std::vector<OfBands>& sums, Index to) {
            return sums[to][band] - sums[frames.first][band];
        };
        const double sum = within(bands.sum, end);
        chi_squared += (within(bands.square, end) - sum * sum / n) / bands.variance[band];
        for (int part = 1; part < kParts; ++part) {
            const Index front = frames.count * part / kParts;
            if (front == 0) continue;
            const auto m = static_cast<double>(front);
            const double of_front = within(bands.sum, frames.first + front) / m;
            const double difference = (of_front - sum / n) * n / (n - m);
            change = std::max(
                change, difference * difference / (bands.variance[band] * (1 / m + 1 / (n - m))));
        }
    }
    const double of_all = chi_squared_tail(chi_squared, (n - 1) * kBands);
    return std::min(of_all, kBands * (kParts - 1) * chi_squared_tail(change, 1));
}

/// The largest eigenvalue of a symmetric matrix, by the power method.
double largest_eigenvalue(const std::array<OfBands, kBands>& matrix) {
    OfBands x{};
    for (int i = 0; i < kBands; ++i) x[i] = std::sqrt(std::max(matrix[i][i], 1e-300));
    double value = 0;
    for (int step = 0; step < 100; ++step) {
        OfBands y{};
        for (int i = 0; i < kBands; ++i)
            for (int j = 0; j < kBands; ++j) y[i] += matrix[i][j] * x[j];
        const double norm = std::sqrt(std::inner_product(y.begin(), y.end(), y.begin(), 0.0));
        if (!(norm > 0)) return 0;
        for (int i = 0; i < kBands; ++i) x[i] = y[i] / norm;
        if (std::fabs(norm - value) <= 1e-9 * norm) return norm;
        value = norm;
    }
    return value;
}

/// The probability that frames of one shape differ this much but for their scale: chi squared of
/// the bands without buffer about the best product of a curve and a scale per frame.
double probability_of_one_shape(const Bands& bands, const OfBands& buffer, Block frames) {
    std::array<OfBands, kBands> products{};
    double trace = 0;
    for (Index f = frames.first; f < frames.first + frames.count; ++f) {
        OfBands z;
        for (int band = 0; band < kBands; ++band)
            z[band] = (bands.mean[f][band] - buffer[band]) / std::sqrt(bands.variance[band]);
        for (int i = 0; i < kBands; ++i) {
            trace += z[i] * z[i];
            for (int j = 0; j < kBands; ++j) products[i][j] += z[i] * z[j];
        }
    }
    return chi_squared_tail(trace - largest_eigenvalue(products),
                            static_cast<double>(frames.count - 1) * (kBands - 1));
}

OfBands mean_bands(const Bands& bands, Block frames) {
    OfBands mean = bands.mean[0];
    for (int band = 0; band < kBands; ++band)
        mean[band] +=
            (bands.sum[frames.first + frames.count][band] - bands.sum[frames.first][band]) /
            static_cast<double>(frames.count);
    return mean;
}

/// The longest range within [first, end) of at least kMinBuffer frames that are equal and not
/// higher than `highest` in the first band; count 0: none.
Block longest_equal(const Bands& bands, Index first, Index end, double highest) {
    Block best{first, 0};
    for (Index from = first; from < end; ++from) {
        const Index min_count = std::max(kMinBuffer, best.count + 1);
        for (Index to = end; to - from >= min_count; --to) {
            const Block some{from, to - from};
            if (probability_of_equal(bands, some) < kEqual) continue;
            if (mean_bands(bands, some)[0] > highest) continue;
            best = some;
            break;
        }
    }
    return best;
}

Index highest_frame(const Bands& bands) {
    const auto highest =
        std::ranges::max_element(bands.mean, {}, [](const OfBands& b) { return b[0]; });
    return highest - bands.mean.begin();
}

/// The buffer before the peak, or behind it if no half as long range is before it.
Block find_buffer(const Bands& bands, Index peak, bool& is_behind) {
    const auto frames = std::ssize(bands.mean);
    double lowest = bands.mean[0][0];
    for (const OfBands& band : bands.mean) lowest = std::min(lowest, band[0]);
    const double height = bands.mean[peak][0] - lowest;
    if (!(height > kMinPeak * std::sqrt(bands.variance[0])))
        throw InputError(
            fmt::format("expected frames of an elution with a peak, found none: the "
                        "highest intensity is {:.1f} errors above the lowest",
                        height / std::sqrt(bands.variance[0])));
    const double highest = lowest + 0.1 * height;
    const Block before = longest_equal(bands, 0, peak, highest);
    const Block behind = longest_equal(bands, peak + 1, frames, highest);
    is_behind = 2 * before.count < behind.count;
    const Block found = is_behind ? behind : before;
    if (found.count == 0)
        throw InputError(
            fmt::format("expected {} frames in a row with the same curve, the buffer, "
                        "found none; give --buffer-frames FIRST:END",
                        kMinBuffer));
    return found;
}

/// Around the peak, down to half of its height.
Block find_sample(const Bands& bands, const OfBands& buffer, Index peak) {
    const auto height = [&](Index f) { return bands.mean[f][0] - buffer[0]; };
    Index first = peak, end = peak + 1;
    while (first > 0 && height(first - 1) > height(peak) / 2) --first;
    while (end < std::ssize(bands.mean) && height(end) > height(peak) / 2) ++end;
    Block best{peak, 1};
    double best_ratio = 0;
    for (Index from = first; from <= peak; ++from) {
        double sum = 0;
        for (Index f = from; f < peak; ++f) sum += height(f);
        for (Index to = peak + 1; to <= end; ++to) {
            sum += height(to - 1);
            const double ratio = sum / std::sqrt(static_cast<double>(to - from));
            if (ratio <= best_ratio ||
                probability_of_one_shape(bands, buffer, {from, to - from}) < kEqual)
                continue;
            best_ratio = ratio;
            best = {from, to - from};
        }
    }
    return best;
}

void require_range(const Block& frames, Index count, const char* option) {
    if (frames.first < 0 || frames.count < 1 || frames.first + frames.count > count)
        throw UsageError(fmt::format("--{}: expected frames from 0 to {}, found {} to {}", option,
                                     count - 1, frames.first, frames.first + frames.count - 1));
}

Profile frame_of(const CurveSeries& series, Index f) { return mean_of(series, {f, 1}); }

/// The integral over q by trapezoids, and its error.
std::pair<double, double> integral_of(const Profile& curve) {
    double sum = 0, square = 0;
    const std::size_t points = curve.size();
    for (std::size_t k = 0; k < points; ++k) {
        const double width =
            (curve.q[std::min(k + 1, points - 1)] - curve.q[k > 0 ? k - 1 : 0]) / 2;
        sum += width * curve.intensity[k];
        square += width * width * curve.sigma[k] * curve.sigma[k];
    }
    return {sum, std::sqrt(square)};
}

void describe_frames(const CurveSeries& series, Elution& result) {
    const Index frames = series.frame_count();
    result.guinier.resize(frames);
    for (Index f = 0; f < frames; ++f) {
        const auto [sum, error] = integral_of(subtract(frame_of(series, f), result.mean_buffer));
        result.signal.push_back(sum);
        result.error.push_back(error);
    }
    const double highest = *std::ranges::max_element(result.signal);
    result.names = series.names;
    result.logarithms = Array<float, 2>(frames, std::ssize(series.q));
    for (Index f = 0; f < frames; ++f)
        for (Index k = 0; k < std::ssize(series.q); ++k)
            result.logarithms(f, k) = static_cast<float>(
                std::log10(series.intensity(f, k) - result.mean_buffer.intensity[k]));
    for (Index f = 0; f < frames; ++f)
        if (result.signal[f] > 0.1 * highest)
            result.guinier[f] = guinier(subtract(frame_of(series, f), result.mean_buffer), 60);
}

/// How far the buffer on the other side of the peak is from the one that is used.
void find_drift(const Bands& bands, Index peak, Elution& result, Notes* notes) {
    const double highest = mean_bands(bands, result.buffer)[0] +
                           0.1 * (bands.mean[peak][0] - mean_bands(bands, result.buffer)[0]);
    const bool is_behind = result.buffer.first > peak;
    const Block other = is_behind ? longest_equal(bands, 0, peak, highest)
                                  : longest_equal(bands, peak + 1, std::ssize(bands.mean), highest);
    if (other.count == 0) return;
    double change = 0;
    for (Index f = other.first; f < other.first + other.count; ++f)
        change += result.signal[f] / static_cast<double>(other.count);
    result.drift = (is_behind ? -change : change) / *std::ranges::max_element(result.signal);
    const double significance =
        change / result.error[other.first] * std::sqrt(static_cast<double>(other.count));
    constexpr double kMaxDrift = 0.02;
    if (notes != nullptr && std::fabs(*result.drift) > kMaxDrift && std::fabs(significance) > 4)
        notes->push_back(
            {NoteKind::assumption,
             fmt::format("the buffer drifts: from before to behind the peak its "
                         "integral changes by {:.1f} % of the peak; --buffer-frames takes others",
                         100 * *result.drift),
             "", true});
}

}  // namespace

CurveSeries series_of(std::span<const Profile> curves) {
    if (curves.empty()) throw UsageError("expected curves, found none");
    const auto is_same = [](double a, double b) { return std::fabs(a - b) <= 1e-6 * std::fabs(b); };
    CurveSeries series{curves[0].q, {}, {}, {}};
    for (const Profile& curve : curves) {
        const auto lacks = [&](double q) {
            const auto near = std::ranges::lower_bound(curve.q, q * (1 - 1e-6));
            return near == curve.q.end() || !is_same(*near, q);
        };
        std::erase_if(series.q, lacks);
        if (10 * series.q.size() < 9 * curves[0].size())
            throw InputError(curve.source, 0,
                             fmt::format("expected the same q as in {}, found others; all curves "
                                         "of a series must have one grid",
                                         curves[0].source));
        series.names.push_back(curve.source);
    }
    const auto frames = std::ssize(curves), points = std::ssize(series.q);
    series.intensity = Array<double, 2>(frames, points);
    series.sigma = Array<double, 2>(frames, points);
    for (Index f = 0; f < frames; ++f) {
        std::size_t from = 0;
        for (Index k = 0; k < points; ++k) {
            while (!is_same(curves[f].q[from], series.q[k])) ++from;
            series.intensity(f, k) = curves[f].intensity[from];
            series.sigma(f, k) = curves[f].sigma[from];
        }
    }
    return series;
}

Profile mean_of(const CurveSeries& series, Block frames) {
    Profile mean{series.q, std::vector<double>(series.q.size()),
                 std::vector<double>(series.q.size())};
    if (frames.count == 1 && !series.names.empty()) mean.source = series.names[frames.first];
    const auto n = static_cast<double>(frames.count);
    for (std::size_t k = 0; k < mean.size(); ++k) {
        double square = 0;
        for (Index f = frames.first; f < frames.first + frames.count; ++f) {
            const auto point = static_cast<Index>(k);
            mean.intensity[k] += series.intensity(f, point) / n;
            square += series.sigma(f, point) * series.sigma(f, point);
        }
        mean.sigma[k] = std::sqrt(square) / n;
    }
    return mean;
}

Profile subtract(const Profile& sample, const Profile& buffer) {
    const Profile both[] = {sample, buffer};
    const CurveSeries series = series_of(both);
    Profile difference = mean_of(series, {0, 1});
    for (std::size_t k = 0; k < difference.size(); ++k) {
        const auto point = static_cast<Index>(k);
        difference.intensity[k] -= series.intensity(1, point);
        difference.sigma[k] = std::hypot(difference.sigma[k], series.sigma(1, point));
    }
    return difference;
}

Elution analyse_elution(const CurveSeries& series, const ElutionOptions& options, Notes* notes) {
    const Index frames = series.frame_count();
    if (frames < 2 * kMinBuffer)
        throw InputError(fmt::format("expected {} frames of an elution or more, found {}",
                                     2 * kMinBuffer, frames));
    if (options.buffer) require_range(*options.buffer, frames, "buffer-frames");
    if (options.sample) require_range(*options.sample, frames, "sample-frames");
    const auto is_before = [](Block a, Block b) { return a.first + a.count <= b.first; };
    if (options.buffer && options.sample && !is_before(*options.buffer, *options.sample) &&
        !is_before(*options.sample, *options.buffer))
        throw UsageError("give --buffer-frames and --sample-frames that do not overlap");
    const Bands bands = bands_of(series);
    const Index peak =
        options.sample ? options.sample->first + options.sample->count / 2 : highest_frame(bands);
    Elution result;
    result.buffer =
        options.buffer ? *options.buffer : find_buffer(bands, peak, result.buffer_is_behind);
    const OfBands buffer = mean_bands(bands, result.buffer);
    result.sample = options.sample ? *options.sample : find_sample(bands, buffer, peak);
    result.buffer_probability = probability_of_equal(bands, result.buffer);
    result.sample_probability = probability_of_one_shape(bands, buffer, result.sample);
    result.mean_buffer = mean_of(series, result.buffer);
    result.subtracted = subtract(mean_of(series, result.sample), result.mean_buffer);
    describe_frames(series, result);
    find_drift(bands, peak, result, notes);
    if (notes == nullptr) return result;
    if (result.buffer_probability < kDifferent)
        notes->push_back(
            {NoteKind::assumption,
             "the curves of the buffer's frames are not equal; --buffer-frames takes others", "",
             true});
    constexpr double kMinSignal = 5;  // standard errors
    const auto share = [](Block of) { return 1.0 / static_cast<double>(of.count); };
    const double signal =
        (mean_bands(bands, result.sample)[0] - buffer[0]) /
        std::sqrt(bands.variance[0] * (share(result.sample) + share(result.buffer)));
    if (signal < kMinSignal)
        notes->push_back({NoteKind::assumption,
                          fmt::format("the sample's frames differ from the buffer by only {:.1f} "
                                      "standard errors at small angles; give other --sample-frames",
                                      signal),
                          "", true});
    if (result.sample_probability < kDifferent)
        notes->push_back({NoteKind::assumption,
                          "the sample's curves have several shapes; give other --sample-frames", "",
                          true});
    return result;
}

}  // namespace pleat::saxs

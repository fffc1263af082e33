// Frame axes: pivoted Gram-Schmidt orthogonalisation of batches of frames, between which all
// profiles are read once, and of the axes at one contrast.
#include "pleat/saxs/fit/frame_axes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "pleat/core/loops/parallel.h"
#include "pleat/saxs/cancellable_parallel.h"
#include "pleat/saxs/fit/least_squares.h"
#include "pleat/saxs/model/form_factors.h"

namespace pleat::saxs {

namespace {

/// Frames per index of a loop; sums over them do not depend on the number of threads.
constexpr Index kFramesOfLoop = 64;

/// At least the absolute factors of partial profiles [channel pair, q] at any contrast within the
/// options, divided by sigma.
Array<double, 2> metric_of(const EnsembleProblem& problem) {
    const FitOptions& options = problem.options;
    const Index pairs = problem.partial.extent(1);
    const auto c2 = std::max(std::abs(options.c2_min), std::abs(options.c2_max));
    Array<double, 2> factors = channel_pair_factors(pairs, problem.curve->q, problem.mean_radius,
                                                    {options.c1_min, std::max(c2, 1.0)});
    for (Index k = 0; k < factors.extent(1); ++k) {
        // The factor of the volume is c1^3 times a factor that falls with c1.
        const double growth = std::pow(options.c1_max / options.c1_min, 3);
        const double sigma = problem.curve->sigma[k];
        for (Index a = 0; a < (are_atomic(problem.partial[0]) ? kAtomChannels : 0); ++a)
            for (Index b = a; b < kAtomChannels; ++b)
                factors(channel_pair(a, b, kAtomChannels), k) *=
                    (a == 1 ? growth : 1) * (b == 1 ? growth : 1);
        for (Index pair = 0; pair < pairs; ++pair)
            factors(pair, k) = std::abs(factors(pair, k)) / sigma;
    }
    return factors;
}

/// Orthogonalises the frames of a problem.
class Orthogonalisation {
public:
    Orthogonalisation(const EnsembleProblem& problem, double tolerance)
        : problem_(problem),
          frames_(problem.partial.extent(0)),
          size_(problem.partial[0].size()),
          metric_(metric_of(problem)),
          average_(problem.partial.extent(1), problem.partial.extent(2)),
          squares_(frames_, 0) {
        sum_frames();
        scale_ = fit(*problem.curve, average_, problem.mean_radius, problem.options, nullptr,
                     problem.context)
                     .scale;
        double square = 0;
        for (std::size_t n = 0; n < size_; ++n)
            square += std::pow(average_.data()[n] * metric_.data()[n], 2);
        // By the Cauchy-Schwarz inequality, for the sum over channel pairs.
        length_of_profile_ = std::sqrt(static_cast<double>(problem.partial.extent(1)));
        enough_ = kRelativeTolerance * std::sqrt(square);
        if (scale_ > 0) enough_ = std::max(enough_, tolerance / scale_ / length_of_profile_);
    }

    void run() {
        project(0);
        Members batch = spread(left());
        while (!batch.empty() && axes_.size() < max_axes()) {
            const std::size_t before = axes_.size();
            add_axes(batch);
            if (axes_.size() > before) project(before);
            batch = longest(left());
        }
    }
    void write(FrameAxes& to) const {
        const auto count = std::ssize(axes_);
        const Array<double, 2> root = root_of_covariance();
        to.partial = Array<double, 3>(count + 1, average_.extent(0), average_.extent(1));
        to.amounts = Array<double, 2>(count + 1, frames_);
        std::ranges::copy(average_, to.partial[0].data);
        std::fill_n(to.amounts[0].data, frames_, 1.0);
        for (Index r = 0; r < count; ++r) {
            double* const axis = to.partial[r + 1].data;
            for (Index s = r; s < count; ++s)
                for (std::size_t n = 0; n < size_; ++n) axis[n] += root(s, r) * axes_[s][n];
            for (std::size_t n = 0; n < size_; ++n) axis[n] /= metric_.data()[n];
        }
        for_blocks([&](Index first, Index last) {
            for (Index r = 0; r < count; ++r) {
                const std::vector<double>& along = along_[r];
                double* const to_row = to.amounts[r + 1].data;
                std::copy(along.begin() + first, along.begin() + last, to_row + first);
                for (Index s = 0; s < r; ++s) {
                    const double part = root(r, s);
                    const double* const from = to.amounts[s + 1].data;
                    for (Index f = first; f < last; ++f) to_row[f] -= part * from[f];
                }
                for (Index f = first; f < last; ++f) to_row[f] /= root(r, r);
            }
        });
        to.left_out = length_of_profile_ * std::sqrt(*std::ranges::max_element(squares_));
        to.omitted_errors = std::max(scale_, 0.0) * to.left_out;
    }

private:
    using Members = std::vector<Index>;
    static constexpr std::size_t kBatch = 256;
    // Single precision does not give more.
    static constexpr double kRelativeTolerance = 2e-6;

    std::size_t max_axes() const {
        return std::min({kMaxProfileAxes, size_, static_cast<std::size_t>(frames_)});
    }
    void difference(Index frame, double* to) const {
        const double* const from = problem_.partial[frame].data;
        for (std::size_t n = 0; n < size_; ++n)
            to[n] = (from[n] - average_.data()[n]) * metric_.data()[n];
    }
    /// Calls body(first, last) for blocks of frames.
    template <class Body>
    void for_blocks(const Body& body) const {
        cancellable_parallel_blocks(problem_.context, problem_.threads(), frames_, kFramesOfLoop,
                                    [&](Index first, Index last, int) { body(first, last); });
    }

    void sum_frames() {
        const Index blocks = (frames_ + kFramesOfLoop - 1) / kFramesOfLoop;
        Array<double, 2> sums(blocks, static_cast<Index>(size_));
        for_blocks([&](Index first, Index last) {
            for (Index f = first; f < last; ++f)
                for (std::size_t n = 0; n < size_; ++n)
                    sums[first / kFramesOfLoop].data[n] += problem_.partial[f].data[n];
        });
        for (Index block = 0; block < blocks; ++block)
            for (std::size_t n = 0; n < size_; ++n)
                average_.data()[n] += sums[block].data[n] / static_cast<double>(frames_);
    }

    /// Amounts of all frames along the axes from `first` on, and the squares of what remains.
    void project(std::size_t first) {
        along_.resize(axes_.size(), std::vector<double>(frames_));
        for_blocks([&](Index first_frame, Index last_frame) {
            std::vector<double> of_frame(size_);
            double* const row = of_frame.data();
            for (Index f = first_frame; f < last_frame; ++f) {
                difference(f, row);
                if (first == 0) squares_[f] = dot(row, row, size_);
                for (std::size_t r = first; r < axes_.size(); ++r) {
                    const double amount = dot(row, axes_[r].data(), size_);
                    along_[r][f] = amount;
                    squares_[f] = std::max(0.0, squares_[f] - amount * amount);
                }
            }
        });
    }

    /// Frames whose remainder exceeds the tolerance.
    Members left() const {
        Members some;
        for (Index f = 0; f < frames_; ++f)
            if (squares_[f] > enough_ * enough_) some.push_back(f);
        return some;
    }
    static Members spread(const Members& from) {
        if (from.size() <= kBatch) return from;
        Members some;
        for (std::size_t n = 0; n < kBatch; ++n) some.push_back(from[n * from.size() / kBatch]);
        return some;
    }
    Members longest(Members from) const {
        if (from.size() <= kBatch) return from;
        const auto length = [&](Index f) { return squares_[f]; };
        std::nth_element(from.begin(), from.begin() + kBatch, from.end(), [&](Index a, Index b) {
            return length(a) != length(b) ? length(a) > length(b) : a < b;
        });
        from.resize(kBatch);
        std::ranges::sort(from);
        return from;
    }

    /// The lower triangular Cholesky factor of the mean products of amounts.
    Array<double, 2> root_of_covariance() const {
        const auto count = std::ssize(axes_);
        Array<double, 2> root(count, count);
        cancellable_parallel_for(problem_.context, problem_.threads(), count, [&](Index r, int) {
            const std::vector<double>& a = along_[r];
            for (Index s = 0; s <= r; ++s)
                root(r, s) =
                    dot(a.data(), along_[s].data(), a.size()) / static_cast<double>(frames_);
        });
        for (Index r = 0; r < count; ++r)
            for (Index s = 0; s <= r; ++s) {
                const double square = root(r, r);
                const auto before = static_cast<std::size_t>(s);
                const double sum = root(r, s) - dot(root[r].data, root[s].data, before);
                if (s < r)
                    root(r, s) = sum / root(s, s);
                else
                    root(r, r) = std::sqrt(std::max(sum, 1e-12 * square));
            }
        return root;
    }

    void subtract(double* row, const std::vector<double>& axis) const {
        const double part = dot(row, axis.data(), size_);
        for (std::size_t n = 0; n < size_; ++n) row[n] -= part * axis[n];
    }

    /// Axes until the remainders of a batch's frames are short enough, each along the longest: a
    /// tenth of the longest before, so that axes describe no noise of a batch while others have
    /// longer remainders.
    void add_axes(const Members& batch) {
        constexpr double kShorter = 0.1;
        const double longest = std::sqrt(*std::ranges::max_element(squares_));
        const double enough = std::max(enough_, kShorter * longest);
        const auto count = std::ssize(batch);
        Array<double, 2> rows(count, static_cast<Index>(size_));
        std::vector<double> squares(batch.size());
        const auto shorten = [&](std::size_t first) {
            cancellable_parallel_for(problem_.context, problem_.threads(), count,
                                     [&](Index n, int) {
                                         double* const row = rows[n].data;
                                         for (std::size_t r = first; r < axes_.size(); ++r)
                                             subtract(row, axes_[r]);
                                         squares[n] = dot(row, row, size_);
                                     });
        };
        cancellable_parallel_for(problem_.context, problem_.threads(), count,
                                 [&](Index n, int) { difference(batch[n], rows[n].data); });
        shorten(0);
        // Differences of large squares left rounding errors in those of all frames.
        for (std::size_t n = 0; n < batch.size(); ++n) squares_[batch[n]] = squares[n];
        const std::vector<double> before_new = squares;
        while (axes_.size() < max_axes()) {
            const auto at = std::ranges::max_element(squares) - squares.begin();
            double& square = squares[at];
            if (!(square > enough * enough)) return;
            std::vector<double> axis(rows[at].begin(), rows[at].end());
            // A second time, so that rounding errors do not accumulate.
            for (const std::vector<double>& before : axes_) subtract(axis.data(), before);
            const double length = std::sqrt(dot(axis.data(), axis.data(), size_));
            if (!(length > enough_)) {
                // Includes what project() subtracts for this batch's axes so far.
                squares_[batch[at]] = length * length + (before_new[at] - square);
                square = 0;
                continue;
            }
            for (double& value : axis) value /= length;
            axes_.push_back(std::move(axis));
            shorten(axes_.size() - 1);
        }
    }

    const EnsembleProblem& problem_;
    const Index frames_;
    const std::size_t size_;
    const Array<double, 2> metric_;
    Array<double, 2> average_;
    double scale_ = 0, length_of_profile_ = 1, enough_ = 0;
    std::vector<double> squares_;                    // [frame]: of the remainder
    std::vector<std::vector<double>> axes_, along_;  // [axis][channel pair and q], [axis][frame]
};

}  // namespace

FrameAxes::FrameAxes(const EnsembleProblem& problem, double tolerance) {
    Orthogonalisation work(problem, tolerance);
    work.run();
    work.write(*this);
}

Array<double, 2> FrameAxes::mean(View<const double, 3> of_axes,
                                 std::span<const double> weights) const {
    std::vector<Index> axes;
    std::vector<double> of_mean;
    for (Index axis = 0; axis < of_axes.extent(0); ++axis) {
        axes.push_back(axis);
        of_mean.push_back(dot(amounts[axis].data, weights.data(), weights.size()));
    }
    return weighted_partial(of_axes, axes, of_mean);
}

Array<double, 2> FrameAxes::mean(View<const double, 3> of_axes, std::span<const Index> frames,
                                 std::span<const double> weights) const {
    std::vector<Index> axes;
    std::vector<double> of_mean(static_cast<std::size_t>(of_axes.extent(0)));
    for (Index axis = 0; axis < of_axes.extent(0); ++axis) {
        axes.push_back(axis);
        for (std::size_t m = 0; m < frames.size(); ++m)
            of_mean[axis] += weights[m] * amounts(axis, frames[m]);
    }
    return weighted_partial(of_axes, axes, of_mean);
}

void warn_of_axes(const EnsembleProblem& problem, const FrameAxes& axes) {
    if (problem.warnings == nullptr || axes.omitted_errors <= 1 ||
        axes.partial.extent(0) <= static_cast<Index>(kMaxProfileAxes))
        return;
    std::string text = fmt::format(
        "profiles of frames differ along more than {} axes: weights by maximum entropy and all "
        "validations are those of profiles that are off by at most {:.2g} of the curve's errors, "
        "over all points together",
        kMaxProfileAxes, axes.omitted_errors);
    if (std::ranges::find(*problem.warnings, text) == problem.warnings->end())
        problem.warnings->push_back(std::move(text));
}

namespace {

/// Divides by sigma; with a background, also subtracts the constant component.
void divide_by_errors(const EnsembleProblem& problem, std::span<double> profile) {
    const std::vector<double>& sigma = problem.curve->sigma;
    double with_constant = 0, square = 0;
    for (std::size_t k = 0; k < profile.size(); ++k) {
        profile[k] /= sigma[k];
        with_constant += profile[k] / sigma[k];
        square += 1 / (sigma[k] * sigma[k]);
    }
    if (!problem.options.background) return;
    for (std::size_t k = 0; k < profile.size(); ++k)
        profile[k] -= with_constant / square / sigma[k];
}

void subtract(std::span<double> from, double part, const std::vector<double>& direction) {
    for (std::size_t k = 0; k < from.size(); ++k) from[k] -= part * direction[k];
}

}  // namespace

ProfileCoordinates::ProfileCoordinates(const EnsembleProblem& axes, const FrameAxes& of_frames,
                                       const Fit& at, double tolerance)
    : curve(axes.curve->intensity),
      frame_axes_(of_frames),
      axis_remainders_(frame_profiles(axes, at.contrast)) {
    const std::size_t points = curve.size();
    const auto row = [&](Index axis) { return std::span(axis_remainders_[axis].data, points); };
    divide_by_errors(axes, curve);
    for (Index axis = 0; axis < axis_count(); ++axis) divide_by_errors(axes, row(axis));
    mean.assign(row(0).begin(), row(0).end());
    std::vector<double> squares(axis_count(), 0);
    for (Index axis = 1; axis < axis_count(); ++axis)
        squares[axis] = dot(row(axis).data(), row(axis).data(), points);
    std::vector<std::vector<double>> along;  // [r][axis]: the axis along basis_r
    while (!is_complete()) {
        const auto longest = std::ranges::max_element(squares) - squares.begin();
        const double length = std::sqrt(squares[longest]);
        if (!(at.scale * length > tolerance)) break;
        std::vector<double> one(row(longest).begin(), row(longest).end());
        for (double& value : one) value /= length;
        std::vector<double> parts(squares.size(), 0);
        for (Index axis = 0; axis < axis_count(); ++axis) {
            parts[axis] = dot(row(axis).data(), one.data(), points);
            subtract(row(axis), parts[axis], one);
            if (axis > 0) squares[axis] = dot(row(axis).data(), row(axis).data(), points);
        }
        basis.push_back(std::move(one));
        along.push_back(std::move(parts));
    }
    const auto rank = std::ssize(along);
    Array<double, 2> factors(axis_count(), rank);
    for (Index axis = 1; axis < axis_count(); ++axis)
        for (Index r = 0; r < rank; ++r) factors(axis, r) = along[r][axis];
    x = FrameCoordinates(
        factors, of_frames.amounts, [&] { return axes.threads(); }, axes.context);
}

std::vector<double> ProfileCoordinates::target(double scale) const {
    std::vector<double> target;
    for (const std::vector<double>& axis : basis)
        target.push_back(dot(axis.data(), curve.data(), axis.size()) -
                         scale * dot(axis.data(), mean.data(), axis.size()));
    return target;
}

std::pair<std::vector<double>, std::vector<double>> ProfileCoordinates::divided_mean() const {
    std::pair<std::vector<double>, std::vector<double>> found{{}, mean};
    auto& [along, rest] = found;
    for (const std::vector<double>& axis : basis) {
        along.push_back(dot(axis.data(), rest.data(), rest.size()));
        subtract(rest, along.back(), axis);
    }
    return found;
}

double ProfileCoordinates::best_scale(std::span<const double> mean_coordinates) const {
    std::vector<double> model = mean;
    for (std::size_t r = 0; r < basis.size(); ++r) subtract(model, -mean_coordinates[r], basis[r]);
    const double square = dot(model.data(), model.data(), model.size());
    return square > 0 ? std::max(0.0, dot(model.data(), curve.data(), model.size()) / square) : 0;
}

// E_i: what the basis leaves out of frame i, times the scale; r: the curve minus the mean times the
// scale, without its part along the basis; g_i = r.E_i. Since |r - E w|^2 >= |r|^2 - 2 r.E w, F(w)
// is at least F of the coordinates minus sum w g. By the dual problem, the minimum of that over w
// is at least its value at the given weights v minus theta ln sum v exp(g / theta) + sum v g.
double ProfileCoordinates::excess(std::span<const double> weights, double theta,
                                  double scale) const {
    std::vector<double> residual = curve;
    for (std::size_t k = 0; k < residual.size(); ++k) residual[k] -= scale * mean[k];
    for (const std::vector<double>& axis : basis)
        subtract(residual, dot(residual.data(), axis.data(), axis.size()), axis);
    std::vector<double> g(weights.size(), 0), left_out(residual.size(), 0);
    for (Index axis = 1; axis < axis_count(); ++axis) {
        const double* const amounts = frame_axes_.amounts[axis].data;
        const double* const remainder = axis_remainders_[axis].data;
        const double along = scale * dot(residual.data(), remainder, residual.size());
        for (std::size_t i = 0; i < g.size(); ++i) g[i] += along * amounts[i];
        const double amount = scale * dot(amounts, weights.data(), weights.size());
        for (std::size_t k = 0; k < left_out.size(); ++k) left_out[k] += amount * remainder[k];
    }
    // Weights that underflow a double count as the smallest double.
    std::vector<double> exponents;
    for (std::size_t i = 0; i < g.size(); ++i)
        exponents.push_back(g[i] / theta + std::log(std::max(weights[i], 1e-300)));
    const double largest = *std::ranges::max_element(exponents);
    double sum = 0;
    for (const double exponent : exponents) sum += std::exp(exponent - largest);
    return theta * (std::log(sum) + largest) - dot(g.data(), weights.data(), g.size()) +
           dot(left_out.data(), left_out.data(), left_out.size()) / 2;
}

}  // namespace pleat::saxs

// Frame axes: pivoted Gram-Schmidt orthogonalisation that reads all profiles once per axis.
#include "pleat/saxs/fit/frame_axes.h"

#include <algorithm>
#include <cmath>

#include "pleat/core/loops/parallel.h"
#include "pleat/saxs/cancellable_parallel.h"
#include "pleat/saxs/fit/least_squares.h"
#include "pleat/saxs/model/form_factors.h"

namespace pleat::saxs {

namespace {

/// Factors of partial profiles [channel pair, q] in the profile at c1 = c2 = 1, divided by sigma.
Array<double, 2> metric_of(const EnsembleProblem& problem) {
    Array<double, 2> factors = channel_pair_factors(problem.partial.extent(1), problem.curve->q,
                                                    problem.mean_radius, {1, 1});
    for (Index pair = 0; pair < factors.extent(0); ++pair)
        for (Index k = 0; k < factors.extent(1); ++k)
            factors(pair, k) =
                std::abs(factors(pair, k)) / problem.curve->sigma[static_cast<std::size_t>(k)];
    return factors;
}

}  // namespace

FrameAxes::FrameAxes(const EnsembleProblem& problem) {
    constexpr double kEnough = 1e-6;
    const Index frames = problem.partial.extent(0);
    const auto size = static_cast<std::size_t>(problem.partial[0].size());
    const int threads = resolve_threads(problem.context);
    const Array<double, 2> metric = metric_of(problem);
    std::vector<double> average(size, 0);
    for (Index f = 0; f < frames; ++f)
        for (std::size_t n = 0; n < size; ++n)
            average[n] += problem.partial[f].data[n] / static_cast<double>(frames);
    std::vector<double> of_profile(static_cast<std::size_t>(metric.extent(1)), 0);
    for (std::size_t n = 0; n < size; ++n)
        of_profile[n % of_profile.size()] += average[n] * metric.data()[n];
    const double enough =
        kEnough * kEnough * dot(of_profile.data(), of_profile.data(), of_profile.size());

    const auto difference = [&](Index frame, double* to) {
        const double* const from = problem.partial[frame].data;
        for (std::size_t n = 0; n < size; ++n) to[n] = (from[n] - average[n]) * metric.data()[n];
    };
    std::vector<std::vector<double>> axes, of_axes;  // [axis][channel pair and q], [axis][frame]
    std::vector<double> squares(static_cast<std::size_t>(frames));  // of the remainders
    Array<double, 2> scratch(threads, static_cast<Index>(size));
    cancellable_parallel_for(problem.context, threads, frames, [&](Index f, int thread) {
        double* const row = scratch[thread].data;
        difference(f, row);
        squares[static_cast<std::size_t>(f)] = dot(row, row, size);
    });
    while (axes.size() < std::min({kMaxProfileAxes, size, static_cast<std::size_t>(frames)})) {
        const Index longest = std::max_element(squares.begin(), squares.end()) - squares.begin();
        std::vector<double> axis(size);
        difference(longest, axis.data());
        // Twice, so that rounding errors do not add up.
        for (int pass = 0; pass < 2; ++pass)
            for (const std::vector<double>& before : axes) {
                const double part = dot(axis.data(), before.data(), size);
                for (std::size_t n = 0; n < size; ++n) axis[n] -= part * before[n];
            }
        const double square = dot(axis.data(), axis.data(), size);
        if (!(square > enough)) {
            // What differences of large squares left is a rounding error.
            double& rounded = squares[static_cast<std::size_t>(longest)];
            if (!(rounded > enough)) break;
            rounded = 0;
            continue;
        }
        for (double& value : axis) value /= std::sqrt(square);
        std::vector<double> along(static_cast<std::size_t>(frames));
        cancellable_parallel_for(problem.context, threads, frames, [&](Index f, int thread) {
            double* const row = scratch[thread].data;
            difference(f, row);
            const auto at = static_cast<std::size_t>(f);
            along[at] = dot(row, axis.data(), size);
            squares[at] -= along[at] * along[at];
        });
        squares[static_cast<std::size_t>(longest)] = 0;
        axes.push_back(std::move(axis));
        of_axes.push_back(std::move(along));
    }
    const auto count = static_cast<Index>(axes.size());
    partial = Array<double, 3>(count + 1, problem.partial.extent(1), problem.partial.extent(2));
    amounts = Array<double, 2>(count + 1, frames);
    std::copy(average.begin(), average.end(), partial[0].data);
    std::fill_n(amounts[0].data, frames, 1.0);
    for (Index r = 0; r < count; ++r) {
        const std::vector<double>& axis = axes[static_cast<std::size_t>(r)];
        for (std::size_t n = 0; n < size; ++n) partial[r + 1].data[n] = axis[n] / metric.data()[n];
        const std::vector<double>& along = of_axes[static_cast<std::size_t>(r)];
        std::copy(along.begin(), along.end(), amounts[r + 1].data);
    }
}

Array<double, 2> FrameAxes::mean(View<const double, 3> of_axes,
                                 std::span<const double> weights) const {
    Array<double, 2> sum(of_axes.extent(1), of_axes.extent(2));
    for (Index axis = 0; axis < of_axes.extent(0); ++axis) {
        const double amount = dot(amounts[axis].data, weights.data(), weights.size());
        const double* const from = of_axes[axis].data;
        for (Index n = 0; n < sum.size(); ++n) sum.data()[n] += amount * from[n];
    }
    return sum;
}

}  // namespace pleat::saxs

// Weight dual: Newton steps to the weights of frames by maximum entropy.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "pleat/core/array.h"
#include "pleat/core/context.h"

namespace pleat::saxs {

/// Frames that are summed together, so that sums do not depend on the number of threads.
inline constexpr Index kFrameBlock = 512;

/// Coordinates of frames: x(block, axis, i) belongs to frame block * kFrameBlock + i.
struct FrameCoordinates {
    Index axes = 0, frames = 0;
    Array<double, 3> x;  ///< [block, axis, frame of the block]; 0 beyond the axes and the frames
    /// [observable]: 1 or -1 if its multiplier may not be negative or positive, else 0. The last
    /// axes are those of observables, which the scale of the dual problem does not multiply.
    std::vector<int> signs;

    FrameCoordinates() = default;
    /// Coordinates sum_k factors(k, axis) amounts(k, frame). `factors`: [k, axis]. `threads`
    /// returns the number of threads for one loop. Throws Cancelled.
    FrameCoordinates(View<const double, 2> factors, View<const double, 2> amounts,
                     const std::function<int()>& threads, const Context& context);
    /// Adds the axes of observables. `values`: [observable, frame]; `signs_of`: [observable].
    void add_observables(View<const double, 2> values, const std::vector<int>& signs_of);
};

/// The dual problem of the weights: minimise ln mean_i exp(-l.y_i) + l.t + theta |l|^2 / 2 over l,
/// with y the coordinates times a scale and t those of the curve; the weights are exp(-l.y_i),
/// normalised. Some l may have a sign (FrameCoordinates::signs): then by projected Newton steps
/// (Bertsekas, SIAM J. Control Optim. 20:221, 1982). The same bits for any number of threads.
class WeightDual {
public:
    /// `at`, `threads` and `context` must outlive this; `threads` returns the number of threads for
    /// one loop.
    WeightDual(const FrameCoordinates& at, const std::function<int()>& threads,
               const Context& context);

    /// The weights [frame] that minimise, by Newton steps from `l` [axis], which becomes the
    /// minimum. `target`: [axis]. Throws Cancelled.
    std::vector<double> minimize(double scale, std::span<const double> target, double theta,
                                 std::vector<double>& l);
    /// The mean coordinates [axis] with the weights that minimize() returned last.
    std::span<const double> mean() const {
        return {mean_.data(), static_cast<std::size_t>(at_.axes)};
    }

private:
    double evaluate(const std::vector<double>& l);
    void compute_derivatives(const std::vector<double>& l, std::vector<double>& gradient,
                             std::vector<double>& hessian);
    double restrict_steps(const std::vector<double>& l, const std::vector<double>& gradient,
                          std::vector<double>& hessian, std::vector<double>& direction) const;
    void move(const std::vector<double>& l, const std::vector<double>& direction, double length,
              std::vector<double>& to) const;
    int sign(std::size_t axis) const;
    double scale(std::size_t axis) const;
    int threads() const;

    const FrameCoordinates& at_;
    const std::function<int()>& threads_;
    const Context& context_;
    double scale_ = 1, theta_ = 0;
    std::span<const double> target_;
    Array<double, 2> weights_;              // [block, frame of the block], of maximum 1 in a block
    Array<double, 2> moments_;              // [block, axis]: sums of these weights times x
    std::vector<double> largest_, totals_;  // [block]: largest exponents, sums of weights
    std::vector<double> factors_;           // [block]: make of the weights those of sum 1
    std::vector<double> mean_;              // [axis]: of x
    Array<double, 2> products_;             // [block, axis * axes + axis]
};

}  // namespace pleat::saxs

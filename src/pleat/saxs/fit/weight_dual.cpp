// Weight dual: sums over blocks of frames by vector instructions, in tiles of registers.
#include "pleat/saxs/fit/weight_dual.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "pleat/saxs/cancellable_parallel.h"
#include "pleat/saxs/fit/least_squares.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pleat/saxs/fit/weight_dual.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include <hwy/highway.h>

#include "hwy/contrib/math/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace pleat::saxs::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr std::size_t kFrames = static_cast<std::size_t>(kFrameBlock);
constexpr std::size_t kRows = 4;      // of axes in a tile; blocks have a multiple of them
constexpr std::size_t kColumns = 64;  // frames whose amounts fit in a cache

/// Sets the weights of `count` frames to exp(-steps . x - largest), others to 0, and moments to
/// sums of weights times x. Returns the largest exponent, and sets `total` to the sum of weights.
double weigh(const double* HWY_RESTRICT x, const double* HWY_RESTRICT steps, std::size_t axes,
             std::size_t count, double* HWY_RESTRICT weights, double* HWY_RESTRICT moments,
             double& total) {
    const hn::ScalableTag<double> d;
    const std::size_t lanes = hn::Lanes(d);
    std::fill_n(weights, kFrames, 0.0);
    for (std::size_t r = 0; r < axes; r += kRows) {
        const double* HWY_RESTRICT const row = x + r * kFrames;
        const auto a = hn::Set(d, steps[r]), b = hn::Set(d, steps[r + 1]),
                   c = hn::Set(d, steps[r + 2]), e = hn::Set(d, steps[r + 3]);
        for (std::size_t i = 0; i < kFrames; i += lanes) {
            auto sum = hn::NegMulAdd(a, hn::LoadU(d, row + i), hn::LoadU(d, weights + i));
            sum = hn::NegMulAdd(b, hn::LoadU(d, row + kFrames + i), sum);
            sum = hn::NegMulAdd(c, hn::LoadU(d, row + 2 * kFrames + i), sum);
            hn::StoreU(hn::NegMulAdd(e, hn::LoadU(d, row + 3 * kFrames + i), sum), d, weights + i);
        }
    }
    const double largest = *std::max_element(weights, weights + count);
    const auto top = hn::Set(d, largest);
    for (std::size_t i = 0; i < kFrames; i += lanes)
        hn::StoreU(hn::Exp(d, hn::Sub(hn::LoadU(d, weights + i), top)), d, weights + i);
    std::fill(weights + count, weights + kFrames, 0.0);
    auto sum = hn::Zero(d);
    for (std::size_t i = 0; i < kFrames; i += lanes) sum = hn::Add(sum, hn::LoadU(d, weights + i));
    total = hn::GetLane(hn::SumOfLanes(d, sum));
    for (std::size_t r = 0; r < axes; r += kRows) {
        const double* HWY_RESTRICT const row = x + r * kFrames;
        auto a = hn::Zero(d), b = hn::Zero(d), c = hn::Zero(d), e = hn::Zero(d);
        for (std::size_t i = 0; i < kFrames; i += lanes) {
            const auto w = hn::LoadU(d, weights + i);
            a = hn::MulAdd(w, hn::LoadU(d, row + i), a);
            b = hn::MulAdd(w, hn::LoadU(d, row + kFrames + i), b);
            c = hn::MulAdd(w, hn::LoadU(d, row + 2 * kFrames + i), c);
            e = hn::MulAdd(w, hn::LoadU(d, row + 3 * kFrames + i), e);
        }
        moments[r] = hn::GetLane(hn::SumOfLanes(d, a));
        moments[r + 1] = hn::GetLane(hn::SumOfLanes(d, b));
        moments[r + 2] = hn::GetLane(hn::SumOfLanes(d, c));
        moments[r + 3] = hn::GetLane(hn::SumOfLanes(d, e));
    }
    return largest;
}

/// Sums over a block of products of rows `a` to a + 3 with rows b and b + 1, to sums[4][axes].
void multiply_rows(const double* HWY_RESTRICT a, const double* HWY_RESTRICT b, std::size_t axes,
                   double* HWY_RESTRICT sums) {
    // Eight sums: an addition takes four cycles, and up to two start every cycle.
    const hn::ScalableTag<double> d;
    const std::size_t lanes = hn::Lanes(d);
    auto s00 = hn::Zero(d), s01 = hn::Zero(d), s10 = hn::Zero(d), s11 = hn::Zero(d),
         s20 = hn::Zero(d), s21 = hn::Zero(d), s30 = hn::Zero(d), s31 = hn::Zero(d);
    for (std::size_t i = 0; i < kFrames; i += lanes) {
        const auto b0 = hn::LoadU(d, b + i), b1 = hn::LoadU(d, b + kFrames + i);
        const auto a0 = hn::LoadU(d, a + i), a1 = hn::LoadU(d, a + kFrames + i),
                   a2 = hn::LoadU(d, a + 2 * kFrames + i), a3 = hn::LoadU(d, a + 3 * kFrames + i);
        s00 = hn::MulAdd(a0, b0, s00);
        s01 = hn::MulAdd(a0, b1, s01);
        s10 = hn::MulAdd(a1, b0, s10);
        s11 = hn::MulAdd(a1, b1, s11);
        s20 = hn::MulAdd(a2, b0, s20);
        s21 = hn::MulAdd(a2, b1, s21);
        s30 = hn::MulAdd(a3, b0, s30);
        s31 = hn::MulAdd(a3, b1, s31);
    }
    const auto store = [&](std::size_t row, auto first, auto second) HWY_ATTR {
        sums[row * axes] = hn::GetLane(hn::SumOfLanes(d, first));
        sums[row * axes + 1] = hn::GetLane(hn::SumOfLanes(d, second));
    };
    store(0, s00, s01);
    store(1, s10, s11);
    store(2, s20, s21);
    store(3, s30, s31);
}

/// Lower triangle of the sums over a block of weights (x - mean)(x - mean)'. `rows`: memory for
/// axes * kFrameBlock numbers.
void multiply_axes(const double* HWY_RESTRICT x, const double* HWY_RESTRICT weights, double factor,
                   const double* HWY_RESTRICT mean, std::size_t axes, double* HWY_RESTRICT rows,
                   double* HWY_RESTRICT sums) {
    const hn::ScalableTag<double> d;
    const std::size_t lanes = hn::Lanes(d);
    HWY_ALIGN double roots[kFrames];
    for (std::size_t i = 0; i < kFrames; i += lanes)
        hn::StoreU(hn::Sqrt(hn::Mul(hn::Set(d, factor), hn::LoadU(d, weights + i))), d, roots + i);
    for (std::size_t r = 0; r < axes; ++r) {
        const auto middle = hn::Set(d, mean[r]);
        for (std::size_t i = 0; i < kFrames; i += lanes)
            hn::StoreU(hn::Mul(hn::LoadU(d, roots + i),
                               hn::Sub(hn::LoadU(d, x + r * kFrames + i), middle)),
                       d, rows + r * kFrames + i);
    }
    for (std::size_t r = 0; r < axes; r += kRows)
        for (std::size_t s = 0; s < r + kRows; s += 2)
            multiply_rows(rows + r * kFrames, rows + s * kFrames, axes, sums + r * axes + s);
}

/// Rows r to r + 3 of x at kColumns frames: sums over k of factors[k][r] amounts[k][frame].
/// `axes`: of x; `count`: of amounts.
void combine(const double* HWY_RESTRICT factors, const double* HWY_RESTRICT amounts,
             std::size_t axes, std::size_t count, double* HWY_RESTRICT x) {
    const hn::ScalableTag<double> d;
    const std::size_t lanes = hn::Lanes(d);
    for (std::size_t r = 0; r < axes; r += kRows) {
        for (std::size_t i = 0; i < kColumns; i += lanes) {
            auto s0 = hn::Zero(d), s1 = hn::Zero(d), s2 = hn::Zero(d), s3 = hn::Zero(d);
            for (std::size_t k = 0; k < count; ++k) {
                const auto amount = hn::LoadU(d, amounts + k * kColumns + i);
                const double* HWY_RESTRICT const factor = factors + k * axes + r;
                s0 = hn::MulAdd(hn::Set(d, factor[0]), amount, s0);
                s1 = hn::MulAdd(hn::Set(d, factor[1]), amount, s1);
                s2 = hn::MulAdd(hn::Set(d, factor[2]), amount, s2);
                s3 = hn::MulAdd(hn::Set(d, factor[3]), amount, s3);
            }
            hn::StoreU(s0, d, x + r * kFrames + i);
            hn::StoreU(s1, d, x + (r + 1) * kFrames + i);
            hn::StoreU(s2, d, x + (r + 2) * kFrames + i);
            hn::StoreU(s3, d, x + (r + 3) * kFrames + i);
        }
    }
}

}  // namespace pleat::saxs::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pleat::saxs {

HWY_EXPORT(weigh);
HWY_EXPORT(multiply_axes);
HWY_EXPORT(combine);

namespace {

constexpr Index kRowsOfTile = 4, kColumnsOfTile = 64;  // kRows and kColumns of any target

Index padded(Index axes) { return (axes + kRowsOfTile - 1) / kRowsOfTile * kRowsOfTile; }

/// A loop over few blocks is shorter than starting threads for it.
int threads_for(Index blocks, int threads) {
    constexpr Index kBlocksOfThread = 4;
    return static_cast<int>(std::clamp<Index>(blocks / kBlocksOfThread, 1, threads));
}

}  // namespace

FrameCoordinates::FrameCoordinates(View<const double, 2> factors, View<const double, 2> amounts,
                                   const std::function<int()>& threads, const Context& context)
    : axes(factors.extent(1)),
      frames(amounts.extent(1)),
      x((frames + kFrameBlock - 1) / kFrameBlock, padded(axes), kFrameBlock) {
    const Index count = factors.extent(0), rows = x.extent(1);
    Array<double, 2> with_zeros(count, rows);
    for (Index k = 0; k < count; ++k) std::copy_n(factors[k].data, axes, with_zeros[k].data);
    cancellable_parallel_for(
        context, threads_for(x.extent(0), threads()), x.extent(0), [&](Index block, int) {
            std::vector<double> some(count * kColumnsOfTile, 0);
            for (Index i = 0; i < kFrameBlock; i += kColumnsOfTile) {
                const Index first = block * kFrameBlock + i;
                const Index here = std::clamp<Index>(frames - first, 0, kColumnsOfTile);
                if (here == 0) break;
                std::ranges::fill(some, 0.0);
                for (Index k = 0; k < count; ++k)
                    std::copy_n(amounts[k].data + first, here,
                                some.begin() + static_cast<std::ptrdiff_t>(k * kColumnsOfTile));
                HWY_DYNAMIC_DISPATCH(combine)
                (with_zeros.data(), some.data(), static_cast<std::size_t>(rows),
                 static_cast<std::size_t>(count), x[block].data + i);
            }
        });
}

void FrameCoordinates::add_observables(View<const double, 2> values,
                                       const std::vector<int>& signs_of) {
    const Index before = axes, blocks = (values.extent(1) + kFrameBlock - 1) / kFrameBlock;
    axes += values.extent(0);
    frames = values.extent(1);
    signs.insert(signs.end(), signs_of.begin(), signs_of.end());
    Array<double, 3> wider(blocks, padded(axes), kFrameBlock);
    for (Index block = 0; block < blocks; ++block) {
        const Index first = block * kFrameBlock, count = std::min(kFrameBlock, frames - first);
        std::copy_n(x.size() > 0 ? x[block].data : nullptr, before * kFrameBlock,
                    wider[block].data);
        for (Index r = 0; r < values.extent(0); ++r)
            std::copy_n(values[r].data + first, count, wider[block][before + r].data);
    }
    x = std::move(wider);
}

WeightDual::WeightDual(const FrameCoordinates& at, const std::function<int()>& threads,
                       const Context& context)
    : at_(at),
      threads_(threads),
      context_(context),
      weights_(at.x.extent(0), kFrameBlock),
      moments_(at.x.extent(0), at.x.extent(1)),
      largest_(at.x.extent(0)),
      totals_(largest_.size()),
      factors_(largest_.size()),
      mean_(at.x.extent(1)),
      products_(at.x.extent(0), at.x.extent(1) * at.x.extent(1)) {}

int WeightDual::threads() const { return threads_for(at_.x.extent(0), threads_()); }

std::vector<double> WeightDual::minimize(double scale, std::span<const double> target, double theta,
                                         std::vector<double>& l) {
    constexpr int kMaxSteps = 200;
    scale_ = scale;
    target_ = target;
    theta_ = theta;
    const bool is_bounded = std::ranges::any_of(at_.signs, [](int one) { return one != 0; });
    if (is_bounded) move(l, std::vector<double>(l.size(), 0), 0, l);
    double value = evaluate(l);
    std::vector<double> gradient, hessian, direction, next(l.size());
    for (int step = 0; step < kMaxSteps; ++step) {
        throw_if_stopped(context_);
        compute_derivatives(l, gradient, hessian);
        const double slope =
            is_bounded ? restrict_steps(l, gradient, hessian, direction)
            : solve_cholesky(hessian, gradient, direction)
                ? std::inner_product(gradient.begin(), gradient.end(), direction.begin(), 0.0)
                : -1;
        if (slope < 0) break;
        const bool is_last = slope < 1e-12 * std::max(1.0, std::abs(value));
        double length = 1, lower = 0;
        do {
            move(l, direction, length, next);
            lower = evaluate(next);
            length /= 2;
        } while (!is_last && !(lower <= value - 0.2 * length * slope) && length > 1e-12);
        if (is_last) {
            // Close enough to the minimum that the step is right although rounding hides its gain.
            l = next;
            break;
        }
        if (!(lower < value)) {
            evaluate(l);
            break;
        }
        value = lower;
        l = next;
    }
    std::vector<double> weights(at_.frames);
    for (std::size_t i = 0; i < weights.size(); ++i)
        weights[i] = weights_.data()[i] * factors_[i / static_cast<std::size_t>(kFrameBlock)];
    return weights;
}

int WeightDual::sign(std::size_t axis) const {
    const std::size_t before = static_cast<std::size_t>(at_.axes) - at_.signs.size();
    return axis < before ? 0 : at_.signs[axis - before];
}

double WeightDual::scale(std::size_t axis) const {
    return axis + at_.signs.size() < static_cast<std::size_t>(at_.axes) ? scale_ : 1;
}

/// l - length * direction, with 0 for those of the wrong sign.
void WeightDual::move(const std::vector<double>& l, const std::vector<double>& direction,
                      double length, std::vector<double>& to) const {
    for (std::size_t r = 0; r < l.size(); ++r) {
        to[r] = l[r] - length * direction[r];
        if (sign(r) * to[r] < 0) to[r] = 0;
    }
}

/// The direction of a step in which multipliers that are at their bounds, and would be moved beyond
/// them, have no part in the Newton step of the others. Returns the expected decrease, and -1 if
/// the matrix is singular.
double WeightDual::restrict_steps(const std::vector<double>& l, const std::vector<double>& gradient,
                                  std::vector<double>& hessian,
                                  std::vector<double>& direction) const {
    const std::size_t n = l.size();
    double near = 1e-3;  // to a bound; at most how far from the minimum
    std::vector<double> step(n), to(n);
    for (std::size_t r = 0; r < n; ++r) step[r] = gradient[r] / hessian[r * n + r];
    move(l, step, 1, to);
    double farthest = 0;
    for (std::size_t r = 0; r < n; ++r) farthest = std::max(farthest, std::abs(l[r] - to[r]));
    near = std::min(near, farthest);
    std::vector<bool> is_held(n);
    for (std::size_t r = 0; r < n; ++r) {
        is_held[r] = sign(r) * gradient[r] > 0 && sign(r) * l[r] <= near;
        for (std::size_t s = 0; is_held[r] && s < n; ++s)
            if (s != r) hessian[r * n + s] = hessian[s * n + r] = 0;
    }
    if (!solve_cholesky(hessian, gradient, direction)) return -1;
    double slope = 0;
    for (std::size_t r = 0; r < n; ++r) {
        const double along = std::abs(direction[r]);
        slope += is_held[r] ? std::abs(gradient[r]) * std::min(along, std::abs(l[r]))
                            : gradient[r] * direction[r];
    }
    return slope;
}

/// The objective at l; also sets the weights and the mean.
double WeightDual::evaluate(const std::vector<double>& l) {
    const Index rows = at_.x.extent(1), blocks = at_.x.extent(0);
    std::vector<double> steps(rows, 0);
    for (std::size_t r = 0; r < l.size(); ++r) steps[r] = l[r] * scale(r);
    parallel_for(threads(), blocks, [&](Index block, int) {
        largest_[block] = HWY_DYNAMIC_DISPATCH(weigh)(
            at_.x[block].data, steps.data(), static_cast<std::size_t>(rows),
            static_cast<std::size_t>(std::min(kFrameBlock, at_.frames - block * kFrameBlock)),
            weights_[block].data, moments_[block].data, totals_[block]);
    });
    const double largest = *std::ranges::max_element(largest_);
    double sum = 0;
    for (std::size_t b = 0; b < factors_.size(); ++b) {
        factors_[b] = std::exp(largest_[b] - largest);
        sum += factors_[b] * totals_[b];
    }
    std::ranges::fill(mean_, 0.0);
    for (std::size_t b = 0; b < factors_.size(); ++b) {
        factors_[b] /= sum;
        for (std::size_t r = 0; r < l.size(); ++r)
            mean_[r] += factors_[b] * moments_[static_cast<Index>(b)].data[r];
    }
    double value = largest + std::log(sum / static_cast<double>(at_.frames));
    for (std::size_t r = 0; r < l.size(); ++r)
        value += l[r] * target_[r] + theta_ * l[r] * l[r] / 2;
    return value;
}

/// Gradient and Hessian at l, where evaluate() was called last.
void WeightDual::compute_derivatives(const std::vector<double>& l, std::vector<double>& gradient,
                                     std::vector<double>& hessian) {
    const Index blocks = at_.x.extent(0);
    const std::size_t n = l.size(), rows = mean_.size();
    parallel_for(threads(), blocks, [&](Index block, int) {
        std::vector<double> scratch(rows * static_cast<std::size_t>(kFrameBlock));
        HWY_DYNAMIC_DISPATCH(multiply_axes)
        (at_.x[block].data, weights_[block].data, factors_[block], mean_.data(), rows,
         scratch.data(), products_[block].data);
    });
    gradient.resize(n);
    hessian.assign(n * n, 0);
    for (Index block = 0; block < blocks; ++block)
        for (std::size_t r = 0; r < n; ++r)
            for (std::size_t s = 0; s <= r; ++s)
                hessian[r * n + s] += products_[block].data[r * rows + s];
    for (std::size_t r = 0; r < n; ++r) {
        gradient[r] = target_[r] - scale(r) * mean_[r] + theta_ * l[r];
        for (std::size_t s = 0; s <= r; ++s) hessian[r * n + s] *= scale(r) * scale(s);
        hessian[r * n + r] += theta_;
        for (std::size_t s = 0; s < r; ++s) hessian[s * n + r] = hessian[r * n + s];
    }
}

}  // namespace pleat::saxs
#endif

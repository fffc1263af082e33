// Multipoles: recurrences and register tiles in float64, compiled for every instruction set.
#include "pleat/saxs/kernel/multipole_table.h"

#include <algorithm>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pleat/saxs/kernel/multipole_table.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace pleat::saxs::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Doubles = hn::CappedTag<double, 8>;
using Vector = hn::Vec<Doubles>;

/// Rows of a register tile, and vectors of a row.
constexpr int kRows = HWY_TARGET <= HWY_AVX3 ? 8 : 4;
constexpr int kVectors = HWY_TARGET <= HWY_AVX3 ? 3 : 2;

void harmonics_of(const HarmonicTable& table, const double* direction, double* scratch,
                  double* to) {
    const Index degrees = table.degrees, size = degrees + 16;
    double *before = scratch, *last = before + size, *here = last + size;
    double* const cosine = here + size;
    double* const sine = cosine + size;
    std::fill_n(scratch, 3 * size, 0.0);
    const double z = direction[2], across = std::hypot(direction[0], direction[1]);
    const double c = across > 0.0 ? direction[0] / across : 1.0;
    const double s = across > 0.0 ? direction[1] / across : 0.0;
    cosine[0] = 1.0;
    sine[0] = 0.0;
    for (Index m = 1; m < degrees; ++m) {
        cosine[m] = cosine[m - 1] * c - sine[m - 1] * s;
        sine[m] = sine[m - 1] * c + cosine[m - 1] * s;
    }
    double diagonal = 1.0;
    to[0] = last[0] = 1.0;
    for (Index l = 1; l < degrees; ++l) {
        const double* HWY_RESTRICT const factor = &table.factor(l, 0);
        const double* HWY_RESTRICT const share = &table.share(l, 0);
        for (Index m = 0; m < l; ++m) here[m] = factor[m] * (z * last[m] - share[m] * before[m]);
        const double order = static_cast<double>(l);
        diagonal *= across * std::sqrt(l == 1 ? 3.0 : (2.0 * order + 1.0) / (2.0 * order));
        here[l] = diagonal;
        double* HWY_RESTRICT const even = to + l * l;
        double* HWY_RESTRICT const odd = even + l;
        for (Index m = 0; m <= l; ++m) even[m] = here[m] * cosine[m];
        for (Index m = 1; m <= l; ++m) odd[m] = here[m] * sine[m];
        double* const spare = before;
        before = last;
        last = here;
        here = spare;
    }
}

/// Computes one register tile of the matrix product sum_j rows[j, row] columns[j, column], with
/// kWidth vectors of columns.
template <int kWidth>
HWY_INLINE void tile(Index count, const double* HWY_RESTRICT rows, Index row_stride,
                     const double* HWY_RESTRICT columns, Index column_stride,
                     double* HWY_RESTRICT to, Index to_stride, bool add) {
    const Doubles d;
    const Index lanes = static_cast<Index>(hn::Lanes(d));
    Vector sums[kRows][kWidth];
    HWY_UNROLL(8)
    for (int r = 0; r < kRows; ++r)
        HWY_UNROLL(8) for (int v = 0; v < kWidth; ++v) sums[r][v] = hn::Zero(d);
    for (Index j = 0; j < count; ++j) {
        Vector column[kWidth];
        HWY_UNROLL(8)
        for (int v = 0; v < kWidth; ++v)
            column[v] = hn::Load(d, columns + j * column_stride + v * lanes);
        HWY_UNROLL(8) for (int r = 0; r < kRows; ++r) {
            const Vector row = hn::Set(d, rows[j * row_stride + r]);
            HWY_UNROLL(8)
            for (int v = 0; v < kWidth; ++v) sums[r][v] = hn::MulAdd(row, column[v], sums[r][v]);
        }
    }
    HWY_UNROLL(8) for (int r = 0; r < kRows; ++r) HWY_UNROLL(8) for (int v = 0; v < kWidth; ++v) {
        double* const out = to + r * to_stride + v * lanes;
        hn::Store(add ? hn::Add(sums[r][v], hn::Load(d, out)) : sums[r][v], d, out);
    }
}

/// The product of `row_count` rows (whole tiles) and columns [first, last) (whole vectors).
HWY_INLINE void product(Index count, const double* rows, Index row_stride, Index row_count,
                        const double* columns, Index column_stride, Index first, Index last,
                        double* to, Index to_stride, bool add) {
    const Index lanes = static_cast<Index>(hn::Lanes(Doubles()));
    Index column = first;
    for (; column + kVectors * lanes <= last; column += kVectors * lanes)
        for (Index row = 0; row < row_count; row += kRows)
            tile<kVectors>(count, rows + row, row_stride, columns + column, column_stride,
                           to + row * to_stride + column, to_stride, add);
    for (; column < last; column += lanes)
        for (Index row = 0; row < row_count; row += kRows)
            tile<1>(count, rows + row, row_stride, columns + column, column_stride,
                    to + row * to_stride + column, to_stride, add);
}

void spread_of(const HarmonicTable& table, Index count, const double* weights,
               const double* harmonics, double* to) {
    product(count, weights, table.node_stride, table.node_stride, harmonics, table.stride, 0,
            table.stride, to, table.stride, true);
}

void project_of(const HarmonicTable& table, const MultipoleTable& radial, Index degree,
                const double* spread, double* to) {
    const Index orders = (2 * degree + 1 + kOrderTile - 1) / kOrderTile * kOrderTile;
    product(radial.node_count(), spread + degree * degree, table.stride, orders,
            &radial.bessel(degree, 0, 0), radial.q_stride, radial.first_q[degree], radial.q_stride,
            to, radial.q_stride, false);
}

}  // namespace pleat::saxs::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pleat::saxs {

namespace {

constexpr double kPi = 3.14159265358979323846;

/// The degree beyond which (2 l + 1) j_l(x)^2 vanishes in float64.
Index far_degree(double x) { return static_cast<Index>(x + 16.0 * std::cbrt(x + 1.0)) + 24; }

/// j_0(x), ..., j_{count - 1}(x), by Miller's downward recurrence.
void spherical_bessel(double x, Index count, double* values) {
    if (x < 1e-8) {
        std::fill_n(values, count, 0.0);
        values[0] = 1.0;
        if (count > 1) values[1] = x / 3.0;
        return;
    }
    const Index start = std::max(count, far_degree(x)) + 16;
    double above = 0.0, here = 1e-100, sum = 0.0;
    constexpr double kHuge = 1e100;
    for (Index l = start; l >= 0; --l) {
        // `here` is j_l times an unknown factor, which is determined at the end from sum_l (2 l +
        // 1) j_l^2 = 1.
        if (l < count) values[l] = here;
        sum += static_cast<double>(2 * l + 1) * here * here;
        const double below = static_cast<double>(2 * l + 1) / x * here - above;
        above = here;
        here = below;
        if (sum > 1e200) {
            above /= kHuge;
            here /= kHuge;
            sum /= kHuge * kHuge;
            for (Index n = l; n < count; ++n) values[n] /= kHuge;
        }
    }
    // The sign: by j_0 or j_1, whichever is not near a zero.
    const double j0 = std::sin(x) / x, j1 = (j0 - std::cos(x)) / x;
    double scale = 1.0 / std::sqrt(sum);
    // After the last step `above` is j_0 but for the factor; j_1 follows from j_{-1} = cos(x) / x.
    const double v0 = above;
    const double v1 = count > 1 ? values[1] : v0 / x - here;
    if (std::fabs(j0) > std::fabs(j1) ? (j0 < 0) != (v0 < 0) : (j1 < 0) != (v1 < 0)) scale = -scale;
    for (Index l = 0; l < count; ++l) values[l] *= scale;
}

/// The number of degrees whose remainder is at most kMultipoleError.
Index degrees_for(double x) {
    const Index largest = far_degree(x);
    constexpr double kVast = 1e4;  // too many harmonics for any memory: a bound suffices
    if (x > kVast) return largest;
    std::vector<double> values(largest);
    spherical_bessel(x, largest, values.data());
    double left = 0.0;
    for (Index l = largest - 1; l >= 0; --l) {
        const double value = values[l];
        left += static_cast<double>(2 * l + 1) * value * value;
        if (left > kMultipoleError) return l + 1;
    }
    return 1;
}

/// Number of nodes that interpolate waves up to q on [0, R]: the Chebyshev coefficients of exp(i q
/// r) are Bessel functions of z = q R / 2, which decay beyond order z like spherical ones.
Index nodes_for(double z) { return static_cast<Index>(z + 5.5 * std::cbrt(z + 1.0)) + 10; }

}  // namespace

MultipoleSize multipole_size(double wave, double radius) {
    return {degrees_for(wave * radius), nodes_for(0.5 * wave * radius)};
}

double rounded_radius(double radius) {
    constexpr double kStep = 1.04;
    return std::pow(kStep, std::ceil(std::log(std::max(radius, 1.0)) / std::log(kStep)));
}

FrameSphere enclosing_sphere(View<const float, 2> xyz) {
    FrameSphere sphere;
    for (std::size_t axis = 0; axis < 3; ++axis) {
        const View<const float, 1> all = xyz[static_cast<Index>(axis)];
        float smallest = all(0), largest = all(0);
        for (const float x : all) {
            smallest = std::min(smallest, x);
            largest = std::max(largest, x);
        }
        sphere.centre[axis] = 0.5 * (double{smallest} + double{largest});
    }
    double square = 0.0;
    for (Index n = 0; n < xyz.extent(1); ++n) {
        const double x = double{xyz(0, n)} - sphere.centre[0],
                     y = double{xyz(1, n)} - sphere.centre[1],
                     z = double{xyz(2, n)} - sphere.centre[2];
        square = std::max(square, x * x + y * y + z * z);
    }
    // Rounding must not leave a scatterer outside.
    sphere.radius = std::sqrt(square) * (1.0 + 1e-12);
    return sphere;
}

MultipoleTable::MultipoleTable(std::span<const double> q, double within)
    : radius(within), q_count(std::ssize(q)), q_stride((q_count + kQPad - 1) / kQPad * kQPad) {
    const MultipoleSize size = multipole_size(q.back(), radius);
    for (Index n = 0; n < size.nodes; ++n) {
        const double angle = kPi * (static_cast<double>(n) + 0.5) / static_cast<double>(size.nodes);
        nodes.push_back(0.5 * radius * (1.0 - std::cos(angle)));
    }
    barycentric = barycentric_factors(nodes.size());
    bessel = Array<double, 3>(size.degrees, size.nodes, q_stride);
    first_q.assign(size.degrees, 0);
    std::vector<double> values(size.degrees);
    for (Index k = 0; k < q_count; ++k) {
        const double wave = q[k];
        const Index degrees = std::min(degrees_for(wave * radius), size.degrees);
        for (Index l = degrees; l < size.degrees; ++l) first_q[l] = (k + 1) / kQPad * kQPad;
        for (Index n = 0; n < size.nodes; ++n) {
            spherical_bessel(wave * nodes[n], degrees, values.data());
            for (Index l = 0; l < degrees; ++l) bessel(l, n, k) = values[l];
        }
    }
}

HWY_EXPORT(harmonics_of);
HWY_EXPORT(spread_of);
HWY_EXPORT(project_of);

namespace {

constexpr Index round_up(Index value, Index to) { return (value + to - 1) / to * to; }

}  // namespace

HarmonicTable::HarmonicTable(Index count, Index nodes)
    : degrees(count),
      stride(round_up(count * count + kOrderTile, 48)),
      node_stride(round_up(nodes, 8)),
      factor(count, count + 16),
      share(count, count + 16) {
    for (Index degree = 1; degree < degrees; ++degree) {
        for (Index order = 0; order < degree; ++order) {
            const double l = static_cast<double>(degree), m = static_cast<double>(order);
            factor(degree, order) = std::sqrt((4.0 * l * l - 1.0) / (l * l - m * m));
            const double k = l - 1.0;
            share(degree, order) =
                degree > 1 ? std::sqrt(std::max(0.0, (k * k - m * m) / (4.0 * k * k - 1.0))) : 0.0;
        }
    }
}

void real_harmonics(const HarmonicTable& table, const double* direction, double* scratch,
                    double* to) {
    HWY_DYNAMIC_DISPATCH(harmonics_of)(table, direction, scratch, to);
}

void spread_harmonics(const HarmonicTable& table, Index count, const double* weights,
                      const double* harmonics, double* to) {
    HWY_DYNAMIC_DISPATCH(spread_of)(table, count, weights, harmonics, to);
}

void project_degree(const HarmonicTable& table, const MultipoleTable& radial, Index degree,
                    const double* spread_harmonics, double* to) {
    HWY_DYNAMIC_DISPATCH(project_of)(table, radial, degree, spread_harmonics, to);
}

}  // namespace pleat::saxs
#endif

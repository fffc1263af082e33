// Quadratic forms: the products with one triangle of a matrix, compiled for every instruction set.
#include "pleat/workflows/refine/fit/quadratic_forms.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pleat/workflows/refine/fit/quadratic_forms.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace pleat::refine::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr std::size_t kColumns = QuadraticForms::kColumns;

/// p_a' T p_b + p_b' T p_a of the triangle T for a <= b, and v' p_a.
struct Products {
    double squares[3][3] = {}, linear[3] = {};
};

/// Products with kCount vectors.
template <std::size_t kCount>
Products products_of(const double* HWY_RESTRICT triangle, const double* HWY_RESTRICT vector,
                     const double* const* partial, std::size_t size) {
    static_assert(kCount == 1 || kCount == 3);
    const hn::CappedTag<double, kColumns> d;
    const std::size_t lanes = hn::Lanes(d);
    const double* const rows[3] = {partial[0], partial[kCount / 2], partial[kCount - 1]};
    auto s00 = hn::Zero(d), s01 = s00, s02 = s00, s11 = s00, s12 = s00, s22 = s00;
    auto l0 = s00, l1 = s00, l2 = s00;
    for (std::size_t first = 0; first < size; first += kColumns) {
        const std::size_t last = std::min(first + kColumns, size);
        double columns[3][kColumns] = {};  // of the vectors; 0 behind their ends
        for (std::size_t a = 0; a < kCount; ++a)
            std::copy(rows[a] + first, rows[a] + last, columns[a]);
        for (std::size_t lane = 0; lane < kColumns; lane += lanes) {
            // Separate sums for even and odd rows, because each sum waits for its last addition.
            auto t0 = hn::Zero(d), t1 = t0, t2 = t0, u0 = t0, u1 = t0, u2 = t0;
            const auto add = [&](std::size_t row, auto& v0, auto& v1, auto& v2) HWY_ATTR {
                const auto matrix = hn::LoadU(d, triangle + row * kColumns + lane);
                v0 = hn::MulAdd(matrix, hn::Set(d, rows[0][row]), v0);
                if constexpr (kCount == 3) {
                    v1 = hn::MulAdd(matrix, hn::Set(d, rows[1][row]), v1);
                    v2 = hn::MulAdd(matrix, hn::Set(d, rows[2][row]), v2);
                }
            };
            std::size_t row = 0;
            for (; row + 2 <= last; row += 2) {
                add(row, t0, t1, t2);
                add(row + 1, u0, u1, u2);
            }
            if (row < last) add(row, t0, t1, t2);
            const auto own = hn::LoadU(d, vector + first + lane);
            const auto p0 = hn::LoadU(d, columns[0] + lane);
            t0 = hn::Add(t0, u0);
            s00 = hn::MulAdd(p0, t0, s00);
            l0 = hn::MulAdd(p0, own, l0);
            if constexpr (kCount == 3) {
                const auto p1 = hn::LoadU(d, columns[1] + lane);
                const auto p2 = hn::LoadU(d, columns[2] + lane);
                t1 = hn::Add(t1, u1);
                t2 = hn::Add(t2, u2);
                s01 = hn::MulAdd(p0, t1, hn::MulAdd(p1, t0, s01));
                s02 = hn::MulAdd(p0, t2, hn::MulAdd(p2, t0, s02));
                s12 = hn::MulAdd(p1, t2, hn::MulAdd(p2, t1, s12));
                s11 = hn::MulAdd(p1, t1, s11);
                s22 = hn::MulAdd(p2, t2, s22);
                l1 = hn::MulAdd(p1, own, l1);
                l2 = hn::MulAdd(p2, own, l2);
            }
        }
        triangle += last * kColumns;
    }
    const auto sum = [&](auto lanes_of)
                         HWY_ATTR { return hn::GetLane(hn::SumOfLanes(d, lanes_of)); };
    return {{{2 * sum(s00), sum(s01), sum(s02)}, {0, 2 * sum(s11), sum(s12)}, {0, 0, 2 * sum(s22)}},
            {sum(l0), sum(l1), sum(l2)}};
}

FormPolynomials polynomials(const double* triangle, const double* vector,
                            View<const double, 2> partial, std::size_t size) {
    const bool has_layer = partial.extent(0) == 3;
    const double* const rows[3] = {partial[0].data, partial[has_layer ? 1 : 0].data,
                                   partial[has_layer ? 2 : 0].data};
    const Products of = has_layer ? products_of<3>(triangle, vector, rows, size)
                                  : products_of<1>(triangle, vector, rows, size);
    const auto& s = of.squares;
    return {{s[0][0], 2 * s[0][1], 2 * s[0][2] + s[1][1], 2 * s[1][2], s[2][2]},
            {of.linear[0], of.linear[1], of.linear[2]}};
}

}  // namespace pleat::refine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pleat::refine {
namespace {

HWY_EXPORT(polynomials);

}  // namespace

QuadraticForms::QuadraticForms(const std::vector<double>& matrix, const std::vector<double>& vector)
    : size_(vector.size()), vector_(vector) {
    for (std::size_t first = 0; first < size_; first += kColumns)
        for (std::size_t row = 0; row < std::min(first + kColumns, size_); ++row)
            for (std::size_t column = first; column < first + kColumns; ++column) {
                const double share = column >= size_ || row > column ? 0.0
                                     : row == column                 ? 0.5
                                                                     : 1.0;
                triangle_.push_back(share > 0 ? share * matrix[row * size_ + column] : 0.0);
            }
    vector_.resize((size_ + kColumns - 1) / kColumns * kColumns);
}

FormPolynomials QuadraticForms::polynomials(View<const double, 2> partial) const {
    return HWY_DYNAMIC_DISPATCH(polynomials)(triangle_.data(), vector_.data(), partial, size_);
}

}  // namespace pleat::refine
#endif  // HWY_ONCE

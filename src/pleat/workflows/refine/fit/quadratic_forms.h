// Quadratic forms: a symmetric matrix and a vector, in products with partial profiles.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "pleat/core/view.h"

namespace pleat::refine {

/// I' M I and v' I of the profile I = I_0 + c I_1 + c^2 I_2, as polynomials of c.
struct FormPolynomials {
    std::array<double, 5> square{};
    std::array<double, 3> linear{};

    double square_form_at(double c) const {
        const auto& s = square;
        return s[0] + c * (s[1] + c * (s[2] + c * (s[3] + c * s[4])));
    }
    double linear_form_at(double c) const { return linear[0] + c * (linear[1] + c * linear[2]); }
};

/// A symmetric matrix M [n, n] and a vector v [n].
class QuadraticForms {
public:
    static constexpr std::size_t kColumns = 8;  ///< of M that are multiplied together

    QuadraticForms() = default;
    QuadraticForms(const std::vector<double>& matrix, const std::vector<double>& vector);

    /// `partial` [power of c, n]: one or three profiles.
    FormPolynomials polynomials(View<const double, 2> partial) const;

private:
    std::size_t size_ = 0;
    /// [block of columns][row up to the block's last column, column]: the upper triangle of M with
    /// half of the diagonal.
    std::vector<double> triangle_;
    std::vector<double> vector_;  ///< in whole blocks
};

}  // namespace pleat::refine

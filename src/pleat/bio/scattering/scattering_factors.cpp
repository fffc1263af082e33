// The door to gemmi's tables of the elements, compiled as C++17 because gemmi is not valid C++20.
#include "pleat/bio/scattering/scattering_factors.h"

#include <cmath>

#include "pleat/bio/scattering/gemmi_it92.h"

namespace pleat {

double ScatteringFactor::at(double q) const {
    constexpr double kFourPi = 12.566370614359172;
    const double s2 = (q / kFourPi) * (q / kFourPi);
    double f = c;
    for (std::size_t k = 0; k < a.size(); ++k) f += a[k] * std::exp(-b[k] * s2);
    return f;
}

bool find_scattering_factor(const std::string& symbol, ScatteringFactor& factor) {
    const gemmi::Element element(symbol);
    if (element == gemmi::El::X || !gemmi::IT92<double>::has(element)) return false;
    const auto& table = neutral_atom_coefficients(element.elem);
    for (int k = 0; k < 4; ++k) {
        factor.a[static_cast<std::size_t>(k)] = table.a(k);
        factor.b[static_cast<std::size_t>(k)] = table.b(k);
    }
    factor.c = table.c();
    return true;
}

double van_der_waals_radius(const std::string& symbol) {
    const gemmi::Element element(symbol);
    return element == gemmi::El::X ? 0.0 : static_cast<double>(element.vdw_r());
}

double covalent_radius(const std::string& symbol) {
    const gemmi::Element element(symbol);
    return element == gemmi::El::X ? 0.0 : static_cast<double>(element.covalent_r());
}

}  // namespace pleat

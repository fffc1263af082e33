// The door to gemmi's tables of the elements, compiled as C++17 because gemmi is not valid C++20.
#include "pleat/bio/scattering/scattering_factors.h"

#include <algorithm>
#include <cmath>
#include <cstdint>  // gemmi 0.6.5 uses its types without including it
#include <gemmi/elem.hpp>
#include <gemmi/it92.hpp>
#include <string_view>

namespace pleat {

namespace {

/// Gemmi's coefficients of a neutral atom. Since 0.6 its function takes the charge, too.
template <class Table>
auto coefficients_of_neutral(gemmi::El element, int) -> decltype(Table::get(element, 0)) {
    return Table::get(element, 0);
}
template <class Table>
auto coefficients_of_neutral(gemmi::El element, long) -> decltype(Table::get(element)) {
    return Table::get(element);
}

}  // namespace

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
    const auto& table = coefficients_of_neutral<gemmi::IT92<double>>(element.elem, 0);
    for (int k = 0; k < 4; ++k) {
        factor.a[k] = table.a(k);
        factor.b[k] = table.b(k);
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

namespace {

struct Entry {
    std::string_view symbol;
    double length;  // fm
};

// Column b_c of periodictable/nsf.py (github.com/python-periodictable/periodictable at commit
// 83b643f4, public domain): real part for natural isotope mixtures, or for the only listed isotope;
// from Rauch and Waschkowski (2003) and other sources that it names. Cadmium, samarium, europium
// and gadolinium are left out because their lengths depend on the wavelength; plutonium and curium
// because no isotope is natural.
constexpr Entry kEntries[] = {
    {"H", -3.7409}, {"D", 6.6681},  {"He", 3.0985},  {"Li", -1.93}, {"Be", 7.79},   {"B", 5.30},
    {"C", 6.6472},  {"N", 9.36},    {"O", 5.8037},   {"F", 5.654},  {"Ne", 4.566},  {"Na", 3.63},
    {"Mg", 5.375},  {"Al", 3.449},  {"Si", 4.15071}, {"P", 5.13},   {"S", 2.847},   {"Cl", 9.5792},
    {"Ar", 1.909},  {"K", 3.67},    {"Ca", 4.70},    {"Sc", 12.1},  {"Ti", -3.370}, {"V", -0.443},
    {"Cr", 3.635},  {"Mn", -3.750}, {"Fe", 9.45},    {"Co", 2.49},  {"Ni", 10.3},   {"Cu", 7.718},
    {"Zn", 5.680},  {"Ga", 7.288},  {"Ge", 8.185},   {"As", 6.58},  {"Se", 7.970},  {"Br", 6.79},
    {"Kr", 7.81},   {"Rb", 7.08},   {"Sr", 7.02},    {"Y", 7.75},   {"Zr", 7.16},   {"Nb", 7.054},
    {"Mo", 6.715},  {"Tc", 6.8},    {"Ru", 7.02},    {"Rh", 5.90},  {"Pd", 5.91},   {"Ag", 5.922},
    {"In", 4.065},  {"Sn", 6.2239}, {"Sb", 5.57},    {"Te", 5.68},  {"I", 5.28},    {"Xe", 4.69},
    {"Cs", 5.42},   {"Ba", 5.07},   {"La", 8.24},    {"Ce", 4.84},  {"Pr", 4.44},   {"Nd", 7.87},
    {"Pm", 12.6},   {"Tb", 7.34},   {"Dy", 16.9},    {"Ho", 8.44},  {"Er", 7.79},   {"Tm", 7.07},
    {"Yb", 12.41},  {"Lu", 7.21},   {"Hf", 7.77},    {"Ta", 6.91},  {"W", 4.755},   {"Re", 9.2},
    {"Os", 10.7},   {"Ir", 10.6},   {"Pt", 9.60},    {"Au", 7.90},  {"Hg", 12.595}, {"Tl", 8.776},
    {"Pb", 9.4024}, {"Bi", 8.5242}, {"Ra", 10.0},    {"Th", 10.31}, {"Pa", 9.1},    {"U", 8.417},
    {"Np", 10.55},  {"Am", 8.3},
};

}  // namespace

bool find_neutron_length(const std::string& symbol, double& length) {
    const auto* const entry =
        std::find_if(std::begin(kEntries), std::end(kEntries),
                     [&](const Entry& candidate) { return candidate.symbol == symbol; });
    if (entry == std::end(kEntries)) return false;
    length = entry->length;
    return true;
}

}  // namespace pleat

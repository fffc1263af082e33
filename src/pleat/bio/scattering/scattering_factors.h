// Scattering factors: X-ray form factors of the elements as sums of Gaussians, and neutron lengths.
#pragma once

#include <array>
#include <string>

namespace pleat {

/// f(q) = c + sum_k a_k exp(-b_k (q / 4 pi)^2), in electrons, q in 1/angstrom; neutral atoms,
/// International Tables for Crystallography C (1992), table 6.1.1.4 (Cromer and Mann), for
/// q < 25 1/angstrom.
struct ScatteringFactor {
    std::array<double, 4> a{}, b{};
    double c = 0;

    double at(double q) const;
};

/// Finds the scattering factor of an element ("C", "Se"); returns false if the tables lack it.
bool find_scattering_factor(const std::string& symbol, ScatteringFactor& factor);

/// Van der Waals radius of an element's symbol in angstrom; 0 if unknown.
double van_der_waals_radius(const std::string& symbol);
/// Covalent radius of an element's symbol in angstrom; 0 if unknown.
double covalent_radius(const std::string& symbol);

/// The bound coherent scattering length in fm (1e-15 m) of an element's symbol ("C", "Se"), or of
/// deuterium ("D"); false if the table has none, or if it depends on the wavelength.
bool find_neutron_length(const std::string& symbol, double& length);

}  // namespace pleat

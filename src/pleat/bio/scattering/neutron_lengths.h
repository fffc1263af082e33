// Neutron lengths: how strongly the nuclei of the elements scatter neutrons.
#pragma once

#include <string>

namespace pleat {

/// The bound coherent scattering length in fm (1e-15 m) of an element's symbol ("C", "Se"), or of
/// deuterium ("D"); false if the table has none, or one that depends on the wavelength.
bool find_neutron_length(const std::string& symbol, double& length);

}  // namespace pleat

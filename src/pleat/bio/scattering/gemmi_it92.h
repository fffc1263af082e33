// Gemmi's table of scattering factors; gemmi 0.6 changed its interface, so CMake picks the source
// file.
#pragma once

#include <cstdint>  // gemmi 0.6.5 uses its types without including it
#include <gemmi/elem.hpp>
#include <gemmi/it92.hpp>

namespace pleat {

/// The coefficients of a neutral atom. IT92::has(element) must be true.
const gemmi::IT92<double>::Coef& neutral_atom_coefficients(gemmi::El element);

}  // namespace pleat

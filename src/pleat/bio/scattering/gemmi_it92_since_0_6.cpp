// Gemmi's table of scattering factors, for gemmi 0.6 and newer: atoms and ions.
#include "pleat/bio/scattering/gemmi_it92.h"

namespace pleat {

const gemmi::IT92<double>::Coef& neutral_atom_coefficients(gemmi::El element) {
    return gemmi::IT92<double>::get(element, /*charge=*/0);
}

}  // namespace pleat

// Gemmi's table of scattering factors, for gemmi before 0.6: neutral atoms only.
#include "pleat/bio/scattering/gemmi_it92.h"

namespace pleat {

const gemmi::IT92<double>::Coef& neutral_atom_coefficients(gemmi::El element) {
    return gemmi::IT92<double>::get(element);
}

}  // namespace pleat

// What a build without HDF5 links in place of curve_hdf5.cpp: it refuses NXcanSAS alone.
#include "pleat/bio/scattering/curve_table.h"
#include "pleat/core/error.h"

namespace pleat {

std::vector<CurveTable> curves_from_hdf5(const std::string& file, std::string_view) {
    throw InputError(file, 0,
                     "cannot read HDF5 (NXcanSAS): this build of pleat has no HDF5; text, sasCIF "
                     "and CanSAS XML are read");
}

}  // namespace pleat

// Curve files: what the readers of structured formats (sasCIF, CanSAS XML, NXcanSAS) give.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace pleat {

/// A curve as a file stores it.
struct StoredCurve {
    std::string name;                           ///< by which --curve chooses it
    std::string q_unit;                         ///< as the file has it; empty: it has none
    std::vector<std::array<double, 4>> points;  ///< q, intensity, error, dq; NaN if absent
};

/// Every curve of a sasCIF file: one per scan of _sas_scan_intensity. Throws InputError.
std::vector<StoredCurve> curves_from_cif(const std::string& file, const std::string& text);
/// Every SASdata of a CanSAS 1D file, version 1.0 or 1.1. Throws InputError.
std::vector<StoredCurve> curves_from_xml(const std::string& file, const std::string& text);
/// Every one-dimensional SASdata of an NXcanSAS file in memory. Throws InputError; always if this
/// build has no HDF5.
std::vector<StoredCurve> curves_from_hdf5(const std::string& file, std::string_view bytes);

}  // namespace pleat

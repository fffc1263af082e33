// The door to gemmi for curves of sasCIF, compiled as C++17 because gemmi 0.5.7 is not valid C++20.
#include <algorithm>
#include <gemmi/cif.hpp>
#include <gemmi/numb.hpp>

#include "pleat/bio/scattering/curve_table.h"
#include "pleat/core/error.h"

namespace pleat {

namespace {

/// The unit of q of a scan: of the scan with this id, or of the only scan in the block.
std::string unit_of(gemmi::cif::Block& block, const std::string& scan) {
    std::string only;
    gemmi::cif::Table scans = block.find("_sas_scan.", {"unit", "?id"});
    for (gemmi::cif::Table::Row row : scans) {
        only = row.str(0);
        if (row.has2(1) && row.str(1) == scan) return only;
    }
    return scans.length() == 1 ? only : std::string();
}

void add_curves(gemmi::cif::Block& block, std::vector<CurveTable>& curves) {
    enum { kQ, kIntensity, kCounting, kError, kSystematic, kWidth, kScan };
    gemmi::cif::Table points =
        block.find("_sas_scan_intensity.",
                   {"momentum_transfer", "intensity", "?intensity_su_counting", "?intensity_su",
                    "?intensity_su_systematic", "?resolution_width", "?scan_id"});
    const std::size_t first = curves.size();
    for (gemmi::cif::Table::Row row : points) {
        const auto number = [&](int column) {
            return row.has(static_cast<std::size_t>(column)) ? gemmi::cif::as_number(row[column])
                                                             : NAN;
        };
        const std::string scan = row.has(kScan) ? row.str(kScan) : std::string();
        const std::string name = scan.empty() ? block.name : block.name + "/" + scan;
        const auto known =
            std::find_if(curves.begin() + static_cast<std::ptrdiff_t>(first), curves.end(),
                         [&](const CurveTable& one) { return one.name == name; });
        CurveTable& curve = known != curves.end() ? *known : curves.emplace_back();
        if (curve.rows.empty()) {
            curve.name = name;
            curve.q_unit = unit_of(block, scan);
        }
        double error = NAN;
        for (const int column : {kCounting, kError, kSystematic})
            if (std::isnan(error)) error = number(column);
        curve.rows.emplace_back().values = {number(kQ), number(kIntensity), error, number(kWidth)};
    }
}

}  // namespace

std::vector<CurveTable> curves_from_cif(const std::string& file, const std::string& text) {
    std::vector<CurveTable> curves;
    try {
        gemmi::cif::Document document =
            gemmi::cif::read_memory(text.data(), text.size(), file.c_str());
        for (gemmi::cif::Block& block : document.blocks) add_curves(block, curves);
    } catch (const tao::pegtl::parse_error& error) {
        throw InputError(file, static_cast<std::int64_t>(error.positions().front().line),
                         "expected sasCIF, found what is no CIF");
    } catch (const std::exception&) {
        throw InputError(file, 0, "expected sasCIF, found what is no CIF");
    }
    if (curves.empty())
        throw InputError(
            file, 0,
            "expected a curve, found CIF without _sas_scan_intensity.momentum_transfer "
            "and .intensity");
    return curves;
}

}  // namespace pleat

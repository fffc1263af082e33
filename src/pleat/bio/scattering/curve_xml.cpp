// CanSAS 1D XML: every SASdata of a file with its points and unit, read by pugixml.
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <pugixml.hpp>

#include "pleat/bio/scattering/curve_table.h"
#include "pleat/core/error.h"

namespace pleat {

namespace {

/// Finds children with this name in any XML namespace.
pugi::xpath_query child(const char* name) {
    return pugi::xpath_query((std::string("*[local-name()='") + name + "']").c_str());
}

CurveTable curve_of(const pugi::xml_node& data) {
    static const pugi::xpath_query kPoint = child("Idata"),
                                   kNumbers[] = {child("Q"), child("I"), child("Idev"),
                                                 child("Qdev")};
    CurveTable curve;
    for (const pugi::xpath_node& point : data.select_nodes(kPoint)) {
        std::vector<double>& values = curve.rows.emplace_back().values;
        for (const pugi::xpath_query& query : kNumbers) {
            const pugi::xml_node number = point.node().select_node(query).node();
            const char* const text = number.child_value();
            char* end = nullptr;
            const double value = std::strtod(text, &end);
            values.push_back(end != text ? value : NAN);
            if (values.size() == 1 && curve.q_unit.empty())
                curve.q_unit = number.attribute("unit").value();
        }
    }
    return curve;
}

}  // namespace

std::vector<CurveTable> curves_from_xml(const std::string& file, const std::string& text) {
    pugi::xml_document document;
    const pugi::xml_parse_result parsed = document.load_buffer(text.data(), text.size());
    if (!parsed)
        throw InputError(
            file, 0,
            std::string("expected CanSAS 1D XML, found what is no XML: ") + parsed.description());
    const pugi::xpath_node_set roots = document.select_nodes(child("SASroot"));
    if (roots.empty())
        throw InputError(file, 0, "expected CanSAS 1D XML (SASroot), found XML of another kind");
    std::vector<CurveTable> curves;
    for (const pugi::xpath_node& entry : roots.first().node().select_nodes(child("SASentry"))) {
        std::string name = entry.node().attribute("name").value();
        if (name.empty()) name = entry.node().select_node(child("Title")).node().child_value();
        for (const pugi::xpath_node& data : entry.node().select_nodes(child("SASdata"))) {
            CurveTable curve = curve_of(data.node());
            if (curve.rows.empty()) continue;
            const std::string own = data.node().attribute("name").value();
            curve.name = own.empty() ? name : name.empty() ? own : fmt::format("{}/{}", name, own);
            curves.push_back(std::move(curve));
        }
    }
    if (curves.empty())
        throw InputError(file, 0, "expected a curve (SASdata with Idata), found none");
    return curves;
}

}  // namespace pleat

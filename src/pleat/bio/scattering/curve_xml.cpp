// CanSAS 1D XML: every SASdata of a file with its points and unit, read by pugixml.
#include <cmath>
#include <cstdlib>
#include <functional>
#include <pugixml.hpp>

#include "pleat/bio/scattering/curve_files.h"
#include "pleat/core/error.h"

namespace pleat {

namespace {

/// An element's name without a prefix of its namespace.
std::string_view local_name(const pugi::xml_node& node) {
    const std::string_view name = node.name();
    const std::size_t colon = name.find(':');
    return colon == std::string_view::npos ? name : name.substr(colon + 1);
}

void for_each_child(const pugi::xml_node& parent, std::string_view name,
                    const std::function<void(const pugi::xml_node&)>& visit) {
    for (const pugi::xml_node& child : parent.children())
        if (local_name(child) == name) visit(child);
}

StoredCurve curve_of(const pugi::xml_node& data) {
    StoredCurve curve;
    for_each_child(data, "Idata", [&](const pugi::xml_node& point) {
        std::array<double, 4> values = {NAN, NAN, NAN, NAN};
        for (const pugi::xml_node& child : point.children()) {
            static constexpr std::string_view kNames[] = {"Q", "I", "Idev", "Qdev"};
            for (std::size_t n = 0; n < values.size(); ++n) {
                if (local_name(child) != kNames[n]) continue;
                const char* const text = child.child_value();
                char* end = nullptr;
                const double value = std::strtod(text, &end);
                if (end != text) values[n] = value;
                if (n == 0 && curve.q_unit.empty()) curve.q_unit = child.attribute("unit").value();
            }
        }
        curve.points.push_back(values);
    });
    return curve;
}

}  // namespace

std::vector<StoredCurve> curves_from_xml(const std::string& file, const std::string& text) {
    pugi::xml_document document;
    const pugi::xml_parse_result parsed = document.load_buffer(text.data(), text.size());
    if (!parsed)
        throw InputError(
            file, 0,
            std::string("expected CanSAS 1D XML, found what is no XML: ") + parsed.description());
    const pugi::xml_node root = document.document_element();
    if (local_name(root) != "SASroot")
        throw InputError(file, 0, "expected CanSAS 1D XML (SASroot), found XML of another kind");
    std::vector<StoredCurve> curves;
    for_each_child(root, "SASentry", [&](const pugi::xml_node& entry) {
        std::string name = entry.attribute("name").value();
        for_each_child(entry, "Title", [&](const pugi::xml_node& title) {
            if (name.empty()) name = title.child_value();
        });
        for_each_child(entry, "SASdata", [&](const pugi::xml_node& data) {
            StoredCurve curve = curve_of(data);
            if (curve.points.empty()) return;
            const std::string own = data.attribute("name").value();
            curve.name = own.empty() ? name : name.empty() ? own : name + "/" + own;
            curves.push_back(std::move(curve));
        });
    });
    if (curves.empty())
        throw InputError(file, 0, "expected a curve (SASdata with Idata), found none");
    return curves;
}

}  // namespace pleat

// United atoms: the volumes that heavy atoms with their hydrogens take from water.
#include <fmt/format.h>

#include <cmath>
#include <map>
#include <numbers>

#include "pleat/bio/scattering/scattering_factors.h"
#include "pleat/saxs/model/scatterers.h"

namespace pleat::saxs {

namespace {

constexpr double kHydrogenVolume = 5.15;

double heavy_volume(const std::string& element) {
    // Fraser, MacRae and Suzuki, J. Appl. Cryst. 11:693 (1978), table 1; metals, phosphorus and
    // calcium as in Svergun, Barberato and Koch, J. Appl. Cryst. 28:768 (1995).
    static const std::map<std::string, double, std::less<>> kVolumes = {
        {"H", 5.15},  {"D", 5.15},  {"C", 16.44},  {"N", 2.49},   {"O", 9.13},
        {"S", 19.86}, {"P", 5.73},  {"Mg", 17.16}, {"Ca", 31.89}, {"Mn", 9.20},
        {"Fe", 7.99}, {"Cu", 8.78}, {"Zn", 9.85},  {"Se", 28.73}};
    const auto found = kVolumes.find(element);
    if (found != kVolumes.end()) return found->second;
    const double radius = van_der_waals_radius(element);
    return 4 * std::numbers::pi / 3 * radius * radius * radius;
}

}  // namespace

double UnitedAtom::volume() const { return heavy_volume(element) + hydrogens * kHydrogenVolume; }

double UnitedAtom::radius() const { return std::cbrt(3 * volume() / (4 * std::numbers::pi)); }

std::string UnitedAtom::name() const {
    if (hydrogens == 0) return element;
    return hydrogens == 1 ? element + "H" : fmt::format("{}H{}", element, hydrogens);
}

}  // namespace pleat::saxs

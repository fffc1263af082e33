// Form factors: of united atoms by their elements, of beads from tables, on the grid of q.
#include "pleat/saxs/model/form_factors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>

#include "pleat/bio/scattering/scattering_factors.h"
#include "pleat/core/error.h"
#include "pleat/saxs/fit/spline.h"

namespace pleat::saxs {

namespace {

constexpr double kWaterDensity = 0.334;  // electrons per cubic angstrom

// The part of a site's water that is spread, and its standard deviation in angstrom (README.md).
constexpr double kSpreadPart = 0.3, kSpread = 6;

double element_factor(const std::string& symbol, double q) {
    ScatteringFactor factor;
    if (!find_scattering_factor(symbol, factor))
        throw std::logic_error("scatterers of an element without factors: " + symbol);
    return factor.at(q);
}

void set_atom_factors(const Scatterers& scatterers, Model& model) {
    for (std::size_t t = 0; t < scatterers.atom_types.size(); ++t) {
        for (std::size_t k = 0; k < model.q.size(); ++k) {
            const auto type = static_cast<Index>(t), at = static_cast<Index>(k);
            model.factors(0, type, at) = vacuum_factor(scatterers.atom_types[t], model.q[k]);
            model.factors(1, type, at) = excluded_factor(scatterers.atom_types[t], model.q[k]);
        }
    }
}

void set_bead_factors(const Scatterers& scatterers, const FormFactorTable& table, Model& model) {
    if (model.q.back() > table.q.back() * (1 + 1e-9))
        throw InputError(
            table.source, 0,
            fmt::format("expected q up to {:g} 1/angstrom, where the form factors of the {} model "
                        "end, found {:g}",
                        table.q.back(), name_of(scatterers.resolution), model.q.back()));
    std::vector<double> column(table.q.size());
    for (std::size_t t = 0; t < scatterers.type_names.size(); ++t) {
        const auto column_of_type =
            std::find(table.types.begin(), table.types.end(), scatterers.type_names[t]);
        if (column_of_type == table.types.end())
            throw InputError(
                table.source, 0,
                fmt::format("expected form factors of {}, found none", scatterers.type_names[t]));
        for (std::size_t k = 0; k < column.size(); ++k)
            column[k] = table.factors(static_cast<Index>(k), column_of_type - table.types.begin());
        const std::vector<double> factors = interpolate_spline(table.q, column, model.q);
        for (std::size_t k = 0; k < factors.size(); ++k)
            model.factors(0, static_cast<Index>(t), static_cast<Index>(k)) =
                factors[k] + scatterers.excess_electrons[t] * excess_factor(model.q[k]);
    }
}

}  // namespace

double vacuum_factor(const UnitedAtom& atom, double q) {
    return element_factor(atom.element, q) + atom.hydrogens * element_factor("H", q);
}

double excluded_factor(const UnitedAtom& atom, double q) {
    const double volume = atom.volume(), root = std::cbrt(volume);
    return kWaterDensity * volume * std::exp(-root * root * q * q / (4 * std::numbers::pi));
}

double layer_spread(double q) {
    return 1 - kSpreadPart + kSpreadPart * std::exp(-kSpread * kSpread * q * q / 2);
}

double hydration_factor(double q) {
    static const UnitedAtom kWater{"O", 2};
    return (vacuum_factor(kWater, q) - excluded_factor(kWater, q)) * layer_spread(q);
}

double net_electrons(const UnitedAtom& atom) {
    return vacuum_factor(atom, 0) - excluded_factor(atom, 0);
}

double excess_factor(double q) {
    static const UnitedAtom kGroup{"C", 1};
    return vacuum_factor(kGroup, q) / vacuum_factor(kGroup, 0);
}

Model make_model(const Scatterers& scatterers, const FormFactorTable* table,
                 std::span<const double> q, Index sites) {
    const bool is_atomic = scatterers.resolution == Resolution::all_atom;
    const Index channels = is_atomic ? kAtomChannels : kBeadChannels;
    // The last type is that of the hydration layer, which scatters in the last channel only.
    const auto water = static_cast<Index>(scatterers.type_names.size());
    Model model;
    model.q.assign(q.begin(), q.end());
    model.types = scatterers.types;
    model.types.resize(model.types.size() + static_cast<std::size_t>(sites),
                       static_cast<std::int32_t>(water));
    model.factors = Array<double, 3>(channels, water + 1, static_cast<Index>(q.size()));
    model.scaled.assign(static_cast<std::size_t>(channels), 0);
    model.scaled.back() = 1;
    if (is_atomic) {
        set_atom_factors(scatterers, model);
    } else {
        set_bead_factors(scatterers,
                         table != nullptr ? *table : derived_form_factors(scatterers.resolution),
                         model);
    }
    for (std::size_t k = 0; k < q.size(); ++k)
        model.factors(channels - 1, water, static_cast<Index>(k)) = hydration_factor(q[k]);
    return model;
}

}  // namespace pleat::saxs

// Neutrons: which hydrogens exchange, lengths by element, and sums that are linear in the solvent.
#include "pleat/saxs/model/neutrons.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>
#include <stdexcept>

#include "pleat/bio/scattering/scattering_factors.h"
#include "pleat/core/error.h"
#include "pleat/core/files/text.h"
#include "pleat/saxs/model/form_factors.h"
#include "pleat/saxs/model/hydrogens.h"

namespace pleat::saxs {

namespace {

constexpr double kSolventVolume = 29.9;  // angstrom^3 a molecule, of H2O and D2O

double length_of(const std::string& symbol) {
    double length = 0;
    if (!find_neutron_length(symbol, length))
        throw std::logic_error("scatterers of an element without a scattering length: " + symbol);
    return length;
}

/// Form factor times volume displaced by a united atom, angstrom^3, with Fraser's shape.
double displaced_volume(const UnitedAtom& atom, double q) {
    const double volume = atom.volume(), root = std::cbrt(volume);
    return volume * std::exp(-root * root * q * q / (4 * std::numbers::pi));
}

double layer_factor(double q) {
    static const UnitedAtom kWater{"O", 2};
    return (kSolventVolume - displaced_volume(kWater, q)) * layer_spread(q);
}

double exchange_step() { return length_of("D") - length_of("H"); }

/// Determines which hydrogens of a topology's atoms exchange.
class Exchange {
public:
    Exchange(const Topology& topology, View<const float, 2> xyz, double backbone)
        : topology_(topology), xyz_(xyz), backbone_(backbone) {}

    /// The exchanging fraction of the hydrogens on this heavy atom, or of this hydrogen; negative
    /// if they are not labile.
    double fraction(Index atom) const {
        const Index heavy = is_hydrogen(element(atom)) ? heavy_atom_of(atom) : atom;
        if (heavy < 0) return -1;
        const std::string& symbol = element(heavy);
        if (symbol != "N" && symbol != "O" && symbol != "S") return -1;
        return is_backbone_nitrogen(heavy) ? backbone_ : 1;
    }

private:
    const std::string& element(Index atom) const { return at(atom).element; }
    const Topology::Atom& at(Index atom) const { return topology_.atoms[atom]; }
    /// The atoms [first, last) around this one that belong to its residue.
    std::pair<Index, Index> residue_around(Index atom) const {
        Index first = atom, last = atom + 1;
        while (first > 0 && at(first - 1).residue == at(atom).residue) --first;
        while (last < topology_.atom_count() && at(last).residue == at(atom).residue) ++last;
        return {first, last};
    }
    Index heavy_atom_of(Index hydrogen) const {
        const auto [first, last] = residue_around(hydrogen);
        return nearest_heavy_atom(topology_, xyz_, hydrogen, first, last);
    }
    bool is_backbone_nitrogen(Index atom) const {
        if (at(atom).name != "N" || at(atom).element != "N") return false;
        const auto [first, last] = residue_around(atom);
        bool has_alpha = false, has_carbonyl = false;
        for (Index j = first; j < last; ++j) {
            has_alpha = has_alpha || (at(j).name == "CA" && at(j).element == "C");
            has_carbonyl = has_carbonyl || at(j).name == "C";
        }
        return has_alpha && has_carbonyl;
    }

    const Topology& topology_;
    const View<const float, 2> xyz_;
    const double backbone_;
};

void check_lengths(const Topology& topology, const Scatterers& scatterers) {
    Complaints complaints(topology.source.string());
    std::set<std::string> reported;
    for (const UnitedAtom& type : scatterers.atom_types) {
        double length = 0;
        if (find_neutron_length(type.element, length) || !reported.insert(type.element).second)
            continue;
        complaints.add(0,
                       fmt::format("expected elements with a neutron scattering length that does "
                                   "not depend on the wavelength, found {}",
                                   type.element));
    }
    complaints.throw_if_any();
}

}  // namespace

std::map<std::string, double> parse_deuteration(const std::string& text) {
    std::map<std::string, double> fractions;
    if (text.empty()) return fractions;
    for (const std::string_view one : split(text, ',')) {
        const std::size_t colon = one.find(':');
        const std::string chain(one.substr(0, colon));
        double fraction = 1;
        if (chain.empty() ||
            (colon != std::string_view::npos && !parse_number(one.substr(colon + 1), fraction)) ||
            !(fraction >= 0 && fraction <= 1) || !fractions.emplace(chain, fraction).second)
            throw UsageError(
                fmt::format("expected --deuterate CHAIN[:FRACTION],... with each chain once and "
                            "fractions from 0 to 1, found '{}' in '{}'",
                            one, text));
    }
    return fractions;
}

double NeutronAtom::length() const {
    const bool is_bare = is_hydrogen(atom.element);
    const double heavy = is_bare ? 0 : length_of(atom.element);
    const double count = is_bare ? 1 : atom.hydrogens;
    if (is_labile) return heavy + count * length_of("H");
    if (atom.element == "D") return length_of("D");
    return heavy + count * (length_of("H") + deuteration * exchange_step());
}

double NeutronAtom::exchange_gain() const {
    if (!is_labile) return 0;
    const double count = is_hydrogen(atom.element) ? 1 : atom.hydrogens;
    return count * exchange * exchange_step();
}

NeutronAtoms make_neutron_atoms(const Topology& topology, View<const float, 2> xyz,
                                const Scatterers& scatterers,
                                const std::map<std::string, double>& deuteration,
                                double backbone_exchange) {
    check_lengths(topology, scatterers);
    const Exchange exchange(topology, xyz, backbone_exchange);
    NeutronAtoms result;
    for (Index s = 0; s < scatterers.count(); ++s) {
        const Index member = scatterers.members[scatterers.starts[s]];
        NeutronAtom atom;
        atom.atom = scatterers.atom_types[scatterers.types[s]];
        if (atom.atom.hydrogens > 0 || is_hydrogen(atom.atom.element)) {
            const double fraction = exchange.fraction(member);
            atom.is_labile = fraction >= 0;
            // The NH3+ at the start of a chain is not a backbone NH.
            atom.exchange = atom.is_labile && atom.atom.hydrogens > 1 ? 1 : std::max(fraction, 0.0);
            const auto chain = deuteration.find(topology.residue_of(member).chain);
            if (!atom.is_labile && chain != deuteration.end()) atom.deuteration = chain->second;
        }
        auto match = std::ranges::find(result.types, atom);
        if (match == result.types.end()) {
            result.types.push_back(atom);
            match = std::prev(result.types.end());
        }
        result.type_of.push_back(static_cast<std::int32_t>(match - result.types.begin()));
    }
    return result;
}

double solvent_density(double d2o) {
    return (2 * length_of("H") + length_of("O") + 2 * d2o * exchange_step()) / kSolventVolume;
}

double layer_volume() { return layer_factor(0); }

double match_point(double length, double gain, double volume) {
    const double light = solvent_density(0), heavy = solvent_density(1);
    const double slope = (heavy - light) * volume - gain;
    return slope == 0 ? NAN : (length - light * volume) / slope;
}

Model make_neutron_model(const NeutronAtoms& atoms, std::span<const double> q, Index sites) {
    const auto water = std::ssize(atoms.types);
    Model model = model_without_factors(atoms.type_of, water, kNeutronChannels, q, sites);
    for (std::size_t n = 0; n < q.size(); ++n) {
        const auto k = static_cast<Index>(n);
        for (Index t = 0; t < water; ++t) {
            const NeutronAtom& atom = atoms.types[t];
            model.factors(0, t, k) = atom.length();
            model.factors(1, t, k) = atom.exchange_gain();
            model.factors(2, t, k) = displaced_volume(atom.atom, q[n]);
        }
        model.factors(3, water, k) = layer_factor(q[n]);
    }
    return model;
}

namespace {

/// The weights of neutron channels in each channel of a model at one D2O fraction.
Array<double, 2> channel_weights(double d2o) {
    Array<double, 2> weights(kAtomChannels, kNeutronChannels);
    weights(0, 0) = 1;
    weights(0, 1) = d2o;
    weights(1, 2) = weights(2, 3) = solvent_density(d2o);
    return weights;
}

}  // namespace

Model at_d2o_fraction(const Model& neutron_model, double d2o) {
    const Array<double, 2> weights = channel_weights(d2o);
    Model model;
    model.q = neutron_model.q;
    model.types = neutron_model.types;
    model.scaled = {0, 0, 1};
    model.factors =
        Array<double, 3>(kAtomChannels, neutron_model.type_count(), neutron_model.q_count());
    for (Index a = 0; a < kAtomChannels; ++a)
        for (Index c = 0; c < kNeutronChannels; ++c)
            for (Index t = 0; t < model.type_count(); ++t)
                for (Index k = 0; k < model.q_count(); ++k)
                    model.factors(a, t, k) += weights(a, c) * neutron_model.factors(c, t, k);
    return model;
}

Array<double, 2> at_d2o_fraction(View<const double, 2> neutron_partial, double d2o) {
    const Array<double, 2> weights = channel_weights(d2o);
    Array<double, 2> partial(kAtomChannels * (kAtomChannels + 1) / 2, neutron_partial.extent(1));
    // Profiles of pairs of different channels contain both orders.
    for (Index a = 0; a < kAtomChannels; ++a)
        for (Index b = a; b < kAtomChannels; ++b)
            for (Index c = 0; c < kNeutronChannels; ++c)
                for (Index d = c; d < kNeutronChannels; ++d) {
                    double weight = weights(a, c) * weights(b, d);
                    if (a != b && c != d)
                        weight += weights(a, d) * weights(b, c);
                    else if (a != b)
                        weight *= 2;
                    if (weight == 0) continue;
                    const Index to = channel_pair(a, b, kAtomChannels);
                    const Index from = channel_pair(c, d, kNeutronChannels);
                    for (Index k = 0; k < partial.extent(1); ++k)
                        partial(to, k) += weight * neutron_partial(from, k);
                }
    return partial;
}

}  // namespace pleat::saxs

// Calibration case: the profile of a structure's atoms, and sums over the pairs of its beads.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "calibration.h"
#include "pleat/core/error.h"
#include "pleat/saxs/debye/debye.h"
#include "pleat/saxs/model/form_factors.h"
#include "pleat/saxs/model/hydrogens.h"
#include "pleat/saxs/model/scatterers.h"

namespace pleat::saxs {

namespace {

constexpr std::size_t kPoints = 51;
constexpr double kStep = 0.015;

std::string amino_acid(const Topology::Residue& residue) {
    return residue.name == "MSE" ? "MET" : std::string(common_residue_name(residue.name));
}

/// Throws InputError unless there are enough residues, almost all of them with all heavy atoms.
void check_complete(const Topology& topology) {
    constexpr Index kMin = 40;
    std::vector<Index> counts(topology.residues.size(), 0);
    for (const Topology::Atom& atom : topology.atoms)
        counts[static_cast<std::size_t>(atom.residue)] +=
            atom.element != "H" && atom.element != "D";
    Index complete = 0;
    for (std::size_t r = 0; r < counts.size(); ++r)
        complete += counts[r] >= complete_residue_atoms(amino_acid(topology.residues[r]));
    const auto residues = static_cast<Index>(counts.size());
    if (residues < kMin || 20 * complete < 19 * residues)
        throw InputError(topology.source.string(), 0,
                         fmt::format("expected {} or more residues, 95 % of them with all heavy "
                                     "atoms, found {} of {}",
                                     kMin, complete, residues));
}

std::vector<std::uint32_t> quadruples_of(const Topology& topology) {
    const std::vector<std::string> names = bead_types(Resolution::one_bead);
    std::vector<std::uint32_t> quadruples;
    std::uint32_t letters = 0;
    Index length = 0;
    for (std::size_t r = 0; r < topology.residues.size(); ++r) {
        const auto name = std::find(names.begin(), names.end(), amino_acid(topology.residues[r]));
        if (r > 0 && topology.residues[r].chain != topology.residues[r - 1].chain) length = 0;
        letters = letters << 8 | static_cast<std::uint32_t>(name - names.begin());
        if (++length >= 4) quadruples.push_back(letters);
    }
    std::sort(quadruples.begin(), quadruples.end());
    quadruples.erase(std::unique(quadruples.begin(), quadruples.end()), quadruples.end());
    return quadruples;
}

/// Atoms with net amplitudes.
Model net_model(const Scatterers& atoms) {
    const std::vector<double> q = calibration_grid();
    const Model full = make_model(atoms, nullptr, q);
    Model net;
    net.q = q;
    net.types = full.types;
    net.scaled = {0};
    net.factors = Array<double, 3>(1, full.type_count(), full.q_count());
    for (Index t = 0; t < full.type_count(); ++t) {
        for (Index k = 0; k < full.q_count(); ++k)
            net.factors(0, t, k) = full.factors(0, t, k) - full.factors(1, t, k);
    }
    return net;
}

std::vector<double> reference_profile(const Model& net, const Scatterers& atoms,
                                      View<const float, 2> xyz, const Context& context) {
    Array<float, 3> positions(1, 3, atoms.count());
    set_centres_of_mass(atoms, xyz, positions[0]);
    Context alone = context;
    alone.progress = nullptr;
    const Array<double, 3> profile = profiles(
        net, positions, {}, {.precision = Precision::float64, .method = Method::debye}, alone);
    return {profile.begin(), profile.end()};
}

double distance(View<const float, 2> a, Index i, View<const float, 2> b, Index j) {
    double r2 = 0;
    for (Index axis = 0; axis < 3; ++axis) {
        const double d = static_cast<double>(a(axis, i)) - static_cast<double>(b(axis, j));
        r2 += d * d;
    }
    return std::sqrt(r2);
}

/// sin(q r) / (q r) on the grid, by the recurrence of sines of multiples of an angle.
std::array<double, kPoints> sinc_on_grid(double r) {
    std::array<double, kPoints> values;
    values.fill(1);
    const double angle = kStep * r;
    if (angle < 1e-9) return values;
    double before = 0, sine = std::sin(angle);
    const double twice_cosine = 2 * std::cos(angle);
    for (std::size_t k = 1; k < kPoints; ++k) {
        values[k] = sine / (static_cast<double>(k) * angle);
        before = std::exchange(sine, twice_cosine * sine - before);
    }
    return values;
}

/// Sums over pairs of beads, [q][row][column].
class PairSums {
public:
    PairSums(const Scatterers& beads, std::size_t types)
        : beads_(beads), types_(types), rows_(types + 1), sums_(rows_ * rows_ * kPoints, 0) {}

    std::vector<double> run(View<const float, 2> positions, const std::vector<std::size_t>& types) {
        for (Index i = 0; i < beads_.count(); ++i) {
            for (Index j = 0; j <= i; ++j)
                add(i, j, types, sinc_on_grid(distance(positions, i, positions, j)));
        }
        std::vector<double> by_q(sums_.size());
        for (std::size_t n = 0; n < rows_ * rows_; ++n) {
            for (std::size_t k = 0; k < kPoints; ++k)
                by_q[k * rows_ * rows_ + n] = sums_[n * kPoints + k];
        }
        return by_q;
    }

private:
    struct Entry {
        std::size_t row;
        double weight;
    };

    std::array<Entry, 2> entries(Index bead, const std::vector<std::size_t>& types) const {
        const auto b = static_cast<std::size_t>(bead);
        return {{{types[b], 1},
                 {types_, beads_.excess_electrons[static_cast<std::size_t>(beads_.types[b])]}}};
    }

    void add(Index i, Index j, const std::vector<std::size_t>& types,
             const std::array<double, kPoints>& values) {
        for (const Entry& a : entries(i, types)) {
            for (const Entry& b : entries(j, types)) {
                const double weight = a.weight * b.weight;
                if (weight == 0) continue;
                add_values(a.row, b.row, weight, values);
                if (i != j) add_values(b.row, a.row, weight, values);
            }
        }
    }

    void add_values(std::size_t row, std::size_t column, double weight,
                    const std::array<double, kPoints>& values) {
        double* const sums = &sums_[(row * rows_ + column) * kPoints];
        for (std::size_t k = 0; k < kPoints; ++k) sums[k] += weight * values[k];
    }

    const Scatterers& beads_;
    const std::size_t types_, rows_;
    std::vector<double> sums_;  // [row][column][q]
};

/// The table's type of each bead: that of the complete one with its name.
std::vector<std::size_t> complete_types(const Scatterers& beads,
                                        const std::vector<std::string>& names) {
    std::vector<std::size_t> types;
    for (const std::int32_t type : beads.types) {
        const std::string& name = beads.type_names[static_cast<std::size_t>(type)];
        types.push_back(
            static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin()));
    }
    return types;
}

/// Adds each complete bead to counts and amplitudes.
void sum_amplitudes(const Scatterers& beads, const std::vector<std::size_t>& types,
                    View<const float, 2> positions, const Scatterers& atoms, const Model& net,
                    View<const float, 2> xyz, CalibrationCase& result) {
    std::vector<Index> type_of_atom(static_cast<std::size_t>(xyz.extent(1)), 0);
    for (std::size_t i = 0; i < atoms.types.size(); ++i)
        type_of_atom[static_cast<std::size_t>(atoms.members[i])] = atoms.types[i];
    for (Index bead = 0; bead < beads.count(); ++bead) {
        const auto b = static_cast<std::size_t>(bead);
        result.bead_counts[types[b]] += 1;
        if (beads.excess_electrons[static_cast<std::size_t>(beads.types[b])] != 0) continue;
        result.complete_counts[types[b]] += 1;
        for (Index m = beads.starts[b]; m < beads.starts[b + 1]; ++m) {
            const Index atom = beads.members[static_cast<std::size_t>(m)];
            const auto values = sinc_on_grid(distance(xyz, atom, positions, bead));
            for (std::size_t k = 0; k < kPoints; ++k)
                result.amplitudes[types[b] * kPoints + k] +=
                    values[k] * net.factors(0, type_of_atom[static_cast<std::size_t>(atom)],
                                            static_cast<Index>(k));
        }
    }
}

/// Whether two rising lists share more than 15 % of the shorter one.
bool are_similar(const std::vector<std::uint32_t>& a, const std::vector<std::uint32_t>& b) {
    std::vector<std::uint32_t> shared;
    std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(shared));
    return 100 * shared.size() > 15 * std::min(a.size(), b.size());
}

}  // namespace

std::vector<double> calibration_grid() {
    std::vector<double> q;
    for (std::size_t k = 0; k < kPoints; ++k) q.push_back(kStep * static_cast<double>(k));
    return q;
}

CalibrationCase make_case(std::string name, const Topology& topology, View<const float, 2> xyz,
                          Resolution resolution, const Context& context) {
    const Scatterers atoms = make_scatterers(topology, xyz, {});
    const Scatterers beads = make_scatterers(topology, xyz, {.resolution = resolution});
    check_complete(topology);
    const std::vector<std::string> names = bead_types(resolution);
    const Model net = net_model(atoms);
    CalibrationCase result;
    result.name = std::move(name);
    result.quadruples = quadruples_of(topology);
    result.reference = reference_profile(net, atoms, xyz, context);
    Array<float, 2> positions(3, beads.count());
    set_centres_of_mass(beads, xyz, positions);
    const std::vector<std::size_t> types = complete_types(beads, names);
    result.pair_sums = PairSums(beads, names.size()).run(positions, types);
    result.bead_counts.assign(names.size(), 0);
    result.complete_counts.assign(names.size(), 0);
    result.amplitudes.assign(names.size() * kPoints, 0);
    sum_amplitudes(beads, types, positions, atoms, net, xyz, result);
    return result;
}

std::vector<Index> sequence_clusters(const std::vector<CalibrationCase>& cases) {
    std::vector<std::size_t> first(cases.size());  // an earlier case of the same cluster, or itself
    std::iota(first.begin(), first.end(), std::size_t{0});
    const auto root = [&](std::size_t n) {
        while (first[n] != n) n = first[n];
        return n;
    };
    for (std::size_t a = 0; a < cases.size(); ++a) {
        for (std::size_t b = 0; b < a; ++b) {
            const auto [low, high] = std::minmax({root(a), root(b)});
            if (low != high && are_similar(cases[a].quadruples, cases[b].quadruples))
                first[high] = low;
        }
    }
    std::vector<Index> clusters;
    Index count = 0;
    for (std::size_t n = 0; n < cases.size(); ++n)
        clusters.push_back(first[n] == n ? count++ : clusters[root(n)]);
    return clusters;
}

}  // namespace pleat::saxs

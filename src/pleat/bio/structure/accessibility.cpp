// Accessibility: radii, the largest areas of amino acids, and sums over atoms.
#include "pleat/bio/structure/accessibility.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include "pleat/bio/selection/residue_kinds.h"
#include "pleat/bio/structure/surfaces.h"
#include "pleat/bio/structure/topology_gemmi.h"
#include "pleat/core/error.h"

namespace pleat {

namespace {

/// An amino acid: the number of its heavy atoms, without OXT, and its largest area, angstrom^2.
struct AminoAcid {
    char letter;
    int atoms;
    double largest;
};
constexpr AminoAcid kAminoAcids[] = {{'A', 5, 129},  {'R', 11, 274}, {'N', 8, 195},  {'D', 8, 193},
                                     {'C', 6, 167},  {'Q', 9, 225},  {'E', 9, 223},  {'G', 4, 104},
                                     {'H', 10, 224}, {'I', 8, 197},  {'L', 8, 201},  {'K', 9, 236},
                                     {'M', 8, 224},  {'F', 11, 240}, {'P', 7, 159},  {'S', 6, 155},
                                     {'T', 7, 172},  {'W', 14, 285}, {'Y', 12, 263}, {'V', 7, 174}};

/// Angstrom, without hydrogens (Bondi, J. Phys. Chem. 68:441, 1964); others as sulfur.
double radius_of(std::string_view element) {
    if (element == "C") return 1.70;
    if (element == "N") return 1.55;
    if (element == "O") return 1.52;
    return 1.80;
}

}  // namespace

Accessibility accessibility(const Topology& topology, View<const float, 2> centres,
                            std::span<const char> counted, const Context& context) {
    if (!topology.named)
        throw InputError(topology.source.string(), 0,
                         "expected atoms with names, found coordinates alone");
    constexpr double kProbe = 1.4;
    const std::vector<selection::ResidueKind> kinds = selection::residue_kinds(topology);
    std::vector<Index> kept;
    for (Index atom = 0; atom < topology.atom_count(); ++atom) {
        const Topology::Atom& one = topology.atoms[atom];
        const selection::ResidueKind kind = kinds[one.residue];
        if (counted[atom] != 0 && kind != selection::ResidueKind::water &&
            !selection::is_hydrogen(one) && !selection::is_dummy(one, kind))
            kept.push_back(atom);
    }
    Array<float, 2> at(3, std::ssize(kept));
    std::vector<double> radii;
    for (std::size_t n = 0; n < kept.size(); ++n) {
        for (Index axis = 0; axis < 3; ++axis) {
            at(axis, static_cast<Index>(n)) = centres(axis, kept[n]);
            if (!std::isfinite(centres(axis, kept[n])))
                throw InputError(topology.source.string(), 0,
                                 fmt::format("expected finite coordinates, found {} in atom {}",
                                             centres(axis, kept[n]), kept[n] + 1));
        }
        radii.push_back(radius_of(topology.atoms[kept[n]].element));
    }
    const std::vector<double> fractions = exposed_fractions(at, radii, kProbe, context);
    constexpr double kSphere = 12.566370614359172;  // 4 pi
    Accessibility found{std::vector<double>(topology.residues.size()), {}};
    std::vector<int> atoms(topology.residues.size());
    for (std::size_t n = 0; n < kept.size(); ++n) {
        const Topology::Atom& one = topology.atoms[kept[n]];
        const double reach = radii[n] + kProbe;
        found.area[one.residue] += kSphere * reach * reach * fractions[n];
        atoms[one.residue] += one.name != "OXT";
    }
    found.relative.assign(found.area.size(), std::numeric_limits<double>::quiet_NaN());
    for (std::size_t r = 0; r < found.area.size(); ++r) {
        if (kinds[r] != selection::ResidueKind::protein) continue;
        const char letter = residue_letter(topology.residues[r].name);
        for (const AminoAcid& one : kAminoAcids)
            if (one.letter == letter && atoms[r] >= one.atoms)
                found.relative[r] = found.area[r] / one.largest;
    }
    return found;
}

}  // namespace pleat

// Made chains: peptides of ideal geometry, as a test wants them.
#pragma once

#include <cmath>
#include <memory>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "pleat/core/array.h"
#include "pleat/workflows/refine/chain/chain_model.h"
#include "pleat/workflows/refine/chain/symmetry.h"

namespace pleat::refine::test {

inline constexpr double kDegree = std::numbers::pi / 180;

/// A chain of N, CA, C, O and CB atoms.
struct MadeChain {
    std::shared_ptr<Topology> topology = std::make_shared<Topology>();
    std::vector<Vector> atoms;

    void add(const std::string& name, Vector at) {
        topology->atoms.push_back(
            {name, name.substr(0, 1), 12.0, static_cast<Index>(topology->residues.size()) - 1});
        atoms.push_back(at);
    }
    Array<float, 2> xyz() const {
        Array<float, 2> all(Index{3}, static_cast<Index>(atoms.size()));
        for (std::size_t n = 0; n < atoms.size(); ++n) {
            const auto at = static_cast<Index>(n);
            all(0, at) = static_cast<float>(atoms[n].x);
            all(1, at) = static_cast<float>(atoms[n].y);
            all(2, at) = static_cast<float>(atoms[n].z);
        }
        return all;
    }
};

/// The residue names of a sequence of A, G, P, V, C and S.
inline std::string residue_name(char letter) {
    switch (letter) {
        case 'G': return "GLY";
        case 'P': return "PRO";
        case 'V': return "VAL";
        case 'C': return "CYS";
        case 'S': return "SER";
        default: return "ALA";
    }
}

/// Adds a peptide of these letters, numbered from 1, all with the same phi and psi (degrees),
/// beginning at `origin`.
inline void add_peptide(MadeChain& made, const std::string& letters, const std::string& chain,
                        double phi = -120, double psi = 130, Vector origin = {}) {
    Vector c{origin.x, origin.y, origin.z}, ca = c + Vector{-1.0, 1.1, 0.2},
                                            n = ca + Vector{-1.2, -0.3, 0.8};
    for (std::size_t k = 0; k < letters.size(); ++k) {
        const Vector next_n = point_from_internal(n, ca, c, 1.329, 116.6 * kDegree, psi * kDegree),
                     next_ca =
                         point_from_internal(ca, c, next_n, 1.458, 121.7 * kDegree, 180 * kDegree),
                     next_c = point_from_internal(c, next_n, next_ca, 1.525, 111.0 * kDegree,
                                                  phi * kDegree);
        n = next_n;
        ca = next_ca;
        c = next_c;
        made.topology->residues.push_back(
            {residue_name(letters[k]), static_cast<int>(k) + 1, ' ', chain});
        made.add("N", n);
        made.add("CA", ca);
        made.add("C", c);
        made.add("O", point_from_internal(n, ca, c, 1.231, 120.5 * kDegree, (psi + 180) * kDegree));
        if (letters[k] != 'G')
            made.add("CB", point_from_internal(c, n, ca, 1.53, 110.5 * kDegree, 122.6 * kDegree));
    }
}

/// A chain model of one peptide with chain name A.
inline ChainModel made_model(const std::string& letters, const std::string& linkers) {
    MadeChain made;
    add_peptide(made, letters, "A");
    return make_chain_model(made.topology, made.xyz(),
                            {.linkers = parse_ranges(linkers, "--linkers")});
}

/// The turn of copy `number` of an oligomer about the z axis.
inline Transform copy_turn(int number, int order) {
    return rotation_about({}, {0, 0, 1}, 2 * std::numbers::pi * number / order);
}

/// Equal chains A, B, ... about the z axis.
inline MadeChain made_oligomer(const std::string& letters, int order) {
    MadeChain made;
    for (int copy = 0; copy < order; ++copy) {
        const std::size_t first = made.atoms.size();
        add_peptide(made, letters, std::string(1, static_cast<char>('A' + copy)), -120, 130,
                    {14, 0, 0});
        for (std::size_t n = first; n < made.atoms.size(); ++n)
            made.atoms[n] = copy_turn(copy, order)(made.atoms[n]);
    }
    return made;
}

/// The model of such an oligomer whose chains have these linkers, and this part of the core.
inline ChainModel made_symmetric_model(const std::string& letters, const std::string& linkers,
                                       const std::string& group, int order) {
    const MadeChain made = made_oligomer(letters, order);
    HeavyAtoms heavy{made.topology, made.xyz()};
    ChainOptions options{.linkers = parse_ranges(linkers, "linkers"),
                         .groups = {parse_ranges(group, "group")}};
    complete_groups(*made.topology, order, options.groups);
    make_symmetric(order, heavy, options);
    return make_chain_model(heavy.topology, heavy.xyz, options);
}

}  // namespace pleat::refine::test

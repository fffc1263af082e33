// Made assemblies: sets of equal chains, and frames whose chains exchange their places.
#pragma once

#include <algorithm>
#include <random>
#include <vector>

#include "pleat/core/view.h"
#include "pleat/rmsd/rmsd.h"

namespace pleat::rmsd::test {

/// Groups of so many chains of `atoms` atoms each, one after another from atom 1 on.
inline AtomSets chains_of(const std::vector<Index>& chains, Index atoms) {
    AtomSets sets;
    Index next = 1;
    for (const Index count : chains) {
        sets.equal_chains.emplace_back();
        for (Index chain = 0; chain < count; ++chain) {
            sets.equal_chains.back().emplace_back();
            for (Index k = 0; k < atoms; ++k) sets.equal_chains.back().back().push_back(next++);
        }
    }
    return sets;
}

/// Atoms of a frame that has others before, in and after the chains.
inline Index atoms_of(const AtomSets& sets) {
    Index atoms = 3;
    for (const auto& group : sets.equal_chains)
        for (const auto& chain : group) atoms += static_cast<Index>(chain.size());
    return atoms;
}

/// Writes the chains of `frame` to `to`, at each other's places at random.
inline void exchange_chains(View<const float, 2> frame, const AtomSets& sets,
                            std::mt19937_64& random, View<float, 2> to) {
    for (const auto& group : sets.equal_chains) {
        std::vector<std::size_t> places(group.size());
        for (std::size_t n = 0; n < places.size(); ++n) places[n] = n;
        std::shuffle(places.begin(), places.end(), random);
        for (std::size_t n = 0; n < places.size(); ++n)
            for (std::size_t k = 0; k < group[n].size(); ++k)
                for (int axis = 0; axis < 3; ++axis)
                    to(group[n][k], axis) = frame(group[places[n]][k], axis);
    }
}

}  // namespace pleat::rmsd::test

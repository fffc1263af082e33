// Bond tree: a way over bonds from one atom of each molecule to all its selected atoms.
#pragma once

#include <cstdint>
#include <vector>

#include "pleat/bio/periodic/bonds.h"
#include "pleat/core/view.h"

namespace pleat {

/// A tree per molecule that has selected atoms, by breadth first search; branches without a
/// selected atom are cut off.
class BondTree {
public:
    struct Edge {
        std::int32_t atom = 0;
        std::int32_t parent = 0;  ///< comes before, nearer to the root
    };
    struct Molecule {
        Index root = 0;
        std::vector<Edge> edges;
        /// Bonds that close rings between atoms of the tree.
        std::vector<Edge> closing;
        std::vector<Index> selected;  ///< atoms, of `first` if it has some of them
        bool in_first = false;        ///< has atoms of `first`
    };

    BondTree() = default;
    /// `first` and `selected`: indices of atoms in ascending order. Roots are the lowest atoms of
    /// `first`, and of molecules without them the lowest of `selected`, so that two selections with
    /// the same `first` have the same roots.
    BondTree(Index atoms, const std::vector<Bond>& bonds, const std::vector<Index>& first,
             const std::vector<Index>& selected);

    /// In the order of their roots, those with atoms of `first` in front.
    const std::vector<Molecule>& molecules() const { return molecules_; }

private:
    class Search;
    std::vector<Molecule> molecules_;
};

}  // namespace pleat

// Place table: the permutations of superposed atoms as sums of blocks, for devices that try all.
#pragma once

#include <cstdint>
#include <vector>

#include "pleat/rmsd/measures/chain_permutations.h"
#include "pleat/rmsd/measures/order_search.h"

namespace pleat::rmsd {

/// The covariance of a permutation is a sum of blocks, each of some atoms of the row with as many
/// of the column: a chain at the place of another, or a group of atoms in one of its orders.
struct PlaceTable {
    struct Atoms {
        std::vector<Index> row, column;
    };
    std::vector<Atoms> blocks;          ///< the first: the atoms that keep their places
    Index depth = 0;                    ///< blocks of a permutation besides the first
    std::vector<std::int32_t> choices;  ///< [permutation][depth]: blocks; as named first

    Index permutations() const { return static_cast<Index>(choices.size()) / depth; }
};

/// The permutations of equal chains; atoms are positions in the order.
PlaceTable places_of(const ChainOrder& order);
/// The orders of groups among `atoms` atoms.
PlaceTable places_of(const OrderGroups& groups, Index atoms);

/// A device tries so many permutations of so many blocks.
inline constexpr Index kMaxPlaceBlocks = 128;
/// Whether the equal chains or orders of `sets` are so few. Groups of atoms that are not superposed
/// choose their order alone, and are not counted.
bool can_try_all(const AtomSets& sets);

}  // namespace pleat::rmsd

// Permutations: chains and atoms that may take each other's places when frames are superposed.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "pleat/rmsd/measures/comparison.h"

namespace pleat::rmsd {

/// For each chain or group that may change, its block of a PlaceTable.
using PlaceChoice = std::vector<std::int32_t>;

/// The covariance of a permutation is a sum of blocks, each of some atoms of the row with the same
/// number of atoms of the column: a chain at the place of another, or a group of atoms in one of
/// its orders.
struct PlaceTable {
    struct Atoms {
        std::vector<Index> row, column;
    };
    /// Equal chains, which take different places: block first + a * places + b is chain a at place
    /// b. Or one group of atoms, whose places are its orders.
    struct Group {
        Index first = 0, chains = 1, places = 1;
    };
    std::vector<Atoms> blocks;  ///< the first: the atoms that keep their places
    std::vector<Group> groups;
    Index depth = 0;  ///< blocks of a permutation besides the first
    bool are_chains = false;

    /// `groups`: AtomSets::equal_chains or equal_orders, by positions among `atoms` atoms.
    PlaceTable(const std::vector<std::vector<std::vector<Index>>>& equal, bool has_chains,
               Index atoms);
    /// How many permutations there are.
    double permutations() const;
    /// All of them, as named first, the later groups changing fastest.
    std::vector<PlaceChoice> choices() const;
};

/// A device tries up to kMaxPermutations of so many blocks.
inline constexpr Index kMaxPlaceBlocks = 128;
/// Whether the equal chains or orders of `sets` are within these limits. Groups of atoms that are
/// not superposed choose their order independently, and are not counted.
bool can_try_all(const AtomSets& sets);

using Covariance = std::array<double, 9>;  ///< [axis of p][axis of q]

/// The covariance of the atoms of a block in two frames [axis, atom] of `atoms` atoms.
Covariance covariance_of(const PlaceTable::Atoms& block, const double* p, const double* q,
                         Index atoms);

/// Permutations that may be the best; those that are not listed are proven to be worse.
struct PlaceCandidates {
    std::vector<PlaceChoice> choices;
    bool is_proven = true;
};

/// How far a search goes.
struct SearchLimits {
    std::optional<double> tried;     ///< so many permutations are tried one by one; not set: below
    std::int64_t nodes = kMaxNodes;  ///< of more, so many partial placements of chains
};

/// Finds the permutations within `margin` (of the sum of products that superposition reaches) of
/// the best one for frames p and q [axis, atom], which are centred.
///
/// Few permutations (of chains kMaxPermutations, of orders 64) are tried one by one. Of more, good
/// ones are found first: what is superposed tells the best places of all (of chains by the
/// Hungarian method), which are superposed, until nothing changes.
///
/// Chains, from each single one at each place: they are placed one after another. With S the sum
/// of the blocks of those that are placed and R_ab that of placing chain a at b, the m chains that
/// are left reach at most
///
///     sum over a of max over b of x(S / m + R_ab),   x: the largest root
///
/// and as much with a and b exchanged, since roots are subadditive. After too many partial
/// placements nothing is proven, and the one found first is given.
///
/// Orders, from the atoms in no group and from all as they are named: let U be the rotation found,
/// N = U R, and V a rotation by the angle t that leads from U to that of another choice. Then
///
///     tr(V N) <= tr N - (1 - cos t)(tr N - s),   s: largest eigenvalue of N
///     tr(V D) <= cos t tr D + (1 - cos t)|sym D| + sin t |axial D|
///
/// where D = U (R_other - R_chosen) of one group. The second, summed over groups where it is above
/// 0, must outweigh the first, which bounds t; and up to this t few groups can change their order
/// (hydrogens and flips are small beside the molecule). These are tried together, up to kMaxOrders
/// choices; beyond them nothing is proven.
PlaceCandidates find_places(const PlaceTable& table, const double* p, const double* q, Index atoms,
                            double margin, const SearchLimits& limits = {});

/// The column of each row so that the sum of `values` [row, column] is the largest.
std::vector<Index> best_assignment(const std::vector<std::vector<double>>& values);

/// The RMSD of pairs of frames, the least over all permutations, in float64: a metric, as
/// permutations are isometries. Rows are the frames from `first_row` on, columns those from 0 on.
std::unique_ptr<Comparison> make_permuted_rmsd(FrameSet frames, PlaceTable table, Index first_row,
                                               bool allows_unproven, const Context& context);

}  // namespace pleat::rmsd

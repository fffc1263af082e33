// Permutations: chains and atoms that may take each other's places when frames are superposed.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "pleat/rmsd/measures/comparison.h"

namespace pleat::rmsd {

/// For each interchangeable chain or group, its chosen block of a PlaceTable.
using PlaceChoice = std::vector<std::int32_t>;

/// The covariance of a permutation is a sum of blocks, each of some atoms of the row with the same
/// number of atoms of the column: a chain at the place of another, or a group of atoms in one of
/// its orders.
struct PlaceTable {
    struct Atoms {
        std::vector<Index> row, column;
    };
    /// Equal chains, each of which takes a different place: block first + a * places + b is chain a
    /// at place b. Or one group of atoms, whose places are its orders.
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
    /// All permutations, beginning with the identity; later groups change fastest.
    std::vector<PlaceChoice> choices() const;
};

/// A device tries up to kMaxPermutations if there are at most this many blocks.
inline constexpr Index kMaxPlaceBlocks = 128;
/// Whether the equal chains or orders of `sets` are within these limits. Groups of atoms that are
/// not superposed choose their order independently, and are not counted.
bool can_try_all(const AtomSets& sets);

using Covariance = std::array<double, 9>;  ///< [axis of p][axis of q]

/// The covariance of the atoms of a block in two frames [axis, atom] of `atoms` atoms.
Covariance covariance_of(const PlaceTable::Atoms& block, const double* p, const double* q,
                         Index atoms);

/// Permutations that may be the best; all others are proven to be worse.
struct PlaceCandidates {
    std::vector<PlaceChoice> choices;
    bool is_proven = true;
};

/// How far a search goes.
struct SearchLimits {
    std::optional<double> tried;     ///< so many permutations are tried one by one; not set: below
    std::int64_t nodes = kMaxNodes;  ///< of more, so many partial placements of chains
};

/// Finds the permutations whose sum of products after superposition is within `margin` of the best,
/// for centred frames p and q [axis, atom].
///
/// Few permutations (of chains kMaxPermutations, of orders 64) are tried one by one. For more, good
/// permutations are found first by alternation: a superposition determines the best places (of
/// chains by the Hungarian method), which are then superposed, until nothing changes.
///
/// Chains: the alternation starts from each single chain at each place. Then branch and bound
/// assigns chains one by one. With S the sum of the blocks of assigned chains and R_ab the block of
/// chain a at place b, the m remaining chains add up to at most
///
///     sum over a of max over b of x(S / m + R_ab),   x: the largest root
///
/// and the same with a and b exchanged, because roots are subadditive. After too many partial
/// assignments nothing is proven, and the first permutation found is returned.
///
/// Orders: the alternation starts from the atoms in no group, and from all atoms in the first
/// order. Let U be the rotation found, N = U R, and V a rotation by the angle t that leads from U
/// to the rotation of another choice. Then
///
///     tr(V N) <= tr N - (1 - cos t)(tr N - s),   s: largest eigenvalue of N
///     tr(V D) <= cos t tr D + (1 - cos t)|sym D| + sin t |axial D|
///
/// where D = U (R_other - R_chosen) of one group. Another choice is better only if the second
/// bound, summed over groups where it is positive, outweighs the first, which limits t. Up to this
/// t few groups can change their order (hydrogens and ring flips are small compared with the
/// molecule). These are tried together, up to kMaxOrders choices; beyond that nothing is proven.
PlaceCandidates find_places(const PlaceTable& table, const double* p, const double* q, Index atoms,
                            double margin, const SearchLimits& limits = {});

/// The column of each row that maximises the sum of `values` [row, column].
std::vector<Index> best_assignment(const std::vector<std::vector<double>>& values);

/// The RMSD of pairs of frames, the least over all permutations, in float64: a metric, as
/// permutations are isometries. Rows are the frames from `first_row` on, columns those from 0 on.
std::unique_ptr<Comparison> make_permuted_rmsd(FrameSet frames, PlaceTable table, Index first_row,
                                               bool allows_unproven, const Context& context);

}  // namespace pleat::rmsd

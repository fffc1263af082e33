// lDDT blocks: distances of listed pairs of atoms, and which thresholds their differences miss.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pleat/core/view.h"
#include "pleat/rmsd/kernel/pair_block.h"

namespace pleat::rmsd {

/// Distances below this in a frame are those that another frame should preserve.
inline constexpr double kInclusionRadius = 15.0;
/// Thresholds within which a distance is preserved: powers of two, so that the exponent of a
/// difference gives the number of missed thresholds.
inline constexpr double kLddtThresholds[] = {0.5, 1.0, 2.0, 4.0};

/// Pairs of atoms that are processed at once, so that distances of a block of frames stay in the
/// cache.
inline constexpr Index kPairsAtOnce = 64;

/// Two atoms of different residues.
struct ListedPair {
    std::int32_t k = 0, l = 0;
};

/// Whether two atoms are in different residues; without `residues` each atom is its own.
inline bool are_in_different_residues(const std::vector<std::int32_t>& residues, Index k, Index l) {
    return residues.empty() || residues[k] != residues[l];
}
/// Throws InputError for more pairs of atoms than can be counted.
void require_countable(std::int64_t pairs);

/// The distances of kPairsAtOnce pairs in the frames of a panel.
struct PanelDistances {
    alignas(64) double exact[kPairsAtOnce * kPanel];   ///< [pair, lane]
    alignas(64) float rounded[kPairsAtOnce * kPanel];  ///< below the radius if and only if exact is
};

/// Distances of up to kPairsAtOnce pairs in the frames of a panel [atom, axis, lane].
void panel_distances(const double* panel, std::span<const ListedPair> pairs, PanelDistances& to);

/// Whether two atoms are approximately within the radius in a frame of `panels` [panel, atom, axis,
/// lane]. May be true for a pair just outside.
bool may_be_near(const double* panels, Index count, Index atoms, ListedPair pair);

/// For each of the first `row_count` frames of `rows` with each frame of `columns`, counts the
/// thresholds that differences of `count` distances miss, separately for distances below the radius
/// in the row and in the column; adds them to [row, lane]. Counts are those of the exact distances.
void add_missed(const PanelDistances& rows, Index row_count, const PanelDistances& columns,
                Index count, std::uint32_t* of_rows, std::uint32_t* of_columns);

}  // namespace pleat::rmsd

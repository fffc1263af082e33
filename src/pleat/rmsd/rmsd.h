// RMSD: frames compared with each other, with another set or with one structure by RMSD, dRMSD,
// TM-score, GDT_TS or lDDT.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pleat/bio/ensemble/frame_store.h"
#include "pleat/bio/structure/topology.h"
#include "pleat/core/array.h"
#include "pleat/core/context.h"
#include "pleat/core/fields.h"
#include "pleat/core/pairs/pair_source.h"

#pragma GCC visibility push(default)

namespace pleat::rmsd {

enum class Metric { rmsd, drmsd, tm, gdt_ts, lddt };
std::span<const std::string_view> names_of(Metric);
/// The accuracy of values: see README.md.
enum class FitPrecision { mixed, float64 };
std::span<const std::string_view> names_of(FitPrecision);
/// Matrix layout: condensed pairs i < j, full square (for two sets a rectangle), or none.
enum class MatrixLayout { condensed, full, none };
std::span<const std::string_view> names_of(MatrixLayout);

/// The options; fields() describes each.
struct Parameters {
    Metric metric = Metric::rmsd;
    FitPrecision precision = FitPrecision::mixed;
    MatrixLayout matrix = MatrixLayout::condensed;
    std::optional<double> cutoff;
    std::int64_t nearest = 0;
    double bin_width = 0.05;
};
std::vector<Field> fields(Parameters& parameters);

/// Which atoms of the coordinates are superposed, which are measured, and their weights.
struct AtomSets {
    std::vector<Index> fit, measured;  ///< ascending indices of the coordinates' atoms; empty: all
    std::vector<double> weights;       ///< of all the coordinates' atoms; empty: all 1
    std::string weights_file = {};     ///< where the weights were read, for messages; may be empty
    /// [group][chain][atom]: interchangeable chains, with corresponding atoms in the same order.
    /// RMSDs are then the minimum over all permutations.
    std::vector<std::vector<std::vector<Index>>> equal_chains = {};
    /// [group][order][position]: measured atoms in several equivalent orders: a ligand by its
    /// automorphisms, the two sides of a ring. RMSDs are the minimum over all orders. Either none
    /// of these atoms is fitted, or the fitted atoms are the measured ones.
    std::vector<std::vector<std::vector<Index>>> equal_orders = {};
    /// Whether frames are measured without superposition; `fit` is then empty.
    bool in_place = false;
    /// The residue of each of the coordinates' atoms: lDDT measures distances between atoms of
    /// different residues. Empty: each atom is a residue of its own.
    std::vector<std::int32_t> residues = {};

    /// Whether the superposed atoms are the measured atoms.
    bool are_one() const { return fit == measured && !in_place; }
    /// Whether all atoms are superposed and measured, without symmetry.
    bool are_plain() const {
        return fit.empty() && measured.empty() && equal_chains.empty() && equal_orders.empty() &&
               !in_place;
    }
};
/// Throws UsageError for indices beyond `atoms`, InputError for a wrong number of weights, weights
/// outside [0, 1e15], a set whose weights are all 0, weights that differ between atoms that may
/// change places, and more than kMaxEqualChains.
void check(const AtomSets& sets, Index atoms);

/// The residue of each atom for AtomSets::residues; empty for atoms without names. Atoms of one
/// chain, residue number, insertion code and residue name are one residue, wherever the file lists
/// them.
std::vector<std::int32_t> residues_of(const Topology& topology);

/// The residue of each measured atom, numbered in the order of their first atoms.
std::vector<Index> residues_in_order(const AtomSets& sets, Index atoms);

/// Maximum number of chain permutations that are tried one by one for each pair: 7 equal chains, or
/// 4 and 4. If there are more, branch and bound finds the best one, with up to kMaxNodes partial
/// permutations per pair.
inline constexpr double kMaxPermutations = 5040;
inline constexpr std::int64_t kMaxNodes = 1'000'000;
inline constexpr std::size_t kMaxEqualChains = 64;
/// Number of permutations of the equal chains: the product of the factorials of the group sizes.
double permutation_count(const AtomSets& sets);
/// Maximum number of orders of one group that are tried for each pair.
inline constexpr std::size_t kMaxOrders = 20'000;
/// Reorders the atoms of each frame of `xyz` [frame, atom, axis] so that it is closest to
/// `reference` [atom, axis], as far as that order is found. All atoms are superposed and measured.
/// Throws as check().
void relabel_orders(View<float, 3> xyz, View<const float, 2> reference, const AtomSets& sets,
                    const Context& context);
/// The total number of orders: the product over all groups.
double order_count(const AtomSets& sets);
/// The number of frames that were changed, and of frames whose permutation is not proven to be the
/// best.
struct Relabelled {
    Index changed = 0, unproven = 0;
};
/// Permutes the equal chains of each frame of `xyz` [frame, atom, axis] so that it is closest to
/// `reference` [atom, axis]. Throws as check().
Relabelled relabel_chains(View<float, 3> xyz, View<const float, 2> reference, const AtomSets& sets,
                          const Context& context);

/// Frames near each other (below the cutoff; scores above it) in compressed rows: those of frame i
/// are indices[starts[i]], ..., indices[starts[i + 1] - 1], ascending, without itself; each pair is
/// in both rows.
struct NeighbourRows {
    std::vector<std::int64_t> starts;
    std::vector<std::int32_t> indices;
    std::vector<float> values;
    std::int64_t pairs = 0;  ///< that are listed
};

/// The nearest other frames of each frame, nearest first; if equal, the earlier frame first.
struct Nearest {
    Array<std::int32_t, 2> indices;  ///< [frame, rank]
    Array<float, 2> values;          ///< [frame, rank]
};

/// The destination of the matrix: an .npy file, or memory of the caller.
struct MatrixTarget {
    MatrixTarget() = default;
    MatrixTarget(std::filesystem::path path) : file(std::move(path)) {}
    MatrixTarget(std::span<float> values) : memory(values) {}

    std::filesystem::path file;
    std::span<float> memory;
};
/// The number of elements of the matrix of `frames` with themselves.
Index matrix_size(Index frames, const Parameters& parameters);

/// The value for a residue without another one within 15 angstrom in the reference.
inline constexpr float kNoLddt = -1.0F;
/// lDDT of each residue against one structure: over the distances of its atoms that are below 15
/// angstrom there. Residues are in the order of their first measured atom.
struct ResidueLddt {
    std::vector<std::int64_t> distances;  ///< [residue], of the structure
    Array<float, 2> values;               ///< [frame, residue]; kNoLddt without distances
};

struct Result {
    Index frames = 0, atoms = 0;
    PairStatistics statistics;  ///< of all pairs
    NeighbourRows neighbours;   ///< empty without a cutoff
    Nearest nearest;            ///< empty unless asked for
    /// Only from run_reference(): [frame], the lDDT of residues, and the number of values that are
    /// not proven to be the minimum over all permutations and orders.
    std::vector<float> values = {};
    ResidueLddt residues = {};
    Index unproven = 0;
};

/// Compares all pairs of frames `xyz` [frame, atom, axis], angstrom. For RMSD the atoms `sets.fit`
/// are superposed and `sets.measured` are measured; other metrics use the measured atoms only.
/// Unless `parameters.matrix` is `none`, the matrix is written as float32 to the file `matrix`, or
/// to memory of matrix_size() numbers. Finished tiles are kept in the file Context::checkpoint (if
/// it is empty, beside `matrix`), from which a stopped run resumes; without a matrix sums are kept
/// in files beside Context::checkpoint; with a matrix in memory nothing is kept. Ranks share the
/// tiles: rank 0 returns the result, the others one without values, and the files must be in a
/// folder that all ranks see. Throws UsageError (options, shapes, indices), InputError (weights,
/// coordinates, an RMSD that is not proven to be the minimum over all orders), DeviceError (more
/// permutations than a GPU tries), OutputError, Cancelled.
///
/// Frames on disk, or too many for memory, are read in blocks for the RMSD of all atoms; other
/// comparisons need them in memory (UsageError).
Result run(const FrameStore& xyz, const AtomSets& sets, const Parameters& parameters,
           const Context& context, const MatrixTarget& matrix);

/// Compares each frame with each of `others`, which have the same atoms. The matrix has the shape
/// [frame, other]; neighbours and nearest frames are others of each frame. Resumes and shares its
/// tiles among ranks like run(). Throws as run().
Result run_against(View<const float, 3> xyz, View<const float, 3> others, const AtomSets& sets,
                   const Parameters& parameters, const Context& context,
                   const MatrixTarget& matrix);

/// Compares each frame with one structure [atom, axis], angstrom; resumes and uses ranks like run()
/// without a matrix (rank 0 has the values). For lDDT the structure is the reference. Values that
/// are not proven minimal are counted, while run() throws; with interchangeable atoms each rank
/// computes all values. Throws as run(), UsageError as check_with_reference(), and InputError if
/// the structure has no distance that lDDT uses.
Result run_reference(View<const float, 3> xyz, View<const float, 2> reference, const AtomSets& sets,
                     const Parameters& parameters, const Context& context);
/// Throws UsageError for options that need pairs of frames: a cutoff, nearest frames, a full
/// matrix.
void check_with_reference(const Parameters& parameters);
/// Throws UsageError if the cutoff of a score is one that no pair can exceed.
void check_cutoff(const Parameters& parameters);

/// The RMSD of all pairs of frames, superposed when they are asked for on the context's device.
/// Frames in memory are copied; frames on disk, or too many for that, are read in blocks from
/// `xyz`, which must outlive the result. `reduces`: whether the device may count and cluster the
/// pairs itself (see PairReductions). Throws as run().
std::unique_ptr<PairSource> superposed_pairs(const FrameStore& xyz, std::span<const double> weights,
                                             const Parameters& parameters, bool reduces,
                                             const Context& context);

/// superposed_pairs() for few rows at a time. Frames stay in float32 where they are, in memory or
/// on disk (`xyz` must outlive the result), and are centred when they are compared: all bits are
/// the same. Computes on CPUs: copying a frame to a GPU takes longer than one RMSD. Throws
/// UsageError if the context's device is a GPU; else as run().
std::unique_ptr<PairSource> superposed_rows(const FrameStore& xyz, std::span<const double> weights,
                                            const Parameters& parameters, const Context& context);

/// The RMSD of all pairs of frames [frame, atom, axis] in place, or over the permutations of
/// sets.equal_chains or the orders of sets.equal_orders, computed when they are asked for.
/// `xyz` is copied. Throws as run().
std::unique_ptr<PairSource> permuted_pairs(View<const float, 3> xyz, const AtomSets& sets,
                                           const Parameters& parameters, const Context& context);

/// The values of `matrix`, RMSDs that an earlier run computed from these frames, weights and
/// parameters. Pairs near a cutoff are decided in float64, as in superposed_pairs(). Needs 8 bytes
/// per coordinate. Throws as run().
std::unique_ptr<PairSource> recompute_near_cutoffs(std::unique_ptr<PairSource> matrix,
                                                   View<const float, 3> xyz,
                                                   std::span<const double> weights,
                                                   const Parameters& parameters,
                                                   const Context& context);

/// The maximum error in angstrom of values with this precision, besides their rounding to float32.
inline double error_of(FitPrecision precision) {
    return precision == FitPrecision::float64 ? 1e-6 : 1e-5;
}

/// Memory in bytes that run() needs besides the coordinates to keep all frames in memory; for
/// `cuda` GPU memory.
std::int64_t memory_needed(Index frames, Index atoms, const Parameters& parameters,
                           const Device& device);

}  // namespace pleat::rmsd

#pragma GCC visibility pop

// Pairs run: the loop over all pairs of a set, or of two sets, with any kernel.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "pleat/core/loops/sweep.h"
#include "pleat/rmsd/kernel/kernel.h"
#include "pleat/rmsd/rmsd.h"

namespace pleat::rmsd {

struct PairsJob {
    Kernel& kernel;
    Index frames = 0, atoms = 0;
    std::vector<Tile> tiles;            ///< bands of rows
    std::function<std::string()> hash;  ///< of the problem; asked for only if tiles are kept
    /// For two sets, the frames of the other set: the kernel's bands are then [row, other].
    std::optional<Index> others = std::nullopt;
};

/// Computes the tiles into `matrix`, unless no matrix is wanted, and the result. Ranks share the
/// tiles; ranks other than 0 get a result without values.
Result run_pairs(const PairsJob& job, const Parameters& parameters, const Context& context,
                 const MatrixTarget& matrix);

/// Divides the rows into bands of about `pairs` pairs; the number of rows of a band is a multiple
/// of `step`.
std::vector<Tile> bands(Index frames, Index pairs, Index step);
/// Throws DeviceError if fewer than `bytes` of memory are available for lists of `pairs` pairs.
void require_list_memory(Index pairs, std::int64_t bytes);

/// Throws UsageError for options and shapes that rmsd::run() refuses.
void check_input(const FrameStore& xyz, Parameters parameters);
/// Throws UsageError for atoms, weights and a precision that the metric does not have, InputError
/// for lDDT of a single residue.
void check_sets(const AtomSets& sets, Index atoms, const Parameters& parameters);
/// Throws InputError if the structure [atom, axis] has no distance that lDDT uses.
void require_surroundings(View<const float, 2> reference, const AtomSets& sets);
/// lDDT of residues: see rmsd.h.
ResidueLddt residue_lddt(View<const float, 3> xyz, View<const float, 2> reference,
                         const AtomSets& sets, const Context& context);
/// Throws DeviceError, naming the frames, if fewer than `bytes` of memory are available for them.
void require_frame_memory(std::int64_t bytes, Index frames, Index atoms, std::string_view how = {});
/// Throws UsageError if a matrix is wanted without a destination, or the destination in memory does
/// not have `size` numbers.
void check_matrix(const Parameters& parameters, const MatrixTarget& matrix, Index size);
/// Bytes of the lists of nearest frames, each with at most `others` frames.
std::int64_t nearest_memory(Index frames, Index others, const Parameters& parameters);
/// A hash of the frames (of both sides), atoms and options that values depend on.
std::string problem_hash(const FrameStore& xyz, const FrameStore& others, const AtomSets& sets,
                         const Parameters& parameters, const Context& context);
/// Whether frames must be read in blocks, because they are on disk or do not fit in memory. A
/// collective call. Throws DeviceError if memory does not even suffice for blocks.
bool needs_blocks(const FrameStore& xyz, const Parameters& parameters, const Context& context);
/// The file of tiles: the checkpoint of the context, or a file next to the matrix.
std::filesystem::path tile_path(const Context& context, const MatrixTarget& matrix);

/// Duration of a tile in nanoseconds of one thread.
inline constexpr double kTileTime = 5e7;

}  // namespace pleat::rmsd

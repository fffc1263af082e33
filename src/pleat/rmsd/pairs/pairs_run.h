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
    /// Of two sets, the frames of the other one: the kernel's bands are [row, other].
    std::optional<Index> others = std::nullopt;
};

/// Computes the tiles into `matrix`, unless none is wanted, and into the result, over the ranks of
/// the context: all but rank 0 get a result without values.
Result run_pairs(const PairsJob& job, const Parameters& parameters, const Context& context,
                 const MatrixTarget& matrix);

/// Divides the rows into bands of about `pairs` pairs; the number of rows of a band is a multiple
/// of `step`.
std::vector<Tile> bands(Index frames, Index pairs, Index step);
/// Throws DeviceError if memory lacks `bytes` for lists of `pairs` pairs.
void require_list_memory(Index pairs, std::int64_t bytes);

/// Throws UsageError for options and shapes that rmsd::run() refuses.
void check_input(const FrameStore& xyz, Parameters parameters);
/// Throws UsageError for atoms, weights and a precision that the metric does not have, InputError
/// for lDDT of a single residue.
void check_sets(const AtomSets& sets, Index atoms, const Parameters& parameters);
/// Throws InputError if lDDT finds no distance to keep in the structure [atom, axis].
void require_surroundings(View<const float, 2> reference, const AtomSets& sets);
/// lDDT of residues: see rmsd.h.
ResidueLddt residue_lddt(View<const float, 3> xyz, View<const float, 2> reference,
                         const AtomSets& sets, const Context& context);
/// Throws DeviceError if memory lacks `bytes` for frames, which it names.
void require_frame_memory(std::int64_t bytes, Index frames, Index atoms, std::string_view how = {});
/// Throws UsageError if a matrix is wanted and has no target, or memory of another size than
/// `size`.
void check_matrix(const Parameters& parameters, const MatrixTarget& matrix, Index size);
/// Bytes of the lists of nearest frames, each with at most `others` frames.
std::int64_t nearest_memory(Index frames, Index others, const Parameters& parameters);
/// A hash of the frames (of both sides), atoms and options that values depend on.
std::string problem_hash(const FrameStore& xyz, const FrameStore& others, const AtomSets& sets,
                         const Parameters& parameters, const Context& context);
/// Whether frames must be read in blocks, because they are on disk or too many for memory. A
/// collective call. Throws DeviceError if there is not even enough memory for that.
bool needs_blocks(const FrameStore& xyz, const Parameters& parameters, const Context& context);
/// The file of tiles: the checkpoint of the context, or a file next to the matrix.
std::filesystem::path tile_path(const Context& context, const MatrixTarget& matrix);

/// Work that a tile should take, in nanoseconds of a thread.
inline constexpr double kTileTime = 5e7;

}  // namespace pleat::rmsd

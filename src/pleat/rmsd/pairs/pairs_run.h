// Pairs run: the loop over all pairs of a set with any kernel.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "pleat/core/loops/sweep.h"
#include "pleat/rmsd/kernel/kernel.h"
#include "pleat/rmsd/rmsd.h"

namespace pleat::rmsd {

struct PairsJob {
    Kernel& kernel;
    Index frames = 0, atoms = 0;
    std::vector<Tile> tiles;            ///< bands()
    std::function<std::string()> hash;  ///< of the problem; asked for where tiles are kept
};

/// Sweeps the tiles to `matrix`, unless none is wanted, and to the result, over the ranks of the
/// context: all but the leading one get a result without values. The file of tiles and the matrix
/// are in a folder that all ranks see.
Result run_pairs(const PairsJob& job, const Parameters& parameters, const Context& context,
                 const MatrixPlace& matrix);

/// What rmsd::run() refuses of parameters and coordinates, besides what is not finite.
void check_input(View<const float, 3> xyz, Parameters parameters);
/// Bytes of the lists of the best, each at most of `others` frames.
std::int64_t best_memory(Index frames, Index others, const Parameters& parameters);
/// UsageError where a matrix is wanted and has no place, or memory of another size than `size`.
void check_matrix(const Parameters& parameters, const MatrixPlace& matrix, Index size);

}  // namespace pleat::rmsd

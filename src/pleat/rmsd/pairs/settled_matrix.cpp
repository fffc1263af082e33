// Settled matrix: frames centred in float64, superposed pair by pair where a matrix leaves doubt.
#include "pleat/rmsd/pairs/settled_matrix.h"

#include <fmt/format.h>

#include <utility>

#include "pleat/core/hardware/memory.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/rmsd/pairs/atom_sets.h"
#include "pleat/rmsd/superposition/frames.h"

namespace pleat::rmsd {

struct SettledMatrix::Truth {
    Frames frames;
    double error;  ///< of the matrix, angstrom, beside the rounding of its values
};

SettledMatrix::SettledMatrix(std::unique_ptr<cluster::Distances> matrix, View<const float, 3> xyz,
                             std::span<const double> weights, const Parameters& parameters,
                             const Context& context)
    : matrix_(std::move(matrix)) {
    check(AtomSets{{}, {}, {weights.begin(), weights.end()}}, xyz.extent(1));
    require_memory(8 * xyz.size(),
                   fmt::format("{} frames of {} atoms", xyz.extent(0), xyz.extent(1)),
                   "take fewer frames or atoms");
    truth_ = std::make_unique<Truth>(
        Truth{centre(xyz, weights, resolve_threads(context)), error_of(parameters)});
}

SettledMatrix::~SettledMatrix() = default;

double SettledMatrix::doubt(double cutoff) const { return truth_->error + 1.3e-7 * cutoff; }

bool SettledMatrix::is_below(Index i, Index j, double cutoff) const {
    return static_cast<float>(certain_rmsd(truth_->frames, i, j)) < static_cast<float>(cutoff);
}

}  // namespace pleat::rmsd

// The reference kernel of rmsd: each pair is rotated and measured in float64, one after another.
#include <utility>

#include "pleat/rmsd/measures/comparison.h"

namespace pleat::rmsd {

std::unique_ptr<Comparison> make_reference_rmsd(FrameSet frames, Index first_row) {
    const double cost = 1000.0 + 20.0 * static_cast<double>(frames->atom_count());
    return one_by_one(cost, [frames = std::move(frames), first_row](Index i, Index j) {
        return rmsd_in_float64(*frames, first_row + i, j);
    });
}

std::unique_ptr<Kernel> make_reference_kernel(const Problem& problem) {
    return make_pair_kernel(make_reference_rmsd(borrowed(*problem.frames), 0),
                            problem.frames->frame_count(), 1);
}

}  // namespace pleat::rmsd

// Common structure: the mean of turned frames.
#include "pleat/rmsd/superposition/common_structure.h"

#include <algorithm>

#include "pleat/core/loops/parallel.h"
#include "pleat/rmsd/superposition/superpose.h"

namespace pleat::rmsd {

namespace {

constexpr Index kMaxAveraged = 1000, kSummed = 32;

}  // namespace

void turn_onto(const double* frame, const double* target, Index atoms, double* turned) {
    double m[9];
    best_rotation(frame, target, atoms, m);
    for (int axis = 0; axis < 3; ++axis)
        for (Index k = 0; k < atoms; ++k)
            turned[axis * atoms + k] = m[3 * axis] * frame[k] + m[3 * axis + 1] * frame[atoms + k] +
                                       m[3 * axis + 2] * frame[2 * atoms + k];
}

std::vector<Index> averaged_frames(Index count) {
    const Index used = std::min(count, kMaxAveraged);
    std::vector<Index> frames;
    for (Index n = 0; n < used; ++n) frames.push_back(n * count / used);
    return frames;
}

std::vector<double> common_structure(const Frames& frames, int threads) {
    if (!frames.common.empty()) return frames.common;
    const Index atoms = frames.atom_count();
    const std::vector<Index> averaged = averaged_frames(frames.frame_count());
    const auto used = static_cast<Index>(averaged.size());
    // Sums of blocks, added in their order: the same bits for any number of threads.
    Array<double, 2> sums((used + kSummed - 1) / kSummed, 3 * atoms);
    parallel_for(threads, sums.extent(0), [&](Index block, int) {
        std::vector<double> turned(3 * atoms);
        for (Index n = block * kSummed; n < std::min(used, (block + 1) * kSummed); ++n) {
            turn_onto(frames.frame(averaged[n]), frames.frame(0), atoms, turned.data());
            for (Index k = 0; k < 3 * atoms; ++k) sums(block, k) += turned[k];
        }
    });
    std::vector<double> mean(3 * atoms);
    for (Index block = 0; block < sums.extent(0); ++block)
        for (Index k = 0; k < 3 * atoms; ++k) mean[k] += sums(block, k) / static_cast<double>(used);
    return mean;
}

}  // namespace pleat::rmsd

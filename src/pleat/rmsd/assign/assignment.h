// Assignment: frames given to the nearest of given structures, block by block.
#pragma once

#include <optional>
#include <vector>

#include "pleat/cluster/cluster.h"
#include "pleat/rmsd/rmsd.h"

#pragma GCC visibility push(default)

namespace pleat::rmsd {

/// Assigns frames to the nearest of given medoids, by the float64 RMSD of all atoms after
/// superposition. If medoids are equally near (as float32), the one with the lower number is taken.
/// Memory: one block, and 4 bytes per frame.
class Assignment {
public:
    /// `medoids` [medoid, atom, axis], angstrom, must outlive this object. Frames that are not
    /// below `cutoff` of any belong to no cluster. `weights` [atom]; empty: all 1. `bin_width` of
    /// the histogram of all distances. Throws as run_against() does.
    Assignment(View<const float, 3> medoids, std::vector<double> weights,
               std::optional<double> cutoff, double bin_width, const Context& context);

    /// The best number of frames per block: large enough that packing the medoids costs little,
    /// small enough to save memory.
    Index block_frames() const;
    /// The nearest medoids of a block of frames, and statistics of all distances.
    struct Compared {
        Nearest nearest = {};  ///< two of each frame; one if there is only one medoid
        PairStatistics statistics = {};
    };
    /// Compares frames [frame, atom, axis] with the medoids. Throws as run_against() does.
    Compared compare(View<const float, 3> frames) const;
    /// Assigns the next frames, which follow those of earlier calls, to medoids.
    void collect(const Compared& compared);
    /// Calls compare() and collect(), and returns the nearest medoids.
    Nearest add(View<const float, 3> frames);
    /// The clusters, numbered as the medoids: `medoid` is the frame nearest to the given one (-1 in
    /// an empty cluster), `mean` and `radius` are those of all members' distances to the given one
    /// (NaN in an empty cluster).
    /// The statistics are those of all frames with all medoids.
    cluster::Result finish();

private:
    View<const float, 3> medoids_;
    AtomSets sets_;
    Parameters parameters_;
    Context context_;
    cluster::Result result_;
    std::vector<float> nearest_distances_;  ///< [cluster]: of the frame `medoid`
};

}  // namespace pleat::rmsd

#pragma GCC visibility pop

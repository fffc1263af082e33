// Estimate: the memory and the time of comparing frames.
#pragma once

#include "pleat/core/estimate.h"
#include "pleat/rmsd/rmsd.h"

namespace pleat::rmsd {

struct ComparedSizes {
    Index frames = 0, atoms = 0;  ///< that are read
    Index others = 0;             ///< frames of a second set; 0: all pairs of one set
    bool has_reference = false;   ///< each frame is compared with one structure
    bool has_sets = false;        ///< other atoms are fitted than measured
    double pair_seconds = 0;      ///< of one thread, if pair_seconds() does not say

    double pairs() const;
    bool is_one_set() const { return others == 0 && !has_reference; }
    /// Of both sets.
    Index all_frames() const { return frames + others + (has_reference ? 1 : 0); }
};

/// Seconds per pair on one thread; measured (bench/rmsd.md), correct within a factor of about two.
double pair_seconds(Index atoms, const Parameters& parameters);

/// Approximate number of atom pairs of a protein that are within lDDT's radius in any frame.
double near_atoms(double atoms);

/// Seconds per pair on one thread without superposition, or with interchangeable chains or atoms;
/// measured (bench/rmsd.md), correct within a factor of about two if all permutations can be tried.
double permuted_seconds(const AtomSets& sets, Index atoms);

/// Bytes of the matrix, and of the pairs that the checkpoint keeps until it is written.
std::int64_t disk_needed(const ComparedSizes& sizes, const Parameters& parameters);

/// Resources for reading the frames, comparing, and writing. Lists of pairs below a cutoff, whose
/// number is unknown, and mapped files are not included. Throws UsageError if the context's device
/// is a GPU that does not support the comparison. `sets`: the compared atoms, for a GPU.
Estimate estimate(const ComparedSizes& sizes, const Parameters& parameters, const Context& context,
                  const AtomSets& sets = {});

/// Memory in bytes per GPU to superpose frames and find their GROMOS clusters there.
std::int64_t gromos_gpu_memory(Index frames, Index atoms, const Parameters& parameters);

}  // namespace pleat::rmsd

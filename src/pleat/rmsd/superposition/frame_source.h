// Frame source: centred frames of an ensemble, in memory or read in blocks when they are asked for.
#pragma once

#include <memory>
#include <numeric>
#include <span>
#include <vector>

#include "pleat/bio/ensemble/frame_store.h"
#include "pleat/rmsd/superposition/frames.h"

namespace pleat::rmsd {

/// Frames that may be more than memory holds. Functions may be called from several threads at a
/// time.
class FrameSource {
public:
    virtual ~FrameSource() = default;
    virtual Index frame_count() const = 0;
    virtual Index atom_count() const = 0;
    /// These frames, centred as centre() does it.
    virtual Frames subset(std::span<const Index> items, int threads) const = 0;
    /// These frames as an ensemble of their own.
    virtual std::shared_ptr<const FrameSource> narrowed(std::span<const Index> items,
                                                        int threads) const = 0;
    /// All frames if they are in memory, else null.
    virtual const Frames* in_memory() const { return nullptr; }
    /// How many frames should be read at a time, besides the rows of a band.
    virtual Index block() const { return frame_count(); }
};

/// The source of frames in memory.
std::shared_ptr<const FrameSource> memory_source(FrameSet frames);

/// The source of frames that are read and centred when they are asked for. Kernels turn its subsets
/// onto the common structure of all frames, so that a pair's value does not depend on the subset.
/// `weights` as for centre(); `block`: how many frames are read at a time. Throws InputError.
std::shared_ptr<const FrameSource> block_source(FrameStore store, std::vector<double> weights,
                                                int threads, Index block);
/// block_source() with block_frames().
std::shared_ptr<const FrameSource> block_source(FrameStore store, std::vector<double> weights,
                                                int threads);

/// As many frames as take 256 MiB, centred and as kernels pack them.
Index block_frames(Index atoms);

/// first, first + 1, ...
inline std::vector<Index> consecutive(Index first, Index count) {
    std::vector<Index> items(static_cast<std::size_t>(count));
    std::iota(items.begin(), items.end(), first);
    return items;
}

}  // namespace pleat::rmsd

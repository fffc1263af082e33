// Kernels of rmsd: the RMSD of all pairs of frames, band by band, on the device of the context.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "pleat/core/context.h"
#include "pleat/core/pairs/pair_source.h"
#include "pleat/rmsd/rmsd.h"
#include "pleat/rmsd/superposition/frames.h"

namespace pleat::rmsd {

/// The frames to superpose, which must outlive the kernel, and how.
struct Problem {
    const Frames* frames = nullptr;
    FitPrecision precision = FitPrecision::mixed;
    /// Values near the cutoff are recomputed in float64 so that they fall on the correct side; 0:
    /// none. On a GPU this also applies to the edges of bins.
    double cutoff = 0.0;
    double bin_width = 0.05;
    /// Frames that are read in blocks; replaces `frames`.
    std::shared_ptr<const FrameSource> source = nullptr;

    Problem of(const Frames& some) const { return {&some, precision, cutoff, bin_width}; }
};

/// Computes the values of pairs. A value depends only on its two frames, not on the band or the
/// number of threads. Not thread-safe.
class Kernel {
public:
    virtual ~Kernel() = default;
    /// The value of each frame of `rows` with every later frame, in condensed order; of two sets
    /// with every frame of the other, [row, other].
    virtual void band(Block rows, float* values) = 0;
    /// Performs, before the first band, work that all bands share.
    virtual void prepare() {}
    /// The object that counts pairs on the device; null if the kernel can only compute values.
    virtual PairCounter* counter() { return nullptr; }
};

/// Makes the kernel for the context's device. For frames that are read in blocks, it keeps the
/// frames of a band and reads later frames block by block, alternately forwards and backwards, so
/// that the system still has the last blocks in memory. On the CPU its values are bit-identical to
/// those for frames in memory, and band() throws InputError, Cancelled. Throws DeviceError.
std::unique_ptr<Kernel> make_kernel(const Problem& problem, const Context& context);

/// The kernel for a few frames in memory; few frames are not worth a GPU.
std::unique_ptr<Kernel> kernel_for(const Problem& some, const Context& context);

/// Whether frames that are read in blocks are all copied to a GPU and superposed there as if they
/// were in memory. There is no float64 kernel for this.
bool copies_frames_to_gpu(FitPrecision precision, const Context& context);

/// Rows of a band of frames that are read in blocks: as many as fit in 1 GiB, up to 960, so that
/// reading the columns costs little. The same on every machine: a run may resume on another.
Index block_band_rows(Index frames);
/// Bytes of memory of a kernel for frames that are read in blocks, besides the values of a band.
std::int64_t block_memory(Index frames, Index atoms);

/// The RMSD of each of `rows` with each of `columns`, frames of `problem.source`, [row, column];
/// rows of `values` begin every `stride` numbers. Reads as many frames as there are. Throws
/// InputError, Cancelled.
void superpose_between(const Problem& problem, std::span<const Index> rows,
                       std::span<const Index> columns, const Context& context, float* values,
                       Index stride);

/// The same for few rows, in float64 and without packing frames.
void superpose_few(const FrameSource& source, std::span<const Index> rows,
                   std::span<const Index> columns, int threads, float* values, Index stride);

/// Superposes each pair in float64 on one thread: Jacobi eigenvectors, rotation, residual.
std::unique_ptr<Kernel> make_reference_kernel(const Problem& problem);

/// Covariances of blocks of pairs as a matrix product, solved one vector of pairs at a time.
std::unique_ptr<Kernel> make_cpu_kernel(const Problem& problem, const Context& context);

/// Products of tiles on the GPU `context.device.index` with the solver behind them (README.md);
/// with FitPrecision::float64 each pair in float64 as the reference solves it. Throws DeviceError
/// if that GPU is missing or out of memory. `seconds`: if not null, time on the GPU is measured and
/// added there.
std::unique_ptr<Kernel> make_cuda_kernel(const Problem& problem, const Context& context,
                                         double* seconds = nullptr);

struct GromosProblem {
    double cutoff = 0.0;
    std::vector<std::int32_t> neighbours = {};  ///< [frame]: their number; empty: not yet counted
    std::string hash = {};                      ///< of the frames, for checkpoints
};

/// GROMOS clusters (cluster/methods/methods.h) found on the GPU `context.device.index`. Two frames
/// are neighbours if their RMSD, computed in float64 and rounded to float32, is below the cutoff.
/// Frames without neighbours come last, by their index. Lanes of one process (core/ranks/lanes.h)
/// with a GPU each share the work, in a collective call; their GPUs must be able to read each
/// other's memory (core/cuda/cuda_device.h). Ranks that are processes work each on its own. Once
/// neighbours are counted, resumes from `context.checkpoint`. Throws DeviceError if GPU memory is
/// too small, InputError for another problem's checkpoint, Cancelled.
DeviceClusters cluster_on_cuda(const FrameSource& frames, GromosProblem problem,
                               const Context& context, double* seconds = nullptr);
/// Memory in bytes per GPU of cluster_on_cuda().
std::int64_t clustering_memory(Index frames, Index atoms);

}  // namespace pleat::rmsd

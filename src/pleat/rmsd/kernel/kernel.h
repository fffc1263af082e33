// Kernels of rmsd: the RMSD of all pairs of frames, band by band, on the device of the context.
#pragma once

#include <memory>
#include <optional>

#include "pleat/core/context.h"
#include "pleat/core/pairs/pair_source.h"
#include "pleat/rmsd/cuda/tile_layout.h"
#include "pleat/rmsd/rmsd.h"
#include "pleat/rmsd/superposition/frame_source.h"
#include "pleat/rmsd/superposition/frames.h"

namespace pleat::rmsd {

/// What is superposed; the frames must outlive the kernel.
struct Problem {
    const Frames* frames = nullptr;
    Precision precision = Precision::mixed;
    /// Values near the cutoff are recomputed in float64 so that they fall on the correct side; 0:
    /// none. On a GPU this also applies to the edges of bins.
    double cutoff = 0.0;
    double bin_width = 0.05;
    /// Instead of `frames`, only for RMSDs of mixed precision on a GPU: frames that are read and
    /// copied to it in blocks.
    std::shared_ptr<const FrameSource> source = nullptr;
};

/// Counts pairs on the device; see PairReductions::count().
class BandCounter {
public:
    /// Adds the pairs of these rows with later frames, with the cutoff and the bins of the problem.
    virtual void count(Block rows, PairCounts& counts) = 0;

protected:
    ~BandCounter() = default;
};

/// Computes values of pairs. Each depends on its two frames only, whatever band asks for it and
/// however many threads there are. Not thread-safe.
class Kernel {
public:
    virtual ~Kernel() = default;
    /// The value of each frame of `rows` with every later frame, in condensed order; of two sets
    /// with every frame of the other, [row, other].
    virtual void band(Block rows, float* values) = 0;
    /// Does ahead of the first band what all bands share.
    virtual void prepare() {}
    /// The object that counts pairs on the device; null if the kernel can only compute values.
    virtual BandCounter* counter() { return nullptr; }
};

/// Chooses the kernel for the context's device. Throws DeviceError.
std::unique_ptr<Kernel> make_kernel(const Problem& problem, const Context& context);

/// Superposes each pair in float64 on one thread: Jacobi eigenvectors, rotation, residual.
std::unique_ptr<Kernel> make_reference_kernel(const Problem& problem);

/// Covariances of blocks of pairs as a matrix product, solved one vector of pairs at a time.
std::unique_ptr<Kernel> make_cpu_kernel(const Problem& problem, const Context& context);

/// Settings of a GPU kernel for tests and measurements.
struct CudaChoices {
    std::optional<TileFormat> format;  ///< not set: the one that suits the use
    double* seconds = nullptr;         ///< if not null, time on the GPU is measured and added here
};

/// Products of tiles on the GPU `context.device.index` with the solver behind them (README.md);
/// with Precision::float64 each pair in float64 as the reference solves it. Throws DeviceError if
/// that GPU is missing or out of memory.
std::unique_ptr<Kernel> make_cuda_kernel(const Problem& problem, const Context& context,
                                         const CudaChoices& choices = {});

/// GROMOS clusters (cluster/methods/greedy.h) found on the GPU `context.device.index`. Two frames
/// are neighbours if their RMSD, computed in float64 and rounded to float32, is below `cutoff`.
/// Frames without neighbours come last, by their index. Lanes of one process (core/ranks/lanes.h)
/// with a GPU each share the work, in a collective call; their GPUs must be able to read each
/// other's memory (core/cuda/cuda_device.h). Ranks that are processes work each on its own. Throws
/// DeviceError if the neighbours do not fit into the GPUs' memory, Cancelled.
DeviceClusters cluster_on_cuda(const FrameSource& frames, double cutoff, const Context& context,
                               const CudaChoices& choices = {});
/// Bytes that it needs of the memory of each of `gpus` GPUs: one bit per pair that they share, and
/// the ensemble.
std::int64_t clustering_memory(Index frames, Index atoms, int gpus = 1);

}  // namespace pleat::rmsd

// Kernels of rmsd: the RMSD of all pairs of frames, band by band, on the device of the context.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "pleat/core/context.h"
#include "pleat/core/pairs/pair_source.h"
#include "pleat/rmsd/rmsd.h"
#include "pleat/rmsd/superposition/frames.h"

namespace pleat::rmsd {

/// What is superposed; the frames must outlive the kernel.
struct Problem {
    const Frames* frames = nullptr;
    FitPrecision precision = FitPrecision::mixed;
    /// Values near the cutoff are recomputed in float64 so that they fall on the correct side; 0:
    /// none. On a GPU this also applies to the edges of bins.
    double cutoff = 0.0;
    double bin_width = 0.05;
    /// Instead of `frames`: frames that are read in blocks.
    std::shared_ptr<const FrameSource> source = nullptr;

    Problem of(const Frames& some) const { return {&some, precision, cutoff, bin_width}; }
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
    virtual PairCounter* counter() { return nullptr; }
};

/// Chooses the kernel for the context's device. Of frames that are read in blocks it keeps those of
/// a band and reads the later ones block by block, in turns from the first and from the last, so
/// that the system finds the blocks read last in its memory; on the CPU its values have the bits of
/// the kernel for frames in memory, and band() throws InputError, Cancelled. Throws DeviceError.
std::unique_ptr<Kernel> make_kernel(const Problem& problem, const Context& context);

/// The kernel for some frames in memory, few of which are not worth a GPU.
std::unique_ptr<Kernel> kernel_for(const Problem& some, const Context& context);

/// Whether a GPU gets all frames that are read in blocks, and superposes them as if they were in
/// memory. It has no kernel of float64 for that.
bool is_copied_to_gpu(FitPrecision precision, const Context& context);

/// Rows of a band of frames that are read in blocks: as many as fit in 1 GiB, up to 960, so that
/// reading the columns costs little. The same on every machine: a run may resume on another.
Index block_band_rows(Index frames);
/// Bytes of memory that such a kernel needs besides the values of a band.
std::int64_t block_memory(Index frames, Index atoms);

/// The RMSD of each of `rows` with each of `columns`, frames of `problem.source`, [row, column];
/// rows of `values` begin every `stride` numbers. Reads as many frames as there are. Throws
/// InputError, Cancelled.
void superpose_between(const Problem& problem, std::span<const Index> rows,
                       std::span<const Index> columns, const Context& context, float* values,
                       Index stride);

/// The same for few rows, in float64 from the frames themselves: no frame is packed.
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

/// GROMOS clusters (cluster/methods/methods.h) found on the GPU `context.device.index`. Two frames
/// are neighbours if their RMSD, computed in float64 and rounded to float32, is below `cutoff`.
/// Frames without neighbours come last, by their index. Lanes of one process (core/ranks/lanes.h)
/// with a GPU each share the work, in a collective call; their GPUs must be able to read each
/// other's memory (core/cuda/cuda_device.h). Ranks that are processes work each on its own. Throws
/// DeviceError if the neighbours do not fit into the GPUs' memory, Cancelled.
DeviceClusters cluster_on_cuda(const FrameSource& frames, double cutoff, const Context& context,
                               double* seconds = nullptr);
/// Bytes that it needs of the memory of each of `gpus` GPUs: one bit per pair that they share, and
/// the ensemble.
std::int64_t clustering_memory(Index frames, Index atoms, int gpus = 1);

}  // namespace pleat::rmsd

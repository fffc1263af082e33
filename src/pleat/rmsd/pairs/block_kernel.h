// Block kernel: pairs of frames that are read in blocks, on any device.
#pragma once

#include <memory>
#include <span>

#include "pleat/core/context.h"
#include "pleat/rmsd/kernel/kernel.h"
#include "pleat/rmsd/measures/comparison.h"
#include "pleat/rmsd/superposition/frame_source.h"

namespace pleat::rmsd {

/// The kernel for frames in memory on the context's device; few frames are not worth a GPU.
std::unique_ptr<Kernel> kernel_for(const Frames& frames, const Accuracy& accuracy,
                                   const Context& context);

/// Whether a GPU gets all frames that are read in blocks, and superposes them as if they were in
/// memory (Problem::source). It has no kernel of float64 for that.
bool is_copied_to_gpu(Precision precision, const Context& context);

/// A kernel that keeps the frames of a band and reads the later ones block by block, in turns from
/// the first and from the last, so that the system finds the blocks read last in its memory. On the
/// CPU its values have the bits of the kernel for frames in memory. `source` must outlive it.
/// band() throws InputError, Cancelled.
std::unique_ptr<Kernel> make_block_kernel(const FrameSource& source, const Accuracy& accuracy,
                                          const Context& context);

/// Rows of a band of make_block_kernel(): as many as fit in 1 GiB, up to 960, so that reading the
/// columns costs little. The same on every machine: a run may resume on another.
Index block_band_rows(Index frames);
/// Bytes of memory that it needs besides the values of a band.
std::int64_t block_memory(Index frames, Index atoms);

/// The RMSD of each of `rows` with each of `columns`, [row, column]; rows of `values` begin every
/// `stride` numbers. Reads as many frames as there are. Throws InputError, Cancelled.
void superpose_between(const FrameSource& source, std::span<const Index> rows,
                       std::span<const Index> columns, const Accuracy& accuracy,
                       const Context& context, float* values, Index stride);

/// The same for few rows, in float64 from the frames themselves: no frame is packed.
void superpose_few(const FrameSource& source, std::span<const Index> rows,
                   std::span<const Index> columns, int threads, float* values, Index stride);

}  // namespace pleat::rmsd

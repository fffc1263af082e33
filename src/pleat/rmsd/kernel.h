// Kernels of rmsd: who superposes the pairs of a band of rows, chosen by device.
#pragma once

#include <memory>

#include "pleat/core/context.h"
#include "pleat/core/sweep.h"
#include "pleat/rmsd/frames.h"
#include "pleat/rmsd/host_device.h"

namespace pleat::rmsd {

enum class Precision { mixed, float64 };

/// What is superposed; the frames must outlive the kernel.
struct Problem {
    const Frames* frames = nullptr;
    Precision precision = Precision::mixed;
};

/// Pairs i < j of `frames` frames, in the condensed order: (0, 1), (0, 2), ..., (1, 2), ...
PLEAT_HOST_DEVICE constexpr Index pairs_before(Index row, Index frames) {
    return row * frames - row * (row + 1) / 2;
}

/// Each pair's value depends on its two frames alone, whatever band asks for it and however many
/// threads.
class Kernel {
public:
    virtual ~Kernel() = default;
    /// The RMSD, in angstrom, of each frame i of `rows` and every later frame, in condensed order.
    virtual void band(Block rows, float* rmsd) = 0;
};

/// The one place where a device is chosen. DeviceError.
std::unique_ptr<Kernel> make_kernel(const Problem& problem, const Context& context);

/// Every pair by Jacobi, rotation and residual in float64; one thread.
std::unique_ptr<Kernel> make_reference_kernel(const Problem& problem);

/// Covariances of blocks of pairs as a matrix product, solved a vector of pairs at a time.
std::unique_ptr<Kernel> make_cpu_kernel(const Problem& problem, const Context& context);

/// Every pair by a thread of the GPU `context.device.index`, in float64. DeviceError where that GPU
/// is absent or has not the memory.
std::unique_ptr<Kernel> make_cuda_kernel(const Problem& problem, const Context& context);

}  // namespace pleat::rmsd

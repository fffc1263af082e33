// Kernels of rmsd: who superposes the pairs of a band of rows, chosen by device.
#pragma once

#include <memory>
#include <optional>
#include <stdexcept>

#include "pleat/core/context.h"
#include "pleat/core/loops/sweep.h"
#include "pleat/rmsd/cuda/daura.h"
#include "pleat/rmsd/cuda/tile_layout.h"
#include "pleat/rmsd/pairs/band_tally.h"
#include "pleat/rmsd/pairs/pairs.h"
#include "pleat/rmsd/superposition/frames.h"

namespace pleat::rmsd {

enum class Precision { mixed, float64 };

/// What is superposed; the frames must outlive the kernel.
struct Problem {
    const Frames* frames = nullptr;
    Precision precision = Precision::mixed;
    /// The cut-off on whose side values are to be that float64 has them; of a GPU also the edges of
    /// bins, and what it tallies.
    TallyOptions tally = {};
};

/// Each pair's value depends on its two frames alone, whatever band asks for it and however many
/// threads.
class Kernel {
public:
    virtual ~Kernel() = default;
    /// The RMSD, in angstrom, of each frame i of `rows` and every later frame, in condensed order.
    virtual void band(Block rows, float* rmsd) = 0;
    /// Whether tally() is there: sums and neighbours without values leaving the device.
    virtual bool can_tally() const { return false; }
    /// Adds the pairs of these rows with later frames. Rows of several calls must ascend.
    virtual void tally(Block rows, BandTally& to) {
        (void)rows;
        (void)to;
        throw std::logic_error("this kernel keeps no tally");
    }
};

/// The one place where a device is chosen. DeviceError.
std::unique_ptr<Kernel> make_kernel(const Problem& problem, const Context& context);

/// Every pair by Jacobi, rotation and residual in float64; one thread.
std::unique_ptr<Kernel> make_reference_kernel(const Problem& problem);

/// Covariances of blocks of pairs as a matrix product, solved a vector of pairs at a time.
std::unique_ptr<Kernel> make_cpu_kernel(const Problem& problem, const Context& context);

/// What a GPU kernel may be told beside its problem; for tests and measurements.
struct CudaChoices {
    std::optional<TileFormat> format;  ///< else the one that suits the use
    double* seconds = nullptr;  ///< where time on the GPU is added up; it is measured if there is
};

/// Products of tiles on the GPU `context.device.index` with the solver behind them (README.md);
/// with Precision::float64 every pair in float64 as the reference solves it. DeviceError where that
/// GPU is absent or has not the memory.
std::unique_ptr<Kernel> make_cuda_kernel(const Problem& problem, const Context& context,
                                         const CudaChoices& choices = {});

/// Clustering on a GPU for centred frames; see daura.h.
DauraClusters cluster_on_cuda(const Frames& frames, double cutoff, const Context& context,
                              const CudaChoices& choices = {});

}  // namespace pleat::rmsd

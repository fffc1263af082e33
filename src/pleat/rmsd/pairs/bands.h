// Bands: the RMSD of all pairs handed on band by band, for those who keep no matrix of them.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "pleat/core/context.h"
#include "pleat/core/loops/sweep.h"
#include "pleat/rmsd/cuda/daura.h"
#include "pleat/rmsd/pairs/band_tally.h"
#include "pleat/rmsd/rmsd.h"

namespace pleat::rmsd {

/// Takes the pairs of frames `rows` with all later frames, angstrom, in condensed order; ascending
/// bands, each frame in one. Valid during the call.
using BandVisitor = std::function<void(Block rows, const float* rmsd)>;

/// An ensemble, ready to be superposed as often as one likes, on the context's device.
class Bands {
public:
    /// As rmsd::run() takes them; of the parameters the precision alone counts. UsageError,
    /// InputError, DeviceError.
    Bands(View<const float, 3> xyz, std::span<const double> weights, const Parameters& parameters,
          const Context& context);
    ~Bands();

    Index frame_count() const;
    /// All pairs, once. Cancelled.
    void for_each(std::string_view stage, const BandVisitor& visit) const;
    /// The pairs among these frames; `visit` counts in their list.
    void for_each_among(std::span<const Index> frames, const BandVisitor& visit) const;
    /// The RMSD of each of these frames with every one, [frame, frame_count()]. Values may differ
    /// from for_each()'s by twice error().
    void rows(std::span<const Index> frames, float* rmsd) const;
    /// Histogram, least, most and sum of all pairs, counted on the context's GPU. Cancelled.
    BandTally totals(double bin) const;
    /// Daura's clusters from neighbour bits on the context's GPU; see daura_on_gpu(). DeviceError,
    /// Cancelled.
    DauraClusters daura(double cutoff) const;
    /// One pair in float64 from rotated coordinates, right to 1e-8 angstrom.
    double certain(Index i, Index j) const;
    /// How far, in angstrom, values may be from it, beside their rounding to float32.
    double error() const;

private:
    struct Implementation;
    std::unique_ptr<Implementation> implementation_;
};

}  // namespace pleat::rmsd

// Bands: sweeping a kernel over bands of rows, and over parts of an ensemble as ensembles.
#include "pleat/rmsd/pairs/bands.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "pleat/core/error.h"
#include "pleat/core/hardware/memory.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/rmsd/kernel/kernel.h"
#include "pleat/rmsd/pairs/matrix.h"
#include "pleat/rmsd/pairs/pairs_run.h"
#include "pleat/rmsd/superposition/frames.h"
#include "pleat/rmsd/superposition/superpose.h"

namespace pleat::rmsd {

namespace {

constexpr Index kBandStep = 48;        // rows that the CPU kernel takes at once
constexpr Index kBandPairs = 500'000;  // few enough that a visitor finds them in the cache
constexpr Index kMostRows = 960;
// Parts of fewer frames are not worth a GPU's copies and launches.
constexpr Index kLeastOnGpu = 1000;
// Columns at least that a GPU superposes rows with, and the pairs it counts at once.
constexpr Index kGpuColumns = Index{1} << 17, kGpuPairs = Index{1} << 28;

/// Bands of the first `rows` of `frames`.
std::vector<Tile> small_bands(Index rows, Index frames) {
    const Index step = std::clamp(kBandPairs / std::max<Index>(frames, 1) / kBandStep * kBandStep,
                                  kBandStep, kMostRows);
    std::vector<Tile> tiles;
    for (Index first = 0; first < std::min(rows, frames - 1); first += step) {
        Tile tile;
        tile.id = static_cast<Index>(tiles.size());
        tile.side[0] = {first, std::min(step, rows - first)};
        tile.items = pairs_before(first + tile.side[0].count, frames) - pairs_before(first, frames);
        tiles.push_back(tile);
    }
    return tiles;
}

class VisitorSink final : public TileSink {
public:
    explicit VisitorSink(const BandVisitor& visit) : visit_(visit) {}
    bool has(const Tile&) const override { return false; }
    void put(const Tile& tile, View<const float, 2> output) override {
        visit_(tile.side[0], output.data);
    }

private:
    const BandVisitor& visit_;
};

void check_weights(std::span<const double> weights, Index atoms) {
    if (weights.empty()) return;
    if (static_cast<Index>(weights.size()) != atoms)
        throw InputError(
            fmt::format("expected a weight for each of {} atoms, found {}", atoms, weights.size()));
    double sum = 0.0;
    for (const double weight : weights) {
        if (!(weight >= 0 && weight <= 1e15))
            throw InputError(fmt::format("expected weights from 0 to 1e15, found {}", weight));
        sum += weight;
    }
    if (!(sum > 0)) throw InputError("expected a weight above 0, found none");
}

/// Frames of an ensemble as an ensemble of their own: `chosen`, then `more`.
Frames part_of(const Frames& frames, std::span<const Index> chosen, Block more) {
    const auto count = static_cast<Index>(chosen.size());
    const Index size = 3 * frames.atom_count();
    Frames part;
    part.weight = frames.weight;
    part.xyz = Array<double, 3>::unset(count + more.count, Index{3}, frames.atom_count());
    part.self = Array<double, 1>(count + more.count);
    for (Index n = 0; n < count + more.count; ++n) {
        const Index from = n < count ? chosen[n] : more.first + n - count;
        std::copy_n(frames.frame(from), size, part.xyz.data() + n * size);
        part.self[n] = frames.self[from];
    }
    return part;
}

}  // namespace

struct Bands::Implementation {
    Frames frames;
    Precision precision = Precision::mixed;
    double error = 0.0;
    Context context;
    std::unique_ptr<Kernel> kernel;

    bool has_gpu() const { return context.device.kind == Device::Kind::cuda; }
    std::unique_ptr<Kernel> kernel_for(const Frames& part) const {
        if (has_gpu() && part.frame_count() < kLeastOnGpu)
            return make_cpu_kernel({&part, precision}, context);
        return make_kernel({&part, precision}, context);
    }
};

Bands::Bands(View<const float, 3> xyz, std::span<const double> weights,
             const Parameters& parameters, const Context& context)
    : implementation_(std::make_unique<Implementation>()) {
    Parameters own = parameters;
    own.best = 0;
    check_input(xyz, own);
    check_weights(weights, xyz.extent(1));
    require_memory(memory_needed(xyz.extent(0), xyz.extent(1), own, {Device::Kind::cpu, 0}),
                   fmt::format("{} frames of {} atoms", xyz.extent(0), xyz.extent(1)),
                   "take fewer frames or atoms");
    Implementation& state = *implementation_;
    state.precision = own.precision == "float64" ? Precision::float64 : Precision::mixed;
    state.error = error_of(own);
    state.context = context;
    state.context.comm = nullptr;
    state.frames = centre(xyz, weights, resolve_threads(context));
    state.kernel = make_kernel({&state.frames, state.precision}, state.context);
}

Bands::~Bands() = default;

Index Bands::frame_count() const { return implementation_->frames.frame_count(); }

void Bands::for_each(std::string_view stage, const BandVisitor& visit) const {
    VisitorSink sink(visit);
    const Index frames = frame_count();
    sweep(implementation_->context, stage, small_bands(frames, frames), sink,
          [&](const Tile& tile, View<float, 2> output) {
              implementation_->kernel->band(tile.side[0], output.data);
          });
}

void Bands::for_each_among(std::span<const Index> frames, const BandVisitor& visit) const {
    const Implementation& state = *implementation_;
    const Frames part = part_of(state.frames, frames, {});
    const std::unique_ptr<Kernel> kernel = state.kernel_for(part);
    const Index count = part.frame_count();
    std::vector<float> band;
    for (const Tile& tile : small_bands(count, count)) {
        if (state.context.cancelled())
            throw Cancelled("stopped before the clusters were described");
        band.resize(static_cast<std::size_t>(tile.items));
        kernel->band(tile.side[0], band.data());
        visit(tile.side[0], band.data());
    }
}

void Bands::rows(std::span<const Index> frames, float* rmsd) const {
    const Implementation& state = *implementation_;
    const Index all = frame_count(), chosen = static_cast<Index>(frames.size());
    // So many columns at a time that packing the rows with them costs little.
    const Index step = std::max<Index>(8 * chosen, state.has_gpu() ? kGpuColumns : 4096);
    std::vector<float> band;
    for (Index first = 0; first < all; first += step) {
        if (state.context.cancelled()) throw Cancelled("stopped while rows were superposed");
        const Block columns{first, std::min(step, all - first)};
        const Frames part = part_of(state.frames, frames, columns);
        const std::unique_ptr<Kernel> kernel = state.kernel_for(part);
        const Index count = part.frame_count();
        for (const Tile& tile : small_bands(chosen, count)) {
            band.resize(static_cast<std::size_t>(tile.items));
            kernel->band(tile.side[0], band.data());
            const float* at = band.data();
            for (Index n = tile.side[0].first; n < tile.side[0].first + tile.side[0].count; ++n) {
                std::copy_n(at + chosen - n - 1, columns.count, rmsd + n * all + first);
                at += count - 1 - n;
            }
        }
    }
    for (Index n = 0; n < chosen; ++n) rmsd[n * all + frames[n]] = 0.0f;
}

BandTally Bands::totals(double bin) const {
    const Implementation& state = *implementation_;
    const Index count = frame_count();
    const std::unique_ptr<Kernel> kernel =
        make_kernel({&state.frames, Precision::mixed, {bin, 0.0}}, state.context);
    BandTally all;
    for (const Tile& tile : bands(count, kGpuPairs, kTileRows)) {
        const Block rows = tile.side[0];
        kernel->tally(rows, all);
        state.context.update("distances", rows.first + rows.count, count);
        if (state.context.cancelled())
            throw Cancelled("distances: stopped; nothing of it was kept");
    }
    return all;
}

DauraClusters Bands::daura(double cutoff) const {
    return cluster_on_cuda(implementation_->frames, cutoff, implementation_->context);
}

double Bands::certain(Index i, Index j) const {
    return certain_rmsd(implementation_->frames, i, j);
}

double Bands::error() const { return implementation_->error; }

}  // namespace pleat::rmsd

// Debye: checks a model, divides frames among ranks, keeps finished profiles, combines channels.
#include "pleat/saxs/debye/debye.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <memory>

#include "pleat/core/error.h"
#include "pleat/core/files/hash.h"
#include "pleat/core/hardware/memory.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/core/loops/steps.h"
#include "pleat/core/loops/sweep.h"
#include "pleat/core/loops/tile_file.h"
#include "pleat/core/ranks/gather_rows.h"
#include "pleat/core/ranks/lanes.h"
#include "pleat/saxs/debye/sorted_scatterers.h"
#include "pleat/saxs/kernel/kernel.h"

namespace pleat::saxs {

namespace {

/// Frames per tile: enough to keep a device busy, few enough for frequent progress reports.
Index frames_per_tile(const Model& model) {
    const double pairs = 0.5 * static_cast<double>(model.scatterer_count()) *
                         static_cast<double>(model.scatterer_count());
    return std::clamp<Index>(static_cast<Index>(1e9 / std::max(pairs, 1.0)), 1, 256);
}

std::vector<Tile> make_tiles(const Model& model, Index frames) {
    constexpr Index kFloatsPerDouble = 2;
    std::vector<Tile> tiles;
    const Index size = frames_per_tile(model);
    for (Index first = 0; first < frames; first += size) {
        Tile tile;
        tile.id = std::ssize(tiles);
        tile.side[0] = {first, std::min(size, frames - first)};
        tile.items = tile.side[0].count;
        tile.values = kFloatsPerDouble * model.pair_count() * model.q_count();
        tiles.push_back(tile);
    }
    return tiles;
}

/// A 64-bit checksum of many numbers, much faster than SHA-256.
std::uint64_t checksum(View<const float, 2> numbers) {
    std::uint64_t sum = 0;
    for (Index n = 0; n < numbers.size(); ++n) {
        sum = (sum ^ std::bit_cast<std::uint32_t>(numbers.data[n])) * 0x9e3779b97f4a7c15u;
        sum ^= sum >> 32;
    }
    return sum;
}

/// A hash of all input that determines the bits of the profiles.
std::string problem_hash(const Model& model, View<const float, 3> xyz, View<const float, 3> scales,
                         const Options& options, const Context& context) {
    Sha256 hash;
    hash.field(View<const double, 1>(model.q.data(), model.q_count()));
    hash.field(View<const std::int32_t, 1>(model.types.data(), model.scatterer_count()));
    hash.field(model.factors.view());
    for (const std::uint8_t scaled : model.scaled) hash.field(scaled);
    for (const View<const float, 3>& numbers : {xyz, scales}) {
        for (const Index extent : numbers.extents) hash.field(extent);
        std::vector<std::uint64_t> sums(numbers.extent(0));
        parallel_for(resolve_threads(context), numbers.extent(0),
                     [&](Index frame, int) { sums[frame] = checksum(numbers[frame]); });
        hash.field(View<const std::uint64_t, 1>(sums.data(), numbers.extent(0)));
    }
    hash.field(static_cast<int>(options.precision)).field(static_cast<int>(options.method));
    // GPUs have used multipoles since 2.
    constexpr int kGpuKernels = 2;
    hash.field(context.device.kind == Device::Kind::cuda ? 100 + kGpuKernels
                                                         : static_cast<int>(context.device.kind));
    return hash.hex();
}

/// Computes the missing tiles on the ranks of this run into `partial`, and marks in `has_frame`
/// [frame] the frames of this rank. `file` may be null.
void compute_tiles(const Context& context, const std::vector<Tile>& tiles, TileFile* file,
                   const std::function<void(const Tile&)>& compute, View<double, 3> partial,
                   std::vector<std::uint8_t>& has_frame) {
    const auto mark = [&](const Tile& tile) {
        std::fill_n(has_frame.begin() + tile.side[0].first, tile.side[0].count, std::uint8_t{1});
    };
    const auto out = [&](const Tile& tile) { return partial[tile.side[0].first].data; };
    if (file != nullptr && context.rank() == 0) {
        for (const Tile& tile : tiles) {
            if (!file->has(tile)) continue;
            const std::span<const std::uint8_t> kept = file->bytes(tile);
            std::ranges::copy(kept, reinterpret_cast<std::uint8_t*>(out(tile)));
            mark(tile);
        }
    }
    TileWork work{.compute = [&](const Tile& tile) {
        compute(tile);
        mark(tile);
        if (file != nullptr) file->put_bytes(tile, out(tile));
    }};
    if (file != nullptr) {
        work.is_done = [&](const Tile& tile) { return file->has(tile); };
        work.flush = [&] { file->flush(); };
        work.resume_file = [&] { return file->resume_file(); };
    }
    for_each_tile(context, "profiles", tiles, work);
}

}  // namespace

std::span<const std::string_view> names_of(Precision) {
    static constexpr std::string_view kNames[] = {"auto", "float32", "float64"};
    return kNames;
}

std::span<const std::string_view> names_of(Method) {
    static constexpr std::string_view kNames[] = {"auto", "debye", "multipole"};
    return kNames;
}

std::optional<WrongCoordinate> find_wrong_coordinate(View<const float, 3> xyz, int threads) {
    std::vector<std::uint8_t> is_wrong(xyz.extent(0));
    parallel_for(threads, xyz.extent(0), [&](Index n, int) {
        int wrong = 0;
        for (const float x : xyz[n]) wrong += !(std::fabs(x) <= kMaxCoordinate);
        is_wrong[n] = wrong > 0;
    });
    const auto first = std::ranges::find(is_wrong, std::uint8_t{1});
    if (first == is_wrong.end()) return std::nullopt;
    const Index set = first - is_wrong.begin();
    for (const float x : xyz[set])
        if (!(std::fabs(x) <= kMaxCoordinate)) return WrongCoordinate{set, x};
    return std::nullopt;
}

Index Model::scale_count() const { return static_cast<Index>(std::ranges::count(scaled, 1)); }

void check(const Model& model) {
    if (model.q.empty()) throw UsageError("expected at least 1 value of q, found none");
    for (std::size_t k = 0; k < model.q.size(); ++k) {
        const double q = model.q[k];
        if (!(q >= 0.0 && q <= 1e3))
            throw UsageError(fmt::format("expected q from 0 to 1000 1/angstrom, found {}", q));
        if (k > 0 && !(q > model.q[k - 1]))
            throw UsageError(
                fmt::format("expected rising q, found {} after {}", q, model.q[k - 1]));
    }
    if (model.types.empty()) throw UsageError("expected at least 1 scatterer, found none");
    if (model.channel_count() < 1 || model.type_count() < 1 ||
        model.factors.extent(2) != model.q_count())
        throw UsageError(fmt::format(
            "expected form factors [channel, type, {}], found [{}, {}, {}]", model.q_count(),
            model.factors.extent(0), model.factors.extent(1), model.factors.extent(2)));
    if (std::ssize(model.scaled) != model.channel_count())
        throw UsageError(fmt::format("expected {} marks of scaled channels, found {}",
                                     model.channel_count(), model.scaled.size()));
    for (std::size_t c = 0; c < model.scaled.size(); ++c)
        if (model.scaled[c] > 2 || (model.scaled[c] == 2 && (c == 0 || model.scaled[c - 1] == 0)))
            throw UsageError(fmt::format(
                "expected marks of scaled channels 0, 1, or 2 behind one that is scaled, found {}",
                model.scaled[c]));
    for (const std::int32_t type : model.types)
        if (type < 0 || type >= model.type_count())
            throw UsageError(
                fmt::format("expected types from 0 to {}, found {}", model.type_count() - 1, type));
    for (const double f : model.factors)
        if (!(std::fabs(f) <= 1e9))
            throw UsageError(
                fmt::format("expected form factors within 1e9 electrons, found {}", f));
}

void check_sets(const Model& model, View<const float, 3> xyz, View<const float, 3> scales,
                const char* set, int threads) {
    if (xyz.extent(1) != 3 || xyz.extent(2) != model.scatterer_count())
        throw UsageError(fmt::format("expected coordinates [{}, 3, {}], found [{}, {}, {}]", set,
                                     model.scatterer_count(), xyz.extent(0), xyz.extent(1),
                                     xyz.extent(2)));
    const Index scale_count = model.scale_count();
    if (scale_count > 0 && (scales.extent(0) != xyz.extent(0) || scales.extent(1) != scale_count ||
                            scales.extent(2) != model.scatterer_count()))
        throw UsageError(fmt::format("expected scales [{}, {}, {}], found [{}, {}, {}]",
                                     xyz.extent(0), scale_count, model.scatterer_count(),
                                     scales.extent(0), scales.extent(1), scales.extent(2)));
    if (const auto wrong = find_wrong_coordinate(xyz, threads))
        throw InputError(fmt::format("{} {}: expected coordinates within 1e8 angstrom, found {}",
                                     set, wrong->set, wrong->value));
    if (scale_count == 0) return;
    for (const float s : scales)
        if (!std::isfinite(s)) throw InputError(fmt::format("expected finite scales, found {}", s));
}

Array<double, 3> profiles(const Model& model, View<const float, 3> xyz, View<const float, 3> scales,
                          const Options& options, const Context& context) {
    check(model);
    const int threads = resolve_threads(context);
    check_sets(model, xyz, scales, "frame", threads);
    require_memory(kernel_memory(ModelSize(model), options, {Device::Kind::cpu, 0}),
                   fmt::format("profiles of {} scatterers", model.scatterer_count()),
                   "take fewer scatterers or values of q");
    const Index frames = xyz.extent(0);
    auto partial = Array<double, 3>::unset(frames, model.pair_count(), model.q_count());
    if (frames == 0) return partial;
    const std::vector<Tile> tiles = make_tiles(model, frames);
    const bool has_file = !context.checkpoint.empty() && tiles.size() > 1;
    const std::string problem =
        has_file ? problem_hash(model, xyz, scales, options, context) : std::string();
    // The lanes of this process share the array of profiles; each writes those of its tiles.
    std::vector<std::uint8_t> has_frame(frames);
    on_lanes(context, [&](const Context& lane) {
        const std::unique_ptr<Kernel> kernel = make_kernel(model, options, lane);
        if (lane.device.kind == Device::Kind::cuda) StageProgress(lane, "device", 1).advance_to(1);
        std::unique_ptr<TileFile> file;
        if (has_file) file = open_on_ranks(lane, lane.checkpoint, problem, tiles);
        const auto compute = [&](const Tile& tile) {
            const auto [first, count] = tile.side[0];
            const View<double, 3> out = frames_of(partial.view(), first, count);
            std::ranges::fill(out, 0.0);  // its pages are then those of this thread
            kernel->profiles(frames_of(xyz, first, count), frames_of(scales, first, count), out);
        };
        compute_tiles(lane, tiles, file.get(), compute, partial, has_frame);
    });
    all_gather_rows(context,
                    View<double, 2>(partial.data(), frames, model.pair_count() * model.q_count()),
                    has_frame);
    return partial;
}

std::vector<double> combine(View<const double, 2> partial, std::span<const double> weights) {
    const Index channels = std::ssize(weights);
    std::vector<double> profile(partial.extent(1), 0.0);
    for (Index a = 0; a < channels; ++a) {
        for (Index b = a; b < channels; ++b) {
            const double weight = weights[a] * weights[b];
            for (Index k = 0; k < partial.extent(1); ++k)
                profile[k] += weight * partial(channel_pair(a, b, channels), k);
        }
    }
    return profile;
}

}  // namespace pleat::saxs

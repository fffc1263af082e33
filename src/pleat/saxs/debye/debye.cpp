// Debye: checks a model, deals frames over ranks, and combines channels.
#include "pleat/saxs/debye/debye.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "pleat/core/error.h"
#include "pleat/core/hardware/memory.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/core/loops/sweep.h"
#include "pleat/saxs/kernel/kernel.h"

namespace pleat::saxs {

namespace {

/// Angstrom; beyond it float32 knows no difference that a profile could show.
constexpr float kFarthest = 1e8f;

/// Frames of a tile: enough to fill a device, few enough for progress.
Index frames_at_once(const Model& model) {
    const double pairs = 0.5 * static_cast<double>(model.scatterer_count()) *
                         static_cast<double>(model.scatterer_count());
    return std::clamp<Index>(static_cast<Index>(1e9 / std::max(pairs, 1.0)), 1, 256);
}

void check_frames(const Model& model, View<const float, 3> xyz, View<const float, 3> scales) {
    if (xyz.extent(1) != 3 || xyz.extent(2) != model.scatterer_count())
        throw InputError(fmt::format("expected coordinates [frame, 3, {}], found [frame, {}, {}]",
                                     model.scatterer_count(), xyz.extent(1), xyz.extent(2)));
    const Index scale_count = model.scale_count();
    if (scale_count > 0 && (scales.extent(0) != xyz.extent(0) || scales.extent(1) != scale_count ||
                            scales.extent(2) != model.scatterer_count()))
        throw InputError(fmt::format("expected scales [{}, {}, {}], found [{}, {}, {}]",
                                     xyz.extent(0), scale_count, model.scatterer_count(),
                                     scales.extent(0), scales.extent(1), scales.extent(2)));
    for (Index frame = 0; frame < xyz.extent(0); ++frame)
        for (const float x : xyz[frame])
            if (!(std::fabs(x) <= kFarthest))
                throw InputError(fmt::format(
                    "expected coordinates within 1e8 angstrom, found {} in frame {}", x, frame));
    if (scale_count == 0) return;
    for (const float s : scales)
        if (!std::isfinite(s)) throw InputError(fmt::format("expected finite scales, found {}", s));
}

/// Tiles carry floats; a profile's doubles pass through as two words each.
constexpr Index kWords = 2;

class ProfileSink final : public TileSink {
public:
    ProfileSink(View<double, 3> to, std::size_t tiles) : to_(to), has_(tiles) {}
    bool has(const Tile& tile) const override { return has_[static_cast<std::size_t>(tile.id)]; }
    void put(const Tile& tile, View<const float, 2> output) override {
        std::memcpy(to_[tile.side[0].first].data, output.data,
                    static_cast<std::size_t>(output.size()) * sizeof(float));
        has_[static_cast<std::size_t>(tile.id)] = true;
    }
    const std::vector<bool>& done() const { return has_; }

private:
    View<double, 3> to_;
    std::vector<bool> has_;
};

/// Every rank gets the tiles of the others.
void share(Comm& comm, std::span<const Tile> tiles, const std::vector<bool>& own,
           View<double, 3> partial) {
    const std::size_t frame_bytes = static_cast<std::size_t>(partial[0].size()) * sizeof(double);
    const auto place = [&](const Tile& tile) { return partial[tile.side[0].first].data; };
    std::vector<std::uint8_t> bytes;
    for (const Tile& tile : tiles) {
        if (!own[static_cast<std::size_t>(tile.id)]) continue;
        const std::size_t size = frame_bytes * static_cast<std::size_t>(tile.items);
        const std::size_t at = bytes.size();
        bytes.resize(at + sizeof(tile.id) + size);
        std::memcpy(bytes.data() + at, &tile.id, sizeof(tile.id));
        std::memcpy(bytes.data() + at + sizeof(tile.id), place(tile), size);
    }
    const std::vector<std::vector<std::uint8_t>> all = comm.gather(bytes, 0);
    for (const std::vector<std::uint8_t>& from : all) {
        for (std::size_t at = 0; at < from.size();) {
            Index id = 0;
            std::memcpy(&id, from.data() + at, sizeof(id));
            const Tile& tile = tiles[static_cast<std::size_t>(id)];
            const std::size_t size = frame_bytes * static_cast<std::size_t>(tile.items);
            std::memcpy(place(tile), from.data() + at + sizeof(id), size);
            at += sizeof(id) + size;
        }
    }
    bytes.resize(frame_bytes * static_cast<std::size_t>(partial.extent(0)));
    std::memcpy(bytes.data(), partial.data, bytes.size());
    comm.broadcast(bytes, 0);
    std::memcpy(partial.data, bytes.data(), bytes.size());
}

}  // namespace

Index Model::scale_count() const {
    return static_cast<Index>(
        std::count_if(scaled.begin(), scaled.end(), [](std::uint8_t s) { return s != 0; }));
}

void check(const Model& model) {
    if (model.q.empty()) throw InputError("expected at least 1 value of q, found none");
    for (std::size_t k = 0; k < model.q.size(); ++k) {
        const double q = model.q[k];
        if (!(q >= 0.0 && q <= 1e3))
            throw InputError(fmt::format("expected q from 0 to 1000 1/angstrom, found {}", q));
        if (k > 0 && !(q > model.q[k - 1]))
            throw InputError(
                fmt::format("expected rising q, found {} after {}", q, model.q[k - 1]));
    }
    if (model.types.empty()) throw InputError("expected at least 1 scatterer, found none");
    if (model.channel_count() < 1 || model.type_count() < 1 ||
        model.factors.extent(2) != model.q_count())
        throw InputError(fmt::format(
            "expected form factors [channel, type, {}], found [{}, {}, {}]", model.q_count(),
            model.factors.extent(0), model.factors.extent(1), model.factors.extent(2)));
    if (static_cast<Index>(model.scaled.size()) != model.channel_count())
        throw InputError(fmt::format("expected {} marks of scaled channels, found {}",
                                     model.channel_count(), model.scaled.size()));
    for (const std::int32_t type : model.types)
        if (type < 0 || type >= model.type_count())
            throw InputError(
                fmt::format("expected types from 0 to {}, found {}", model.type_count() - 1, type));
    for (const double f : model.factors)
        if (!(std::fabs(f) <= 1e9))
            throw InputError(
                fmt::format("expected form factors within 1e9 electrons, found {}", f));
}

Array<double, 3> profiles(const Model& model, View<const float, 3> xyz, View<const float, 3> scales,
                          const Options& options, const Context& context) {
    check(model);
    check_frames(model, xyz, scales);
    require_memory(memory_needed(model, options, {Device::Kind::cpu, 0}),
                   fmt::format("profiles of {} scatterers", model.scatterer_count()),
                   "take fewer scatterers or values of q");
    const Index frames = xyz.extent(0);
    Array<double, 3> partial(frames, model.pair_count(), model.q_count());
    if (frames == 0) return partial;
    const std::unique_ptr<Kernel> kernel = make_kernel(model, options, context);
    std::vector<Tile> tiles;
    const Index at_once = frames_at_once(model);
    for (Index first = 0; first < frames; first += at_once) {
        Tile tile;
        tile.id = static_cast<Index>(tiles.size());
        tile.side[0] = {first, std::min(at_once, frames - first)};
        tile.items = tile.side[0].count;
        tile.values = kWords * model.pair_count() * model.q_count();
        tiles.push_back(tile);
    }
    const auto part = [](View<const float, 3> of, Block block) {
        View<const float, 3> result = of;
        if (of.size() == 0) return result;
        result.data = of[block.first].data;
        result.extents[0] = block.count;
        return result;
    };
    ProfileSink sink(partial, tiles.size());
    sweep(context, "saxs", tiles, sink, [&](const Tile& tile, View<float, 2> output) {
        Array<double, 3> values(tile.items, model.pair_count(), model.q_count());
        kernel->profiles(part(xyz, tile.side[0]), part(scales, tile.side[0]), values);
        std::memcpy(output.data, values.data(), values.bytes());
    });
    if (context.comm != nullptr && context.comm->size() > 1)
        share(*context.comm, tiles, sink.done(), partial);
    return partial;
}

std::vector<double> combine(View<const double, 2> partial, std::span<const double> weights) {
    const Index channels = static_cast<Index>(weights.size());
    std::vector<double> profile(static_cast<std::size_t>(partial.extent(1)), 0.0);
    for (Index a = 0; a < channels; ++a) {
        for (Index b = a; b < channels; ++b) {
            const double weight =
                weights[static_cast<std::size_t>(a)] * weights[static_cast<std::size_t>(b)];
            for (Index k = 0; k < partial.extent(1); ++k)
                profile[static_cast<std::size_t>(k)] +=
                    weight * partial(channel_pair(a, b, channels), k);
        }
    }
    return profile;
}

}  // namespace pleat::saxs

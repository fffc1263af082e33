// Stage: names of checkpoints, and pairs shared by ranks.
#include "pleat/cluster/stage.h"

#include <fmt/format.h>

#include <algorithm>

#include "pleat/core/array.h"
#include "pleat/core/files/hash.h"
#include "pleat/core/ranks/gather_rows.h"

namespace pleat::cluster {

std::filesystem::path stage_file(const std::filesystem::path& checkpoint, std::string_view name) {
    if (checkpoint.empty()) return {};
    return checkpoint.parent_path() / fmt::format("{}.{}{}", checkpoint.stem().string(), name,
                                                  checkpoint.extension().string());
}

Context stage_context(const Context& context, const PairSource& source, std::string_view name) {
    Context own = context;
    own.checkpoint = stage_file(context.checkpoint, name);
    if (source.is_stored()) {
        own.checkpoint.clear();
        own.comm = nullptr;
    }
    return own;
}

void sum_over_pairs(const PairSource& source, const Context& context, std::string_view stage,
                    std::string_view options, const std::function<void(AdditiveCheckpoint&)>& join,
                    const BandVisitor& add) {
    const std::vector<Tile> tiles = cut_into_bands(source.count(), source.band_rows());
    sum_over_tiles(
        context, stage, tiles, [&] { return Sha256().field(source.hash()).field(options).hex(); },
        join,
        [&](const Tile& tile, View<float, 2> output) { source.band(tile.side[0], output.data); },
        [&](const Tile& tile, View<const float, 2> output) { add(tile.side[0], output.data); });
}

std::vector<Tile> tiles_of(Index count, Index batch) {
    std::vector<Tile> tiles;
    for (Index first = 0; first < count; first += batch) {
        Tile tile;
        tile.id = static_cast<Index>(tiles.size());
        tile.side[0] = {first, std::min(batch, count - first)};
        tiles.push_back(tile);
    }
    return tiles;
}

void gather_rows_of(const PairSource& source, const Context& context, std::span<const Index> items,
                    Index batch, float* values) {
    const Index all = source.count(), count = static_cast<Index>(items.size());
    const Index batches = (count + batch - 1) / batch;
    const RankRows own(context);
    for (Index n = 0; n < own.count_of(batches); ++n) {
        const Index first = own.row(n) * batch;
        source.rows(items.subspan(first, std::min(batch, count - first)), values + first * all);
    }
    if (own.ranks == 1) return;
    // Gathers full batches, although the last one may have fewer rows.
    Array<float, 2> whole(batches, batch * all);
    std::copy_n(values, count * all, whole.data());
    all_gather_rows(context, whole.view());
    std::copy_n(whole.data(), count * all, values);
}

}  // namespace pleat::cluster

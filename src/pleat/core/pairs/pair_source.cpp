// Pair source: bands one after another, and pairs in memory.
#include "pleat/core/pairs/pair_source.h"

#include <algorithm>
#include <utility>

#include "pleat/core/files/hash.h"
#include "pleat/core/loops/steps.h"

namespace pleat {

std::vector<Tile> cut_into_bands(Index count, Index rows) {
    std::vector<Tile> tiles;
    for (Index first = 0; first < count - 1; first += rows) {
        Tile tile;
        tile.id = static_cast<Index>(tiles.size());
        tile.side[0] = {first, std::min(rows, count - first)};
        tile.items = pairs_before(first + tile.side[0].count, count) - pairs_before(first, count);
        tiles.push_back(tile);
    }
    return tiles;
}

void for_each_band(const PairSource& source, const Context& context, std::string_view stage,
                   const BandVisitor& visit) {
    const std::vector<Tile> tiles = cut_into_bands(source.count(), source.band_rows());
    std::vector<float> values;
    for_each_block(context, stage, static_cast<Index>(tiles.size()), 1, [&](Index n, Index) {
        const Tile& tile = tiles[static_cast<std::size_t>(n)];
        values.resize(static_cast<std::size_t>(tile.items));
        source.band(tile.side[0], values.data());
        visit(tile.side[0], values.data());
    });
}

void PairSource::between(std::span<const Index> items, std::span<const Index> others,
                         float* values) const {
    std::vector<float> row(static_cast<std::size_t>(count()));
    for (const Index item : items) {
        rows({&item, 1}, row.data());
        for (const Index other : others) *values++ = row[static_cast<std::size_t>(other)];
    }
}

StoredPairs::StoredPairs(Index count, std::vector<float> condensed)
    : count_(count), condensed_(std::move(condensed)) {}

float StoredPairs::at(Index i, Index j) const {
    if (i == j) return 0.0f;
    if (i > j) std::swap(i, j);
    return condensed_[static_cast<std::size_t>(pairs_before(i, count_) + j - i - 1)];
}

void StoredPairs::band(Block rows, float* values) const {
    const Index first = pairs_before(rows.first, count_);
    std::copy_n(condensed_.data() + first, pairs_before(rows.first + rows.count, count_) - first,
                values);
}

Index StoredPairs::band_rows() const {
    constexpr Index kBandPairs = 500'000;
    return std::max<Index>(1, kBandPairs / std::max<Index>(count_, 1));
}

void StoredPairs::rows(std::span<const Index> items, float* values) const {
    const auto chosen = static_cast<Index>(items.size());
    for (Index n = 0; n < chosen; ++n) {
        const Index i = items[n];
        values[n * count_ + i] = 0.0f;
        std::copy_n(condensed_.data() + pairs_before(i, count_), count_ - 1 - i,
                    values + n * count_ + i + 1);
    }
    // Pairs of one item with consecutive later items are consecutive in memory.
    for (Index j = 0; j < count_; ++j) {
        const Index before = pairs_before(j, count_) - j - 1;
        for (Index n = 0; n < chosen; ++n)
            if (items[n] > j) values[n * count_ + j] = condensed_[before + items[n]];
    }
}

void StoredPairs::among(std::span<const Index> items, const BandVisitor& visit) const {
    visit_among(items, visit, [&](Index i, Index j) { return at(i, j); });
}

std::string StoredPairs::hash() const {
    return Sha256()
        .field(View<const float, 1>(condensed_.data(), static_cast<Index>(condensed_.size())))
        .hex();
}

}  // namespace pleat

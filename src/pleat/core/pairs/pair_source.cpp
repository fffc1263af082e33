// Pair source: bands of rows, and pairs in memory.
#include "pleat/core/pairs/pair_source.h"

#include <algorithm>
#include <stdexcept>

#include "pleat/core/files/hash.h"

namespace pleat {

std::vector<Tile> cut_into_bands(Index count, Index rows) {
    std::vector<Tile> tiles;
    for (Index first = 0; first < count - 1; first += rows) {
        Tile tile;
        tile.id = std::ssize(tiles);
        tile.side[0] = {first, std::min(rows, count - first)};
        tile.items = pairs_before(first + tile.side[0].count, count) - pairs_before(first, count);
        tiles.push_back(tile);
    }
    return tiles;
}

Index PairSource::band_rows() const {
    constexpr Index kBandPairs = 500'000;
    return std::max<Index>(1, kBandPairs / std::max<Index>(count(), 1));
}

bool PairCounter::sum_among(std::span<const Index>, const Context&, std::vector<double>&,
                            std::vector<float>&) {
    return false;
}

DeviceClusters PairSource::gromos(double, std::vector<std::int32_t>, const Context&) const {
    throw std::logic_error("no device clusters these pairs");
}

void PairSource::between(std::span<const Index> items, std::span<const Index> others,
                         float* values) const {
    std::vector<float> row(count());
    for (const Index item : items) {
        rows({&item, 1}, row.data());
        for (const Index other : others) *values++ = row[other];
    }
}

template <class Real>
void MatrixPairs<Real>::band(Block rows, float* values) const {
    for (Index i = rows.first; i < rows.first + rows.count; ++i)
        values = std::copy_n(later(i), count_ - 1 - i, values);
}

template <class Real>
void MatrixPairs<Real>::rows(std::span<const Index> items, float* values) const {
    const auto chosen = std::ssize(items);
    for (Index n = 0; n < chosen; ++n) {
        const Index i = items[n];
        values[n * count_ + i] = 0.0f;
        std::copy_n(later(i), count_ - 1 - i, values + n * count_ + i + 1);
    }
    // Pairs of one item with consecutive later items are consecutive in memory.
    for (Index j = 0; j < count_; ++j) {
        const Real* const of_earlier = later(j) - j - 1;
        for (Index n = 0; n < chosen; ++n)
            if (items[n] > j) values[n * count_ + j] = static_cast<float>(of_earlier[items[n]]);
    }
}

template <class Real>
void MatrixPairs<Real>::among(std::span<const Index> items, const BandVisitor& visit) const {
    visit_among(items, visit, [&](Index i, Index j) { return at(i, j); });
}

template <class Real>
std::string MatrixPairs<Real>::hash() const {
    const Index size = is_square_ ? count_ * count_ : pairs_before(count_, count_);
    return Sha256().field(View<const Real, 1>(values_, size)).hex();
}

template class MatrixPairs<float>;
template class MatrixPairs<double>;

}  // namespace pleat

// Tile bits: dividing the rows of bits among GPUs.
#include "pleat/rmsd/cuda/tile_bits.h"

#include "pleat/core/pairs/pair_order.h"
#include "pleat/rmsd/cuda/tile_layout.h"

namespace pleat::rmsd {

namespace {

/// Pairs of a band: few enough that parts get about equally many.
Index band_pairs(Index frames, int parts) {
    constexpr Index kMaxPairs = Index{1} << 28, kBandsOfPart = 64;
    return std::min(kMaxPairs, pairs_before(frames, frames) / (kBandsOfPart * parts));
}

}  // namespace

std::vector<BitBand> deal_bits(Index frames, int parts) {
    const Index pairs = band_pairs(frames, parts);
    std::vector<Index> squares(static_cast<std::size_t>(parts));
    std::vector<BitBand> bands;
    for (Index first = 0; first < frames;) {
        const Index tiles = std::max<Index>(pairs / (frames - first) / kTileRows, 1);
        const Block rows{first, std::min(tiles * kTileRows, frames - first)};
        const auto fewest = std::min_element(squares.begin(), squares.end());
        *fewest += squares_of(rows, frames);
        bands.push_back({rows, static_cast<int>(fewest - squares.begin())});
        first += rows.count;
    }
    return bands;
}

std::int64_t bit_memory(Index frames, int parts) {
    constexpr std::int64_t kSquareBytes = 4 * kBitSide, kFrameBytes = 20;
    const Index side = bit_side(frames), all = squares_of({0, frames}, frames);
    // The part with the fewest squares never has more than the mean, and gets one band more. Rows
    // of a band are no more than the frames after them.
    constexpr Index kRounding = 1024;
    const Index band =
        band_pairs(frames, parts) / (kBitSide * kBitSide) + kTileRows / kBitSide * side + kRounding;
    const Index max = parts == 1 ? all : std::min(all, all / parts + band);
    return max * kSquareBytes + kFrameBytes * side * kBitSide;
}

}  // namespace pleat::rmsd

// Matrix: cutting rows into bands, and copying their outputs into an .npy file.
#include "pleat/rmsd/pairs/matrix.h"

#include <algorithm>

#include "pleat/core/files/npy_header.h"
#include "pleat/core/files/output_file.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/core/pairs/pair_source.h"

namespace pleat::rmsd {

namespace {

constexpr Index kMaxRows = 960;

/// Writes rows of the full matrix from the condensed one. Columns before the diagonal are gathered
/// for several consecutive rows at a time, since the pairs of one such column and these rows lie
/// side by side.
void write_full(OutputFile& to, Index frames, std::span<const Tile> tiles, const TileFile& file,
                float value_of_equal_structures) {
    constexpr Index kRowsAtOnce = 64;
    std::vector<const float*> rows(
        static_cast<std::size_t>(frames));  // (i, i + 1), (i, i + 2), ...
    for (const Tile& tile : tiles) {
        const float* at = file.output(tile).data;
        for (Index i = tile.side[0].first; i < tile.side[0].first + tile.side[0].count; ++i) {
            rows[i] = at;
            at += frames - 1 - i;
        }
    }
    std::vector<float> buffer(static_cast<std::size_t>(kRowsAtOnce * frames));
    for (Index first = 0; first < frames; first += kRowsAtOnce) {
        const Index count = std::min(kRowsAtOnce, frames - first);
        for (Index j = 0; j < first + count; ++j)
            for (Index i = std::max(first, j + 1); i < first + count; ++i)
                buffer[(i - first) * frames + j] = rows[j][i - j - 1];
        for (Index i = first; i < first + count; ++i) {
            float* const row = buffer.data() + (i - first) * frames;
            row[i] = value_of_equal_structures;
            std::copy_n(rows[i], frames - 1 - i, row + i + 1);
        }
        to.write(buffer.data(), static_cast<std::size_t>(count * frames) * sizeof(float));
    }
}

}  // namespace

std::vector<Tile> bands(Index frames, Index pairs, Index step) {
    return cut_into_bands(frames, std::clamp(pairs / std::max<Index>(frames, 1) / step * step, step,
                                             kMaxRows / step * step));
}

void complete_full(float* matrix, Index frames, int threads, float value_of_equal_structures) {
    constexpr Index kBlock = 64;  // rows and columns that the cache holds
    const Index blocks = (frames + kBlock - 1) / kBlock;
    parallel_for(threads, blocks, [&](Index block, int) {
        const Index first = block * kBlock, end = std::min(first + kBlock, frames);
        for (Index left = 0; left < end; left += kBlock)
            for (Index i = first; i < end; ++i)
                for (Index j = left; j < std::min(left + kBlock, i); ++j)
                    matrix[i * frames + j] = matrix[j * frames + i];
        for (Index i = first; i < end; ++i) matrix[i * frames + i] = value_of_equal_structures;
    });
}

namespace {

void write_tiles(OutputFile& to, std::span<const Tile> tiles, const TileFile& file) {
    for (const Tile& tile : tiles)
        to.write(file.output(tile).data, static_cast<std::size_t>(tile.items) * sizeof(float));
}

}  // namespace

void write_rectangle(const std::filesystem::path& path, Index frames, Index others,
                     std::span<const Tile> tiles, const TileFile& file) {
    OutputFile to(path);
    to.write(npy_header("<f4", {frames, others}));
    write_tiles(to, tiles, file);
    to.close();
}

void write_matrix(const std::filesystem::path& path, Index frames, std::span<const Tile> tiles,
                  const TileFile& file, bool full, float value_of_equal_structures) {
    OutputFile to(path);
    if (full) {
        to.write(npy_header("<f4", {frames, frames}));
        write_full(to, frames, tiles, file, value_of_equal_structures);
    } else {
        to.write(npy_header("<f4", {frames * (frames - 1) / 2}));
        write_tiles(to, tiles, file);
    }
    to.close();
}

}  // namespace pleat::rmsd

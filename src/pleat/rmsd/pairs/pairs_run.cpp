// Pairs run: bands to a file of tiles or straight to the result, on one rank or several.
#include "pleat/rmsd/pairs/pairs_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "pleat/core/error.h"
#include "pleat/core/files/hash.h"
#include "pleat/core/files/npy.h"
#include "pleat/core/files/npy_header.h"
#include "pleat/core/files/output_file.h"
#include "pleat/core/hardware/memory.h"
#include "pleat/core/loops/additive_checkpoint.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/core/loops/threads.h"
#include "pleat/core/loops/tile_file.h"
#include "pleat/core/pairs/nearest_lists.h"
#include "pleat/rmsd/measures/metric.h"

namespace pleat::rmsd {

namespace {

/// Gathers statistics, neighbours and nearest frames of all pairs of one set, or of the frames of
/// one set with those of another. The result does not depend on the order of bands or on ranks.
/// Throws DeviceError before a list of neighbours exceeds memory.
class PairCollector {
public:
    /// For one set of frames or, with `others`, for a rectangle [frame, other].
    PairCollector(Index frames, std::optional<Index> others, Index atoms,
                  const Parameters& parameters, int threads)
        : metric_(traits_of(parameters.metric)),
          columns_(others.value_or(frames)),
          is_rectangle_(others.has_value()),
          threads_(threads) {
        result_.frames = frames;
        result_.atoms = atoms;
        result_.statistics = PairStatistics(frames, parameters.bin_width);
        if (parameters.cutoff) cutoff_ = static_cast<float>(*parameters.cutoff);
        nearest_ = is_rectangle_ ? NearestLists(frames, parameters.nearest, columns_)
                                 : NearestLists(frames, parameters.nearest);
    }

    /// Adds rows. `values` has the pairs of `rows` with all later frames, in condensed order; or,
    /// of two sets, [row, other].
    void add(Block rows, const float* values) {
        if (is_rectangle_)
            result_.statistics.add_rows(
                rows, threads_, [&](Index row) { return values + (row - rows.first) * columns_; },
                [&](Index) { return columns_; });
        else
            result_.statistics.add_band(rows, columns_, values, threads_);
        if (cutoff_) list_near(rows, values);
        if (nearest_.length() > 0) nearest_.add(rows, values, threads_, metric_.is_score ? -1 : 1);
    }
    /// Adds rows of one set that were counted on a device.
    void add(Block rows, const PairCounts& counts) {
        result_.statistics.add(rows.first, counts.statistics);
        reserve_pairs(counts.near.size());
        near_pairs_.insert(near_pairs_.end(), counts.near.begin(), counts.near.end());
    }
    /// Registers it with `sums`, which saves it and adds it up over ranks; it must outlive `sums`.
    void join(AdditiveCheckpoint& sums) {
        result_.statistics.join(sums);
        sums.collect("near", *this);
        if (nearest_.length() > 0) nearest_.join(sums);
    }
    Result finish() {
        result_.statistics.trim();
        if (cutoff_) make_rows();
        if (nearest_.length() == 0) return std::move(result_);
        nearest_.sort(threads_);
        if (metric_.is_score)
            for (float& value : nearest_.distances) value = -value;
        result_.nearest = {std::move(nearest_.items), std::move(nearest_.distances)};
        return std::move(result_);
    }

    // The functions of a Collector (core/loops/additive_checkpoint.h), for the list of near pairs.
    void save(NpzWriter& file, std::string_view name) const {
        static_assert(sizeof(NearPair) == 12);
        file.add(name, reinterpret_cast<const std::uint8_t*>(near_pairs_.data()),
                 {std::ssize(near_pairs_), 12});
    }
    void load(const NpzReader& file, std::string_view name) {
        const std::string member(name);
        merge(file.get(member).as<std::uint8_t>(file.label(member)));
    }
    std::vector<std::uint8_t> bytes() const {
        std::vector<std::uint8_t> bytes(near_pairs_.size() * sizeof(NearPair));
        if (!bytes.empty()) std::memcpy(bytes.data(), near_pairs_.data(), bytes.size());
        return bytes;
    }
    void merge(std::span<const std::uint8_t> bytes) {
        const std::size_t before = near_pairs_.size(), more = bytes.size() / sizeof(NearPair);
        if (bytes.size() % sizeof(NearPair) != 0)
            throw InputError(
                fmt::format("expected pairs of 12 bytes, found {} bytes", bytes.size()));
        reserve_pairs(more);
        near_pairs_.resize(before + more);
        if (more > 0) std::memcpy(near_pairs_.data() + before, bytes.data(), bytes.size());
    }

private:
    /// Reserves memory for this many more pairs: 12 bytes each, and up to 16 at the end.
    void reserve_pairs(std::size_t more) {
        const std::size_t count = near_pairs_.size() + more, capacity = near_pairs_.capacity();
        if (count <= capacity) return;
        const std::size_t larger = std::max(count, capacity + capacity / 2);
        require_list_memory(static_cast<Index>(count),
                            static_cast<std::int64_t>(larger * sizeof(NearPair) + 16 * count));
        near_pairs_.reserve(larger);
    }

    void list_near(Block rows, const float* values) {
        const auto is_near = [&](float value) { return metric_.is_nearer(value, *cutoff_); };
        const Index end = std::min(rows.first + rows.count, result_.frames);
        const Index pairs = is_rectangle_
                                ? rows.count * columns_
                                : pairs_before(end, columns_) - pairs_before(rows.first, columns_);
        reserve_pairs(static_cast<std::size_t>(std::count_if(values, values + pairs, is_near)));
        for (Index i = rows.first; i < end; ++i) {
            for (Index j = is_rectangle_ ? 0 : i + 1; j < columns_; ++j, ++values) {
                if (!is_near(*values)) continue;
                near_pairs_.push_back(
                    {static_cast<std::int32_t>(i), static_cast<std::int32_t>(j), *values});
            }
        }
    }

    /// Sorts the listed pairs into compressed rows.
    void make_rows() {
        const auto is_before = [](const NearPair& a, const NearPair& b) {
            return a.i != b.i ? a.i < b.i : a.j < b.j;
        };
        // Sorting takes as much memory as the list, and frees it before the rows are made.
        const auto pairs = std::ssize(near_pairs_);
        require_list_memory(pairs, 16 * pairs + 16 * result_.frames);
        if (!std::ranges::is_sorted(near_pairs_, is_before))
            parallel_sort(near_pairs_, threads_, is_before);
        NeighbourRows& rows = result_.neighbours;
        rows.starts.assign(static_cast<std::size_t>(result_.frames) + 1, 0);
        for (const NearPair& pair : near_pairs_) {
            ++rows.starts[pair.i + 1];
            if (!is_rectangle_) ++rows.starts[pair.j + 1];
        }
        for (Index i = 0; i < result_.frames; ++i) rows.starts[i + 1] += rows.starts[i];
        rows.pairs = pairs;
        const std::size_t listed = (is_rectangle_ ? 1 : 2) * near_pairs_.size();
        rows.indices.resize(listed);
        rows.values.resize(listed);
        std::vector<std::int64_t> next(rows.starts.begin(), rows.starts.end() - 1);
        const auto put = [&](std::int32_t row, std::int32_t other, float value) {
            const std::int64_t at = next[row]++;
            rows.indices[at] = other;
            rows.values[at] = value;
        };
        // Pairs are sorted by i, then j: each row gets its earlier frames first, both ascending.
        for (const NearPair& pair : near_pairs_)
            if (!is_rectangle_) put(pair.j, pair.i, pair.value);
        for (const NearPair& pair : near_pairs_) put(pair.i, pair.j, pair.value);
        near_pairs_ = {};
    }

    const MetricTraits& metric_;
    Index columns_;
    bool is_rectangle_;
    int threads_;
    std::optional<float> cutoff_;
    Result result_;
    std::vector<NearPair> near_pairs_;
    NearestLists nearest_;
};

/// Writes rows of the full matrix from the condensed one. Columns before the diagonal are gathered
/// for several consecutive rows at a time, since the pairs of one such column with these rows are
/// consecutive in memory.
void write_full(OutputFile& to, Index frames, std::span<const Tile> tiles, const TileFile& file,
                float value_of_equal_structures) {
    constexpr Index kRowsAtOnce = 64;
    std::vector<const float*> rows(frames);  // (i, i + 1), (i, i + 2), ...
    for (const Tile& tile : tiles) {
        const float* at = file.output(tile).data;
        for (Index i = tile.side[0].first; i < tile.side[0].first + tile.side[0].count; ++i) {
            rows[i] = at;
            at += frames - 1 - i;
        }
    }
    std::vector<float> buffer(kRowsAtOnce * frames);
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

/// Completes a full matrix in memory [frame, frame] whose rows have the pairs with later frames
/// only: sets the other pairs and the diagonal.
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

/// Writes the complete tiles as .npy, float32: [pair], [frame, frame] or of two sets [frame,
/// other].
void write_matrix(const std::filesystem::path& path, const PairsJob& job, const TileFile& file,
                  const Parameters& parameters) {
    OutputFile to(path);
    const Index frames = job.frames;
    const bool is_full = parameters.matrix == MatrixLayout::full && !job.others;
    to.write(npy_header("<f4", job.others ? std::vector<Index>{frames, *job.others}
                               : is_full  ? std::vector<Index>{frames, frames}
                                          : std::vector<Index>{frames * (frames - 1) / 2}));
    if (is_full)
        write_full(to, frames, job.tiles, file,
                   traits_of(parameters.metric).value_of_equal_structures());
    else
        for (const Tile& tile : job.tiles)
            to.write(file.output(tile).data, static_cast<std::size_t>(tile.items) * sizeof(float));
    to.close();
}

/// Every rank writes its tiles to one file; rank 0 reads all of them.
void run_with_matrix(const PairsJob& job, const Parameters& parameters, const Context& context,
                     const MatrixTarget& matrix, PairCollector& pairs) {
    const MetricTraits& metric = traits_of(parameters.metric);
    const std::filesystem::path path = tile_path(context, matrix);
    const bool leads = context.rank() == 0;
    {
        const std::unique_ptr<TileFile> file = open_on_ranks(context, path, job.hash(), job.tiles);
        sweep(context, metric.name, job.tiles, *file, [&](const Tile& tile, View<float, 2> output) {
            job.kernel.band(tile.side[0], output.data);
        });
        together(context, [&] {
            if (!leads) return;
            for (const Tile& tile : job.tiles) pairs.add(tile.side[0], file->output(tile).data);
            write_matrix(matrix.file, job, *file, parameters);
        });
    }
    if (context.checkpoint.empty() && leads) std::filesystem::remove(path);
}

/// Values are written to memory at once; no tiles are stored.
void run_in_memory(const PairsJob& job, const Parameters& parameters, const Context& context,
                   std::span<float> matrix, PairCollector& pairs) {
    if (context.ranks() > 1)
        throw UsageError("a matrix in memory needs one rank: give a file for the matrix");
    const Index frames = job.frames;
    const MetricTraits& metric = traits_of(parameters.metric);
    const bool is_full = parameters.matrix == MatrixLayout::full;
    std::vector<float> band;
    for_each_tile(context, metric.name, job.tiles, {.compute = [&](const Tile& tile) {
                      const Block rows = tile.side[0];
                      band.resize(tile.items);
                      job.kernel.band(rows, band.data());
                      pairs.add(rows, band.data());
                      const float* values = band.data();
                      for (Index i = rows.first; i < rows.first + rows.count; ++i) {
                          const Index count = job.others.value_or(frames - 1 - i);
                          const Index at = job.others ? i * count
                                           : is_full  ? i * frames + i + 1
                                                      : pairs_before(i, frames);
                          std::copy_n(values, count, matrix.data() + at);
                          values += count;
                      }
                  }});
    if (is_full && !job.others)
        complete_full(matrix.data(), frames, resolve_threads(context),
                      metric.value_of_equal_structures());
}

void run_without_matrix(const PairsJob& job, const Parameters& parameters, const Context& context,
                        PairCollector& pairs) {
    PairCounter* const counter = parameters.nearest == 0 ? job.kernel.counter() : nullptr;
    const Bins bins{parameters.bin_width, parameters.cutoff.value_or(0.0),
                    traits_of(parameters.metric).is_score};
    std::vector<Tile> tiles = job.tiles;
    if (counter != nullptr)
        for (Tile& tile : tiles) tile.items = 0;  // values stay on the device
    PairCounts counts;
    // Sums and lists depend on more options than values do.
    const auto hash = [&] {
        return Sha256()
            .field(job.hash())
            .field(parameters.bin_width)
            .field(parameters.nearest)
            .field(parameters.cutoff.value_or(0.0))
            .hex();
    };
    sum_over_tiles(
        context, traits_of(parameters.metric).name, tiles, hash,
        [&](AdditiveCheckpoint& sums) { pairs.join(sums); },
        [&](const Tile& tile, View<float, 2> output) {
            counts = {};
            counter != nullptr ? counter->count(tile.side[0], bins, counts)
                               : job.kernel.band(tile.side[0], output.data);
        },
        [&](const Tile& tile, View<const float, 2> output) {
            counter != nullptr ? pairs.add(tile.side[0], counts)
                               : pairs.add(tile.side[0], output.data);
        });
}

}  // namespace

std::filesystem::path tile_path(const Context& context, const MatrixTarget& matrix) {
    std::filesystem::path path = context.checkpoint;
    if (path.empty()) (path = matrix.file) += ".tiles";
    return path;
}

Result run_pairs(const PairsJob& job, const Parameters& parameters, const Context& context,
                 const MatrixTarget& matrix) {
    PairCollector pairs(job.frames, job.others, job.atoms, parameters, resolve_threads(context));
    if (parameters.matrix == MatrixLayout::none)
        run_without_matrix(job, parameters, context, pairs);
    else if (matrix.file.empty())
        run_in_memory(job, parameters, context, matrix.memory, pairs);
    else
        run_with_matrix(job, parameters, context, matrix, pairs);
    if (context.rank() == 0) return pairs.finish();
    Result result;
    result.frames = job.frames;
    result.atoms = job.atoms;
    return result;
}

std::vector<Tile> bands(Index frames, Index pairs, Index step) {
    constexpr Index kMaxRows = 960;
    return cut_into_bands(frames, std::clamp(pairs / std::max<Index>(frames, 1) / step * step, step,
                                             kMaxRows / step * step));
}

void require_list_memory(Index pairs, std::int64_t bytes) {
    require_memory(bytes, fmt::format("the list of {} pairs below the cutoff", pairs),
                   "take a smaller --cutoff (of scores a larger one)");
}

}  // namespace pleat::rmsd

// Pair collector: statistics, neighbours in compressed rows, and the nearest of each frame.
#include "pleat/rmsd/pairs/pair_collector.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "pleat/core/error.h"
#include "pleat/core/files/npy.h"
#include "pleat/core/loops/additive_checkpoint.h"
#include "pleat/core/loops/threads.h"
#include "pleat/rmsd/pairs/nearest.h"

namespace pleat::rmsd {

PairCollector::PairCollector(Index frames, std::optional<Index> others, Index atoms,
                             const Parameters& parameters, int threads)
    : metric_(traits_of(parameters.metric)),
      columns_(others.value_or(frames)),
      is_rectangle_(others.has_value()),
      threads_(threads) {
    result_.frames = frames;
    result_.atoms = atoms;
    result_.statistics = PairStatistics(frames, parameters.bin_width);
    if (parameters.cutoff) cutoff_ = static_cast<float>(*parameters.cutoff);
    const Index candidates = std::max<Index>(is_rectangle_ ? columns_ : frames - 1, 0);
    const Index count = std::min<Index>(parameters.nearest, candidates);
    if (count > 0) result_.nearest = empty_nearest(frames, count, metric_);
}

/// Reserves memory for so many more pairs: 12 bytes each, and up to 16 at the end.
void PairCollector::reserve_pairs(std::size_t more) {
    const std::size_t count = near_pairs_.size() + more, capacity = near_pairs_.capacity();
    if (count <= capacity) return;
    const std::size_t larger = std::max(count, capacity + capacity / 2);
    require_list_memory(static_cast<Index>(count),
                        static_cast<std::int64_t>(larger * sizeof(NearPair) + 16 * count));
    near_pairs_.reserve(larger);
}

void PairCollector::add(Block rows, const float* values) {
    if (is_rectangle_)
        result_.statistics.add_rows(
            rows, threads_, [&](Index row) { return values + (row - rows.first) * columns_; },
            [&](Index) { return columns_; });
    else
        result_.statistics.add_band(rows, columns_, values, threads_);
    if (cutoff_) list_near(rows, values);
    if (has_nearest()) offer_nearest(rows, values);
}

void PairCollector::add(Block rows, const PairCounts& counts) {
    result_.statistics.add(rows.first, counts.statistics);
    reserve_pairs(counts.near.size());
    near_pairs_.insert(near_pairs_.end(), counts.near.begin(), counts.near.end());
}

void PairCollector::list_near(Block rows, const float* values) {
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

void PairCollector::offer_nearest(Block rows, const float* values) {
    for (Index i = rows.first; i < std::min(rows.first + rows.count, result_.frames); ++i)
        for (Index j = is_rectangle_ ? 0 : i + 1; j < columns_; ++j, ++values) {
            keep_nearest(result_.nearest, i, j, *values, metric_);
            if (!is_rectangle_) keep_nearest(result_.nearest, j, i, *values, metric_);
        }
}

void PairCollector::join(AdditiveCheckpoint& sums) {
    result_.statistics.join(sums);
    sums.collect("lists", *this);
}

void PairCollector::save(NpzWriter& file, std::string_view name) const {
    static_assert(sizeof(NearPair) == 12);
    file.add(fmt::format("{}_near", name),
             reinterpret_cast<const std::uint8_t*>(near_pairs_.data()),
             {static_cast<Index>(near_pairs_.size()), 12});
    file.add(fmt::format("{}_nearest", name), result_.nearest.indices.view());
    file.add(fmt::format("{}_nearest_values", name), result_.nearest.values.view());
}

void PairCollector::load(const NpzReader& file, std::string_view name) {
    const auto read = [&]<class T>(const char* what, T) {
        const std::string member = fmt::format("{}_{}", name, what);
        return file.get(member).as<T>(file.label(member));
    };
    const std::vector<std::uint8_t> near = read("near", std::uint8_t{});
    const std::vector<std::int32_t> indices = read("nearest", std::int32_t{});
    const std::vector<float> values = read("nearest_values", 0.0f);
    const auto kept = static_cast<std::size_t>(result_.nearest.indices.size());
    if (near.size() % sizeof(NearPair) != 0 || indices.size() != kept || values.size() != kept)
        throw InputError(
            fmt::format("expected {} nearest of all frames, found {}", kept, indices.size()));
    for (const std::int32_t index : indices)
        if (index < -1 || index >= columns_)
            throw InputError(fmt::format("expected frames below {}, found {}", columns_, index));
    const std::size_t before = near_pairs_.size(), more = near.size() / sizeof(NearPair);
    reserve_pairs(more);
    near_pairs_.resize(before + more);
    if (more > 0) std::memcpy(near_pairs_.data() + before, near.data(), near.size());
    offer_all(indices, values);
}

std::vector<std::uint8_t> PairCollector::bytes() const {
    const std::size_t near = near_pairs_.size() * sizeof(NearPair);
    const auto kept = static_cast<std::size_t>(result_.nearest.indices.size()) * 4;
    std::vector<std::uint8_t> bytes(2 * kept + near);
    const auto put = [&](std::size_t at, const void* from, std::size_t count) {
        if (count > 0) std::memcpy(bytes.data() + at, from, count);
    };
    put(0, result_.nearest.indices.data(), kept);
    put(kept, result_.nearest.values.data(), kept);
    put(2 * kept, near_pairs_.data(), near);
    return bytes;
}

void PairCollector::merge(std::span<const std::uint8_t> bytes) {
    const auto kept = static_cast<std::size_t>(result_.nearest.indices.size());
    std::vector<std::int32_t> indices(kept);
    std::vector<float> values(kept);
    const std::size_t before = near_pairs_.size(),
                      near = (bytes.size() - 8 * kept) / sizeof(NearPair);
    reserve_pairs(near);
    near_pairs_.resize(before + near);
    const auto get = [&](std::size_t at, void* to, std::size_t count) {
        if (count > 0) std::memcpy(to, bytes.data() + at, count);
    };
    get(0, indices.data(), 4 * kept);
    get(4 * kept, values.data(), 4 * kept);
    get(8 * kept, near_pairs_.data() + before, near * sizeof(NearPair));
    offer_all(indices, values);
}

/// Offers the nearest frames that other bands have found, [frame, rank].
void PairCollector::offer_all(std::span<const std::int32_t> indices,
                              std::span<const float> values) {
    if (indices.empty()) return;
    const auto ranks = static_cast<std::size_t>(result_.nearest.indices.extent(1));
    for (std::size_t n = 0; n < indices.size(); ++n)
        if (indices[n] >= 0)
            keep_nearest(result_.nearest, static_cast<Index>(n / ranks), indices[n], values[n],
                         metric_);
}

/// Sorts the listed pairs into compressed rows.
void PairCollector::make_rows() {
    const auto is_before = [](const NearPair& a, const NearPair& b) {
        return a.i != b.i ? a.i < b.i : a.j < b.j;
    };
    // Sorting takes as much memory as the list, and frees it before the rows are made.
    const auto pairs = static_cast<Index>(near_pairs_.size());
    require_list_memory(pairs, 16 * pairs + 16 * result_.frames);
    if (!std::is_sorted(near_pairs_.begin(), near_pairs_.end(), is_before))
        parallel_sort(near_pairs_, threads_, is_before);
    Neighbours& rows = result_.neighbours;
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

Result PairCollector::finish() {
    result_.statistics.trim();
    if (cutoff_) make_rows();
    sort_nearest(result_.nearest, metric_, threads_);
    return std::move(result_);
}

}  // namespace pleat::rmsd

// Summary: histogram, neighbours in compressed rows, and the best of each frame.
#include "pleat/rmsd/pairs/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>

#include "pleat/core/error.h"
#include "pleat/core/files/npy.h"
#include "pleat/core/loops/additive_checkpoint.h"
#include "pleat/core/loops/parallel_sort.h"
#include "pleat/rmsd/pairs/pairs.h"

namespace pleat::rmsd {

Summary::Summary(Index frames, Index atoms, const Parameters& parameters)
    : metric_(metric_of(parameters.metric)),
      bin_(parameters.bin),
      histogram_(static_cast<std::size_t>(kMaxBins)),
      sums_(static_cast<std::size_t>(frames)),
      extremes_(2, -std::numeric_limits<double>::infinity()) {
    result_.frames = frames;
    result_.atoms = atoms;
    result_.pairs = frames * (frames - 1) / 2;
    has_cutoff_ = parameters.has_cutoff();
    if (has_cutoff_) cutoff_ = static_cast<float>(parameters.cutoff);
    const Index best = std::min<Index>(parameters.best, std::max<Index>(frames - 1, 0));
    if (best > 0) result_.best = empty_best(frames, best, metric_);
}

/// Makes room for so many more pairs, which take 12 bytes each, and 16 more in the end.
void Summary::make_room(std::size_t more) {
    const std::size_t count = near_.size() + more;
    if (count <= near_.capacity()) return;
    const std::size_t room = std::max(count, near_.capacity() + near_.capacity() / 2);
    require_list(static_cast<Index>(count),
                 static_cast<std::int64_t>(room * sizeof(NearPair) + 16 * count));
    near_.reserve(room);
}

void Summary::add(Block rows, const float* rmsd) {
    if (has_cutoff_) {
        const Index last = std::min(rows.first + rows.count, result_.frames);
        const Index pairs =
            pairs_before(last, result_.frames) - pairs_before(rows.first, result_.frames);
        make_room(static_cast<std::size_t>(std::count_if(
            rmsd, rmsd + pairs, [&](float value) { return metric_.is_nearer(value, cutoff_); })));
    }
    for (Index i = rows.first; i < rows.first + rows.count; ++i) {
        add_row(i, rmsd);
        rmsd += result_.frames - 1 - i;
    }
}

void Summary::add(Block rows, const BandTally& tally) {
    for (std::size_t bin = 0; bin < tally.histogram.size(); ++bin)
        histogram_[bin] += tally.histogram[bin];
    sums_[rows.first] += tally.sum;
    extend(tally.least, tally.most);
    make_room(tally.near.size());
    near_.insert(near_.end(), tally.near.begin(), tally.near.end());
}

void Summary::extend(double least, double most) {
    extremes_[0] = std::max(extremes_[0], -least);
    extremes_[1] = std::max(extremes_[1], most);
}

void Summary::add_row(Index i, const float* rmsd) {
    const Index count = result_.frames - 1 - i;
    if (count == 0) return;
    const ValueTotals row = add_to_bins(rmsd, count, bin_, histogram_);
    sums_[i] += row.sum;
    extend(row.least, row.most);
    if (has_cutoff_)
        for (Index n = 0; n < count; ++n)
            if (metric_.is_nearer(rmsd[n], cutoff_))
                near_.push_back(
                    {static_cast<std::int32_t>(i), static_cast<std::int32_t>(i + 1 + n), rmsd[n]});
    if (result_.best.indices.size() == 0) return;
    for (Index n = 0; n < count; ++n) {
        keep_nearest(result_.best, i, i + 1 + n, rmsd[n], metric_);
        keep_nearest(result_.best, i + 1 + n, i, rmsd[n], metric_);
    }
}

void Summary::join(AdditiveCheckpoint& sums) {
    sums.add("histogram", histogram_);
    // Of each row one rank has a sum that is not 0, and no value is below 0.
    sums.raise("sums", sums_);
    sums.raise("extremes", extremes_);
    sums.collect("lists", *this);
}

void Summary::save(NpzWriter& file, std::string_view name) const {
    static_assert(sizeof(NearPair) == 12);
    file.add(fmt::format("{}_near", name), reinterpret_cast<const std::uint8_t*>(near_.data()),
             {static_cast<Index>(near_.size()), 12});
    file.add(fmt::format("{}_best", name), result_.best.indices.view());
    file.add(fmt::format("{}_best_values", name), result_.best.rmsd.view());
}

void Summary::load(const NpzReader& file, std::string_view name) {
    const auto read = [&]<class T>(const char* what, T) {
        const std::string member = fmt::format("{}_{}", name, what);
        return file.get(member).as<T>(file.label(member));
    };
    const std::vector<std::uint8_t> near = read("near", std::uint8_t{});
    const std::vector<std::int32_t> indices = read("best", std::int32_t{});
    const std::vector<float> values = read("best_values", 0.0f);
    const auto kept = static_cast<std::size_t>(result_.best.indices.size());
    if (near.size() % sizeof(NearPair) != 0 || indices.size() != kept || values.size() != kept)
        throw InputError(
            fmt::format("expected the best {} of all frames, found {}", kept, indices.size()));
    make_room(near.size() / sizeof(NearPair));
    near_.resize(near_.size() + near.size() / sizeof(NearPair));
    std::memcpy(near_.data() + near_.size() - near.size() / sizeof(NearPair), near.data(),
                near.size());
    for (const std::int32_t index : indices)
        if (index < -1 || index >= result_.frames)
            throw InputError(
                fmt::format("expected frames below {}, found {}", result_.frames, index));
    keep(indices, values);
}

std::vector<std::uint8_t> Summary::bytes() const {
    const std::size_t near = near_.size() * sizeof(NearPair);
    const auto kept = static_cast<std::size_t>(result_.best.indices.size()) * 4;
    std::vector<std::uint8_t> bytes(2 * kept + near);
    const auto put = [&](std::size_t at, const void* from, std::size_t count) {
        if (count > 0) std::memcpy(bytes.data() + at, from, count);
    };
    put(0, result_.best.indices.data(), kept);
    put(kept, result_.best.rmsd.data(), kept);
    put(2 * kept, near_.data(), near);
    return bytes;
}

void Summary::merge(std::span<const std::uint8_t> bytes) {
    const auto kept = static_cast<std::size_t>(result_.best.indices.size());
    std::vector<std::int32_t> indices(kept);
    std::vector<float> values(kept);
    const std::size_t before = near_.size(), near = (bytes.size() - 8 * kept) / sizeof(NearPair);
    make_room(near);
    near_.resize(before + near);
    const auto take = [&](std::size_t at, void* to, std::size_t count) {
        if (count > 0) std::memcpy(to, bytes.data() + at, count);
    };
    take(0, indices.data(), 4 * kept);
    take(4 * kept, values.data(), 4 * kept);
    take(8 * kept, near_.data() + before, near * sizeof(NearPair));
    keep(indices, values);
}

/// Offers the best of other bands, [frame, rank].
void Summary::keep(std::span<const std::int32_t> indices, std::span<const float> values) {
    if (indices.empty()) return;
    const auto ranks = static_cast<std::size_t>(result_.best.indices.extent(1));
    for (std::size_t n = 0; n < indices.size(); ++n)
        if (indices[n] >= 0)
            keep_nearest(result_.best, static_cast<Index>(n / ranks), indices[n], values[n],
                         metric_);
}

void Summary::sort_neighbours(int threads) {
    const auto is_before = [](const NearPair& a, const NearPair& b) {
        return a.i != b.i ? a.i < b.i : a.j < b.j;
    };
    // Sorting takes as much again as the list, and gives it back before the rows are made.
    const auto pairs = static_cast<Index>(near_.size());
    require_list(pairs, 16 * pairs + 16 * result_.frames);
    if (!std::is_sorted(near_.begin(), near_.end(), is_before))
        parallel_sort(near_, threads, is_before);
    Neighbours& found = result_.neighbours;
    found.starts.assign(static_cast<std::size_t>(result_.frames) + 1, 0);
    for (const NearPair& pair : near_) {
        ++found.starts[pair.i + 1];
        ++found.starts[pair.j + 1];
    }
    for (Index i = 0; i < result_.frames; ++i) found.starts[i + 1] += found.starts[i];
    found.indices.resize(2 * near_.size());
    found.rmsd.resize(2 * near_.size());
    std::vector<std::int64_t> next(found.starts.begin(), found.starts.end() - 1);
    const auto put = [&](std::int32_t row, std::int32_t other, float rmsd) {
        const std::int64_t at = next[row]++;
        found.indices[at] = other;
        found.rmsd[at] = rmsd;
    };
    // Pairs come by i, then j: a row gets its earlier frames first, each part ascending.
    for (const NearPair& pair : near_) put(pair.j, pair.i, pair.rmsd);
    for (const NearPair& pair : near_) put(pair.i, pair.j, pair.rmsd);
    near_ = {};
}

Result Summary::finish(int threads) {
    while (!histogram_.empty() && histogram_.back() == 0) histogram_.pop_back();
    result_.histogram = std::move(histogram_);
    if (result_.pairs > 0) {
        double sum = 0.0;
        for (const double of_row : sums_) sum += of_row;
        result_.least = 0.0 - extremes_[0];  // never -0
        result_.most = extremes_[1];
        result_.mean = sum / static_cast<double>(result_.pairs);
    }
    if (has_cutoff_) sort_neighbours(threads);
    sort_best(result_.best, metric_, threads);
    return std::move(result_);
}

RectangleSummary::RectangleSummary(Index frames, Index others, Index atoms,
                                   const Parameters& parameters)
    : metric_(metric_of(parameters.metric)), others_(others), tally_(parameters.bin) {
    result_.frames = frames;
    result_.atoms = atoms;
    result_.pairs = frames * others;
    const Index best = std::min<Index>(parameters.best, others);
    if (best > 0) result_.best = empty_best(frames, best, metric_);
    has_cutoff_ = parameters.has_cutoff();
    if (!has_cutoff_) return;
    cutoff_ = static_cast<float>(parameters.cutoff);
    result_.neighbours.starts.push_back(0);
}

/// Makes room for so many more pairs.
void RectangleSummary::make_room(std::size_t more) {
    Neighbours& near = result_.neighbours;
    const std::size_t count = near.indices.size() + more;
    if (count <= near.indices.capacity()) return;
    const std::size_t room = std::max(count, near.indices.capacity() + near.indices.capacity() / 2);
    require_list(static_cast<Index>(count), static_cast<std::int64_t>(8 * room));
    near.indices.reserve(room);
    near.rmsd.reserve(room);
}

void RectangleSummary::add(Block rows, const float* values) {
    Neighbours& near = result_.neighbours;
    const auto is_near = [&](float value) { return metric_.is_nearer(value, cutoff_); };
    if (has_cutoff_)
        make_room(static_cast<std::size_t>(
            std::count_if(values, values + rows.count * others_, is_near)));
    for (Index i = rows.first; i < rows.first + rows.count; ++i, values += others_) {
        tally_.add(values, others_);
        for (Index j = 0; has_cutoff_ && j < others_; ++j) {
            if (!is_near(values[j])) continue;
            near.indices.push_back(static_cast<std::int32_t>(j));
            near.rmsd.push_back(values[j]);
        }
        if (has_cutoff_) near.starts.push_back(static_cast<std::int64_t>(near.indices.size()));
        for (Index j = 0; result_.best.indices.size() > 0 && j < others_; ++j)
            keep_nearest(result_.best, i, j, values[j], metric_);
    }
}

Result RectangleSummary::finish(int threads) {
    tally_.finish(result_);
    sort_best(result_.best, metric_, threads);
    return std::move(result_);
}

}  // namespace pleat::rmsd

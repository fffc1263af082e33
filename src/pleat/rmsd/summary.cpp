// Summary: histogram, neighbours in compressed rows, and the best of each frame.
#include "pleat/rmsd/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>

#include "pleat/core/additive_checkpoint.h"
#include "pleat/core/error.h"
#include "pleat/core/npy.h"
#include "pleat/core/parallel_sort.h"

namespace pleat::rmsd {

Summary::Summary(Index frames, Index atoms, const Parameters& parameters)
    : metric_(metric_of(parameters.metric)),
      bin_(parameters.bin),
      histogram_(static_cast<std::size_t>(kMostBins)),
      sums_(static_cast<std::size_t>(frames)),
      extremes_(2, -std::numeric_limits<double>::infinity()) {
    result_.frames = frames;
    result_.atoms = atoms;
    result_.pairs = frames * (frames - 1) / 2;
    if (parameters.has_cutoff()) cutoff_ = static_cast<float>(parameters.cutoff);
    const Index best = std::min<Index>(parameters.best, std::max<Index>(frames - 1, 0));
    if (best > 0) result_.best = empty_best(frames, best, metric_);
}

void Summary::add(Block rows, const float* rmsd) {
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
    near_.insert(near_.end(), tally.near.begin(), tally.near.end());
}

void Summary::extend(double least, double most) {
    extremes_[0] = std::max(extremes_[0], -least);
    extremes_[1] = std::max(extremes_[1], most);
}

void Summary::add_row(Index i, const float* rmsd) {
    const Index count = result_.frames - 1 - i;
    if (count == 0) return;
    double sum = 0.0;
    float least = rmsd[0], most = rmsd[0];
    for (Index n = 0; n < count; ++n) {
        sum += rmsd[n];
        least = std::min(least, rmsd[n]);
        most = std::max(most, rmsd[n]);
        ++histogram_[static_cast<std::size_t>(std::min(rmsd[n] / bin_, kMostBins - 1.0))];
    }
    sums_[i] += sum;
    extend(least, most);
    if (cutoff_ > 0)
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
    if (cutoff_ > 0) sort_neighbours(threads);
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
    if (!parameters.has_cutoff()) return;
    cutoff_ = static_cast<float>(parameters.cutoff);
    result_.neighbours.starts.push_back(0);
}

void RectangleSummary::add(Block rows, const float* values) {
    Neighbours& near = result_.neighbours;
    for (Index i = rows.first; i < rows.first + rows.count; ++i, values += others_) {
        tally_.add(values, others_);
        for (Index j = 0; cutoff_ > 0 && j < others_; ++j) {
            if (!metric_.is_nearer(values[j], cutoff_)) continue;
            near.indices.push_back(static_cast<std::int32_t>(j));
            near.rmsd.push_back(values[j]);
        }
        if (cutoff_ > 0) near.starts.push_back(static_cast<std::int64_t>(near.indices.size()));
        for (Index j = 0; result_.best.indices.size() > 0 && j < others_; ++j)
            keep_nearest(result_.best, i, j, values[j], metric_);
    }
}

Result RectangleSummary::finish() {
    tally_.finish(result_);
    return std::move(result_);
}

}  // namespace pleat::rmsd

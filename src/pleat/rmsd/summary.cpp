// Summary: histogram, neighbours in compressed rows, and the best of each frame.
#include "pleat/rmsd/summary.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace pleat::rmsd {

Summary::Summary(Index frames, Index atoms, const Parameters& parameters)
    : parameters_(parameters) {
    result_.frames = frames;
    result_.atoms = atoms;
    result_.pairs = frames * (frames - 1) / 2;
    result_.least = std::numeric_limits<double>::infinity();
    if (parameters.has_cutoff()) cutoff_ = static_cast<float>(parameters.cutoff);
    const Index best = std::min<Index>(parameters.best, std::max<Index>(frames - 1, 0));
    if (best == 0) return;
    result_.best.indices = Array<std::int32_t, 2>(frames, best);
    result_.best.indices.fill(-1);
    result_.best.rmsd = Array<float, 2>(frames, best);
    result_.best.rmsd.fill(std::numeric_limits<float>::infinity());
}

void Summary::add(Block rows, const float* rmsd) {
    for (Index i = rows.first; i < rows.first + rows.count; ++i) {
        add_row(i, rmsd);
        rmsd += result_.frames - 1 - i;
    }
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
    }
    sum_ += sum;
    result_.least = std::min<double>(result_.least, least);
    result_.most = std::max<double>(result_.most, most);
    const auto bin_of = [&](float value) {
        return static_cast<Index>(std::min(value / parameters_.bin, kMostBins - 1.0));
    };
    auto& histogram = result_.histogram;
    histogram.resize(std::max(histogram.size(), static_cast<std::size_t>(bin_of(most) + 1)));
    for (Index n = 0; n < count; ++n) ++histogram[bin_of(rmsd[n])];
    if (cutoff_ > 0)
        for (Index n = 0; n < count; ++n)
            if (rmsd[n] < cutoff_)
                near_.push_back(
                    {static_cast<std::int32_t>(i), static_cast<std::int32_t>(i + 1 + n), rmsd[n]});
    if (result_.best.indices.size() == 0) return;
    for (Index n = 0; n < count; ++n) {
        keep_best(i, i + 1 + n, rmsd[n]);
        keep_best(i + 1 + n, i, rmsd[n]);
    }
}

void Summary::keep_best(Index frame, Index other, float rmsd) {
    const Index kept = result_.best.rmsd.extent(1);
    float* const values = result_.best.rmsd[frame].data;
    // Others come in ascending order, so that an equal one goes behind.
    if (!(rmsd < values[kept - 1])) return;
    std::int32_t* const indices = result_.best.indices[frame].data;
    const Index at = std::upper_bound(values, values + kept, rmsd) - values;
    std::move_backward(values + at, values + kept - 1, values + kept);
    std::move_backward(indices + at, indices + kept - 1, indices + kept);
    values[at] = rmsd;
    indices[at] = static_cast<std::int32_t>(other);
}

void Summary::sort_neighbours() {
    Neighbours& found = result_.neighbours;
    found.starts.assign(static_cast<std::size_t>(result_.frames) + 1, 0);
    for (const Near& pair : near_) {
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
    for (const Near& pair : near_) put(pair.j, pair.i, pair.rmsd);
    for (const Near& pair : near_) put(pair.i, pair.j, pair.rmsd);
    near_ = {};
}

Result Summary::finish() {
    if (result_.pairs == 0)
        result_.least = 0.0;
    else
        result_.mean = sum_ / static_cast<double>(result_.pairs);
    if (cutoff_ > 0) sort_neighbours();
    return std::move(result_);
}

}  // namespace pleat::rmsd

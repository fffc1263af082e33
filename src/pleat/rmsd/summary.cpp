// Summary: histogram, neighbours in compressed rows, and the best of each frame.
#include "pleat/rmsd/summary.h"

#include <algorithm>

namespace pleat::rmsd {

Summary::Summary(Index frames, Index atoms, const Parameters& parameters)
    : metric_(metric_of(parameters.metric)), tally_(parameters.bin) {
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

void Summary::add_row(Index i, const float* rmsd) {
    const Index count = result_.frames - 1 - i;
    if (count == 0) return;
    tally_.add(rmsd, count);
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
    tally_.finish(result_);
    if (cutoff_ > 0) sort_neighbours();
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

// Iterated density: sums of distances in one pass, less those of the items that each round drops.
#include "pleat/cluster/methods/iterated_density.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "pleat/cluster/stage.h"

namespace pleat::cluster {

namespace {

/// Distances as whole numbers, whose sums over `count` items fit into 64 bits.
class WholeNumbers {
public:
    WholeNumbers(double max_distance, Index count) {
        // Values of a source may differ a little from one request to the next.
        const double max_sum = 2 * (max_distance + 1e-30) * static_cast<double>(count);
        scale_ = std::exp2(std::floor(std::log2(0x1p62 / max_sum)));
    }
    std::int64_t of(float distance) const { return std::llround(distance * scale_); }
    double mean(std::int64_t sum, Index others) const {
        return others == 0 ? 0 : static_cast<double>(sum) / scale_ / static_cast<double>(others);
    }

private:
    double scale_ = 1;
};

}  // namespace

std::vector<DensityRound> iterate_density(const PairSource& distances, Index keep, double drop,
                                          double max_distance, const Context& context) {
    const Index count = distances.count();
    const WholeNumbers whole(max_distance, count);
    std::vector<std::int64_t> sums(static_cast<std::size_t>(count), 0);
    sum_over_pairs(
        distances, context, "density", "sums of distances",
        [&](AdditiveCheckpoint& saved) { saved.add("sums", sums); },
        [&](Block rows, const float* values) {
            for (Index i = rows.first; i < rows.first + rows.count; ++i)
                for (Index j = i + 1; j < count; ++j) {
                    const std::int64_t value = whole.of(*values++);
                    sums[i] += value;
                    sums[j] += value;
                }
        });
    std::vector<DensityRound> rounds(static_cast<std::size_t>(count));
    std::vector<Index> left(rounds.size());
    for (Index i = 0; i < count; ++i) left[static_cast<std::size_t>(i)] = i;
    Context own = context;  // a round is too short to be saved
    own.checkpoint.clear();
    const auto set_means = [&](std::span<const Index> items, std::int32_t round) {
        for (const Index i : items)
            rounds[i] = {round, whole.mean(sums[i], static_cast<Index>(left.size()) - 1)};
    };
    for (std::int32_t round = 1; static_cast<Index>(left.size()) > keep; ++round) {
        const auto all = static_cast<Index>(left.size());
        const auto share = static_cast<Index>(std::floor(drop * static_cast<double>(all)));
        const Index dropped = std::clamp<Index>(share, 1, all - keep);
        std::sort(left.begin(), left.end(),
                  [&](Index a, Index b) { return sums[a] != sums[b] ? sums[a] < sums[b] : a < b; });
        const std::vector<Index> out(left.end() - dropped, left.end());
        set_means(out, round);
        left.resize(static_cast<std::size_t>(all - dropped));
        std::sort(left.begin(), left.end());
        const Index batch = std::clamp<Index>(16'000'000 / (all - dropped), 1, 256);
        std::vector<float> values(static_cast<std::size_t>(batch * (all - dropped)));
        std::vector<std::int64_t> lost(sums.size(), 0);
        sum_over_tiles(
            own, "density", tiles_of(dropped, batch), [] { return std::string(); },
            [&](AdditiveCheckpoint& added) { added.add("lost", lost); },
            [&](const Tile& tile, View<float, 2>) {
                distances.between(std::span(out).subspan(tile.side[0].first, tile.side[0].count),
                                  left, values.data());
            },
            [&](const Tile& tile, View<const float, 2>) {
                const float* value = values.data();
                for (Index n = 0; n < tile.side[0].count; ++n)
                    for (const Index i : left) lost[i] += whole.of(*value++);
            });
        for (const Index i : left) sums[i] -= lost[i];
    }
    set_means(left, DensityRound::kLeft);
    return rounds;
}

Clustering densest_cluster(const std::vector<DensityRound>& rounds) {
    Clustering result;
    result.assignment.assign(rounds.size(), kNoise);
    Index densest = -1;
    for (std::size_t i = 0; i < rounds.size(); ++i) {
        if (rounds[i].round != DensityRound::kLeft) continue;
        result.assignment[i] = 0;
        if (densest < 0 || rounds[i].mean < rounds[static_cast<std::size_t>(densest)].mean)
            densest = static_cast<Index>(i);
    }
    result.centres = {densest};
    return result;
}

}  // namespace pleat::cluster

// Close pairs: one level of balls after the other.
#include "pleat/workflows/refine/sterics/close_pairs.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace pleat::refine {

namespace {

/// Adds queries of a ball with the balls [first, last).
inline void add(std::uint32_t ball, std::uint32_t first, std::uint32_t last,
                std::vector<BallQuery>& queries) {
    constexpr std::uint32_t kBlock = Balls::kBlock;
    for (; first < last; first += kBlock)
        queries.push_back({ball, first, std::min(kBlock, last - first)});
}

}  // namespace

/// Answers all queries before it uses the answers: nothing waits for a branch that was not
/// foreseen. `use(ball, other)` may add the queries of the next level.
template <class Use>
void ClosePairSearch::for_each_near(const Balls& balls, const Balls& others, float reach,
                                    const Use& use) {
    bits_.resize(queries_.size());
    find_near(balls, others, reach, queries_, bits_.data());
    for (std::size_t n = 0; n < queries_.size(); ++n)
        for (std::uint32_t bits = bits_[n]; bits != 0; bits &= bits - 1)
            use(queries_[n].ball,
                queries_[n].first + static_cast<std::uint32_t>(std::countr_zero(bits)));
    std::swap(queries_, next_);
    next_.clear();
}

const std::vector<std::pair<Index, Index>>& ClosePairSearch::find(const BlockedPoints& of,
                                                                  double given_reach) {
    const auto clusters = static_cast<std::uint32_t>(of.has_own_pairs.size());
    // No pair within reach may be left out: a distance and a radius have errors of a few roundings
    // of the largest number.
    constexpr float kRounding = 4e-6f;
    auto largest = static_cast<float>(given_reach);
    for (std::uint32_t n = 0; n < clusters; ++n)
        for (const float axis : {of.clusters.x[n], of.clusters.y[n], of.clusters.z[n]})
            largest = std::max(largest, std::abs(axis) + of.clusters.radius[n]);
    const float reach = static_cast<float>(given_reach) + kRounding * largest;

    pairs_.clear();
    queries_.clear();
    for (std::uint32_t n = 0; n < clusters; ++n) add(n, n + 1, clusters, queries_);
    for_each_near(of.clusters, of.clusters, reach, [&](std::uint32_t a, std::uint32_t b) {
        add(b, of.first_block[a], of.first_block[a + 1], next_);
    });
    for_each_near(of.clusters, of.blocks, reach, [&](std::uint32_t b, std::uint32_t block) {
        add(block, of.first_block[b], of.first_block[b + 1], next_);
    });
    for_each_near(of.blocks, of.blocks, reach, [&](std::uint32_t block, std::uint32_t other) {
        add(other, of.first_point[block], of.first_point[block + 1], next_);
    });
    for_each_near(of.blocks, of.points, reach, [&](std::uint32_t block, std::uint32_t point) {
        add(point, of.first_point[block], of.first_point[block + 1], next_);
    });
    for (std::uint32_t n = 0; n < clusters; ++n) {
        if (of.has_own_pairs[n] == 0) continue;
        const std::uint32_t block = of.first_block[n], last = of.first_point[block + 1];
        for (std::uint32_t point = of.first_point[block]; point < last; ++point)
            add(point, point + 1, last, queries_);
    }
    for_each_near(of.points, of.points, reach,
                  [&](std::uint32_t a, std::uint32_t b) { pairs_.emplace_back(a, b); });
    return pairs_;
}

}  // namespace pleat::refine

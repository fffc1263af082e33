// What the GPU's kernels must find: values, counts and clusters by their definitions.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

#include "pleat/rmsd/kernel/kernel.h"
#include "pleat/rmsd/tests/random_ensemble.h"

namespace pleat::rmsd::test {

/// Beside the stated 1e-5: what float32 results are rounded by.
inline void expect_near(const std::vector<float>& found, const std::vector<float>& expected) {
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t pair = 0; pair < found.size(); ++pair)
        ASSERT_NEAR(found[pair], expected[pair], 1e-5 + 1.2e-7 * expected[pair]) << "pair " << pair;
}

/// The counts of all pairs of `values`.
inline PairCounts counts_of(const std::vector<float>& values, Index frames, const Bins& options) {
    PairCounts counts{PairStatistics(frames, options.width), {}};
    counts.statistics.add_band({0, frames}, frames, values.data(), 1);
    std::size_t pair = 0;
    for (Index i = 0; i < frames; ++i) {
        for (Index j = i + 1; j < frames; ++j, ++pair) {
            const float value = values[pair];
            if (value < static_cast<float>(options.cutoff))
                counts.near.push_back(
                    {static_cast<std::int32_t>(i), static_cast<std::int32_t>(j), value});
        }
    }
    return counts;
}

inline void expect_counts(const PairCounts& found, const PairCounts& expected, Index pairs) {
    const PairStatistics &own = found.statistics, &other = expected.statistics;
    EXPECT_EQ(own.histogram(), other.histogram());
    EXPECT_NEAR(own.sum(), other.sum(), 1e-4 * static_cast<double>(pairs));
    EXPECT_NEAR(own.min(), other.min(), 1e-4);
    EXPECT_NEAR(own.max(), other.max(), 1e-4);
    ASSERT_EQ(found.near.size(), expected.near.size());
    for (std::size_t n = 0; n < found.near.size(); ++n) {
        ASSERT_EQ(found.near[n].i, expected.near[n].i);
        ASSERT_EQ(found.near[n].j, expected.near[n].j);
        ASSERT_NEAR(found.near[n].value, expected.near[n].value, 1e-5);
    }
}

/// Frames around several shapes, so that clusters are many and of several sizes.
inline Array<float, 3> several_states(Index frames, Index atoms, Index states, unsigned seed) {
    std::mt19937 random(seed);
    const Array<float, 3> common = random_ensemble(1, atoms, 0.0, seed);
    const Array<float, 3> shifts = random_ensemble(states, atoms, 0.7, seed);
    Array<float, 3> xyz(frames, atoms, Index{3});
    std::normal_distribution<float> normal;
    for (Index i = 0; i < frames; ++i) {
        // Low states are frequent.
        const auto one = random() % static_cast<unsigned>(states);
        const Index state = std::min<Index>(one, random() % static_cast<unsigned>(states));
        for (Index n = 0; n < 3 * atoms; ++n)
            xyz[i].data[n] = shifts[state].data[n] + 0.25f * normal(random);
    }
    return xyz;
}

/// By definition, from all distances.
inline DeviceClusters gromos_by_definition(const std::vector<float>& rmsd, Index frames,
                                           float cutoff) {
    const auto is_near = [&](Index i, Index j) {
        return i != j && rmsd[pairs_before(std::min(i, j), frames) + std::abs(i - j) - 1] < cutoff;
    };
    DeviceClusters found;
    found.assignment.assign(static_cast<std::size_t>(frames), -1);
    for (;;) {
        Index best = -1, max = -1;
        for (Index i = 0; i < frames; ++i) {
            if (found.assignment[i] >= 0) continue;
            Index count = 0;
            for (Index j = 0; j < frames; ++j) count += found.assignment[j] < 0 && is_near(i, j);
            if (count > max) {
                max = count;
                best = i;
            }
        }
        if (best < 0) return found;
        const auto cluster = static_cast<std::int32_t>(found.centres.size());
        for (Index j = 0; j < frames; ++j)
            if (found.assignment[j] < 0 && (j == best || is_near(best, j)))
                found.assignment[j] = cluster;
        found.centres.push_back(static_cast<std::int32_t>(best));
    }
}

}  // namespace pleat::rmsd::test

// Everything that a kernel gives for one alignment, to be compared with another kernel's.
#pragma once

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "pleat/mutual_information/kernel/kernel.h"

namespace pleat::mutual_information::test {

struct Found {
    std::vector<std::int64_t> observed;
    NullSums sums{1};
    std::vector<double> max_z;
};

/// All pairs, in blocks of shuffles of these lengths that begin with shuffle `first`.
inline Found found_pairs(Kernel& kernel, const CodedColumns& columns, Index first,
                         const std::vector<Index>& lengths) {
    const Index pairs = pair_count(columns.column_count());
    Found found{std::vector<std::int64_t>(pairs, -1), NullSums(pairs), {}};
    kernel.observe_pairs({found.observed.data(), pairs});
    std::vector<double> z_centre(pairs), z_factor(pairs);
    for (Index pair = 0; pair < pairs; ++pair) {
        z_centre[pair] = static_cast<double>(pair % 7) * 11.5 - 20;
        z_factor[pair] = pair % 5 == 0 ? 0.0 : 0.01 * static_cast<double>(1 + pair % 3);
    }
    for (const Index length : lengths) {
        std::vector<double> max_z(length, -std::numeric_limits<double>::infinity());
        const LargestZ target{
            {z_centre.data(), pairs}, {z_factor.data(), pairs}, {max_z.data(), length}};
        kernel.sample_pairs({first, length}, {found.observed.data(), pairs}, found.sums, &target);
        found.max_z.insert(found.max_z.end(), max_z.begin(), max_z.end());
        first += length;
    }
    return found;
}

inline Found found_triples(Kernel& kernel, const TripleTile& tile, Block shuffles) {
    Found found{std::vector<std::int64_t>(tile.count, -1), NullSums(tile.count), {}};
    kernel.observe_triples(tile, {found.observed.data(), tile.count});
    kernel.sample_triples(tile, shuffles, {found.observed.data(), tile.count}, found.sums);
    return found;
}

inline void expect_equal(const Found& found, const Found& expected) {
    const auto values = [](const auto& array) { return std::vector(array.begin(), array.end()); };
    EXPECT_EQ(found.observed, expected.observed);
    EXPECT_EQ(values(found.sums.less_count), values(expected.sums.less_count));
    EXPECT_EQ(values(found.sums.equal_count), values(expected.sums.equal_count));
    EXPECT_EQ(values(found.sums.first), values(expected.sums.first));
    EXPECT_EQ(values(found.sums.second), values(expected.sums.second));
    EXPECT_EQ(values(found.sums.third_low), values(expected.sums.third_low));
    EXPECT_EQ(values(found.sums.third_high), values(expected.sums.third_high));
    EXPECT_EQ(found.max_z, expected.max_z);
}

}  // namespace pleat::mutual_information::test

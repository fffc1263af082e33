// RMSDs as the reference finds them, for tests of fits on a GPU or the host.
#pragma once

#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <vector>

#include "pleat/rmsd/measures/comparison.h"
#include "pleat/rmsd/tests/turned.h"

namespace pleat::rmsd::test {

/// All values of rows and columns.
inline std::vector<float> by_reference(const Array<float, 3>& rows, const Array<float, 3>& columns,
                                       const AtomSets& sets) {
    Context context;
    context.device = {Device::Kind::reference, 0};
    const auto comparison = make_comparison({rows, columns}, sets, Metric::rmsd, {}, context);
    std::vector<float> values(static_cast<std::size_t>(rows.extent(0) * columns.extent(0)));
    comparison->block({0, rows.extent(0)}, {0, columns.extent(0)}, values.data());
    return values;
}

/// To what is promised of float64, and what float32 results are rounded by.
inline void expect_fits(const std::vector<float>& found, const std::vector<float>& expected) {
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t pair = 0; pair < found.size(); ++pair)
        ASSERT_NEAR(found[pair], expected[pair], 1e-6 + 1.2e-7 * expected[pair]) << "pair " << pair;
}

/// The atoms in [first, end).
inline std::vector<Index> atoms_from(Index first, Index end) {
    std::vector<Index> atoms(static_cast<std::size_t>(end - first));
    std::iota(atoms.begin(), atoms.end(), first);
    return atoms;
}

/// Every frame turned and somewhere else, as far as `far`.
inline Array<float, 3> scattered(Array<float, 3> xyz, double far, unsigned seed) {
    std::mt19937_64 generator(seed);
    for (Index i = 0; i < xyz.extent(0); ++i) turn(xyz[i], generator, far);
    return xyz;
}

}  // namespace pleat::rmsd::test

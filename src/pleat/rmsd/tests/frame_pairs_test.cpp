// Frame pairs: the pairs of the kernel in bands, among some frames, and in rows.
#include "pleat/rmsd/pairs/frame_pairs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <vector>

#include "pleat/core/error.h"
#include "pleat/rmsd/superposition/superposition.h"
#include "pleat/rmsd/tests/every_kernel.h"
#include "pleat/rmsd/tests/random_ensemble.h"

namespace pleat::rmsd {
namespace {

constexpr Index kFrames = 500, kAtoms = 9;

Context threads(int count) {
    Context context;
    context.threads = count;
    return context;
}

std::vector<double> weights() { return {1, 2, 0, 3, 1, 1, 4, 0.5, 1}; }

class FramePairsTest : public ::testing::Test {
protected:
    const Array<float, 3> xyz = random_ensemble(kFrames, kAtoms, 1.0, 41);
    const Frames frames = centre(xyz, weights(), 1);

    const std::vector<float>& truth() const {
        static const std::vector<float> pairs = test::reference_pairs(frames);
        return pairs;
    }
    float truth_of(Index i, Index j) const {
        return i == j ? 0.0f : truth()[pairs_before(std::min(i, j), kFrames) + std::abs(i - j) - 1];
    }
};

TEST_F(FramePairsTest, AMatrixIsRecomputedNearACutoff) {
    // As far off as `mixed` may be.
    std::vector<float> values = truth();
    for (std::size_t n = 0; n < values.size(); ++n) values[n] += n % 2 == 0 ? 9e-6f : -9e-6f;
    const auto matrix = recompute_near_cutoffs(std::make_unique<StoredPairs>(kFrames, values), xyz,
                                               weights(), {}, threads(1));
    EXPECT_EQ(matrix->count(), kFrames);
    for (std::size_t pair = 0; pair < values.size(); pair += 9973) {
        const double cutoff = truth()[pair];
        std::size_t n = 0;
        for (Index i = 0; i < kFrames; ++i)
            for (Index j = i + 1; j < kFrames; ++j, ++n) {
                const bool is_sure = std::fabs(values[n] - cutoff) >= matrix->error(cutoff);
                const bool is_below = is_sure ? values[n] < cutoff : matrix->is_below(i, j, cutoff);
                ASSERT_EQ(is_below, truth()[n] < cutoff) << i << ' ' << j;
            }
    }
}

TEST_F(FramePairsTest, ComeInOrderAndAreTheKernels) {
    for (const FitPrecision precision : {FitPrecision::mixed, FitPrecision::float64}) {
        Parameters parameters;
        parameters.precision = precision;
        std::vector<float> first;
        for (const int many : {1, 3}) {
            const auto pairs = superposed_pairs(xyz, weights(), parameters, false, threads(many));
            std::vector<float> found;
            Index next = 0;
            for (const Tile& tile : cut_into_bands(kFrames, pairs->band_rows())) {
                EXPECT_EQ(tile.side[0].first, next);
                next += tile.side[0].count;
                std::vector<float> band(static_cast<std::size_t>(tile.items));
                pairs->band(tile.side[0], band.data());
                found.insert(found.end(), band.begin(), band.end());
            }
            EXPECT_EQ(next, kFrames);
            ASSERT_EQ(found.size(), truth().size());
            for (std::size_t n = 0; n < found.size(); ++n)
                ASSERT_NEAR(found[n], truth()[n], error_of(precision));
            if (first.empty()) first = found;
            EXPECT_EQ(found, first);
        }
    }
}

TEST_F(FramePairsTest, SubsetsAndRowsAreTheSamePairs) {
    const auto pairs = superposed_pairs(xyz, weights(), {}, false, threads(2));
    std::vector<Index> chosen;
    for (Index i = 0; i < 130; ++i) chosen.push_back(i * 37 % kFrames);
    const auto count = static_cast<Index>(chosen.size());
    std::vector<float> found;
    pairs->among(chosen, [&](Block rows, const float* rmsd) {
        found.insert(
            found.end(), rmsd,
            rmsd + pairs_before(rows.first + rows.count, count) - pairs_before(rows.first, count));
    });
    std::size_t at = 0;
    for (Index a = 0; a < count; ++a)
        for (Index b = a + 1; b < count; ++b)
            ASSERT_NEAR(found.at(at++), truth_of(chosen[a], chosen[b]),
                        error_of(FitPrecision::mixed));
    EXPECT_EQ(at, found.size());
    std::vector<float> rows(static_cast<std::size_t>(count * kFrames));
    pairs->rows(chosen, rows.data());
    for (Index a = 0; a < count; ++a)
        for (Index j = 0; j < kFrames; ++j)
            ASSERT_NEAR(rows[a * kFrames + j], truth_of(chosen[a], j),
                        error_of(FitPrecision::mixed));
    for (Index a = 0; a < count; ++a) EXPECT_EQ(rows[a * kFrames + chosen[a]], 0.0f);
}

TEST_F(FramePairsTest, SinglePairsAreDecidedByTheReference) {
    const auto pairs = superposed_pairs(xyz, weights(), {}, false, threads(1));
    for (Index i = 0; i < kFrames; i += 50)
        for (Index j = i + 1; j < kFrames; j += 31) {
            EXPECT_FALSE(pairs->is_below(i, j, truth_of(i, j)));
            EXPECT_TRUE(pairs->is_below(i, j, std::nextafter(truth_of(i, j), 9.0f)));
        }
}

TEST_F(FramePairsTest, RigidMotionReachesTheRmsd) {
    const std::vector<double> w = weights();
    for (Index i = 0; i < 20; ++i) {
        const RigidMotion motion = Superposer(to_double(xyz[i + 100]), {{}, {}, w}).motion(xyz[i]);
        double sum = 0, total = 0;
        for (Index k = 0; k < kAtoms; ++k) {
            double x[3] = {xyz(i, k, 0), xyz(i, k, 1), xyz(i, k, 2)};
            motion.move(x);
            for (Index axis = 0; axis < 3; ++axis)
                sum += w[k] * std::pow(x[axis] - xyz(i + 100, k, axis), 2);
            total += w[k];
        }
        EXPECT_NEAR(std::sqrt(sum / total), truth_of(i, i + 100), 1e-5);
    }
}

TEST(FramePairs, OfFewFramesAndBrokenWeights) {
    for (const Index frames : {1, 2, 3}) {
        const Array<float, 3> xyz = random_ensemble(frames, 4, 1.0, 3);
        const auto source = superposed_pairs(xyz, {}, {}, false, threads(1));
        for (const Tile& tile : cut_into_bands(frames, source->band_rows())) {
            std::vector<float> band(static_cast<std::size_t>(tile.items));
            source->band(tile.side[0], band.data());
            EXPECT_EQ(tile.items, frames * (frames - 1) / 2);
        }
        std::vector<float> row(static_cast<std::size_t>(frames));
        const Index last = frames - 1;
        source->rows({&last, 1}, row.data());
        EXPECT_EQ(row.back(), 0.0f);
    }
    const Array<float, 3> xyz = random_ensemble(3, 4, 1.0, 3);
    for (const std::vector<double>& bad :
         {std::vector<double>{1, 2}, {1, 1, 1, -1}, {0, 0, 0, 0}, {1, 1, 1, std::nan("")}})
        EXPECT_THROW(superposed_pairs(xyz, bad, {}, false, threads(1)), InputError);
}

}  // namespace
}  // namespace pleat::rmsd

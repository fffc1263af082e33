// Properties of superposed distances, and the CPU kernel against the reference.
#include "pleat/rmsd/kernel/kernel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "pleat/core/error.h"
#include "pleat/rmsd/tests/every_kernel.h"
#include "pleat/rmsd/tests/oracle_frames.h"
#include "pleat/rmsd/tests/random_ensemble.h"
#include "pleat/rmsd/tests/turned.h"

namespace pleat::rmsd {
namespace {

double worst_difference(const std::vector<float>& a, const std::vector<float>& b) {
    EXPECT_EQ(a.size(), b.size());
    double worst = 0.0;
    for (std::size_t n = 0; n < a.size(); ++n) {
        const double difference = std::fabs(double{a[n]} - double{b[n]});
        worst = std::isnan(difference) ? 1e9 : std::max(worst, difference);
    }
    return worst;
}

TEST(Kernel, AgreesWithTheReferenceOnRandomEnsembles) {
    for (const Index atoms : {1, 2, 3, 5, 31, 70, 140, 333}) {
        for (const double spread : {0.01, 0.5, 3.0, 20.0}) {
            const Frames frames = centre(random_ensemble(37, atoms, spread, 5), {}, 1);
            const std::vector<float> expected = test::reference_pairs(frames);
            test::with_every_kernel(frames, [&](const std::string& kernel,
                                                const std::vector<float>& found) {
                // Beside the stated errors: a float32 result is rounded.
                const double rounding = 1e-7 * *std::max_element(expected.begin(), expected.end());
                const double stated = kernel.starts_with("mixed") ? 1e-5 : 1e-6;
                EXPECT_LE(worst_difference(found, expected), stated + rounding)
                    << kernel << ", atoms " << atoms << ", spread " << spread;
            });
        }
    }
}

// A cutoff that is a pair's very value: below it, or not, is for float64 to say.
TEST(Kernel, DecidesPairsAtTheCutoffInFloat64) {
    const Frames frames = centre(random_ensemble(45, 31, 0.5, 6), {}, 1);
    const std::vector<float> truth = test::reference_pairs(frames);
    Context context;
    context.threads = 1;
    for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
        hwy::SetSupportedTargetsForTest(target);
        for (const FitPrecision precision : {FitPrecision::mixed, FitPrecision::float64}) {
            for (std::size_t pair = 0; pair < truth.size(); pair += 141) {
                for (const double cutoff :
                     {double{truth[pair]}, double{std::nextafter(truth[pair], 9.0f)}}) {
                    const auto kernel = make_cpu_kernel({&frames, precision, cutoff}, context);
                    const std::vector<float> found = test::all_pairs(*kernel, 45, 20);
                    for (std::size_t n = 0; n < truth.size(); ++n)
                        ASSERT_EQ(found[n] < static_cast<float>(cutoff),
                                  truth[n] < static_cast<float>(cutoff))
                            << hwy::TargetName(target) << ", pair " << n << " at " << cutoff;
                    ASSERT_LE(worst_difference(found, truth), 1e-5);
                }
            }
        }
    }
    hwy::SetSupportedTargetsForTest(0);
}

// Cutoffs that are the value of a pair, rounded to float32.
TEST(Kernel, DecidesPairsOfRealTrajectoriesInFloat64) {
    for (const test::OracleFrames& oracle : test::trajectories(800)) {
        SCOPED_TRACE(oracle.name);
        std::vector<float> sorted(oracle.truth.begin(), oracle.truth.end());
        std::sort(sorted.begin(), sorted.end());
        for (const std::size_t below : {std::size_t{572}, sorted.size() / 2}) {
            const float cutoff = sorted[below];
            const auto expected = std::lower_bound(sorted.begin(), sorted.end(), cutoff);
            for (const FitPrecision precision : {FitPrecision::mixed, FitPrecision::float64}) {
                const auto kernel = make_cpu_kernel({&oracle.frames, precision, cutoff}, {});
                const auto found = test::all_pairs(*kernel, oracle.frames.frame_count());
                EXPECT_EQ(
                    std::count_if(found.begin(), found.end(), [&](float x) { return x < cutoff; }),
                    expected - sorted.begin());
            }
        }
    }
}

TEST(Kernel, IsBlindToRotationAndTranslation) {
    Array<float, 3> xyz = random_ensemble(20, 70, 1.0, 1);
    const std::vector<float> before = test::reference_pairs(centre(xyz, {}, 1));
    std::mt19937_64 generator(3);
    for (Index i = 0; i < 20; ++i) test::turn(xyz[i], generator, 10.0);
    test::with_every_kernel(centre(xyz, {}, 1),
                            [&](const std::string& kernel, const std::vector<float>& found) {
                                EXPECT_LE(worst_difference(found, before), 2e-5)
                                    << kernel;  // moved coordinates are rounded
                            });
}

TEST(Kernel, TellsMirrorImagesApart) {
    Array<float, 3> xyz = random_ensemble(12, 30, 2.0, 2);
    const std::vector<float> before = test::reference_pairs(centre(xyz, {}, 1));
    std::mt19937_64 generator(4);
    Array<float, 3> one(Index{2}, Index{30}, Index{3});
    for (int side = 0; side < 2; ++side) std::copy_n(xyz.data(), 90, one[side].data);
    test::turn(one[1], generator, 1.0, true);
    for (Index i = 0; i < 12; ++i) test::turn(xyz[i], generator, 1.0, true);
    test::with_every_kernel(centre(xyz, {}, 1),
                            [&](const std::string& kernel, const std::vector<float>& found) {
                                EXPECT_LE(worst_difference(found, before), 2e-5) << kernel;
                            });
    test::with_every_kernel(centre(one, {}, 1),
                            [&](const std::string& kernel, const std::vector<float>& found) {
                                EXPECT_GT(found[0], 1.0) << kernel;
                            });
}

TEST(Kernel, FollowsAPermutationOfFramesAndIsTheSameBothWays) {
    const Index count = 50;
    const Array<float, 3> xyz = random_ensemble(count, 40, 2.0, 6);
    std::vector<Index> order(count);
    std::iota(order.begin(), order.end(), Index{0});
    std::shuffle(order.begin(), order.end(), std::mt19937_64(8));
    Array<float, 3> shuffled(count, Index{40}, Index{3});
    for (Index i = 0; i < count; ++i) std::copy_n(xyz[order[i]].data, 120, shuffled[i].data);
    const auto plain = test::cpu_pairs(centre(xyz, {}, 1), FitPrecision::mixed);
    const auto found = test::cpu_pairs(centre(shuffled, {}, 1), FitPrecision::mixed);
    for (Index i = 0; i < count; ++i) {
        for (Index j = i + 1; j < count; ++j) {
            const auto [low, high] = std::minmax(order[i], order[j]);
            ASSERT_NEAR(found[pairs_before(i, count) + j - i - 1],
                        plain[pairs_before(low, count) + high - low - 1], 1e-5);
        }
    }
}

TEST(Kernel, KeepsTheTriangleInequality) {
    const Index count = 40;
    const auto rmsd =
        test::cpu_pairs(centre(random_ensemble(count, 25, 5.0, 9), {}, 1), FitPrecision::mixed);
    const auto at = [&](Index i, Index j) {
        return i == j ? 0.0f : rmsd[pairs_before(std::min(i, j), count) + std::abs(i - j) - 1];
    };
    for (Index i = 0; i < count; ++i)
        for (Index j = 0; j < count; ++j)
            for (Index k = 0; k < count; ++k) ASSERT_LE(at(i, k), at(i, j) + at(j, k) + 3e-5);
}

TEST(Kernel, GivesTheSameBitsForAnyBandsAndThreads) {
    const Frames frames = centre(random_ensemble(211, 45, 1.0, 10), {}, 1);
    for (const FitPrecision precision : {FitPrecision::mixed, FitPrecision::float64}) {
        const auto expected = test::cpu_pairs(frames, precision, 1, 211);
        EXPECT_EQ(test::cpu_pairs(frames, precision, 3, 211), expected);
        for (const Index rows : {7, 48, 100})
            EXPECT_EQ(test::cpu_pairs(frames, precision, 1, rows), expected) << rows;
    }
}

// Deviations are large there beside the distances within a cluster: what float32 cannot tell is
// solved again, sixteen at a time.
TEST(Kernel, TightClustersFarApartKeepTheBoundAndTheBits) {
    const Index count = 120, atoms = 70;
    Array<float, 3> xyz(count, atoms, Index{3});
    for (Index i = 0; i < count; ++i) {
        const Array<float, 3> shape = random_ensemble(1, atoms, 0.0, 100 + i % 3);
        const Array<float, 3> noise = random_ensemble(1, atoms, 0.2, 200 + i);
        const Array<float, 3> still = random_ensemble(1, atoms, 0.0, 200 + i);
        for (Index n = 0; n < 3 * atoms; ++n)
            xyz[i].data[n] = shape.data()[n] + noise.data()[n] - still.data()[n];
    }
    const Frames frames = centre(xyz, {}, 1);
    const std::vector<float> expected = test::reference_pairs(frames);
    EXPECT_LT(*std::min_element(expected.begin(), expected.end()), 1.0);
    EXPECT_GT(*std::max_element(expected.begin(), expected.end()), 5.0);
    test::with_every_kernel(frames,
                            [&](const std::string& kernel, const std::vector<float>& found) {
                                EXPECT_LE(worst_difference(found, expected), 1.1e-5) << kernel;
                            });
    const auto whole = test::cpu_pairs(frames, FitPrecision::mixed, 1, count);
    for (const Index rows : {5, 48})
        EXPECT_EQ(test::cpu_pairs(frames, FitPrecision::mixed, 1, rows), whole) << rows;
}

TEST(Kernel, CopiesHaveNoDistance) {
    Array<float, 3> xyz = random_ensemble(1, 100, 0.0, 11), copies(Index{20}, Index{100}, Index{3});
    for (Index i = 0; i < 20; ++i) std::copy_n(xyz.data(), 300, copies[i].data);
    test::with_every_kernel(
        centre(copies, {}, 1), [&](const std::string& kernel, const std::vector<float>& found) {
            EXPECT_LE(*std::max_element(found.begin(), found.end()), 1e-6) << kernel;
        });
}

TEST(Kernel, CountsAnAtomOfWeightTwoTwice) {
    const Array<float, 3> xyz = random_ensemble(9, 10, 2.0, 12);
    Array<float, 3> twice(Index{9}, Index{14}, Index{3});
    std::vector<double> weights(10, 1.0);
    for (Index k = 0; k < 4; ++k) weights[k] = 2.0;
    for (Index i = 0; i < 9; ++i) {
        std::copy_n(xyz[i].data, 30, twice[i].data);
        std::copy_n(xyz[i].data, 12, twice[i].data + 30);
    }
    const std::vector<float> expected = test::reference_pairs(centre(twice, {}, 1));
    test::with_every_kernel(centre(xyz, weights, 1),
                            [&](const std::string& kernel, const std::vector<float>& found) {
                                EXPECT_LE(worst_difference(found, expected), 1e-5) << kernel;
                            });
}

TEST(Frames, RefusesWhatIsNotFinite) {
    Array<float, 3> xyz = random_ensemble(3, 4, 1.0, 13);
    for (const float value : {std::nanf(""), INFINITY, 1e20f}) {
        xyz(1, 2, 0) = value;
        try {
            centre(xyz, {}, 1);
            FAIL() << value;
        } catch (const InputError& error) {
            EXPECT_NE(std::string(error.what()).find("frame 1: expected"), std::string::npos);
        }
    }
}

}  // namespace
}  // namespace pleat::rmsd

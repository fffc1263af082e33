// Measures on a real GPU against those of the CPU, through comparisons, kernels and runs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "pleat/core/tests/cuda_absence.h"
#include "pleat/rmsd/measures/comparison.h"
#include "pleat/rmsd/tests/every_kernel.h"
#include "pleat/rmsd/tests/gpu_truth.h"

namespace pleat::rmsd {
namespace {

class CudaKernelOfMeasures : public testing::Test {
protected:
    void SetUp() override {
        const std::string absence = pleat::test::cuda_absence();
        if (!absence.empty()) GTEST_SKIP() << absence;
        gpu_.device = {Device::Kind::cuda, 0};
        gpu_.threads = cpu_.threads = 4;
    }

    static std::vector<float> values(const TwoSets& sides, const AtomSets& sets, Metric metric,
                                     FitPrecision precision, const Context& context) {
        const auto comparison = make_comparison(sides, sets, metric, {precision}, context);
        std::vector<float> found(
            static_cast<std::size_t>(sides.rows.extent(0) * sides.columns.extent(0)));
        compare(*comparison, {0, sides.rows.extent(0)}, {0, sides.columns.extent(0)}, 4,
                found.data());
        return found;
    }

    /// The largest difference of dRMSDs to those of float64 on the CPU, beside the rounding of both
    /// to float32.
    double drmsd_error(const TwoSets& sides, const AtomSets& sets,
                       FitPrecision precision = FitPrecision::mixed) const {
        const auto found = values(sides, sets, Metric::drmsd, precision, gpu_),
                   expected = values(sides, sets, Metric::drmsd, FitPrecision::float64, cpu_);
        double worst = 0.0;
        for (std::size_t n = 0; n < found.size(); ++n) {
            const double error = std::fabs(double{found[n]} - expected[n]) - 1.2e-7 * expected[n];
            worst = error <= worst ? worst : error;  // keeps NaN
        }
        return worst;
    }

    Context gpu_, cpu_;
};

TEST_F(CudaKernelOfMeasures, LddtIsThatOfTheCpuBitForBit) {
    for (const Index atoms : {2, 17, 100, 300}) {
        for (const double spread : {0.0, 0.3, 1.0, 20.0}) {
            const Array<float, 3> rows = random_ensemble(90, atoms, spread, 3),
                                  columns = random_ensemble(301, atoms, spread, 4);
            AtomSets residues;
            for (Index k = 0; k < atoms; ++k)
                residues.residues.push_back(static_cast<std::int32_t>(k / 2));
            for (const TwoSets& sides :
                 {TwoSets{rows, columns}, TwoSets{rows, columns, true}, TwoSets{columns, columns}})
                for (const AtomSets& sets : {AtomSets(), residues})
                    EXPECT_EQ(values(sides, sets, Metric::lddt, FitPrecision::mixed, gpu_),
                              values(sides, sets, Metric::lddt, FitPrecision::mixed, cpu_))
                        << atoms << " atoms, spread " << spread;
        }
    }
}

TEST_F(CudaKernelOfMeasures, DrmsdKeepsItsBounds) {
    for (const Index atoms : {1, 2, 3, 17, 100, 300}) {
        for (const double spread : {0.0, 0.05, 1.0, 4.0, 30.0}) {
            const Array<float, 3> rows = random_ensemble(70, atoms, spread, 3),
                                  columns =
                                      random_ensemble(atoms > 200 ? 129 : 500, atoms, spread, 4);
            const std::string what =
                std::to_string(atoms) + " atoms, spread " + std::to_string(spread);
            AtomSets weighted;
            for (Index k = 0; k < atoms; ++k)
                weighted.weights.push_back(static_cast<double>(1 + k % 5));
            for (const AtomSets& sets : {AtomSets(), weighted}) {
                EXPECT_LE(drmsd_error({rows, columns}, sets), 1e-5) << what;
                EXPECT_LE(drmsd_error({columns, columns}, sets), 1e-5) << what;
                if (atoms > 100) continue;
                EXPECT_LE(drmsd_error({rows, columns}, sets, FitPrecision::float64), 1e-6) << what;
            }
        }
    }
}

// What cancels: tight groups of frames that are far from each other.
TEST_F(CudaKernelOfMeasures, DrmsdOfNearFramesFarFromOthersKeepsItsBounds) {
    for (const double width : {0.0, 1e-3, 0.02, 0.3}) {
        for (const double apart : {1.0, 5.0, 15.0}) {
            const Array<float, 3> centres = random_ensemble(5, 100, apart, 5),
                                  noise = random_ensemble(600, 100, width, 6);
            const Array<float, 3> fold = random_ensemble(1, 100, 0.0, 6);
            Array<float, 3> xyz(Index{600}, Index{100}, Index{3});
            for (Index i = 0; i < 600; ++i)
                for (Index k = 0; k < 100; ++k)
                    for (Index axis = 0; axis < 3; ++axis)
                        xyz(i, k, axis) =
                            centres(i % 5, k, axis) + noise(i, k, axis) - fold(0, k, axis);
            const double worst = drmsd_error({xyz, xyz}, {});
            EXPECT_LE(worst, 1e-5) << width << " in groups " << apart << " apart";
            std::printf("groups of %g angstrom, %g apart: largest error %.2g\n", width, apart,
                        worst);
        }
    }
}

TEST_F(CudaKernelOfMeasures, CountsWhatItWouldReturn) {
    const Index count = 1500;
    const Array<float, 3> xyz = random_ensemble(count, 60, 0.6, 5);
    for (const Bins& options : {Bins{0.05, 0.95}, Bins{1e-5, 0.0}}) {
        const auto kernel =
            make_pair_kernel(make_comparison({xyz, xyz}, {}, Metric::drmsd, {}, gpu_), count, 4);
        const std::vector<float> all = test::all_pairs(*kernel, count, 700);
        EXPECT_EQ(test::all_pairs(*kernel, count, count), all);
        PairCounts found;
        for (Index row = 0; row < count; row += 700)
            kernel->counter()->count({row, std::min<Index>(700, count - row)}, options, found);
        test::expect_counts(found, test::counts_of(all, count, options),
                            pairs_before(count, count));
    }
}

TEST_F(CudaKernelOfMeasures, RunsAsOnTheCpu) {
    const Array<float, 3> xyz = random_ensemble(700, 50, 1.0, 5),
                          others = random_ensemble(90, 50, 1.0, 6);
    for (const Metric metric : {Metric::drmsd, Metric::lddt}) {
        Parameters parameters;
        parameters.metric = metric;
        parameters.matrix = MatrixLayout::none;
        parameters.bin_width = 0.01;
        parameters.cutoff = metric == Metric::lddt ? 0.7 : 1.55;
        for (const Index nearest : {0, 3}) {
            parameters.nearest = nearest;
            const auto expect_same = [&](const Result& found, const Result& expected) {
                EXPECT_EQ(found.statistics.pairs(), expected.statistics.pairs());
                EXPECT_NEAR(found.statistics.mean(), expected.statistics.mean(), 1e-5);
                EXPECT_NEAR(found.statistics.min(), expected.statistics.min(), 1e-5);
                EXPECT_NEAR(found.statistics.max(), expected.statistics.max(), 1e-5);
                if (metric == Metric::lddt) {
                    EXPECT_EQ(found.statistics.histogram(), expected.statistics.histogram());
                    EXPECT_EQ(found.neighbours.indices, expected.neighbours.indices);
                    EXPECT_EQ(found.neighbours.values, expected.neighbours.values);
                }
                ASSERT_EQ(found.nearest.values.size(), expected.nearest.values.size());
                for (Index n = 0; n < found.nearest.values.size(); ++n)
                    EXPECT_NEAR(found.nearest.values.data()[n], expected.nearest.values.data()[n],
                                1e-5);
            };
            expect_same(run(xyz.view(), {}, parameters, gpu_, {}),
                        run(xyz.view(), {}, parameters, cpu_, {}));
            expect_same(run_against(xyz, others, {}, parameters, gpu_, {}),
                        run_against(xyz, others, {}, parameters, cpu_, {}));
        }
    }
}

}  // namespace
}  // namespace pleat::rmsd

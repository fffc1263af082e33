// TM-score and GDT_TS on a GPU beside the CPU's, which gives the scores of the TM-score program.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "pleat/core/loops/parallel.h"
#include "pleat/core/tests/cuda_absence.h"
#include "pleat/rmsd/measures/comparison.h"
#include "pleat/rmsd/tests/oracle_frames.h"
#include "pleat/rmsd/tests/random_ensemble.h"

namespace pleat::rmsd {
namespace {

class CudaKernelTm : public testing::Test {
protected:
    void SetUp() override {
        const std::string absence = pleat::test::cuda_absence();
        if (!absence.empty()) GTEST_SKIP() << absence;
        gpu_.device = {Device::Kind::cuda, 0};
        gpu_.threads = 2;
    }

    static std::vector<float> values(const FrameSet& rows, const FrameSet& columns, Metric metric,
                                     const Context& context) {
        const auto comparison = make_tm(rows, columns, metric, context);
        std::vector<float> found(
            static_cast<std::size_t>(rows->frame_count() * columns->frame_count()));
        compare(*comparison, {0, rows->frame_count()}, {0, columns->frame_count()}, context.threads,
                found.data());
        return found;
    }

    void expect_equal(const FrameSet& rows, const FrameSet& columns) const {
        Context cpu;
        cpu.threads = available_threads();
        for (const Metric metric : {Metric::tm, Metric::gdt_ts}) {
            const std::vector<float> found = values(rows, columns, metric, gpu_),
                                     expected = values(rows, columns, metric, cpu);
            std::size_t other = 0;
            for (std::size_t pair = 0; pair < found.size(); ++pair)
                other += !(std::fabs(found[pair] - expected[pair]) <= 1e-6);
            EXPECT_EQ(other, 0u) << "of " << found.size() << " values, metric "
                                 << static_cast<int>(metric);
        }
    }

    Context gpu_;
};

FrameSet made(Index frames, Index atoms, double spread, std::uint64_t seed) {
    return owned(centre(random_ensemble(frames, atoms, spread, seed), {}, 1));
}

TEST_F(CudaKernelTm, AgreesWithTheCpu) {
    for (const Index atoms : {1, 2, 3, 4, 5, 16, 31, 32, 33, 70, 150}) {
        for (const double spread : {0.3, 2.0, 30.0}) {
            SCOPED_TRACE(std::to_string(atoms) + " atoms, spread " + std::to_string(spread));
            const FrameSet frames = made(atoms > 100 ? 16 : 32, atoms, spread, 8);
            expect_equal(frames, frames);
            expect_equal(frames, made(16, atoms, spread, 9));
        }
    }
}

// Shared memory holds the atoms of no pair.
TEST_F(CudaKernelTm, AgreesWithTheCpuOfManyAtoms) {
    const FrameSet frames = made(3, 1100, 2.0, 8);
    expect_equal(frames, frames);
}

TEST_F(CudaKernelTm, AgreesWithTheCpuOnRealTrajectories) {
    for (test::OracleFrames& oracle : test::trajectories(100)) {
        SCOPED_TRACE(oracle.name);
        const FrameSet frames = borrowed(oracle.frames);
        expect_equal(frames, frames);
    }
}

TEST_F(CudaKernelTm, GivesTheSameBitsForAnyBlocks) {
    const FrameSet frames = made(40, 90, 3.0, 8);
    for (const Metric metric : {Metric::tm, Metric::gdt_ts}) {
        const std::vector<float> all = values(frames, frames, metric, gpu_);
        const auto comparison = make_tm(frames, frames, metric, gpu_);
        for (const Index rows : {1, 7, 40}) {
            for (const Index columns : {1, 13}) {
                std::vector<float> some(static_cast<std::size_t>(rows * columns));
                comparison->block({40 - rows, rows}, {5, columns}, some.data());
                for (Index i = 0; i < rows; ++i)
                    for (Index j = 0; j < columns; ++j)
                        EXPECT_EQ(some[i * columns + j], all[(40 - rows + i) * 40 + 5 + j]);
            }
        }
    }
}

}  // namespace
}  // namespace pleat::rmsd

// A test body over the CUDA kernel: on a GPU, and on the host in its place.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "pleat/core/tests/cuda_absence.h"
#include "pleat/weights/kernel.h"
#include "pleat/weights/tests/random_family.h"

namespace pleat::weights::test {

struct Shape {
    Index sequences, columns;
    int codes;
};

/// The neighbours after all steps, the last one first.
inline std::vector<Index> counted(Kernel& kernel) {
    for (Index step = kernel.step_count() - 1; step >= 0; --step) kernel.step(step);
    return kernel.neighbours();
}

/// How a test makes its kernel.
struct GpuMaker {
    std::string name;
    std::unique_ptr<Kernel> (*make)(const Problem&);
    bool needs_gpu;

    friend void PrintTo(const GpuMaker& maker, std::ostream* to) { *to << maker.name; }
};

/// cuda_kernel_test.cpp has its tests and runs them on a GPU, gpu_on_host_test.cpp on the host.
class EveryGpu : public testing::TestWithParam<GpuMaker> {
protected:
    void SetUp() override {
        if (!GetParam().needs_gpu) return;
        const std::string absence = pleat::test::cuda_absence();
        if (!absence.empty()) GTEST_SKIP() << absence;
    }
    static std::unique_ptr<Kernel> make(const Problem& problem) { return GetParam().make(problem); }
    static void expect_reference(const Problem& problem) {
        EXPECT_EQ(counted(*make(problem)), counted(*make_reference_kernel(problem)))
            << "sequences " << problem.letters.extent(0) << ", columns "
            << problem.letters.extent(1) << ", differences " << problem.max_differences;
    }
    static void expect_reference(const Shape& shape, std::uint64_t seed) {
        const auto letters = random_family(shape.sequences, shape.columns, shape.codes, seed);
        for (const Index differences : {Index{0}, shape.columns / 5, shape.columns - 1})
            expect_reference({letters, differences});
    }
};

inline std::string maker_name(const testing::TestParamInfo<GpuMaker>& maker) {
    return maker.param.name;
}

}  // namespace pleat::weights::test

// A test body over the CUDA kernel: on a GPU, and on the host in its place.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <ostream>
#include <string>

#include "pleat/core/tests/cuda_absence.h"
#include "pleat/saxs/kernel/kernel.h"

namespace pleat::saxs::test {

/// How a test makes its kernel.
struct GpuMaker {
    std::string name;
    std::unique_ptr<Kernel> (*make)(const Model&);
    bool needs_gpu;
    Precision precision = Precision::float32;

    friend std::ostream& operator<<(std::ostream& to, const GpuMaker& maker) {
        return to << maker.name;
    }
};

/// cuda_kernel_test.cpp has its tests and runs them on a GPU, gpu_on_host_test.cpp on the host.
class EveryGpu : public testing::TestWithParam<GpuMaker> {
protected:
    void SetUp() override {
        if (!GetParam().needs_gpu) return;
        const std::string absence = pleat::test::cuda_absence();
        if (!absence.empty()) GTEST_SKIP() << absence;
    }
    static std::unique_ptr<Kernel> make(const Model& model) { return GetParam().make(model); }
    /// The largest relative error of a profile, and of the largest component of a gradient.
    static double tolerance() { return GetParam().precision == Precision::float64 ? 1e-10 : 1e-5; }
    /// Whether so many scatterers in all frames take seconds on the host.
    static bool is_too_slow(Index scatterers) { return !GetParam().needs_gpu && scatterers > 400; }
};

inline std::string maker_name(const testing::TestParamInfo<GpuMaker>& maker) {
    return maker.param.name;
}

}  // namespace pleat::saxs::test

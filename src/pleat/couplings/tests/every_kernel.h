// A test body over every kernel: reference, CPU and, where there is one, GPU.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <ostream>
#include <string>

#include "pleat/core/tests/cuda_absence.h"
#include "pleat/couplings/kernel/kernel.h"

namespace pleat::couplings::test {

/// How a test makes its kernel.
struct KernelMaker {
    std::string name;
    std::function<std::unique_ptr<Kernel>(const Problem&)> make;
    bool needs_gpu = false;
    bool is_slow = false;  ///< takes seconds for a few evaluations

    friend void PrintTo(const KernelMaker& maker, std::ostream* to) { *to << maker.name; }
};

/// kernel_test.cpp and vector_model_test.cpp have its tests. They run on all devices, and
/// gpu_on_host_test.cpp runs them by the CUDA kernel on the host.
class EveryKernel : public testing::TestWithParam<KernelMaker> {
protected:
    void SetUp() override {
        if (!GetParam().needs_gpu) return;
        const std::string absence = pleat::test::cuda_absence();
        if (!absence.empty()) GTEST_SKIP() << absence;
    }
    static std::unique_ptr<Kernel> make(const Problem& problem) { return GetParam().make(problem); }
};

/// The kernel that make_kernel() makes for this device.
inline KernelMaker on_device(const std::string& name) {
    Context context;
    context.device = Device::parse(name);
    context.threads = 2;
    return {name, [context](const Problem& problem) { return make_kernel(problem, context); },
            context.device.kind == Device::Kind::cuda, false};
}

inline std::string maker_name(const testing::TestParamInfo<KernelMaker>& maker) {
    return maker.param.name;
}

}  // namespace pleat::couplings::test

// A test body over every kernel: reference, CPU and, where there is one, GPU.
#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "pleat/core/tests/cuda_absence.h"
#include "pleat/couplings/kernel/kernel.h"

namespace pleat::couplings::test {

/// The parameter names the device.
class EveryKernel : public testing::TestWithParam<const char*> {
protected:
    void SetUp() override {
        if (Device::parse(GetParam()).kind != Device::Kind::cuda) return;
        const std::string absence = pleat::test::cuda_absence();
        if (!absence.empty()) GTEST_SKIP() << absence;
    }
    std::unique_ptr<Kernel> make(const Problem& problem) const {
        Context context;
        context.device = Device::parse(GetParam());
        context.threads = 2;
        return make_kernel(problem, context);
    }
};

}  // namespace pleat::couplings::test

// Profiles by every kernel, precision and instruction set of this machine, for tests.
#pragma once

#include <hwy/targets.h>

#include <functional>
#include <string>

#include "pleat/saxs/kernel/kernel.h"

namespace pleat::saxs::test {

inline Array<double, 3> profiles_of(Kernel& kernel, const Model& model, View<const float, 3> xyz,
                                    View<const float, 3> scales = {}) {
    Array<double, 3> partial(xyz.extent(0), model.pair_count(), model.q_count());
    partial.fill(std::numeric_limits<double>::quiet_NaN());
    kernel.profiles(xyz, scales, partial);
    return partial;
}

/// Calls `check(name, kernel, float64)` with the CPU kernels on each instruction set.
inline void with_every_kernel(
    const Model& model,
    const std::function<void(const std::string&, Kernel&, bool float64)>& check) {
    Context context;
    context.threads = 2;
    for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
        hwy::SetSupportedTargetsForTest(target);
        const std::string set = hwy::TargetName(target);
        check("float32 " + set, *make_cpu_kernel(model, Precision::float32, context), false);
        check("float64 " + set, *make_cpu_kernel(model, Precision::float64, context), true);
        check("multipole " + set, *make_multipole_kernel(model, Precision::float32, context), true);
    }
    hwy::SetSupportedTargetsForTest(0);
}

}  // namespace pleat::saxs::test

// All pairs by every kernel and instruction set of this machine, for tests.
#pragma once

#include <hwy/targets.h>

#include <functional>
#include <string>
#include <vector>

#include "pleat/rmsd/kernel/kernel.h"

namespace pleat::rmsd::test {

/// The condensed matrix, band by band of `rows` rows.
inline std::vector<float> all_pairs(Kernel& kernel, Index frames, Index rows = 100) {
    std::vector<float> rmsd(static_cast<std::size_t>(pairs_before(frames, frames)));
    for (Index row = 0; row < frames; row += rows)
        kernel.band({row, std::min(rows, frames - row)}, rmsd.data() + pairs_before(row, frames));
    return rmsd;
}

inline std::vector<float> reference_pairs(const Frames& frames) {
    return all_pairs(*make_reference_kernel({&frames}), frames.frame_count());
}

inline std::vector<float> cpu_pairs(const Frames& frames, FitPrecision precision, int threads = 1,
                                    Index rows = 100) {
    Context context;
    context.threads = threads;
    return all_pairs(*make_cpu_kernel({&frames, precision}, context), frames.frame_count(), rows);
}

/// Calls `check(name, condensed)` with the results of the reference and of the CPU kernel in each
/// precision on each instruction set.
inline void with_every_kernel(
    const Frames& frames,
    const std::function<void(const std::string&, const std::vector<float>&)>& check) {
    check("reference", reference_pairs(frames));
    for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
        hwy::SetSupportedTargetsForTest(target);
        check(std::string("mixed ") + hwy::TargetName(target),
              cpu_pairs(frames, FitPrecision::mixed));
        check(std::string("float64 ") + hwy::TargetName(target),
              cpu_pairs(frames, FitPrecision::float64));
    }
    hwy::SetSupportedTargetsForTest(0);
}

}  // namespace pleat::rmsd::test

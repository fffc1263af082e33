// Every instruction set of this machine in turn, for tests of code that chooses one at run time.
#pragma once

#define HWY_WANT_AVX3_DL 1
#include <hwy/targets.h>

#include <cstdint>
#include <vector>

namespace pleat::weights {

/// The instruction sets that this machine has and that the kernels were compiled for.
inline std::vector<std::int64_t> compiled_targets() { return hwy::SupportedAndGeneratedTargets(); }

/// While it lives, kernels choose this instruction set.
class UseInstructionSet {
public:
    explicit UseInstructionSet(std::int64_t target) { hwy::SetSupportedTargetsForTest(target); }
    ~UseInstructionSet() { hwy::SetSupportedTargetsForTest(0); }
    UseInstructionSet(const UseInstructionSet&) = delete;
    UseInstructionSet& operator=(const UseInstructionSet&) = delete;
};

}  // namespace pleat::weights

// Instruction sets: which SIMD targets this CPU and this build offer, and which one is used.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pleat {

/// Names of the SIMD targets that the kernels were compiled for and that this CPU supports, widest
/// first: "avx512", "avx2", "sse4", "ssse3", ... (others: Highway's names in lower case); every CPU
/// of this architecture supports the last one.
std::vector<std::string> instruction_sets();

/// The target that kernels use now: the first one that restrict_instruction_set() does not forbid.
std::string instruction_set();

/// Forbids every target wider than `name` from now on, for all threads; do not call it while a
/// kernel runs. "baseline" or "scalar" means the last of instruction_sets(), "" lifts the
/// restriction. Throws UsageError with the available names if `name` is none of them.
void restrict_instruction_set(std::string_view name);

/// Applies the environment variable PLEAT_SIMD if it is set; call it once at program start.
void restrict_instruction_set_by_environment();

}  // namespace pleat

// Instruction sets: which SIMD targets this CPU and this build offer, and which one is used.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pleat {

/// Names of the SIMD targets that the kernels were compiled for and this CPU can run, the widest
/// first: "avx512", "avx2", "sse4", "ssse3", ... (lower-case Highway names elsewhere); the last one
/// is what every CPU of this architecture can run.
std::vector<std::string> instruction_sets();

/// The one that kernels use now: the first that is not forbidden by restrict_instruction_set.
std::string instruction_set();

/// Forbids every target wider than `name` from now on, for all threads; do not call it while a
/// kernel runs. "baseline" or "scalar" means the last of instruction_sets(), "" lifts the
/// restriction. Throws UsageError with the available names if `name` is none of them.
void restrict_instruction_set(std::string_view name);

/// Applies the environment variable PLEAT_SIMD if it is set; call it once at program start.
void restrict_instruction_set_by_environment();

}  // namespace pleat

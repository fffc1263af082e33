// Instruction sets: Highway's targets under the names people use.
#include "pleat/core/hardware/instruction_set.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <hwy/highway.h>
#include <hwy/targets.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>

#include "pleat/core/error.h"
#include "pleat/core/files/text.h"

namespace pleat {

namespace {

/// Targets compiled for and runnable here, the widest first (Highway gives wider ones lower bits).
std::vector<std::int64_t> targets() {
    std::vector<std::int64_t> found;
    std::int64_t rest = hwy::SupportedTargets() & HWY_TARGETS;
    // Asking Highway 1.0.3 for its targets fixes its choice and drops forbidden targets. Undo that,
    // so that the next dispatch chooses again.
    hwy::GetChosenTarget().DeInit();
    for (; rest != 0; rest &= rest - 1) found.push_back(rest & -rest);
    return found;
}

std::string name_of(std::int64_t target) {
    const std::string name = in_lower_case(hwy::TargetName(target));
    return name == "avx3" ? "avx512" : name;
}

/// The targets that a restriction allows. Highway is not asked again, because that resets its
/// choice for a moment in which another thread could use a forbidden target.
std::atomic<std::int64_t> allowed_targets = -1;

/// All targets, found before anything is forbidden: every restriction goes through this file.
const std::vector<std::int64_t>& all_targets() {
    static const std::vector<std::int64_t> all = targets();
    return all;
}

}  // namespace

std::vector<std::string> instruction_sets() {
    std::vector<std::string> names;
    for (const std::int64_t target : all_targets()) names.push_back(name_of(target));
    return names;
}

std::string instruction_set() {
    const std::vector<std::int64_t>& all = all_targets();
    const auto is_allowed = [](std::int64_t target) { return (target & allowed_targets) != 0; };
    // The lowest target is never forbidden.
    const auto found = std::ranges::find_if(all, is_allowed);
    return name_of(found == all.end() ? all.back() : *found);
}

void restrict_instruction_set(std::string_view name) {
    const std::vector<std::int64_t>& all = all_targets();
    const bool lowest = name == "baseline" || name == "scalar";
    for (const std::int64_t target : all) {
        if (name.empty() || (lowest ? target == all.back() : name_of(target) == name)) {
            // Every lower bit: some kernels are also compiled for a wider target unknown here.
            const std::int64_t forbidden = name.empty() ? 0 : target - 1;
            hwy::DisableTargets(forbidden);
            allowed_targets = ~forbidden;
            return;
        }
    }
    throw UsageError(fmt::format("PLEAT_SIMD: expected one of {}, baseline, found '{}'",
                                 fmt::join(instruction_sets(), ", "), name));
}

void restrict_instruction_set_by_environment() {
    all_targets();  // called now, while no other thread computes
    if (const char* name = std::getenv("PLEAT_SIMD")) restrict_instruction_set(name);
}

}  // namespace pleat

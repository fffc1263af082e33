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

/// Compiled targets that this CPU supports, widest first (in Highway these have lower bits).
std::vector<std::int64_t> targets() {
    std::vector<std::int64_t> found;
    // Highway 1.0.3 does not list NEON for arm64 CPUs without AES, such as those of Raspberry Pi 4,
    // and it is all that is compiled there.
    std::int64_t rest = (hwy::SupportedTargets() & HWY_TARGETS) | HWY_STATIC_TARGET;
    // Querying Highway 1.0.3 for its targets resets its choice and its restrictions. This reverts
    // it, so that the next dispatch chooses again.
    hwy::GetChosenTarget().DeInit();
    for (; rest != 0; rest &= rest - 1) found.push_back(rest & -rest);
    return found;
}

std::string name_of(std::int64_t target) {
    const std::string name = in_lower_case(hwy::TargetName(target));
    return name == "avx3" ? "avx512" : name;
}

/// The targets that are not forbidden. Highway is not queried again, since that briefly resets its
/// choice, and another thread could then use a forbidden target.
std::atomic<std::int64_t> allowed_targets = -1;

/// All targets, found before any is forbidden: only this file forbids targets.
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
            // Also forbids all lower bits: some kernels are compiled for wider targets unknown
            // here.
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

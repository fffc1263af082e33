// Dispatch: the instruction set that is named is the one that code dispatched by Highway runs on.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pleat/core/tests/dispatch_test.cpp"
#include "hwy/foreach_target.h"  // compiles this file once a target; must come before highway.h

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace pleat::HWY_NAMESPACE {

std::int64_t running_target() { return HWY_TARGET; }

}  // namespace pleat::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <gtest/gtest.h>

#include <set>

#include "pleat/core/hardware/instruction_set.h"

namespace pleat {

HWY_EXPORT(running_target);

TEST(Dispatch, RunsOnTheInstructionSetThatIsNamed) {
    std::set<std::int64_t> seen;
    for (const std::string& name : instruction_sets()) {
        restrict_instruction_set(name);
        // Asking, as a run's manifest does, must not lift the restriction.
        EXPECT_EQ(instruction_set(), name);
        const std::int64_t target = HWY_DYNAMIC_DISPATCH(running_target)();
        EXPECT_EQ(instruction_set(), name);
        EXPECT_EQ(HWY_DYNAMIC_DISPATCH(running_target)(), target);
        EXPECT_TRUE(seen.insert(target).second) << name << " runs on the target of another";
    }
    restrict_instruction_set("");
}

}  // namespace pleat
#endif  // HWY_ONCE

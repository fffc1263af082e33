// Tests of thread shares: tasks run at the same time, divide the threads, and stop one another.
#include "pleat/core/loops/threads.h"

#include <gtest/gtest.h>

#include <array>
#include <stdexcept>

#include "pleat/core/loops/parallel.h"

namespace pleat {
namespace {

TEST(ThreadShare, DividesThreadsAmongTasks) {
    std::array<int, 6> sums{};
    share_threads(16, 6, [&](Index index, const ThreadShare& share) {
        EXPECT_GE(share.threads(), index < 4 ? 3 : 2);
        std::array<int, 50> of_loop{};
        parallel_for(share.threads(), 50,
                     [&](Index n, int) { of_loop[static_cast<std::size_t>(n)] = 1; });
        for (const int one : of_loop) sums[static_cast<std::size_t>(index)] += one;
    });
    for (const int sum : sums) EXPECT_EQ(sum, 50);
}

TEST(ThreadShare, RunsOneByOneInsideALoop) {
    parallel_for(2, 2, [&](Index, int) {
        share_threads(8, 3,
                      [&](Index, const ThreadShare& share) { EXPECT_EQ(share.threads(), 1); });
    });
}

TEST(ThreadShare, ThrowsTheErrorAndStopsOtherTasks) {
    EXPECT_THROW(share_threads(2, 2,
                               [&](Index index, const ThreadShare& share) {
                                   const Context own = share.context({});
                                   if (index == 0) throw std::runtime_error("first");
                                   // The caller's own task has no progress, so it does not wait.
                                   while (own.progress != nullptr && !own.cancelled()) {
                                   }
                                   if (own.progress != nullptr) throw std::logic_error("stopped");
                               }),
                 std::runtime_error);
}

}  // namespace
}  // namespace pleat

// Tests of the thread budget: jobs share threads, and the last ones use those that are free.
#include "pleat/core/loops/threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "pleat/core/loops/parallel.h"

namespace pleat {
namespace {

/// How many threads a loop that asks for `wanted` gets.
int team_of(int wanted) {
    std::atomic<int> waiting = 0;
    std::atomic<int> highest = 0;
    parallel_for(wanted, 64, [&](Index, int thread) {
        ++waiting;
        int before = highest;
        while (before < thread + 1 && !highest.compare_exchange_weak(before, thread + 1)) {
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    });
    EXPECT_EQ(waiting, 64);
    return highest;
}

TEST(ThreadBudget, WithoutOneALoopHasWhatItAsksFor) {
    EXPECT_EQ(ThreadBudget::take(7), 7);
    ThreadBudget::return_threads(7);
    EXPECT_GT(team_of(4), 1);
}

TEST(ThreadBudget, ALoopTakesWhatIsFree) {
    const ThreadBudget budget(4);
    const ThreadBudget::Worker first;
    EXPECT_EQ(ThreadBudget::take(2), 2);
    EXPECT_EQ(ThreadBudget::take(2), 1);
    EXPECT_EQ(ThreadBudget::take(2), 0);
    EXPECT_EQ(team_of(4), 1);
    ThreadBudget::return_threads(3);
    {
        const ThreadBudget::Worker second, third, fourth, fifth;
        EXPECT_EQ(ThreadBudget::take(1), 0);
        const ThreadBudget::Pause one, two;
        EXPECT_EQ(ThreadBudget::take(9), 1);
        ThreadBudget::return_threads(1);
    }
    EXPECT_EQ(ThreadBudget::take(9), 3);
    ThreadBudget::return_threads(3);
}

TEST(ThreadBudget, LoopsOfSeveralJobsGiveBackWhatTheyTook) {
    constexpr int kThreads = 3;
    const ThreadBudget budget(kThreads);
    std::atomic<int> done = 0;
    {
        std::vector<std::jthread> jobs;
        for (int job = 0; job < kThreads; ++job)
            jobs.emplace_back([&] {
                const ThreadBudget::Worker here;
                for (int loop = 0; loop < 50; ++loop)
                    parallel_for(kThreads, 8, [&](Index, int) { ++done; });
            });
    }
    EXPECT_EQ(done, kThreads * 50 * 8);
    EXPECT_EQ(ThreadBudget::take(9), kThreads);
    ThreadBudget::return_threads(kThreads);
}

}  // namespace
}  // namespace pleat

// Tests of the gate: who enters, who waits, and who is given up.
#include "pleat/core/loops/job_gate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <random>
#include <thread>

#include "pleat/core/error.h"

namespace pleat {
namespace {

bool never() { return false; }

void wait_until(const std::function<bool()>& condition) {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!condition() && std::chrono::steady_clock::now() < limit)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    ASSERT_TRUE(condition());
}

TEST(JobGate, LetsInWhatFitsTogether) {
    JobGate gate({10, 2});
    const JobGate::Pass one = gate.enter({{6, 1}}, never), other = gate.enter({{4, 1}}, never);
    EXPECT_THROW(gate.enter({{1, 0}}, [] { return true; }), Cancelled);
    EXPECT_THROW(gate.enter({{0, 1}}, [] { return true; }), Cancelled);
    EXPECT_NO_THROW(gate.enter({{0, 0}}, never));
}

TEST(JobGate, AJobWaitsForThoseThatLeave) {
    JobGate gate({10});
    JobGate::Pass first = gate.enter({{6}}, never), second = gate.enter({{3}}, never);
    std::atomic<bool> inside = false;
    std::thread waiting([&] {
        const JobGate::Pass pass = gate.enter({{5}}, never);
        inside = true;
    });
    second.leave();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_FALSE(inside);
    first.leave();
    waiting.join();
    EXPECT_TRUE(inside);
}

TEST(JobGate, AMountainWaitsForAllAndEntersAlone) {
    JobGate gate({10, 4});
    JobGate::Pass first = gate.enter({{1, 1}}, never);
    EXPECT_THROW(gate.enter({{1000, 1}}, [] { return true; }), Cancelled);
    first.leave();
    const JobGate::Pass pass = gate.enter({{1000, 1}}, never);
    EXPECT_THROW(gate.enter({{1, 1}}, [] { return true; }), Cancelled);
}

TEST(JobGate, NobodyOvertakesALargeJobThatWaits) {
    JobGate gate({10});
    JobGate::Pass holder = gate.enter({{5}}, never);
    std::atomic<int> asked = 0, order = 0, large_at = 0, small_at = 0;
    const auto counted = [&] {
        ++asked;
        return false;
    };
    std::thread large([&] {
        const JobGate::Pass pass = gate.enter({{9}}, counted);
        large_at = ++order;
    });
    wait_until([&] { return asked > 0; });
    std::thread small([&] {
        const JobGate::Pass pass = gate.enter({{2}}, never);
        small_at = ++order;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_EQ(order, 0);
    holder.leave();
    large.join();
    small.join();
    EXPECT_EQ(large_at, 1);
    EXPECT_EQ(small_at, 2);
}

TEST(JobGate, WhoGivesUpLetsTheNextIn) {
    JobGate gate({10});
    JobGate::Pass holder = gate.enter({{5}}, never);
    std::atomic<bool> stop = false;
    std::atomic<int> asked = 0;
    std::thread large([&] {
        const auto cancelled = [&] {
            ++asked;
            return stop.load();
        };
        EXPECT_THROW(gate.enter({{9}}, cancelled), Cancelled);
    });
    wait_until([&] { return asked > 0; });
    std::thread small([&] { gate.enter({{2}}, never); });
    stop = true;
    large.join();
    small.join();
}

TEST(JobGate, AQuestionThatThrowsLeavesTheQueue) {
    JobGate gate({10});
    JobGate::Pass holder = gate.enter({{5}}, never);
    const auto broken = []() -> bool { throw std::runtime_error("asked in vain"); };
    EXPECT_THROW(gate.enter({{9}}, broken), std::runtime_error);
    EXPECT_NO_THROW(gate.enter({{5}}, never));
}

TEST(JobGate, TakesTheFirstChoiceThatFits) {
    JobGate gate({100, 10, 10});
    const std::vector<Amounts> either = {{1, 6, 0}, {1, 0, 6}, {1, 0, 4}};
    const JobGate::Pass first = gate.enter(either, never), second = gate.enter(either, never),
                        third = gate.enter(either, never);
    EXPECT_EQ(first.choice(), 0);
    EXPECT_EQ(second.choice(), 1);
    EXPECT_EQ(third.choice(), 2);
    EXPECT_THROW(gate.enter(either, [] { return true; }), Cancelled);
    EXPECT_THROW(gate.enter({{1, 2}}, never), std::logic_error);
}

TEST(JobGate, AReservationIsGivenForThePlace) {
    JobGate gate({10});
    JobGate::Pass reserved = gate.reserve({4}, never);
    EXPECT_THROW(gate.enter({{7}}, [] { return true; }), Cancelled);
    EXPECT_THROW(gate.reserve({7}, [] { return true; }), Cancelled);
    const JobGate::Pass pass = gate.enter({{9}}, never, std::move(reserved));
    EXPECT_THROW(gate.reserve({2}, [] { return true; }), Cancelled);
    EXPECT_NO_THROW(gate.enter({{1}}, never));
}

TEST(JobGate, AReservationOvertakesThoseWhoWait) {
    JobGate gate({10});
    JobGate::Pass holder = gate.enter({{5}}, never);
    std::atomic<int> asked = 0;
    std::thread large([&] {
        const auto counted = [&] {
            ++asked;
            return false;
        };
        gate.enter({{9}}, counted);
    });
    wait_until([&] { return asked > 0; });
    EXPECT_NO_THROW(gate.reserve({5}, never));
    holder.leave();
    large.join();
}

// Each holds what it has read and waits for more than the others leave.
TEST(JobGate, ThoseWhoAllWaitDoNotWaitForEachOther) {
    JobGate gate({10});
    std::atomic<int> inside = 0, most = 0, reserved = 0;
    std::vector<std::thread> crowd;
    for (int t = 0; t < 3; ++t) {
        crowd.emplace_back([&] {
            JobGate::Pass held = gate.reserve({3}, never);
            ++reserved;
            wait_until([&] { return reserved == 3; });
            const JobGate::Pass pass = gate.enter({{8}}, never, std::move(held));
            most = std::max<int>(most, ++inside);
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
            --inside;
        });
    }
    for (std::thread& thread : crowd) thread.join();
    EXPECT_EQ(most, 1);
    EXPECT_NO_THROW(gate.enter({{10}}, never));
}

TEST(JobGate, WhoGivesUpGivesItsReservationBack) {
    JobGate gate({10});
    JobGate::Pass holder = gate.enter({{5}}, never);
    EXPECT_THROW(gate.enter(
                     {{9}}, [] { return true; }, gate.reserve({5}, never)),
                 Cancelled);
    EXPECT_NO_THROW(gate.enter({{5}}, never));
    EXPECT_THROW(gate.enter({{6}}, [] { return true; }), Cancelled);  // the holder still counts
}

TEST(JobGate, WhatIsGivenBackLetsOthersIn) {
    JobGate gate({10, 10});
    JobGate::Pass pass = gate.enter({{8, 8}}, never);
    pass.keep({8, 0});
    EXPECT_NO_THROW(gate.enter({{2, 10}}, never));
    EXPECT_THROW(gate.enter({{3, 1}}, [] { return true; }), Cancelled);
    pass.keep({100, 100});  // nothing is taken back
    EXPECT_NO_THROW(gate.enter({{2, 10}}, never));
    JobGate::Pass moved = std::move(pass);
    moved.leave();
    EXPECT_NO_THROW(gate.enter({{10, 10}}, never));
}

TEST(JobGate, ManyJobsNeverExceedTheCapacity) {
    JobGate gate({100, 7});
    std::atomic<std::int64_t> bytes = 0, threads = 0, done = 0, excess = 0;
    std::vector<std::thread> crowd;
    for (int t = 0; t < 8; ++t) {
        crowd.emplace_back([&, t] {
            std::mt19937 random(static_cast<unsigned>(t));
            for (int k = 0; k < 200; ++k) {
                const std::int64_t b = random() % 100 + 1, h = random() % 7 + 1;
                const JobGate::Pass pass = gate.enter({{b, h}}, never);
                if ((bytes += b) > 100 || (threads += h) > 7) ++excess;
                std::this_thread::yield();
                bytes -= b;
                threads -= h;
                ++done;
            }
        });
    }
    for (std::thread& thread : crowd) thread.join();
    EXPECT_EQ(done, 1600);
    EXPECT_EQ(excess, 0);
}

TEST(ThreadShare, FollowsTheShareOfTheWorkLeft) {
    EXPECT_EQ(thread_share(8, 1.0), 8);
    EXPECT_EQ(thread_share(8, 0.5), 4);
    EXPECT_EQ(thread_share(8, 0.51), 5);
    EXPECT_EQ(thread_share(10, 0.1 + 0.2), 3);  // 0.30000000000000004
    EXPECT_EQ(thread_share(8, 0.001), 1);
    EXPECT_EQ(thread_share(8, 0.0, 2), 2);
    EXPECT_EQ(thread_share(1, 1.0, 4), 1);
    EXPECT_EQ(thread_share(4, 7.0), 4);
}

}  // namespace
}  // namespace pleat

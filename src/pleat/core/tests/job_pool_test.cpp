// Tests of the pool: every job once, in order, and what stops it.
#include "pleat/core/loops/threads.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "pleat/core/loops/parallel.h"

namespace pleat {
namespace {

bool never() { return false; }

TEST(JobPool, DoesEveryJobOnce) {
    for (const int workers : {1, 2, 5, 40}) {
        std::vector<std::atomic<int>> done(23);
        run_jobs(
            workers, 23, [&](Index k) { ++done[static_cast<std::size_t>(k)]; }, never);
        for (const auto& count : done) EXPECT_EQ(count, 1);
    }
    run_jobs(
        3, 0, [](Index) { FAIL(); }, never);
}

TEST(RunBehind, TakesAThreadOfItsOwn) {
    auto thread = run_in_background([] { return std::this_thread::get_id(); });
    EXPECT_NE(thread.get(), std::this_thread::get_id());
    EXPECT_THROW(run_in_background([] { throw std::runtime_error("job"); }).get(),
                 std::runtime_error);
}

TEST(RunBehind, ServesWhereNoThreadCanBeStarted) {
    pthread_attr_t usual, vast;
    ASSERT_EQ(::pthread_getattr_default_np(&usual), 0);
    ASSERT_EQ(::pthread_getattr_default_np(&vast), 0);
    // No address space holds such a stack.
    ASSERT_EQ(::pthread_attr_setstacksize(&vast, std::size_t{1} << 60), 0);
    ASSERT_EQ(::pthread_setattr_default_np(&vast), 0);
    EXPECT_THROW(static_cast<void>(std::async(std::launch::async, [] {})), std::system_error);
    auto thread = run_in_background([held = std::make_unique<int>(7)] {
        EXPECT_EQ(*held, 7);
        return std::this_thread::get_id();
    });
    ASSERT_EQ(::pthread_setattr_default_np(&usual), 0);
    EXPECT_EQ(thread.get(), std::this_thread::get_id());
}

TEST(JobPool, OneWorkerIsTheCallerAndKeepsTheOrder) {
    std::vector<Index> order;
    run_jobs(
        1, 5,
        [&, caller = std::this_thread::get_id()](Index k) {
            EXPECT_EQ(std::this_thread::get_id(), caller);
            order.push_back(k);
        },
        never);
    EXPECT_EQ(order, (std::vector<Index>{0, 1, 2, 3, 4}));
}

TEST(JobPool, WorkersRunSideBySide) {
    std::atomic<int> inside = 0;
    run_jobs(
        2, 2,
        [&](Index) {
            ++inside;
            while (inside < 2) std::this_thread::yield();  // each waits for the other
        },
        never);
    EXPECT_EQ(inside, 2);
}

TEST(JobPool, JobsMayUseThreads) {
    std::mutex mutex;
    std::set<int> seen;
    std::atomic<Index> sum = 0;
    run_jobs(
        2, 4,
        [&](Index) {
            parallel_for(3, 100, [&](Index i, int thread) {
                sum += i;
                const std::lock_guard lock(mutex);
                seen.insert(thread);
            });
        },
        never);
    EXPECT_EQ(sum, 4 * 4950);
    EXPECT_GE(seen.size(), 1u);
    EXPECT_LE(*seen.rbegin(), 2);
}

TEST(JobPool, StopsWhenAsked) {
    std::atomic<int> done = 0;
    run_jobs(
        2, 1000, [&](Index) { ++done; }, [&] { return done >= 10; });
    EXPECT_GE(done, 10);
    EXPECT_LE(done, 12);
}

TEST(JobPool, CarriesTheFirstErrorOut) {
    std::atomic<int> done = 0;
    const auto job = [&](Index k) {
        ++done;
        if (k >= 3) throw std::runtime_error(std::to_string(k));
    };
    try {
        run_jobs(1, 100, job, never);
        FAIL();
    } catch (const std::runtime_error& error) {
        EXPECT_STREQ(error.what(), "3");
    }
    EXPECT_EQ(done, 4);
    EXPECT_THROW(run_jobs(4, 100, job, never), std::runtime_error);
}

}  // namespace
}  // namespace pleat

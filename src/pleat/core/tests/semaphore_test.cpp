// Tests of semaphores: who gets units, in which order, and who waits.
#include "pleat/core/loops/threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

#include "pleat/core/error.h"

namespace pleat {
namespace {

bool never() { return false; }
/// Gives up at once: acquire() then throws exactly if the job would have to wait.
bool at_once() { return true; }

TEST(Semaphore, GivesUnitsWhileTheyLast) {
    Semaphore semaphore(10);
    Semaphore::Units first = semaphore.acquire(6, never);
    const Semaphore::Units second = semaphore.acquire(4, at_once);
    EXPECT_THROW(semaphore.acquire(1, at_once), Cancelled);
    EXPECT_EQ(semaphore.acquire(0, at_once).count(), 0);
    first.release();
    EXPECT_EQ(first.count(), 0);
    EXPECT_EQ(semaphore.acquire(6, at_once).count(), 6);  // and released again
    EXPECT_THROW(semaphore.acquire(7, at_once), Cancelled);
}

TEST(Semaphore, TakesWhatIsFreeBetweenTheMinimumAndTheMaximum) {
    Semaphore semaphore(10);
    const Semaphore::Units first = semaphore.acquire(2, 7, never);
    EXPECT_EQ(first.count(), 7);
    EXPECT_THROW(semaphore.acquire(4, 8, at_once), Cancelled);
    const Semaphore::Units second = semaphore.acquire(2, 8, at_once);
    EXPECT_EQ(second.count(), 3);
}

TEST(Semaphore, AJobLargerThanAllWaitsForAllAndKeepsOthersOut) {
    Semaphore semaphore(10);
    Semaphore::Units small = semaphore.acquire(1, never);
    EXPECT_THROW(semaphore.acquire(1000, at_once), Cancelled);
    small.release();
    const Semaphore::Units large = semaphore.acquire(1000, at_once);
    EXPECT_EQ(large.count(), 10);
    EXPECT_THROW(semaphore.acquire(1, at_once), Cancelled);
}

TEST(Semaphore, UnitsMoveWithoutBeingReleasedTwice) {
    Semaphore semaphore(10);
    Semaphore::Units units = semaphore.acquire(4, never);
    Semaphore::Units moved = std::move(units);
    units.release();
    EXPECT_THROW(semaphore.acquire(7, at_once), Cancelled);
    moved = semaphore.acquire(5, at_once);  // releases the 4
    EXPECT_EQ(semaphore.acquire(5, at_once).count(), 5);
    EXPECT_THROW(semaphore.acquire(6, at_once), Cancelled);
}

/// A thread that acquires `count` units, is known to wait, and then reports its turn.
class WaitingJob {
public:
    WaitingJob(Semaphore& semaphore, std::int64_t count, std::atomic<int>& turns)
        : thread_([this, &semaphore, count, &turns] {
              try {
                  const Semaphore::Units units = semaphore.acquire(count, [this] {
                      waits = true;
                      waits.notify_all();
                      return stops.load();
                  });
                  turn = ++turns;
              } catch (const Cancelled&) {
                  is_cancelled = true;
              }
          }) {
        waits.wait(false);  // it is in the queue once it is asked whether it is cancelled
    }
    void join() { thread_.join(); }

    std::atomic<bool> waits = false, stops = false, is_cancelled = false;
    std::atomic<int> turn = 0;

private:
    std::thread thread_;
};

TEST(Semaphore, NoJobOvertakesOneThatWaits) {
    Semaphore semaphore(10);
    std::atomic<int> turns = 0;
    Semaphore::Units units = semaphore.acquire(5, never);
    WaitingJob large(semaphore, 9, turns);
    // 2 units are free, but the large job is first.
    EXPECT_THROW(semaphore.acquire(2, at_once), Cancelled);
    WaitingJob small(semaphore, 2, turns);
    EXPECT_EQ(turns, 0);
    units.release();
    large.join();
    small.join();
    EXPECT_EQ(large.turn, 1);
    EXPECT_EQ(small.turn, 2);
}

TEST(Semaphore, AJobThatIsCancelledLetsTheNextOneIn) {
    Semaphore semaphore(10);
    std::atomic<int> turns = 0;
    const Semaphore::Units units = semaphore.acquire(5, never);
    WaitingJob large(semaphore, 9, turns);
    WaitingJob small(semaphore, 2, turns);
    EXPECT_EQ(turns, 0);
    large.stops = true;
    large.join();
    small.join();
    EXPECT_TRUE(large.is_cancelled);
    EXPECT_EQ(small.turn, 1);
    EXPECT_EQ(semaphore.acquire(5, at_once).count(), 5);
}

TEST(Semaphore, AnErrorWhileWaitingLeavesTheQueue) {
    Semaphore semaphore(10);
    const Semaphore::Units units = semaphore.acquire(5, never);
    const auto broken = []() -> bool { throw std::runtime_error("no answer"); };
    EXPECT_THROW(semaphore.acquire(9, broken), std::runtime_error);
    EXPECT_EQ(semaphore.acquire(5, at_once).count(), 5);
}

TEST(Semaphore, ManyJobsNeverExceedTheTotalAndAllFinish) {
    Semaphore bytes(100), threads(7);
    std::atomic<std::int64_t> bytes_used = 0, threads_used = 0, done = 0, excesses = 0;
    std::vector<std::thread> crowd;
    for (unsigned t = 0; t < 8; ++t) {
        crowd.emplace_back([&, t] {
            std::mt19937 random(t);
            for (int k = 0; k < 200; ++k) {
                // Some ask for more than there is.
                const Semaphore::Units b = bytes.acquire(random() % 130 + 1, never);
                const Semaphore::Units h = threads.acquire(1, random() % 9 + 1, never);
                if ((bytes_used += b.count()) > 100 || (threads_used += h.count()) > 7) ++excesses;
                std::this_thread::yield();
                bytes_used -= b.count();
                threads_used -= h.count();
                ++done;
            }
        });
    }
    for (std::thread& thread : crowd) thread.join();
    EXPECT_EQ(done, 1600);
    EXPECT_EQ(excesses, 0);
    EXPECT_EQ(bytes.acquire(100, at_once).count(), 100);
    EXPECT_EQ(threads.acquire(7, at_once).count(), 7);
}

}  // namespace
}  // namespace pleat

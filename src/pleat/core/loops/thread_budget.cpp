// Thread budget: a count of free threads.
#include "pleat/core/loops/thread_budget.h"

#include <algorithm>
#include <atomic>

namespace pleat {

namespace {

std::atomic<bool> has_budget = false;
std::atomic<int> free_threads = 0;  // negative if more threads work than the budget has

}  // namespace

ThreadBudget::ThreadBudget(int threads) {
    free_threads = threads;
    has_budget = true;
}

ThreadBudget::~ThreadBudget() { has_budget = false; }

ThreadBudget::Worker::Worker() { --free_threads; }
ThreadBudget::Worker::~Worker() { ++free_threads; }
ThreadBudget::Pause::Pause() { ++free_threads; }
ThreadBudget::Pause::~Pause() { --free_threads; }

int ThreadBudget::take(int wanted) {
    if (!has_budget) return wanted;
    int free = free_threads;
    int taken = 0;
    do taken = std::clamp(free, 0, wanted);
    while (taken > 0 && !free_threads.compare_exchange_weak(free, free - taken));
    return taken;
}

void ThreadBudget::give_back(int threads) {
    if (has_budget) free_threads += threads;
}

}  // namespace pleat

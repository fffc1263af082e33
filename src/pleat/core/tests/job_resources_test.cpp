// Tests of job resources: how many threads a job may use, by the memory that they take.
#include "pleat/core/jobs/job_resources.h"

#include <gtest/gtest.h>

#include "pleat/core/hardware/memory.h"

namespace pleat {
namespace {

constexpr int kThreads = 16;

/// Threads of a computation that takes `base` bytes and `per_thread` bytes for each thread, beside
/// 15 other jobs unless it is alone.
int threads_of(std::int64_t base, std::int64_t per_thread, bool is_alone = false) {
    const std::vector<std::vector<std::string>> inputs(kThreads);
    JobResources resources({.devices = {{Device::Kind::cpu, 0}}, .threads = kThreads}, inputs);
    EXPECT_EQ(resources.workers(), kThreads);
    const JobDemand demand{.memory = [&](const Context& context) {
        return JobMemory{.host = base + context.threads * per_thread};
    }};
    Context context;
    const JobResources::Share share = resources.acquire(
        demand, is_alone, [] { return false; }, context);
    return context.threads;
}

TEST(JobResources, AJobMayUseAllThreadsThatTakeLittleMemory) {
    EXPECT_EQ(threads_of(0, 1), kThreads);
    // The largest job, which is the last one to end, takes more than its share of the memory.
    EXPECT_EQ(threads_of(available_memory() / 4, 1), kThreads);
}

TEST(JobResources, ThreadsThatTakeMuchMemoryAreFewer) {
    const std::int64_t share = available_memory() / kThreads;
    EXPECT_EQ(threads_of(0, share), 1);
    EXPECT_EQ(threads_of(available_memory() / 4, share), 1);
    const int some = threads_of(available_memory() / 4, share / 4);
    EXPECT_GE(some, 3);
    EXPECT_LE(some, 5);
    EXPECT_EQ(threads_of(0, share, true), kThreads);
}

}  // namespace
}  // namespace pleat

// Tests of threads, memory, control groups and instruction sets.
#include "pleat/core/loops/parallel.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "pleat/core/error.h"
#include "pleat/core/hardware/instruction_set.h"
#include "pleat/core/hardware/memory.h"
#include "pleat/core/loops/threads.h"
#include "pleat/core/tests/temporary_folder.h"

namespace pleat {
namespace {

using test::error_text;
using test::spill;
using test::TemporaryFolder;

TEST(ParallelFor, CallsEachIndexOnceAndNeverSharesAThreadNumber) {
    for (const int threads : {1, 2, 5}) {
        for (const Index count : {0, 1, 2, 3, 1000}) {
            std::vector<std::atomic<int>> calls(count), busy(threads);
            parallel_for(threads, count, [&](Index i, int thread) {
                ASSERT_GE(thread, 0);
                ASSERT_LT(thread, threads);
                EXPECT_EQ(busy[thread]++, 0);
                ++calls[i];
                --busy[thread];
            });
            for (const auto& n : calls) EXPECT_EQ(n, 1);
        }
    }
}

TEST(ParallelFor, UsesSeveralThreadsAtOnce) {
    // Each of two calls waits until the other has begun: one thread would never end.
    std::atomic<int> begun = 0;
    parallel_for(2, 2, [&](Index, int) {
        ++begun;
        while (begun < 2) std::this_thread::yield();
    });
    EXPECT_EQ(begun, 2);
}

TEST(ParallelFor, CarriesErrorsOutAndWorksAgain) {
    for (const int threads : {1, 2, 4}) {
        std::atomic<int> calls = 0;
        const std::string text = error_text<InputError>([&] {
            parallel_for(threads, 10'000, [&](Index i, int) {
                ++calls;
                if (i == 5) throw InputError("the fifth");
                // The thread that throws may wait seconds for a processor.
                if (i > 5) std::this_thread::sleep_for(std::chrono::milliseconds(1));
            });
        });
        EXPECT_EQ(text, "the fifth");
        EXPECT_LT(calls, 10'000);
        const auto all_throw = [](Index i, int) { throw UsageError(std::to_string(i)); };
        error_text<UsageError>([&] { parallel_for(threads, 50, all_throw); });
        calls = 0;
        parallel_for(threads, 10, [&](Index, int) { ++calls; });
        EXPECT_EQ(calls, 10);
    }
}

TEST(Team, RunsAllMembersAtOnce) {
    for (const int threads : {0, 1, 2, 5}) {
        std::atomic<int> begun = 0;
        std::vector<std::atomic<int>> calls(std::max(threads, 1));
        run_team(threads, [&](int member, int members) {
            EXPECT_EQ(members, std::max(threads, 1));
            ++calls[member];
            ++begun;
            while (begun < members) std::this_thread::yield();
        });
        for (const auto& one : calls) EXPECT_EQ(one, 1);
    }
}

TEST(Team, IsOneInsideALoopAndAsManyAsTheBudgetHas) {
    std::atomic<int> calls = 0;
    const auto alone = [&](int member, int members) {
        EXPECT_EQ(member, 0);
        EXPECT_EQ(members, 1);
        ++calls;
    };
    parallel_for(2, 4, [&](Index, int) { run_team(3, alone); });
    EXPECT_EQ(calls, 4);
    const ThreadBudget budget(3);
    const ThreadBudget::Worker worker;
    run_team(8, [&](int, int members) { EXPECT_EQ(members, 3); });
    EXPECT_EQ(ThreadBudget::take(8), 2);
    run_team(8, alone);
    EXPECT_EQ(calls, 5);
    ThreadBudget::return_threads(2);
}

TEST(Team, CarriesTheErrorOfTheLowestMemberOut) {
    for (int n = 0; n < 20; ++n)
        EXPECT_EQ(error_text<InputError>([] {
                      run_team(4, [](int member, int) {
                          if (member > 0) throw InputError(std::to_string(member));
                      });
                  }),
                  "1");
}

TEST(ParallelFor, NestsSerially) {
    std::atomic<int> calls = 0;
    parallel_for(3, 6, [&](Index, int) {
        parallel_for(3, 7, [&](Index, int thread) {
            EXPECT_EQ(thread, 0);
            ++calls;
        });
    });
    EXPECT_EQ(calls, 42);
}

/// Sets an environment variable and restores it.
class Environment {
public:
    Environment(const char* name, const char* value) : name_(name) {
        if (const char* old = std::getenv(name)) old_ = old, had_ = true;
        value != nullptr ? ::setenv(name, value, 1) : ::unsetenv(name);
    }
    ~Environment() { had_ ? ::setenv(name_, old_.c_str(), 1) : ::unsetenv(name_); }

private:
    const char* name_;
    std::string old_;
    bool had_ = false;
};

TEST(Threads, HonourEnvironmentAffinityAndContext) {
    const Environment no_openmp("OMP_NUM_THREADS", nullptr),
        no_slurm("SLURM_CPUS_PER_TASK", nullptr);
    const int all = available_threads();
    EXPECT_GE(all, 1);
    EXPECT_LE(all, static_cast<int>(std::thread::hardware_concurrency()));
    for (const char* name : {"OMP_NUM_THREADS", "SLURM_CPUS_PER_TASK"}) {
        {
            const Environment one(name, "1,4");
            EXPECT_EQ(available_threads(), 1);
        }
        for (const char* text : {"", "x", "0", "-3", "100000"}) {
            const Environment odd(name, text);
            EXPECT_EQ(available_threads(), all) << text;
        }
    }
    cpu_set_t before, one;
    ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu)
        if (CPU_ISSET(cpu, &before)) CPU_SET(cpu, &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    EXPECT_EQ(available_threads(), 1);
    ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
    Context context;
    EXPECT_EQ(resolve_threads(context), all);
    context.threads = 7;
    EXPECT_EQ(resolve_threads(context), 7);
    context.device = {Device::Kind::reference, 0};
    EXPECT_EQ(resolve_threads(context), 1);
    context.threads = -1;
    error_text<UsageError>([&] { resolve_threads(context); });
}

TEST(Cgroup, TheTightestOfTheGroupAndItsParentsCounts) {
    TemporaryFolder folder;
    const CgroupPaths places{folder / "membership", folder / "mount"};
    EXPECT_EQ(cgroup_cpus(places), kUnlimited);
    EXPECT_EQ(cgroup_free_bytes(places), kUnlimited);
    std::filesystem::create_directories(folder / "mount/batch/job");
    spill(folder / "membership", "4:memory:/old\n0::/batch/job\n");
    spill(folder / "mount/batch/job/cpu.max", "max 100000\n");
    spill(folder / "mount/batch/job/memory.max", "max\n");
    EXPECT_EQ(cgroup_cpus(places), kUnlimited);
    EXPECT_EQ(cgroup_free_bytes(places), kUnlimited);
    spill(folder / "mount/batch/cpu.max", "250000 100000\n");
    spill(folder / "mount/batch/memory.max", "1000\n");
    spill(folder / "mount/batch/memory.current", "700\n");
    EXPECT_EQ(cgroup_cpus(places), 3);
    EXPECT_EQ(cgroup_free_bytes(places), 300);
    spill(folder / "mount/batch/memory.stat", "anon 500\ninactive_file 50\n");
    EXPECT_EQ(cgroup_free_bytes(places), 350);
    spill(folder / "mount/batch/job/cpu.max", "50000 100000\n");
    EXPECT_EQ(cgroup_cpus(places), 1);
    spill(folder / "mount/batch/memory.current", "2000\n");
    EXPECT_EQ(cgroup_free_bytes(places), 0);
}

TEST(Memory, IsPlausibleAndRefusesWithAdvice) {
    EXPECT_GT(available_memory(), 1 << 20);
    EXPECT_GT(peak_memory(), 1 << 20);
    require_memory(1, "one byte", "");
    const std::string text = error_text<DeviceError>(
        [] { require_memory(std::int64_t{1} << 60, "the matrix", "use fewer frames"); });
    EXPECT_EQ(text.find("the matrix: 1.0 EiB of memory needed, "), 0u) << text;
    EXPECT_NE(text.find(" available; use fewer frames"), std::string::npos) << text;
    require_memory(3072, "a", "b", 3072, " on cuda:0");
    EXPECT_EQ(error_text<DeviceError>([] { require_memory(3072, "a", "b", 2048, " on cuda:0"); }),
              "a: 3.0 KiB of memory needed, 2.0 KiB available on cuda:0; b");
}

TEST(Memory, BytesForPeople) {
    EXPECT_EQ(human_bytes(0), "0 B");
    EXPECT_EQ(human_bytes(1023), "1023 B");
    EXPECT_EQ(human_bytes(1024), "1.0 KiB");
    EXPECT_EQ(human_bytes(1024 * 1024 - 1), "1.0 MiB");
    EXPECT_EQ(human_bytes(3'328'599'654), "3.1 GiB");
    EXPECT_EQ(human_bytes(INT64_MAX), "8.0 EiB");
}

TEST(InstructionSet, CanBeRestrictedToEachAndRefusesOthers) {
    const std::vector<std::string> all = instruction_sets();
    ASSERT_FALSE(all.empty());
    EXPECT_EQ(instruction_set(), all.front());
    for (const std::string& name : all) {
        restrict_instruction_set(name);
        EXPECT_EQ(instruction_set(), name);
        EXPECT_EQ(instruction_sets(), all);
    }
    restrict_instruction_set("baseline");
    EXPECT_EQ(instruction_set(), all.back());
    restrict_instruction_set("");
    EXPECT_EQ(instruction_set(), all.front());
    const std::string text = error_text<UsageError>([] { restrict_instruction_set("mmx"); });
    EXPECT_NE(text.find(all.front()), std::string::npos) << text;
    EXPECT_EQ(instruction_set(), all.front());
    {
        const Environment simd("PLEAT_SIMD", all.back().c_str());
        restrict_instruction_set_by_environment();
        EXPECT_EQ(instruction_set(), all.back());
    }
    restrict_instruction_set("");
}

}  // namespace
}  // namespace pleat

// Tests of what is read of a launcher, and of the threads that ranks of one machine share.
#include "pleat/core/ranks/launch.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <map>

#include "pleat/core/error.h"
#include "pleat/core/loops/parallel.h"

namespace pleat {
namespace {

constexpr const char* kVariables[] = {
    "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMI_RANK",   "PMI_SIZE", "PMIX_RANK",
    "SLURM_STEP_NUM_TASKS", "SLURM_PROCID",         "PLEAT_RANKS"};

/// The launch that these variables, and no others, tell.
Launch launch_of(const std::map<std::string, std::string>& variables) {
    std::map<std::string, std::string> kept;
    for (const char* name : kVariables) {
        if (const char* value = ::getenv(name)) kept[name] = value;
        ::unsetenv(name);
    }
    for (const auto& [name, value] : variables) ::setenv(name.c_str(), value.c_str(), 1);
    const Launch launch = find_launch();
    for (const char* name : kVariables) ::unsetenv(name);
    for (const auto& [name, value] : kept) ::setenv(name.c_str(), value.c_str(), 1);
    return launch;
}

void expect_launch(const Launch& launch, int rank, int processes) {
    EXPECT_TRUE(launch.is_launched);
    EXPECT_EQ(launch.rank, rank);
    EXPECT_EQ(launch.processes, processes);
}

TEST(Launch, IsToldByTheVariablesOfEachLauncher) {
    expect_launch(launch_of({{"OMPI_COMM_WORLD_RANK", "2"}, {"OMPI_COMM_WORLD_SIZE", "4"}}), 2, 4);
    expect_launch(launch_of({{"PMI_RANK", "0"}, {"PMI_SIZE", "3"}}), 0, 3);
    expect_launch(launch_of({{"PMIX_RANK", "1"}, {"SLURM_STEP_NUM_TASKS", "2"}}), 1, 2);
    expect_launch(launch_of({{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "1"}}), 0, 1);
}

TEST(Launch, IsNoneWithoutThemAndWhereSwitchedOff) {
    for (const Launch& launch :
         {launch_of({}), launch_of({{"SLURM_STEP_NUM_TASKS", "4"}}),
          launch_of({{"OMPI_COMM_WORLD_RANK", "x"}, {"OMPI_COMM_WORLD_SIZE", "4"}}),
          launch_of({{"OMPI_COMM_WORLD_RANK", "-1"}, {"OMPI_COMM_WORLD_SIZE", "4"}}),
          launch_of({{"OMPI_COMM_WORLD_RANK", "1"},
                     {"OMPI_COMM_WORLD_SIZE", "4"},
                     {"PLEAT_RANKS", "off"}})}) {
        EXPECT_FALSE(launch.is_launched);
        EXPECT_EQ(launch.rank, 0);
        EXPECT_EQ(launch.processes, 1);
    }
}

TEST(Launch, ProcessesThatSrunStartedSeparatelyAreRefused) {
    const Launch separate = launch_of({{"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "2"}});
    expect_launch(separate, 0, 2);
    EXPECT_THROW(refuse_separate_processes(separate), UsageError);
    // One task, ranks, mpirun within a step, and tasks that are said to be runs of their own.
    for (const Launch& launch :
         {launch_of({{"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "1"}}),
          launch_of({{"SLURM_PROCID", "1"}, {"SLURM_STEP_NUM_TASKS", "2"}, {"PMIX_RANK", "1"}}),
          launch_of({{"SLURM_PROCID", "0"},
                     {"SLURM_STEP_NUM_TASKS", "2"},
                     {"OMPI_COMM_WORLD_RANK", "1"},
                     {"OMPI_COMM_WORLD_SIZE", "2"}}),
          launch_of(
              {{"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "2"}, {"PLEAT_RANKS", "off"}})})
        EXPECT_NO_THROW(refuse_separate_processes(launch));
}

TEST(Launch, ARefusalIsToldByTheFirstProcessAlone) {
    EXPECT_THROW(refuse_launch({true, 0, 2}, "text"), UsageError);
    try {
        refuse_launch({true, 1, 2}, "text");
        ADD_FAILURE() << "no error";
    } catch (const OtherRankFailed& error) {
        EXPECT_EQ(error.exit_code(), 2);
    }
}

/// A rank of a machine that a launcher told to share these CPUs.
struct Bound : Comm {
    explicit Bound(double share) : share_(share) {}
    double cpu_share() const override { return share_; }
    double share_;
};

TEST(Launch, ARankTakesItsPartOfTheThreads) {
    const int all = available_threads();
    EXPECT_EQ(available_threads(Comm()), all);
    EXPECT_EQ(available_threads(Bound(1e6)), all);
    EXPECT_EQ(available_threads(Bound(1.0)), 1);
    EXPECT_EQ(available_threads(Bound(0.25)), 1);
    EXPECT_EQ(available_threads(Bound(0.1 + 0.2 + 0.7)), 1);
    Bound bound(0.5);
    Context context;
    context.comm = &bound;
    EXPECT_EQ(resolve_threads(context), 1);
    context.threads = 3;
    EXPECT_EQ(resolve_threads(context), 3);
}

}  // namespace
}  // namespace pleat

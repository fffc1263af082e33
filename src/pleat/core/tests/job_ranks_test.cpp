// Tests of what ranks tell each other of jobs, and of the folder that all must see.
#include "pleat/core/jobs/job_ranks.h"

#include <gtest/gtest.h>

#include <atomic>
#include <map>

#include "pleat/core/error.h"
#include "pleat/core/tests/temporary_folder.h"
#include "pleat/core/tests/thread_comm.h"

namespace pleat {
namespace {

using test::on_ranks;
using test::spill;
using test::TemporaryFolder;

TEST(JobRanks, TheFirstOneHearsHowJobsEndedOnTheOthers) {
    std::map<Index, JobRow> heard;
    on_ranks(3, [&](Comm& comm) {
        JobRanks ranks(&comm);
        JobRow row;
        row.status = comm.rank() == 1 ? JobStatus::done : JobStatus::failed;
        row.device = "cpu";
        row.seconds = "1.50";
        row.numbers = {"12", "", "a\tb"};
        row.error = "f.aln:2: expected 5 columns, found 3";
        row.exit_code = comm.rank();
        for (const Index k : {0, 10}) ranks.add_row_report(k + comm.rank(), row);
        ranks.gather_row_reports([&](Index index, const JobRow& told) { heard[index] = told; });
    });
    ASSERT_EQ(heard.size(), 4U);
    for (const Index k : {1, 2, 11, 12}) {
        const JobRow& row = heard.at(k);
        EXPECT_EQ(row.status, k % 10 == 1 ? JobStatus::done : JobStatus::failed);
        EXPECT_EQ(row.device + row.seconds, "cpu1.50");
        EXPECT_EQ(row.numbers, (std::vector<std::string>{"12", "", "a\tb"}));
        EXPECT_EQ(row.error, "f.aln:2: expected 5 columns, found 3");
        EXPECT_EQ(row.exit_code, k % 10);
    }
}

TEST(JobRanks, GetTheIndicesOfTheFirstOne) {
    on_ranks(3, [](Comm& comm) {
        const std::vector<Index> own{7, 5, comm.rank()};
        EXPECT_EQ(JobRanks(&comm).share(own), (std::vector<Index>{7, 5, 0}));
        EXPECT_TRUE(JobRanks(&comm).share({}).empty());
    });
}

TEST(JobRanks, RefuseAFolderThatOneOfThemDoesNotSee) {
    const TemporaryFolder shared, own;
    const auto check = [&](bool is_shared) {
        on_ranks(3, [&](Comm& comm) {
            const bool is_other = !is_shared && comm.rank() == 2;
            JobRanks(&comm).check_shared_folder(is_other ? own.path() : shared.path(),
                                                std::chrono::milliseconds(100));
        });
    };
    EXPECT_NO_THROW(check(true));
    EXPECT_THROW(check(false), OutputError);
    spill(own / ".pleat-ranks", "of a killed call");
    EXPECT_THROW(check(false), OutputError);
    EXPECT_FALSE(std::filesystem::exists(shared / ".pleat-ranks"));
    JobRanks(nullptr).check_shared_folder(own.path());
    EXPECT_FALSE(std::filesystem::exists(own / ".pleat-ranks"));
}

TEST(JobRanks, OfOneMachineTakeTurns) {
    std::atomic<int> here = 0, turns = 0;
    on_ranks(3, [&](Comm& comm) {
        JobRanks(&comm).run_ranks_in_turn([&] {
            EXPECT_EQ(++here, 1);
            ++turns;
            --here;
        });
    });
    EXPECT_EQ(turns, 3);
}

}  // namespace
}  // namespace pleat

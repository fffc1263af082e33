// Tests of job claims: one owner at a time, and void claims of processes that are gone.
#include "pleat/core/jobs/job_claims.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <thread>
#include <vector>

#include "pleat/core/error.h"
#include "pleat/core/run/folder_claim.h"
#include "pleat/core/tests/temporary_folder.h"

namespace pleat {
namespace {

using test::TemporaryFolder;

/// Calls `work` in a child process and returns its exit code.
template <class Work>
int in_child(const Work& work) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(work());
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::filesystem::path claim_file(const TemporaryFolder& folder) {
    for (const auto& entry : std::filesystem::directory_iterator(folder / ".pleat-jobs"))
        if (entry.path().extension() == ".claim") return entry.path();
    return {};
}

TEST(JobClaims, AJobHasOneOwner) {
    const TemporaryFolder folder;
    JobClaims claims(folder.path(), true);
    EXPECT_TRUE(claims.claim("a"));
    EXPECT_TRUE(claims.claim("a/theta=0.5"));
    const auto claim_elsewhere = [&](const char* job) {
        return in_child([&] { return JobClaims(folder.path(), false).claim(job) ? 1 : 0; });
    };
    EXPECT_EQ(claim_elsewhere("a"), 0);
    EXPECT_EQ(claim_elsewhere("b"), 1);
    claims.release("a");
    EXPECT_EQ(claim_elsewhere("a"), 1);
    EXPECT_TRUE(claims.claim("a"));
}

TEST(JobClaims, WorkWhileOthersEndAndRemoveTheFolder) {
    const TemporaryFolder folder;
    const auto come_and_go = [&](int number) {
        for (int n = 0; n < 300; ++n) {
            JobClaims claims(folder.path(), false);
            const std::string job = std::to_string(number) + " " + std::to_string(n);
            if (!claims.claim(job)) return 1;
            if (n % 50 == 49) claims.record_failure(job, {"it broke", 3});
            claims.release(job);
            claims.tidy();
        }
        return 0;
    };
    std::vector<int> codes(3, -1);
    {
        std::vector<std::jthread> others;
        others.reserve(codes.size());
        for (int number = 0; number < 3; ++number)
            others.emplace_back(
                [&, number] { codes[number] = in_child([&] { return come_and_go(number); }); });
    }
    EXPECT_EQ(codes, std::vector<int>(3, 0));
}

TEST(JobClaims, OfAKilledProcessAreVoidAtOnce) {
    const TemporaryFolder folder;
    in_child([&] {
        JobClaims claims(folder.path(), true);
        claims.claim("a");
        ::_exit(0);
        return 0;
    });
    ASSERT_FALSE(claim_file(folder).empty());
    {
        JobClaims claims(folder.path(), false);
        EXPECT_TRUE(claims.claim("a"));
    }
    in_child([&] {
        JobClaims claims(folder.path(), false);
        claims.claim("a");
        ::_exit(0);
        return 0;
    });
    JobClaims(folder.path(), false).tidy();
    EXPECT_FALSE(std::filesystem::exists(folder / ".pleat-jobs"));
}

TEST(JobClaims, OfAnotherHostAreVoidAfterFiveMinutes) {
    const TemporaryFolder folder;
    JobClaims claims(folder.path(), true);
    ASSERT_TRUE(claims.claim("a"));
    const std::filesystem::path file = claim_file(folder);
    claims.release("a");
    std::ofstream(file) << "another-host boot 1\n";
    EXPECT_FALSE(claims.claim("a"));
    struct timespec times[2] = {};
    times[0].tv_sec = times[1].tv_sec = ::time(nullptr) - 400;
    ASSERT_EQ(::utimensat(AT_FDCWD, file.c_str(), times, 0), 0);
    EXPECT_TRUE(claims.claim("a"));
}

TEST(JobClaims, FailuresAreKnownToAllUntilAllHaveEnded) {
    const TemporaryFolder folder;
    {
        JobClaims first(folder.path(), true);
        first.record_failure("a", {"in.aln:2: expected 5, found 3\nand more", 3});
        const JobClaims second(folder.path(), false);
        EXPECT_EQ(second.failure("a")->exit_code, 3);
        EXPECT_EQ(second.failure("a")->text, "in.aln:2: expected 5, found 3\nand more");
        EXPECT_FALSE(second.failure("b"));
        first.tidy();
        EXPECT_TRUE(second.failure("a"));
    }
    const JobClaims later(folder.path(), true);
    EXPECT_FALSE(later.failure("a"));
    later.tidy();
    EXPECT_TRUE(folder.names().empty());
}

TEST(FolderClaim, IsMadeWhileOthersRemoveItsParent) {
    const TemporaryFolder folder;
    std::vector<std::jthread> jobs;
    for (const char* name : {"one", "two", "three"})
        jobs.emplace_back([&folder, name] {
            for (int k = 0; k < 300; ++k) FolderClaim(folder / "parent" / name).remove_created();
        });
    jobs.clear();                          // an error would end the program
    EXPECT_LE(folder.names().size(), 1u);  // the parent stays if its maker went before the others
}

TEST(FolderClaim, IsSharedByThoseWhoShareIt) {
    const TemporaryFolder folder;
    {
        const FolderClaim first(folder / "jobs", true), second(folder / "jobs", true);
        EXPECT_TRUE(first.was_free());
        EXPECT_FALSE(second.was_free());
        EXPECT_NE(test::error_text<UsageError>([&] {
                      FolderClaim exclusive(folder / "jobs");
                  }).find("another run is writing here"),
                  std::string::npos);
    }
    EXPECT_TRUE(std::filesystem::is_empty(folder / "jobs"));
    const FolderClaim exclusive(folder / "jobs");
    EXPECT_NE(test::error_text<UsageError>([&] {
                  FolderClaim shared(folder / "jobs", true);
              }).find("another run is writing here"),
              std::string::npos);
}

}  // namespace
}  // namespace pleat

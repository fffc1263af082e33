// Tests of the job runner: failures, resuming, sharing between processes, input that is read once.
#include "pleat/core/jobs/job_runner.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "pleat/core/error.h"
#include "pleat/core/files/input_file.h"
#include "pleat/core/files/output_file.h"
#include "pleat/core/jobs/job_command.h"
#include "pleat/core/run/run_directory.h"
#include "pleat/core/tests/temporary_folder.h"

namespace pleat {
namespace {

using test::error_text;
using test::slurp;
using test::spill;
using test::TemporaryFolder;

/// A progress that reports nothing and stops when told.
class Silent : public Progress {
public:
    explicit Silent(const std::atomic<bool>& is_stopped) : is_stopped_(is_stopped) {}
    void update(std::string_view, std::int64_t, std::int64_t, std::string_view) override {}
    bool cancelled() override { return is_stopped_; }
    void message(std::string_view) override {}

private:
    const std::atomic<bool>& is_stopped_;
};

/// A command that writes its input as many times as its option says.
class RepeatRun : public JobRun {
public:
    struct Log {
        std::atomic<int> runs = 0, reads = 0;
        std::atomic<bool> is_stopped = false;
        std::function<void(const std::string& input)> compute;  ///< may throw
    };
    RepeatRun(const Job& job, std::filesystem::path folder, Log& log)
        : job_(job), folder_(std::move(folder)), log_(log) {
        std::vector<Field> fields = RepeatRun::options();
        apply_settings(job.settings, fields);
    }
    std::vector<Field> options() override {
        return {{.name = "times", .target = &times_, .help = "How often", .min = 1}};
    }
    std::optional<std::uint64_t> seed() const override { return std::nullopt; }
    void check() override { check_readable(job_.files); }
    std::vector<std::string> input_files() const override { return job_.files; }
    std::vector<std::string> call() override { return {"repeat", job_.files.front()}; }
    void run(const JobTask& task) override {
        ++log_.runs;
        RunDirectory run({.path = folder_,
                          .command = "repeat",
                          .arguments = task.arguments,
                          .shares_process = task.shares_process});
        Context context;
        context.progress = run.watch(task.shown);
        run.parameters(options());
        run.input(job_.files.front());
        const auto text = shared_input<std::string>(task.inputs, job_.files.front(), [&] {
            ++log_.reads;
            return slurp(job_.files.front());
        });
        task.choose_device(
            {.estimate = [](const Context&) { return Estimate{.host_bytes = 1000}; }}, context);
        run.context(context);
        if (log_.compute) log_.compute(*text);
        if (context.cancelled()) throw Cancelled("stopped");
        std::string repeated;
        for (std::int64_t k = 0; k < times_; ++k) repeated += *text;
        write_text(run.output("repeated.txt"), repeated);
        run.fact("bytes", static_cast<std::int64_t>(repeated.size()));
        run.finish();
    }

private:
    const Job job_;
    const std::filesystem::path folder_;
    Log& log_;
    std::int64_t times_ = 1;
};

class JobRunnerTest : public testing::Test {
protected:
    JobRunnerTest() {
        for (const char* name : {"a", "bb", "ccc"}) {
            spill(folder / name, name);
            inputs.push_back({name, {(folder / name).string()}});
        }
    }
    JobListResult run(bool share = false, int workers = 2) {
        std::int64_t times = 1;
        std::vector<Field> fields{{.name = "times", .target = &times, .help = "How often"}};
        const JobPlan plan = plan_jobs(inputs, parse_sweeps(sweeps, fields));
        const JobCommand command{.name = "repeat",
                                 .numbers = {"bytes"},
                                 .make = [&](const Job& job, const std::filesystem::path& to) {
                                     return std::make_unique<RepeatRun>(job, to, log);
                                 }};
        return run_job_list(
            plan, command,
            {.folder = folder / "runs",
             .call = {"repeat", "-o", "runs"},
             .devices = {Device{Device::Kind::cpu, 0}},
             .threads = share ? 1 : 2,  // OpenMP does not survive fork()
             .workers = workers,
             .share = share,
             .shown = std::make_unique<Silent>(log.is_stopped),
             .report_failure = [&](const std::string& line) { errors.push_back(line); }});
    }
    std::string text_of(const std::string& job) {
        return slurp(folder / "runs" / job / "repeated.txt");
    }
    static int count(const JobTable& table, JobStatus status) {
        return static_cast<int>(
            std::count_if(table.rows.begin(), table.rows.end(),
                          [&](const JobRow& row) { return row.status == status; }));
    }

    TemporaryFolder folder;
    std::vector<JobInput> inputs;
    std::vector<std::string> sweeps = {"times=1,2,3"};
    std::vector<std::string> errors;
    RepeatRun::Log log;
};

TEST_F(JobRunnerTest, RunsEveryInputWithEverySettingAndReadsItOnce) {
    const JobListResult result = run();
    EXPECT_EQ(count(result.table, JobStatus::done), 9);
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(text_of("bb/times=3"), "bbbbbb");
    EXPECT_EQ(log.reads, 3);
    EXPECT_EQ(result.table.rows[5].numbers, std::vector<std::string>{"6"});
    EXPECT_EQ(slurp(folder / "runs" / kJobTable), result.table.text());
    EXPECT_FALSE(std::filesystem::exists(folder / "runs" / ".pleat-jobs"));
}

TEST_F(JobRunnerTest, SkipsWhatHasFinishedAndRefusesOtherRuns) {
    run();
    sweeps = {"times=1,2,3,4"};
    spill(folder / "a", "x");
    const JobListResult result = run();
    EXPECT_EQ(log.runs, 9 + 3);  // those with times=4
    EXPECT_EQ(result.skipped, 6);
    EXPECT_EQ(count(result.table, JobStatus::failed), 3);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_NE(result.table.rows[0].error.find("other content of its input"), std::string::npos);
    EXPECT_EQ(result.table.rows[3].status, JobStatus::done);
}

TEST_F(JobRunnerTest, LeavesTheTableWhereAllRunsAreOfAnotherCommand) {
    run();
    const std::string table = slurp(folder / "runs" / "jobs.tsv");
    for (const char* input : {"a", "bb", "ccc"}) spill(folder / input, "x");
    EXPECT_NE(error_text<UsageError>([&] { run(); }).find("other content of its input"),
              std::string::npos);
    EXPECT_EQ(slurp(folder / "runs" / "jobs.tsv"), table);
}

TEST_F(JobRunnerTest, KeepsTheRowsOfEarlierJobsWhoseRunsAreStillThere) {
    log.compute = [](const std::string& input) {
        if (input == "ccc") throw InputError("broken");
    };
    sweeps = {"times=1,2"};
    run();
    std::filesystem::remove_all(folder / "runs" / "bb" / "times=2");
    spill(folder / "d", "dddd");
    inputs = {{"a", {(folder / "a").string()}}, {"d", {(folder / "d").string()}}};
    sweeps = {"times=3"};
    EXPECT_EQ(run().table.rows.size(), 2u);
    const JobTable table(folder / "runs");
    std::vector<std::string> folders, bytes;
    for (const JobRow& row : table.rows) {
        folders.push_back(row.folder);
        bytes.push_back(row.numbers.at(0));
        EXPECT_EQ(row.status, JobStatus::done);
    }
    EXPECT_EQ(folders, (std::vector<std::string>{"a/times=1", "a/times=2", "bb/times=1",
                                                 "a/times=3", "d/times=3"}));
    EXPECT_EQ(bytes, (std::vector<std::string>{"1", "2", "2", "3", "12"}));
    EXPECT_EQ(table.swept_options, std::vector<std::string>{"times"});
    EXPECT_EQ(renew_job_table(folder / "runs").text(), table.text());
}

TEST_F(JobRunnerTest, AFailedJobStopsNoOther) {
    log.compute = [](const std::string& input) {
        if (input == "bb") throw InputError("bb", 7, "expected c, found b");
        if (input == "ccc") throw OutputError("full");
    };
    const JobListResult result = run();
    EXPECT_EQ(count(result.table, JobStatus::done), 3);
    EXPECT_EQ(count(result.table, JobStatus::failed), 6);
    EXPECT_EQ(result.exit_code, 3);  // of the first in the order of the plan
    EXPECT_EQ(result.table.rows[3].error, "bb:7: expected c, found b");
    EXPECT_EQ(errors.size(), 6u);
    EXPECT_TRUE(std::count(errors.begin(), errors.end(),
                           "pleat: bb/times=1: bb:7: expected c, found b") == 1);
    log.compute = {};
    EXPECT_EQ(count(run().table, JobStatus::done), 9);
}

TEST_F(JobRunnerTest, AJobThatRanOutOfMemoryIsRunAgainAlone) {
    std::atomic<int> failures = 0;
    log.compute = [&](const std::string& input) {
        if (input == "a" && failures++ < 3) throw DeviceError("no memory");
    };
    EXPECT_EQ(count(run().table, JobStatus::done), 9);
    EXPECT_EQ(failures, 6);
}

TEST_F(JobRunnerTest, StopsAndResumes) {
    log.compute = [&](const std::string&) {
        if (log.runs == 4) log.is_stopped = true;
    };
    EXPECT_NE(error_text<Cancelled>([&] { run(false, 1); }).find("of 9 jobs; run the same command"),
              std::string::npos);
    EXPECT_EQ(count(JobTable(folder / "runs"), JobStatus::done), 3);
    log.is_stopped = false;
    log.compute = {};
    const JobListResult result = run();
    EXPECT_EQ(result.skipped, 3);
    EXPECT_EQ(count(result.table, JobStatus::done), 9);
}

TEST_F(JobRunnerTest, ChecksAllBeforeAnyWork) {
    std::filesystem::remove(folder / "ccc");
    error_text<InputError>([&] { run(); });
    EXPECT_EQ(log.runs, 0);
    EXPECT_FALSE(std::filesystem::exists(folder / "runs"));
    spill(folder / "ccc", "ccc");
    std::filesystem::create_directory(folder / "runs");
    spill(folder / "runs" / "manifest.json", "{}");
    EXPECT_NE(error_text<UsageError>([&] { run(); }).find("found the run of one"),
              std::string::npos);
}

TEST_F(JobRunnerTest, ProcessesShareTheJobs) {
    sweeps = {"times=1:20:1"};
    log.compute = [&](const std::string& input) {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        if (input == "bb") throw InputError("broken");
    };
    std::vector<pid_t> children;
    for (int child = 0; child < 2; ++child) {
        const pid_t id = ::fork();
        if (id == 0) {
            run(true, 1);
            ::_exit(log.runs < 40 + 20 ? 7 : 8);
        }
        children.push_back(id);
    }
    const JobListResult own = run(true, 1);
    for (const pid_t id : children) {
        int status = 0;
        ::waitpid(id, &status, 0);
        EXPECT_EQ(WEXITSTATUS(status), 7);
    }
    EXPECT_LT(log.runs, 60);
    EXPECT_EQ(own.exit_code, 3);
    const JobTable table(folder / "runs");  // by the last one
    EXPECT_EQ(count(table, JobStatus::done), 40);
    EXPECT_EQ(count(table, JobStatus::failed), 20);
    EXPECT_EQ(text_of("a/times=20"), std::string(20, 'a'));
    log.compute = {};
    EXPECT_EQ(count(run(true).table, JobStatus::done), 60);  // failures are forgotten
    EXPECT_FALSE(std::filesystem::exists(folder / "runs" / ".pleat-jobs"));
}

}  // namespace
}  // namespace pleat

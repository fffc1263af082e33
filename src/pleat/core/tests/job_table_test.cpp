// Tests of job tables: text, reading it back, and rows from manifests.
#include "pleat/core/jobs/job_table.h"

#include <gtest/gtest.h>

#include "pleat/core/error.h"
#include "pleat/core/files/output_file.h"
#include "pleat/core/jobs/job_runner.h"
#include "pleat/core/run/run_directory.h"
#include "pleat/core/tests/temporary_folder.h"
#include "pleat/core/version.h"

namespace pleat {
namespace {

using test::error_text;
using test::TemporaryFolder;

JobTable two_rows() {
    JobPlan plan;
    plan.options = {"structure", "theta"};
    plan.swept_options = {"theta"};
    plan.jobs = {{"a", {"a.aln"}, {{"theta", "0.5"}}, "a/theta=0.5"},
                 {"b", {"b.aln"}, {{"structure", "x y.pdb"}, {"theta", "0.5"}}, "b/theta=0.5"}};
    return {{"couplings", "a.aln", "b c.aln", "-o", "it's"}, plan, {"columns", "theta", "gap"}};
}

void finish_run(const std::filesystem::path& folder) {
    RunDirectory run({.path = folder, .command = "couplings", .arguments = {}});
    run.context({});
    run.fact("columns", std::int64_t{117});
    run.fact("gap", 8.5e-5);
    write_text(run.output("scores.tsv"), "1\n");
    run.finish();
}

TEST(JobTable, HasACommandColumnsAndARowPerJob) {
    JobTable table = two_rows();
    table.rows[1].status = JobStatus::failed;
    table.rows[1].error = "b c.aln:2: expected\tx";
    const std::string head =
        "# version: pleat " + std::string(kVersion) +
        "\n# command: pleat couplings a.aln 'b c.aln' -o 'it'\\''s'\n# swept: theta\n"
        "name\tstructure\ttheta\tstatus\tdevice\tseconds\tcolumns\tgap\tresult\t"
        "error\n";
    EXPECT_EQ(table.text(), head + "a\tNA\t0.5\twaiting\tNA\tNA\tNA\tNA\ta/theta=0.5\tNA\n" +
                                "b\tx y.pdb\t0.5\tfailed\tNA\tNA\tNA\tNA\tb/theta=0.5\t"
                                "b c.aln:2: expected\\tx\n");
    EXPECT_EQ(table.counts(), "0 done, 1 failed, 1 waiting");
    EXPECT_FALSE(table.all_ended());
}

TEST(JobTable, IsReadAndRenewedFromManifests) {
    const TemporaryFolder folder;
    JobTable table = two_rows();
    table.rows[1].status = JobStatus::failed;
    table.rows[1].error = "why";
    write_text(folder / kJobTable, table.text());
    EXPECT_EQ(JobTable(folder.path()).text(), table.text());
    EXPECT_EQ(JobTable(folder.path()).call, table.call);
    finish_run(folder / "a/theta=0.5");
    const JobTable renewed = renew_job_table(folder.path());
    EXPECT_EQ(renewed.rows[0].status, JobStatus::done);
    EXPECT_EQ(renewed.rows[0].numbers, (std::vector<std::string>{"117", "8.5e-05"}));
    EXPECT_EQ(renewed.rows[0].device, "cpu");
    EXPECT_EQ(renewed.rows[1].error, "why");
    EXPECT_TRUE(renewed.all_ended());
    EXPECT_EQ(test::slurp(folder / kJobTable), renewed.text());
    EXPECT_EQ(row_line(renewed.rows[0], renewed.numbers),
              "a/theta=0.5: columns 117, gap 8.5e-05, " + renewed.rows[0].seconds + " s");
}

TEST(JobTable, OfEarlierJobsTooHasTheColumnsOfBoth) {
    const TemporaryFolder folder;
    JobTable earlier, table;
    earlier.options = {"shuffles"};
    earlier.numbers = {"pairs"};
    earlier.rows = {{.name = "a",
                     .settings = {"10"},
                     .folder = "a/shuffles=10",
                     .status = JobStatus::done,
                     .numbers = {"3"}}};
    table.numbers = {"shuffles", "pairs", "triples"};
    table.rows = {
        {.name = "b", .folder = "b", .status = JobStatus::done, .numbers = {"20", "6", "1"}}};
    write_job_table(folder.path(), earlier, table);
    const std::string text = test::slurp(folder / kJobTable);
    EXPECT_NE(text.find("name\tshuffles\tstatus\tdevice\tseconds\tpairs\ttriples\tresult\terror\n"
                        "a\t10\tdone\tNA\tNA\t3\tNA\ta/shuffles=10\tNA\n"
                        "b\t20\tdone\tNA\tNA\t6\t1\tb\tNA\n"),
              std::string::npos)
        << text;
}

TEST(JobTable, RefusesOtherTables) {
    const TemporaryFolder folder;
    const std::string path = (folder / kJobTable).string();
    EXPECT_NE(error_text<InputError>([&] { JobTable{folder.path()}; }).find(path),
              std::string::npos);
    for (const auto& [text, complaint] : std::vector<std::pair<std::string, std::string>>{
             {"", ": expected a table of jobs, found none"},
             {"name\tx\n", ": expected a table of jobs with a column 'status', found none"},
             {"status\tdevice\tseconds\tresult\terror\n",
              ":1: expected the columns of jobs, found others"},
             {"name\tstatus\tdevice\tseconds\tresult\terror\na\tbroken\tNA\tNA\ta\tNA\n",
              ":2: expected 6 cells of a job, found 'a\tbroken\tNA\tNA\ta\tNA'"},
             {"name\tstatus\tdevice\tseconds\tresult\terror\na\tdone\tNA\tNA\t../a\tNA\n",
              ":2: expected a folder below this one, found '../a'"}}) {
        test::spill(path, text);
        EXPECT_EQ(error_text<InputError>([&] { JobTable{folder.path()}; }), path + complaint);
    }
}

}  // namespace
}  // namespace pleat

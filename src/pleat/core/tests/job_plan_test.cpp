// Tests of job plans: sweeps, lists, names and folders.
#include "pleat/core/jobs/job_plan.h"

#include <gtest/gtest.h>

#include "pleat/core/error.h"
#include "pleat/core/tests/temporary_folder.h"

namespace pleat {
namespace {

using test::error_text;
using test::TemporaryFolder;

/// Several numbers as one option.
struct Series {
    std::string written;
    std::string text() const { return written; }
    static Series parse(std::string_view text, std::string_view) { return {std::string(text)}; }
};

struct Options {
    Series series;
    double theta = 0.8;
    std::int64_t count = 1;
    std::optional<double> cutoff;
    std::string structure, frames = "::";
    bool apc = true;

    std::vector<Field> fields() {
        return {{.name = "theta", .target = &theta, .help = "Identity", .min = 0, .max = 1},
                {.name = "count", .target = &count, .help = "How many", .min = 1},
                {.name = "cutoff", .target = &cutoff, .help = "Cutoff", .automatic = "none"},
                {.name = "structure", .target = &structure, .help = "File"},
                {.name = "frames", .target = &frames, .help = "Range"},
                {.name = "series", .target = &series, .help = "Numbers"},
                {.name = "apc", .target = &apc, .help = "Correct", .negated_flag = true}};
    }
};

std::vector<JobSettings> sweep(const std::vector<std::string>& texts) {
    Options options;
    std::vector<Field> fields = options.fields();
    return parse_sweeps(texts, fields);
}

/// "theta=0.1 count=2; ..." of all settings.
std::string text_of(const std::vector<JobSettings>& all) {
    std::string text;
    for (const JobSettings& settings : all) {
        text += text.empty() ? "" : "; ";
        for (const JobSetting& one : settings) {
            if (&one != &settings.front()) text += ' ';
            text += one.option + '=' + one.value;
        }
    }
    return text;
}

TEST(Sweep, IsAProductInTheOrderOfTheOptions) {
    EXPECT_EQ(sweep({}), std::vector<JobSettings>(1));
    EXPECT_EQ(text_of(sweep({"count=1,2", "theta=0.10,0.2"})),
              "theta=0.10 count=1; theta=0.2 count=1; theta=0.10 count=2; theta=0.2 count=2");
    EXPECT_EQ(text_of(sweep({"apc=true,false", "count=3"})), "count=3 apc=true; count=3 apc=false");
    EXPECT_EQ(text_of(sweep({"cutoff=auto,2"})), "cutoff=auto; cutoff=2");
}

TEST(Sweep, TakesRangesOfNumbersByValue) {
    EXPECT_EQ(text_of(sweep({"theta=0.05:0.2:0.05"})),
              "theta=0.05; theta=0.1; theta=0.15; theta=0.2");
    EXPECT_EQ(text_of(sweep({"theta=1:0:-0.5,0.25"})), "theta=1; theta=0.5; theta=0; theta=0.25");
    EXPECT_EQ(text_of(sweep({"count=1:6:2"})), "count=1; count=3; count=5");
    EXPECT_EQ(text_of(sweep({"series=1:2:0.5"})), "series=1; series=1.5; series=2");
    EXPECT_EQ(text_of(sweep({"series=2:20,7"})), "series=2:20; series=7");
    EXPECT_EQ(text_of(sweep({"frames=0:10:2,5:"})), "frames=0:10:2; frames=5:");  // no numbers
}

TEST(Sweep, TakesRowsOfATable) {
    const TemporaryFolder folder;
    const std::string table = (folder / "settings.tsv").string();
    test::spill(table, "# two\ncount\ttheta\n1\t0.5\n\n2\t0.75\r\n");
    EXPECT_EQ(text_of(sweep({"@" + table, "apc=no"})),
              "theta=0.5 count=1 apc=no; theta=0.75 count=2 apc=no");
    for (const auto& [text, complaint] : std::vector<std::pair<std::string, std::string>>{
             {"count\ttheta\n1\n", ":2: expected 2 values, found '1'"},
             {"count\ttheta\n1\t\n", ":2: expected 2 values, found '1\t'"},
             {"count\n", ": expected a line of options and one per setting, found fewer"}}) {
        test::spill(table, text);
        EXPECT_EQ(error_text<InputError>([&] { sweep({"@" + table}); }), table + complaint);
    }
}

TEST(Sweep, RefusesWhatNoJobCouldUse) {
    for (const auto& [text, complaint] : std::vector<std::pair<std::string, std::string>>{
             {"theta", "--sweep: expected option=values or @FILE, found 'theta'"},
             {"=1", "--sweep: expected option=values or @FILE, found '=1'"},
             {"theta=", "--sweep theta: expected values, found ''"},
             {"theta=0.1,,0.2", "--sweep theta: expected values, found '0.1,,0.2'"},
             {"teta=1", "found 'teta'"},
             {"theta=2", "--theta: expected a number >= 0 and <= 1, found '2'"},
             {"theta=0.10,0.1", "--sweep theta: expected different values, found '0.1' again"},
             {"theta=0:1:0", "expected a range first:last:step"},
             {"theta=0:1:-1", "expected a range first:last:step"},
             {"theta=0:x:1", "expected a range first:last:step"},
             {"theta=0:1:1e-6", "--sweep theta: expected at most 10000 jobs, found more"}}) {
        const std::string found = error_text<UsageError>([&text = text] { sweep({text}); });
        EXPECT_NE(found.find(complaint), std::string::npos) << text << ": " << found;
    }
    EXPECT_NE(error_text<UsageError>([] {
                  sweep({"count=1", "count=2"});
              }).find("expected each option once, found 'count' again"),
              std::string::npos);
    EXPECT_NE(error_text<UsageError>([] {
                  sweep({"count=1:101:1", "theta=0:1:0.01"});
              }).find("expected at most 10000 jobs"),
              std::string::npos);
}

std::vector<JobInput> list(std::string_view text, bool several = false) {
    Options options;
    std::vector<Field> fields = options.fields();
    return parse_job_list("my.list", text, "alignment", several, fields);
}

TEST(JobList, HasAPathOrANameAndPathsPerLine) {
    const std::vector<JobInput> inputs =
        list("# families\na.aln\r\n\n sub/b c.aln \nother\tx.aln \"y z.aln\"\tw.aln\n./#no", true);
    ASSERT_EQ(inputs.size(), 4u);
    EXPECT_EQ(inputs[0].files, std::vector<std::string>{"a.aln"});
    EXPECT_EQ(inputs[1].name, "b c");
    EXPECT_EQ(inputs[1].files, std::vector<std::string>{"sub/b c.aln"});
    EXPECT_EQ(inputs[2].name, "other");
    EXPECT_EQ(inputs[2].files, (std::vector<std::string>{"x.aln", "y z.aln", "w.aln"}));
    EXPECT_EQ(inputs[3].name, "#no");
}

TEST(JobList, IsATableIfItsFirstLineNamesColumns) {
    const std::vector<JobInput> inputs =
        list("structure\talignment\ttheta\n1abc.pdb:A\tx/a.aln\t0.5\n\tb.aln\n");
    ASSERT_EQ(inputs.size(), 2u);
    EXPECT_EQ(inputs[0].name, "a");
    EXPECT_EQ(text_of({inputs[0].settings}), "structure=1abc.pdb:A theta=0.5");
    EXPECT_EQ(inputs[1].files, std::vector<std::string>{"b.aln"});
    EXPECT_TRUE(inputs[1].settings.empty());
    EXPECT_EQ(list("name\tinput\nfirst\ta.aln\n")[0].name, "first");
    EXPECT_EQ(list("input\na.aln\n").size(), 1u);
    EXPECT_EQ(list("name\na.aln\n").size(), 2u);  // a path that is called name
}

TEST(JobList, RefusesWithTheLine) {
    for (const auto& [text, complaint] : std::vector<std::pair<std::string, std::string>>{
             {"", "my.list: expected an input per line, found none"},
             {"# nothing\n \n", "my.list: expected an input per line, found none"},
             {"alignment\ttheta\n", "my.list: expected an input per line, found none"},
             {"alignment\tteta\na\t1\n",
              "my.list:1: expected columns 'name', 'alignment' and "
              "options of this command that change results, found "
              "'teta'"},
             {"structure\ttheta\na\t1\n", "my.list:1: expected a column 'alignment', found none"},
             {"alignment\ttheta\ttheta\na\n",
              "my.list:1: expected each column once, found 'theta' again"},
             {"alignment\ttheta\na\t7\n",
              "my.list:2: --theta: expected a number >= 0 and <= 1, found '7'"},
             {"alignment\ttheta\na\t0.5\tx\n",
              "my.list:2: expected 2 cells as in the first line, found 3"},
             {"alignment\ttheta\n\t0.5\n", "my.list:2: expected a path, found none"},
             {"a.aln\nx\tb.aln c.aln\n",
              "my.list:2: expected one path (in double quotes if it "
              "has blanks), found 2"},
             {"x/y\ta.aln\n", "my.list:1: expected a name that a folder can have, found 'x/y'"},
             {"..\ta.aln\n", "my.list:1: expected a name that a folder can have, found '..'"}})
        EXPECT_EQ(error_text<InputError>([&text = text] { list(text); }), complaint);
    EXPECT_EQ(error_text<InputError>([&] { list(std::string_view("a\0b\n", 4)); }),
              "my.list:1: expected text, found zero bytes");
}

TEST(JobName, DropsFolderPackingAndFormat) {
    for (const auto& [path, name] :
         std::vector<std::pair<std::string, std::string>>{{"data/PF00072.a3m.gz", "PF00072"},
                                                          {"PF00072.full.sto", "PF00072.full"},
                                                          {"a.FASTA.ZST", "a"},
                                                          {"md.xtc", "md"},
                                                          {"1abc.cif.gz", "1abc"},
                                                          {"decoys/", "decoys"},
                                                          {"@lists/all.txt", "all"},
                                                          {"family.gz", "family"},
                                                          {"x.seqs", "x.seqs"},
                                                          {"x.a3m.fasta", "x.a3m"},
                                                          {".a3m", ".a3m"},
                                                          {"dir.a3m/x", "x"}})
        EXPECT_EQ(job_name(path), name) << path;
}

std::vector<JobInput> inputs(const std::vector<std::string>& files) {
    std::vector<JobInput> all;
    all.reserve(files.size());
    for (const std::string& file : files) all.push_back({job_name(file), {file}});
    return all;
}

TEST(JobPlan, GivesEachJobAFolder) {
    const JobPlan plain = plan_jobs(inputs({"z/b.aln", "a.aln.gz"}), sweep({}));
    ASSERT_EQ(plain.jobs.size(), 2u);
    EXPECT_EQ(plain.jobs[0].folder, "b");
    EXPECT_EQ(plain.jobs[1].folder, "a");
    EXPECT_TRUE(plain.options.empty());
    const JobPlan swept =
        plan_jobs(inputs({"b.aln", "a.aln"}), sweep({"count=2,03", "theta=0.50"}));
    ASSERT_EQ(swept.jobs.size(), 4u);
    EXPECT_EQ(swept.jobs[1].folder, "b/theta=0.50,count=03");
    EXPECT_EQ(swept.jobs[2].folder, "a/theta=0.50,count=2");
    EXPECT_EQ(swept.options, (std::vector<std::string>{"theta", "count"}));
    EXPECT_EQ(swept.swept_options, swept.options);
    EXPECT_TRUE(swept.settings_table.empty());
}

TEST(JobPlan, NumbersFoldersOfLongNames) {
    const std::string word(120, 'x');
    const JobPlan plan = plan_jobs(inputs({"a.aln"}), sweep({"structure=y," + word}));
    EXPECT_EQ(plan.jobs[0].folder, "a/s0001");
    EXPECT_EQ(plan.jobs[1].folder, "a/s0002");
    EXPECT_EQ(plan.settings_table, "folder\tstructure\ns0001\ty\ns0002\t" + word + "\n");
}

TEST(JobPlan, RefusesNamesThatClash) {
    EXPECT_EQ(error_text<UsageError>([] {
                  plan_jobs(inputs({"x/a.aln", "b.aln", "y/a.a3m.gz"}), sweep({}));
              }),
              "expected inputs of different names, found 'x/a.aln' and 'y/a.a3m.gz', which are "
              "both 'a'; rename one, leave it out, or name them in a --list");
    for (const char* path : {"", "..", "a/."})
        EXPECT_EQ(error_text<UsageError>([&] { plan_jobs(inputs({path}), sweep({})); }),
                  std::string("expected the name of a file, found '") + path + "'");
    EXPECT_NE(error_text<UsageError>([] {
                  plan_jobs(inputs({"jobs.tsv"}), sweep({}));
              }).find("names other than 'jobs.tsv'"),
              std::string::npos);
    EXPECT_NE(error_text<UsageError>([] {
                  plan_jobs(inputs({"a"}), sweep({"structure=x/y"}));
              }).find("values that the name of a folder can have, found 'x/y'"),
              std::string::npos);
    const JobInput listed{"a", {"a"}, {{"theta", "0.5"}}};
    EXPECT_NE(error_text<UsageError>([&] {
                  plan_jobs({listed}, sweep({"theta=0.1"}));
              }).find("expected an option that the list does not set"),
              std::string::npos);
    std::vector<std::string> many;
    many.reserve(101);
    for (int k = 0; k < 101; ++k) many.push_back(std::to_string(k));
    EXPECT_NE(error_text<UsageError>([&] {
                  plan_jobs(inputs(many), sweep({"count=1:100:1"}));
              }).find("at most 10000 jobs"),
              std::string::npos);
}

}  // namespace
}  // namespace pleat

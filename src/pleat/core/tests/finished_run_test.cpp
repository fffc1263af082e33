// Tests of finished runs: which are the same command's, and why others are not.
#include "pleat/core/run/manifest.h"

#include <gtest/gtest.h>

#include <cmath>

#include "pleat/core/error.h"
#include "pleat/core/files/output_file.h"
#include "pleat/core/run/run_directory.h"
#include "pleat/core/tests/temporary_folder.h"
#include "pleat/core/version.h"

namespace pleat {
namespace {

using test::error_text;
using test::spill;
using test::TemporaryFolder;

struct Options {
    double tolerance = 1e-4;
    std::optional<double> cutoff;
    std::int64_t separation = 6;
    bool models = true;
    std::string alphabet = "a \"word\"";

    std::vector<Field> fields() {
        return {{.name = "tolerance", .target = &tolerance, .help = "t"},
                {.name = "cutoff", .target = &cutoff, .help = "c", .automatic = "the usual one"},
                {.name = "separation", .target = &separation, .help = "s"},
                {.name = "models", .target = &models, .help = "m", .negated_flag = true},
                {.name = "alphabet", .target = &alphabet, .help = "a"}};
    }
};

class FinishedRunTest : public testing::Test {
protected:
    FinishedRunTest() {
        spill(input, "ACDE\n");
        RunDirectory run({.path = folder / "run", .command = "couplings", .arguments = {}});
        run.input(input);
        run.parameters(options.fields());
        run.fact("columns", std::int64_t{117});
        run.fact("gap", 8.5e-5);
        run.fact("ending", "converged");
        write_text(run.output("scores.tsv"), "1\n");
        run.finish();
    }

    std::optional<FinishedRun> find(std::string_view command = "couplings") {
        return find(command, options.fields());
    }
    std::optional<FinishedRun> find(std::string_view command, const std::vector<Field>& fields,
                                    std::optional<std::uint64_t> seed = {}) {
        InputHashes hashes;
        return find_finished_run(folder / "run", command, fields, {input.string()}, seed, hashes);
    }
    std::string difference(std::string_view command = "couplings") {
        const std::optional<FinishedRun> found = find(command);
        return found ? found->difference : "no finished run";
    }

    /// Changes the manifest's text.
    void replace(const std::string& before, const std::string& after) {
        std::string text = test::slurp(folder / "run" / "manifest.json");
        const std::size_t at = text.find(before);
        ASSERT_NE(at, std::string::npos) << before;
        spill(folder / "run" / "manifest.json", text.replace(at, before.size(), after));
    }

    TemporaryFolder folder;
    std::filesystem::path input = folder / "family.aln";
    Options options;
};

TEST_F(FinishedRunTest, TheSameCommandIsTheSame) {
    const std::optional<FinishedRun> found = find();
    ASSERT_TRUE(found);
    EXPECT_EQ(found->difference, "");
    EXPECT_EQ(found->results.at("columns"), "117");
    EXPECT_EQ(std::stod(found->results.at("gap")), 8.5e-5);
    EXPECT_EQ(found->results.at("ending"), "converged");
    EXPECT_GE(found->seconds, 0);
}

TEST_F(FinishedRunTest, ItsManifestNamesItsInputsAndTextOptions) {
    const EarlierRun run = read_earlier_run(folder / "run" / "manifest.json");
    EXPECT_EQ(run.input_paths, std::vector<std::string>({input.string()}));
    EXPECT_EQ(text_parameter(run, "alphabet"), options.alphabet);
    EXPECT_EQ(text_parameter(run, "separation"), "") << "a number is no text";
    EXPECT_EQ(text_parameter(run, "absent"), "");
}

TEST_F(FinishedRunTest, EveryDifferenceIsNamed) {
    EXPECT_EQ(difference("rmsd"), "the command 'couplings'");
    options.tolerance = 1e-5;
    EXPECT_EQ(difference(), "'tolerance' 0.0001 (now 1e-05)");
    options = {};
    options.cutoff = 8;
    EXPECT_EQ(difference(), "'cutoff' \"the usual one\" (now 8.0)");
    options = {};
    options.models = false;
    EXPECT_EQ(difference(), "'models' true (now false)");
    options = {};
    spill(input, "ACDF\n");
    EXPECT_EQ(difference(), "other content of its input");
}

TEST_F(FinishedRunTest, AResultThatIsLostIsADifference) {
    spill(folder / "run" / "scores.tsv", "12\n");
    EXPECT_EQ(difference(), "a scores.tsv that is missing or was changed");
    std::filesystem::remove(folder / "run" / "scores.tsv");
    EXPECT_EQ(difference(), "a scores.tsv that is missing or was changed");
}

TEST_F(FinishedRunTest, AnotherVersionIsADifference) {
    replace("\"version\": \"" + std::string(kVersion), "\"version\": \"0.0.1");
    EXPECT_EQ(difference(), "version '0.0.1' (now '" + std::string(kVersion) + "')");
}

TEST_F(FinishedRunTest, AnOptionThatItDoesNotKnowIsADifference) {
    replace("\"tolerance\"", "\"patience\"");
    EXPECT_EQ(difference(), "an option 'tolerance' not known to it");
}

TEST_F(FinishedRunTest, ResultsThatAreNotToldAreADifference) {
    replace("\"outputs\"", "\"others\"");
    EXPECT_EQ(difference(), "no list of its results");
}

TEST_F(FinishedRunTest, WhatIsNotFinishedIsNone) {
    InputHashes hashes;
    EXPECT_FALSE(find_finished_run(folder / "absent", "couplings", options.fields(),
                                   {input.string()}, {}, hashes));
    for (const char* text : {"", "[]", "{\"program\": \"pleat\"}",
                             "{\"program\": \"pleat\", \"status\": \"unfinished\"}",
                             "{\"program\": \"other\", \"status\": \"finished\"}"}) {
        spill(folder / "run" / "manifest.json", text);
        EXPECT_FALSE(find()) << text;
    }
    // Members of other kinds than pleat writes are as good as none.
    spill(folder / "run" / "manifest.json",
          R"({"program": "pleat", "status": "finished", "command": "couplings", "inputs": 3,
              "outputs": [1, {"file": "../x"}], "parameters": [], "results": "", "seconds": "x"})");
    EXPECT_EQ(difference(), "version '' (now '" + std::string(kVersion) + "')");
}

TEST_F(FinishedRunTest, AnotherSeedIsADifferenceIfResultsDependOnIt) {
    EXPECT_EQ(find("couplings", options.fields(), 0)->difference, "");
    EXPECT_EQ(find("couplings", options.fields(), 5)->difference, "seed 0 (now 5)");
}

TEST_F(FinishedRunTest, EveryInputOfTheManifestIsCompared) {
    const std::filesystem::path second = folder / "second";
    spill(second, "two");
    {
        RunDirectory run({.path = folder / "run", .command = "couplings", .force = true});
        run.input(input);
        run.input(second);
        run.parameters(options.fields());
        write_text(run.output("scores.tsv"), "1\n");
        run.finish();
    }
    EXPECT_EQ(difference(), "");
    spill(second, "changed");
    EXPECT_EQ(difference(), "other content of its input");
    std::filesystem::remove(second);
    EXPECT_EQ(difference(), "");
}

TEST_F(FinishedRunTest, AnInputThatIsGoneIsRefused) {
    std::filesystem::remove(input);
    EXPECT_NE(error_text<InputError>([&] { find(); }).find("family.aln"), std::string::npos);
}

TEST(RunDirectory, OfASharedProcessTellsNoFiguresOfTheProcess) {
    TemporaryFolder folder;
    for (const bool shares : {false, true}) {
        const std::filesystem::path path = folder / (shares ? "shared" : "own");
        RunDirectory run(
            {.path = path, .command = "couplings", .arguments = {}, .shares_process = shares});
        run.stage("read");
        write_text(run.output("scores.tsv"), "1\n");
        run.finish();
        const std::string text = test::slurp(path / "manifest.json");
        EXPECT_EQ(text.find("\"peak_memory_bytes\": null") != std::string::npos, shares);
        EXPECT_EQ(text.find("\"cpu_seconds\": null") != std::string::npos, shares);
    }
}

TEST_F(FinishedRunTest, SeveralInputsAreComparedInTheirOrder) {
    const std::filesystem::path second = folder / "second", third = folder / "third";
    spill(second, "two");
    spill(third, "three");
    {
        RunDirectory run({.path = folder / "several", .command = "cluster", .arguments = {}});
        run.input(input);
        run.input(second);
        write_text(run.output("clusters.tsv"), "1\n");
        run.finish();
    }
    const auto difference_of = [&](const std::vector<std::filesystem::path>& inputs) {
        return find_finished_run(folder / "several", "cluster", {}, inputs)->difference;
    };
    EXPECT_EQ(difference_of({input, second}), "");
    const std::string other = "other content of its input";
    EXPECT_EQ(difference_of({second, input}), other);
    EXPECT_EQ(difference_of({input, third}), other);
    EXPECT_EQ(difference_of({input}), other);
    EXPECT_EQ(difference_of({input, second, third}), other);
    spill(second, "changed");
    EXPECT_EQ(difference_of({input, second}), other);
}

// A full disk leaves a stage that was stopped, and no file of the run around it.
TEST(Stages, KeepTheFolderOfTheRunIfTheyCanBeResumed) {
    TemporaryFolder folder;
    for (const bool force : {false, true}) {
        const RunDirectory::Request request{
            .path = folder / "run", .command = "select", .arguments = {}, .force = force};
        if (force) RunDirectory(request).finish();
        {
            RunDirectory run(request);
            RunDirectory stage({.path = run.stage_folder("fit"), .command = "couplings"});
            write_text(stage.checkpoint(), "state");
        }
        RunDirectory again(request);
        EXPECT_TRUE(again.resumed());
        EXPECT_TRUE(RunDirectory::has_state(again.stage_folder("fit")));
        again.finish();
    }
}

}  // namespace
}  // namespace pleat

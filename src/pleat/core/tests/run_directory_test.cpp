// Tests of run directories: what they accept, record, keep and tidy away.
#include "pleat/core/run/run_directory.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <regex>

#include "pleat/core/context.h"
#include "pleat/core/error.h"
#include "pleat/core/files/npy.h"
#include "pleat/core/files/output_file.h"
#include "pleat/core/run/manifest.h"
#include "pleat/core/tests/temporary_folder.h"
#include "pleat/core/tests/thread_comm.h"
#include "pleat/core/version.h"

namespace pleat {
namespace {

using test::error_text;
using test::slurp;
using test::spill;
using test::TemporaryFolder;

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

std::vector<std::string> sorted_names(const std::filesystem::path& folder) {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
        names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
}

void finished_run(const std::filesystem::path& path, bool force = false) {
    RunDirectory run({.path = path, .command = "couplings", .arguments = {}, .force = force});
    write_text(run.output("scores.tsv"), "1\n");
    run.finish();
}

/// Leaves a run that stopped with a checkpoint.
void unfinished_run(const std::filesystem::path& path) {
    RunDirectory run({.path = path, .command = "couplings", .arguments = {}});
    write_text(run.checkpoint(), "state");
}

TEST(RunDirectory, RecordsTheRun) {
    TemporaryFolder folder;
    spill(folder / "family.a3m", "abc");
    struct {
        double tolerance = 1e-4, lambda = std::nan("");
        std::int64_t limit = 5;
        bool weights = true;
        std::string alphabet = "protein";
    } p;
    {
        RunDirectory run({.path = folder / "deep/er/run/",
                          .command = "couplings",
                          .arguments = {"couplings", "family.a3m", "a\"b\xFF"}});
        EXPECT_EQ(run.path(), folder / "deep/er/run");
        EXPECT_FALSE(run.resumed());
        EXPECT_TRUE(contains(slurp(run.path() / "manifest.json"), "\"status\": \"running\""));
        run.input(folder / "family.a3m");
        run.sources({"b.pdb", "a.pdb", "b.pdb"});
        run.parameters(
            {{.name = "tolerance", .target = &p.tolerance, .help = ""},
             {.name = "lambda", .target = &p.lambda, .help = "", .automatic = "0.2 (L - 1)"},
             {.name = "limit", .target = &p.limit, .help = ""},
             {.name = "weights", .target = &p.weights, .help = ""},
             {.name = "alphabet", .target = &p.alphabet, .help = ""}});
        Context context;
        context.threads = 3;
        context.seed = 42;
        context.device = Device::parse("cpu");
        context.progress = run.watch(context.progress);
        run.context(context);
        run.stage("read");
        context.update("weights", 1, 1);
        context.update("fit", 1, 2);
        context.update("fit", 2, 2);
        context.message("guessed the alphabet");
        run.cite("Ekeberg2013");
        run.cite("Ekeberg2013");
        run.fact("columns", std::int64_t{120});
        run.fact("gap", std::nan(""));
        write_text(run.output("scores.tsv"), "12345");
        (void)run.output("never_written.tsv");
        write_text(run.checkpoint(), "state");
        run.finish();
    }
    const std::filesystem::path run = folder / "deep/er/run";
    EXPECT_EQ(sorted_names(run),
              (std::vector<std::string>{"cite.bib", "log.txt", "manifest.json", "scores.tsv"}));
    const std::string text = slurp(run / "manifest.json");
    const std::string compact = std::regex_replace(text, std::regex("\\s+"), " ");
    for (const std::string& part :
         {std::string("\"status\": \"finished\""), "\"version\": \"" + std::string(kVersion) + "\"",
          std::string("\"command\": \"couplings\""), std::string("\"tolerance\": 0.0001"),
          std::string("\"lambda\": \"0.2 (L - 1)\""), std::string("\"limit\": 5"),
          std::string("\"weights\": true"), std::string("\"alphabet\": \"protein\""),
          std::string("\"seed\": 42"), std::string("\"threads\": 3"),
          std::string("\"device\": \"cpu\""),
          std::string("\"sha256\": "
                      "\"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\""),
          std::string("{ \"file\": \"scores.tsv\", \"bytes\": 5 }"),
          "{ \"key\": \"Ekeberg2013\", \"text\": \"" + find_citation("Ekeberg2013").text + "\" }",
          std::string("\"columns\": 120"), std::string("\"gap\": \"nan\""),
          std::string("guessed the alphabet"), std::string("a\\\"b")})
        EXPECT_TRUE(contains(compact, part)) << part << "\n" << text;
    EXPECT_EQ(read_earlier_run(run / "manifest.json").sources,
              std::vector<std::string>({"b.pdb", "a.pdb", "b.pdb"}));
    EXPECT_FALSE(contains(text, "never_written"));
    EXPECT_TRUE(std::regex_search(compact, std::regex("\"started\": \"\\d{4}-\\d\\d-\\d\\dT\\d\\d:"
                                                      "\\d\\d:\\d\\dZ\"")));
    // Each stage once, in order.
    EXPECT_TRUE(std::regex_search(compact, std::regex("\"read\".*\"weights\".*\"fit\"")));
    char host[256] = {};
    ::gethostname(host, sizeof host - 1);
    EXPECT_FALSE(std::string(host).size() > 5 && contains(text, host));
    EXPECT_EQ(slurp(run / "cite.bib"), find_citation("Ekeberg2013").bibtex + "\n");
    const std::string log = slurp(run / "log.txt");
    EXPECT_TRUE(contains(log, "guessed the alphabet")) << log;
    EXPECT_TRUE(contains(log, "fit: 2/2 in ")) << log;
}

TEST(RunDirectory, KeepsAllNotesAndShowsThreeOfAKind) {
    struct Shown final : Progress {
        std::vector<std::string> lines;
        void update(std::string_view, std::int64_t, std::int64_t, std::string_view) override {}
        bool cancelled() override { return false; }
        void message(std::string_view text) override { lines.emplace_back(text); }
    } shown;
    TemporaryFolder folder;
    RunDirectory run({.path = folder / "run", .command = "saxs", .arguments = {}});
    Context context;
    context.progress = run.watch(&shown);
    context.note({NoteKind::unit, "q is in 1/nm", "--q-unit 1/angstrom"});
    for (int n = 0; n < 6; ++n) context.note({NoteKind::atoms, "left out 1 atom"});
    context.note({NoteKind::atoms, "left out all atoms", {}, true});
    EXPECT_EQ(shown.lines.size(), 6u);
    EXPECT_EQ(shown.lines.front(), "q is in 1/nm (otherwise: --q-unit 1/angstrom)");
    EXPECT_TRUE(contains(shown.lines[4], "more notes of the kind 'atoms'")) << shown.lines[4];
    EXPECT_EQ(shown.lines.back(), "warning: left out all atoms");
    run.finish();
    const std::string manifest = slurp(folder / "run" / "manifest.json");
    EXPECT_TRUE(contains(manifest, "\"option\": \"--q-unit 1/angstrom\"")) << manifest;
    const std::regex kind("\"kind\": \"atoms\"");
    EXPECT_EQ(std::distance(std::sregex_iterator(manifest.begin(), manifest.end(), kind), {}), 7);
}

TEST(RunDirectory, AnInputThatCannotBeReadEndsUnfinished) {
    TemporaryFolder folder;
    {
        RunDirectory run({.path = folder / "run", .command = "couplings"});
        write_text(run.output("scores.tsv"), "12345");
        run.input(folder / "nothing");
        EXPECT_THROW(run.finish(), InputError);
    }
    EXPECT_TRUE(contains(slurp(folder / "run/manifest.json"), "\"status\": \"unfinished\""));
}

TEST(RunDirectory, RefusesForeignFinishedAndOtherRuns) {
    TemporaryFolder folder;
    const auto refusal = [&](const std::filesystem::path& path, const std::string& command) {
        const auto before =
            std::filesystem::is_directory(path) ? sorted_names(path) : std::vector<std::string>();
        const std::string text =
            error_text<UsageError>([&] { RunDirectory({.path = path, .command = command}); });
        if (std::filesystem::is_directory(path)) {
            EXPECT_EQ(sorted_names(path), before);
        }
        return text;
    };
    std::filesystem::create_directories(folder / "foreign");
    spill(folder / "foreign/thesis.txt", "x");
    EXPECT_TRUE(
        contains(refusal(folder / "foreign", "couplings"), "foreign: expected a new or empty"));
    spill(folder / "foreign/manifest.json", "{\"program\": \"other\"}");
    EXPECT_TRUE(contains(refusal(folder / "foreign", "couplings"), "--force"));
    for (const char* text : {"", "[]", "{", "{\"program\": 3}", "null", "\xFF\xFE"}) {
        spill(folder / "foreign/manifest.json", text);
        EXPECT_TRUE(contains(refusal(folder / "foreign", "couplings"), "expected a new or empty"));
    }
    finished_run(folder / "finished");
    EXPECT_TRUE(
        contains(refusal(folder / "finished", "couplings"), "a finished run of 'pleat couplings'"));
    unfinished_run(folder / "unfinished");
    EXPECT_TRUE(
        contains(refusal(folder / "unfinished", "rmsd"), "an unfinished run of 'pleat couplings'"));
    spill(folder / "file", "x");
    EXPECT_TRUE(contains(refusal(folder / "file", "couplings"), "expected a folder"));
    refusal("", "couplings");
    error_text<OutputError>([&] { RunDirectory({.path = folder / "file/run", .command = "c"}); });
    const RunDirectory open({.path = folder / "open", .command = "couplings"});
    EXPECT_TRUE(contains(refusal(folder / "open", "couplings"), "another run is writing here"));
}

TEST(RunDirectory, ForceReplacesTheFilesOfTheEarlierRunAlone) {
    TemporaryFolder folder;
    const std::filesystem::path path = folder / "run";
    finished_run(path);
    spill(path / "notes.txt", "mine");
    spill(path / "checkpoint-of-mine.npz", "mine");
    std::filesystem::create_directories(path / "figures");
    spill(path / "figures/one.svg", "mine");
    {
        RunDirectory run({.path = path, .command = "rmsd", .arguments = {}, .force = true});
        EXPECT_FALSE(run.resumed());
        write_text(run.checkpoint(), "state");
        write_text(run.output("matrix.tsv"), "2\n");
        EXPECT_EQ(slurp(path / "scores.tsv"), "1\n");
        EXPECT_FALSE(std::filesystem::exists(path / "matrix.tsv"));
        run.finish();
    }
    EXPECT_EQ(sorted_names(path),
              (std::vector<std::string>{"checkpoint-of-mine.npz", "figures", "log.txt",
                                        "manifest.json", "matrix.tsv", "notes.txt"}));
    EXPECT_EQ(folder.names(), std::vector<std::string>{"run"});
    EXPECT_EQ(slurp(path / "notes.txt"), "mine");
    EXPECT_EQ(slurp(path / "figures/one.svg"), "mine");
    // A manifest cannot name files elsewhere.
    spill(folder / "precious", "x");
    spill(path / "manifest.json",
          "{\"program\": \"pleat\", \"status\": \"finished\", \"outputs\": "
          "[{\"file\": \"../precious\"}, {\"file\": \"..\"}, 3, {}]}");
    finished_run(path, true);
    EXPECT_TRUE(std::filesystem::exists(folder / "precious"));
}

/// Every file of a folder and its content.
std::map<std::string, std::string> content_of(const std::filesystem::path& folder) {
    std::map<std::string, std::string> content;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
        if (entry.is_regular_file())
            content[entry.path().lexically_relative(folder).string()] = slurp(entry.path());
    return content;
}

TEST(RunDirectory, AForcedRunThatFailsLeavesTheEarlierOneWhole) {
    TemporaryFolder folder;
    const std::filesystem::path path = folder / "run";
    finished_run(path);
    const auto before = content_of(path);
    { const RunDirectory run({.path = path, .command = "rmsd", .arguments = {}, .force = true}); }
    EXPECT_EQ(content_of(path), before);
    {
        // With results and a state of its own it keeps these apart, and goes on from them.
        RunDirectory run({.path = path, .command = "rmsd", .arguments = {"-f"}, .force = true});
        write_text(run.output("scores.tsv"), "2\n");
        write_text(run.checkpoint(), "state");
    }
    for (const auto& [file, text] : before) EXPECT_EQ(slurp(path / file), text) << file;
    EXPECT_TRUE(RunDirectory::has_state(path));
    EXPECT_TRUE(contains(error_text<UsageError>([&] {
                             RunDirectory({.path = path, .command = "rmsd", .arguments = {"-x"}});
                         }),
                         "holds a forced run of 'pleat rmsd' that has not finished"));
    {
        RunDirectory run({.path = path, .command = "rmsd", .arguments = {}});
        EXPECT_TRUE(run.resumed());
        EXPECT_EQ(slurp(run.checkpoint()), "state");
        run.finish();
    }
    EXPECT_EQ(sorted_names(path), (std::vector<std::string>{"log.txt", "manifest.json"}));
    EXPECT_FALSE(RunDirectory::has_state(path));
}

TEST(RunDirectory, ForceStartsOverWhereTheInputHasChanged) {
    TemporaryFolder folder;
    const RunDirectory::Request request{.path = folder / "run", .command = "rmsd", .force = true};
    finished_run(folder / "run");
    spill(folder / "input", "1");
    const auto stop = [&] {
        RunDirectory run(request);
        run.input(folder / "input");
        write_text(run.checkpoint(), "state");
        return run.resumed();
    };
    EXPECT_FALSE(stop());
    EXPECT_TRUE(stop());
    spill(folder / "input", "22");
    EXPECT_FALSE(stop());
}

/// Runs the work in another process, which may end itself with 0 at any point.
template <class Work>
bool runs_elsewhere(Work work) {
    const pid_t child = ::fork();
    if (child == 0) {
        work();
        ::_exit(0);
    }
    int status = 0;
    return ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(RunDirectory, AKilledForcedRunLeavesTheEarlierOneAndIsResumed) {
    for (const bool force : {true, false}) {
        TemporaryFolder folder;
        const std::filesystem::path path = folder / "run";
        finished_run(path);
        const auto before = content_of(path);
        ASSERT_TRUE(runs_elsewhere([&] {
            RunDirectory run({.path = path, .command = "couplings", .force = true});
            write_text(run.output("tree.nwk"), "new");
            write_text(run.checkpoint(), "state");
            OutputFile half(run.output("scores.tsv"));
            half.write(std::string(100'000, 'x'));
            ::_exit(0);
        }));
        for (const auto& [file, text] : before) EXPECT_EQ(slurp(path / file), text) << file;
        {
            RunDirectory run({.path = path, .command = "couplings", .force = force});
            EXPECT_TRUE(run.resumed());
            EXPECT_EQ(slurp(run.checkpoint()), "state");
            write_text(run.output("scores.tsv"), "2\n");
            run.finish();
        }
        // What only the killed one wrote is gone too.
        EXPECT_EQ(sorted_names(path),
                  (std::vector<std::string>{"log.txt", "manifest.json", "scores.tsv"}));
        EXPECT_EQ(slurp(path / "scores.tsv"), "2\n");
    }
}

TEST(RunDirectory, WritesFileByFileWhereTheFolderIsTheWorkingFolder) {
    TemporaryFolder folder;
    const std::filesystem::path path = folder / "run";
    finished_run(path);
    spill(path / "notes.txt", "mine");
    ASSERT_TRUE(runs_elsewhere([&] {
        std::filesystem::current_path(path);
        RunDirectory run({.path = ".", .command = "rmsd", .force = true});
        write_text(run.output("matrix.tsv"), "2\n");
        run.finish();
        if (!std::filesystem::equivalent(".", path)) ::abort();
    }));
    EXPECT_EQ(sorted_names(path),
              (std::vector<std::string>{"log.txt", "manifest.json", "matrix.tsv", "notes.txt"}));
}

TEST(RunDirectory, AResumedRunRemovesWhatOnlyItsPredecessorWrote) {
    TemporaryFolder folder;
    const std::filesystem::path path = folder / "run";
    {
        RunDirectory run({.path = path, .command = "couplings"});
        write_text(run.output("evaluation.json"), "{}");
    }
    RunDirectory run({.path = path, .command = "couplings"});
    EXPECT_TRUE(run.resumed());
    write_text(run.output("scores.tsv"), "1\n");
    run.finish();
    EXPECT_FALSE(std::filesystem::exists(path / "evaluation.json"));
    EXPECT_TRUE(std::filesystem::exists(path / "scores.tsv"));
}

TEST(RunDirectory, OtherRanksGetItsPathsAndWriteNothing) {
    TemporaryFolder folder;
    test::on_ranks(3, [&](Comm& comm) {
        RunDirectory run({.path = folder / "run", .command = "mi", .comm = &comm});
        EXPECT_EQ(run.is_here(), comm.rank() == 0);
        EXPECT_EQ(run.path(), folder / "run");
        EXPECT_EQ(run.checkpoint(), folder / "run/checkpoint.npz");
        EXPECT_EQ(run.output("a.tsv"), folder / "run/a.tsv");
        run.fact("ranks", static_cast<std::int64_t>(comm.size()));
        run.cite("Hopf2014");
        run.stage("write");
        if (run.is_here()) write_text(folder / "run/a.tsv", "1\n");
        comm.barrier();
        run.finish();
    });
    const EarlierRun run = read_earlier_run(folder / "run/manifest.json");
    EXPECT_EQ(run.status, "finished");
    EXPECT_EQ(run.results.at("ranks"), "3");
    EXPECT_EQ(run.outputs, std::vector<std::string>{"a.tsv"});
}

TEST(RunDirectory, LeavesNothingWhenItFailsBeforeAnyResult) {
    TemporaryFolder folder;
    {
        RunDirectory run({.path = folder / "a/b/run", .command = "couplings"});
        run.watch(nullptr)->message("hello");
        (void)run.checkpoint();
        OutputFile file(run.output("scores.tsv"));
        file.write("half");
    }
    EXPECT_TRUE(folder.names().empty());
    // Folders that were there before stay.
    std::filesystem::create_directories(folder / "a");
    { RunDirectory run({.path = folder / "a", .command = "couplings"}); }
    EXPECT_EQ(folder.names(), std::vector<std::string>{"a"});
    EXPECT_TRUE(sorted_names(folder / "a").empty());
    { RunDirectory run({.path = folder / "a/b/c", .command = "couplings"}); }
    EXPECT_TRUE(sorted_names(folder / "a").empty());
    spill(folder / "a/foreign", "x");
    { RunDirectory run({.path = folder / "a", .command = "c", .arguments = {}, .force = true}); }
    EXPECT_EQ(sorted_names(folder / "a"), std::vector<std::string>{"foreign"});
}

TEST(RunDirectory, KeepsCheckpointsAndResultsOfAFailedRun) {
    TemporaryFolder folder;
    const std::filesystem::path path = folder / "run";
    unfinished_run(path);
    EXPECT_TRUE(contains(slurp(path / "manifest.json"), "\"status\": \"unfinished\""));
    {
        // Fails before it names its checkpoint, as a wrong input would.
        RunDirectory run({.path = path, .command = "couplings"});
        EXPECT_TRUE(run.resumed());
    }
    EXPECT_EQ(slurp(path / "checkpoint.npz"), "state");
    {
        RunDirectory run({.path = path, .command = "couplings"});
        EXPECT_TRUE(run.resumed());
        EXPECT_EQ(slurp(run.checkpoint()), "state");
        write_text(run.output("scores.tsv"), "1\n");
    }
    EXPECT_EQ(sorted_names(path),
              (std::vector<std::string>{".pleat-lock", "checkpoint.npz", "log.txt", "manifest.json",
                                        "scores.tsv"}));
    {
        RunDirectory run({.path = path, .command = "couplings"});
        (void)run.checkpoint();
        write_text(run.output("scores.tsv"), "2\n");
        run.finish();
    }
    EXPECT_EQ(sorted_names(path),
              (std::vector<std::string>{"log.txt", "manifest.json", "scores.tsv"}));
    EXPECT_TRUE(contains(slurp(path / "manifest.json"), "\"resumed\": true"));
}

TEST(RunDirectory, FilesOfRanksAreCheckpointsToo) {
    TemporaryFolder folder;
    const std::filesystem::path path = folder / "run";
    const RunDirectory::Request request{.path = path, .command = "couplings"};
    {
        RunDirectory run(request);
        (void)run.checkpoint();
        spill(path / "checkpoint.rank0.npz", "state");
        spill(path / "checkpoint.rank17.npz", "state");
    }
    EXPECT_TRUE(contains(slurp(path / "manifest.json"), "\"status\": \"unfinished\""));
    {
        RunDirectory run(request);
        EXPECT_TRUE(run.resumed());
        (void)run.checkpoint();
        spill(path / "checkpoint.rank17.npz.pleat-part", "sta");
        spill(path / "checkpoint.rankless.npz", "not ours");
        run.finish();
    }
    EXPECT_EQ(sorted_names(path),
              (std::vector<std::string>{"checkpoint.rankless.npz", "log.txt", "manifest.json"}));
}

TEST(RunDirectory, AKilledRunIsContinued) {
    TemporaryFolder folder;
    const std::filesystem::path path = folder / "run";
    ASSERT_TRUE(runs_elsewhere([&] {
        RunDirectory run({.path = path, .command = "couplings"});
        write_text(run.checkpoint(), "state");
        OutputFile half(run.output("scores.tsv"));
        half.write(std::string(100'000, 'x'));
        ::_exit(0);
    }));
    EXPECT_TRUE(std::filesystem::exists(path / "scores.tsv.pleat-part"));
    EXPECT_FALSE(std::filesystem::exists(path / "scores.tsv"));
    {
        RunDirectory run({.path = path, .command = "couplings"});
        EXPECT_TRUE(run.resumed());
        EXPECT_EQ(slurp(run.checkpoint()), "state");
        (void)run.output("scores.tsv");
        run.finish();
    }
    EXPECT_EQ(sorted_names(path), (std::vector<std::string>{"log.txt", "manifest.json"}));
}

TEST(RunDirectory, NamesOfFilesStayInside) {
    TemporaryFolder folder;
    RunDirectory run({.path = folder / "run", .command = "couplings"});
    for (const char* name : {"", "../x", "a/b", "/etc/x", "manifest.json", "log.txt"})
        EXPECT_THROW((void)run.output(name), std::logic_error) << name;
    EXPECT_THROW((void)run.checkpoint("state.npz"), std::logic_error);
}

}  // namespace
}  // namespace pleat

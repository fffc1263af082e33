// Report: which sections the files of small runs become, what is refused, and texts that stay
// texts.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cmath>

#include <fmt/format.h>

#include <set>
#include <tuple>

#include "pleat/bio/structure/secondary_structure.h"
#include "pleat/bio/structure/structure.h"
#include "pleat/core/error.h"
#include "pleat/core/files/hash.h"
#include "pleat/core/tests/temporary_folder.h"
#include "pleat/report/run_structure.h"
#include "small_run.h"

namespace pleat::report {
namespace {

using namespace testing;
using pleat::test::error_text;

const std::string kTrypsin = PLEAT_DATA "/1ql9_A.pdb.gz";

/// Scores of all pairs of columns, (i + 1) (j + 1), as pleat couplings writes them.
void add_scores(SmallRun& run, Index size) {
    std::vector<double> scores(size * size);
    std::vector<std::int64_t> columns(size);
    for (Index i = 0; i < size; ++i) {
        columns[i] = 2 * i;
        for (Index j = 0; j < size; ++j)
            scores[i * size + j] = static_cast<double>((i + 1) * (j + 1));
    }
    NpzWriter writer(run.file("scores.npz"));
    writer.add("corrected", scores.data(), {size, size});
    writer.add("columns", columns.data(), {size});
    writer.close();
}

TEST(Report, DrawsScoresOfPairsAsAMap) {
    SmallRun run;
    add_scores(run, 3);
    run.add("contacts.tsv",
            "rank\ti\tj\tletter_i\tletter_j\tcorrected\n1\t3\t5\tC\tD\t6\n2\t1\t5\tA\tD\t3\n");
    const Json drawn = drawn_run(run.path());
    const Json map = section(drawn, "Scores of pairs");
    EXPECT_EQ(map["places"], Json({1, 3, 5}));
    EXPECT_EQ(map["letters"], Json({"A", "C", "D"}));
    EXPECT_TRUE(map["contacts"].is_null());
    EXPECT_TRUE(map["structure"].is_null());
    EXPECT_TRUE(map["entropy"].is_null());
    const std::vector<double> values = unpacked(map["layers"][0]["matrix"]);
    ASSERT_EQ(values.size(), 3U);
    EXPECT_NEAR(values[0], 2, 1e-4);  // columns 0 and 1
    EXPECT_NEAR(values[1], 3, 1e-4);
    EXPECT_NEAR(values[2], 6, 1e-4);
    EXPECT_EQ(section(drawn, "Pairs")["rows"].size(), 2U);
}

TEST(Report, DrawsASelectionAndThenTheRunsInItsFolder) {
    SmallRun run;
    run.add("scores.tsv",
            "place\tframe\tcluster\tjoined\tcontacts\tchi2\trmsd\n"
            "1\t2\t0\t0.9\t0.5\tNA\t0.5\n2\t0\t1\t0.8\t0.25\tNA\t4\n3\t1\t-1\t0.1\t0\tNA\t9\n");
    run.add("clusters.tsv", "selected\tcluster\tsize\n1\t0\t1\n2\t1\t1\n");
    std::filesystem::create_directory(run.file("stage"));
    run.add("stage/manifest.json",
            R"({"program": "pleat", "command": "cluster", "status": "finished"})");
    const Json runs =
        Json::parse(data_text(draw({run.path(), run.file("stage")}, {}).html))["runs"];
    ASSERT_EQ(runs.size(), 2U);  // the stage once
    const std::string name = run.path().filename().string();
    EXPECT_EQ(runs[1]["name"], name + "/stage");
    const Json scatter = section(runs[0], "Scores of frames");
    EXPECT_EQ(scatter["numbers"], Json({2, 0, 1}));
    EXPECT_EQ(scatter["x"], "rmsd");
    EXPECT_EQ(scatter["y"], "contacts");
    ASSERT_EQ(scatter["columns"].size(), 3U);  // no chi2, which has no numbers
    EXPECT_EQ(scatter["columns"][1]["values"], Json({0.5, 0.25, 0.0}));
    EXPECT_EQ(scatter["group"]["values"], Json({0, 1, -1}));
    EXPECT_EQ(scatter["group"]["shown"][1]["name"], "2: cluster 1");
    EXPECT_EQ(section(runs[0], "Frames, best first")["rows"].size(), 3U);
    EXPECT_EQ(section(runs[0], "Clusters, selected ones first")["rows"].size(), 2U);
    EXPECT_TRUE(section(runs[0], "Cluster sizes").is_null());  // drawn once
}

TEST(Report, DrawsTheScoreThatRanksFrames) {
    SmallRun run(Json{{"parameters", {{"score", "chi2"}}}});
    run.add("scores.tsv",
            "place\tframe\tcluster\tjoined\tchi2\tscore_chi2\n1\t1\t0\t0.9\t2\t70\n"
            "2\t0\t1\t0.8\t3\tNA\n");
    const Json scatter = section(drawn_run(run.path()), "Scores of frames");
    ASSERT_EQ(scatter["columns"].size(), 3U);
    EXPECT_EQ(scatter["columns"][2]["label"], "chi2");
    EXPECT_EQ(scatter["columns"][2]["values"], Json({70.0, nullptr}));
}

TEST(Report, KeepsTheFirstRowsAndTheNumberOfAll) {
    SmallRun run;
    run.add("some_list.tsv", "n\n1\n2\n3\n");
    Parameters parameters;
    parameters.rows = 2;
    const Json table = section(drawn_run(run.path(), parameters), "Some list");
    EXPECT_EQ(table["rows"], Json::parse(R"([["1"], ["2"]])"));
    EXPECT_EQ(table["total"], 3);
}

/// A run over the first residues of trypsin, each a column, with the structure as its parameter.
SmallRun trypsin_run(const std::string& structure, const std::string& hash) {
    return SmallRun(
        Json{{"parameters",
              {{"structure", structure}, {"contact", ""}, {"cutoff", "the atoms' usual one"}}},
             {"inputs", {{{"path", structure}, {"sha256", hash}}}}});
}

void add_trypsin_pairs(SmallRun& run, const Chain& chain, Index size) {
    add_scores(run, size);
    std::string text =
        "rank\ti\tj\tletter_i\tletter_j\tresidue_i\tnumber_i\tresidue_j\tnumber_j\tcorrected\n";
    for (Index i = 0; i + 1 < size; ++i) {
        const Residue &a = chain.residues[i], &b = chain.residues[i + 1];
        text += fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t1\n", i + 1, 2 * i + 1, 2 * i + 3,
                            a.letter, b.letter, a.name, a.id(), b.name, b.id());
    }
    run.add("contacts.tsv", text);
}

TEST(Report, DrawsTheStructureThatARunUsed) {
    const Chain chain = read_structure(kTrypsin).chains.front();
    SmallRun run = trypsin_run(kTrypsin, hash_file(kTrypsin).sha256);
    const Index size = 40;
    add_trypsin_pairs(run, chain, size);
    std::string columns = "column\tletter\tresidue\tnumber\tmi\n";
    for (Index i = 0; i < size; ++i) {
        const Residue& residue = chain.residues[i];
        columns += fmt::format("{}\t{}\t{}\t{}\t{}\n", 2 * i + 1, residue.letter, residue.name,
                               residue.id(), i);
    }
    run.add("columns.tsv", columns);
    const Json drawn = drawn_run(run.path());
    EXPECT_TRUE(drawn["notes"].empty());
    const Json map = section(drawn, "Contact map");
    EXPECT_EQ(map["structure"], secondary_structure(chain).substr(0, size));
    ASSERT_EQ(map["entropy"].size(), static_cast<std::size_t>(size));
    EXPECT_EQ(map["entropy"][7], 7);
    EXPECT_EQ(map["placed"], Json(std::vector<bool>(size, true)));
    EXPECT_EQ(section(drawn, "Structure 1ql9_A.pdb.gz, chain A")["columns"][size - 1], size - 1);
    // Against distances measured here: CB, or CA of glycine, below 8 angstrom.
    std::set<std::pair<Index, Index>> expected, found;
    for (Index i = 0; i < size; ++i)
        for (Index j = i + 1; j < size; ++j) {
            const auto atom = [&](Index r) {
                const Atom* beta = chain.residues[r].find("CB");
                return beta != nullptr ? *beta : *chain.residues[r].find("CA");
            };
            const Atom a = atom(i), b = atom(j);
            if (std::hypot(a.x - b.x, a.y - b.y, a.z - b.z) < 8) expected.emplace(i, j);
        }
    for (std::size_t n = 0; n < map["contacts"]["i"].size(); ++n)
        found.emplace(map["contacts"]["i"][n], map["contacts"]["j"][n]);
    EXPECT_EQ(found, expected);
    EXPECT_FALSE(section(drawn, "Structure 1ql9_A.pdb.gz, chain A").is_null());
}

TEST(Report, OmitsAStructureThatChanged) {
    const Chain chain = read_structure(kTrypsin).chains.front();
    SmallRun run = trypsin_run(kTrypsin, "another hash");
    add_trypsin_pairs(run, chain, 20);
    const Json drawn = drawn_run(run.path());
    ASSERT_EQ(drawn["notes"].size(), 1U);
    EXPECT_NE(drawn["notes"][0].get<std::string>().find(
                  "is missing or has changed; give its present path with --structure"),
              std::string::npos);
    EXPECT_FALSE(section(drawn, "Scores of pairs").is_null());
    Parameters parameters;
    parameters.structure = kTrypsin + ":A";
    EXPECT_FALSE(section(drawn_run(run.path(), parameters), "Contact map").is_null());
    parameters.structure = PLEAT_DATA "/1a8o.pdb.gz";
    const std::string refused = error_text<InputError>([&] { draw({run.path()}, parameters); });
    EXPECT_NE(refused.find("expected residues of the run"), std::string::npos);
}

// Opening a pipe without a writer would wait for ever.
TEST(Report, DoesNotOpenAPipeAsTheStructureOfARun) {
    const Chain chain = read_structure(kTrypsin).chains.front();
    SmallRun run = trypsin_run("to be replaced", "any hash");
    const std::string pipe = run.file("structure.pdb").string();
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    run.add("manifest.json", Json{{"program", "pleat"},
                                  {"status", "finished"},
                                  {"parameters", {{"structure", pipe}}},
                                  {"inputs", {{{"path", pipe}, {"sha256", "any hash"}}}}}
                                 .dump());
    add_trypsin_pairs(run, chain, 20);
    const Json drawn = drawn_run(run.path());
    ASSERT_EQ(drawn["notes"].size(), 1U);
    EXPECT_NE(drawn["notes"][0].get<std::string>().find("is missing or has changed"),
              std::string::npos);
    EXPECT_FALSE(section(drawn, "Scores of pairs").is_null());
}

// Without the structure, a list with the distances of all pairs gives the contacts.
TEST(CompleteList, GivesTheContacts) {
    const Json parameters = {{"parameters", {{"min-separation", 3}, {"contact-cutoff", 7.5}}}};
    const std::string head =
        "i\tj\tletter_i\tletter_j\tresidue_i\tnumber_i\tresidue_j\tnumber_j\tdistance\tcorrected\n";
    const std::string near = "1\t5\tA\tC\tALA\t7\tNA\tNA\tNA\t3\n",
                      far = "1\t7\tA\tD\tALA\t7\tASP\t9\t7.4\t2\n",
                      farther = "3\t7\tC\tD\tCYS\t8\tASP\t9\t7.6\t2\n";
    SmallRun complete(parameters), partial(parameters);
    for (SmallRun* run : {&complete, &partial}) add_scores(*run, 4);  // places 1, 3, 5, 7
    complete.add("contacts.tsv", head + near + far + farther);
    partial.add("contacts.tsv", head + far + farther);
    const Json map = section(drawn_run(complete.path()), "Contact map");
    EXPECT_EQ(
        map["contacts"],
        Json::parse(R"({"cutoff": 7.5, "separation": 3, "i": [0], "j": [3], "distance": [7.4]})"));
    EXPECT_EQ(map["placed"], Json({true, true, false, true}));
    EXPECT_TRUE(section(drawn_run(partial.path()), "Scores of pairs")["contacts"].is_null());
}

TEST(PdbText, IsReadBackAsTheSameResidues) {
    Chain chain = read_structure(kTrypsin).chains.front();
    const auto check = [&](double shift) {
        const Structure back = read_structure("text", pdb_text(chain));
        ASSERT_EQ(back.chains.size(), 1U);
        ASSERT_EQ(back.chains[0].residues.size(), chain.residues.size());
        for (std::size_t r = 0; r < chain.residues.size(); ++r) {
            EXPECT_EQ(back.chains[0].residues[r].name, chain.residues[r].name);
            EXPECT_EQ(back.chains[0].residues[r].number, static_cast<int>(r) + 1);
            EXPECT_NEAR(back.chains[0].residues[r].find("CA")->x,
                        chain.residues[r].find("CA")->x - shift, 6e-4);
        }
    };
    check(0);
    // Far from the origin, where PDB's columns end: moved back.
    double sum = 0, atoms = 0;
    for (Residue& residue : chain.residues)
        for (Atom& atom : residue.atoms) sum += atom.x += 5e4, ++atoms;
    check(sum / atoms);
}

TEST(Report, RecognisesScatteringTablesByTheirColumns) {
    SmallRun run;
    run.add("fit.tsv", "q\tintensity\tsigma\tmodel\tresidual\n0.1\t9\t1\t8\t1\n0.2\t4\t1\t4\t0\n");
    run.add("minimal_fit.tsv", "q\tintensity\tsigma\tmodel\tresidual\n0.1\t9\t1\t8\t1\n");
    run.add("ensemble_sizes.tsv",
            "members\tchosen\tnear_best\tchi2\tvalidation_chi2\tvalidation_error\n"
            "1\t0\t0\t8\t9\t1\n2\t1\t1\t2\t3\t0.5\n");
    run.add("guinier.tsv",
            "q2\tln_intensity\tsigma\tln_model\tused\n0.01\t2\t0.1\t2\t1\n0.02\t1\t0.1\t1\t0\n0."
            "04\t0\t0.1\t0\t0\n");
    run.add("profile.tsv", "q\tintensity\n0\t10\n0.1\t8\n0.2\t1\n");
    run.add("pr.tsv", "from\tto\tp\n0\t2\t5\n2\t4\t1\n");
    const Json drawn = drawn_run(run.path());
    const Json fit = section(drawn, "Fit to the curve");
    EXPECT_EQ(fit["residuals"]["values"], Json({1.0, 0.0}));
    EXPECT_EQ(fit["series"].size(), 2U);
    EXPECT_EQ(fit["series"][0]["error"], Json({1.0, 1.0}));
    EXPECT_FALSE(section(drawn, "Fit of the minimal ensemble").is_null());
    const Json sizes = section(drawn, "Minimal ensembles by number of frames");
    EXPECT_EQ(sizes["kind"], "table");
    EXPECT_EQ(sizes["rows"][1][4], "3");
    const Json guinier = section(drawn, "Guinier");
    EXPECT_EQ(guinier["positions"], Json({0.01, 0.02}));  // up to three times the range
    ASSERT_EQ(guinier["series"].size(), 3U);
    EXPECT_EQ(guinier["series"][0]["values"], Json({2.0, nullptr}));
    EXPECT_EQ(guinier["series"][1]["values"], Json({nullptr, 1.0}));
    // I falls below 0.4 I(0) at the third point.
    EXPECT_EQ(section(drawn, "Guinier plot of the profile")["positions"].size(), 2U);
    EXPECT_NEAR(section(drawn, "Kratky plot of the profile")["series"][0]["values"][2], 0.04,
                1e-12);
    EXPECT_EQ(section(drawn, "Pair distances P(r)")["positions"],
              Json({3.0}));  // the first bin holds each scatterer with itself
}

TEST(Report, DrawsTheTableOfJobsAndAPlotForEachSweptOption) {
    const pleat::test::TemporaryFolder folder;
    pleat::test::spill(
        folder / "jobs.tsv",
        "# version: pleat 0.1.0\n# command: pleat cluster 'a b.pdb' -o runs\n"
        "# swept: method cutoff\n"
        "name\tmethod\tcutoff\tstatus\tdevice\tseconds\titems\tclusters\tresult\terror\n"
        "a\tgromos\t1\tdone\tcpu\t0.1\t9\t4\ta/1\tNA\n"
        "a\taverage\t2\tdone\tcpu\t0.1\t9\t2\ta/2\tNA\n"
        "b\tgromos\t1\tfailed\tNA\tNA\tNA\tNA\tb/1\t<b>why</b>\n");
    const Json drawn = drawn_run(folder.path());
    EXPECT_EQ(drawn["manifest"]["arguments"], Json({"cluster", "a b.pdb", "-o", "runs"}));
    EXPECT_EQ(drawn["sections"].size(), 3U);
    EXPECT_EQ(drawn["headline"]["sentence"], "3 jobs: 2 done, 1 failed.");
    const Json table = section(drawn, "Jobs");
    EXPECT_EQ(table["rows"].size(), 3U);
    EXPECT_EQ(table["rows"][2].back(), "<b>why</b>");
    const Json methods = section(drawn, "Results by method");
    EXPECT_EQ(methods["x"], "method");
    EXPECT_EQ(methods["y"], "clusters");  // items are the same
    EXPECT_EQ(methods["columns"][0]["label"], "method (0: gromos, 1: average)");
    EXPECT_EQ(methods["columns"][0]["values"], Json({0.0, 1.0, 0.0}));
    const Json cutoffs = section(drawn, "Results by cutoff");
    EXPECT_EQ(cutoffs["columns"][1]["values"], Json({1.0, 2.0, 1.0}));
    EXPECT_EQ(cutoffs["columns"][2]["values"], Json({4.0, 2.0, nullptr}));
    EXPECT_EQ(cutoffs["group"]["values"], Json({0, 0, 1}));
}

TEST(Report, CountsOneJobInTheSingular) {
    const pleat::test::TemporaryFolder folder;
    pleat::test::spill(
        folder / "jobs.tsv",
        "# version: pleat 0.1.0\n# command: pleat cluster a.pdb -o runs\n# swept: cutoff\n"
        "name\tcutoff\tstatus\tdevice\tseconds\titems\tclusters\tresult\terror\n"
        "a\t1\tdone\tcpu\t0.1\t9\t4\ta/1\tNA\n");
    EXPECT_EQ(drawn_run(folder.path())["headline"]["sentence"], "1 job: 1 done.");
}

TEST(Report, EscapesTextsOfFiles) {
    const std::string bad = "</script><script>alert(1)</script><!-- <b>\xff";
    SmallRun run(Json{{"command", "</script>"}, {"arguments", {"<!--", "]]>"}}});
    run.add("list.tsv", bad + "\n" + bad + "\n");
    Parameters parameters;
    parameters.title = "<title>";
    const std::string html = draw({run.path()}, parameters).html, empty = draw({}, {}).html;
    const std::string text = data_text(html);
    EXPECT_EQ(text.find('<'), std::string::npos);
    // What stands around the data is the template's own, whatever the data are.
    EXPECT_EQ(html.size() - text.size(), empty.size() - data_text(empty).size());
    const Json data = Json::parse(text);
    EXPECT_EQ(data["title"], "<title>");
    EXPECT_EQ(data["runs"][0]["manifest"]["command"], "</script>");
    const std::string cell = data["runs"][0]["sections"][0]["rows"][0][0];
    EXPECT_EQ(cell, "</script><script>alert(1)</script><!-- <b>\xef\xbf\xbd");
}

TEST(Report, ReportsUnfinishedRuns) {
    SmallRun run(Json{{"status", "running"}});
    EXPECT_NE(drawn_run(run.path())["notes"][0].get<std::string>().find("has not finished"),
              std::string::npos);
}

TEST(Report, RefusesDamagedFilesAndOtherFolders) {
    const TemporaryFolder folder;
    const auto refused = [](const std::filesystem::path& path) {
        return error_text<InputError>([&] { draw({path}, {}); });
    };
    EXPECT_NE(refused(folder / "absent").find("expected the folder of a run, found none"),
              std::string::npos);
    EXPECT_NE(refused(folder.path()).find("with a manifest.json, found none"), std::string::npos);
    spill(folder / "manifest.json", "{\"program\": 3}");
    EXPECT_NE(refused(folder.path()).find("expected a manifest of pleat"), std::string::npos);
    spill(folder / "manifest.json", "[");
    EXPECT_NE(refused(folder.path()).find("expected a manifest of pleat"), std::string::npos);
    EXPECT_EQ(refused(""), "expected the folder of a run, found none");

    const std::string deep = std::string(200000, '[') + std::string(200000, ']');
    for (const auto& [name, text, wanted] :
         std::vector<std::tuple<std::string, std::string, std::string>>{
             {"list.tsv", "a\tb\n1\n", "list.tsv:2: expected 2 cells, found 1"},
             {"histogram.tsv", "from\tto\n0\t1\n",
              "histogram.tsv:1: expected a column 'pairs', found none"},
             {"fit.json", "{", "fit.json:1: expected JSON, found the end of the file too early"},
             {"fit.json", deep, "fit.json: expected JSON at most 100 lists or objects deep"},
             {"manifest.json", deep, "manifest.json: expected JSON at most 100 lists"},
             {"reference.tsv", "frame\trmsd\n1\t2\n2\tfar\n",
              "reference.tsv:3: expected a number as rmsd, found 'far'"},
             {"reference.tsv", "frame\ttm\n1\t2\n",
              "reference.tsv:1: expected a column 'rmsd', found none"},
             {"clusters.tsv", "cluster\tsize\n0\tmany\n",
              "clusters.tsv:2: expected a number as size, found 'many'"},
             {"assignment.npy", "none", "assignment.npy"},
             {"sweep.tsv", "", "sweep.tsv: expected a header line, found an empty file"}}) {
        SmallRun run;
        run.add(name, text);
        EXPECT_NE(refused(run.path()).find(wanted), std::string::npos)
            << name << ": " << refused(run.path());
    }
    SmallRun run;
    add_scores(run, 3);
    run.add("contacts.tsv", "rank\tcorrected\n1\t2\n");
    EXPECT_NE(refused(run.path()).find("expected the columns i, j, letter_i and letter_j"),
              std::string::npos);
}

TEST(Report, RecognisesItsPages) {
    const TemporaryFolder folder;
    spill(folder / "page.html", draw({}, {}).html);
    spill(folder / "other.html", "<!doctype html>\n<title>mine</title>");
    EXPECT_TRUE(is_page(folder / "page.html"));
    EXPECT_FALSE(is_page(folder / "other.html"));
    EXPECT_FALSE(is_page(folder / "absent.html"));
}

}  // namespace
}  // namespace pleat::report

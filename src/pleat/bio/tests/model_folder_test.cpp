// Folders of predicted models: which files are models, their order, and their scores.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "pleat/bio/ensemble/ensemble.h"
#include "pleat/bio/ensemble/ensemble_files.h"
#include "pleat/bio/tests/made_models.h"
#include "pleat/bio/tests/refusal.h"
#include "pleat/bio/tests/scratch_file.h"

namespace {

using namespace pleat;
using namespace pleat::testing;
using Strings = std::vector<std::string>;

Ensemble read_models(const std::filesystem::path& folder, ScoreOptions scores = {},
                     bool relaxed = false) {
    EnsembleOptions options;
    options.scores = std::move(scores);
    options.relaxed = relaxed;
    return read_ensemble({folder.string()}, options);
}

/// x of the last atom of each frame, which says which model it is.
std::vector<float> last_x(const Ensemble& ensemble) {
    std::vector<float> all;
    for (Index frame = 0; frame < ensemble.frame_count(); ++frame)
        all.push_back(ensemble.xyz(frame, 0, ensemble.atom_count() - 1));
    return all;
}

ScoreOptions of_models() {
    ScoreOptions options;
    options.of_models = true;
    return options;
}

std::vector<double> column(const Ensemble& ensemble, const std::string& name) {
    for (std::size_t c = 0; c < ensemble.scores.columns.size(); ++c)
        if (ensemble.scores.columns[c] == name) return ensemble.scores.values[c];
    return {};
}

void expect_near(const std::vector<double>& found, const std::vector<double>& expected) {
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t n = 0; n < found.size(); ++n) EXPECT_NEAR(found[n], expected[n], 1e-6) << n;
}

bool has_note(const Ensemble& ensemble, const std::string& text) {
    return std::any_of(ensemble.notes.begin(), ensemble.notes.end(), [&](const Note& note) {
        return full_text(note).find(text) != std::string::npos;
    });
}

TEST(ModelFolder, ReadsColabFoldByRank) {
    const ScratchFolder folder;
    make_colabfold(folder.path());
    const Ensemble unrelaxed = read_models(folder.path(), of_models());
    EXPECT_EQ(last_x(unrelaxed), (std::vector<float>{21, 22, 23}));
    EXPECT_EQ(unrelaxed.names[1], "job_unrelaxed_rank_002_alphafold2_ptm_model_1_seed_000");
    EXPECT_EQ(unrelaxed.scores.columns, (Strings{"plddt", "max_pae", "ptm", "mean_pae"}));
    expect_near(column(unrelaxed, "mean_pae"), {2.5, 2.5, 2.5});
    EXPECT_EQ(unrelaxed.scores.ranked_by, "plddt");
    expect_near(column(unrelaxed, "plddt"), {90.25, 89.75, 89.25});
    expect_near(column(unrelaxed, "ptm"), {0.8, 0.7, 0.6});
    EXPECT_TRUE(unrelaxed.are_models);
    const Ensemble relaxed = read_models(folder.path(), of_models(), true);
    EXPECT_EQ(last_x(relaxed), (std::vector<float>{31, 32}));
    expect_near(column(relaxed, "ptm"), {0.8, 0.7});
    EXPECT_TRUE(has_note(relaxed, "left out 1 of 3 models that have no relaxed copy"));
}

TEST(ModelFolder, RefusesRelaxedWithoutAFolderThatHasThem) {
    const ScratchFolder folder;
    write_file(folder.path() / "one.pdb", model_pdb(20, 80));
    EXPECT_NE(refusal([&] {
                  read_models(folder.path() / "one.pdb", {}, true);
              }).find("--relaxed chooses among the models in a folder"),
              std::string::npos);
    write_file(folder.path() / "af3/seed-1_sample-0/model.pdb", model_pdb(20, 80));
    EXPECT_NE(refusal([&] {
                  read_models(folder.path() / "af3", {}, true);
              }).find("expected relaxed models, found none; leave --relaxed out"),
              std::string::npos);
}

TEST(ModelFolder, GivesThePaeBetweenChains) {
    const ScratchFolder folder;
    std::string two;
    for (int number = 1; number <= 3; ++number)
        two +=
            test::pdb_line({.chain = number < 3 ? "A" : "B", .number = number, .x = 3.8 * number});
    const auto write = [&](const std::string& rank, const std::string& pae) {
        const std::string model = "rank_" + rank + "_alphafold2_multimer_v3_model_1_seed_000";
        write_file(folder.path() / ("job_unrelaxed_" + model + ".pdb"), two + "END\n");
        write_file(folder.path() / ("job_scores_" + model + ".json"),
                   R"({"plddt": [90, 91, 92], "ptm": 0.8, "iptm": 0.7, "pae": )" + pae + "}");
    };
    // A score of the file itself is not replaced.
    write("001", R"([[0, 1, 10], [2, 0, 20], [30, 40, 0]], "mean_pae": 7)");
    EXPECT_EQ(column(read_models(folder.path(), of_models()), "mean_pae"), std::vector<double>{7});
    write("001", "[[0, 1, 10], [2, 0, 20], [30, 40, 0]]");
    write("002", "[[0, 1], [2, 0]]");
    write("003", "[[0, 1, 10], [2, 0, null], [30, 40, 0]]");
    const Ensemble models = read_models(folder.path(), of_models());
    const std::vector<double> mean = column(models, "mean_pae"),
                              between = column(models, "inter_chain_pae");
    ASSERT_EQ(mean.size(), 3U);
    ASSERT_EQ(between.size(), 3U);
    EXPECT_NEAR(mean[0], 103.0 / 9, 1e-12);
    EXPECT_NEAR(between[0], 25, 1e-12);
    for (const std::size_t other : {1, 2}) {
        EXPECT_TRUE(std::isnan(mean[other])) << other;
        EXPECT_TRUE(std::isnan(between[other])) << other;
    }
}

TEST(ModelFolder, ReadsAlphaFold2ByItsRanking) {
    const ScratchFolder folder;
    make_alphafold2(folder.path() / "ranking");
    const Ensemble ensemble = read_models(folder.path() / "ranking", of_models());
    EXPECT_EQ(last_x(ensemble), (std::vector<float>{20, 21, 22}));
    EXPECT_EQ(ensemble.names, (Strings{"unrelaxed_model_2_pred_0", "unrelaxed_model_10_pred_0",
                                       "unrelaxed_model_1_pred_0"}));
    EXPECT_EQ(ensemble.scores.ranked_by, "iptm+ptm");
    expect_near(column(ensemble, "iptm+ptm"), {0.9, 0.7, 0.5});
    expect_near(column(ensemble, "plddt"), {82.5, 72.5, 62.5});  // of the B factors
    EXPECT_EQ(last_x(read_models(folder.path() / "ranking", {}, true)), (std::vector<float>{30}));
    // Without the ranking the copies in its order are read.
    make_alphafold2(folder.path() / "copies", false);
    EXPECT_EQ(last_x(read_models(folder.path() / "copies")), (std::vector<float>{30, 21, 22}));
    EXPECT_TRUE(has_note(ensemble, "3 models of AlphaFold 2, the best first"));
    // Models that the ranking lacks come last.
    write_file(folder.path() / "ranking/unrelaxed_model_0_pred_0.pdb", model_pdb(29, 80));
    const Ensemble more = read_models(folder.path() / "ranking");
    EXPECT_EQ(last_x(more), (std::vector<float>{20, 21, 22, 29}));
    EXPECT_TRUE(has_note(more, "1 of 4 models are not in ranking_debug.json and come last"));
    for (const char* name : {"unrelaxed_model_1.pdb", "unrelaxed_model_2.pdb"})
        write_file(folder.path() / "unranked" / name, model_pdb(20, 80));
    const Ensemble unranked = read_models(folder.path() / "unranked");
    EXPECT_TRUE(has_note(unranked, "2 models of AlphaFold 2, in the order of their names"));
    EXPECT_TRUE(
        has_note(unranked, "2 of 2 models are not in ranking_debug.json, which is missing"));
}

TEST(ModelFolder, ReadsAlphaFold3InBothNamings) {
    for (const bool named : {true, false}) {
        const ScratchFolder folder;
        make_alphafold3(folder.path(), named);
        const Ensemble ensemble = read_models(folder.path(), of_models());
        EXPECT_EQ(last_x(ensemble), (std::vector<float>{24, 25, 22, 23})) << named;
        EXPECT_EQ(ensemble.names, (Strings{"seed-2_sample-0", "seed-2_sample-1", "seed-1_sample-0",
                                           "seed-1_sample-1"}));
        EXPECT_EQ(ensemble.scores.columns,
                  (Strings{"has_clash", "iptm", "ptm", "ranking_score", "plddt"}));
        expect_near(column(ensemble, "ranking_score"), {0.7, 0.65, 0.6, 0.55});
        EXPECT_TRUE(std::isnan(column(ensemble, "iptm")[0])) << "null";
        EXPECT_EQ(ensemble.scores.ranked_by, "ranking_score");
    }
    const ScratchFolder folder;
    make_server(folder.path());
    EXPECT_EQ(last_x(read_models(folder.path(), of_models())), (std::vector<float>{20, 21, 22}));
}

TEST(ModelFolder, ReadsBoltzFromEachOfItsFolders) {
    const ScratchFolder folder;
    make_boltz(folder.path());
    for (const std::string within : {"", "predictions", "predictions/job"}) {
        const Ensemble ensemble = read_models(folder.path() / within, of_models());
        EXPECT_EQ(last_x(ensemble), (std::vector<float>{20, 21, 22})) << within;
        EXPECT_EQ(ensemble.scores.columns, (Strings{"confidence_score", "complex_plddt"}));
        EXPECT_EQ(ensemble.scores.ranked_by, "confidence_score");
    }
}

TEST(ModelFolder, ReadsChaiByAggregateScore) {
    const ScratchFolder folder;
    make_chai(folder.path());
    const Ensemble ensemble = read_models(folder.path(), of_models());
    EXPECT_EQ(last_x(ensemble), (std::vector<float>{21, 22, 20}));
    EXPECT_EQ(ensemble.scores.columns, (Strings{"aggregate_score", "ptm", "plddt"}));
    expect_near(column(ensemble, "aggregate_score"), {0.75, 0.5, 0.25});
}

TEST(ModelFolder, ReadsAlphaFoldDatabase) {
    const ScratchFolder folder;
    make_database(folder.path());
    const Ensemble ensemble = read_models(folder.path(), of_models());
    EXPECT_EQ(ensemble.names, (Strings{"AF-P12345-F1-model_v3", "AF-P12345-F1-model_v4"}));
    expect_near(column(ensemble, "plddt"), {72.5, 82.5});
    EXPECT_TRUE(has_note(ensemble, "2 models of AlphaFold DB, in the order of their names"));
    // Beside other structures they are structures like these.
    write_file(folder.path() / "a.pdb", model_pdb(22, 10));
    EXPECT_FALSE(read_models(folder.path()).are_models);
}

TEST(ModelFolder, KeepsTheBestModels) {
    const ScratchFolder folder;
    make_chai(folder.path());
    ScoreOptions scores = of_models();
    scores.best = 2;
    const Ensemble best = read_models(folder.path(), scores);
    EXPECT_EQ(last_x(best), (std::vector<float>{21, 22}));
    EXPECT_EQ(best.numbers, (std::vector<Index>{0, 1}));
    scores.lowest_is_best = true;
    scores.column = "ptm";
    const Ensemble worst = read_models(folder.path(), scores);
    EXPECT_EQ(last_x(worst), (std::vector<float>{22, 20}));
    EXPECT_EQ(worst.numbers, (std::vector<Index>{1, 2}));
    expect_near(column(worst, "ptm"), {0.5, 0.25});
}

TEST(ModelFolder, RefusesWhatIsNotOneSetOfModels) {
    const ScratchFolder folder;
    const auto said = [&](const std::string& name, ScoreOptions scores = {}, bool relaxed = false) {
        return refusal([&] { read_models(folder.path() / name, scores, relaxed); });
    };
    const auto has = [](const std::string& text, std::initializer_list<const char*> parts) {
        for (const char* part : parts)
            if (text.find(part) == text.npos) return false;
        return true;
    };
    make_colabfold(folder.path() / "two");
    write_file(folder.path() / "two/job_unrelaxed_rank_002_alphafold2_ptm_model_1_seed_000.pdb",
               model_pdb(22, 80, "SER"));
    EXPECT_TRUE(has(said("two"), {"one sequence", "GLY 4", "SER 4", "rank_001", "rank_002"}))
        << said("two");
    make_boltz(folder.path() / "jobs", "a");
    make_boltz(folder.path() / "jobs", "b");
    EXPECT_EQ(said("jobs"), "") << "the same protein";
    make_colabfold(folder.path() / "mixed");
    write_file(folder.path() / "mixed/native.pdb", model_pdb(22, 80));
    EXPECT_TRUE(has(said("mixed"), {"ColabFold alone", "native.pdb", "@FILE"})) << said("mixed");
    make_chai(folder.path() / "chai");
    EXPECT_TRUE(has(said("chai", {}, true), {"no", "--relaxed"})) << said("chai", {}, true);
    std::filesystem::remove(folder.path() / "chai/scores.model_idx_1.npz");
    EXPECT_EQ(said("chai"), "");
    EXPECT_TRUE(has(said("chai", of_models()), {"model_idx_1.cif", "file of its scores"}));
    write_file(folder.path() / "chai/scores.model_idx_1.npz", "PK");
    EXPECT_NE(said("chai"), "");
    make_alphafold3(folder.path() / "runs/job", true);
    EXPECT_TRUE(has(said("runs"), {"found none", "its folder job has models of AlphaFold 3"}))
        << said("runs");
    std::filesystem::create_directory(folder.path() / "none");
    EXPECT_TRUE(has(said("none"), {"none: expected", "found none"})) << said("none");
    write_file(folder.path() / "plain/2.pdb", model_pdb(22, 80));
    write_file(folder.path() / "plain/10.pdb", model_pdb(23, 80));
    EXPECT_EQ(last_x(read_models(folder.path() / "plain")), (std::vector<float>{22, 23}));
    EXPECT_TRUE(has(said("plain", of_models()), {"2.pdb", "--scores folder"}));
    EXPECT_TRUE(has(said("plain", {}, true), {"--relaxed"}));
}

TEST(ModelFolder, SelectsByMeanPlddtOfTheModelsThatAreKept) {
    const ScratchFolder folder;
    make_alphafold2(folder.path());  // B factors of residue n: 80 + n, 70 + n, 60 + n
    EnsembleOptions options;
    options.select = "plddt >= 73";
    const Ensemble all = read_ensemble({folder.path().string()}, options);
    EXPECT_EQ(all.atom_count(), 2);  // means 71 to 74
    EXPECT_EQ(all.frame_count(), 3);
    options.scores.of_models = true;
    options.scores.best = 2;
    EXPECT_EQ(read_ensemble({folder.path().string()}, options).atom_count(), 4);  // 76 to 79
    // Of one model that is not the first, its own.
    options.select = "plddt >= 63";
    options.scores.best = 1;
    options.scores.lowest_is_best = true;
    options.scores.column = "plddt";
    EXPECT_EQ(read_ensemble({folder.path().string()}, options).atom_count(), 2);  // 61 to 64
    options.scores = {};
    options.range = parse_frame_range("2");
    EXPECT_EQ(read_ensemble({folder.path().string()}, options).atom_count(), 2);
    options.select = "plddt >= 90";
    EXPECT_NE(refusal([&] { read_ensemble({folder.path().string()}, options); }), "");
}

}  // namespace

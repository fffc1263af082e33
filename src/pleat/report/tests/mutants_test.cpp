// Mutants: the map of single mutants, residues on a molecule, the logo, and measurements.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "pleat/core/error.h"
#include "pleat/core/files/hash.h"
#include "pleat/core/tests/data_folders.h"
#include "pleat/report/tests/small_run.h"

namespace pleat::report {

namespace {

using testing::drawn_run;
using testing::section;
using testing::SmallRun;
using testing::unpacked;

constexpr const char* kSingles =
    "segment\tmutant\tpos\twt\tsubs\tfrequency\tcolumn_conservation\tprediction_epistatic\t"
    "prediction_independent\tcolumn\tpercentile\n";

std::string single(int number, char wild_type, char letter, const std::string& effect) {
    return std::string("A_1\t") + wild_type + std::to_string(number) + letter + "\t" +
           std::to_string(number) + "\t" + wild_type + "\t" + letter + "\t0.1\t0.5\t" + effect +
           "\t-1\t" + std::to_string(number - 9) + "\t50\n";
}

struct SmallMutants : SmallRun {
    explicit SmallMutants(const Json& more = Json::object()) : SmallRun(more) {
        add("singles.tsv", kSingles + single(10, 'W', 'D', "-3") + single(10, 'W', 'G', "-1") +
                               single(12, 'G', 'D', "0.5") + single(12, 'G', 'W', "NA"));
        add("positions.tsv",
            "segment\tpos\twt\tcolumn\tmean_epistatic\n"
            "A_1\t10\tW\t1\t-2\nA_1\t12\tG\t3\t0.5\n");
    }
};

TEST(Mutants, DrawsAllSingleMutantsWithLettersByTheirProperties) {
    const Json drawn = section(drawn_run(SmallMutants().path()), "Effects of single mutants");
    EXPECT_EQ(drawn["kind"], "substitutions");
    EXPECT_EQ(drawn["numbers"], Json({"10", "12"}));
    EXPECT_EQ(drawn["places"], Json({1.0, 3.0}));
    EXPECT_EQ(drawn["wild_type"], "WG");
    ASSERT_EQ(drawn["groups"].size(), 3U);
    EXPECT_EQ(drawn["groups"][0]["letters"], "G");
    EXPECT_EQ(drawn["groups"][2]["letters"], "D");
    EXPECT_EQ(drawn["layers"][0]["name"], "effect");
    EXPECT_EQ(drawn["layers"][0]["matrix"]["rows"], 3);
    const std::vector<double> effects = unpacked(drawn["layers"][0]["matrix"]);
    ASSERT_EQ(effects.size(), 6U);
    EXPECT_NEAR(effects[0], -1, 1e-4);    // W10G
    EXPECT_TRUE(std::isnan(effects[1]));  // the wild type at 12
    EXPECT_TRUE(std::isnan(effects[2]));  // the wild type at 10
    EXPECT_TRUE(std::isnan(effects[3]));  // not known
    EXPECT_NEAR(effects[4], -3, 1e-4);    // W10D
    EXPECT_NEAR(effects[5], 0.5, 1e-4);   // G12D
}

TEST(Mutants, NucleotidesAreOneGroup) {
    SmallRun run;
    run.add("singles.tsv", kSingles + single(1, 'U', 'A', "1") + single(1, 'U', 'C', "2"));
    const Json drawn = section(drawn_run(run.path()), "Effects of single mutants");
    EXPECT_EQ(drawn["groups"], Json::array({{{"name", ""}, {"letters", "ACU"}}}));
}

TEST(Mutants, DrawsMeansOfResiduesByTheirNumbers) {
    const Json drawn = section(drawn_run(SmallMutants().path()), "Mean effect by residue");
    EXPECT_EQ(drawn["residues"], Json({"W 10", "G 12"}));
    EXPECT_EQ(drawn["series"], Json::array({{{"name", "mean effect"}, {"values", {-2.0, 0.5}}}}));
}

constexpr const char* kTrypsin = "IVGGYTCGANTVPYQVSLNSGYHFCGGSLINSQWVVSAAHCYKSGIQVRLG";

/// Adds every `step`-th residue of trypsin's first ones, counted from 10.
void add_trypsin(SmallRun& run, std::size_t step = 1) {
    const std::string letters = kTrypsin;
    std::string singles = kSingles, positions = "pos\twt\tcolumn\tmean_epistatic\n";
    for (std::size_t n = 0; n < letters.size(); n += step) {
        const char other = letters[n] == 'A' ? 'E' : 'A';
        singles += single(static_cast<int>(n) + 10, letters[n], other, "-1");
        positions += std::to_string(n + 10) + "\t" + letters[n] + "\t" + std::to_string(n + 1) +
                     "\t" + std::to_string(n) + "\n";
    }
    run.add("singles.tsv", singles);
    run.add("positions.tsv", positions);
}

TEST(Mutants, ColoursTheMoleculeThatIsNamed) {
    SmallRun run;
    const std::string letters = kTrypsin;
    add_trypsin(run);
    EXPECT_EQ(drawn_run(run.path()).dump().find("\"molecule\""), std::string::npos);
    Parameters named;
    named.structure = (test::data_folder() / "1ql9_A.pdb.gz").string();
    const Json drawn = section(drawn_run(run.path(), named), "Structure 1ql9_A.pdb.gz, chain A");
    ASSERT_EQ(drawn["kind"], "molecule");
    EXPECT_EQ(drawn["pairs"], false);
    EXPECT_EQ(drawn["columns"].size(), letters.size());
    const std::size_t third = drawn["columns"][2];
    EXPECT_EQ(drawn["residues"][third].get<std::string>().substr(0, 3), "GLY");
    EXPECT_EQ(drawn["values"][0]["values"][2], 2.0);
    named.structure = (test::data_folder() / "1a8o.pdb.gz").string();
    EXPECT_THROW(drawn_run(run.path(), named), InputError);
    named.structure += ":A,B";
    EXPECT_NE(drawn_run(run.path(), named)["notes"].dump().find(
                  "residues of several chains (A,B) are not shown in a structure"),
              std::string::npos);
}

/// The page of a run of every fifth residue of trypsin that used a structure; its `results` are
/// those of the manifest.
Json run_of_structure(const std::string& file, const Json& results, std::string hash = "") {
    if (hash.empty()) hash = hash_file(file).sha256;
    SmallRun run(Json{{"parameters", {{"structure", file}}},
                      {"inputs", {{{"path", file}, {"sha256", hash}}}},
                      {"results", results}});
    add_trypsin(run, 5);
    return drawn_run(run.path());
}

TEST(Mutants, ColoursTheMoleculeOfTheRunOrSaysWhyNot) {
    const std::string file = (test::data_folder() / "1ql9_A.pdb.gz").string();
    const Json whole = {{"sequence", kTrypsin}, {"first_number", 10}, {"structure_chain", "A"}};
    Json drawn = run_of_structure(file, whole);
    EXPECT_TRUE(drawn["notes"].empty()) << drawn["notes"];
    drawn = section(drawn, "Structure 1ql9_A.pdb.gz, chain A");
    ASSERT_EQ(drawn["columns"].size(), 11U);
    for (std::size_t n = 0; n < 11; ++n) EXPECT_EQ(drawn["columns"][n], 5 * n);
    const auto note = [](const Json& page) {
        EXPECT_EQ(page.dump().find("\"molecule\""), std::string::npos);
        return page["notes"].empty() ? std::string() : page["notes"][0].get<std::string>();
    };
    const std::string other = (test::data_folder() / "1a8o.pdb.gz").string();
    EXPECT_NE(note(run_of_structure(other, whole)).find("is not shown: "), std::string::npos);
    EXPECT_NE(note(run_of_structure(file, {{"structure_chain", "Q"}})).find("expected chain 'Q'"),
              std::string::npos);
    EXPECT_NE(note(run_of_structure(file, {{"structure_chain", "A,B"}})).find("several chains"),
              std::string::npos);
    EXPECT_NE(note(run_of_structure(file, whole, "another")).find("is missing or has changed"),
              std::string::npos);
}

TEST(Mutants, StacksTheLettersOfTheLogo) {
    SmallMutants run;
    run.add("logo.tsv",
            "column\tpos\twt\tletter\tfrequency\tinformation\theight\tindependent\n"
            "1\t10\tW\tA\t0.25\t0.8\t0.2\t0\n1\t10\tW\tG\t0.75\t0.8\t0.6\t0\n"
            "2\tNA\t-\tA\t1\t1\t1\t0\n2\tNA\t-\tG\t0\t1\t0\t0\n");
    const Json drawn = section(drawn_run(run.path()), "Sequence logo");
    EXPECT_EQ(drawn["most"], 1.0);  // of two letters
    ASSERT_EQ(drawn["columns"].size(), 2U);
    EXPECT_EQ(drawn["columns"][0]["number"], "10");
    EXPECT_EQ(drawn["columns"][0]["stack"], Json::array({{"A", 0.2}, {"G", 0.6}}));
    EXPECT_EQ(drawn["columns"][1]["number"], "");
    EXPECT_EQ(drawn["columns"][1]["stack"], Json::array({{"A", 1.0}}));
}

constexpr const char* kListed =
    "\xef\xbb\xbfmutant;\"growth; rate\";note;prediction_epistatic;prediction_independent;"
    "prediction_percentile;prediction_z;prediction_problem\r\n"
    "W10D;1;\"a;b\";-3;-1;10;-2;\r\n"
    "W10D:G12D;NA;x;-2.5;-2;20;-1;\r\n"
    "wt;0;;0.00000;0.00000;90;2;\r\n"
    "A99G;2;;NA;NA;NA;NA;outside the columns\r\n";

TEST(Mutants, PlotsPredictionsOfBothModelsOverEachMeasurement) {
    SmallMutants run;
    run.add("listed.csv", kListed);
    run.add("correlations.tsv",
            "column\tcount\tspearman_epistatic\tspearman_independent\n"
            "growth; rate\t12\t0.53911\tNA\n");
    const Json page = drawn_run(run.path());
    const Json drawn = section(page, "Predicted effects against measurements");
    EXPECT_EQ(drawn["x"], "growth; rate");
    EXPECT_EQ(drawn["labels"], Json({"W10D", "W10D:G12D"}));  // predicted, and not the target
    EXPECT_EQ(drawn["group"]["values"], Json({1, 2}));
    EXPECT_EQ(drawn["columns"][0]["values"], Json({1.0, nullptr}));
    EXPECT_EQ(drawn["columns"][1]["values"], Json({-3.0, -2.5}));
    EXPECT_EQ(drawn["correlations"][0]["text"], "Spearman's rank correlation 0.539 (12 mutants)");
    const Json other = section(page, "Effects in the independent model against measurements");
    EXPECT_EQ(other["columns"][1]["values"], Json({-1.0, -2.0}));
    EXPECT_TRUE(other["correlations"].empty());
    const Json table = section(page, "Listed mutants");
    EXPECT_EQ(table["total"], 4);
    EXPECT_EQ(table["rows"][0][2], "a;b");
}

TEST(Mutants, TellsItsColumnsFromThoseOfTheUser) {
    SmallMutants run;
    run.add("listed.csv",
            "variant,hgvs_pro,my_prediction_weighted,y,prediction_epistatic,"
            "prediction_independent,prediction_percentile,prediction_z,prediction_problem\n"
            "1,p.[Trp10Asp;Gly12Asp],3,1,-3,-1,50,0,\n2,p.Gly12Asp,4,2,-1,-1,50,0,\n");
    run.add("correlations.tsv",
            "column\tcount\tspearman_epistatic\tspearman_independent\ny\t2\t0.5\t0.4\n");
    const Json page = drawn_run(run.path());
    EXPECT_TRUE(section(page, "Weighted effects against measurements").is_null());
    const Json drawn = section(page, "Predicted effects against measurements");
    EXPECT_EQ(drawn["labels"], Json({"p.[Trp10Asp;Gly12Asp]", "p.Gly12Asp"}));
    EXPECT_EQ(drawn["group"]["values"], Json({2, 1}));
    run.add("listed.csv",
            "wildtype,site,mutant,y,prediction_epistatic,prediction_independent\n"
            "W,10,D,1,-3,-1\nG,12,D,2,-1,-1\n");
    EXPECT_EQ(section(drawn_run(run.path()), "Predicted effects against measurements")["labels"],
              Json({"W10D", "G12D"}));
    run.add("listed.csv", "mutant,prediction_epistatic,prediction_independent,y\nW10D,1,-3,-1\n");
    EXPECT_TRUE(section(drawn_run(run.path()), "Listed mutants").is_null());
}

TEST(Mutants, DrawsWeightsOfAStructure) {
    SmallRun run;
    const std::string head = kSingles;
    run.add("singles.tsv", head.substr(0, head.size() - 1) + "\tprediction_weighted\n" +
                               "A_1\tW10D\t10\tW\tD\t0.1\t0.5\t-3\t-1\t1\t50\t-6\n"
                               "A_1\tG12D\t12\tG\tD\t0.1\t0.5\t-1\t-1\t3\t50\t-1.5\n");
    run.add("positions.tsv",
            "segment\tpos\twt\tcolumn\tmean_epistatic\taccessibility\tburial_weight\n"
            "A_1\t10\tW\t1\t-3\t0.25\t2\nA_1\t12\tG\t3\t-1\tNA\t1.5\n");
    run.add("listed.csv",
            "mutant,y,prediction_epistatic,prediction_independent,prediction_percentile,"
            "prediction_z,prediction_conservation,prediction_weighted,prediction_problem\n"
            "W10D,1,-3,-1,50,0,-4,-6,\nG12D,2,-1,-1,50,0,-1,-1.5,\n");
    run.add("correlations.tsv",
            "column\tcount\tspearman_epistatic\tspearman_independent\tspearman_conservation\t"
            "spearman_weighted\ny\t2\t0.5\t0.4\t0.55\t0.6\n");
    const Json page = drawn_run(run.path());
    const Json map = section(page, "Effects of single mutants");
    EXPECT_EQ(map["layers"][1]["name"], "effect weighted by burial and conservation");
    EXPECT_EQ(map["layers"].size(), 5U);  // without columns that have no numbers
    EXPECT_EQ(section(page, "Relative accessibility by residue")["series"][0]["values"],
              Json({0.25, nullptr}));
    const Json weighted = section(page, "Weighted effects against measurements");
    EXPECT_EQ(weighted["columns"][1]["values"], Json({-6.0, -1.5}));
    EXPECT_EQ(weighted["correlations"][0]["text"], "Spearman's rank correlation 0.600 (2 mutants)");
    EXPECT_EQ(section(page, "Predicted effects against measurements")["correlations"][0]["text"],
              "Spearman's rank correlation 0.500 (2 mutants)");
}

TEST(Mutants, NamesTheResidueWithTheLowestMeanInTheHeadline) {
    const Json results = {
        {"singles", 38}, {"residues", 2}, {"first_number", 10}, {"effective_sequences", 12.345}};
    SmallMutants run(Json{{"results", results}});
    Json drawn = drawn_run(run.path());
    EXPECT_EQ(drawn["headline"]["sentence"],
              "W10 tolerates mutations least: their mean effect is -2.00.");
    ASSERT_EQ(drawn["headline"]["tiles"].size(), 3U);
    EXPECT_EQ(drawn["headline"]["tiles"][0]["value"], "-2.00");
    EXPECT_EQ(drawn["headline"]["tiles"][1]["value"], "12.3");
    run.add("correlations.tsv",
            "column\tcount\tspearman_epistatic\tspearman_independent\ny\t12\t0.53911\t0.4\n");
    drawn = drawn_run(run.path());
    EXPECT_EQ(
        drawn["headline"]["tiles"][1],
        Json({{"value", "0.539"}, {"label", "rank correlation with y; independent model 0.400"}}));
}

TEST(Mutants, LeavesResiduesWithoutAMeanOutOfTheHeadline) {
    const Json results = {{"singles", 38}, {"residues", 2}, {"first_number", 10}};
    SmallMutants run(Json{{"results", results}});
    const std::string head = "segment\tpos\twt\tcolumn\tmean_epistatic\nA_1\t10\tW\t1\tNA\n";
    run.add("positions.tsv", head + "A_1\t11\tA\t2\t0.5\nA_1\t12\tG\t3\t-0.5\n");
    Json drawn = drawn_run(run.path());
    EXPECT_EQ(drawn["headline"]["sentence"],
              "G12 tolerates mutations least: their mean effect is -0.50.");
    EXPECT_EQ(drawn["headline"]["tiles"][0]["value"], "-0.50");
    run.add("positions.tsv", head);
    drawn = drawn_run(run.path());
    EXPECT_EQ(drawn["headline"]["sentence"], "38 single mutants of 2 residues.");
    EXPECT_EQ(drawn["headline"]["tiles"].size(), 1U);
}

TEST(Mutants, ATableOfAnotherKindIsATable) {
    SmallRun run;
    run.add("singles.tsv", "pos\tx\n1\t2\n");
    EXPECT_EQ(section(drawn_run(run.path()), "Singles")["kind"], "table");
}

}  // namespace

}  // namespace pleat::report

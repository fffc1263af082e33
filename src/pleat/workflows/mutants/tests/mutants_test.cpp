// Mutants: tables that come back, numbers of residues, and predictions for rows.
#include "pleat/workflows/mutants/mutants.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <sstream>

#include "pleat/bio/input/byte_source.h"
#include "pleat/bio/structure/known_structure.h"
#include "pleat/core/error.h"
#include "pleat/core/tests/data_folders.h"
#include "pleat/core/tests/temporary_folder.h"
#include "pleat/couplings/files/model_file.h"
#include "pleat/workflows/mutants/output.h"
#include "pleat/workflows/mutants/predictor.h"
#include "pleat/workflows/mutants/region.h"
#include "small_model.h"

namespace pleat::mutants {
namespace {

using testing::refusal;
using testing::small_model;

/// The row "ACD-KWYV" has residues 5 to 11.
Result run_table(const std::string& text, const Parameters& parameters = {}) {
    const MutantTable table = parse_mutant_table("scan.csv", text);
    return run({.model = small_model("ACD-KWYV", true, 1), .table = &table}, parameters, {});
}

TEST(MutantTable, FindsSeparatorColumnsAndNumbers) {
    const MutantTable table =
        parse_mutant_table("x", "mutant;DMS_score;note\nA5G;0.5;\"a;b\"\nwt;;x\n");
    EXPECT_EQ(table.separator, ';');
    EXPECT_EQ(table.names, (std::vector<std::string>{"mutant", "DMS_score", "note"}));
    ASSERT_EQ(table.rows.size(), 2u);
    EXPECT_EQ(table.rows[0].mutant, "A5G");
    EXPECT_EQ(table.number_names, (std::vector<std::string>{"DMS_score"}));
    EXPECT_EQ(table.numbers[0][0], 0.5);
    EXPECT_TRUE(std::isnan(table.numbers[0][1]));
}

TEST(MutantTable, PutsScoresBeforeOtherNumbersAndLeavesPositionsOut) {
    const MutantTable table = parse_mutant_table(
        "x", "Position,mutant,count,score,index,DMS_score\n5,A5G,10,0.5,1,0.25\n");
    EXPECT_EQ(table.number_names, (std::vector<std::string>{"DMS_score", "score", "count"}));
    EXPECT_EQ(table.numbers[0][0], 0.25);
}

TEST(MutantTable, RefusesBrokenTables) {
    const auto told = [](const std::string& text) {
        return refusal([&] { parse_mutant_table("x", text); });
    };
    EXPECT_EQ(told(""), "x:1: expected a header with column names, found an empty line");
    EXPECT_EQ(told("\nA5G\n"), "x:1: expected a header with column names, found an empty line");
    EXPECT_EQ(told("mutant,,b\n1,2,3\n"),
              "x:1: expected a name for each column in the header, found one without");
    EXPECT_EQ(told("mutant,b,b\n1,2,3\n"),
              "x:1: expected columns of different names, found 'b' twice");
    EXPECT_EQ(told("a,b\n1,2\n"),
              "x:1: expected a column 'mutant' or 'mutated_sequence', found 'a,b'");
    EXPECT_EQ(told("mutant,b\nA5G\n"), "x:2: expected 2 cells as in the header, found 1");
    EXPECT_EQ(told("mutant,b\n"), "x:1: expected mutants below the header, found none");
}

TEST(MutantTable, ReadsMutantsInThreeColumns) {
    for (const char* header : {"wt_aa,position,mt_aa,EVE_scores_ASM", "wildtype,site,mutant,effect",
                               "wildtype,site,mutation,effect", "wt,pos,subs,score"}) {
        const MutantTable table =
            parse_mutant_table("x", std::string(header) + "\nA,5,G,0.25\nAla,5,Cys,1\n");
        EXPECT_EQ(table.rows[0].mutant, "A5G") << header;
        EXPECT_EQ(table.rows[1].mutant, "Ala5Cys") << header;
        EXPECT_EQ(table.number_names.size(), 1u) << "positions are no measurement";
    }
    // Whole mutants beside their sites, with a word for the target.
    const MutantTable named =
        parse_mutant_table("x", "wildtype,site,mutation,y\nA,5,A5G,1\nA,5,wt,0\n");
    EXPECT_EQ(named.rows[0].mutant, "A5G");
    EXPECT_EQ(named.rows[1].mutant, "wt");
    // Cells that are empty, or a word when joined, are never the target.
    const Result odd = run_table("wt,pos,subs,y\nA,5,G,1\n,,,2\nW,,T,3\nwi,l,d,4\n-,-,-,5\n");
    EXPECT_EQ(odd.listed_with(Problem::not_a_mutant), 4);
    EXPECT_EQ(odd.listed_with(Problem::none), 1);
    // With a column of mutants the others are only data.
    const MutantTable whole = parse_mutant_table("x", "mutant,pos,wt,subs\nA5G,5,A,G\n");
    EXPECT_EQ(whole.rows[0].mutant, "A5G");
    EXPECT_TRUE(whole.number_names.empty()) << "positions are no measurement";
}

TEST(Mutants, ReadsTablesOfOtherProjects) {
    // EVcouplings, EVE, MERGE, MaveDB, ProteinGym.
    for (const char* text :
         {"# Reference\n#\nmutant,linear\nA5G,1\n",
          "protein_name,mutations,ClinVar_labels\nP,A5G,0.0\n", "# dE\nvariant;y\nA5G,C6D;0.05\n",
          ("accession,hgvs_nt,hgvs_splice,hgvs_pro,score\nu#1,NA,NA,p.Ala5Gly,2\n"
           "u#2,NA,NA,p.(=),0\nu#3,NA,NA,_sy,0\n"),
          "mutant,mutated_sequence,DMS_score,DMS_score_bin\nA5G,GCDKWYV,0.5,1\n",
          "variant,hgvs_pro,score\n1,p.Ala5Gly,2\n2,p.Cys6Asp,1\n",
          "variant,mutated_sequence,score\nv1,GCDKWYV,2\n"}) {
        const Result result = run_table(text);
        EXPECT_EQ(result.listed_with(Problem::none), std::ssize(result.listed)) << text;
    }
}

TEST(Mutants, NumbersOfAModelMayHaveHoles) {
    // A model of plmc whose numbers of columns, 1 to 8 of LKFLVVDD, are replaced.
    const std::filesystem::path made = test::committed_oracles("mutants") / "cheY_plmc.params.gz";
    std::string bytes(std::size_t{1} << 20, '\0');
    bytes.resize(ByteReader(made).read(bytes.data(), bytes.size()));
    std::int32_t head[4];  // columns, letters, sequences, those left out
    std::memcpy(head, bytes.data(), sizeof head);
    const std::size_t numbers = 40 + head[1] + 4 * (head[2] + head[3]) + head[0];
    const std::int32_t with_holes[] = {5, 6, 7, 8, 11, 12, 13, 14};
    std::memcpy(bytes.data() + numbers, with_holes, sizeof with_holes);
    const test::TemporaryFolder folder;
    std::ofstream(folder / "holes.params", std::ios::binary) << bytes;
    const auto table = [](const char* text) { return parse_mutant_table("x", text); };
    const MutantTable plain = table("mutant\nL1G\nV5A\nV6A\nD8C\n"),
                      shifted = table("mutant\nL5G\nV11A\nG9A\nD14C\n");
    const Result original =
        run({.model = couplings::read_saved_model(made), .table = &plain}, {}, {});
    const couplings::SavedModel saved = couplings::read_saved_model(folder / "holes.params");
    const Result result = run({.model = saved, .table = &shifted}, {}, {});
    EXPECT_EQ(result.singles.back().number, 14);
    EXPECT_EQ(result.listed[2].problem, Problem::outside);
    for (const std::size_t n : {0u, 1u, 3u})
        EXPECT_EQ(result.listed[n].epistatic, original.listed[n].epistatic) << n;
    // The whole sequence fills the hole; its residues have no columns.
    const Result whole = run({.model = saved,
                              .target = NamedSequence{"t", "t/1-16", "MMMMLKFLGGVVDDAA"},
                              .table = &shifted},
                             {}, {});
    for (const std::size_t n : {0u, 1u, 3u})
        EXPECT_EQ(whole.listed[n].epistatic, result.listed[n].epistatic) << n;
    EXPECT_EQ(whole.listed[2].problem, Problem::outside);
}

TEST(Mutants, TakesSequencesInPlaceOfMutants) {
    const std::string row = "ACDKWYVACDEFGHIKLMNPQ", rest = row.substr(4);
    const MutantTable table = parse_mutant_table(
        "x", "mutant,y\nGCDK" + rest + ",1\n" + row + ",2\n" + row.substr(1) + ",3\nGCDR" + rest +
                 ",4\nsynonymous,5\nframeshift,6\nthewholeproteinisgone,7\n");
    const Result result = run({.model = small_model(row, true, 1), .table = &table}, {}, {});
    const MutantTable same = parse_mutant_table("x", "mutant,y\nA5G,1\nwt,2\n1,3\nA5G:K8R,4\n");
    const Result other = run({.model = small_model(row, true, 1), .table = &same}, {}, {});
    for (const std::size_t n : {0u, 1u, 3u})
        EXPECT_EQ(result.listed[n].epistatic, other.listed[n].epistatic) << n;
    EXPECT_EQ(result.listed[2].problem, Problem::other_length);
    for (const std::size_t n : {4u, 5u, 6u})
        EXPECT_EQ(result.listed[n].problem, Problem::not_a_mutant) << n;
    EXPECT_NE(result.notes.back().text.find("1 of 7 mutants are sequences of another length"),
              std::string::npos);
}

TEST(MutantTable, IsToldFromAListOfInputs) {
    EXPECT_TRUE(is_mutant_table("mutant,score\nA5G,1\n"));
    EXPECT_TRUE(is_mutant_table("mutated_sequence\tscore\n"));
    EXPECT_FALSE(is_mutant_table("alignment\tmutants\nfamily.a3m\tscan.csv\n"));
    EXPECT_FALSE(is_mutant_table("family.a3m\nother.a3m\n"));
}

TEST(Mutants, ReadsBothWaysOfWritingMutants) {
    std::vector<Substitution> found;
    for (const char* text : {"A24G,K30R", "A24G:K30R", " a24g : k30r "}) {
        ASSERT_TRUE(parse_mutant(text, found)) << text;
        ASSERT_EQ(found.size(), 2u);
        EXPECT_EQ(found[0].wild_type, 'A');
        EXPECT_EQ(found[0].number, 24);
        EXPECT_EQ(found[1].letter, 'R');
    }
    for (const char* text : {"wt", "wild", "WT", "_wt", ""}) {
        EXPECT_TRUE(parse_mutant(text, found)) << text;
        EXPECT_TRUE(found.empty());
    }
    for (const char* text : {"A", "AG", "24", "A24", "A24G:", "p.Ala24Xyz", "A24G:K",
                             "A9223372036854775807G", "A99999999999999999999G"})
        EXPECT_FALSE(parse_mutant(text, found)) << text;
}

TEST(Mutants, ReadsHgvs) {
    std::vector<Substitution> found;
    for (const char* text : {"p.Ala24Gly", "p.(Ala24Gly)", "NP_1.2:p.Ala24Gly", "Ala24Gly"}) {
        ASSERT_TRUE(parse_mutant(text, found)) << text;
        EXPECT_EQ(found, (std::vector<Substitution>{{'A', 'G', 24}})) << text;
    }
    ASSERT_TRUE(parse_mutant("p.[Ala24Gly;Lys30Arg]", found));
    EXPECT_EQ(found, (std::vector<Substitution>{{'A', 'G', 24}, {'K', 'R', 30}}));
    ASSERT_TRUE(parse_mutant("p.Ile130=", found));
    EXPECT_EQ(found, (std::vector<Substitution>{{'I', 'I', 130}}));
    ASSERT_TRUE(parse_mutant("p.Ile130Ter", found));
    EXPECT_EQ(found.front().letter, '*');
    EXPECT_TRUE(parse_mutant("p.=", found));
    EXPECT_TRUE(found.empty());
}

TEST(MutantTable, PassesOverCommentsAndAnIndexWithoutAName) {
    const std::string text = "# growth, two replicates\nmutant;score\nK2R;0.1\nL4A;-0.4\n";
    EXPECT_TRUE(is_mutant_table(text));
    const MutantTable commented = parse_mutant_table("x", text);
    ASSERT_EQ(commented.rows.size(), 2u);
    EXPECT_EQ(commented.rows[1].mutant, "L4A");
    EXPECT_EQ(commented.rows[1].line, 4);
    const MutantTable indexed =
        parse_mutant_table("x", ",mutations,score\n0,K2R,0.1\n1,L4A,-0.4\n");
    EXPECT_EQ(indexed.rows[0].mutant, "K2R");
    EXPECT_EQ(indexed.number_names, (std::vector<std::string>{"score"}));
    EXPECT_EQ(parse_mutant_table("x", "hgvs_nt,hgvs_pro\nc.1,p.Ala5Gly\n").rows[0].mutant,
              "p.Ala5Gly");
}

TEST(Mutants, PredictsSinglesAndMultiplesOfATable) {
    const Result result =
        run_table("mutant,x\nA5G,1\nwt,2\nA5G:V11L,3\n\"A5G,V11L\",3\nV11L,4\nA5A,5\n");
    ASSERT_EQ(result.listed.size(), 6u);
    for (const Listed& one : result.listed) EXPECT_EQ(one.problem, Problem::none);
    const auto single = [&](char wild_type, Index number, char letter) -> const Single& {
        for (const Single& one : result.singles)
            if (one.number == number && one.letter == letter && one.wild_type == wild_type)
                return one;
        throw std::out_of_range("no such single mutant");
    };
    EXPECT_EQ(result.listed[0].epistatic, single('A', 5, 'G').epistatic);
    EXPECT_EQ(result.listed[0].independent, single('A', 5, 'G').independent);
    EXPECT_EQ(result.listed[0].percentile, single('A', 5, 'G').percentile);
    EXPECT_EQ(result.listed[1].epistatic, 0);
    EXPECT_EQ(result.listed[5].epistatic, 0);
    EXPECT_EQ(result.listed[2].epistatic, result.listed[3].epistatic);
    const EnergyModel energies(small_model("ACD-KWYV", true, 1).model, std::vector<std::uint8_t>(8),
                               1);
    const auto code = [](char c) { return Alphabet::protein().code(c); };
    EXPECT_NEAR(result.listed[2].epistatic,
                result.listed[0].epistatic + result.listed[4].epistatic +
                    energies.epistasis(0, code('A'), code('G'), 7, code('V'), code('L')),
                1e-9);
    EXPECT_NEAR(result.listed[2].independent,
                result.listed[0].independent + result.listed[4].independent, 1e-12);
    ASSERT_EQ(result.correlations.size(), 1u);
    EXPECT_EQ(result.correlations[0].count, 4);  // without the target itself
}

TEST(Mutants, HasAllSinglesOfTheResiduesInAlphabeticalOrder) {
    const Result result = run_table("mutant\nA5G\n");
    ASSERT_EQ(result.singles.size(), 7u * 19);  // the gap has none
    EXPECT_EQ(result.singles[0].letter, 'C');
    EXPECT_EQ(result.singles[18].letter, 'Y');
    EXPECT_EQ(result.singles[19].wild_type, 'C');
    EXPECT_EQ(result.singles.back().number, 11);
    EXPECT_EQ(result.target_gaps, 1);
    EXPECT_EQ(result.positions.size(), 7u);
    EXPECT_EQ(result.logo.size(), 8u * 20);
    double mean = 0;
    for (const Single& one : result.singles) {
        EXPECT_NEAR(one.epistatic, one.couplings + one.fields, 1e-12);
        mean += one.percentile / static_cast<double>(result.singles.size());
    }
    EXPECT_NEAR(mean, 50, 1e-9);
}

TEST(Mutants, SaysWhyARowHasNoPrediction) {
    std::string text = "mutant\n";
    for (int n = 0; n < 60; ++n) text += "K8R\n";  // so that one other letter is below 5 %
    const Result result = run_table(text + "K99R\nA8R\nK8X\nK8-\nK8R:K8A\nwhat\nK8*\n");
    const std::vector<Problem> expected = {Problem::outside,        Problem::other_wild_type,
                                           Problem::unknown_letter, Problem::unknown_letter,
                                           Problem::repeated,       Problem::not_a_mutant,
                                           Problem::unknown_letter};
    for (std::size_t n = 0; n < expected.size(); ++n) {
        EXPECT_EQ(result.listed[60 + n].problem, expected[n]) << n;
        EXPECT_TRUE(std::isnan(result.listed[60 + n].epistatic));
    }
    EXPECT_EQ(result.listed_with(Problem::unknown_letter), 3);
}

TEST(Mutants, RefusesOtherNumbersAndSaysTheShift) {
    const std::string told = refusal([] { run_table("mutant\nA7G\nC8G\nD9G\nK10R\nW11A\n"); });
    EXPECT_EQ(
        told,
        "scan.csv: expected the wild-type letters of 'row/5-99', found other letters in 5 of 5 "
        "substitutions; numbers shifted by -2 would agree in 5 of 5 (--first-number 7); "
        "--target gives the sequence that the numbers count");
    EXPECT_NE(
        refusal([] { run_table("mutant\nA305G\nC306G\n"); })
            .find("found no residue of numbers 5 to 11; numbers shifted by -300 would agree in "
                  "2 of 2 (--first-number 305)"),
        std::string::npos);
    Parameters parameters;
    parameters.first_number = 7;
    EXPECT_EQ(run_table("mutant\nA7G\nC8G\n", parameters).listed_with(Problem::none), 2);
}

TEST(Mutants, CountsFromOneIfTheLettersAgreeWithThat) {
    const Result result = run_table("mutant\nA1G\nC2G\n");
    EXPECT_EQ(result.target.first_number, 1);
    EXPECT_EQ(result.listed_with(Problem::none), 2);
    ASSERT_EQ(result.notes.size(), 1u);
}

TEST(Mutants, TakesSequencesOfMutants) {
    const Result result =
        run_table("mutated_sequence,y\nGCDKWYV,1\nACDKWYV,2\nGCDKWYL,3\nACDKWY,4\nACDKW-V,5\n");
    EXPECT_EQ(result.listed[0].epistatic, run_table("mutant\nA5G\n").listed[0].epistatic);
    EXPECT_EQ(result.listed[1].epistatic, 0);
    EXPECT_EQ(result.listed[2].epistatic, run_table("mutant\nA5G:V11L\n").listed[0].epistatic);
    EXPECT_EQ(result.listed[3].problem, Problem::other_length);
    EXPECT_EQ(result.listed[4].problem, Problem::unknown_letter);
}

TEST(Mutants, ReadTAsUInRna) {
    const MutantTable table = parse_mutant_table("scan.csv", "mutant\nU6A\nT6A\nA5T\n");
    const Result result =
        run({.model = small_model("AUGC", true, 2, Alphabet::rna()), .table = &table}, {}, {});
    EXPECT_EQ(result.singles.size(), 4u * 3);
    EXPECT_EQ(result.listed_with(Problem::none), 3);
    EXPECT_EQ(result.listed[0].epistatic, result.listed[1].epistatic);
}

TEST(Mutants, NumbersByTheSequenceOfATarget) {
    // Residue Q of the protein is not in the row; the protein begins with MM.
    Input input{
        .model = small_model("ACDEFGHIKLMNPQRSTV-WYACD", true, 3),
        .target = NamedSequence{"protein.fasta", "protein/10-40", "MMACDEFGHIKLMNPGQRSTVWYACDMM"}};
    const Result result = run(std::move(input), {}, {});
    EXPECT_EQ(result.singles.front().number, 12);
    EXPECT_EQ(result.singles.front().wild_type, 'A');
    EXPECT_EQ(result.singles.back().number, 35);  // one more than by the row
    EXPECT_EQ(result.singles.back().wild_type, 'D');
    const std::string told = refusal([] {
        run({.model = small_model("ACDEFGHIKLMNPQRSTV-WYACD", true, 3),
             .target = NamedSequence{"other.fasta", "other", "WWWWPPPPYYYYHHHHCCCC"}},
            {}, {});
    });
    EXPECT_EQ(told.find("other.fasta: expected the sequence of row 'row/5-99', found one with "),
              0u)
        << told;
}

TEST(Mutants, KeepsTheTextOfATable) {
    const std::string text =
        "\xef\xbb\xbfmutant,\"my, score\",note\r\nA5G, 0.50 "
        ",\"two\nlines\"\r\nwild,NA,\r\nK8R,1e-3,x";
    const MutantTable table = parse_mutant_table("scan.csv", text);
    const test::TemporaryFolder folder;
    RunDirectory run_folder({.path = folder / "run", .command = "mutants"});
    const Result result = run({.model = small_model("ACD-KWYV", true, 1), .table = &table}, {}, {});
    couplings::ModelDescription about;
    about.alphabet = &Alphabet::protein();
    write_results(run_folder, {result, about, &table}, 2);
    run_folder.finish();
    std::ifstream file(folder / "run" / "listed.csv", std::ios::binary);
    std::stringstream written;
    written << file.rdbuf();
    // Without the appended cells it is the table, byte for byte.
    std::string rest = written.str();
    const auto drop = [&](const std::string& added) {
        const std::size_t at = rest.find(added);
        ASSERT_NE(at, std::string::npos) << added << " in " << written.str();
        rest.erase(at, added.size());
    };
    drop(
        ",prediction_epistatic,prediction_independent,prediction_percentile,prediction_z,"
        "prediction_conservation,prediction_weighted,prediction_problem");
    for (const Listed& one : result.listed)
        drop(fmt::format(",{:.5f},{:.5f},{:.2f},{:.3f},{:.5f},NA,", one.epistatic, one.independent,
                         one.percentile, one.z, one.conserved));
    EXPECT_EQ(rest, text);
}

TEST(Mutants, ComputesSequencesInTheColumns) {
    const couplings::SavedModel saved = small_model("ACD-KWYV", true, 1);
    const auto energies_of = [&](const std::string& text, bool align = false) {
        const SequenceFile file = parse_sequences("designs.fa", text);
        Parameters parameters;
        parameters.align = align;
        return run({.model = saved, .sequences = &file}, parameters, {}).sequences;
    };
    const auto rows = energies_of(">a\nACD-KWYV\n>b\nGCD-KWYV\n>c x\nACD-KW-V\n");
    EXPECT_EQ(rows[0].effect, 0);
    EXPECT_EQ(rows[2].name, "c");
    EXPECT_EQ(rows[2].gaps, 2);
    EXPECT_NEAR(rows[1].effect, run_table("mutant\nA5G\n").listed[0].epistatic, 1e-9);
    const auto inserted = energies_of(">a\nACDmm-KWYVp\n>b\n..GCD-KWYV\n");
    EXPECT_EQ(inserted[0].inserted, 3);
    EXPECT_EQ(inserted[0].energy.full, rows[0].energy.full);
    EXPECT_EQ(inserted[1].energy.full, rows[1].energy.full);
    const SequenceEnergy unknown = energies_of(">a\nXCD-KWYV\n")[0];
    EXPECT_EQ(unknown.inserted, 0);
    EXPECT_EQ(unknown.gaps, 2);
    const std::string told = refusal([&] { energies_of(">a\nACD-KWYV\n>b\nACDKWYV\n"); });
    EXPECT_EQ(told,
              "designs.fa:3: expected rows of 8 columns like the family, found 7 in 'b'; --align "
              "aligns sequences to the family's profile");
    EXPECT_EQ(energies_of(">a\nACDEFGHIK\n", true).size(), 1u);
}

TEST(Mutants, AlignsSequencesToTheProfile) {
    couplings::SavedModel saved = small_model("ACDEFGHIKLMN", true, 1);
    // Each column nearly always has the letter of the row.
    saved.about.frequencies.fill(0.001);
    for (Index i = 0; i < 12; ++i)
        saved.about.frequencies(i, Alphabet::protein().code(saved.about.reference[i])) = 0.98;
    const SequenceFile file =
        parse_sequences("x", ">whole\nWWACDEFGHIKLMNWW\n>part\nACDEFWWWGHIKLMN\n>little\nACD\n");
    Parameters parameters;
    parameters.align = true;
    const Result result = run({.model = saved, .sequences = &file}, parameters, {});
    EXPECT_TRUE(result.sequences_are_aligned);
    EXPECT_NEAR(result.sequences[0].effect, 0, 1e-9);
    EXPECT_EQ(result.sequences[0].inserted, 4);
    EXPECT_NEAR(result.sequences[1].effect, 0, 1e-9);
    EXPECT_EQ(result.sequences[1].inserted, 3);
    EXPECT_EQ(result.sequences[2].problem, Problem::low_coverage);
    EXPECT_TRUE(std::isnan(result.sequences[2].energy.full));
}

TEST(Mutants, GivesEpistasisOfARegion) {
    Parameters parameters;
    parameters.doubles = "5-6,8";
    const Result result = run({.model = small_model("ACD-KWYV", true, 1)}, parameters, {});
    ASSERT_EQ(result.doubles.columns, (std::vector<Index>{0, 1, 4}));
    const EnergyModel energies(small_model("ACD-KWYV", true, 1).model, std::vector<std::uint8_t>(8),
                               1);
    const auto code = [](char c) { return Alphabet::protein().code(c); };
    EXPECT_NEAR(result.doubles.epistasis(1, code('G'), code('R')),
                energies.epistasis(0, code('A'), code('G'), 4, code('K'), code('R')), 1e-6);
    EXPECT_EQ(result.doubles.epistasis(0, code('A'), code('R')), 0);
    for (const char* region : {"x", "5-", "9-5", "5,,6"}) {
        parameters.doubles = region;
        EXPECT_NE(refusal([&] {
                      run({.model = small_model("ACD-KWYV", true, 1)}, parameters, {});
                  }).find("give --doubles as ranges"),
                  std::string::npos)
            << region;
    }
    parameters.doubles = "300-400";
    EXPECT_NE(refusal([&] { run({.model = small_model("ACD-KWYV", true, 1)}, parameters, {}); })
                  .find("give --doubles residues in the columns of the model, which has residues 5 "
                        "to 11, not '300-400'"),
              std::string::npos);
}

TEST(Mutants, SaysWhichResiduesOfARegionHaveNoColumn) {
    Parameters parameters;
    const auto note = [&](const std::string& region) {
        parameters.doubles = region;
        return run({.model = small_model("ACD-KWYV", true, 1)}, parameters, {}).notes.front().text;
    };
    EXPECT_FALSE(note("5-11").starts_with("residues "));
    EXPECT_EQ(note("1-6,9"),
              "residues 1-6 of --doubles: 2 of them, from 5 to 6, are in the columns of the model; "
              "the others are left out");
    EXPECT_NE(refusal([&] { note("5-6,12"); }).find("to 11, not '12'"), std::string::npos);
    EXPECT_TRUE(note("-9223372036854775808-9223372036854775807").starts_with("residues "));
}

TEST(CheckInput, RefusesBeforeAFitWhatTheEffectsWouldRefuse) {
    const auto refused = [](const std::string& table, const std::string& rows,
                            const std::string& doubles) {
        std::optional<MutantTable> mutants;
        std::optional<SequenceFile> sequences;
        if (!table.empty()) mutants = parse_mutant_table("scan.csv", "mutant\n" + table);
        if (!rows.empty()) sequences = parse_sequences("rows.fasta", rows);
        Parameters parameters;
        parameters.doubles = doubles;
        check_input({.model = {.model = {}, .about = small_model("ACD-KWYV", true, 1).about},
                     .table = mutants ? &*mutants : nullptr,
                     .sequences = sequences ? &*sequences : nullptr},
                    parameters);
    };
    refused("A5C\nD7A\n", ">a\nACDEKWYV\n", "5-7");
    EXPECT_NE(
        refusal([&] { refused("W5C\nW7A\n", "", ""); }).find("expected the wild-type letters"),
        std::string::npos);
    EXPECT_NE(refusal([&] { refused("", ">a\nACDE\n", ""); }).find("expected rows of 8 columns"),
              std::string::npos);
    EXPECT_NE(refusal([&] { refused("", "", "30"); }).find("to 11, not '30'"), std::string::npos);
}

TEST(EffectRanks, GiveEqualEffectsTheMiddle) {
    const EffectRanks ranks({-3, -1, -1.00001, 0});
    EXPECT_DOUBLE_EQ(ranks.percentile(-3), 12.5);
    EXPECT_DOUBLE_EQ(ranks.percentile(-1), 50);
    EXPECT_DOUBLE_EQ(ranks.percentile(-1.00001), 50);
    EXPECT_DOUBLE_EQ(ranks.percentile(5), 100);
    Index count = 0;
    EXPECT_DOUBLE_EQ(rank_correlation({1, 2, 3, NAN}, {10, 30, 20, 5}, count), 0.5);
    EXPECT_EQ(count, 3);
    EXPECT_TRUE(std::isnan(rank_correlation({1, 2, 3}, {4, 4, 4}, count)));
}

TEST(Target, ReadsTheStartOfARange) {
    EXPECT_EQ(start_in_name("DLG4_RAT/313-391"), 313);
    EXPECT_EQ(start_in_name("a/b/2-3"), 2);
    for (const char* name : {"DLG4_RAT", "x/313", "x/313-", "x/9-3", "x/a-3", "x/3-4b"})
        EXPECT_FALSE(start_in_name(name)) << name;
}

TEST(Target, DoubtsNumbersOfARowOfAnotherLengthThanItsName) {
    couplings::SavedModel saved = small_model("ACD-KWYV", true, 1);
    const auto notes = [&](const Parameters& parameters = {}) {
        return run({.model = saved}, parameters, {}).notes;
    };
    const std::string doubt =
        "'row/5-99' has 7 residues, but its name counts 95: numbers after residues that are "
        "missing are wrong unless the target's whole sequence is given";
    EXPECT_EQ(notes(), (Notes{{NoteKind::assumption, doubt}}));
    Parameters numbered;
    numbered.first_number = 20;
    EXPECT_TRUE(notes(numbered).empty());
    saved.about.reference_name = "row/5-11";
    EXPECT_TRUE(notes().empty());
    saved.about.reference_name = "row";
    EXPECT_TRUE(notes().empty());
}

}  // namespace
}  // namespace pleat::mutants

// Oracle: plmc's models and measured scans in ../shared, if it is there.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

#include "pleat/bio/alignment/filter.h"
#include "pleat/bio/alignment/read_alignment.h"
#include "pleat/bio/structure/known_structure.h"
#include "pleat/core/files/text.h"
#include "pleat/core/tests/data_folders.h"
#include "pleat/workflows/mutants/mutants.h"
#include "pleat/workflows/mutants/predictor.h"

namespace pleat::mutants {
namespace {

/// {column: cells} of a table with tabs.
std::map<std::string, std::vector<std::string>> read_columns(const std::filesystem::path& path) {
    std::ifstream file(path);
    std::string line;
    std::vector<std::string> names;
    std::map<std::string, std::vector<std::string>> columns;
    while (std::getline(file, line)) {
        const std::vector<std::string> cells = split_cells(line);
        if (names.empty()) {
            names = cells;
            continue;
        }
        for (std::size_t n = 0; n < cells.size(); ++n) columns[names[n]].push_back(cells[n]);
    }
    return columns;
}

std::vector<double> numbers(const std::vector<std::string>& cells) {
    std::vector<double> values;
    values.reserve(cells.size());
    for (const std::string& cell : cells)
        values.push_back(cell == "NA" ? std::nan("") : std::stod(cell));
    return values;
}

std::filesystem::path shared_mutants() { return test::shared_folder() / "data/mutants"; }

/// A fit with the default options and all that goes with it, as the program makes it.
couplings::SavedModel fit(const std::filesystem::path& path, double min_coverage = 0) {
    const Alignment source =
        read_alignment(path, {.format = {}, .alphabet = {}, .keep_full_rows = true});
    const Alignment alignment = filter(source, {1.0, min_coverage});
    couplings::Result result = couplings::run(alignment, {}, {});
    const ReferenceRow reference = make_reference_row(source, 0);
    return {std::move(result.model), couplings::describe(alignment, result.weights, reference)};
}

/// Effects by sums in float64 over a model of plmc, as it is stored.
TEST(MutantsOracle, AgreesWithSumsOverAModelOfPlmc) {
    const std::filesystem::path folder = test::committed_oracles("mutants");
    const auto singles = read_columns(folder / "cheY_singles.tsv");
    const auto doubles = read_columns(folder / "cheY_doubles.tsv");
    std::string text = "mutant\n";
    for (const std::string& mutant : doubles.at("mutant")) text += mutant + "\n";
    const MutantTable table = parse_mutant_table("doubles", text);
    const Result result =
        run({.model = couplings::read_saved_model(folder / "cheY_plmc.params.gz"), .table = &table},
            {}, {});
    EXPECT_EQ(result.target.sequence, "LKFLVVDD");
    ASSERT_EQ(result.singles.size(), singles.at("mutant").size());
    const auto full = numbers(singles.at("full")), alone = numbers(singles.at("independent"));
    const auto frequency = numbers(singles.at("frequency"));
    for (std::size_t n = 0; n < full.size(); ++n) {
        const Single& one = result.singles[n];
        EXPECT_EQ(one.wild_type + std::to_string(one.number) + one.letter, singles.at("mutant")[n]);
        EXPECT_NEAR(one.epistatic, full[n], 2e-6);
        EXPECT_NEAR(one.independent, alone[n], 1e-5);
        EXPECT_NEAR(one.frequency, frequency[n], 1e-6);
    }
    const auto both = numbers(doubles.at("full"));
    for (std::size_t n = 0; n < both.size(); ++n)
        EXPECT_NEAR(result.listed[n].epistatic, both[n], 4e-6) << doubles.at("mutant")[n];
}

/// A family with a measured scan, and what is expected of it.
struct Scan {
    const char* name;  ///< of the oracle's files
    const char* alignment;
    const char* table;
    const char* measure;  ///< column of the table
    bool has_target;      ///< the residues are not those of the row: see ../shared/design
    const char* structure;
    Index first = 0;     ///< number of the first residue in the columns
    Index compared = 0;  ///< mutants with a measure
    double independent = 0, weighted = 0;
};

constexpr Scan kScans[] = {
    {"PABP", "PF00076_PABP_YEAST_126-200.a2m.gz", "PABP_YEAST_Fields2013-singles.csv", "log", false,
     "PABP_YEAST.pdb.gz", 128, 1107, 0.439, 0.565},
    {"PDZ3", "PF00595_DLG4_RAT_313-391.fasta.gz", "DLG4_RAT_Ranganathan2012.csv", "CRIPT", true,
     "DLG4_RAT.pdb.gz", 314, 1425, 0.424, 0.545}};

/// The protein as the wild-type letters of a table spell it.
NamedSequence spelled(const MutantTable& table) {
    std::map<Index, char> letters;
    for (const auto& [one, times] : listed_letters(table)) letters[one.number] = one.letter;
    NamedSequence found{"spelled", "", {}};
    for (const auto& [number, letter] : letters) found.letters += letter;
    found.name = fmt::format("spelled/{}-{}", letters.begin()->first, letters.rbegin()->first);
    return found;
}

/// Fits families with the default options, and compares effects with scans and with plmc.
TEST(MutantsOracle, AgreesWithScansAndWithPlmc) {
    if (!std::filesystem::exists(shared_mutants()))
        GTEST_SKIP() << "without " << shared_mutants().string() << " no scan is compared";
    for (const Scan& scan : kScans) {
        SCOPED_TRACE(scan.name);
        const MutantTable table = read_mutant_table(shared_mutants() / scan.table);
        Input input{.model = fit(shared_mutants() / scan.alignment), .table = &table};
        if (scan.has_target) input.target = spelled(table);
        std::optional<TargetStructure> structure;
        const std::filesystem::path file =
            test::shared_folder() / "data/mutants_structure" / scan.structure;
        if (std::filesystem::exists(file)) structure = read_target_structure(file.string());
        input.structure = structure ? &*structure : nullptr;
        const Result result = run(std::move(input), {}, {});
        EXPECT_EQ(result.singles.front().number, scan.first);
        EXPECT_EQ(result.listed_with(Problem::other_wild_type), 0);
        for (const Correlation& one : result.correlations) {
            if (one.name != scan.measure) continue;
            EXPECT_EQ(one.count, scan.compared);
            EXPECT_GE(one.epistatic, 0.535);
            EXPECT_NEAR(one.independent, scan.independent, 0.005);
            if (structure) {
                EXPECT_NEAR(one.weighted, scan.weighted, 0.005);
            }
        }
        const auto oracle = read_columns(test::shared_folder() / "oracle/mutants" /
                                         (std::string(scan.name) + "_singles.tsv"));
        std::map<std::string, double> by_name;
        for (const Single& one : result.singles)
            by_name[one.wild_type + std::to_string(one.number) + one.letter] = one.epistatic;
        const std::vector<double> plmc = numbers(oracle.at("plmc_full"));
        const std::vector<double> earlier = numbers(oracle.at("pleat_full"));
        ASSERT_EQ(by_name.size(), plmc.size());
        std::vector<double> own;
        for (std::size_t n = 0; n < plmc.size(); ++n) {
            own.push_back(by_name.at(oracle.at("mutant")[n]));
            EXPECT_NEAR(own.back(), earlier[n], 5e-3);
        }
        Index count = 0;
        EXPECT_GE(rank_correlation(own, plmc, count), 0.99);
    }
}

/// A scan of ../shared/design/mutants_structure.md with its file names.
struct WeightedScan {
    const char *alignment, *table, *structure, *target;
    double sign, epistatic, weighted;
};

constexpr WeightedScan kWeighted[] = {
    {"PF00018_GRB2_HUMAN_162-207.fasta.gz", "GRB2_HUMAN_Faure_2021.csv", "GRB2_HUMAN.pdb.gz",
     "GRB2_HUMAN.target.fasta", 1, 0.619, 0.624},
    {"MBD11_6acv.fasta.gz", "MBD11_6acv.csv", "MBD11_6acv.pdb.gz", nullptr, -1, 0.696, 0.780},
    {"DYR_ECOLI_1-159.a2m.gz", "DYR_ECOLI_Thompson_plusLon_2019.csv", "DYR_ECOLI.pdb.gz", nullptr,
     1, 0.433, 0.461}};

TEST(MutantsOracle, BurialAndConservationAgreeWithScansAsDesigned) {
    const std::filesystem::path folder = test::shared_folder() / "data/mutants_structure";
    if (!std::filesystem::exists(folder))
        GTEST_SKIP() << "without " << folder.string() << " no scan is compared";
    for (const WeightedScan& scan : kWeighted) {
        SCOPED_TRACE(scan.table);
        const MutantTable table = read_mutant_table(folder / scan.table);
        const TargetStructure structure = read_target_structure((folder / scan.structure).string());
        Input input{
            .model = fit(folder / scan.alignment, 0.5), .table = &table, .structure = &structure};
        if (scan.target != nullptr)
            input.target = only_sequence(read_sequences(folder / scan.target));
        const Correlation found = run(std::move(input), {}, {}).correlations.front();
        EXPECT_NEAR(scan.sign * found.epistatic, scan.epistatic, 0.005);
        EXPECT_NEAR(scan.sign * found.weighted, scan.weighted, 0.005);
    }
}

}  // namespace
}  // namespace pleat::mutants

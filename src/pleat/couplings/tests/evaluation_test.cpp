// Evaluation: exact precisions of made cases, and the published optimum of a real family.
#include "pleat/couplings/contacts/evaluation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <numeric>
#include <sstream>

#include "pleat/bio/alignment/read_alignment.h"
#include "pleat/bio/input/byte_source.h"
#include "pleat/bio/structure/known_structure.h"
#include "pleat/core/array.h"
#include "pleat/core/error.h"
#include "pleat/core/files/npy.h"
#include "pleat/core/tests/data_folders.h"

namespace {

using namespace pleat;
using namespace pleat::couplings;
namespace fs = std::filesystem;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

struct Case {
    explicit Case(Index length)
        : scores(length, length),
          distances(length, length),
          columns(static_cast<std::size_t>(length)) {
        distances.fill(20.0);
        std::iota(columns.begin(), columns.end(), Index{0});
    }
    /// Gives a pair a score and says whether it is a contact. Only the upper half of the scores
    /// is set, for that is all that may be read.
    void pair(Index i, Index j, double score, bool contact) {
        scores(i, j) = score;
        distances(i, j) = distances(j, i) = contact ? 5.0 : 20.0;
    }
    void lose(Index column) {
        for (Index k = 0; k < distances.extent(0); ++k) {
            distances(column, k) = distances(k, column) = kNan;
        }
    }
    ContactEvaluation evaluate() const {
        return couplings::evaluate(scores.view(), distances.view(), columns, 8.0);
    }
    Array<double, 2> scores, distances;
    std::vector<Index> columns;
};

TEST(Evaluation, CountsTheTopOfEachRange) {
    Case c(50);
    // Highest scores of all, but too close in sequence to count.
    for (Index i = 0; i < 44; ++i) c.pair(i, i + 5, 100, true);
    c.pair(0, 6, 9, true);    // short
    c.pair(0, 11, 8, false);  // short
    c.pair(0, 12, 7, true);   // medium
    c.pair(0, 23, 6, true);   // medium
    c.pair(0, 24, 5, false);  // long
    c.pair(0, 49, 4, true);   // long
    const ContactEvaluation evaluation = c.evaluate();
    EXPECT_EQ(evaluation.length, 50);
    EXPECT_EQ(evaluation.evaluated_pairs, 44 * 45 / 2);
    EXPECT_EQ(evaluation.contacts, 4);
    EXPECT_EQ(evaluation.precisions.size(), 20u);

    const RangePrecision& tenth = evaluation.at("all", "L/10");
    EXPECT_EQ(tenth.pairs, 5);
    EXPECT_EQ(tenth.contact_count, 3);
    EXPECT_DOUBLE_EQ(tenth.precision, 0.6);
    EXPECT_EQ(evaluation.at("all", "L/5").pairs, 10);
    EXPECT_EQ(evaluation.at("all", "L/5").contact_count, 4);
    EXPECT_EQ(evaluation.at("all", "L/2").pairs, 25);
    EXPECT_EQ(evaluation.at("all", "L").pairs, 50);
    EXPECT_EQ(evaluation.at("all", "2L").pairs, 100);
    EXPECT_DOUBLE_EQ(evaluation.at("all", "2L").precision, 0.04);
    EXPECT_EQ(evaluation.at("short", "L/10").contact_count, 1);
    EXPECT_EQ(evaluation.at("medium", "L/10").contact_count, 2);
    EXPECT_EQ(evaluation.at("long", "L/10").contact_count, 1);
    EXPECT_THROW(evaluation.at("all", "3L"), UsageError);
}

TEST(Evaluation, RoundsDepthsDownToOneOrMore) {
    Case c(9);
    c.pair(0, 8, 1, true);
    const ContactEvaluation evaluation = c.evaluate();
    EXPECT_EQ(evaluation.at("all", "L/10").pairs, 1);
    EXPECT_DOUBLE_EQ(evaluation.at("all", "L/10").precision, 1.0);
    EXPECT_EQ(evaluation.at("all", "L/2").pairs, 4);
    EXPECT_EQ(evaluation.at("all", "L").pairs, 6) << "there are no more pairs than six";
    EXPECT_DOUBLE_EQ(evaluation.at("all", "L").precision, 1.0 / 6.0);
    EXPECT_EQ(evaluation.at("long", "L").pairs, 0);
    EXPECT_TRUE(std::isnan(evaluation.at("long", "L").precision));
}

TEST(Evaluation, IgnoresColumnsWithoutResidues) {
    Case c(20);
    c.pair(0, 10, 9, false);
    c.pair(1, 11, 8, true);
    c.pair(2, 12, 7, false);
    EXPECT_EQ(c.evaluate().at("all", "L/10").contact_count, 1);
    c.lose(0);
    const ContactEvaluation evaluation = c.evaluate();
    EXPECT_EQ(evaluation.length, 19);
    EXPECT_EQ(evaluation.at("all", "L/10").pairs, 1);
    EXPECT_EQ(evaluation.at("all", "L/10").contact_count, 1);
    EXPECT_EQ(evaluation.evaluated_pairs, 14 * 15 / 2 - 14);
}

TEST(Evaluation, CountsSeparationsInTheSource) {
    Case c(10);
    c.pair(0, 3, 9, true);
    EXPECT_EQ(c.evaluate().contacts, 0);
    // The filter dropped columns 1 to 29 of the source: what was 3 apart is 32 apart.
    for (std::size_t i = 1; i < c.columns.size(); ++i) c.columns[i] += 29;
    const ContactEvaluation evaluation = c.evaluate();
    EXPECT_EQ(evaluation.contacts, 1);
    EXPECT_EQ(evaluation.at("long", "L/10").contact_count, 1);
    EXPECT_EQ(evaluation.at("short", "L/10").contact_count, 0);
}

TEST(Evaluation, KeepsEqualScoresInRowOrderAndExcludesTheCutoff) {
    Case c(10);
    c.pair(0, 6, 1, true);
    c.pair(0, 7, 1, false);
    EXPECT_EQ(c.evaluate().at("all", "L/10").contact_count, 1);
    c.distances(0, 6) = 8.0;
    EXPECT_EQ(c.evaluate().at("all", "L/10").contact_count, 0);
}

TEST(Evaluation, RefusesOtherShapesAndNaN) {
    Case c(10);
    c.columns.pop_back();
    EXPECT_THROW(c.evaluate(), UsageError);
    Case nan(10);
    nan.scores(0, 9) = kNan;
    EXPECT_THROW(nan.evaluate(), UsageError);
    nan.lose(9);
    EXPECT_NO_THROW(nan.evaluate());
    const ContactEvaluation nothing = Case(0).evaluate();
    EXPECT_EQ(nothing.length, 0);
    EXPECT_TRUE(std::isnan(nothing.at("all", "L").precision));
}

Array<double, 2> matrix_of(const fs::path& path, Index length) {
    Array<double, 2> matrix(length, length);
    ByteSource source(path);
    std::string_view line;
    for (Index i = 0; i < length && source.next(line); ++i) {
        std::istringstream fields{std::string(line)};
        for (Index j = 0; j < length; ++j) fields >> matrix(i, j);
    }
    return matrix;
}

/// Distances between the columns of an alignment in its structure.
Array<double, 2> distances_of(const fs::path& alignment_file, const fs::path& structure_file) {
    const Alignment alignment = read_alignment(alignment_file);
    const Structure structure = read_structure(structure_file);
    const ResidueMap map = map_residues(alignment, structure);
    return column_distances(structure.chains[static_cast<std::size_t>(map.chain)], map.residues,
                            ContactAtoms::beta);
}

TEST(Evaluation, FindsTheContactsOfTrypsinAmongTheBestPairs) {
    const fs::path data = pleat::test::data_folder();
    const auto whole = distances_of(data / "trypsin.a2m.gz", data / "1ql9_A.pdb.gz");
    const NpzReader oracle(pleat::test::committed_oracles("couplings") / "trypsin189x40.npz");
    const std::vector<Index> columns = oracle.get("columns").as<Index>("columns");
    const auto contacts = oracle.get("contacts").as<Index>("contacts");
    const std::vector<double> values = oracle.get("corrected").as<double>("corrected");
    const Index length = static_cast<Index>(columns.size());
    Array<double, 2> scores(length, length), distances(length, length);
    std::copy(values.begin(), values.end(), scores.begin());
    for (std::size_t i = 0; i < columns.size(); ++i)
        for (std::size_t j = 0; j < columns.size(); ++j)
            distances(static_cast<Index>(i), static_cast<Index>(j)) = whole(columns[i], columns[j]);
    const auto found = evaluate(scores.view(), distances.view(), columns, 8.0);
    EXPECT_EQ(found.length, length);
    EXPECT_EQ(found.at("all", "L/2").contact_count, contacts[0]);
    EXPECT_EQ(found.at("all", "L").contact_count, contacts[1]);
    EXPECT_EQ(found.at("all", "L").pairs, length);
    EXPECT_GT(contacts[1], 3);

    const fs::path shared = pleat::test::shared_folder();
    if (!pleat::test::shared_is_present(shared / "oracle/couplings")) return;
    const fs::path alignment = shared / "oracle/couplings/1atzA.aln.gz";
    const auto of_1atza = distances_of(alignment, shared / "data/structures/1atzA.pdb.gz");
    const std::vector<Index> all = read_alignment(alignment).columns;
    const auto at_half = [&](const char* file) {
        const auto matrix =
            matrix_of(shared / "oracle/couplings" / file, static_cast<Index>(all.size()));
        return evaluate(matrix.view(), of_1atza.view(), all, 8.0).at("all", "L/2");
    };
    // couplings.md: 0.676 at the optimum, 0.649 for CCMpred's early stop, of 37 pairs each.
    EXPECT_EQ(at_half("1atzA.mat.gz").pairs, 37);
    EXPECT_EQ(at_half("1atzA.mat.gz").contact_count, 25);
    EXPECT_EQ(at_half("1atzA.ccmpred.mat.gz").contact_count, 24);
}

}  // namespace

// Parts: reading them, scores between them against plain formulas, shuffled pairing, structures.
#include "pleat/couplings/parts/parts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "pleat/core/error.h"
#include "pleat/core/files/npy.h"
#include "pleat/couplings/contacts/evaluation.h"
#include "pleat/couplings/files/weights_file.h"
#include "pleat/couplings/parts/analysis.h"
#include "small_family.h"

namespace pleat::couplings {
namespace {

using pleat::testing::SmallFamily;

std::string complaint(const std::string& text, Index columns) {
    SmallFamily family(3, columns, Alphabet::protein(), 1);
    try {
        check_parts(parse_parts(text), family.alignment);
    } catch (const Error& error) {
        return error.what();
    }
    return "none";
}

TEST(Parts, AreReadFromLengthsAndRanges) {
    const Parts lengths = parse_parts("3,4"), ranges = parse_parts("first:1-3,B:4-7");
    ASSERT_EQ(lengths.size(), 2u);
    EXPECT_EQ(lengths[0].name, "A");
    EXPECT_EQ(lengths[1].name, "B");
    EXPECT_EQ(ranges[0].name, "first");
    for (const Parts& parts : {lengths, ranges}) {
        EXPECT_EQ(parts[0].first, 0);
        EXPECT_EQ(parts[0].last, 3);
        EXPECT_EQ(parts[1].first, 3);
        EXPECT_EQ(parts[1].last, 7);
    }
    EXPECT_TRUE(parse_parts("").empty());
}

TEST(Parts, NamesTheSumOfLengthsThatDoNotFit) {
    EXPECT_EQ(complaint("3,4", 7), "none");
    EXPECT_EQ(complaint("3,5", 7),
              "family.aln: expected --parts of 7 columns in all, found 3 + 5 = 8");
    for (const char* text :
         {"3,", "x", "0,7", "-1,8", "A:1-3,4", "A:1-3,B:5-7", "A:1-4,B:4-7", "A:1-3,A:4-7",
          ":1-3,B:4-7", "A:3-1", "A B:1-7", "3;4", "99999999999999999999"})
        EXPECT_NE(complaint(text, 7).find("--parts: expected"), std::string::npos) << text;
}

TEST(Parts, ComeFromTheFileUnlessTheUserNamesThem) {
    SmallFamily family(3, 10, Alphabet::protein(), 1);
    Notes notes;
    EXPECT_TRUE(choose_parts("", family.alignment, false, 0, notes).empty());
    family.alignment.parts = "4,6";
    EXPECT_EQ(choose_parts("", family.alignment, false, 1, notes).size(), 2u);
    ASSERT_EQ(notes.size(), 1u);
    EXPECT_EQ(notes[0].kind, NoteKind::parts);
    EXPECT_EQ(notes[0].option, "--parts 10");
    notes.clear();
    EXPECT_TRUE(choose_parts("10", family.alignment, false, 0, notes).empty());
    EXPECT_TRUE(choose_parts("", family.alignment, true, 0, notes).empty());
    EXPECT_TRUE(notes.empty());
    EXPECT_THROW(choose_parts("10", family.alignment, false, 1, notes), UsageError);
    family.alignment.parts = "4,7";
    EXPECT_TRUE(choose_parts("", family.alignment, false, 0, notes).empty());
    EXPECT_TRUE(notes.at(0).is_warning);
}

TEST(Parts, KeepColumnsThatFiltersLeave) {
    SmallFamily family(3, 4, Alphabet::protein(), 1);  // columns 0, 2, 4, 6 of the source
    EXPECT_EQ(parts_of_columns(parse_parts("3,4"), family.alignment),
              (std::vector<Index>{0, 0, 1, 1}));
    EXPECT_EQ(parts_of_columns({}, family.alignment), (std::vector<Index>(4)));
    EXPECT_THROW(parts_of_columns(parse_parts("1,1,5"), family.alignment), InputError);
    const std::vector<Index> numbers = apart({0, 2, 4, 6}, {0, 0, 1, 1});
    EXPECT_EQ(numbers[1] - numbers[0], 2);
    EXPECT_EQ(numbers[3] - numbers[2], 2);
    EXPECT_GT(numbers[2] - numbers[1], 6);
}

/// Plain means over the columns of the parts of i and j.
double plain_correction(View<const double, 2> raw, const std::vector<Index>& part, Index i,
                        Index j) {
    double row = 0, column = 0, all = 0;
    Index in_a = 0, in_b = 0;
    for (Index k = 0; k < raw.extent(0); ++k) {
        const bool is_a = part[static_cast<std::size_t>(k)] == part[static_cast<std::size_t>(i)];
        const bool is_b = part[static_cast<std::size_t>(k)] == part[static_cast<std::size_t>(j)];
        in_a += is_a;
        in_b += is_b;
        if (is_b) row += raw(i, k);
        if (is_a) column += raw(k, j);
        for (Index l = 0; is_a && l < raw.extent(0); ++l)
            if (part[static_cast<std::size_t>(l)] == part[static_cast<std::size_t>(j)])
                all += raw(k, l);
    }
    const auto a = static_cast<double>(in_a), b = static_cast<double>(in_b);
    return raw(i, j) - row / b * (column / a) / (all / (a * b));
}

TEST(BlockCorrection, FollowsItsFormula) {
    const SmallFamily family(3, 14, Alphabet::protein(), 4);
    std::vector<Index> part(14);
    for (std::size_t k = 0; k < part.size(); ++k) part[k] = k < 5 ? 0 : k < 9 ? 1 : 2;
    const Array<double, 2> corrected = block_correction(family.result.raw, part);
    for (Index i = 0; i < 14; ++i) {
        EXPECT_EQ(corrected(i, i), 0);
        for (Index j = 0; j < 14; ++j) {
            if (i == j) continue;
            EXPECT_NEAR(corrected(i, j), plain_correction(family.result.raw, part, i, j), 1e-12);
        }
    }
}

TEST(InterPairs, HaveThePublishedScores) {
    SmallFamily family(9, 20, Alphabet::protein(), 5);
    family.result.effective_sequences = 8;
    std::vector<Index> part(20);
    for (std::size_t k = 12; k < 20; ++k) part[k] = 1;
    const std::vector<InterPair> pairs =
        rank_inter_pairs(family.result, 9, family.alignment.columns, part);
    ASSERT_EQ(pairs.size(), 96u);
    const Array<double, 2> block = block_correction(family.result.raw, part),
                           whole = block_correction(family.result.raw, std::vector<Index>(20));
    double min = 0, sum = 0, squares = 0;
    std::vector<double> best;
    for (Index i = 0; i < 20; ++i) {
        for (Index j = i + 1; j < 20; ++j) {
            const bool is_inter = i < 12 && j >= 12;
            if (is_inter) min = std::min(min, whole(i, j)), sum += block(i, j) / 96;
            // Columns are 2 apart in the source: 3 here are 6 there.
            if (is_inter || j - i >= 3) best.push_back(block(i, j));
        }
    }
    for (const InterPair& pair : pairs) squares += std::pow(block(pair.i, pair.j) - sum, 2) / 95;
    std::sort(best.begin(), best.end(), std::greater<>());
    double strong = 0;
    for (std::size_t k = 0; k < 30; ++k) strong += best[k] / 30;
    const double mu = std::pow(0.47, 9.0 / 20 + 1) + 0.96;
    const auto gremlin = [&](double x) { return 1 / (1 + std::exp(-9.77 * (x - mu))); };
    const double first = gremlin(std::sqrt(pairs[0].block_corrected / strong));
    for (std::size_t k = 0; k < pairs.size(); ++k) {
        const InterPair& pair = pairs[k];
        EXPECT_LE(pair.block_corrected, pairs[k > 0 ? k - 1 : 0].block_corrected);
        EXPECT_EQ(pair.block_corrected, block(pair.i, pair.j));
        EXPECT_EQ(pair.corrected, family.result.corrected(pair.i, pair.j));
        EXPECT_NEAR(pair.z, (pair.block_corrected - sum) / std::sqrt(squares), 1e-10);
        EXPECT_NEAR(pair.evcomplex, whole(pair.i, pair.j) / -min / (1 + 1 / std::sqrt(8.0 / 20)),
                    1e-12);
        const double root = std::sqrt(std::max(0.0, pair.block_corrected / strong));
        EXPECT_NEAR(pair.gremlin, k == 0 ? first : gremlin(root * first), 1e-12);
        EXPECT_TRUE(std::isnan(pair.fdr));
    }
    // A family of 0.3 effective sequences per column is too shallow for EVcomplex.
    family.result.effective_sequences = 6;
    EXPECT_TRUE(std::isnan(
        rank_inter_pairs(family.result, 9, family.alignment.columns, part)[0].evcomplex));
}

TEST(WeightsFile, IsReadAsTextOrNpyAndChecked) {
    const std::filesystem::path folder = std::filesystem::path(::testing::TempDir());
    const auto written = [&](const std::string& text) {
        std::ofstream(folder / "weights.txt") << text;
        return folder / "weights.txt";
    };
    const std::vector<double> expected = {0.5, 1, 0.25};
    EXPECT_EQ(read_weights(written("0.5\n1\n0.25\n"), 3), expected);
    EXPECT_EQ(read_weights(written("# w\nid,weight\na,0.5\nb,1\n\nc,0.25"), 3), expected);
    write_npy(folder / "weights.npy", expected.data(), {3});
    EXPECT_EQ(read_weights(folder / "weights.npy", 3), expected);
    for (const char* text :
         {"1\n1\n", "1\n1\n1\n1\n", "1\n-1\n1\n", "1\nnan\n1\n", "0\n0\n0\n", "1\nx\n1\n"})
        EXPECT_THROW(read_weights(written(text), 3), InputError) << text;
    SmallFamily family(3, 10, Alphabet::protein(), 1);
    Parameters parameters;
    parameters.weights = written("0.5\n1\n0.25\n").string();
    EXPECT_EQ(sequence_weights(family.alignment, parameters, {}), expected);
    parameters.sequence_weights = false;
    EXPECT_THROW(sequence_weights(family.alignment, parameters, {}), UsageError);
}

TEST(FalseDiscoveryRates, CompareWithTheNull) {
    std::vector<InterPair> ranked(4);
    for (std::size_t k = 0; k < 4; ++k) ranked[k].block_corrected = std::vector{9, 8, 8, 1}[k];
    // Two fits. At 9: (1 + 0) / 2 / 1; at 8: (1 + 1) / 2 / 3, which is less; at 1: (1 + 4) / 2 / 4.
    set_false_discovery_rates(ranked, {8.5, 1.5, 0.5, 1, 1.1, -1}, 2);
    EXPECT_NEAR(ranked[0].fdr, 1.0 / 3, 1e-15);
    EXPECT_NEAR(ranked[1].fdr, 1.0 / 3, 1e-15);
    EXPECT_NEAR(ranked[2].fdr, 1.0 / 3, 1e-15);
    EXPECT_NEAR(ranked[3].fdr, 0.625, 1e-15);
}

TEST(ShufflePairing, PermutesTheRowsOfOtherPartsAsAWhole) {
    const SmallFamily family(30, 9, Alphabet::protein(), 6);
    const std::vector<Index> part = {0, 0, 0, 0, 1, 1, 1, 1, 1};
    const Alignment shuffled = shuffle_pairing(family.alignment, part, 7);
    const auto rows = [&](const Alignment& alignment, Index from, Index to) {
        std::vector<std::string> all;
        for (Index n = 0; n < 30; ++n) {
            all.emplace_back();
            for (Index k = from; k < to; ++k)
                all.back() += alignment.alphabet->letter(alignment.letters(n, k));
        }
        return all;
    };
    EXPECT_EQ(rows(shuffled, 0, 4), rows(family.alignment, 0, 4));
    std::vector<std::string> before = rows(family.alignment, 4, 9), after = rows(shuffled, 4, 9);
    EXPECT_NE(before, after);
    std::sort(before.begin(), before.end());
    std::sort(after.begin(), after.end());
    EXPECT_EQ(before, after);
    EXPECT_EQ(rows(shuffle_pairing(family.alignment, part, 7), 4, 9), rows(shuffled, 4, 9));
    EXPECT_NE(rows(shuffle_pairing(family.alignment, part, 8), 4, 9), rows(shuffled, 4, 9));
}

/// A chain of these letters, its CB atoms 4 angstrom apart along x at this y.
Chain chain_of(const std::string& name, const std::string& letters, double y) {
    Chain chain{.name = name, .kind = Chain::Kind::protein, .residues = {}};
    for (std::size_t k = 0; k < letters.size(); ++k) {
        Residue residue;
        residue.letter = letters[k];
        residue.name = "ALA";
        residue.number = static_cast<int>(k) + 1;
        Atom atom;
        atom.name = "CB";
        atom.element = "C";
        atom.x = 4.0 * static_cast<double>(k);
        atom.y = y;
        atom.z = 0;
        residue.atoms.push_back(atom);
        chain.residues.push_back(residue);
    }
    return chain;
}

TEST(PartStructure, JoinsAChainPerPart) {
    const std::string a = "ARNDCQEHILKM", b = "VYWTSPFMKLIH";
    SmallFamily family(3, 24, Alphabet::protein(), 8);
    for (Index k = 0; k < 24; ++k) {
        family.alignment.columns[static_cast<std::size_t>(k)] = k;
        family.alignment.letters(1, k) =
            Alphabet::protein().code((a + b)[static_cast<std::size_t>(k)]);
    }
    Structure structure;
    structure.source = "x.pdb";
    structure.chains = {chain_of("Y", b, 5), chain_of("X", a, 0)};
    const Parts parts = parse_parts("12,12");
    const ResidueMap map = map_parts(family.alignment, parts, "", "X,Y", structure);
    EXPECT_EQ(map.row, 1);
    EXPECT_EQ(map.chain_name, "X,Y");
    EXPECT_EQ(map.mapped, 24);
    EXPECT_DOUBLE_EQ(map.identity, 1);
    ASSERT_EQ(structure.chains.size(), 3u);
    const Chain& joined = structure.chains[static_cast<std::size_t>(map.chain)];
    EXPECT_EQ(joined.sequence(), a + b);
    const Array<double, 2> distances = column_distances(joined, map.residues, ContactAtoms::beta);
    EXPECT_NEAR(distances(3, 15), 5, 1e-12);
    EXPECT_THROW(map_parts(family.alignment, parts, "", "X", structure), UsageError);
    EXPECT_THROW(map_parts(family.alignment, parts, "", "X,Z", structure), InputError);
    EXPECT_THROW(map_parts(family.alignment, parts, "", "Y,X", structure), InputError);

    // Precision within and between: distances above are the truth.
    ScoredParts scored{
        .parts = parts, .part_of_column = parts_of_columns(parts, family.alignment), .pairs = {}};
    scored.pairs =
        rank_inter_pairs(family.result, 3, family.alignment.columns, scored.part_of_column);
    const ContactEvaluation found =
        evaluate_parts(family.result, scored, distances, family.alignment.columns, 8);
    EXPECT_EQ(found.length, 24);
    EXPECT_EQ(found.at("all", "2L").pairs, 42);  // 2 x 6 x 7 / 2
    EXPECT_EQ(found.at("inter", "2L").pairs, 48);
    Index contacts = 0;
    for (std::size_t k = 0; k < 48; ++k)
        contacts += distances(scored.pairs[k].i, scored.pairs[k].j) < 8;
    EXPECT_EQ(found.at("inter", "2L").contact_count, contacts);
}

}  // namespace
}  // namespace pleat::couplings

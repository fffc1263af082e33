// Pairwise alignment: scores against an exhaustive search, and partners that earn their score.
#include "pleat/bio/alignment/pairwise.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

namespace {

using namespace pleat;

std::vector<std::uint8_t> codes(const std::string& text, const Alphabet& alphabet) {
    std::vector<std::uint8_t> result;
    for (char c : text) result.push_back(std::min(alphabet.code(c), alphabet.gap()));
    return result;
}

ChainLetters chain_of(const std::string& text, const Alphabet& alphabet) {
    ChainLetters chain;
    for (char c : text) {
        if (c == '/') {
            chain.broken.back() = 1;
            continue;
        }
        chain.letters.push_back(std::min(alphabet.code(c), alphabet.gap()));
        chain.broken.push_back(0);
    }
    return chain;
}

enum class Last { pair, row, chain };

/// The best score of what is left from (i, j), by trying everything.
int exhaustive(const std::vector<std::uint8_t>& row, const ChainLetters& chain,
               const PairScoring& scoring, std::size_t i, std::size_t j, Last last) {
    const std::size_t n = row.size();
    const std::size_t m = chain.letters.size();
    // Letters left over at an end are free, whichever sequence they belong to.
    if (i == n || j == m) return 0;
    int best = scoring.score(row[i], chain.letters[j]) +
               exhaustive(row, chain, scoring, i + 1, j + 1, Last::pair);
    // What is passed over before the first pair is free.
    const bool broken = j > 0 && chain.broken[j - 1] != 0;
    int skip_row =
        last == Last::row ? (broken ? 0 : scoring.gap_extend) : (broken ? 1 : scoring.gap_open);
    if (j == 0) skip_row = 0;
    int skip_chain = last == Last::chain ? scoring.gap_extend : scoring.gap_open;
    if (i == 0) skip_chain = 0;
    best = std::max(best, exhaustive(row, chain, scoring, i + 1, j, Last::row) - skip_row);
    return std::max(best, exhaustive(row, chain, scoring, i, j + 1, Last::chain) - skip_chain);
}

int score_of(const std::vector<std::uint8_t>& row, const ChainLetters& chain,
             const PairScoring& scoring, const std::vector<Index>& partners) {
    int score = 0;
    Index last_i = -1;
    Index last_j = -1;
    for (Index i = 0; i < static_cast<Index>(partners.size()); ++i) {
        const Index j = partners[static_cast<std::size_t>(i)];
        if (j < 0) continue;
        if (last_i >= 0) {
            const Index row_gap = i - last_i - 1;
            const Index chain_gap = j - last_j - 1;
            // With letters of the chain passed over too, the gap may lie before or behind them.
            bool broken = false;
            for (Index k = last_j; k < j; ++k)
                broken |= chain.broken[static_cast<std::size_t>(k)] != 0;
            if (row_gap > 0) {
                score -=
                    broken ? 1
                           : scoring.gap_open + static_cast<int>(row_gap - 1) * scoring.gap_extend;
            }
            if (chain_gap > 0) {
                score -= scoring.gap_open + static_cast<int>(chain_gap - 1) * scoring.gap_extend;
            }
        }
        score += scoring.score(row[static_cast<std::size_t>(i)],
                               chain.letters[static_cast<std::size_t>(j)]);
        last_i = i;
        last_j = j;
    }
    return score;
}

TEST(PairScoring, IsBlosum62) {
    const Alphabet& protein = Alphabet::protein();
    const PairScoring& scoring = PairScoring::of(protein);
    const auto score = [&](char a, char b) {
        return scoring.score(protein.code(a), protein.code(b));
    };
    EXPECT_EQ(score('W', 'W'), 11);
    EXPECT_EQ(score('A', 'A'), 4);
    EXPECT_EQ(score('I', 'V'), 3);
    EXPECT_EQ(score('V', 'I'), 3);
    EXPECT_EQ(score('C', 'E'), -4);
    EXPECT_EQ(score('H', 'Y'), 2);
    int sum = 0;
    for (int a = 0; a < 20; ++a) {
        for (int b = 0; b < 20; ++b) sum += scoring.scores[static_cast<std::size_t>(a * 21 + b)];
    }
    EXPECT_EQ(sum, -426);
}

TEST(Pairwise, ScoreIsThatOfAnExhaustiveSearch) {
    std::mt19937 random(7);
    const PairScoring& scoring = PairScoring::of(Alphabet::rna());
    for (int trial = 0; trial < 300; ++trial) {
        std::vector<std::uint8_t> row(1 + random() % 6);
        for (std::uint8_t& code : row) code = static_cast<std::uint8_t>(random() % 4);
        ChainLetters chain;
        const std::size_t length = 1 + random() % 6;
        for (std::size_t j = 0; j < length; ++j) {
            chain.letters.push_back(static_cast<std::uint8_t>(random() % 5));
            chain.broken.push_back(random() % 4 == 0);
        }
        EXPECT_EQ(pair_score(row, chain, scoring),
                  std::max(0, exhaustive(row, chain, scoring, 0, 0, Last::pair)))
            << trial;
    }
}

TEST(Pairwise, PartnersEarnTheScore) {
    std::mt19937 random(8);
    const Alphabet& protein = Alphabet::protein();
    const PairScoring& scoring = PairScoring::of(protein);
    for (int trial = 0; trial < 200; ++trial) {
        ChainLetters chain;
        std::vector<std::uint8_t> row;
        for (int k = 0; k < 60; ++k) {
            const auto code = static_cast<std::uint8_t>(random() % 20);
            if (random() % 10 != 0) row.push_back(random() % 8 == 0 ? random() % 20 : code);
            if (random() % 10 == 0) continue;
            chain.letters.push_back(code);
            chain.broken.push_back(0);
        }
        const std::vector<Index> partners = pair_partners(row, chain, scoring);
        EXPECT_EQ(score_of(row, chain, scoring, partners), pair_score(row, chain, scoring))
            << trial;
    }
}

TEST(Pairwise, AGapFallsIntoTheBreakOfTheChain) {
    const Alphabet& protein = Alphabet::protein();
    // Residues GSG are missing; without the break the last G of the first half could go either way.
    const auto row = codes("MKTAYIAKGSGSGQRQISFVK", protein);
    const ChainLetters chain = chain_of("MKTAYIAKGS/QRQISFVK", protein);
    const std::vector<Index> partners = pair_partners(row, chain, PairScoring::of(protein));
    const std::vector<Index> expected{0,  1,  2,  3,  4,  5,  6,  7,  8,  9, -1,
                                      -1, -1, 10, 11, 12, 13, 14, 15, 16, 17};
    EXPECT_EQ(partners, expected);
    // The break one residue earlier moves the gap there, at the same letters.
    const ChainLetters moved = chain_of("MKTAYIAK/SGQRQISFVK", protein);
    const std::vector<Index> shifted{0, 1, 2,  3,  4,  5,  6,  7,  -1, -1, -1,
                                     8, 9, 10, 11, 12, 13, 14, 15, 16, 17};
    EXPECT_EQ(pair_partners(row, moved, PairScoring::of(protein)), shifted);
}

TEST(Pairwise, EndsAreFree) {
    const Alphabet& protein = Alphabet::protein();
    const auto row = codes("WWCHMWW", protein);
    const ChainLetters chain = chain_of("AAAAAAWWCHMWWAAAAAAAA", protein);
    const std::vector<Index> expected{6, 7, 8, 9, 10, 11, 12};
    EXPECT_EQ(pair_partners(row, chain, PairScoring::of(protein)), expected);
    EXPECT_EQ(pair_score(row, chain, PairScoring::of(protein)), 4 * 11 + 9 + 8 + 5);
}

}  // namespace

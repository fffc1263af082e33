// Pairwise alignment: Gotoh's recursion with free ends, and cheap gaps where a chain is broken.
#include "pleat/bio/alignment/pairwise.h"

#include <algorithm>
#include <limits>

namespace pleat {

namespace {

// Lower triangle in the order of Alphabet::protein(), a row a letter.
// clang-format off
constexpr std::int8_t kBlosum62[] = {
     4,
    -1,  5,
    -2,  0,  6,
    -2, -2,  1,  6,
     0, -3, -3, -3,  9,
    -1,  1,  0,  0, -3,  5,
    -1,  0,  0,  2, -4,  2,  5,
     0, -2,  0, -1, -3, -2, -2,  6,
    -2,  0,  1, -1, -3,  0,  0, -2,  8,
    -1, -3, -3, -3, -1, -3, -3, -4, -3,  4,
    -1, -2, -3, -4, -1, -2, -3, -4, -3,  2,  4,
    -1,  2,  0, -1, -3,  1,  1, -2, -1, -3, -2,  5,
    -1, -1, -2, -3, -1,  0, -2, -3, -2,  1,  2, -1,  5,
    -2, -3, -3, -3, -2, -3, -3, -3, -1,  0,  0, -3,  0,  6,
    -1, -2, -2, -1, -3, -1, -1, -2, -2, -3, -3, -1, -2, -4,  7,
     1, -1,  1,  0, -1,  0,  0,  0, -1, -2, -2,  0, -1, -2, -1,  4,
     0, -1,  0, -1, -1, -1, -1, -2, -2, -1, -1, -1, -1, -2, -1,  1,  5,
    -3, -3, -4, -4, -2, -2, -3, -2, -2, -3, -2, -3, -1,  1, -4, -3, -2, 11,
    -2, -2, -2, -3, -2, -1, -2, -3,  2, -1, -1, -2, -1,  3, -3, -2, -2,  2,  7,
     0, -3, -3, -3, -1, -2, -2, -3, -3,  3,  1, -2,  1, -1, -2, -2,  0, -3, -1,  4};
// clang-format on
constexpr std::int8_t kUnknown = -1;  // score of a letter that is not known with any other

PairScoring protein_scoring() {
    PairScoring scoring{21, std::vector<std::int8_t>(21 * 21, kUnknown), 11, 1};
    const std::int8_t* next = kBlosum62;
    for (int a = 0; a < 20; ++a) {
        for (int b = 0; b <= a; ++b, ++next) {
            scoring.scores[a * 21 + static_cast<std::size_t>(b)] = *next;
            scoring.scores[b * 21 + static_cast<std::size_t>(a)] = *next;
        }
    }
    return scoring;
}

PairScoring nucleic_scoring() {
    PairScoring scoring{5, std::vector<std::int8_t>(5 * 5, kUnknown), 10, 1};
    for (int a = 0; a < 4; ++a) {
        for (int b = 0; b < 4; ++b)
            scoring.scores[a * 5 + static_cast<std::size_t>(b)] = a == b ? 5 : -4;
    }
    return scoring;
}

constexpr int kNever = std::numeric_limits<int>::min() / 2;

// The step that gave a cell its best score. The two flags say that a gap ending here began earlier.
enum Step : std::uint8_t { kPair = 0, kSkipChain = 1, kSkipRow = 2, kStepMask = 3 };
constexpr std::uint8_t kSkipChainGoesOn = 4;
constexpr std::uint8_t kSkipRowGoesOn = 8;

struct End {
    int score = 0;
    Index row = 0;
    Index chain = 0;
};

/// Penalties for opening a gap (its first letter) and for each further letter.
struct GapCost {
    int open = 0, extend = 0;
};

/// Fills the dynamic programming table; cell (i, j) is the best score of the first i of n letters
/// of the row against the first j letters of the chain. `scores_of(i)`: scores of row letter i,
/// from 0, indexed by the chain's letter. If `steps` is given, writes one Step per cell (n x m,
/// cell (1, 1) first).
template <class ScoresOf>
End fill(Index n, const ScoresOf& scores_of, const ChainLetters& chain, GapCost gap,
         std::uint8_t* steps) {
    const auto m = std::ssize(chain.letters);
    std::vector<int> best(m + 1, 0);
    std::vector<int> skip_row(m + 1, kNever);
    End end;
    for (Index i = 1; i <= n; ++i) {
        const auto* scores = scores_of(i - 1);
        int diagonal = best[0];
        int skip_chain = kNever;
        for (Index j = 1; j <= m; ++j) {
            const bool broken = chain.broken[j - 1] != 0;
            const int row_open = best[j] - (broken ? 1 : gap.open);
            const int row_extend = skip_row[j] - (broken ? 0 : gap.extend);
            skip_row[j] = std::max(row_open, row_extend);
            const int chain_open = best[j - 1] - gap.open;
            const int chain_extend = skip_chain - gap.extend;
            skip_chain = std::max(chain_open, chain_extend);
            const int pair = diagonal + scores[chain.letters[j - 1]];
            const int score = std::max({pair, skip_chain, skip_row[j]});
            diagonal = best[j];
            best[j] = score;
            if (steps != nullptr) {
                std::uint8_t step = score == pair         ? kPair
                                    : score == skip_chain ? kSkipChain
                                                          : kSkipRow;
                if (chain_extend > chain_open) step |= kSkipChainGoesOn;
                if (row_extend > row_open) step |= kSkipRowGoesOn;
                steps[(i - 1) * m + (j - 1)] = step;
            }
            if ((i == n || j == m) && score > end.score) end = {score, i, j};
        }
    }
    return end;
}

/// The scores of the letters of a row with all others.
struct RowScores {
    std::span<const std::uint8_t> row;
    const PairScoring& scoring;

    const std::int8_t* operator()(Index i) const {
        return scoring.scores.data() + static_cast<Index>(row[i]) * scoring.letter_count;
    }
};

/// Fills the table and traces back one best alignment.
template <class ScoresOf>
std::vector<Index> partners_of(Index n, const ScoresOf& scores_of, const ChainLetters& chain,
                               GapCost gap) {
    const std::size_t m = chain.letters.size();
    std::vector<std::uint8_t> steps(static_cast<std::size_t>(n) * m);
    const End end = fill(n, scores_of, chain, gap, steps.data());
    std::vector<Index> partners(n, -1);
    Index i = end.row;
    Index j = end.chain;
    std::uint8_t state = kPair;
    while (i > 0 && j > 0) {
        const std::uint8_t cell = steps[(i - 1) * m + static_cast<std::size_t>(j - 1)];
        if (state == kPair) state = cell & kStepMask;
        if (state == kPair) {
            partners[--i] = --j;
        } else if (state == kSkipChain) {
            if ((cell & kSkipChainGoesOn) == 0) state = kPair;
            --j;
        } else {
            if ((cell & kSkipRowGoesOn) == 0) state = kPair;
            --i;
        }
    }
    return partners;
}

}  // namespace

const PairScoring& PairScoring::of(const Alphabet& alphabet) {
    static const PairScoring protein = protein_scoring();
    static const PairScoring nucleic = nucleic_scoring();
    return alphabet.kind() == Alphabet::Kind::protein ? protein : nucleic;
}

int pair_score(std::span<const std::uint8_t> row, const ChainLetters& chain,
               const PairScoring& scoring) {
    return fill(std::ssize(row), RowScores{row, scoring}, chain,
                {scoring.gap_open, scoring.gap_extend}, nullptr)
        .score;
}

std::vector<Index> pair_partners(std::span<const std::uint8_t> row, const ChainLetters& chain,
                                 const PairScoring& scoring) {
    return partners_of(std::ssize(row), RowScores{row, scoring}, chain,
                       {scoring.gap_open, scoring.gap_extend});
}

std::vector<Index> profile_partners(const ProfileScoring& profile,
                                    std::span<const std::uint8_t> sequence) {
    const ChainLetters chain{{sequence.begin(), sequence.end()},
                             std::vector<std::uint8_t>(sequence.size(), 0)};
    return partners_of(profile.scores.extent(0), [&](Index i) { return profile.scores[i].data; },
                       chain, {profile.gap_open, profile.gap_extend});
}

}  // namespace pleat

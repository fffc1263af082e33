// Pairwise alignment: two letter sequences, exactly, with affine gaps and free ends.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pleat/bio/alignment/alignment.h"
#include "pleat/core/array.h"
#include "pleat/core/view.h"

namespace pleat {

/// Scores of letter pairs and gaps. Codes are those of the alphabet; its gap code means an unknown
/// letter. Proteins: BLOSUM62 (Henikoff and Henikoff 1992, PNAS 89:10915), gaps 11 and 1. Nucleic
/// acids: 5 and -4, gaps 10 and 1.
struct PairScoring {
    static const PairScoring& of(const Alphabet& alphabet);

    int letter_count = 0;
    std::vector<std::int8_t> scores;  ///< [letter, letter], letter_count x letter_count
    int gap_open = 0;                 ///< cost of a gap's first letter
    int gap_extend = 0;               ///< cost of each further letter

    int score(std::uint8_t a, std::uint8_t b) const { return scores[a * letter_count + b]; }
};

/// The sequence of a chain: its letters and where residues are missing.
struct ChainLetters {
    std::vector<std::uint8_t> letters;  ///< codes of the alphabet
    std::vector<std::uint8_t> broken;   ///< 1 where the bond to the next residue is absent
};

/// Highest score over all alignments of `row` (codes, no gaps) to `chain` (Gotoh 1982, J. Mol.
/// Biol. 162:705). End gaps are free. Row letters in a break of the chain cost 1 in total, because
/// residues are missing there.
int pair_score(std::span<const std::uint8_t> row, const ChainLetters& chain,
               const PairScoring& scoring);

/// For each letter of `row`, the index of the residue it is aligned to in one best alignment, or
/// -1.
std::vector<Index> pair_partners(std::span<const std::uint8_t> row, const ChainLetters& chain,
                                 const PairScoring& scoring);

/// Scores of letters in the columns of a profile, and of gaps.
struct ProfileScoring {
    Array<std::int32_t, 2> scores;  ///< [column, code of the sequence's letters]
    int gap_open = 0;               ///< cost of a gap's first letter
    int gap_extend = 0;             ///< cost of each further letter
};

/// For each column of the profile, the index of the letter of `sequence` (codes) that is aligned to
/// it in one alignment of the highest score, or -1. Columns and letters left over at the ends cost
/// nothing.
std::vector<Index> profile_partners(const ProfileScoring& profile,
                                    std::span<const std::uint8_t> sequence);

}  // namespace pleat

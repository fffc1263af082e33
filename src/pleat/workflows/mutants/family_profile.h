// Family profile: scores of letters by column, and the alignment of sequences to the columns.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pleat/bio/alignment/pairwise.h"
#include "pleat/couplings/files/model_file.h"

namespace pleat::mutants {

/// Log odds of the letters in each column, in 1/100 bits: log2 of (n f(a) + 5 b(a)) / ((n + 5)
/// b(a)), where n f(a) is the weight of the family's sequences with letter a and b its frequency
/// in all columns. A gap costs 8 bits, and 1 for each further letter.
ProfileScoring family_profile(const couplings::ModelDescription& about);

/// For each residue of a sequence (codes; the gap's for one that is not known) the column that it
/// is aligned to, or -1. Letters and columns left over at the ends cost nothing.
std::vector<Index> profile_columns(const ProfileScoring& profile,
                                   std::span<const std::uint8_t> sequence);

}  // namespace pleat::mutants

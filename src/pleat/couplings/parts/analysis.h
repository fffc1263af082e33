// Analysis: base pairs, and pairs between chains, of a family that was fitted.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>

#include "pleat/core/context.h"
#include "pleat/couplings/contacts/base_pairs.h"
#include "pleat/couplings/couplings.h"
#include "pleat/couplings/parts/inter_scores.h"

namespace pleat::couplings {

/// What scores mean for nucleic acids and for several chains.
struct Analysis {
    std::optional<BasePairs> base_pairs;  ///< of nucleic acids
    std::optional<ScoredParts> parts;     ///< of several parts
};

/// What is known of a family besides its alignment.
struct FamilyFacts {
    Parts parts = {};                          ///< from choose_parts(); empty: one
    std::optional<BasePairs> base_pairs = {};  ///< not set: those that the scores show
    Index shuffled_fits = 0;                   ///< for false discovery rates; 0: none
    /// File of each shuffled fit, counted from 1; may be empty.
    std::function<std::filesystem::path(Index)> checkpoint = {};
};

/// Whether its letters are those of RNA or DNA.
bool is_nucleic(const Alignment& alignment);

/// Analyses the result of a fit of the alignment with these parameters. With `shuffled_fits`, that
/// many alignments in which the rows of the parts are paired at random, by the context's seed, are
/// weighted and fitted too. Throws like run().
Analysis analyse(const Alignment& alignment, const Result& result, const Parameters& parameters,
                 FamilyFacts facts, const Context& context);

/// A copy in which the rows of every part but the first are permuted, each part by its own
/// permutation, the same for the same seed.
Alignment shuffle_pairing(const Alignment& alignment, const std::vector<Index>& part_of_column,
                          std::uint64_t seed);

}  // namespace pleat::couplings

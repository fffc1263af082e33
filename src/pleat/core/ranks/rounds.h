// Rounds: the ranks make consecutive pieces of one sequence in turn, and the leading rank collects
// them.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "pleat/core/ranks/comm.h"

namespace pleat {

/// What one rank made in a round.
struct RoundPiece {
    std::vector<std::uint8_t> bytes;
    bool has_more = false;  ///< the sequence goes on behind the pieces of this round
};

/// In each round rank n makes piece n, and the leading rank gets the bytes of all in their order;
/// the last round is the first one in which no rank has more. A collective call; what `make` or
/// `collect` throws ends it on all ranks.
void collect_rounds(
    Comm& comm, const std::function<RoundPiece(int rank)>& make,
    const std::function<void(const std::vector<std::vector<std::uint8_t>>& pieces)>& collect);

}  // namespace pleat

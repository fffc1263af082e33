// Rounds: one gather per round.
#include "pleat/core/ranks/rounds.h"

#include "pleat/core/ranks/deal.h"

namespace pleat {

void collect_rounds(
    Comm& comm, const std::function<RoundPiece(int rank)>& make,
    const std::function<void(const std::vector<std::vector<std::uint8_t>>& pieces)>& collect) {
    for (bool goes_on = true; goes_on;) {
        const RoundPiece own = make(comm.rank());
        const std::vector<std::vector<std::uint8_t>> pieces = comm.gather(own.bytes, 0);
        lead(comm, [&] { collect(pieces); });
        goes_on = comm.any(own.has_more);
    }
}

}  // namespace pleat

// Gather rows: dealing the rows of an array out to the ranks, and giving all rows to every rank.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "pleat/core/context.h"
#include "pleat/core/view.h"

namespace pleat {

/// Which rows of an array this rank computes: row n belongs to rank n % ranks.
struct RankRows {
    explicit RankRows(const Context& context) : rank(context.rank()), ranks(context.ranks()) {}

    /// How many of the rows [0, count) belong to this rank.
    Index count_of(Index count) const { return count > rank ? (count - rank - 1) / ranks + 1 : 0; }
    /// The n-th row of this rank.
    Index row(Index n) const { return rank + n * ranks; }

    Index rank, ranks;
};

/// Gives every rank the rows of the others: on entry `rows` [row, value] holds the rows of this
/// rank (see RankRows), on return all rows. A collective call. T must be trivially copyable.
template <class T>
void all_gather_rows(const Context& context, View<T, 2> rows) {
    const RankRows own(context);
    if (own.ranks == 1) return;
    const Index count = rows.extent(0);
    const std::size_t bytes = static_cast<std::size_t>(rows.extent(1)) * sizeof(T);
    std::vector<std::uint8_t> all(static_cast<std::size_t>(own.count_of(count)) * bytes);
    for (Index n = 0; n < own.count_of(count); ++n)
        std::memcpy(all.data() + static_cast<std::size_t>(n) * bytes, rows[own.row(n)].data, bytes);
    const std::vector<std::vector<std::uint8_t>> parts = context.comm->gather(all, 0);
    all.resize(static_cast<std::size_t>(count) * bytes);
    for (std::size_t rank = 0; rank < parts.size(); ++rank)
        for (std::size_t at = 0; at < parts[rank].size(); at += bytes)
            std::memcpy(all.data() + (rank + at / bytes * parts.size()) * bytes,
                        parts[rank].data() + at, bytes);
    context.comm->broadcast(all, 0);
    for (Index n = 0; n < count; ++n)
        std::memcpy(rows[n].data, all.data() + static_cast<std::size_t>(n) * bytes, bytes);
}

}  // namespace pleat

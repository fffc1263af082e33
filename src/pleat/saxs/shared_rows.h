// Shared rows: numbers that ranks found in turn, a row each, brought together on all of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "pleat/core/context.h"
#include "pleat/core/view.h"

namespace pleat::saxs {

/// Which rows are a rank's: n with n % size == rank.
struct Turn {
    explicit Turn(const Context& context)
        : rank(context.comm != nullptr ? context.comm->rank() : 0),
          size(context.comm != nullptr ? context.comm->size() : 1) {}

    /// How many of the rows 0, ..., count - 1 are this rank's, and which is the n-th of them.
    Index own_count(Index count) const { return count > rank ? (count - rank - 1) / size + 1 : 0; }
    Index own(Index n) const { return rank + n * size; }

    Index rank, size;
};

/// Gives every rank the rows of the others. A meeting.
template <class T>
void share_rows(const Context& context, View<T, 2> rows) {
    const Turn turn(context);
    if (turn.size == 1) return;
    const Index count = rows.extent(0);
    const std::size_t bytes = static_cast<std::size_t>(rows.extent(1)) * sizeof(T);
    std::vector<std::uint8_t> all(static_cast<std::size_t>(turn.own_count(count)) * bytes);
    for (Index n = 0; n < turn.own_count(count); ++n)
        std::memcpy(all.data() + static_cast<std::size_t>(n) * bytes, rows[turn.own(n)].data,
                    bytes);
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

}  // namespace pleat::saxs

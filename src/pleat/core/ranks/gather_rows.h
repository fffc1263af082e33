// Gather rows: dealing the rows of an array out to the ranks, and giving all rows to every rank.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "pleat/core/context.h"
#include "pleat/core/view.h"

namespace pleat {

/// Which rows of an array this rank computes: row n belongs to rank n % ranks.
struct RankRows {
    explicit RankRows(const Context& context) : rank(context.rank()), ranks(context.ranks()) {}

    /// How many of the rows [0, count) belong to this rank.
    Index count_of(Index count) const { return count > rank ? (count - rank - 1) / ranks + 1 : 0; }
    Index row(Index n) const { return rank + n * ranks; }

    Index rank, ranks;
};

/// Gives every rank the rows of the others: on entry `rows` [row, value] holds the rows that are
/// marked in `has_row` [row], on return all rows. Each row must be marked on one rank or more; the
/// lowest rank's is taken. A collective call. T must be trivially copyable.
template <class T>
void all_gather_rows(const Context& context, View<T, 2> rows,
                     std::span<const std::uint8_t> has_row) {
    if (context.ranks() == 1) return;
    const auto count = static_cast<std::size_t>(rows.extent(0));
    const std::size_t bytes = static_cast<std::size_t>(rows.extent(1)) * sizeof(T);
    const auto address = [&](std::size_t row) { return rows[static_cast<Index>(row)].data; };
    // Lower ranks have larger numbers, so the maximum over ranks selects the lowest rank with the
    // row.
    std::vector<double> owner(count);
    const double own = context.ranks() - context.rank();
    for (std::size_t row = 0; row < count; ++row) owner[row] = has_row[row] != 0 ? own : 0;
    context.comm->raise(owner);
    std::vector<std::uint8_t> buffer;
    for (std::size_t row = 0; row < count; ++row) {
        if (owner[row] != own) continue;
        buffer.resize(buffer.size() + bytes);
        std::memcpy(buffer.data() + buffer.size() - bytes, address(row), bytes);
    }
    const std::vector<std::vector<std::uint8_t>> all = context.comm->gather(buffer, 0);
    std::vector<std::size_t> used(all.size(), 0);
    buffer.resize(count * bytes);
    for (std::size_t row = 0; row < count && !all.empty(); ++row) {
        const auto rank = static_cast<std::size_t>(context.ranks() - static_cast<int>(owner[row]));
        std::memcpy(buffer.data() + row * bytes, all[rank].data() + used[rank], bytes);
        used[rank] += bytes;
    }
    context.comm->broadcast(buffer, 0);
    for (std::size_t row = 0; row < count; ++row)
        std::memcpy(address(row), buffer.data() + row * bytes, bytes);
}

/// all_gather_rows() for rows that are divided among the ranks by RankRows.
template <class T>
void all_gather_rows(const Context& context, View<T, 2> rows) {
    const RankRows own(context);
    std::vector<std::uint8_t> has_row(rows.extent(0));
    for (Index n = 0; n < own.count_of(rows.extent(0)); ++n) has_row[own.row(n)] = 1;
    all_gather_rows(context, rows, has_row);
}

}  // namespace pleat

// Row counts: a table per triple, of the rows that share their pair of symbols with another row.
#include "pleat/mutual_information/kernel/row_counts.h"

#include <limits>

namespace pleat::mutual_information {

namespace {

// Cells that bit planes count in the time of one row here (measured: bench/mutual_information.md).
constexpr Index kCellsPerRow = 10;

}  // namespace

bool counts_by_rows(const CodedColumns& columns, const TripleTile::Row& row) {
    if (columns.row_count() > std::numeric_limits<std::uint16_t>::max()) return false;
    Index symbols = 0;
    for (Index n = 0; n < row.count; ++n) symbols += columns.symbol_count(row.first_k + n);
    const Index cells = columns.symbol_count(row.i) * columns.symbol_count(row.j) * symbols;
    return kCellsPerRow * row.count * columns.row_count() < cells;
}

std::int64_t codes_bytes(Index rows, int symbols) {
    constexpr Index kTileColumns = 32, kGroups = 8;
    if (kCellsPerRow * rows >= Index{symbols} * symbols * symbols) return 0;
    return kGroups * kTileColumns * kLanes * ((rows + 63) / 64 * 64);
}

// A row whose symbols of i and j occur in no other row is alone in its cell, and F(1) = 0.
void RowTables::list_shared_rows(const CodedColumns& columns, const TripleTile::Row& row,
                                 const std::uint8_t* j) {
    const int width = columns.symbol_count(row.j);
    rows_of_symbol_pair_.assign(static_cast<std::size_t>(columns.symbol_count(row.i) * width), 0);
    std::uint32_t at = 0;
    const std::span<const Index> margin = columns.margin(row.i);
    for (std::size_t a = 0; a < margin.size(); ++a) {
        for (Index n = 0; n < margin[a]; ++n, ++at) {
            symbol_pair_of_row_[at] =
                static_cast<std::uint16_t>(a * static_cast<std::size_t>(width) + j[at]);
            ++rows_of_symbol_pair_[symbol_pair_of_row_[at]];
        }
    }
    std::uint32_t cells = 0;
    first_cell_.resize(rows_of_symbol_pair_.size());
    for (std::size_t pair = 0; pair < rows_of_symbol_pair_.size(); ++pair) {
        first_cell_[pair] = cells;
        if (rows_of_symbol_pair_[pair] > 1) cells += kMaxSymbols;
    }
    if (cells_.size() < cells) cells_.resize(cells, 0);
    shared_rows_.clear();
    for (std::uint32_t n = 0; n < at; ++n)
        if (rows_of_symbol_pair_[symbol_pair_of_row_[n]] > 1)
            shared_rows_.push_back({n, first_cell_[symbol_pair_of_row_[n]]});
}

void RowTables::count(const GroupCodes& group, const TripleTile::Row& row, std::int64_t* t) {
    const CodedColumns& columns = *group.columns;
    const auto rows = static_cast<std::size_t>(columns.row_count());
    if (f_steps_.size() != rows) {
        const std::vector<std::int64_t>& f = group.statistic->f;
        f_steps_.resize(rows);
        symbol_pair_of_row_.resize(rows);
        for (std::size_t n = 0; n < rows; ++n) f_steps_[n] = f[n + 1] - f[n];
    }
    const Index bytes = group.layout->code_bytes();
    const auto codes_of = [&](Index column, Index lane) {
        return group.codes + (group.layout->position[column] * kLanes + lane) * bytes;
    };
    for (Index lane = 0; lane < kLanes; ++lane) {
        list_shared_rows(columns, row, codes_of(row.j, lane));
        std::uint16_t* const cells = cells_.data();
        const std::int64_t* const steps = f_steps_.data();
        for (Index n = 0; n < row.count; ++n) {
            const std::uint8_t* const k = codes_of(row.first_k + n, lane);
            std::int64_t total = 0;
            for (const Entry& entry : shared_rows_)
                total += steps[cells[entry.first_cell + k[entry.row]]++];
            for (const Entry& entry : shared_rows_) cells[entry.first_cell + k[entry.row]] = 0;
            t[n * kLanes + lane] = total;
        }
    }
}

}  // namespace pleat::mutual_information

// Interactions: iterative proportional fitting of a triple to its pair tables.
#include "pleat/mutual_information/triples/interactions.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "pleat/core/loops/parallel.h"
#include "pleat/core/loops/steps.h"

namespace pleat::mutual_information {

namespace {

constexpr Index kTriplesAtOnce = 4096;  // between two checks for a cancel

/// Computes one triple after another and reuses its memory.
///
/// Iterative proportional fitting (Deming and Stephan, Ann. Math. Stat. 11:427, 1940) over the
/// cells that no pair table forbids. Cells that the pair tables determine, because all others of a
/// line are known, are removed first, in integers. In every round the divergence is an upper bound
/// that falls: a fit that ends early, because it only approaches cells that must be 0, is too high.
/// A line is a cell of a pair table, and the cells of the triple that add up to it; lines of ij, ik
/// and jk are numbered consecutively.
class ExcessFit {
public:
    ExcessFit(const CodedColumns& all, const ExcessOptions& chosen)
        : columns(all), options(chosen) {}

    Excess operator()(Index i, Index j, Index k) {
        tabulate(i, j, k);
        remove_determined_cells();
        return fit();
    }

private:
    struct Cell {
        std::int32_t line[3];
        std::int32_t rows;  ///< observed
        double fitted;
    };
    struct Line {
        std::int32_t rows = 0;  ///< observed, without those of determined cells
        std::int32_t open = 0;  ///< number of cells not yet determined
    };

    /// Fills `cells` with those that are on no line of 0 rows.
    void tabulate(Index i, Index j, Index k) {
        const int q[3] = {columns.symbol_count(i), columns.symbol_count(j),
                          columns.symbol_count(k)};
        table.assign(static_cast<std::size_t>(q[0]) * q[1] * q[2], 0);
        lines_of[1] = q[0] * q[1];
        lines_of[2] = lines_of[1] + q[0] * q[2];
        lines_of[3] = lines_of[2] + q[1] * q[2];
        lines.assign(lines_of[3], Line{});
        const std::uint8_t* const code[3] = {&columns.codes(i, 0), &columns.codes(j, 0),
                                             &columns.codes(k, 0)};
        for (Index row = 0; row < columns.row_count(); ++row) {
            const int a = code[0][row], b = code[1][row], c = code[2][row];
            ++table[(a * q[1] + b) * q[2] + c];
            ++lines[a * q[1] + b].rows;
            ++lines[lines_of[1] + a * q[2] + c].rows;
            ++lines[lines_of[2] + b * q[2] + c].rows;
        }
        cells.clear();
        const std::int32_t* rows = table.data();
        for (int a = 0; a < q[0]; ++a) {
            for (int b = 0; b < q[1]; ++b) {
                const std::int32_t ab = a * q[1] + b;
                for (int c = 0; c < q[2]; ++c, ++rows) {
                    const auto ac = static_cast<std::int32_t>(lines_of[1] + a * q[2] + c);
                    const auto bc = static_cast<std::int32_t>(lines_of[2] + b * q[2] + c);
                    if (lines[ab].rows == 0 || lines[ac].rows == 0 || lines[bc].rows == 0) continue;
                    cells.push_back({{ab, ac, bc}, *rows, 1.0});
                    for (const std::int32_t line : cells.back().line) ++lines[line].open;
                }
            }
        }
    }

    /// Removes cells that the pair tables determine: the last open cell of a line, and all cells of
    /// a line without remaining rows. They have the observed rows, so they add nothing to the
    /// divergence.
    void remove_determined_cells() {
        for (bool changed = true; changed;) {
            const auto is_determined = [&](const Cell& cell) {
                return std::any_of(std::begin(cell.line), std::end(cell.line),
                                   [&](std::int32_t line) {
                                       return lines[line].open == 1 || lines[line].rows == 0;
                                   });
            };
            std::size_t kept = 0;
            for (const Cell& cell : cells) {
                if (is_determined(cell)) {
                    for (const std::int32_t line : cell.line) {
                        lines[line].rows -= cell.rows;
                        --lines[line].open;
                    }
                } else {
                    cells[kept++] = cell;
                }
            }
            changed = kept != cells.size();
            cells.resize(kept);
        }
    }

    Excess fit() {
        Excess excess;
        if (cells.empty()) return excess;
        sum.assign(lines.size(), 0.0);
        ratio.assign(lines.size(), 1.0);
        for (const Cell& cell : cells) sum[cell.line[0]] += cell.fitted;
        excess.converged = false;
        while (!excess.converged && excess.rounds < options.max_rounds) {
            ++excess.rounds;
            excess.margin_error = 0;
            for (int side = 0; side < 3; ++side) {
                const int next = (side + 1) % 3;
                for (Index line = lines_of[side]; line < lines_of[side + 1]; ++line) {
                    if (lines[line].open == 0) continue;
                    const double wanted = lines[line].rows;
                    excess.margin_error =
                        std::max(excess.margin_error, std::abs(sum[line] - wanted));
                    ratio[line] = wanted / sum[line];
                }
                std::fill(sum.begin() + lines_of[next], sum.begin() + lines_of[next + 1], 0.0);
                for (Cell& cell : cells) {
                    cell.fitted *= ratio[cell.line[side]];
                    sum[cell.line[next]] += cell.fitted;
                }
            }
            excess.converged = excess.margin_error < options.tolerance;
        }
        excess.bits = std::max(0.0, divergence());
        return excess;
    }

    double divergence() const {
        double sum_of = 0;
        for (const Cell& cell : cells) {
            if (cell.rows > 0) sum_of += cell.rows * std::log2(cell.rows / cell.fitted);
        }
        return sum_of / static_cast<double>(columns.row_count());
    }

    const CodedColumns& columns;
    ExcessOptions options;
    std::vector<std::int32_t> table;
    std::vector<Cell> cells;
    std::vector<Line> lines;
    std::vector<double> sum, ratio;
    Index lines_of[4] = {};  ///< the first line of each pair table
};

}  // namespace

std::vector<std::array<Index, 3>> triples_of(const TripleTile& tile) {
    std::vector<std::array<Index, 3>> triples;
    triples.reserve(tile.count);
    for (const TripleTile::Row& row : tile.rows)
        for (Index k = row.first_k; k < row.first_k + row.count; ++k)
            triples.push_back({row.i, row.j, k});
    return triples;
}

void third_order_excess(const CodedColumns& columns, std::span<const std::array<Index, 3>> triples,
                        std::span<Excess> excess, const Context& context,
                        const ExcessOptions& options) {
    const int threads = resolve_threads(context);
    std::vector<ExcessFit> fits;
    for (int thread = 0; thread < threads; ++thread) fits.emplace_back(columns, options);
    const auto fit = [&](Index first, Index count) {
        parallel_for(threads, count, [&](Index at, int thread) {
            const auto& [i, j, k] = triples[first + at];
            excess[first + at] = fits[thread](i, j, k);
        });
    };
    for_each_block(context, "interactions", static_cast<Index>(triples.size()), kTriplesAtOnce, fit,
                   "triples");
}

}  // namespace pleat::mutual_information

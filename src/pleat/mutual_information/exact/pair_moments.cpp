// Pair moments: cells expanded once per pair of counts, and columns once per pair of margins.
#include "pleat/mutual_information/exact/pair_moments.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "pleat/core/loops/parallel.h"
#include "pleat/core/loops/steps.h"
#include "pleat/mutual_information/count/tiles.h"
#include "pleat/mutual_information/exact/hahn.h"

namespace pleat::mutual_information {

namespace {

constexpr const char* kStage = "exact";
constexpr Index kMaxCounts = 512;   // of a block of margins: its cells take up to 100 MB
constexpr Index kTileMargins = 16;  // of the first block, in a tile

// A margin (the symbol counts of a column), which one or more columns have.
struct Margin {
    std::span<const Index> counts;
    std::vector<Index> columns;
    std::vector<Index> number;  // [symbol]: the number of its count in the block's list
};

// Margins whose cells are expanded together, and the counts that occur in them.
struct MarginBlock {
    Index first = 0, last = 0;
    std::vector<Index> counts;
};

// The expansions of all cells (r, c) of two lists of counts.
class CellTable {
public:
    struct Cell {
        double mean, slope;
        int orders;
        const double* coefficient;  // [m - 2]
    };

    CellTable(const std::vector<Index>& r, const std::vector<Index>& c) : r_(r), c_(c) {
        rows_.resize(r.size());
    }
    Index row_count() const { return static_cast<Index>(rows_.size()); }
    // Cells (r, c) and (c, r) are equal, so half of them suffice if both lists are the same.
    bool is_symmetric() const { return &r_ == &c_; }

    void fill_row(Index row, Index rows, const Differences& differences) {
        auto& made = rows_[row];
        const Index first = is_symmetric() ? row : 0;
        made.start.assign(c_.size() + 1, 0);
        for (Index at = first; at < static_cast<Index>(c_.size()); ++at) {
            const CellExpansion cell = expand_cell(rows, r_[row], c_[at], differences);
            made.values.push_back(cell.mean);
            made.values.push_back(cell.slope);
            made.values.insert(made.values.end(), cell.coefficient.begin() + 2,
                               cell.coefficient.begin() + cell.orders + 1);
            made.start[at + 1] = static_cast<Index>(made.values.size());
        }
    }
    Cell operator()(Index row, Index at) const {
        if (is_symmetric() && at < row) std::swap(row, at);
        const auto& made = rows_[row];
        const double* value = made.values.data() + made.start[at];
        return {value[0], value[1], static_cast<int>(made.start[at + 1] - made.start[at]) - 1,
                value + 2};
    }

private:
    struct Row {
        std::vector<Index> start;
        std::vector<double> values;
    };
    const std::vector<Index>&r_, &c_;
    std::vector<Row> rows_;
};

// Order 1 of the variance of T: README.md, section 4.
double first_order(std::span<const Index> i, std::span<const Index> j, Index rows,
                   std::vector<double>& slope) {
    const Index letters_i = static_cast<Index>(i.size()), letters_j = static_cast<Index>(j.size());
    const auto all = static_cast<double>(rows);
    double largest = 0;
    for (const double value : slope) largest = std::max(largest, std::abs(value));
    for (Index a = 0; a < letters_i; ++a) {
        double mean = 0;
        for (Index b = 0; b < letters_j; ++b)
            mean += static_cast<double>(j[b]) * slope[a * letters_j + b];
        for (Index b = 0; b < letters_j; ++b) slope[a * letters_j + b] -= mean / all;
    }
    double sum = 0;
    for (Index b = 0; b < letters_j; ++b) {
        double mean = 0;
        for (Index a = 0; a < letters_i; ++a)
            mean += static_cast<double>(i[a]) * slope[a * letters_j + b];
        for (Index a = 0; a < letters_i; ++a) {
            const double value = slope[a * letters_j + b] - mean / all;
            // If all slopes are equal, T is the same for all permutations, and the computed
            // variance is only rounding error.
            if (std::abs(value) < 1e-14 * largest) continue;
            sum += static_cast<double>(i[a]) * static_cast<double>(j[b]) * value * value;
        }
    }
    return sum / (all - 1);
}

// Working memory of one thread.
struct Scratch {
    std::vector<double> value, image;
};

// Moments of a pair of columns whose cell (a, b) is `cell(a, b)`.
template <class CellOf>
Moments combine(std::span<const Index> i, std::span<const Index> j, const LetterGram& gram_i,
                const LetterGram& gram_j, Index rows, const CellOf& cell, Scratch& work) {
    const Index letters_i = gram_i.letters(), letters_j = gram_j.letters();
    const Index cells = letters_i * letters_j;
    work.value.assign(cells, 0);
    double mean = 0;
    int orders = 1;
    for (Index a = 0; a < letters_i; ++a) {
        for (Index b = 0; b < letters_j; ++b) {
            const auto expansion = cell(a, b);
            mean += expansion.mean;
            orders = std::max(orders, expansion.orders);
            work.value[a * letters_j + b] = expansion.slope;
        }
    }
    double variance = first_order(i, j, rows, work.value);
    for (int m = 2; m <= orders; ++m) {
        for (Index a = 0; a < letters_i; ++a) {
            for (Index b = 0; b < letters_j; ++b) {
                const auto expansion = cell(a, b);
                work.value[a * letters_j + b] =
                    m <= expansion.orders ? expansion.coefficient[m - 2] : 0;
            }
        }
        work.image = work.value;
        gram_i.apply_to(m, work.image.data(), letters_j, letters_j);
        for (Index a = 0; a < letters_i; ++a)
            gram_j.apply_to(m, work.image.data() + a * letters_j, 1, 1);
        for (Index at = 0; at < cells; ++at) variance += work.value[at] * work.image[at];
    }
    const auto all = static_cast<double>(rows);
    return {mean / all, std::max(0.0, variance) / (all * all)};
}

// All pairs of columns, by pairs of blocks of margins.
class AllPairs {
public:
    AllPairs(const CodedColumns& columns, View<double, 1> mean, View<double, 1> variance,
             const Context& context)
        : columns_(columns),
          mean_(mean),
          variance_(variance),
          context_(context),
          threads_(resolve_threads(context)),
          differences_(columns.row_count()) {
        collect_margins();
        make_blocks();
        scratch_.resize(threads_);
    }

    /// Tiles of all pairs of margins: some margins of one block (side[0]) with some of another
    /// (side[1]). They depend only on the columns.
    std::vector<Tile> tiles() const {
        std::vector<Tile> tiles;
        for (const MarginBlock& p : blocks_) {
            for (const MarginBlock& q : blocks_) {
                if (q.first < p.first) continue;
                for (Index first = p.first; first < p.last; first += kTileMargins) {
                    Tile tile;
                    tile.id = static_cast<Index>(tiles.size());
                    tile.side[0] = {first, std::min(kTileMargins, p.last - first)};
                    tile.side[1] = {q.first, q.last - q.first};
                    tiles.push_back(tile);
                }
            }
        }
        return tiles;
    }

    void compute(const Tile& tile) {
        set_cells(tile);
        for (Index at = 0; at < tile.side[0].count; ++at) {
            const Index first = tile.side[0].first + at;
            const Index begin = std::max(first, tile.side[1].first);
            const Index end = tile.side[1].first + tile.side[1].count;
            parallel_for_chunks(context_, kStage, threads_, end - begin, 256 * threads_,
                                [&](Index margin, int thread) {
                                    const Index second = begin + margin;
                                    margin_pair(margins_[first], grams_[first], margins_[second],
                                                grams_[second], thread);
                                });
        }
    }

private:
    void collect_margins() {
        std::map<std::vector<Index>, std::vector<Index>> by_counts;
        for (Index column = 0; column < columns_.column_count(); ++column) {
            const auto margin = columns_.margin(column);
            if (margin.size() > 1) by_counts[{margin.begin(), margin.end()}].push_back(column);
        }
        for (auto& [counts, columns] : by_counts) {
            const auto margin = columns_.margin(columns.front());
            margins_.push_back({margin, std::move(columns), {}});
        }
    }

    void make_blocks() {
        const Index rows = columns_.row_count();
        const int orders = static_cast<int>(std::min<Index>(Differences::kMaxOrder, rows / 2));
        std::vector<Index> counts;
        for (Index at = 0; at < static_cast<Index>(margins_.size()); ++at) {
            const auto margin = margins_[at].counts;
            grams_.emplace_back(margin, rows, orders);
            std::vector<Index> united(counts);
            united.insert(united.end(), margin.begin(), margin.end());
            std::sort(united.begin(), united.end());
            united.erase(std::unique(united.begin(), united.end()), united.end());
            if (blocks_.empty() || static_cast<Index>(united.size()) > kMaxCounts) {
                blocks_.push_back({at, at, {}});
                united.assign(margin.begin(), margin.end());
                std::sort(united.begin(), united.end());
                united.erase(std::unique(united.begin(), united.end()), united.end());
            }
            counts = blocks_.back().counts = std::move(united);
            blocks_.back().last = at + 1;
        }
        for (const MarginBlock& block : blocks_) {
            for (Index at = block.first; at < block.last; ++at) {
                for (const Index count : margins_[at].counts) {
                    const auto found =
                        std::lower_bound(block.counts.begin(), block.counts.end(), count);
                    margins_[at].number.push_back(found - block.counts.begin());
                }
            }
        }
    }

    void set_cells(const Tile& tile) {
        const MarginBlock *const p = &block_of(tile.side[0].first), *const q = &block_of(
                                                                        tile.side[1].first);
        if (p == cells_of_[0] && q == cells_of_[1]) return;
        cells_of_[0] = nullptr;
        cells_.emplace(p->counts, q->counts);
        parallel_for_chunks(
            context_, kStage, threads_, cells_->row_count(), 16 * threads_,
            [&](Index row, int) { cells_->fill_row(row, columns_.row_count(), differences_); });
        cells_of_[0] = p;
        cells_of_[1] = q;
    }

    void margin_pair(const Margin& p, const LetterGram& gram_p, const Margin& q,
                     const LetterGram& gram_q, int thread) {
        if (&p == &q && p.columns.size() == 1) return;
        const Moments moments = combine(
            p.counts, q.counts, gram_p, gram_q, columns_.row_count(),
            [&](Index a, Index b) { return (*cells_)(p.number[a], q.number[b]); },
            scratch_[thread]);
        for (const Index i : p.columns) {
            for (const Index j : q.columns) {
                if (&p == &q && j <= i) continue;
                const Index pair =
                    pair_index(std::min(i, j), std::max(i, j), columns_.column_count());
                mean_.data[pair] = std::max(0.0, moments.mean);
                variance_.data[pair] = moments.variance;
            }
        }
    }

    const MarginBlock& block_of(Index margin) const {
        return *std::find_if(blocks_.begin(), blocks_.end(),
                             [&](const MarginBlock& block) { return margin < block.last; });
    }

    const CodedColumns& columns_;
    View<double, 1> mean_, variance_;
    const Context& context_;
    int threads_;
    Differences differences_;
    std::vector<Margin> margins_;
    std::vector<LetterGram> grams_;
    std::vector<MarginBlock> blocks_;
    std::vector<Scratch> scratch_;
    // The cells of the latest tile's two blocks.
    std::optional<CellTable> cells_;
    const MarginBlock* cells_of_[2] = {nullptr, nullptr};
};

}  // namespace

std::int64_t pair_moments_bytes(Index rows, Index columns, int symbols) {
    const Index orders = std::min<Index>(Differences::kMaxOrder, rows / 2) + 1;
    const Index counts = std::min({kMaxCounts, rows, columns * symbols});
    return Differences::bytes(rows) + 8 * counts * counts * (orders + 1) +
           16 * orders * columns * symbols;
}

void pair_moments(const CodedColumns& columns, View<double, 1> mean, View<double, 1> variance,
                  const Context& context, const std::string& problem_hash) {
    std::fill(mean.begin(), mean.end(), 0.0);
    std::fill(variance.begin(), variance.end(), 0.0);
    AllPairs all(columns, mean, variance, context);
    const NamedArray arrays[] = {
        {"mean", {mean.data, static_cast<std::size_t>(mean.size())}},
        {"variance", {variance.data, static_cast<std::size_t>(variance.size())}}};
    compute_pair_tiles(context, kStage, problem_hash, all.tiles(), arrays,
                       [&](const Tile& tile) { all.compute(tile); });
}

Moments pair_moments(std::span<const Index> margin_i, std::span<const Index> margin_j) {
    if (margin_i.size() < 2 || margin_j.size() < 2) return {};
    Index rows = 0;
    for (const Index count : margin_i) rows += count;
    const int orders = static_cast<int>(std::min<Index>(Differences::kMaxOrder, rows / 2));
    const Differences differences(rows);
    std::vector<CellExpansion> cells;
    for (const Index r : margin_i)
        for (const Index c : margin_j) cells.push_back(expand_cell(rows, r, c, differences));
    struct Cell {
        double mean, slope;
        int orders;
        const double* coefficient;
    };
    Scratch work;
    return combine(
        margin_i, margin_j, {margin_i, rows, orders}, {margin_j, rows, orders}, rows,
        [&](Index a, Index b) {
            const CellExpansion& cell = cells[a * static_cast<Index>(margin_j.size()) + b];
            return Cell{cell.mean, cell.slope, cell.orders, cell.coefficient.data() + 2};
        },
        work);
}

}  // namespace pleat::mutual_information

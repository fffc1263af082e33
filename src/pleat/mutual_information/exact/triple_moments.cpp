// Triple moments: the vectors of pairs and of third columns, and their scalar products.
#include "pleat/mutual_information/exact/triple_moments.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "pleat/core/error.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/core/loops/steps.h"
#include "pleat/mutual_information/exact/triple_vectors.h"
#include "pleat/mutual_information/exact/vector_loops.h"

namespace pleat::mutual_information {

namespace {

constexpr const char* kStage = "exact";
constexpr Index kRepresentatives = 48;  // number of letters whose expansions define the basis
constexpr Index kMaxCounts = 256;       // letters expanded at a time
constexpr double kNoise = 1e-12;        // a smaller Var T is rounding: all permutations are equal

/// Returns up to `count` of these counts, evenly spaced.
std::vector<Index> evenly_chosen(const std::vector<Index>& counts, Index count) {
    if (static_cast<Index>(counts.size()) <= count) return counts;
    std::vector<Index> chosen;
    const auto last = static_cast<Index>(counts.size()) - 1;
    for (Index at = 0; at < count; ++at) chosen.push_back(counts[at * last / (count - 1)]);
    return chosen;
}

/// Upper bounds that follow from a size: nodes, basis functions, orders, and vector length.
struct Bounds {
    explicit Bounds(const TripleMoments::Size& size)
        : nodes(CountNodes::max_size(size.rows)),
          functions(size.with_variance ? std::min(TripleBasis::kMaxSize, (nodes + 8) / 8 * 8) : 0),
          orders(std::min<Index>(Differences::kMaxOrder, size.rows / 2) + 1),
          terms(nodes + functions * (functions + 1)) {}
    Index nodes, functions, orders, terms;
};

/// Bytes that one thread needs to expand the cells of a pair.
std::int64_t maker_bytes(const TripleMoments::Size& size, const Bounds& bounds) {
    // Without its tails a distribution is about 13 standard deviations wide, each at most sqrt(N) /
    // 4.
    const double wide = 64 + 8 * std::sqrt(static_cast<double>(size.rows));
    const Index window = std::min(size.rows + 1, static_cast<Index>(wide));
    const Index cells =
        std::min<Index>(size.symbols, size.rows) * std::min<Index>(size.symbols, size.rows);
    if (!size.with_variance) return 8 * (size.rows + 4 * window);
    return 8 * (size.rows + (bounds.orders + 4) * window +
                (bounds.orders + 1) * cells * bounds.functions +
                2 * bounds.functions * bounds.functions);
}

}  // namespace

struct TripleMoments::Implementation {
    Implementation(const CodedColumns& all, const Context& how, bool variance)
        : columns(all),
          context(how),
          with_variance(variance),
          threads(resolve_threads(how)),
          differences(all.row_count()),
          nodes(all.row_count()) {
        collect_margins();
        space = {columns.row_count(), &nodes, &differences, nullptr};
        if (with_variance) make_basis();
        make_third_columns();
        for (int thread = 0; thread < threads; ++thread) makers.emplace_back(space);
    }

    std::span<const Index> margin(Index kind) const { return columns.margin(example_column[kind]); }
    std::vector<LetterExpansion> expand(const std::vector<Index>& counts) const {
        std::vector<LetterExpansion> letters(counts.size());
        parallel_for_chunks(context, kStage, threads, static_cast<Index>(counts.size()),
                            8 * threads, [&](Index at, int) {
                                letters[at] = expand_letter(columns.row_count(), counts[at], nodes,
                                                            differences);
                            });
        return letters;
    }

    void collect_margins() {
        std::map<std::vector<Index>, Index> kinds;
        for (Index column = 0; column < columns.column_count(); ++column) {
            const auto counts = columns.margin(column);
            const auto [found, is_new] =
                kinds.try_emplace(std::vector<Index>(counts.begin(), counts.end()),
                                  static_cast<Index>(example_column.size()));
            if (is_new) example_column.push_back(column);
            margin_kind.push_back(found->second);
        }
    }

    void make_basis() {
        std::set<Index> counts(columns.counts.begin(), columns.counts.end());
        counts.erase(columns.row_count());
        const auto letters =
            expand(evenly_chosen({counts.begin(), counts.end()}, kRepresentatives));
        basis = std::make_unique<TripleBasis>(columns.row_count(), nodes, letters);
        space.basis = basis.get();
    }

    void make_third_columns() {
        const Index kinds = static_cast<Index>(example_column.size());
        StageProgress progress(context, kStage, kinds, "distinct columns");
        third_columns.resize(kinds);
        for (Index first = 0, last = 0; first < kinds; first = last) {
            std::set<Index> distinct;
            for (; last < kinds; ++last) {
                std::set<Index> more(distinct);
                for (const Index count : margin(last)) more.insert(count);
                if (last > first && static_cast<Index>(more.size()) > kMaxCounts) break;
                distinct = std::move(more);
            }
            const std::vector<Index> counts(distinct.begin(), distinct.end());
            const auto letters = expand(counts);
            parallel_for_chunks(
                context, kStage, threads, last - first, 8 * threads, [&](Index at, int) {
                    std::vector<const LetterExpansion*> own;
                    for (const Index count : margin(first + at))
                        own.push_back(
                            &letters[std::lower_bound(counts.begin(), counts.end(), count) -
                                     counts.begin()]);
                    third_columns[first + at] =
                        make_third_column_vectors(space, margin(first + at), own);
                });
            progress.advance_to(last);
        }
    }

    void make_pairs(const TripleTile& tile) {
        const auto is_kept = [&](int side) {
            return !pair_rows.empty() && tile.side[side].first == pair_side[side].first &&
                   tile.side[side].count == pair_side[side].count;
        };
        std::vector<std::pair<Index, Index>> wanted;
        if (!is_kept(0) || !is_kept(1)) {
            pair_rows.clear();
            pairs.clear();
        }
        pair_side[0] = tile.side[0];
        pair_side[1] = tile.side[1];
        const auto kinds = static_cast<Index>(example_column.size());
        // Reserves memory for all pairs of tiles with these sides, so that the list is not copied
        // as it grows.
        pairs.reserve(std::min(kinds * (kinds + 1) / 2, pair_side[0].count * pair_side[1].count) *
                      (1 + space.terms()));
        for (const auto& row : tile.rows) {
            const auto key = std::minmax(margin_kind[row.i], margin_kind[row.j]);
            if (pair_rows.try_emplace({key.first, key.second}, static_cast<Index>(pair_rows.size()))
                    .second)
                wanted.emplace_back(key.first, key.second);
        }
        const Index stride = 1 + space.terms();
        const Index kept = static_cast<Index>(pairs.size()) / stride;
        pairs.resize(pairs.size() + wanted.size() * stride);
        parallel_for_chunks(context, kStage, threads, static_cast<Index>(wanted.size()),
                            32 * threads, [&](Index at, int thread) {
                                double* terms = pairs.data() + (kept + at) * stride;
                                const auto [i, j] = wanted[at];
                                terms[0] = makers[thread].make(margin(i), margin(j), terms + 1);
                            });
    }

    const double* pair(Index i, Index j) const {
        const auto key = std::minmax(margin_kind[i], margin_kind[j]);
        return pairs.data() + pair_rows.at({key.first, key.second}) * (1 + space.terms());
    }
    void row(const TripleTile::Row& row, double* mean, double* variance) const {
        const auto all = static_cast<double>(columns.row_count());
        const double* terms = pair(row.i, row.j);
        const bool are_constant =
            columns.symbol_count(row.i) == 1 && columns.symbol_count(row.j) == 1;
        const double* of_mean[4];
        const double* of_variance[4];
        double found[4];
        for (Index first = 0; first < row.count; first += 4) {
            const Index count = std::min(Index{4}, row.count - first);
            for (Index at = 0; at < 4; ++at) {
                const Index k = row.first_k + first + std::min(at, count - 1);
                of_mean[at] = third_columns[margin_kind[k]].mean.data();
                of_variance[at] = third_columns[margin_kind[k]].variance.data();
            }
            loops::products(terms + 1, of_mean, nodes.size(), found);
            for (Index at = 0; at < count; ++at)
                mean[first + at] = std::max(0.0, terms[0] + found[at]) / all;
            if (variance == nullptr) continue;
            loops::products(terms + 1, of_variance, space.terms(), found);
            for (Index at = 0; at < count; ++at)
                variance[first + at] =
                    are_constant || found[at] < kNoise ? 0 : found[at] / (all * all);
        }
    }

    void run(const TripleTile& tile, View<double, 1> mean, double* variance) {
        make_pairs(tile);
        parallel_for_chunks(context, kStage, threads, static_cast<Index>(tile.rows.size()), 4096,
                            [&](Index at, int) {
                                const auto& of_row = tile.rows[at];
                                row(of_row, mean.data + of_row.offset,
                                    variance == nullptr ? nullptr : variance + of_row.offset);
                            });
    }

    const CodedColumns& columns;
    const Context& context;
    bool with_variance;
    int threads;
    Differences differences;
    CountNodes nodes;
    std::unique_ptr<TripleBasis> basis;
    TripleSpace space;
    std::vector<Index> margin_kind;  // [column]: the number of its margin among the distinct ones
    std::vector<Index> example_column;              // [kind]: a column with this margin
    std::vector<ThirdColumnVectors> third_columns;  // [kind]
    std::vector<PairVectorMaker> makers;
    Block pair_side[2] = {};
    std::map<std::pair<Index, Index>, Index> pair_rows;  // [two kinds]: their row in `pairs`
    std::vector<double> pairs;                           // [pair]: its own mean, then its terms
};

TripleMoments::TripleMoments(const CodedColumns& columns, const Context& context,
                             bool with_variance)
    : implementation_(std::make_unique<Implementation>(columns, context, with_variance)) {}

TripleMoments::~TripleMoments() = default;

void TripleMoments::mean(const TripleTile& tile, View<double, 1> mean) {
    implementation_->run(tile, mean, nullptr);
}

void TripleMoments::moments(const TripleTile& tile, View<double, 1> mean,
                            View<double, 1> variance) {
    if (!implementation_->with_variance)
        throw UsageError("triple moments: give with_variance to compute variances");
    implementation_->run(tile, mean, variance.data);
}

std::int64_t TripleMoments::tile_bytes(const Size& size) {
    const Index side = std::min(size.side, size.columns);
    return 8 * side * side * (1 + Bounds(size).terms);
}

std::int64_t TripleMoments::bytes(const Size& size) {
    const Bounds bounds(size);
    const Index counts = std::min(size.rows, size.columns * size.symbols);
    // While letters are expanded: mean, slope, coefficients and reaches at all nodes, and for the
    // basis functions of these.
    const Index of_basis =
        size.with_variance ? std::min(counts, kRepresentatives) * (3 * bounds.orders + 4) : 0;
    const Index of_third_columns =
        std::min(counts, kMaxCounts + size.symbols) * (2 * bounds.orders + 4);
    const std::int64_t expanded = 8 * bounds.nodes * std::max(of_basis, of_third_columns);
    const std::int64_t working = tile_bytes(size) + size.threads * maker_bytes(size, bounds);
    const std::int64_t third_columns = size.columns * (8 * (bounds.nodes + bounds.terms) + 64);
    const std::int64_t basis = 8 * bounds.functions * (size.rows + 1 + bounds.nodes);
    return Differences::bytes(size.rows) + CountNodes::bytes(size.rows) + basis + third_columns +
           std::max(expanded, working);
}

double TripleMoments::seconds(const CodedColumns& columns, bool with_variance) {
    // Measured at 140 and 753 rows: per cell of a pair, per letter of a third column, per triple.
    const double width = 1 + std::sqrt(static_cast<double>(columns.row_count())) / 50;
    const double of_cell = (with_variance ? 11e-6 : 0.3e-6) * width;
    const double of_letter = 1e-3 * width, of_triple = with_variance ? 2e-6 : 5e-8;
    std::set<std::vector<Index>> margins;
    for (Index column = 0; column < columns.column_count(); ++column) {
        const auto counts = columns.margin(column);
        margins.emplace(counts.begin(), counts.end());
    }
    double letters = 0, squares = 0;
    for (const auto& counts : margins) {
        letters += static_cast<double>(counts.size());
        squares += static_cast<double>(counts.size() * counts.size());
    }
    const std::set<Index> distinct(columns.counts.begin(), columns.counts.end());
    return of_cell * (letters * letters + squares) / 2 +
           of_letter * static_cast<double>(distinct.size()) +
           of_triple * static_cast<double>(triple_count(columns.column_count()));
}

}  // namespace pleat::mutual_information

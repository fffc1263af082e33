// Gap-free pairs: one table of counts per pair, with margins of its own.
#include "pleat/mutual_information/count/gap_free_pairs.h"

#include <algorithm>
#include <array>

#include "pleat/core/loops/parallel.h"
#include "pleat/core/loops/steps.h"
#include "pleat/mutual_information/count/pair_tiles.h"
#include "pleat/mutual_information/exact/pair_moments.h"

namespace pleat::mutual_information {

namespace {

constexpr const char* kStage = "gaps omitted";

/// Bit c: code c of the column is an omitted letter.
std::uint32_t omitted_codes(const Columns& columns, Index column, LetterSet omitted) {
    std::uint32_t codes = 0;
    for (int code = 0; code < columns.symbol_count(column); ++code) {
        const std::uint8_t letter = columns.letters[columns.first_symbol[column] + code];
        if (omitted & letter_set(letter)) codes |= std::uint32_t{1} << code;
    }
    return codes;
}

/// Renumbers the codes that occur as 0, 1, ... and counts each.
void renumber(std::vector<std::uint8_t>& codes, std::vector<Index>& margin) {
    Index count[kMaxSymbols] = {};
    for (const std::uint8_t code : codes) ++count[code];
    std::uint8_t renumbered[kMaxSymbols] = {};
    margin.clear();
    for (int code = 0; code < kMaxSymbols; ++code) {
        if (count[code] == 0) continue;
        renumbered[code] = static_cast<std::uint8_t>(margin.size());
        margin.push_back(count[code]);
    }
    for (std::uint8_t& code : codes) code = renumbered[code];
}

std::int64_t sum_of(const Statistic& statistic, std::span<const Index> counts) {
    std::int64_t t = 0;
    for (const Index count : counts) t += statistic.f[count];
    return t;
}

/// The results for one pair of columns.
struct PairNumbers {
    double mi = 0, joint_entropy = 0, mean = 0, variance = 0;
};

PairNumbers numbers_of(const PairRows& kept, const Statistic& statistic) {
    const Index rows = kept.count();
    if (rows == 0) return {};
    std::array<Index, kMaxSymbols * kMaxSymbols> table{};
    for (Index row = 0; row < rows; ++row)
        ++table[kept.code_i[row] * kMaxSymbols + kept.code_j[row]];
    const std::int64_t all = statistic.f[rows], t = sum_of(statistic, table);
    const std::int64_t shared =
        (all - sum_of(statistic, kept.margin_i)) - (sum_of(statistic, kept.margin_j) - t);
    const auto n = static_cast<double>(rows);
    // If only one symbol is left in a column, mean and variance are 0.
    const Moments moments = pair_moments(kept.margin_i, kept.margin_j);
    return {std::max(0.0, statistic.bits(shared) / n), statistic.bits(all - t) / n, moments.mean,
            moments.variance};
}

}  // namespace

void PairRows::select_rows(const Columns& columns, Index i, Index j, LetterSet omitted) {
    const std::uint32_t out_i = omitted_codes(columns, i, omitted);
    const std::uint32_t out_j = omitted_codes(columns, j, omitted);
    code_i.clear();
    code_j.clear();
    row.clear();
    for (Index at = 0; at < columns.row_count(); ++at) {
        const std::uint8_t a = columns.codes(i, at), b = columns.codes(j, at);
        if ((out_i >> a | out_j >> b) & 1) continue;
        code_i.push_back(a);
        code_j.push_back(b);
        row.push_back(at);
    }
    renumber(code_i, margin_i);
    renumber(code_j, margin_j);
}

GapFreePairs gap_free_pairs(const Columns& columns, const Statistic& statistic, LetterSet omitted,
                            const Context& context, const std::string& problem_hash) {
    const Index count = columns.column_count(), pairs = pair_count(count);
    GapFreePairs result{{},
                        std::vector<double>(pairs),
                        std::vector<double>(pairs),
                        std::vector<double>(pairs),
                        std::vector<double>(pairs)};
    std::vector<double> rows(pairs);
    const NamedArray arrays[] = {{"rows", rows},
                                 {"mi", result.mi},
                                 {"joint_entropy", result.joint_entropy},
                                 {"mean", result.mean},
                                 {"variance", result.variance}};
    const int threads = resolve_threads(context);
    std::vector<PairRows> kept(threads);
    compute_pair_tiles(
        context, kStage, problem_hash, pair_tiles(count), arrays, [&](const Tile& tile) {
            const auto of_tile = pairs_of(tile);
            parallel_for_chunks(context, kStage, threads, of_tile.size(), 8 * threads,
                                [&](Index at, int thread) {
                                    const auto [i, j] = of_tile[at];
                                    kept[thread].select_rows(columns, i, j, omitted);
                                    const PairNumbers numbers = numbers_of(kept[thread], statistic);
                                    const Index pair = pair_index(i, j, count);
                                    rows[pair] = static_cast<double>(kept[thread].count());
                                    result.mi[pair] = numbers.mi;
                                    result.joint_entropy[pair] = numbers.joint_entropy;
                                    result.mean[pair] = numbers.mean;
                                    result.variance[pair] = numbers.variance;
                                });
        });
    result.rows.assign(rows.begin(), rows.end());
    return result;
}

}  // namespace pleat::mutual_information

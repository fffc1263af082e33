// UPGMA: identities of rows by bit planes, and the tree of average linkage on them.
#include <algorithm>
#include <bit>
#include <numeric>

#include "pleat/cluster/methods/methods.h"
#include "pleat/core/array.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/core/pairs/pair_order.h"
#include "pleat/phylogeny/tree.h"
#include "pleat/weights/kernel.h"

namespace pleat::phylogeny {

std::vector<float> identities(View<const std::uint8_t, 2> letters, int states, int threads) {
    const Index rows = letters.extent(0);
    // Code 0 stands for "no residue", as in the columns that fill up the last word.
    Array<std::uint8_t, 2> codes(rows, letters.extent(1));
    std::transform(letters.begin(), letters.end(), codes.begin(), [&](std::uint8_t letter) {
        return letter < states ? static_cast<std::uint8_t>(letter + 1) : std::uint8_t{0};
    });
    const weights::BitPlanes planes = weights::pack(codes.view(), threads);
    constexpr Index kGroup = weights::BitPlanes::kGroup;
    const auto word_of = [&](Index row, Index word, int plane) {
        const Index one = planes.distinct[static_cast<std::size_t>(row)];
        return planes.bits(one / kGroup, word, plane, one % kGroup);
    };
    std::vector<float> all(static_cast<std::size_t>(pairs_before(rows, rows)));
    parallel_for(threads, rows, [&](Index m, int) {
        float* to = all.data() + pairs_before(m, rows);
        for (Index n = m + 1; n < rows; ++n) {
            int same = 0, both = 0;
            for (Index word = 0; word < planes.word_count(); ++word) {
                std::uint64_t residue_m = 0, residue_n = 0, differs = 0;
                for (int plane = 0; plane < planes.plane_count(); ++plane) {
                    const std::uint64_t a = word_of(m, word, plane), b = word_of(n, word, plane);
                    residue_m |= a;
                    residue_n |= b;
                    differs |= a ^ b;
                }
                const std::uint64_t shared = residue_m & residue_n;
                both += std::popcount(shared);
                same += std::popcount(shared & ~differs);
            }
            *to++ = both > 0 ? static_cast<float>(same) / static_cast<float>(both) : 0.0f;
        }
    });
    return all;
}

double mean_identity(std::span<const float> identities) {
    return std::accumulate(identities.begin(), identities.end(), 0.0) /
           std::max<double>(1, static_cast<double>(identities.size()));
}

Relatedness relatedness(View<const std::uint8_t, 2> letters, int states) {
    constexpr Index kMaxRows = 500;
    constexpr double kMinExcess = 1.5;
    const Index columns = letters.extent(1);
    std::vector<Index> long_rows;  // identities with fragments vary more than those of whole rows
    for (Index row = 0; row < letters.extent(0); ++row)
        if (2 * std::count_if(&letters(row, 0), &letters(row, 0) + columns,
                              [&](std::uint8_t letter) { return letter < states; }) >=
            columns)
            long_rows.push_back(row);
    const Index step = std::max<Index>(1, (std::ssize(long_rows) + kMaxRows - 1) / kMaxRows);
    const Index rows = (std::ssize(long_rows) + step - 1) / step;
    if (rows < 2) return {};
    Array<std::uint8_t, 2> sample(rows, columns);
    for (Index row = 0; row < rows; ++row)
        std::copy_n(&letters(long_rows[row * step], 0), columns, &sample(row, 0));
    const std::vector<float> all = identities(sample.view(), states, 1);
    Relatedness found{.mean_identity = mean_identity(all)};
    double variance = 0, independent = 0;
    for (const float identity : all)
        variance += (identity - found.mean_identity) * (identity - found.mean_identity) /
                    static_cast<double>(all.size());
    for (Index column = 0; column < columns; ++column) {
        std::vector<double> count(static_cast<std::size_t>(states));
        double residues = 0, same = 0;
        for (Index row = 0; row < rows; ++row) {
            if (sample(row, column) >= states) continue;
            ++count[sample(row, column)];
            ++residues;
        }
        for (const double n : count) same += n * n;
        if (residues > 0) same /= residues * residues;
        independent += same * (1 - same);
    }
    found.is_tree = variance * static_cast<double>(columns * columns) > kMinExcess * independent;
    return found;
}

Tree upgma(std::vector<float> identities, std::span<const std::string> names,
           const Context& context) {
    const auto rows = static_cast<Index>(names.size());
    for (float& value : identities) value = 1.0f - value;
    const std::vector<cluster::Merge> merges =
        cluster::link(cluster::Method::average, rows, std::move(identities), context);
    const auto height = [&](Index item) {
        return item < rows ? 0.0 : merges[static_cast<std::size_t>(item - rows)].height / 2;
    };
    struct Visit {
        Index item, parent;
        double from;  // height of the parent
    };
    Tree tree;
    std::vector<Visit> stack = {{2 * rows - 2, -1, height(2 * rows - 2)}};
    while (!stack.empty()) {
        const auto [item, parent, from] = stack.back();
        stack.pop_back();
        const bool is_row = item < rows;
        const Index node = tree.add(parent, is_row ? names[static_cast<std::size_t>(item)] : "",
                                    is_row ? item : -1);
        // Rounding to float32 may lift a merge by a trace above the next one.
        tree.length.back() = std::max(0.0, from - height(item));
        if (is_row) continue;
        const cluster::Merge& merge = merges[static_cast<std::size_t>(item - rows)];
        stack.push_back({merge.second, node, height(item)});
        stack.push_back({merge.first, node, height(item)});
    }
    return tree;
}

}  // namespace pleat::phylogeny

// Reference kernel: tables counted row by row, as in the paper, on one thread.
#include <algorithm>
#include <array>
#include <vector>

#include "pleat/core/array.h"
#include "pleat/mutual_information/kernel/kernel.h"
#include "pleat/mutual_information/kernel/shuffle.h"

namespace pleat::mutual_information {

namespace {

class ReferenceKernel final : public Kernel {
public:
    explicit ReferenceKernel(const Problem& problem)
        : columns_(*problem.columns), statistic_(*problem.statistic), seed_(problem.seed) {}

    void observe_pairs(View<std::int64_t, 1> t) override {
        pairs(columns_.codes, [&](Index pair, std::int64_t found) { t[pair] = found; });
    }

    void observe_triples(const TripleTile& tile, View<std::int64_t, 1> t) override {
        triples(tile, columns_.codes, columns_.codes,
                [&](Index triple, std::int64_t found) { t[triple] = found; });
    }

    void sample_pairs(Block shuffles, View<const std::int64_t, 1> observed, NullSums& sums,
                      const LargestZ* highest_z) override {
        for (Index s = 0; s < shuffles.count; ++s) {
            const Array<std::uint8_t, 2> shuffled = shuffle(shuffles.first + s);
            pairs(shuffled, [&](Index pair, std::int64_t found) {
                const std::int64_t d = add(pair, found - observed[pair], sums);
                if (highest_z == nullptr || highest_z->z_factor[pair] == 0) return;
                const double z = (static_cast<double>(d) - highest_z->z_centre[pair]) *
                                 highest_z->z_factor[pair];
                highest_z->max_z[s] = std::max(highest_z->max_z[s], z);
            });
        }
    }

    void sample_triples(const TripleTile& tile, Block shuffles,
                        View<const std::int64_t, 1> observed, NullSums& sums) override {
        Array<std::uint8_t, 2> sorted = columns_.codes;
        for (Index i = 0; i < columns_.column_count(); ++i) {
            View<std::uint8_t, 1> codes = sorted[i];
            std::sort(codes.begin(), codes.end());
        }
        for (Index s = shuffles.first; s < shuffles.first + shuffles.count; ++s) {
            triples(tile, sorted, shuffle(s), [&](Index triple, std::int64_t found) {
                add(triple, found - observed[triple], sums);
            });
        }
    }

private:
    Array<std::uint8_t, 2> shuffle(Index number) const {
        Array<std::uint8_t, 2> codes(columns_.column_count(), columns_.row_count());
        for (Index c = 0; c < columns_.column_count(); ++c) {
            shuffle_column(columns_.margin(c), seed_, static_cast<std::uint32_t>(number),
                           static_cast<std::uint32_t>(c),
                           {codes[c].data, static_cast<std::size_t>(columns_.row_count())});
        }
        return codes;
    }

    std::int64_t add(Index item, std::int64_t difference, NullSums& sums) const {
        const std::int64_t d = moment_difference(difference, statistic_.shift);
        const std::int64_t cube = d * d * d;
        sums.less_count[item] += difference < 0;
        sums.equal_count[item] += difference == 0;
        sums.first[item] += d;
        sums.second[item] += d * d;
        sums.third_low[item] += cube & 0xffffffff;
        sums.third_high[item] += cube >> 32;
        return d;
    }

    template <class Report>
    void pairs(const Array<std::uint8_t, 2>& codes, Report report) const {
        const Index columns = columns_.column_count(), rows = columns_.row_count();
        for (Index i = 0, pair = 0; i < columns; ++i) {
            for (Index j = i + 1; j < columns; ++j, ++pair) {
                std::array<Index, kMaxSymbols * kMaxSymbols> table{};
                for (Index row = 0; row < rows; ++row)
                    ++table[codes(i, row) * kMaxSymbols + codes(j, row)];
                report(pair, sum(table));
            }
        }
    }

    template <class Report>
    void triples(const TripleTile& tile, const Array<std::uint8_t, 2>& of_i,
                 const Array<std::uint8_t, 2>& others, Report report) const {
        std::vector<Index> table;
        for (const TripleTile::Row& at : tile.rows) {
            for (Index n = 0; n < at.count; ++n) {
                table.assign(kMaxSymbols * kMaxSymbols * kMaxSymbols, 0);
                const Index k = at.first_k + n;
                for (Index row = 0; row < columns_.row_count(); ++row)
                    ++table[(of_i(at.i, row) * kMaxSymbols + others(at.j, row)) * kMaxSymbols +
                            others(k, row)];
                report(at.offset + n, sum(table));
            }
        }
    }

    template <class Table>
    std::int64_t sum(const Table& table) const {
        std::int64_t total = 0;
        for (const Index n : table) total += statistic_.f[n];
        return total;
    }

    const CodedColumns& columns_;
    const Statistic& statistic_;
    std::uint64_t seed_;
};

}  // namespace

std::unique_ptr<Kernel> make_reference_kernel(const Problem& problem) {
    return std::make_unique<ReferenceKernel>(problem);
}

}  // namespace pleat::mutual_information

// CPU kernel: shuffles in batches that stay in the cache, blocks of columns spread over threads.
#include <algorithm>
#include <limits>
#include <mutex>
#include <vector>

#include "pleat/core/loops/parallel.h"
#include "pleat/mutual_information/kernel/kernel.h"
#include "pleat/mutual_information/kernel/plane_counts.h"

namespace pleat::mutual_information {

namespace {

constexpr Index kMaxGroups = 8;                // groups of shuffles per batch
constexpr std::int64_t kBlockBytes = 1 << 20;  // planes of two blocks of columns: half a cache
constexpr std::int64_t kBatchBytes = 256 << 20;

Block whole(const CodedColumns& columns) { return {0, columns.column_count()}; }

class CpuKernel final : public Kernel {
public:
    CpuKernel(const Problem& problem, int threads)
        : columns_(*problem.columns),
          statistic_(*problem.statistic),
          seed_(problem.seed),
          threads_(threads),
          rare_rows_(static_cast<std::size_t>(columns_.column_count())),
          scratch_(static_cast<std::size_t>(threads)) {
        for (std::size_t column = 0; column < rare_rows_.size(); ++column)
            for (Index row = 0; row < columns_.row_count(); ++row)
                if (columns_.codes(column, row) != 0)
                    rare_rows_[column].push_back(static_cast<std::uint32_t>(row));
    }

    void observe_pairs(View<std::int64_t, 1> t) override {
        const Index count = columns_.column_count();
        parallel_for(threads_, count, [&](Index i, int) {
            const std::uint8_t* const codes = columns_.codes[i].data;
            const std::span<const Index> margin = columns_.margin(i);
            const Joint joint{{codes, codes + columns_.row_count()},
                              {margin.begin(), margin.end()}};
            for (Index j = i + 1; j < count; ++j)
                t[pair_index(i, j, count)] = table_statistic(joint, j);
        });
    }

    void observe_triples(const TripleTile& tile, View<std::int64_t, 1> t) override {
        const Index rows = columns_.row_count();
        parallel_for(threads_, static_cast<Index>(tile.rows.size()), [&](Index r, int) {
            const TripleTile::Row& at = tile.rows[r];
            const int width = columns_.symbol_count(at.j);
            Joint joint{std::vector<std::uint16_t>(rows),
                        std::vector<std::uint32_t>(columns_.symbol_count(at.i) * width)};
            for (Index row = 0; row < rows; ++row) {
                joint.codes[row] = static_cast<std::uint16_t>(columns_.codes(at.i, row) * width +
                                                              columns_.codes(at.j, row));
                ++joint.counts[joint.codes[row]];
            }
            for (Index n = 0; n < at.count; ++n)
                t[at.offset + n] = table_statistic(joint, at.first_k + n);
        });
    }

    void sample_pairs(Block shuffles, View<const std::int64_t, 1> observed, NullSums& sums,
                      const LargestZ* highest_z) override {
        const PlaneLayout layout(columns_, whole(columns_), {});
        in_batches(layout, shuffles, false, [&](Index first, const PlaneGroups& groups) {
            const std::vector<BlockPair> blocks = block_pairs(layout, groups.last);
            Array<double, 2> highest(Index{threads_}, groups.last * kLanes);
            highest.fill(-std::numeric_limits<double>::infinity());
            parallel_for(threads_, static_cast<Index>(blocks.size()), [&](Index at, int thread) {
                count_block(groups, blocks[at], observed, highest_z, highest[thread].data, sums);
            });
            if (highest_z == nullptr) return;
            for (Index thread = 0; thread < threads_; ++thread)
                for (Index s = 0; s < groups.shuffles; ++s)
                    highest_z->max_z[first + s] =
                        std::max(highest_z->max_z[first + s], highest(thread, s));
        });
    }

    void sample_triples(const TripleTile& tile, Block shuffles,
                        View<const std::int64_t, 1> observed, NullSums& sums) override {
        // A task covers the rows of one column i in some groups of a batch.
        std::vector<Block> of_i;
        for (Index row = 0; row < static_cast<Index>(tile.rows.size()); ++row) {
            if (row == 0 || tile.rows[row].i != tile.rows[row - 1].i) of_i.push_back({row, 0});
            ++of_i.back().count;
        }
        const PlaneLayout layout(columns_, tile.side[1], tile.side[2]);
        const auto count = static_cast<Index>(of_i.size());
        std::mutex adding;
        const bool with_codes = std::ranges::any_of(
            tile.rows, [&](const TripleTile::Row& row) { return counts_by_rows(columns_, row); });
        in_batches(layout, shuffles, with_codes, [&](Index, const PlaneGroups& groups) {
            const Index parts = std::clamp<Index>(2 * threads_ / count, 1, groups.last);
            parallel_for(threads_, count * parts, [&](Index task, int thread) {
                const Block& rows = of_i[task / parts];
                PlaneGroups mine = groups;
                mine.first = task % parts * groups.last / parts;
                mine.last = (task % parts + 1) * groups.last / parts;
                const Index last_row = rows.first + rows.count;
                const Index first_item = tile.rows[rows.first].offset;
                const TripleTile::Row& last = tile.rows[last_row - 1];
                std::vector<SumsByLane> lanes(last.offset + last.count - first_item);
                count_triples(mine, tile, rows.first, last_row, observed, scratch_[thread],
                              lanes.data());
                const std::lock_guard lock(adding);
                for (std::size_t item = 0; item < lanes.size(); ++item)
                    lanes[item].add_to(sums, first_item + static_cast<Index>(item));
            });
        });
    }

private:
    struct BlockPair {
        Block i, j;
    };
    /// Calls `count(first shuffle, planes)` for each batch of the shuffles.
    template <class Count>
    void in_batches(const PlaneLayout& layout, Block shuffles, bool with_codes, Count count) {
        const Index groups = (shuffles.count + kLanes - 1) / kLanes;
        // Columns of one symbol have no planes.
        const Index fitting = kBatchBytes / std::max<std::int64_t>(1, layout.group_bytes());
        const Index batch = std::clamp<Index>(fitting, 1, std::clamp<Index>(groups, 1, kMaxGroups));
        const Index size = batch * layout.group_bytes() / 8;
        if (bits_.size() < size) bits_ = Array<std::uint64_t, 1>(size);
        const Index code_size = with_codes ? batch * layout.group_code_bytes() : 0;
        if (codes_.size() < code_size) codes_ = Array<std::uint8_t, 1>(code_size);
        std::uint8_t* const codes = with_codes ? codes_.data() : nullptr;
        for (Index done = 0; done < groups; done += batch) {
            const Index now = std::min(batch, groups - done);
            shuffle_planes(columns_, layout, seed_, shuffles.first + done * kLanes, now, threads_,
                           bits_.data(), codes);
            count(done * kLanes,
                  PlaneGroups{&columns_, &layout, &statistic_, bits_.data(), codes, 0, now,
                              std::min(now * kLanes, shuffles.count - done * kLanes)});
        }
    }

    std::vector<BlockPair> block_pairs(const PlaneLayout& layout, Index groups) const {
        const Index count = columns_.column_count();
        const std::int64_t column_bytes = groups * layout.group_bytes() / count + 1;
        const Index side = std::clamp<Index>(kBlockBytes / (2 * column_bytes), 4, 64);
        std::vector<BlockPair> pairs;
        for (Index i = 0; i < count; i += side)
            for (Index j = i; j < count; j += side)
                pairs.push_back({{i, std::min(side, count - i)}, {j, std::min(side, count - j)}});
        return pairs;
    }

    void count_block(const PlaneGroups& groups, const BlockPair& blocks,
                     View<const std::int64_t, 1> observed, const LargestZ* highest_z,
                     double* largest_z, NullSums& sums) const {
        const Index last_i = blocks.i.first + blocks.i.count,
                    last_j = blocks.j.first + blocks.j.count;
        for (Index i = blocks.i.first; i < last_i; ++i) {
            for (Index j = std::max(i + 1, blocks.j.first); j < last_j; ++j) {
                const Index pair = pair_index(i, j, columns_.column_count());
                PairTarget target{i, j, observed[pair]};
                if (highest_z != nullptr) {
                    target.z_centre = highest_z->z_centre[pair];
                    target.z_factor = highest_z->z_factor[pair];
                }
                SumsByLane lanes{};
                count_pair(groups, target, largest_z, lanes);
                lanes.add_to(sums, pair);
            }
        }
    }

    /// The symbol, or pair of symbols, of each row, and the number of rows with each.
    struct Joint {
        std::vector<std::uint16_t> codes;
        std::vector<std::uint32_t> counts;
    };
    /// T of the table of `joint` and one unshuffled column of the alignment.
    std::int64_t table_statistic(const Joint& joint, Index column) const {
        const Index width = columns_.symbol_count(column);
        const std::uint8_t* const codes = columns_.codes[column].data;
        thread_local std::vector<std::uint32_t> table;
        table.assign(joint.counts.size() * static_cast<std::size_t>(width), 0);
        // The most frequent symbol has many rows; its cells follow by subtraction.
        for (const std::uint32_t row : rare_rows_[column])
            ++table[joint.codes[row] * width + codes[row]];
        std::int64_t total = 0;
        for (std::size_t cell = 0; cell < joint.counts.size(); ++cell) {
            std::uint32_t left = joint.counts[cell];
            if (left < 2) continue;
            for (Index symbol = 1; symbol < width; ++symbol) {
                const std::uint32_t n = table[cell * static_cast<std::size_t>(width) + symbol];
                total += statistic_.f[n];
                left -= n;
            }
            total += statistic_.f[left];
        }
        return total;
    }

    const CodedColumns& columns_;
    const Statistic& statistic_;
    std::uint64_t seed_;
    int threads_;
    std::vector<std::vector<std::uint32_t>> rare_rows_;  // [column]: rows with symbols other than 0
    Array<std::uint64_t, 1> bits_;
    Array<std::uint8_t, 1> codes_;
    std::vector<TripleScratch> scratch_;
};

}  // namespace

std::unique_ptr<Kernel> make_cpu_kernel(const Problem& problem, const Context& context) {
    return std::make_unique<CpuKernel>(problem, resolve_threads(context));
}

}  // namespace pleat::mutual_information

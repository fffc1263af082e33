// GPU kernel: the kernel of mutual information on a GPU: uploads, batches of shuffles, launches and
// results.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "pleat/core/cuda/gpu_sides.h"
#include "pleat/core/hardware/memory.h"
#include "pleat/mutual_information/cuda/count_steps.cuh"
#include "pleat/mutual_information/cuda/cuda_layout.h"
#include "pleat/mutual_information/cuda/shuffle_steps.cuh"
#include "pleat/mutual_information/kernel/kernel.h"

namespace pleat::mutual_information::cuda {

/// Bytes left free for the CUDA runtime.
constexpr std::int64_t kReserve = std::int64_t{64} << 20;

using pleat::cuda::Sides;
using pleat::cuda::upload;

constexpr Index blocks_of(const CountTask& task, const CountShare& share) {
    return ((task.rows + share.rows - 1) / share.rows) *
           Index{(task.columns + share.columns - 1) / share.columns};
}

/// Counts on a `Gpu`: CudaGpu, or a host emulation.
template <class Gpu>
class GpuKernel final : public Kernel {
public:
    GpuKernel(const Problem& problem, Gpu gpu)
        : problem_(problem), gpu_(std::move(gpu)), stride_(plane_stride(rows())) {
        const CodedColumns& from = *problem.columns;
        std::vector<std::int32_t> first_symbol, counts;
        const std::vector<std::uint32_t> margin(from.counts.begin(), from.counts.end());
        std::vector<Index> pair_rows;
        for (Index column = 0; column < columns(); ++column) {
            first_symbol.push_back(static_cast<std::int32_t>(from.first_symbol[column]));
            counts.push_back(plane_count(from.margin(column)));
            pair_rows.push_back(pair_index(column, 0, columns()));
        }
        first_symbol.push_back(static_cast<std::int32_t>(from.first_symbol.back()));
        const Block all{0, columns()};
        host_first_plane_ = first_bit_planes(from, {&all, 1});
        const std::vector<Strip> strips = make_strips(host_first_plane_, all);
        pair_strip_count_ = static_cast<Index>(strips.size());
        upload(first_symbol_, first_symbol);
        upload(first_plane_, host_first_plane_);
        upload(plane_counts_, counts);
        upload(margin_, margin);
        upload(pair_rows_, pair_rows);
        upload(pair_strips_, strips);
        codes_ = Array<std::uint8_t>(from.codes.size());
        codes_.upload(from.codes.data());
        upload(f_,
               std::vector<long long>(problem.statistic->f.begin(), problem.statistic->f.end()));
    }

    void observe_pairs(View<std::int64_t, 1> t) override {
        if (t.size() == 0) return;
        const Index words = arrangement_words(*problem_.columns);
        make_room_to_observe(item_bytes(t.size(), 0) + 4 * (words + padding_words()));
        grow(arranged_, words + padding_words());
        grow(items_.observed, t.size());
        const ArrangeTask arrange{codes_.data(),        nullptr, nullptr,
                                  plane_counts_.data(), rows(),  columns()};
        timer_.start();
        gpu_.launch("arrange columns", &arrange_columns, Sides{columns()}, Sides{kLanes}, 0,
                    arrange, PlaneSet{arranged_.data(), first_plane_.data(), words, stride_});
        CountTask task = pair_task();
        task.planes = arranged_.data();
        task.t = items_.observed.data();
        launch_count(task, 1);
        timer_.stop();
        items_.observed.download(reinterpret_cast<long long*>(t.data), 0, t.size());
        gpu_seconds_ += timer_.seconds();
    }

    /// Each column i has its own arrangement of planes, with rows sorted by that column.
    void observe_triples(const TripleTile& tile, View<std::int64_t, 1> t) override {
        if (tile.count == 0) return;
        const Block &i = tile.side[0], &j = tile.side[1], &k = tile.side[2];
        const std::vector<std::int32_t> first =
            first_bit_planes(*problem_.columns, {&tile.side[1], 2});
        std::vector<std::int32_t> columns;
        for (const Block& block : {j, k}) {
            for (Index n = 0; n < block.count; ++n)
                columns.push_back(static_cast<std::int32_t>(block.first + n));
        }
        const Index words = first.back() * stride_;
        const std::int64_t other_bytes =
            item_bytes(tile.count, 0) + 4 * (padding_words() + i.count * rows());
        make_room_to_observe(other_bytes + 4 * i.count * words);
        const std::int64_t room = gpu_.free_bytes() + 4 * arranged_.size() - kReserve - other_bytes;
        const Index at_once = std::clamp<Index>(room / (4 * words), 1, i.count);
        grow(arranged_, at_once * words + padding_words());
        grow(items_.observed, tile.count);
        upload_order(i);
        upload(arranged_first_, first);
        upload(arranged_column_, columns);
        const std::span<const std::int32_t> starts = first;
        upload_tile(tile, starts.first(j.count + 1), starts.subspan(j.count));
        const PlaneSet to{arranged_.data(), arranged_first_.data(), words, stride_};
        timer_.start();
        for (Index done = 0; done < i.count; done += at_once) {
            const Index arrangements = std::min(at_once, i.count - done);
            const ArrangeTask arrange{codes_.data(),
                                      order_.data() + done * rows(),
                                      arranged_column_.data(),
                                      plane_counts_.data(),
                                      rows(),
                                      static_cast<Index>(columns.size())};
            gpu_.launch("arrange columns", &arrange_columns, Sides{arrange.positions, arrangements},
                        Sides{kLanes}, 0, arrange, to);
            CountTask task = triple_task(tile);
            task.planes = arranged_.data();
            task.arrangement_stride = words;
            task.t = items_.observed.data();
            task.first_i += done;
            task.first_item += done * j.count;
            task.i_of_arrangement = true;
            launch_count(task, arrangements);
        }
        timer_.stop();
        items_.observed.download(reinterpret_cast<long long*>(t.data), 0, tile.count);
        gpu_seconds_ += timer_.seconds();
    }

    void sample_pairs(Block shuffles, View<const std::int64_t, 1> observed, NullSums& sums,
                      const LargestZ* highest_z) override {
        const Index items = sums.items();
        if (items == 0 || shuffles.count == 0) return;
        const Batches batches = make_room(shuffles.count, items);
        items_.begin(gpu_, observed, items);
        if (highest_z != nullptr) items_.upload(*highest_z, items, shuffles.count);
        sample(pair_task(), shuffles, batches, highest_z != nullptr);
        items_.add_to(sums);
        gpu_seconds_ += timer_.seconds();
        if (highest_z != nullptr) items_.download(*highest_z, shuffles.count);
    }

    void sample_triples(const TripleTile& tile, Block shuffles,
                        View<const std::int64_t, 1> observed, NullSums& sums) override {
        if (tile.count == 0 || shuffles.count == 0) return;
        const Batches batches = make_room(shuffles.count, tile.count);
        items_.begin(gpu_, observed, tile.count);
        const std::span<const std::int32_t> first = host_first_plane_;
        upload_tile(tile, first.subspan(tile.side[1].first, tile.side[1].count + 1),
                    first.subspan(tile.side[2].first, tile.side[2].count + 1));
        sample(triple_task(tile), shuffles, batches, false);
        items_.add_to(sums);
        gpu_seconds_ += timer_.seconds();
    }

    double gpu_seconds() const override { return gpu_seconds_; }

private:
    template <class T>
    using Array = typename Gpu::template Array<T>;

    Index columns() const { return problem_.columns->column_count(); }
    Index rows() const { return problem_.columns->row_count(); }
    PlaneSet shuffled_planes() const {
        return {planes_.data(), first_plane_.data(), arrangement_words(*problem_.columns), stride_};
    }
    /// Words behind the last plane that a warp may read, since it reads whole strips.
    Index padding_words() const { return kStripPlanes * stride_ + 8; }

    /// Number of CTAs that shuffle at a time with codes in scratch memory; 0 if codes are in shared
    /// memory.
    Index scratch_blocks(std::int64_t available) const {
        const std::int64_t bytes = 4 * LaneCodes::size(rows());
        if (bytes <= gpu_.max_shared_bytes()) return 0;
        constexpr Index kBlocksPerProcessor = 8;
        return std::clamp<Index>(available / 8 / bytes, 1, kBlocksPerProcessor * gpu_.processors());
    }

    /// Allocates planes and differences, and returns how many groups fit. Throws DeviceError.
    Batches make_room(Index shuffles, Index items) {
        const std::int64_t allocated =
            4 * (planes_.size() + differences_.size() + scratch_.size()) + items_.bytes();
        const std::int64_t free = gpu_.free_bytes() + allocated - kReserve;
        const Index blocks = scratch_blocks(free);
        const std::int64_t other_bytes = item_bytes(items, shuffles) + 4 * padding_words() +
                                         4 * blocks * LaneCodes::size(rows());
        const std::int64_t group = group_bytes(*problem_.columns),
                           differences = difference_bytes(items);
        const Batches batches =
            fit_batches(word_count(shuffles), group, differences, free - other_bytes);
        if (batches.groups == 0) {
            require_memory(group + differences + other_bytes,
                           std::to_string(kLanes) + " shuffles of " + std::to_string(columns()) +
                               " columns of " + std::to_string(rows()) + " rows",
                           "leave out columns or rows, or use --device cpu",
                           std::max<std::int64_t>(free, 0), " on " + gpu_.name());
        }
        const Index size = batches.groups * group / 4 + padding_words();
        if (planes_.size() != size) {
            differences_ = {};
            planes_ = {};
            resident_groups_ = 0;
            planes_ = Array<std::uint32_t>(size);
        }
        grow(scratch_, blocks * LaneCodes::size(rows()));
        grow(differences_, batches.counted_groups * differences / 4);
        return batches;
    }

    /// Frees the planes of shuffles if fewer than these bytes would be left.
    void make_room_to_observe(std::int64_t bytes) {
        if (gpu_.free_bytes() >= kReserve + bytes) return;
        differences_ = {};
        planes_ = {};
        resident_groups_ = 0;
    }

    /// Computes the planes of `groups` groups of shuffles from shuffle `first` on, unless they are
    /// already in memory.
    void shuffle(Index first, Index groups) {
        if (resident_groups_ >= groups && resident_first_ == first) return;
        const ColumnTable table{first_symbol_.data(), margin_.data(), plane_counts_.data(),
                                columns(), rows()};
        const PlaneSet to = shuffled_planes();
        const Index code_words = LaneCodes::size(rows()), tasks = columns() * groups;
        const auto number = static_cast<std::uint32_t>(first);
        const std::uint64_t seed = problem_.seed;
        if (scratch_.size() == 0) {
            constexpr Index kMaxBlocks = Index{1} << 30;
            gpu_.launch("shuffle columns", &shuffle_columns<true>,
                        Sides{std::min(tasks, kMaxBlocks)}, Sides{kLanes}, 4 * code_words, table,
                        seed, number, groups, nullptr, to);
        } else {
            const Index blocks = std::min(tasks, scratch_.size() / code_words);
            gpu_.launch("shuffle columns", &shuffle_columns<false>, Sides{blocks}, Sides{kLanes}, 0,
                        table, seed, number, groups, scratch_.data(), to);
        }
        resident_first_ = first;
        resident_groups_ = groups;
    }

    /// Uploads a tile's first_items(), and the strips of its second and third sides; the planes of
    /// their columns begin at these positions of an arrangement.
    void upload_tile(const TripleTile& tile, std::span<const std::int32_t> first_of_rows,
                     std::span<const std::int32_t> first_of_columns) {
        const std::vector<Strip> across = make_strips(first_of_rows, tile.side[1]);
        const std::vector<Strip> down = make_strips(first_of_columns, tile.side[2]);
        upload(row_strips_, across);
        upload(column_strips_, down);
        row_strip_count_ = static_cast<Index>(across.size());
        column_strip_count_ = static_cast<Index>(down.size());
        upload(triple_rows_, first_items(tile));
    }

    /// Uploads sorted_rows() of a block of columns, unless they are already in memory.
    void upload_order(Block columns) {
        if (ordered_by_.first == columns.first && ordered_by_.count == columns.count) return;
        upload(order_, sorted_rows(*problem_.columns, columns));
        ordered_by_ = columns;
    }

    CountTask count_task() const {
        CountTask task{};
        task.planes = planes_.data();
        task.arrangement_stride = arrangement_words(*problem_.columns);
        task.stride = static_cast<int>(stride_);
        task.first_symbol = first_symbol_.data();
        task.slices = plane_counts_.data();
        task.margin = margin_.data();
        task.alignment_rows = static_cast<std::uint32_t>(rows());
        task.f = f_.data();
        task.f_size = static_cast<int>(f_.size());
        task.observed = items_.observed.data();
        task.differences = differences_.data();
        task.shift = problem_.statistic->shift;
        return task;
    }

    CountTask pair_task() const {
        CountTask task = count_task();
        task.row_strips = task.column_strips = pair_strips_.data();
        task.rows = task.columns = static_cast<int>(pair_strip_count_);
        task.first_i = -1;
        task.count_i = 1;
        task.first_item = pair_rows_.data();
        task.count_j = columns();
        task.items = pair_count(columns());
        return task;
    }

    CountTask triple_task(const TripleTile& tile) const {
        CountTask task = count_task();
        task.row_strips = row_strips_.data();
        task.column_strips = column_strips_.data();
        task.rows = static_cast<int>(row_strip_count_);
        task.columns = static_cast<int>(column_strip_count_);
        task.first_i = tile.side[0].first;
        task.count_i = tile.side[0].count;
        task.first_item = triple_rows_.data();
        task.first_j = tile.side[1].first;
        task.count_j = tile.side[1].count;
        task.items = tile.count;
        return task;
    }

    CountShare share_of(const CountTask& task) const {
        return plan_share(task.rows, task.columns, task.f_size, task.stride,
                          gpu_.max_shared_bytes());
    }
    void launch_count(CountTask task, Index arrangements) {
        const CountShare share = share_of(task);
        task.cta_rows = share.rows;
        task.cta_columns = share.columns;
        const auto kernel =
            share.planes_in_shared
                ? (share.f_in_shared ? &count_tables<true, true> : &count_tables<true, false>)
                : (share.f_in_shared ? &count_tables<false, true> : &count_tables<false, false>);
        gpu_.launch("count tables", kernel, Sides{arrangements * blocks_of(task, share)},
                    Sides{kLanes, kCountWarps}, share.bytes, task);
    }

    /// Counts the tables of a task in all groups of shuffles, and adds their differences to the
    /// sums.
    void sample(CountTask task, Block shuffles, const Batches& batches, bool finds_largest) {
        constexpr Index kMaxBlocks = Index{1} << 30, kEnoughBlocks = 2048;
        const Index max_arrangements =
            std::max<Index>(1, kMaxBlocks / blocks_of(task, share_of(task)));
        const Index at_once = std::min(batches.counted_groups * kLanes, max_arrangements);
        const Index batch = batches.groups * kLanes;
        timer_.start();
        for (Index first = 0; first < shuffles.count; first += batch) {
            const Index resident = std::min(batch, shuffles.count - first);
            shuffle(shuffles.first + first, word_count(resident));
            for (Index done = 0; done < resident; done += at_once) {
                const Index arrangements = std::min(at_once, resident - done);
                task.planes = planes_.data() + done * task.arrangement_stride;
                launch_count(task, arrangements);
                const PackedDifferences found{differences_.data(), task.items, arrangements};
                const Index item_blocks = (task.items + kSumThreads - 1) / kSumThreads;
                const Index wanted = (kEnoughBlocks + item_blocks - 1) / item_blocks;
                const Index share = std::max<Index>(kLanes, (arrangements + wanted - 1) / wanted);
                gpu_.launch("sum differences", &sum_differences,
                            Sides{item_blocks, (arrangements + share - 1) / share},
                            Sides{kSumThreads}, 0, found, share, items_.sums.data());
                if (finds_largest) {
                    gpu_.launch("find the largest", &find_largest, Sides{arrangements},
                                Sides{kSumThreads}, 0, found, items_.z_centre.data(),
                                items_.z_factor.data(), items_.max_z.data() + first + done);
                }
            }
        }
        timer_.stop();
    }

    Problem problem_;
    Gpu gpu_;
    typename Gpu::Timer timer_;
    Index stride_ = 0;
    std::vector<std::int32_t> host_first_plane_;
    Array<std::int32_t> first_symbol_, first_plane_, plane_counts_;
    Array<std::uint32_t> margin_;
    Array<std::uint8_t> codes_;
    Array<long long> f_;
    Array<Strip> pair_strips_, row_strips_, column_strips_;
    Index pair_strip_count_ = 0, row_strip_count_ = 0, column_strip_count_ = 0;
    Array<std::uint32_t> planes_, arranged_, scratch_;
    Array<std::int32_t> differences_, order_, arranged_first_, arranged_column_;
    Block ordered_by_;  ///< the block of columns whose sorted rows order_ holds
    Array<Index> pair_rows_, triple_rows_;
    ItemSums<Gpu> items_;
    double gpu_seconds_ = 0;
    Index resident_first_ = 0, resident_groups_ = 0;  ///< shuffles whose planes are in planes_
};

}  // namespace pleat::mutual_information::cuda

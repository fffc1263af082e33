// The kernel's work on a GPU in its order: uploads, batches of shuffles, launches, results.
#pragma once

#include <algorithm>
#include <bit>
#include <string>
#include <utility>
#include <vector>

#include "pleat/core/memory.h"
#include "pleat/mutual_information/cuda_layout.h"
#include "pleat/mutual_information/kernel.h"
#include "pleat/mutual_information/plane_steps.cuh"
#include "pleat/mutual_information/shuffle_steps.cuh"
#include "pleat/mutual_information/table_steps.cuh"
#include "pleat/mutual_information/tile_plan.cuh"

namespace pleat::mutual_information::cuda {

/// Bytes that are left free for what the runtime itself takes.
constexpr std::int64_t kReserve = std::int64_t{64} << 20;

/// Sides of a grid or of a CTA.
struct Sides {
    Index x = 1, y = 1;
};

/// Counts on what `Gpu` stands for, the CUDA runtime or a test's imitation of it. It has
///     Array<T>: zeroed memory there, like DeviceArray
///     launch(what, kernel, grid, threads, shared bytes, arguments...), one after the other
///     clear(array, count), free_bytes(), most_shared_bytes() of a CTA, processors(), name()
template <class Gpu>
class GpuKernel final : public Kernel {
public:
    GpuKernel(const Problem& problem, Gpu gpu);

    void observe_pairs(View<std::int64_t, 1> t) override;
    void observe_triples(const TripleTile& tile, View<std::int64_t, 1> t) override;
    void sample_pairs(Block shuffles, View<const std::int64_t, 1> observed, NullSums& sums,
                      const LargestZ* largest) override;
    void sample_triples(const TripleTile& tile, Block shuffles,
                        View<const std::int64_t, 1> observed, NullSums& sums) override;

private:
    template <class T>
    using Array = typename Gpu::template Array<T>;

    Index columns() const { return problem_.columns->column_count(); }
    Index rows() const { return problem_.columns->row_count(); }
    Index words() const { return word_count(rows()); }
    ColumnSet all_columns() const {
        return column_set(host_first_plane_, {0, columns()}, {0, columns()});
    }
    TilePlan plan_tile(const TripleTile& tile) const {
        return {*problem_.columns, host_first_plane_, tile};
    }

    template <class T>
    static void grow(Array<T>& array, Index count) {
        if (array.size() >= count) return;
        array = Array<T>();
        array = Array<T>(count);
    }
    Index scratch_blocks(std::int64_t available) const;
    Batches make_room(Index shuffles, Index items, std::int64_t slice_bytes);
    void make_room_to_observe(Index items, Index words);
    void shuffle(Index first, Index groups);
    void upload_items(View<const std::int64_t, 1> observed, Index items);
    void upload_rows(const TripleTile& tile);
    void upload_largest(const LargestZ& largest, Index items, Index shuffles);
    void download_largest(const LargestZ& largest, Index shuffles);
    void add_sums(NullSums& sums) const;
    TableTask task_of(const PlaneSet& planes, const PlaneCounts& counts) const;
    void sum_pairs(TableTask task, Index groups);
    void sum_slices(const TripleTile& tile, Index i, const TilePlan& plan, const PlaneSet& from,
                    Index groups, Index at_once, TableTask task);
    void launch_tables(const TableTask& task, Index groups);

    Problem problem_;
    Gpu gpu_;
    std::vector<std::int32_t> host_first_plane_;
    Array<std::int32_t> first_symbol_, first_plane_, plane_counts_;
    Array<std::uint32_t> margin_;
    Array<std::uint8_t> codes_;
    Array<long long> f_;
    Array<std::uint32_t> planes_, sliced_, arranged_, scratch_;
    Array<std::int32_t> kept_, order_;
    Array<Index> pair_rows_, triple_rows_;
    Array<long long> observed_, largest_;
    Array<Wide> sums_;
    Array<double> centre_, factor_;
    Index resident_first_ = 0, resident_groups_ = 0;  ///< shuffles whose planes are in planes_
};

template <class Gpu>
GpuKernel<Gpu>::GpuKernel(const Problem& problem, Gpu gpu)
    : problem_(problem), gpu_(std::move(gpu)) {
    const Columns& from = *problem.columns;
    std::vector<std::int32_t> first_symbol, counts;
    std::vector<std::uint32_t> margin(from.counts.begin(), from.counts.end());
    std::vector<Index> pair_rows;
    host_first_plane_.push_back(0);
    for (Index column = 0; column < columns(); ++column) {
        first_symbol.push_back(static_cast<std::int32_t>(from.first_symbol[column]));
        counts.push_back(plane_count(from.margin(column)));
        host_first_plane_.push_back(host_first_plane_.back() + counts.back());
        pair_rows.push_back(pair_index(column, 0, columns()));
    }
    first_symbol.push_back(static_cast<std::int32_t>(from.first_symbol.back()));
    const auto upload = [](auto& to, const auto& values) {
        to = std::remove_reference_t<decltype(to)>(static_cast<Index>(values.size()));
        to.upload(values.data());
    };
    upload(first_symbol_, first_symbol);
    upload(first_plane_, host_first_plane_);
    upload(plane_counts_, counts);
    upload(margin_, margin);
    upload(pair_rows_, pair_rows);
    codes_ = Array<std::uint8_t>(from.codes.size());
    codes_.upload(from.codes.data());
    upload(f_, std::vector<long long>(problem.statistic->f.begin(), problem.statistic->f.end()));
}

/// CTAs that shuffle at a time where their codes lie in scratch memory; 0 where they do not.
template <class Gpu>
Index GpuKernel<Gpu>::scratch_blocks(std::int64_t available) const {
    const std::int64_t bytes = 4 * LaneCodes::size(rows());
    if (bytes <= gpu_.most_shared_bytes()) return 0;
    constexpr Index kBlocksPerProcessor = 8;
    return std::clamp<Index>(available / 8 / bytes, 1, kBlocksPerProcessor * gpu_.processors());
}

/// Takes the memory for planes and tells how many groups fit. DeviceError.
template <class Gpu>
Batches GpuKernel<Gpu>::make_room(Index shuffles, Index items, std::int64_t slice_bytes) {
    const std::int64_t held = 4 * (planes_.size() + sliced_.size() + scratch_.size()) +
                              8 * (observed_.size() + kSums * sums_.size());
    const std::int64_t free = gpu_.free_bytes() + held - kReserve;
    const Index blocks = scratch_blocks(free);
    const std::int64_t besides = item_bytes(items, shuffles) + 4 * blocks * LaneCodes::size(rows());
    const std::int64_t group = group_bytes(*problem_.columns), available = free - besides;
    const Index wanted = word_count(shuffles);
    const Batches batches = plan_batches(wanted, group, slice_bytes, available);
    if (batches.groups == 0) {
        require_memory(group + slice_bytes + besides,
                       std::to_string(kLanes) + " shuffles of " + std::to_string(columns()) +
                           " columns of " + std::to_string(rows()) + " rows",
                       "leave out columns or rows, or use --device cpu",
                       std::max<std::int64_t>(free, 0), " on " + gpu_.name());
    }
    const Index size = batches.groups * group / 4;
    if (planes_.size() != size) {
        sliced_ = {};
        planes_ = {};
        resident_groups_ = 0;
        planes_ = Array<std::uint32_t>(size);
    }
    grow(scratch_, blocks * LaneCodes::size(rows()));
    return batches;
}

/// Gives up the planes of shuffles where they leave no room for `words` words of the alignment's
/// own.
template <class Gpu>
void GpuKernel<Gpu>::make_room_to_observe(Index items, Index words) {
    if (gpu_.free_bytes() >= kReserve + item_bytes(items, 0) + 4 * words) return;
    planes_ = {};
    sliced_ = {};
    resident_groups_ = 0;
}

/// Makes the planes of `groups` groups of shuffles from shuffle `first` on, unless they are there.
template <class Gpu>
void GpuKernel<Gpu>::shuffle(Index first, Index groups) {
    if (resident_groups_ >= groups && resident_first_ == first) return;
    const ColumnTable table{first_symbol_.data(), margin_.data(), first_plane_.data(), columns(),
                            rows()};
    const PlaneSet to{planes_.data(), all_columns(), words()};
    const Index code_words = LaneCodes::size(rows()), tasks = columns() * groups;
    const auto number = static_cast<std::uint32_t>(first);
    const std::uint64_t seed = problem_.seed;
    if (scratch_.size() == 0) {
        constexpr Index kMostBlocks = Index{1} << 30;
        gpu_.launch("shuffle columns", &shuffle_columns<true>, Sides{std::min(tasks, kMostBlocks)},
                    Sides{kLanes}, 4 * code_words, table, seed, number, groups, nullptr, to);
    } else {
        const Index blocks = std::min(tasks, scratch_.size() / code_words);
        gpu_.launch("shuffle columns", &shuffle_columns<false>, Sides{blocks}, Sides{kLanes}, 0,
                    table, seed, number, groups, scratch_.data(), to);
    }
    resident_first_ = first;
    resident_groups_ = groups;
}

template <class Gpu>
TableTask GpuKernel<Gpu>::task_of(const PlaneSet& planes, const PlaneCounts& counts) const {
    TableTask task{};
    task.planes = planes;
    task.counts = counts;
    task.first_plane = first_plane_.data();
    task.f = f_.data();
    task.f_size = static_cast<int>(f_.size());
    task.shift = problem_.statistic->shift;
    return task;
}

template <class Gpu>
void GpuKernel<Gpu>::launch_tables(const TableTask& task, Index groups) {
    constexpr Index kMostTableBytes = 48 << 10;
    const Index blocks = (task.rows.count + kRowColumns - 1) / kRowColumns *
                         ((task.columns.count + kTableWarps - 1) / kTableWarps);
    const Index bytes = 8 * f_.size();
    if (bytes <= kMostTableBytes) {
        gpu_.launch("sum tables", &sum_tables<true>, Sides{blocks, groups},
                    Sides{kLanes, kTableWarps}, bytes, task);
    } else {
        gpu_.launch("sum tables", &sum_tables<false>, Sides{blocks, groups},
                    Sides{kLanes, kTableWarps}, 0, task);
    }
}

template <class Gpu>
void GpuKernel<Gpu>::sum_pairs(TableTask task, Index groups) {
    task.slices = whole_slice(rows());
    task.rows = task.columns = {0, columns()};
    task.first_item = pair_rows_.data();
    launch_tables(task, groups);
}

template <class Gpu>
void GpuKernel<Gpu>::observe_pairs(View<std::int64_t, 1> t) {
    if (t.size() == 0) return;
    const ColumnSet all = all_columns();
    make_room_to_observe(t.size(), all.planes() * words() * kLanes);
    grow(arranged_, all.planes() * words() * kLanes);
    grow(observed_, t.size());
    const PlaneSet planes{arranged_.data(), all, words()};
    gpu_.launch("arrange columns", &arrange_columns, Sides{columns()}, Sides{kLanes}, 0,
                codes_.data(), rows(), nullptr, first_plane_.data(), planes);
    TableTask task = task_of(planes, {plane_counts_.data()});
    task.observed_out = observed_.data();
    sum_pairs(task, 1);
    observed_.download(reinterpret_cast<long long*>(t.data), 0, t.size());
}

template <class Gpu>
void GpuKernel<Gpu>::upload_items(View<const std::int64_t, 1> observed, Index items) {
    grow(observed_, items);
    observed_.upload(reinterpret_cast<const long long*>(observed.data), 0, items);
    grow(sums_, items * kSums);
    gpu_.clear(sums_, items * kSums);
}

template <class Gpu>
void GpuKernel<Gpu>::add_sums(NullSums& sums) const {
    std::vector<Wide> found(static_cast<std::size_t>(sums.items() * kSums));
    sums_.download(found.data(), 0, sums.items() * kSums);
    for (Index item = 0; item < sums.items(); ++item) {
        const Wide* of = found.data() + item * kSums;
        sums.less[item] += static_cast<std::uint32_t>(of[0]);
        sums.equal[item] += static_cast<std::uint32_t>(of[1]);
        sums.first[item] += static_cast<std::int64_t>(of[2]);
        sums.second[item] += static_cast<std::int64_t>(of[3]);
        sums.third_low[item] += static_cast<std::int64_t>(of[4]);
        sums.third_high[item] += static_cast<std::int64_t>(of[5]);
    }
}

template <class Gpu>
void GpuKernel<Gpu>::upload_largest(const LargestZ& largest, Index items, Index shuffles) {
    grow(centre_, items);
    grow(factor_, items);
    centre_.upload(largest.centre.data, 0, items);
    factor_.upload(largest.factor.data, 0, items);
    std::vector<long long> places(static_cast<std::size_t>(shuffles));
    for (Index s = 0; s < shuffles; ++s)
        places[s] = ordered(std::bit_cast<long long>(largest.largest[s]));
    grow(largest_, shuffles);
    largest_.upload(places.data(), 0, shuffles);
}

template <class Gpu>
void GpuKernel<Gpu>::download_largest(const LargestZ& largest, Index shuffles) {
    std::vector<long long> places(static_cast<std::size_t>(shuffles));
    largest_.download(places.data(), 0, shuffles);
    for (Index s = 0; s < shuffles; ++s)
        largest.largest[s] = std::bit_cast<double>(ordered(places[s]));
}

template <class Gpu>
void GpuKernel<Gpu>::sample_pairs(Block shuffles, View<const std::int64_t, 1> observed,
                                  NullSums& sums, const LargestZ* largest) {
    const Index items = sums.items();
    if (items == 0 || shuffles.count == 0) return;
    const Batches batches = make_room(shuffles.count, items, 0);
    upload_items(observed, items);
    TableTask task = task_of({planes_.data(), all_columns(), words()}, {plane_counts_.data()});
    task.observed = observed_.data();
    task.sums = sums_.data();
    task.shuffles = shuffles.count;
    if (largest != nullptr) {
        upload_largest(*largest, items, shuffles.count);
        task.centre = centre_.data();
        task.factor = factor_.data();
        task.largest = largest_.data();
    }
    const Index groups = word_count(shuffles.count);
    for (Index done = 0; done < groups; done += batches.groups) {
        const Index count = std::min(batches.groups, groups - done);
        shuffle(shuffles.first + done * kLanes, count);
        task.first_group = done;
        sum_pairs(task, count);
    }
    add_sums(sums);
    if (largest != nullptr) download_largest(*largest, shuffles.count);
}

/// Uploads first_items() of a tile.
template <class Gpu>
void GpuKernel<Gpu>::upload_rows(const TripleTile& tile) {
    const std::vector<Index> first = first_items(tile);
    grow(triple_rows_, static_cast<Index>(first.size()));
    triple_rows_.upload(first.data(), 0, static_cast<Index>(first.size()));
}

/// The triples of one i for the groups of `from`, `at_once` of them sliced at a time.
template <class Gpu>
void GpuKernel<Gpu>::sum_slices(const TripleTile& tile, Index i, const TilePlan& plan,
                                const PlaneSet& from, Index groups, Index at_once, TableTask task) {
    task.rows = behind(tile.side[1], i);
    task.columns = behind(tile.side[2], task.rows.first);
    if (task.rows.count == 0 || task.columns.count == 0) return;
    task.slices = symbol_slices(problem_.columns->margin(i));
    task.planes = {sliced_.data(), plan.set, task.slices.words()};
    task.counts = {kept_.data(), plan.set.size() * task.slices.count, task.slices.count};
    task.first_item = triple_rows_.data() + (i - tile.side[0].first) * tile.side[1].count +
                      task.rows.first - tile.side[1].first;
    const Index first_group = task.first_group;
    const Index blocks = (plan.set.size() + kSliceWarps - 1) / kSliceWarps;
    for (Index done = 0; done < groups; done += at_once) {
        const Index count = std::min(at_once, groups - done);
        const SliceTask slice{from, done, first_plane_.data(), i, task.slices};
        gpu_.launch("slice planes", &slice_planes, Sides{blocks, count}, Sides{kLanes, kSliceWarps},
                    0, slice, task.planes, task.counts);
        task.first_group = first_group + done;
        launch_tables(task, count);
    }
}

template <class Gpu>
void GpuKernel<Gpu>::observe_triples(const TripleTile& tile, View<std::int64_t, 1> t) {
    if (tile.count == 0) return;
    const TilePlan plan = plan_tile(tile);
    make_room_to_observe(tile.count, plan.set.planes() * words() * kLanes + plan.sliced_size());
    grow(arranged_, plan.set.planes() * words() * kLanes);
    grow(sliced_, plan.sliced_size());
    grow(kept_, plan.kept_size());
    grow(observed_, tile.count);
    const std::vector<std::int32_t> order = sorted_rows(*problem_.columns, tile.side[0]);
    grow(order_, static_cast<Index>(order.size()));
    order_.upload(order.data(), 0, static_cast<Index>(order.size()));
    upload_rows(tile);
    const PlaneSet arranged{arranged_.data(), plan.set, words()};
    TableTask task = task_of({}, {});
    task.observed_out = observed_.data();
    for (Index n = 0; n < tile.side[0].count; ++n) {
        gpu_.launch("arrange columns", &arrange_columns, Sides{plan.set.size()}, Sides{kLanes}, 0,
                    codes_.data(), rows(), order_.data() + n * rows(), first_plane_.data(),
                    arranged);
        sum_slices(tile, tile.side[0].first + n, plan, arranged, 1, 1, task);
    }
    observed_.download(reinterpret_cast<long long*>(t.data), 0, tile.count);
}

template <class Gpu>
void GpuKernel<Gpu>::sample_triples(const TripleTile& tile, Block shuffles,
                                    View<const std::int64_t, 1> observed, NullSums& sums) {
    if (tile.count == 0 || shuffles.count == 0) return;
    const TilePlan plan = plan_tile(tile);
    const Batches batches = make_room(shuffles.count, tile.count, plan.slice_bytes());
    grow(sliced_, batches.sliced * plan.sliced_size());
    grow(kept_, batches.sliced * plan.kept_size());
    upload_items(observed, tile.count);
    upload_rows(tile);
    const PlaneSet planes{planes_.data(), all_columns(), words()};
    TableTask task = task_of({}, {});
    task.observed = observed_.data();
    task.sums = sums_.data();
    task.shuffles = shuffles.count;
    const Index groups = word_count(shuffles.count);
    for (Index done = 0; done < groups; done += batches.groups) {
        const Index count = std::min(batches.groups, groups - done);
        shuffle(shuffles.first + done * kLanes, count);
        task.first_group = done;
        for (Index i = tile.side[0].first; i < tile.side[0].first + tile.side[0].count; ++i)
            sum_slices(tile, i, plan, planes, count, batches.sliced, task);
    }
    add_sums(sums);
}

}  // namespace pleat::mutual_information::cuda

// TM-score and GDT_TS on a GPU: the search of the TM-score program, a warp per pair of frames.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

#include "pleat/core/cuda/gpu_sides.h"
#include "pleat/core/error.h"
#include "pleat/core/loops/sweep.h"
#include "pleat/rmsd/cuda/tm_task.cuh"
#include "pleat/rmsd/measures/tm_search.h"
#include "pleat/rmsd/superposition/frames.h"

namespace pleat::rmsd::cuda {

/// Data of a launch's warps. Frames are [frame, axis, atom]; each CTA has its own memory for the
/// sets that it tried and, if shared memory is too small, for the atoms of its pair.
struct TmTask {
    TmSettings settings;
    const double *rows, *columns;
    TmAtom* atoms;
    std::uint32_t* bits;
    std::int32_t* tables;
    int capacity, table_size;
    unsigned long long* tickets;      ///< pairs that were begun, of all launches
    unsigned long long first_ticket;  ///< of this launch
};

/// Number of TmAtoms that hold a pair's atoms in float64 and float32.
PLEAT_HOST_DEVICE constexpr Index atoms_with_rough(Index atoms) { return atoms + (atoms + 1) / 2; }

/// Copies the atoms of `p` and `q` to `to`, which has room for atoms_with_rough().
static __device__ __forceinline__ TmPairAtoms copy_pair(const double* p, const double* q, int atoms,
                                                        TmAtom* to) {
    auto* const xyzu = reinterpret_cast<float4*>(to + atoms);
    auto* const vw = reinterpret_cast<float2*>(xyzu + atoms);
    double extent = 0.0;
    for (int k = static_cast<int>(threadIdx.x); k < atoms; k += kTmThreads) {
        const double x[6] = {p[k], p[atoms + k], p[2 * atoms + k],
                             q[k], q[atoms + k], q[2 * atoms + k]};
        to[k] = {{x[0], x[1]}, {x[2], x[3]}, {x[4], x[5]}};
        xyzu[k] = {static_cast<float>(x[0]), static_cast<float>(x[1]), static_cast<float>(x[2]),
                   static_cast<float>(x[3])};
        vw[k] = {static_cast<float>(x[4]), static_cast<float>(x[5])};
        for (const double of_axis : x) extent = max(extent, fabs(of_axis));
    }
    for (int apart = 1; apart < kTmThreads; apart *= 2)
        extent = max(extent, __shfl_xor_sync(kAllLanes, extent, apart));
    __syncwarp();
    return {to, xyzu, vw, extent};
}

/// Scores of pairs of `columns` with some rows, [row, column]. Warps take pairs until none is left,
/// since searches differ in length.
template <bool kIsShared, bool kIsGdt>
static __global__ void __launch_bounds__(kTmThreads, 16)
    score_pairs(TmTask task, Index first_row, Block columns, unsigned long long pairs,
                float* values) {
    PLEAT_DYNAMIC_SHARED(TmAtom, shared_atoms);
    const int atoms = task.settings.atoms, words = (atoms + 31) / 32;
    TmAtom* own_atoms = nullptr;
    if constexpr (kIsShared)
        own_atoms = shared_atoms;
    else
        own_atoms = task.atoms + static_cast<Index>(blockIdx.x) * atoms_with_rough(atoms);
    for (;;) {
        unsigned long long pair = 0;
        if (threadIdx.x == 0) pair = atomicAdd(task.tickets, 1ull) - task.first_ticket;
        pair = __shfl_sync(kAllLanes, pair, 0);
        if (pair >= pairs) return;
        const Index row = first_row + static_cast<Index>(pair) / columns.count,
                    column = columns.first + static_cast<Index>(pair) % columns.count;
        const TmPairAtoms both = copy_pair(task.rows + row * 3 * atoms,
                                           task.columns + column * 3 * atoms, atoms, own_atoms);
        TmSets sets{task.bits + static_cast<Index>(blockIdx.x) * words * task.capacity,
                    task.tables + static_cast<Index>(blockIdx.x) * task.table_size, words,
                    task.capacity, static_cast<unsigned>(task.table_size - 1)};
        TmWarp<kIsGdt> warp(task.settings, both, sets);
        const double score = warp.search();
        if (threadIdx.x == 0) values[pair] = static_cast<float>(score);
        __syncwarp();
    }
}

/// Scores of pairs of two sets of frames of the same atoms. For one stream at a time.
template <class Gpu>
class TmOnGpu {
public:
    /// For a single set `columns` is the same object as `rows`. Throws DeviceError if GPU memory is
    /// too small. `max_scratch`: bytes for concurrent searches.
    TmOnGpu(const Frames& rows, const Frames& columns, bool is_gdt, Gpu gpu,
            std::int64_t max_scratch = std::int64_t{8} << 30)
        : gpu_(std::move(gpu)), is_gdt_(is_gdt), is_one_set_(&rows == &columns) {
        set_up_search(rows.atom_count());
        rows_ = Array<double>(std::max<Index>(rows.xyz.size(), 1));
        rows_.upload(rows.xyz.data(), 0, rows.xyz.size());
        if (!is_one_set_) {
            columns_ = Array<double>(std::max<Index>(columns.xyz.size(), 1));
            columns_.upload(columns.xyz.data(), 0, columns.xyz.size());
        }
        tickets_ = Array<unsigned long long>(1);
        const unsigned long long none = 0;
        tickets_.upload(&none);
        take_scratch(std::min<std::int64_t>(max_scratch, gpu_.free_bytes() / 2));
    }

    /// Launches the scores of each row with each column, [row, column]; `values` is on the GPU.
    void run(Block rows, Block columns, float* values) {
        const Index pairs = rows.count * columns.count;
        if (pairs == 0) return;
        const Index ctas = std::min(ctas_, pairs);
        TmTask task{settings_,     rows_.data(), is_one_set_ ? rows_.data() : columns_.data(),
                    atoms_.data(), bits_.data(), tables_.data(),
                    capacity_,     table_size_,  tickets_.data(),
                    next_ticket_};
        gpu_.launch("score pairs", kernel(), pleat::cuda::Sides{ctas},
                    pleat::cuda::Sides{kTmThreads}, shared_bytes_, task, rows.first, columns,
                    static_cast<unsigned long long>(pairs), values);
        // Each CTA takes one ticket beyond the last pair.
        next_ticket_ += static_cast<unsigned long long>(pairs + ctas);
    }

    /// Nanoseconds per pair, of made ensembles.
    double cost() const {
        const auto atoms = static_cast<double>(settings_.atoms);
        return atoms * (0.8 + 0.033 * atoms);
    }

private:
    template <class T>
    using Array = typename Gpu::template Array<T>;
    using Score = void (*)(TmTask, Index, Block, unsigned long long, float*);

    Score kernel() const {
        if (shared_bytes_ > 0)
            return is_gdt_ ? &score_pairs<true, true> : &score_pairs<true, false>;
        return is_gdt_ ? &score_pairs<false, true> : &score_pairs<false, false>;
    }

    void set_up_search(Index atoms) {
        const double scale = tm_scale(atoms), threshold = tm_distance_threshold(atoms);
        settings_.atoms = static_cast<int>(atoms);
        settings_.per_square = 1.0 / (scale * scale);
        settings_.first_limit = threshold - 1.0;
        settings_.limit = threshold + 1.0;
        for (const Index length : fragment_lengths(atoms)) {
            settings_.length[settings_.lengths++] = static_cast<int>(length);
            settings_.starts += static_cast<int>(atoms - length + 1);
        }
    }

    /// Memory for the warps that run at the same time. A round has at most as many sets as there
    /// are fragments.
    void take_scratch(std::int64_t bytes) {
        const Index atoms = settings_.atoms, words = (atoms + 31) / 32,
                    atom_bytes = atoms_with_rough(atoms) * static_cast<Index>(sizeof(TmAtom));
        capacity_ = 2 * settings_.starts + kTmBatch;
        table_size_ = static_cast<int>(std::bit_ceil(static_cast<unsigned>(capacity_ * 3 / 2)));
        constexpr Index kSharedWarps = 8;  // on a processor: fewer do not keep it busy
        shared_bytes_ = atom_bytes <= gpu_.max_shared_bytes() / kSharedWarps ? atom_bytes : 0;
        const std::int64_t own = 4 * words * capacity_ + 4 * std::int64_t{table_size_} +
                                 (shared_bytes_ > 0 ? 0 : atom_bytes);
        const Index resident = gpu_.resident_ctas(kernel(), kTmThreads, shared_bytes_);
        ctas_ = std::clamp<Index>(bytes / own, 1, std::max<Index>(resident, 1));
        bits_ = Array<std::uint32_t>(ctas_ * words * capacity_);
        tables_ = Array<std::int32_t>(ctas_ * table_size_);
        atoms_ = Array<TmAtom>(shared_bytes_ > 0 ? 1 : ctas_ * atoms_with_rough(atoms));
    }

    Gpu gpu_;
    bool is_gdt_, is_one_set_;
    TmSettings settings_;
    Index ctas_ = 1, shared_bytes_ = 0;
    int capacity_ = 0, table_size_ = 0;
    unsigned long long next_ticket_ = 0;
    Array<double> rows_, columns_;
    Array<TmAtom> atoms_;
    Array<std::uint32_t> bits_;
    Array<std::int32_t> tables_;
    Array<unsigned long long> tickets_;
};

}  // namespace pleat::rmsd::cuda

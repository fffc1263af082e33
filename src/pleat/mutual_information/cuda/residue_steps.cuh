// Residue steps: scores of pairs of columns of null alignments on a GPU.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "pleat/core/cuda/gpu_sides.h"
#include "pleat/core/cuda/grow.h"
#include "pleat/core/error.h"
#include "pleat/mutual_information/count/columns.h"
#include "pleat/mutual_information/cuda/shuffle_steps.cuh"
#include "pleat/mutual_information/tree/residue_pairs.h"

namespace pleat::mutual_information::cuda {

/// Rows that a thread reads at once.
constexpr Index kReadRows = 16;

struct ResidueTask {
    const FourWords* letters;  ///< [column, block of kReadRows rows], a byte per row
    const FourWords* weights;  ///< [block, 4], a word per row; 0 behind the last row
    Index columns, blocks;
    int states;
    double scale;
    bool is_g;
    double* scores;  ///< [pair]
};

/// A thread counts the pair of columns (blockIdx.x, j) in a table of its own, in shared memory as
/// [cell, thread], so that the threads of a warp never use one bank.
static __global__ void score_residues(ResidueTask task) {
    PLEAT_DYNAMIC_SHARED(std::uint32_t, tables);
    const Index i = blockIdx.x;
    const Index j = i + 1 + blockIdx.y * Index{blockDim.x} + threadIdx.x;
    if (j >= task.columns) return;
    const int symbols = task.states + 1, threads = static_cast<int>(blockDim.x);
    std::uint32_t* const mine = tables + threadIdx.x;
    for (int cell = 0; cell < symbols * symbols; ++cell) mine[cell * threads] = 0;
    for (Index block = 0; block < task.blocks; ++block) {
        const FourWords a = task.letters[i * task.blocks + block];
        const FourWords b = task.letters[j * task.blocks + block];
#pragma unroll
        for (int word = 0; word < 4; ++word) {
            const FourWords weights = task.weights[4 * block + word];
#pragma unroll
            for (int byte = 0; byte < 4; ++byte) {
                const int of_i = static_cast<int>(a.words[word] >> 8 * byte & 255);
                const int of_j = static_cast<int>(b.words[word] >> 8 * byte & 255);
                mine[(of_i * symbols + of_j) * threads] += weights.words[byte];
            }
        }
    }
    const ResiduePair found =
        residue_pair([&](int of_i, int of_j) { return mine[(of_i * symbols + of_j) * threads]; },
                     task.states, task.scale);
    const Index before = i * (2 * task.columns - i - 1) / 2;  // pairs of columns before i
    task.scores[before + j - i - 1] = residue_score(found, task.is_g);
}

/// Scores on a `Gpu`: CudaGpu, or a host emulation.
template <class Gpu>
class GpuResidueScorer final : public ResidueScorer {
public:
    GpuResidueScorer(const ResidueScoring& scoring, int threads, Gpu gpu)
        : gpu_(std::move(gpu)),
          states_(scoring.states),
          scale_(scoring.weights.scale),
          is_g_(scoring.is_g),
          blocks_(round_up(std::ssize(scoring.weights.weights), kReadRows) / kReadRows),
          memory_(static_cast<std::size_t>(threads)) {
        const Index of_thread = 4 * (states_ + 1) * (states_ + 1);
        cta_threads_ = std::clamp<Index>((Index{16} << 10) / of_thread / kLanes, 1, 4) * kLanes;
        shared_bytes_ = cta_threads_ * of_thread;
        if (shared_bytes_ > gpu_.max_shared_bytes())
            throw DeviceError("give --device cpu: the tables of " + std::to_string(states_) +
                              " letters are too large for " + std::string(gpu_.name()));
        std::vector<std::uint32_t> weights = scoring.weights.weights;
        weights.resize(static_cast<std::size_t>(blocks_ * kReadRows));
        pleat::cuda::upload(weights_, weights);
    }

    void score(View<const std::uint8_t, 2> letters, int thread, std::span<double> to) override {
        const Index columns = letters.extent(0), rows = letters.extent(1);
        const Index stride = blocks_ * kReadRows;
        gpu_.make_current();
        Memory& own = memory_[static_cast<std::size_t>(thread)];
        if (own.letters.size() == 0) {
            own.letters = Array<std::uint8_t>(columns * stride);
            own.scores = Array<double>(pair_count(columns));
            own.staged = Pinned<std::uint8_t>(columns * stride);
            std::fill_n(own.staged.data(), columns * stride, static_cast<std::uint8_t>(states_));
        }
        for (Index column = 0; column < columns; ++column)
            std::copy_n(&letters(column, 0), rows, own.staged.data() + column * stride);
        own.letters.upload(own.staged.data());
        const ResidueTask task{reinterpret_cast<const FourWords*>(own.letters.data()),
                               reinterpret_cast<const FourWords*>(weights_.data()),
                               columns,
                               blocks_,
                               states_,
                               scale_,
                               is_g_,
                               own.scores.data()};
        gpu_.launch("score pairs", &score_residues,
                    Sides{columns - 1, (columns - 2) / cta_threads_ + 1}, Sides{cta_threads_},
                    shared_bytes_, task);
        own.scores.download(to.data());
    }

private:
    template <class T>
    using Array = typename Gpu::template Array<T>;
    template <class T>
    using Pinned = typename Gpu::template Pinned<T>;

    struct Memory {
        Array<std::uint8_t> letters;
        Pinned<std::uint8_t> staged;
        Array<double> scores;
    };

    Gpu gpu_;
    int states_;
    double scale_;
    bool is_g_;
    Index blocks_, cta_threads_ = 0, shared_bytes_ = 0;
    Array<std::uint32_t> weights_;
    std::vector<Memory> memory_;  ///< [thread]
};

}  // namespace pleat::mutual_information::cuda

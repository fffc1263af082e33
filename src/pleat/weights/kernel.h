// Kernels of the weights: count the neighbours of each sequence on the chosen device, by bit
// planes.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "pleat/core/array.h"
#include "pleat/core/context.h"
#include "pleat/core/view.h"

namespace pleat::weights {

/// The sequences and the largest number of columns in which two neighbours may differ.
/// The views must outlive the kernel.
struct Problem {
    View<const std::uint8_t, 2> letters;  ///< [sequence, column]
    Index max_differences = 0;            ///< >= 0
};

/// Counts neighbours in steps so short that a cancel between them is noticed soon.
class Kernel {
public:
    virtual ~Kernel() = default;
    virtual Index step_count() const = 0;
    /// Computes step `index` of [0, step_count()). Each step must be computed once, in any order.
    virtual void step(Index index) = 0;
    /// For each sequence the number of sequences, itself included, that differ from it in at most
    /// `max_differences` columns. Call after all steps.
    virtual std::vector<Index> neighbours() const = 0;
};

/// The kernel for the context's device. For `cuda` it is the CPU kernel unless gpu_pays()
/// (weights.h) for this problem and the context's threads. Throws DeviceError.
std::unique_ptr<Kernel> make_kernel(const Problem& problem, const Context& context);

/// Computes by the definition: two loops over sequences and one over columns, on one thread.
std::unique_ptr<Kernel> make_reference_kernel(const Problem& problem);

/// Compares bit planes of the distinct sequences, a vector of sequences per instruction, on
/// `context.threads` threads.
std::unique_ptr<Kernel> make_cpu_kernel(const Problem& problem, const Context& context);

/// Compares bit planes on the GPU `context.device.index`, packed by `context.threads` threads.
/// Throws DeviceError if the GPU is missing or out of memory.
std::unique_ptr<Kernel> make_cuda_kernel(const Problem& problem, const Context& context);

/// Distinct sequences with each code spread over bit planes: bit c of word k of plane p is bit p of
/// the code in column 64 k + c. Two codes differ if they differ in any plane, so 64 columns of a
/// pair cost one XOR and one OR per plane and one population count.
///
/// Sequences are in groups of eight, the lanes of a 512-bit vector, for every instruction set.
struct BitPlanes {
    static constexpr Index kGroup = 8;

    Array<std::uint64_t, 4> bits;          ///< [group, word, plane, sequence in the group]
    Array<std::uint64_t, 2> multiplicity;  ///< [group, sequence in the group]; 0 in padding
    std::vector<Index> distinct;  ///< [sequence]: number of its distinct sequence, 8 * group + lane

    Index group_count() const { return bits.extent(0); }
    Index word_count() const { return bits.extent(1); }
    int plane_count() const { return static_cast<int>(bits.extent(2)); }
};

/// Packs `letters` [sequence, column]. Equal rows become one with a multiplicity. There are 3, 5 or
/// 8 planes: enough for codes below 8, 32 or 256. Columns are sorted by falling diversity, so that
/// most pairs already differ in the first words; counts of differences do not depend on the order.
BitPlanes pack(View<const std::uint8_t, 2> letters, int threads = 1);

/// A rectangle of pairs of groups, [first_row, last_row) x [first_column, last_column). Only pairs
/// with row <= column are compared.
struct PairTile {
    Index first_row, last_row;
    Index first_column, last_column;
};

}  // namespace pleat::weights

// Column work: the vectorised steps that compute one column's terms of the objective.
#pragma once

#include <cstdint>
#include <span>

#include "pleat/core/view.h"
#include "pleat/couplings/kernel/sequence_tree.h"

namespace pleat::couplings {

/// Floats per row of `letter_count` letters: 8 for up to 8 letters, else 24. Elements after the
/// last letter are zero in every table.
constexpr int row_stride(int letter_count) { return letter_count <= 8 ? 8 : 24; }

struct CpuLayout {
    Index sequences, columns;
    int letters;

    constexpr Index stride() const { return row_stride(letters); }
    constexpr Index pair_count() const { return columns * (columns - 1) / 2; }
    /// Floats of one pair's block [letter at j][letter at i, padded to the stride].
    constexpr Index block_size() const { return letters * stride(); }
    /// Floats of a vector and of its parts: fields [column][stride], then the pair blocks.
    constexpr Index field_size() const { return columns * stride(); }
    constexpr Index pair_size() const { return pair_count() * block_size(); }
    constexpr Index vector_size() const { return field_size() + pair_size(); }
    /// Floats of a table [column][letter][stride], and of rows [sequence][stride]; each thread has
    /// two of both.
    constexpr Index table_size() const { return columns * block_size(); }
    constexpr Index row_size() const { return sequences * stride(); }

    /// Bytes of `vectors` vectors and of the work arrays of `threads` threads.
    constexpr std::int64_t bytes(int vectors, int threads) const {
        return 4 * (vectors * vector_size() + threads * 2 * (table_size() + row_size()));
    }
};

/// The variances v_i(a) of letters and the constants of the scaling 1/sqrt(offset + factor v_i(a)
/// v_j(b)); offset 1 and factor 0 leave couplings as they are.
struct Scaling {
    View<const float, 2> spread;  ///< v_i(a): [column, row_stride], zero after the last letter
    float offset = 1, factor = 0;
};

/// The inputs of one pass over all sequences for one column.
struct ColumnView {
    Index count = 0;  ///< sequences, which are in tree positions
    int letter_count = 0, stride = 0;
    const std::uint8_t* letters = nullptr;  ///< the column's letter at each position
    const float* weights = nullptr;         ///< the weight at each position
};

/// Sums over the pairs of one column: see ColumnSteps::finish_pairs.
struct PairSums {
    double regulariser = 0, gradient2 = 0, point2 = 0;
};

/// The computations for tables whose rows have one stride.
struct ColumnSteps {
    /// table[j][b][a] (column, its letter, letter of column i) = scaled couplings of column i with
    /// all other columns; the rows of i itself are zero. `pairs`: blocks [b][a] of the pairs i < j
    /// in row order, b the letter at j, a at i.
    void (*build_table)(const float* pairs, Index i, Index columns, int letters,
                        const Scaling& scaling, float* table);
    /// sums[k][a] = sum_j table[j][x_j][a] for each position k.
    void (*sum_rows)(const SequenceTree& tree, const float* table, float* sums);
    /// The transposed sum: table[j][x_j][a] += rows[k][a] for each position k. The table must be
    /// zero. Overwrites `rows` with sums over subtrees.
    void (*scatter_rows)(const SequenceTree& tree, float* rows, float* table);
    /// Softmax of sums + e at each position: returns sum_k w_k (log sum_a exp h - h(observed
    /// letter)), writes w_k p_k(a) to `out`, and sum_k w_k p_k(a) to `totals` (letter_count).
    double (*softmax_pass)(const ColumnView& column, const float* sums, const double* e, float* out,
                           double* totals);
    /// gram[a][b] = sum_k out_k(a) out_k(b) / w_k for a, b < free, both triangles; `out` from
    /// softmax_pass.
    void (*gram_pass)(const ColumnView& column, const float* out, int free, double* gram);
    /// Adds the table of column i to the gradient blocks of its pairs with columns [first, last).
    void (*add_table)(const float* table, Index i, Index first, Index last, Index columns,
                      int letters, float* gradient);
    /// Completes the gradient of the pairs (i, j > i): adds the regulariser and applies the
    /// scaling.
    PairSums (*finish_pairs)(const float* pairs, Index i, Index columns, int letters,
                             const Scaling& scaling, double lambda, float* gradient);
};

/// The steps for a stride of 8 or 24 floats, in the best instruction set of this CPU.
const ColumnSteps& column_steps(int stride);

/// out[k] = number of different bytes between rows `one` and others[k] of `base` (rows of `width`
/// bytes, a multiple of 64).
void hamming_distances(const std::uint8_t* base, Index width, std::int32_t one,
                       std::span<const std::int32_t> others, std::int32_t* out);

/// Inner products of `a` with each of `with` over `count` floats, in double.
void dot_products(const float* a, std::span<const float* const> others, Index count, double* out);

/// out = sum_k factors[k] vectors[k] over `count` floats; `out` may be one of them.
void linear_combination(std::span<const float* const> vectors, std::span<const float> factors,
                        Index count, float* out);

}  // namespace pleat::couplings

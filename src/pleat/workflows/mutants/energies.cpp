// Energies: the change of gauge, and sums over couplings.
#include "pleat/workflows/mutants/energies.h"

#include <utility>
#include <vector>

#include "pleat/core/loops/parallel.h"

namespace pleat::mutants {

namespace {

using couplings::pair_index;

/// Four partial sums, so that additions need not wait for one another.
double sum_of(const float* values, Index count) {
    double sums[4] = {};
    Index n = 0;
    for (; n + 4 <= count; n += 4)
        for (Index k = 0; k < 4; ++k) sums[k] += values[n + k];
    for (; n < count; ++n) sums[0] += values[n];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/// Means of a block of couplings, [letter at i, letter at j].
struct BlockMeans {
    std::vector<double> of_i, of_j;  ///< [letter]: over the letters of the other column
    double all = 0;

    explicit BlockMeans(Index letters)
        : of_i(static_cast<std::size_t>(letters)), of_j(static_cast<std::size_t>(letters)) {}

    void set(View<const float, 2> block) {
        const Index letters = block.extent(0);
        const double share = 1.0 / static_cast<double>(letters);
        all = 0;
        std::fill(of_j.begin(), of_j.end(), 0.0);
        for (Index a = 0; a < letters; ++a) {
            const float* row = block.data + a * letters;
            for (Index b = 0; b < letters; ++b) of_j[b] += row[b];
            const double mean = share * sum_of(row, letters);
            of_i[a] = mean;
            all += mean;
        }
        all *= share;
        for (double& mean : of_j) mean *= share;
    }
};

/// Contributions of a column's blocks with all later columns: to its own letters, and to those of
/// the later columns, [column, letter].
struct RowSums {
    std::vector<double> own_fields, own_singles;
    View<double, 2> later_fields, later_singles;
};

/// Moves the means of the blocks of column i with all later columns out of the couplings into the
/// fields, and adds the effects of single mutants of the target: one pass over the couplings.
void centre_blocks(Index i, couplings::Model& model, std::span<const std::uint8_t> target,
                   RowSums& sums) {
    const Index columns = model.column_count(), letters = model.letter_count();
    BlockMeans means(letters);
    const Index w_i = target[i];
    for (Index j = i + 1; j < columns; ++j) {
        const View<float, 2> block = model.pairs[pair_index(i, j, columns)];
        means.set(block);
        for (Index a = 0; a < letters; ++a) {
            const double of_a = means.of_i[a];
            sums.own_fields[a] += of_a - means.all;
            sums.later_fields(j, a) += means.of_j[a] - means.all;
            float* row = block.data + a * letters;
            const double from_row = means.all - of_a;
            for (Index b = 0; b < letters; ++b)
                row[b] = static_cast<float>(row[b] + from_row - means.of_j[b]);
        }
        const Index w_j = target[j];
        if (w_i >= letters || w_j >= letters) continue;
        const float* own_row = block.data + w_i * letters;
        const double of_target = own_row[w_j];
        const View<double, 1> later = sums.later_singles[j];
        for (Index a = 0; a < letters; ++a) {
            sums.own_singles[a] += block(a, w_j) - of_target;
            later(a) += own_row[a] - of_target;
        }
    }
}

}  // namespace

EnergyModel::EnergyModel(couplings::Model model, std::span<const std::uint8_t> target, int threads)
    : model_(std::move(model)) {
    const Index columns = column_count(), letters = letter_count();
    Array<double, 2> fields(columns, letters);
    singles_ = {Array<double, 2>(columns, letters), Array<double, 2>(columns, letters)};
    // Blocks of rows of a fixed size, so that sums do not depend on the number of threads.
    constexpr Index kRows = 32;
    const Index blocks = (columns + kRows - 1) / kRows;
    Array<double, 3> later_fields(blocks, columns, letters),
        later_singles(blocks, columns, letters);
    parallel_for(threads, blocks, [&](Index block, int) {
        for (Index i = block * kRows; i < std::min(columns, (block + 1) * kRows); ++i) {
            const auto count = static_cast<std::size_t>(letters);
            RowSums sums{std::vector<double>(count), std::vector<double>(count),
                         later_fields[block], later_singles[block]};
            centre_blocks(i, model_, target, sums);
            std::copy(sums.own_fields.begin(), sums.own_fields.end(), fields[i].begin());
            std::copy(sums.own_singles.begin(), sums.own_singles.end(), singles_.full[i].begin());
        }
    });
    for (Index i = 0; i < columns; ++i) {
        double mean = 0;
        for (Index a = 0; a < letters; ++a) mean += model_.fields(i, a);
        mean /= static_cast<double>(letters);
        for (Index a = 0; a < letters; ++a) {
            double field = fields(i, a) + model_.fields(i, a) - mean;
            for (Index block = 0; block < blocks; ++block) field += later_fields(block, i, a);
            model_.fields(i, a) = static_cast<float>(field);
        }
        const Index own = target[i];
        if (own >= letters) continue;
        for (Index a = 0; a < letters; ++a) {
            singles_.fields(i, a) =
                static_cast<double>(model_.fields(i, a)) - model_.fields(i, own);
            singles_.full(i, a) += singles_.fields(i, a);
            for (Index block = 0; block < blocks; ++block)
                singles_.full(i, a) += later_singles(block, i, a);
        }
    }
}

Energy EnergyModel::energy(std::span<const std::uint8_t> codes) const {
    const Index columns = column_count(), letters = letter_count();
    Energy energy;
    for (Index i = 0; i < columns; ++i) {
        const Index a = codes[i];
        if (a >= letters) continue;
        energy.fields += model_.fields(i, a);
        const Index first = pair_index(i, i + 1, columns);
        for (Index j = i + 1; j < columns; ++j) {
            const Index b = codes[j];
            if (b < letters) energy.couplings += model_.pairs(first + j - i - 1, a, b);
        }
    }
    energy.full = energy.couplings + energy.fields;
    return energy;
}

double EnergyModel::epistasis(Index i, std::uint8_t w_i, std::uint8_t a, Index j, std::uint8_t w_j,
                              std::uint8_t b) const {
    if (i > j) return epistasis(j, w_j, b, i, w_i, a);
    const Index letters = letter_count();
    const float* block = model_.pairs.data() + pair_index(i, j, column_count()) * letters * letters;
    const float* of_a = block + a * letters;
    const float* of_target = block + w_i * letters;
    return static_cast<double>(of_a[b]) - of_a[w_j] - of_target[b] + of_target[w_j];
}

void EnergyModel::prefetch(Index i, std::uint8_t w_i, std::uint8_t a, Index j, std::uint8_t w_j,
                           std::uint8_t b) const {
    if (i > j) return prefetch(j, w_j, b, i, w_i, a);
    const Index letters = letter_count();
    const float* block = model_.pairs.data() + pair_index(i, j, column_count()) * letters * letters;
    for (const Index row : {Index{a}, Index{w_i}})
        for (const Index column : {Index{b}, Index{w_j}})
            __builtin_prefetch(block + row * letters + column);
}

}  // namespace pleat::mutants

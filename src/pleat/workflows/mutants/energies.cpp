// Energies: the change of gauge, and sums over couplings.
#include "pleat/workflows/mutants/energies.h"

#include <utility>
#include <vector>

#include "pleat/core/loops/parallel.h"

namespace pleat::mutants {

namespace {

using couplings::pair_index;

/// Four sums side by side, so that additions need not wait for one another.
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
            for (Index b = 0; b < letters; ++b) of_j[static_cast<std::size_t>(b)] += row[b];
            const double mean = share * sum_of(row, letters);
            of_i[static_cast<std::size_t>(a)] = mean;
            all += mean;
        }
        all *= share;
        for (double& mean : of_j) mean *= share;
    }
};

/// Moves the means of the blocks of column i with all later columns out of the couplings. Returns
/// what the fields of column i get, and writes what those of later columns get to `later`,
/// [column, letter].
std::vector<double> centre_blocks(Index i, couplings::Model& model, View<double, 2> later) {
    const Index columns = model.column_count(), letters = model.letter_count();
    std::vector<double> own(static_cast<std::size_t>(letters), 0.0);
    BlockMeans means(letters);
    for (Index j = i + 1; j < columns; ++j) {
        const View<float, 2> block = model.pairs[pair_index(i, j, columns)];
        means.set(block);
        for (Index a = 0; a < letters; ++a) {
            const double of_a = means.of_i[static_cast<std::size_t>(a)];
            own[static_cast<std::size_t>(a)] += of_a - means.all;
            later(j, a) += means.of_j[static_cast<std::size_t>(a)] - means.all;
            float* row = block.data + a * letters;
            const double from_row = means.all - of_a;
            for (Index b = 0; b < letters; ++b)
                row[b] =
                    static_cast<float>(row[b] + from_row - means.of_j[static_cast<std::size_t>(b)]);
        }
    }
    return own;
}

}  // namespace

EnergyModel::EnergyModel(couplings::Model model, int threads) : model_(std::move(model)) {
    const Index columns = column_count(), letters = letter_count();
    Array<double, 2> fields(columns, letters);
    // Blocks of rows of a fixed size, so that sums do not depend on the number of threads.
    constexpr Index kRows = 32;
    const Index blocks = (columns + kRows - 1) / kRows;
    Array<double, 3> later(blocks, columns, letters);
    parallel_for(threads, blocks, [&](Index block, int) {
        for (Index i = block * kRows; i < std::min(columns, (block + 1) * kRows); ++i) {
            const std::vector<double> own = centre_blocks(i, model_, later[block]);
            std::copy(own.begin(), own.end(), fields[i].begin());
        }
    });
    for (Index i = 0; i < columns; ++i) {
        double mean = 0;
        for (Index a = 0; a < letters; ++a) mean += model_.fields(i, a);
        mean /= static_cast<double>(letters);
        for (Index a = 0; a < letters; ++a) {
            double field = fields(i, a) + model_.fields(i, a) - mean;
            for (Index block = 0; block < blocks; ++block) field += later(block, i, a);
            model_.fields(i, a) = static_cast<float>(field);
        }
    }
}

double EnergyModel::coupling(Index i, std::uint8_t a, Index j, std::uint8_t b) const {
    if (i > j) return coupling(j, b, i, a);
    return model_.pairs(pair_index(i, j, column_count()), a, b);
}

Energy EnergyModel::energy(std::span<const std::uint8_t> codes) const {
    const Index columns = column_count(), letters = letter_count();
    Energy energy;
    for (Index i = 0; i < columns; ++i) {
        const Index a = codes[static_cast<std::size_t>(i)];
        if (a >= letters) continue;
        energy.fields += model_.fields(i, a);
        const Index first = pair_index(i, i + 1, columns);
        for (Index j = i + 1; j < columns; ++j) {
            const Index b = codes[static_cast<std::size_t>(j)];
            if (b < letters) energy.couplings += model_.pairs(first + j - i - 1, a, b);
        }
    }
    energy.full = energy.couplings + energy.fields;
    return energy;
}

EnergyModel::Singles EnergyModel::singles(std::span<const std::uint8_t> target, int threads) const {
    const Index columns = column_count(), letters = letter_count();
    Singles found{Array<double, 2>(columns, letters), Array<double, 2>(columns, letters)};
    const auto code = [&](Index i) { return target[static_cast<std::size_t>(i)]; };
    parallel_for(threads, columns, [&](Index i, int) {
        const std::uint8_t own = code(i);
        if (own >= letters) return;
        const View<double, 1> full = found.full[i], fields = found.fields[i];
        for (Index a = 0; a < letters; ++a)
            fields(a) = static_cast<double>(model_.fields(i, a)) - model_.fields(i, own);
        std::copy(fields.begin(), fields.end(), full.begin());
        for (Index j = 0; j < columns; ++j) {
            const std::uint8_t other = code(j);
            if (j == i || other >= letters) continue;
            const View<const float, 2> block =
                model_.pairs[j > i ? pair_index(i, j, columns) : pair_index(j, i, columns)];
            const float* from = j > i ? block.data + other : block.data + other * letters;
            const Index step = j > i ? letters : 1;
            const double of_own = from[own * step];
            for (Index a = 0; a < letters; ++a) full(a) += from[a * step] - of_own;
        }
    });
    return found;
}

double EnergyModel::epistasis(Index i, std::uint8_t w_i, std::uint8_t a, Index j, std::uint8_t w_j,
                              std::uint8_t b) const {
    return coupling(i, a, j, b) - coupling(i, a, j, w_j) - coupling(i, w_i, j, b) +
           coupling(i, w_i, j, w_j);
}

}  // namespace pleat::mutants

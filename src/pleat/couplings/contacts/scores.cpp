// Scores: centred Frobenius norms and the average product correction.
#include "pleat/couplings/contacts/scores.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "pleat/core/loops/parallel.h"

namespace pleat::couplings {

double centred_norm(View<const float, 2> block) {
    const Index q = block.extent(0);
    double mean = 0;
    for (const float value : block) mean += value;
    mean /= static_cast<double>(q * q);
    double sum = 0;
    for (Index a = 0; a < q - 1; ++a) {
        for (Index b = 0; b < q - 1; ++b) sum += (block(a, b) - mean) * (block(a, b) - mean);
    }
    return std::sqrt(sum);
}

double zero_sum_norm(View<const float, 2> block) {
    const Index q = block.extent(0);
    std::vector<double> row(static_cast<std::size_t>(q)), column(row.size());
    double all = 0;
    for (Index a = 0; a < q; ++a) {
        for (Index b = 0; b < q; ++b) {
            const double share = block(a, b) / static_cast<double>(q);
            row[a] += share;
            column[b] += share;
            all += share / static_cast<double>(q);
        }
    }
    double sum = 0;
    for (Index a = 0; a < q; ++a) {
        for (Index b = 0; b < q; ++b) {
            const double value = block(a, b) - row[a] - column[b] + all;
            sum += value * value;
        }
    }
    return std::sqrt(sum);
}

Array<double, 2> frobenius_scores(const Model& model, int threads, NormLetters letters) {
    const Index columns = model.column_count();
    const auto norm_of = letters == NormLetters::all ? zero_sum_norm : centred_norm;
    Array<double, 2> scores(columns, columns);
    parallel_for(threads, columns, [&](Index i, int) {
        for (Index j = i + 1; j < columns; ++j) {
            const double norm = norm_of(model.pairs[pair_index(i, j, columns)]);
            scores(i, j) = norm;
            scores(j, i) = norm;
        }
    });
    return scores;
}

Array<double, 2> average_product_correction(View<const double, 2> scores, int threads) {
    const Index columns = scores.extent(0);
    std::vector<double> mean(columns, 0.0), min_of_row(columns);
    parallel_for(threads, columns, [&](Index i, int) {
        double sum = 0;
        for (Index j = 0; j < columns; ++j) sum += scores(i, j);
        mean[i] = sum;
    });
    double all = 0;
    for (double& value : mean) {
        all += value;
        value /= static_cast<double>(columns);
    }
    all /= static_cast<double>(columns * columns);

    Array<double, 2> corrected(columns, columns);
    if (!(all > 0)) return corrected;  // no couplings at all: nothing to correct
    parallel_for(threads, columns, [&](Index i, int) {
        double min = std::numeric_limits<double>::infinity();
        for (Index j = 0; j < columns; ++j) {
            const double value = scores(i, j) - mean[i] * mean[j] / all;
            corrected(i, j) = value;
            if (i != j) min = std::min(min, value);
        }
        min_of_row[i] = min;
    });
    const double shift = *std::min_element(min_of_row.begin(), min_of_row.end());
    parallel_for(threads, columns, [&](Index i, int) {
        for (Index j = 0; j < columns; ++j) corrected(i, j) = i == j ? 0 : corrected(i, j) - shift;
    });
    return corrected;
}

}  // namespace pleat::couplings

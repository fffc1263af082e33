// Scores: centred Frobenius norms and the average product correction.
#include "pleat/couplings/scores.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "pleat/core/parallel.h"

namespace pleat::couplings {

namespace {

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

}  // namespace

Array<double, 2> frobenius_scores(const Model& model, int threads) {
    const Index columns = model.column_count();
    Array<double, 2> scores(columns, columns);
    parallel_for(threads, columns, [&](Index i, int) {
        for (Index j = i + 1; j < columns; ++j) {
            const double norm = centred_norm(model.pairs[pair_index(i, j, columns)]);
            scores(i, j) = norm;
            scores(j, i) = norm;
        }
    });
    return scores;
}

Array<double, 2> average_product_correction(View<const double, 2> scores) {
    const Index columns = scores.extent(0);
    std::vector<double> mean(columns, 0.0);
    double all = 0;
    for (Index i = 0; i < columns; ++i) {
        for (Index j = 0; j < columns; ++j) mean[i] += scores(i, j);
        all += mean[i];
        mean[i] /= static_cast<double>(columns);
    }
    all /= static_cast<double>(columns * columns);

    Array<double, 2> corrected(columns, columns);
    if (!(all > 0)) return corrected;  // no couplings at all: nothing to correct
    double least = std::numeric_limits<double>::infinity();
    for (Index i = 0; i < columns; ++i) {
        for (Index j = 0; j < columns; ++j) {
            corrected(i, j) = scores(i, j) - mean[i] * mean[j] / all;
            if (i != j) least = std::min(least, corrected(i, j));
        }
    }
    for (Index i = 0; i < columns; ++i) {
        for (Index j = 0; j < columns; ++j) corrected(i, j) = i == j ? 0 : corrected(i, j) - least;
    }
    return corrected;
}

}  // namespace pleat::couplings

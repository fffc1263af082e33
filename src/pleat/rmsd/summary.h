// Summary: what is told of all pairs, gathered band by band without their matrix.
#pragma once

#include <vector>

#include "pleat/core/sweep.h"
#include "pleat/rmsd/rmsd.h"

namespace pleat::rmsd {

/// Adds up bands of rows; each row must come once, in ascending order.
class Summary {
public:
    Summary(Index frames, Index atoms, const Parameters& parameters);
    /// `rmsd` has the pairs of the rows with all later frames, in condensed order.
    void add(Block rows, const float* rmsd);
    Result finish();

private:
    struct Near {
        std::int32_t i, j;
        float rmsd;
    };
    void add_row(Index i, const float* rmsd);
    void keep_best(Index frame, Index other, float rmsd);
    void sort_neighbours();

    const Parameters parameters_;
    Result result_;
    double sum_ = 0.0;
    float cutoff_ = 0.0f;  ///< 0 = none
    std::vector<Near> near_;
};

}  // namespace pleat::rmsd

// Summary: what is told of all pairs, gathered band by band without their matrix.
#pragma once

#include <vector>

#include "pleat/core/sweep.h"
#include "pleat/rmsd/metric.h"
#include "pleat/rmsd/rmsd.h"
#include "pleat/rmsd/tally.h"

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
    void sort_neighbours();

    const Metric& metric_;
    Result result_;
    Tally tally_;
    float cutoff_ = 0.0f;  ///< 0 = none
    std::vector<Near> near_;
};

/// Adds up rows of one set with all frames of another; each row must come once, in ascending order.
class RectangleSummary {
public:
    RectangleSummary(Index frames, Index others, Index atoms, const Parameters& parameters);
    /// `values` [row, other].
    void add(Block rows, const float* values);
    Result finish();

private:
    const Metric& metric_;
    Index others_;
    Result result_;
    Tally tally_;
    float cutoff_ = 0.0f;  ///< 0 = none
};

}  // namespace pleat::rmsd

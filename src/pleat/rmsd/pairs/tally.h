// Tally: the histogram of many values with their least, most and mean, and lists of the nearest.
#pragma once

#include "pleat/rmsd/measures/metric.h"
#include "pleat/rmsd/rmsd.h"

namespace pleat::rmsd {

/// Counts values that come in a fixed order; its sums depend on the parts they come in.
class Tally {
public:
    explicit Tally(double bin) : bin_(bin) {}
    void add(const float* values, Index count);
    /// Sets histogram, least, most and mean.
    void finish(Result& result);

private:
    double bin_;
    std::vector<std::int64_t> histogram_;
    double sum_ = 0.0, least_ = 0.0, most_ = 0.0;
    std::int64_t count_ = 0;
};

/// Room for the `count` nearest others of each frame.
Best empty_best(Index frames, Index count, const Metric& metric);
/// Puts `other` among the nearest of `frame`, a heap whose first is the farthest, if it is one of
/// them; of two as near the lower one is nearer, whatever the order in which they are offered.
void keep_nearest(Best& best, Index frame, Index other, float value, const Metric& metric);
/// Puts the nearest of each frame in their order, once all were offered.
void sort_best(Best& best, const Metric& metric, int threads);

/// Refuses, before they are made, lists of `pairs` pairs that memory cannot hold: `more` bytes are
/// about to be taken. DeviceError.
void require_list(Index pairs, std::int64_t more);

}  // namespace pleat::rmsd

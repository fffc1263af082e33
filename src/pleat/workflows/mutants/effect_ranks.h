// Effect ranks: where an effect lies among those of all single mutants, and rank correlations.
#pragma once

#include <vector>

#include "pleat/core/view.h"

namespace pleat::mutants {

/// The distribution of the effects of all single mutants. Effects that are equal to four decimals
/// count as equal: letters that no sequence of the family has differ by rounding alone.
class EffectRanks {
public:
    explicit EffectRanks(const std::vector<double>& effects);

    /// From 0 to 100: the share of smaller effects, and half of the equal ones.
    double percentile(double effect) const;
    /// (effect - median) / (1.4826 median absolute deviation); NaN if that is 0.
    double z(double effect) const;

private:
    std::vector<long long> sorted_;  // in units of the last decimal
    double median_ = 0, deviation_ = 0;
};

/// Ranks from 1, equal values (to four decimals) with the mean of theirs.
std::vector<double> mid_ranks(const std::vector<double>& values);

/// Spearman's correlation of two columns in the rows where neither is NaN; NaN for fewer than 3 of
/// them, or if one column has equal values alone. `count` gets how many they are.
double rank_correlation(const std::vector<double>& a, const std::vector<double>& b, Index& count);

}  // namespace pleat::mutants

// Exact tail: the whole null distribution of T of one pair, by enumeration of its tables.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "pleat/mutual_information/count/statistic.h"

namespace pleat::mutual_information {

/// Where an observed T stands among all permutations: probabilities of T below, equal to and above
/// it.
struct ExactTail {
    double less = 0, equal = 0, greater = 0;
    Index atoms = 0;  ///< distinct values of T
};

/// Every value of T that a permutation can give, ascending, and its probability.
struct ExactNull {
    struct Atom {
        std::int64_t t;
        double probability;
    };
    std::vector<Atom> atoms;

    ExactTail tail(std::int64_t observed) const;
};

/// Enumerates the tables of given margins: the letters of one column one after the other, the
/// rarest first, each spread over what is left of the other column's letters. What is left, without
/// its order, is a state; a state carries each partial T once, with its probability.
class ExactNulls {
public:
    /// Work of a few milliseconds: one unit is one value of T carried by one spread of a letter,
    /// 0.1 us. Nulls of some 10,000 atoms are within it.
    static constexpr double kMostWork = 3e4;

    /// `statistic` must outlive this.
    explicit ExactNulls(const Statistic& statistic);

    /// The null of two columns with these margins; nothing where it would take more than
    /// `most_work`, which is known before most of that work is done. May be called from several
    /// threads.
    std::optional<ExactNull> null(std::span<const Index> margin_i, std::span<const Index> margin_j,
                                  double most_work = kMostWork) const;

private:
    const Statistic& statistic_;
    std::vector<double> log_factorial_;
};

/// The same for one pair and one observed T.
std::optional<ExactTail> exact_tail(std::span<const Index> margin_i,
                                    std::span<const Index> margin_j, const Statistic& statistic,
                                    std::int64_t observed,
                                    double most_work = ExactNulls::kMostWork);

}  // namespace pleat::mutual_information

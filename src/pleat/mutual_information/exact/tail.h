// Tail: tail probabilities of a null distribution, from its first moments or by enumeration of its
// tables.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "pleat/core/math/incomplete_gamma.h"
#include "pleat/mutual_information/count/statistic.h"

namespace pleat::mutual_information {

/// P(Z >= z) of the Pearson type III distribution with mean 0, variance 1 and skewness g: a shifted
/// gamma distribution of shape 4 / g^2, mirrored if g < 0 (Pearson, Phil. Trans. A 186:343, 1895);
/// the normal distribution if |g| < 1e-4. 1 below and 0 above its support. NaN if an argument is
/// NaN.
double pearson_tail(double z, double skewness);

/// P(X >= x) of the gamma distribution with this mean and variance, for an unknown skewness. Right
/// to within a factor of a few for nulls with many values; wrong for conserved columns. NaN unless
/// mean and variance are above 0.
double gamma_tail(double x, double mean, double variance);

/// The probabilities of permutations with T below, equal to and above an observed one.
struct TailProbabilities {
    double p_less = 0, p_equal = 0, p_greater = 0;
};

/// All values of T that permutations can give, ascending, with their probabilities.
struct EnumeratedNull {
    struct Atom {
        std::int64_t t;
        double probability;
    };
    std::vector<Atom> atoms;

    TailProbabilities tail(std::int64_t observed) const;
};

/// Enumerates all contingency tables with given margins, with their probabilities: README.md,
/// section 7.
class NullEnumerator {
public:
    /// Work of a few milliseconds; a unit is one value of T in one distribution of a letter, 0.1
    /// us. It suffices for null distributions with some 10,000 values.
    static constexpr double kMaxWork = 3e4;

    /// `statistic` must outlive this.
    explicit NullEnumerator(const Statistic& statistic);

    /// The null distribution of two columns with these margins; empty if it would take more than
    /// `max_work`, which is detected early. Thread-safe.
    std::optional<EnumeratedNull> null(std::span<const Index> margin_i,
                                       std::span<const Index> margin_j,
                                       double max_work = kMaxWork) const;

private:
    const Statistic& statistic_;
    std::vector<double> log_factorial_;
};

}  // namespace pleat::mutual_information

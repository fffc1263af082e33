// Tail: Pearson distributions, and enumeration with equal states and equal values of T
// merged.
#include "pleat/mutual_information/exact/tail.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>

namespace pleat::mutual_information {

namespace {

constexpr double kNormalSkewness = 1e-4;
using Atoms = std::vector<EnumeratedNull::Atom>;
using State = std::vector<Index>;  // numbers of remaining rows per letter, descending
using States = std::map<State, Atoms>;

// Sorts the values of T, and merges equal ones by adding their probabilities.
void merge(Atoms& atoms) {
    std::sort(atoms.begin(), atoms.end(), [](const auto& a, const auto& b) { return a.t < b.t; });
    std::size_t kept = 0;
    for (std::size_t at = 1; at < atoms.size(); ++at) {
        if (atoms[at].t == atoms[kept].t) {
            atoms[kept].probability += atoms[at].probability;
        } else {
            atoms[++kept] = atoms[at];
        }
    }
    atoms.resize(kept + 1);
}

// The number of ways to distribute `drawn` rows over the letters of a state.
double spread_count(const State& state, Index drawn, std::vector<double>& ways) {
    ways.assign(drawn + 1, 0);
    ways[0] = 1;
    for (const Index left : state) {
        // Sums over windows of left + 1 values, as differences of cumulative sums.
        for (Index at = 1; at <= drawn; ++at) ways[at] += ways[at - 1];
        for (Index at = drawn; at > left; --at) ways[at] -= ways[at - left - 1];
    }
    return ways[drawn];
}

// For every state, distributes the `drawn` rows of the second column's next letter over the
// remaining rows of the first column.
class Spread {
public:
    Spread(const Statistic& statistic, const std::vector<double>& log_factorial, Index drawn,
           States& next)
        : f_(statistic.f), log_factorial_(log_factorial), drawn_(drawn), next_(next) {}

    void from(const State& state, const Atoms& atoms) {
        state_ = &state;
        atoms_ = &atoms;
        left_.assign(state.begin(), state.end());
        room_.assign(state.size() + 1, 0);
        for (std::size_t at = state.size(); at-- > 0;) room_[at] = room_[at + 1] + state[at];
        const Index all = room_[0];
        spread_letter(0, drawn_, -log_choose(all, drawn_), 0);
    }

private:
    double log_choose(Index n, Index k) const {
        return log_factorial_[n] - log_factorial_[k] - log_factorial_[n - k];
    }

    /// Distributes `drawn` rows over the letters of the first column from `letter` on.
    void spread_letter(std::size_t letter, Index drawn, double log_probability, std::int64_t t) {
        if (letter == state_->size()) {
            finish(std::exp(log_probability), t);
            return;
        }
        const Index left = (*state_)[letter];
        const Index max_x = std::min(left, drawn);
        for (Index x = std::max(Index{0}, drawn - room_[letter + 1]); x <= max_x; ++x) {
            left_[letter] = left - x;
            spread_letter(letter + 1, drawn - x, log_probability + log_choose(left, x), t + f_[x]);
        }
    }

    void finish(double probability, std::int64_t t) {
        key_ = left_;
        std::sort(key_.begin(), key_.end(), std::greater<>());
        while (!key_.empty() && key_.back() == 0) key_.pop_back();
        Atoms& to = next_[key_];
        for (const auto& atom : *atoms_) to.push_back({atom.t + t, atom.probability * probability});
    }

    const std::vector<std::int64_t>& f_;
    const std::vector<double>& log_factorial_;
    Index drawn_;
    States& next_;
    const State* state_ = nullptr;
    const Atoms* atoms_ = nullptr;
    State left_, key_;
    std::vector<Index> room_;
};

State sorted(std::span<const Index> margin) {
    State counts(margin.begin(), margin.end());
    std::sort(counts.begin(), counts.end(), std::greater<>());
    return counts;
}

// Logarithm of the approximate number of states of a column's letters.
double log_state_count(const State& counts) {
    double sum = 0;
    for (std::size_t letter = 1; letter < counts.size(); ++letter)
        sum += std::log1p(static_cast<double>(counts[letter]));
    return sum;
}

}  // namespace

double pearson_tail(double z, double skewness) {
    if (std::isnan(z) || std::isnan(skewness)) return std::numeric_limits<double>::quiet_NaN();
    if (std::abs(skewness) < kNormalSkewness) return 0.5 * std::erfc(z / std::numbers::sqrt2);
    const double shape = 4 / (skewness * skewness);
    const double u = z * skewness / 2;
    const IncompleteGamma gamma = incomplete_gamma(shape, shape * (1 + u), u);
    return skewness > 0 ? gamma.upper : gamma.lower;
}

double gamma_tail(double x, double mean, double variance) {
    if (!(variance > 0) || !(mean > 0)) return std::numeric_limits<double>::quiet_NaN();
    const double deviation = std::sqrt(variance);
    return pearson_tail((x - mean) / deviation, 2 * deviation / mean);
}

TailProbabilities EnumeratedNull::tail(std::int64_t observed) const {
    TailProbabilities tail;
    for (const Atom& atom : atoms) {
        auto& sum = atom.t < observed    ? tail.p_less
                    : atom.t == observed ? tail.p_equal
                                         : tail.p_greater;
        sum += atom.probability;
    }
    return tail;
}

NullEnumerator::NullEnumerator(const Statistic& statistic)
    : statistic_(statistic), log_factorial_(statistic.rows() + 1) {
    long double sum = 0;
    for (Index n = 2; n <= statistic.rows(); ++n)
        log_factorial_[n] = static_cast<double>(sum += std::log(static_cast<long double>(n)));
}

std::optional<EnumeratedNull> NullEnumerator::null(std::span<const Index> margin_i,
                                                   std::span<const Index> margin_j,
                                                   double max_work) const {
    State kept = sorted(margin_i), spread = sorted(margin_j);
    if (log_state_count(kept) > log_state_count(spread)) std::swap(kept, spread);
    States states;
    states[kept] = {{0, 1.0}};
    std::vector<double> ways;
    for (std::size_t letter = spread.size(); letter-- > 0;) {
        double work = 0;
        for (const auto& [state, atoms] : states) {
            work += spread_count(state, spread[letter], ways) * static_cast<double>(atoms.size());
            if (work > max_work) return std::nullopt;
        }
        max_work -= work;
        States next;
        Spread step(statistic_, log_factorial_, spread[letter], next);
        for (const auto& [state, atoms] : states) step.from(state, atoms);
        for (auto& [state, atoms] : next) merge(atoms);
        states = std::move(next);
    }
    return EnumeratedNull{std::move(states.begin()->second)};
}

}  // namespace pleat::mutual_information

// Pair vector: a pair's cells expanded in Hahn polynomials, for F and all functions of the basis.
#include <algorithm>
#include <cmath>

#include "pleat/mutual_information/exact/hahn.h"
#include "pleat/mutual_information/exact/triple_vectors.h"
#include "pleat/mutual_information/exact/vector_loops.h"

namespace pleat::mutual_information {

namespace {

// An expansion ends at an order whose square is this much smaller than that of order 2, or this
// small (orders do not mix, so the error is the sum of the squares left out).
constexpr double kSmallest = 1e-21, kNothing = 1e-27;
// Polynomials of high order extend into the tails of the distribution; a larger deviation of the
// norm from 1 means that the stored window omits too much of the tails.
constexpr double kFarTail = 1e-36, kLost = 1e-6;

// Recurrence x Q_m = rise_(m+1) Q_(m+1) + centre_m Q_m + rise_m Q_(m-1) of the orthonormal Hahn
// polynomials of Hyp(N, r, c) (Koekoek, Lesky, Swarttouw, section 9.5, in these margins).
struct Recurrence {
    double rows, r, c;

    double up(double m) const {
        return (rows + 1 - m) * (r - m) * ((c - m) / ((rows + 1 - 2 * m) * (rows - 2 * m)));
    }
    double down(double m) const {
        return m * (rows + 1 - c - m) *
               ((rows + 1 - r - m) / ((rows + 2 - 2 * m) * (rows + 1 - 2 * m)));
    }
    double centre(double m) const { return up(m) + down(m); }
    double rise(double m) const { return m == 0 ? 0 : std::sqrt(up(m - 1) * down(m)); }
};

}  // namespace

PairVectorMaker::PairVectorMaker(const TripleSpace& space)
    : space_(space),
      width_(space.basis == nullptr ? 0 : space.basis->width()),
      expected_(space.rows + 1),
      covariance_(width_ * width_),
      sum_(width_) {}

double PairVectorMaker::make(std::span<const Index> margin_i, std::span<const Index> margin_j,
                             double* terms) {
    own_mean_ = 0;
    orders_ = 1;
    if (space_.basis != nullptr) {
        std::fill(covariance_.begin(), covariance_.end(), 0.0);
        for (auto& order : coefficient_) std::fill(order.begin(), order.end(), 0.0);
    }
    count_cells(margin_i, margin_j);
    interpolate_at_nodes(terms);
    if (space_.basis == nullptr) return own_mean_;
    if (margin_i.size() > 1 && margin_j.size() > 1) {
        add_first_order(margin_i, margin_j);
        const LetterGram gram_i(margin_i, space_.rows, orders_);
        const LetterGram gram_j(margin_j, space_.rows, orders_);
        for (int m = 2; m <= orders_; ++m) add_covariance(m, gram_i, gram_j);
    }
    finish(terms);
    return own_mean_;
}

void PairVectorMaker::count_cells(std::span<const Index> margin_i,
                                  std::span<const Index> margin_j) {
    const Index cells = static_cast<Index>(margin_i.size() * margin_j.size());
    Index cell = 0;
    for (const Index r : margin_i) {
        for (const Index c : margin_j) {
            hypergeometric(space_.rows, r, c, space_.basis == nullptr ? kTail : kFarTail, 0,
                           window_);
            count_ranges_.emplace_back(window_.first, window_.first + window_.size());
            for (Index at = 0; at < window_.size(); ++at)
                expected_[window_.first + at] += window_.probability[at];
            const double expectation =
                static_cast<double>(r) * static_cast<double>(c) / static_cast<double>(space_.rows);
            cell_information(expectation, window_, *space_.differences, information_);
            for (Index at = 0; at < window_.size(); ++at)
                own_mean_ += window_.probability[at] * information_[at];
            if (space_.basis != nullptr && window_.size() > 1) expand(cell, cells, r, c);
            ++cell;
        }
    }
}

void PairVectorMaker::interpolate_at_nodes(double* terms) {
    std::fill_n(terms, space_.nodes->size(), 0.0);
    for (const auto& [first, last] : count_ranges_) {
        for (Index x = first; x < last; ++x) {
            const double expected = std::exchange(expected_[x], 0.0);
            if (expected == 0) continue;
            const auto [node, weights] = space_.nodes->weights(x);
            for (std::size_t at = 0; at < weights.size(); ++at)
                terms[node + at] += expected * weights[at];
        }
    }
    count_ranges_.clear();
}

bool PairVectorMaker::next_polynomial(int m, double centre, double rise, double fall) {
    const Index count = window_.size();
    polynomial_.resize((m + 1) * count);
    double* made = polynomial_.data() + m * count;
    const double* latest = made - count;
    for (Index at = 0; at < count; ++at) made[at] = (static_cast<double>(at) - centre) * latest[at];
    if (m > 1)
        for (Index at = 0; at < count; ++at) made[at] -= fall * made[at - 2 * count];
    loops::make_orthogonal(polynomial_.data(), m, count, made);
    double square = 0;
    for (Index at = 0; at < count; ++at) {
        made[at] /= rise;
        square += made[at] * made[at];
    }
    return std::abs(square - 1) < kLost;
}

void PairVectorMaker::expand(Index cell, Index cells, Index r, Index c) {
    const Index max_order = std::min({r, c, space_.rows - r, space_.rows - c});
    const Recurrence recurrence{static_cast<double>(space_.rows), static_cast<double>(r),
                                static_cast<double>(c)};
    const int orders =
        static_cast<int>(std::min<Index>(max_order, Differences::orders(recurrence.up(0))));
    const Index count = window_.size();
    // Polynomials times the root of the probabilities are orthonormal vectors. Each is made
    // orthogonal again to all before it, because the recurrence alone loses that for orders near
    // the width of the window.
    polynomial_.resize(count);
    root_.resize(count);
    for (Index at = 0; at < count; ++at)
        root_[at] = polynomial_[at] = std::sqrt(window_.probability[at]);
    double second = 0;
    for (int m = 1; m <= orders && m < count; ++m) {
        const double rise = recurrence.rise(m);
        if (!next_polynomial(m, recurrence.centre(m - 1) - static_cast<double>(window_.first), rise,
                             recurrence.rise(m - 1)))
            break;
        if (static_cast<int>(coefficient_.size()) <= m) coefficient_.resize(m + 1);
        auto& of_order = coefficient_[m];
        if (static_cast<Index>(of_order.size()) < cells * width_) of_order.resize(cells * width_);
        double* sum = of_order.data() + cell * width_;
        double own = 0;
        weight_.resize(count);
        for (Index at = 0; at < count; ++at) {
            weight_[at] = root_[at] * polynomial_[m * count + at];
            own += weight_[at] * information_[at];
        }
        loops::weighted_sum(weight_.data(), space_.basis->at(window_.first), count, width_, sum);
        sum[0] = own;
        double energy = own * own;
        for (Index f = 1; f < width_; ++f) {
            const double weighted = sum[f] * space_.basis->importance()[f];
            energy += weighted * weighted;
        }
        orders_ = std::max(orders_, m);
        if (m == 2) second = energy;
        if (m >= 4 && (energy < kSmallest * second || energy < kNothing)) break;
        // Order 1 is stored as the mean slope, without the standard deviation of the count.
        if (m == 1)
            for (Index f = 0; f < width_; ++f) sum[f] /= rise;
    }
}

void PairVectorMaker::add_first_order(std::span<const Index> margin_i,
                                      std::span<const Index> margin_j) {
    const Index letters_i = static_cast<Index>(margin_i.size());
    const Index letters_j = static_cast<Index>(margin_j.size());
    const auto all = static_cast<double>(space_.rows);
    double* slope = coefficient_[1].data();
    const auto centre = [&](Index count, Index stride, std::span<const Index> weight,
                            double* from) {
        double* mean = sum_.data();
        std::fill_n(mean, width_, 0.0);
        for (Index at = 0; at < count; ++at)
            for (Index f = 0; f < width_; ++f)
                mean[f] += static_cast<double>(weight[at]) / all * from[at * stride + f];
        for (Index at = 0; at < count; ++at)
            for (Index f = 0; f < width_; ++f) from[at * stride + f] -= mean[f];
    };
    for (Index a = 0; a < letters_i; ++a)
        centre(letters_j, width_, margin_j, slope + a * letters_j * width_);
    for (Index b = 0; b < letters_j; ++b)
        centre(letters_i, letters_j * width_, margin_i, slope + b * width_);
    image_.resize(letters_i * letters_j * width_);
    for (Index a = 0; a < letters_i; ++a) {
        for (Index b = 0; b < letters_j; ++b) {
            const Index cell = (a * letters_j + b) * width_;
            const double weight =
                static_cast<double>(margin_i[a]) * static_cast<double>(margin_j[b]) / (all - 1);
            for (Index f = 0; f < width_; ++f) image_[cell + f] = weight * slope[cell + f];
        }
    }
    loops::add_products(image_.data(), slope, letters_i * letters_j, width_, covariance_.data());
}

void PairVectorMaker::add_covariance(int m, const LetterGram& gram_i, const LetterGram& gram_j) {
    const Index row = gram_j.letters() * width_, cells = gram_i.letters() * gram_j.letters();
    const auto& value = coefficient_[m];
    image_.assign(value.begin(), value.begin() + cells * width_);
    for (Index a = 0; a < gram_i.letters(); ++a)
        gram_j.apply_to(m, image_.data() + a * row, width_, width_);
    gram_i.apply_to(m, image_.data(), row, row);
    loops::add_products(value.data(), image_.data(), cells, width_, covariance_.data());
}

void PairVectorMaker::finish(double* terms) {
    const Index size = space_.basis->size(), nodes = space_.nodes->size();
    std::vector<double> mean(width_);
    space_.basis->project_onto_basis(terms, mean.data());
    double* covariance = terms + nodes;
    double* square = covariance + space_.basis->packed_size();
    for (Index f = 0; f < size; ++f) {
        for (Index g = 0; g <= f; ++g) {
            *covariance++ = covariance_[f * width_ + g];
            *square++ = mean[f] * mean[g];
        }
    }
}

}  // namespace pleat::mutual_information

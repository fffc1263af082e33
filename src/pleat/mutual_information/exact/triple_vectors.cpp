// Triple vectors: nodes among the counts, a basis of functions of a count, and the vectors of pairs
// and third columns.
#include "pleat/mutual_information/exact/triple_vectors.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

#include "pleat/mutual_information/exact/vector_loops.h"

namespace pleat::mutual_information {

namespace {

constexpr Index kEnds = 32;
constexpr Index kPanel = 20;

std::vector<Index> panel_nodes(Index first, Index last, bool all) {
    std::vector<Index> nodes;
    if (all || last - first < kPanel) {
        for (Index count = first; count <= last; ++count) nodes.push_back(count);
        return nodes;
    }
    // Zeros of the Chebyshev polynomial, stretched so that the outermost are the ends of the panel.
    const double widest = std::cos(std::numbers::pi / (2 * kPanel));
    for (Index node = 0; node < kPanel; ++node) {
        const double angle = std::numbers::pi * (static_cast<double>(node) + 0.5) / kPanel;
        const double position = 0.5 - 0.5 * std::cos(angle) / widest;
        const Index nearest = first + std::llround(position * static_cast<double>(last - first));
        nodes.push_back(nodes.empty() ? first : std::max(nearest, nodes.back() + 1));
    }
    for (Index back = 0; back < kPanel; ++back)
        nodes[kPanel - 1 - back] = std::min(nodes[kPanel - 1 - back], last - back);
    return nodes;
}

constexpr double kNegligible =
    1e-11;  // norm of a remainder that counts as 0; functions have norms near 1
constexpr double kUncoupled = 1e-13;  // product of two reaches that counts as 0

double dot(const double* a, const double* b, Index count) {
    double sum = 0;
    for (Index at = 0; at < count; ++at) sum += a[at] * b[at];
    return sum;
}

// The last order that couples two cells that can occur together.
int coupled_orders(Index rows, const CountNodes& nodes, std::span<const LetterExpansion> letters) {
    int orders = 1;
    for (const LetterExpansion& letter : letters) {
        for (int m = letter.orders; m > orders; --m) {
            double max_product = 0;
            for (Index low = 0, high = nodes.size() - 1; low <= high; ++low) {
                while (high > low && nodes.count(low) + nodes.count(high) > rows) --high;
                max_product = std::max(max_product, letter.reach(m, low) * letter.reach(m, high));
            }
            if (max_product > kUncoupled) orders = m;
        }
    }
    return orders;
}

// All functions that the basis must span, [function, node].
std::vector<std::vector<double>> functions_of(Index rows, const CountNodes& nodes,
                                              std::span<const LetterExpansion> letters,
                                              int orders) {
    std::vector<std::vector<double>> functions;
    for (const LetterExpansion& letter : letters) {
        functions.push_back(letter.mean);
        functions.emplace_back();
        for (Index node = 0; node < nodes.size(); ++node)
            functions.back().push_back(static_cast<double>(nodes.count(node)) /
                                       static_cast<double>(rows) * letter.slope[node]);
        for (int m = 2; m <= std::min(letter.orders, orders); ++m) {
            const double* reach = &letter.reach(m, 0);
            functions.emplace_back(reach, reach + nodes.size());
        }
    }
    return functions;
}

// An expansion ends when the square of an order is this much smaller than that of order 2, or below
// the second limit (orders do not mix, so the error is the sum of the omitted squares).
constexpr double kSmallest = 1e-21, kNothing = 1e-27;
// High-order polynomials extend into the tails of the distribution; a larger deviation of the norm
// from 1 means that the stored window is too narrow.
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

// Sums up the orders of one third column.
class Third {
public:
    Third(const TripleSpace& space, std::span<const Index> margin,
          std::span<const LetterExpansion* const> letters)
        : space_(space),
          margin_(margin),
          letters_(letters),
          nodes_(space.nodes->size()),
          width_(space.basis->width()),
          cell_(nodes_),
          coupling_(width_ * width_) {}

    // Order 1: slopes, centred over the letters, since the margins fix the sum over all cells.
    void first_order() {
        const auto all = static_cast<double>(space_.rows);
        std::vector<std::vector<double>> centred;
        std::vector<double> mean(nodes_);
        for (std::size_t c = 0; c < letters_.size(); ++c)
            for (Index node = 0; node < nodes_; ++node)
                mean[node] += static_cast<double>(margin_[c]) / all * letters_[c]->slope[node];
        std::vector<double> function(nodes_), projected(width_);
        for (std::size_t c = 0; c < letters_.size(); ++c) {
            const auto t = static_cast<double>(margin_[c]);
            for (Index node = 0; node < nodes_; ++node) {
                const auto x = static_cast<double>(space_.nodes->count(node));
                const double slope = letters_[c]->slope[node] - mean[node];
                cell_[node] += x * t / (all - 1) * slope * slope;
                function[node] = x / all * slope;
            }
            space_.basis->project_onto_basis(function.data(), projected.data());
            couple(-t * all / (all - 1), projected.data(), projected.data());
        }
    }

    void order(int m, const LetterGram& gram) {
        const Index letters = gram.letters();
        const double sign = m % 2 == 0 ? 1 : -1;
        std::vector<double> own(letters * nodes_), reach(letters * nodes_);
        std::vector<double> projected(letters * width_);
        for (Index c = 0; c < letters; ++c) {
            if (m > letters_[c]->orders) continue;
            std::copy_n(&letters_[c]->coefficient(m, 0), nodes_, own.data() + c * nodes_);
            std::copy_n(&letters_[c]->reach(m, 0), nodes_, reach.data() + c * nodes_);
            space_.basis->project_onto_basis(reach.data() + c * nodes_,
                                             projected.data() + c * width_);
        }
        const auto own_before = own, reach_before = reach, projected_before = projected;
        gram.apply_to(m, own.data(), nodes_, nodes_);
        gram.apply_to(m, reach.data(), nodes_, nodes_);
        gram.apply_to(m, projected.data(), width_, width_);
        for (Index at = 0; at < letters * nodes_; ++at)
            cell_[at % nodes_] += own[at] * own_before[at];
        if (m > space_.basis->orders()) return;
        for (Index at = 0; at < letters * nodes_; ++at)
            cell_[at % nodes_] -= sign * reach[at] * reach_before[at];
        for (Index c = 0; c < letters; ++c)
            couple(sign, projected_before.data() + c * width_, projected.data() + c * width_);
    }

    void pack(const std::vector<double>& mean, std::vector<double>& variance) const {
        std::vector<double> slope(width_);
        space_.basis->project_onto_basis(mean.data(), slope.data());
        slope[0] = 1;
        const Index size = space_.basis->size(), packed = space_.basis->packed_size();
        variance.assign(space_.terms(), 0);
        std::copy(cell_.begin(), cell_.end(), variance.begin());
        double* covariance = variance.data() + nodes_;
        double* square = covariance + packed;
        for (Index f = 0; f < size; ++f) {
            for (Index g = 0; g <= f; ++g) {
                const double times = f == g ? 1 : 2;
                const double coupling =
                    0.5 * (coupling_[f * width_ + g] + coupling_[g * width_ + f]);
                *covariance++ = times * (coupling + slope[f] * slope[g]);
                *square++ = times * coupling;
            }
        }
    }

private:
    void couple(double weight, const double* left, const double* right) {
        for (Index f = 0; f < width_; ++f)
            for (Index g = 0; g < width_; ++g)
                coupling_[f * width_ + g] += weight * left[f] * right[g];
    }

    const TripleSpace& space_;
    std::span<const Index> margin_;
    std::span<const LetterExpansion* const> letters_;
    Index nodes_, width_;
    std::vector<double> cell_;      // [node]: variance within a cell less its coupling to itself
    std::vector<double> coupling_;  // [function, function]
};

}  // namespace

Index CountNodes::max_size(Index rows) {
    const auto panels = std::bit_width(static_cast<std::uint64_t>(rows / kEnds));
    return std::min<Index>(rows + 1, 2 * kEnds + kPanel * panels);
}

std::int64_t CountNodes::bytes(Index rows) {
    return 8 * (max_size(rows) + (kPanel + 2) * (rows + 2));
}

CountNodes::CountNodes(Index rows) {
    first_.reserve(rows + 1);
    begin_.reserve(rows + 2);
    weights_.reserve(kPanel * (rows + 1));
    Index first = 0;
    while (first <= rows) {
        const Index upper = rows - kEnds + 1;  // the first of the highest counts
        if (first == 0) {
            add_panel(0, std::min(kEnds - 1, rows), true);
            first = kEnds;
        } else if (first >= upper) {
            add_panel(first, rows, true);
            break;
        } else {
            const Index last = std::min(2 * first - 1, upper - 1);
            add_panel(first, last, false);
            first = last + 1;
        }
    }
    begin_.push_back(static_cast<Index>(weights_.size()));
}

void CountNodes::add_panel(Index first, Index last, bool all) {
    const auto nodes = panel_nodes(first, last, all);
    for (Index count = first; count <= last; ++count) {
        const auto found = std::lower_bound(nodes.begin(), nodes.end(), count);
        const bool is_node = found != nodes.end() && *found == count;
        begin_.push_back(static_cast<Index>(weights_.size()));
        first_.push_back(size() + (is_node ? found - nodes.begin() : 0));
        if (is_node) {
            weights_.push_back(1);
            continue;
        }
        for (const Index node : nodes) {
            double weight = 1;
            for (const Index other : nodes)
                if (other != node)
                    weight *=
                        static_cast<double>(count - other) / static_cast<double>(node - other);
            weights_.push_back(weight);
        }
    }
    counts_.insert(counts_.end(), nodes.begin(), nodes.end());
}

CountNodes::Weights CountNodes::weights(Index count) const {
    return {first_[count],
            {weights_.data() + begin_[count],
             static_cast<std::size_t>(begin_[count + 1] - begin_[count])}};
}

LetterExpansion expand_letter(Index rows, Index t, const CountNodes& nodes,
                              const Differences& differences) {
    LetterExpansion letter;
    const Index count = nodes.size();
    letter.mean.assign(count, 0);
    letter.slope.assign(count, 0);
    if (t == rows) return letter;
    std::vector<CellExpansion> cells(count);
    for (Index node = 0; node < count; ++node) {
        const Index x = nodes.count(node);
        if (x == 0 || x == rows) continue;
        cells[node] = expand_cell(rows, x, t, differences, true);
        letter.orders = std::max(letter.orders, cells[node].orders);
    }
    letter.coefficient = Array<double, 2>(letter.orders + 1, count);
    letter.reach = Array<double, 2>(letter.orders + 1, count);
    const double whole = rows > 1 && count > 1 ? cells[count - 2].slope : 0;
    for (Index node = 0; node < count; ++node) {
        const Index x = nodes.count(node);
        if (x == 0 || x == rows) continue;
        letter.mean[node] = cells[node].mean;
        letter.slope[node] = cells[node].slope - whole;
        double ratio = 1;
        for (int m = 1; m <= letter.orders; ++m) {
            const Index below = m - 1;
            if (x > below && rows - x > below) {
                ratio *= static_cast<double>(x - below) / static_cast<double>(rows - x - below);
                letter.coefficient(m, node) = cells[node].coefficient[m];
                letter.reach(m, node) = std::sqrt(ratio) * cells[node].coefficient[m];
            } else if (2 * x > rows) {
                // No other cell has terms of this order, so the value does not matter; a constant
                // keeps the basis small.
                letter.reach(m, node) = letter.reach(m, node - 1);
            }
        }
    }
    return letter;
}

TripleBasis::TripleBasis(Index rows, const CountNodes& nodes,
                         std::span<const LetterExpansion> letters)
    : orders_(coupled_orders(rows, nodes, letters)),
      importance_(kMaxSize),
      functions_at_nodes_(kMaxSize, nodes.size()) {
    auto functions = functions_of(rows, nodes, letters, orders_);
    const Index count = nodes.size();
    while (size_ < kMaxSize && !functions.empty()) {
        std::vector<double> norm;
        for (const auto& function : functions)
            norm.push_back(dot(function.data(), function.data(), count));
        const auto largest = std::max_element(norm.begin(), norm.end());
        if (std::sqrt(*largest) < kNegligible) break;
        importance_[size_] = std::sqrt(*largest);
        double* made = &functions_at_nodes_(size_, 0);
        std::copy_n(functions[largest - norm.begin()].begin(), count, made);
        for (Index before = 1; before < size_; ++before) {
            const double projection = dot(made, &functions_at_nodes_(before, 0), count);
            for (Index at = 0; at < count; ++at)
                made[at] -= projection * functions_at_nodes_(before, at);
        }
        const double scale = 1 / std::sqrt(dot(made, made, count));
        for (Index at = 0; at < count; ++at) made[at] *= scale;
        for (auto& function : functions) {
            const double projection = dot(function.data(), made, count);
            for (Index at = 0; at < count; ++at) function[at] -= projection * made[at];
        }
        ++size_;
    }
    width_ = (size_ + 7) / 8 * 8;
    values_ = Array<double, 2>(rows + 1, width_);
    for (Index x = 0; x <= rows; ++x) {
        const auto [first, weight] = nodes.weights(x);
        for (Index function = 1; function < size_; ++function)
            values_(x, function) = dot(weight.data(), &functions_at_nodes_(function, first),
                                       static_cast<Index>(weight.size()));
    }
}

void TripleBasis::project_onto_basis(const double* at_nodes, double* coefficient) const {
    std::fill_n(coefficient, width_, 0.0);
    for (Index first = 0; first < size_; first += 4) {  // rows above the size are 0
        const double* functions[4];
        for (Index at = 0; at < 4; ++at) functions[at] = &functions_at_nodes_(first + at, 0);
        loops::products(at_nodes, functions, functions_at_nodes_.extent(1), coefficient + first);
    }
}

PairVectorMaker::PairVectorMaker(const TripleSpace& space)
    : space_(space),
      width_(space.basis == nullptr ? 0 : space.basis->width()),
      expected_information_(space.rows + 1),
      covariance_(width_ * width_),
      sum_(width_) {}

double PairVectorMaker::make(std::span<const Index> margin_i, std::span<const Index> margin_j,
                             double* terms) {
    pair_mean_ = 0;
    orders_ = 1;
    if (space_.basis != nullptr) {
        std::fill(covariance_.begin(), covariance_.end(), 0.0);
        for (auto& order : coefficient_) std::fill(order.begin(), order.end(), 0.0);
    }
    count_cells(margin_i, margin_j);
    interpolate_at_nodes(terms);
    if (space_.basis == nullptr) return pair_mean_;
    if (margin_i.size() > 1 && margin_j.size() > 1) {
        add_first_order(margin_i, margin_j);
        const LetterGram gram_i(margin_i, space_.rows, orders_);
        const LetterGram gram_j(margin_j, space_.rows, orders_);
        for (int m = 2; m <= orders_; ++m) add_covariance(m, gram_i, gram_j);
    }
    finish(terms);
    return pair_mean_;
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
                expected_information_[window_.first + at] += window_.probability[at];
            const double expectation =
                static_cast<double>(r) * static_cast<double>(c) / static_cast<double>(space_.rows);
            cell_information(expectation, window_, *space_.differences, information_);
            for (Index at = 0; at < window_.size(); ++at)
                pair_mean_ += window_.probability[at] * information_[at];
            if (space_.basis != nullptr && window_.size() > 1) expand(cell, cells, r, c);
            ++cell;
        }
    }
}

void PairVectorMaker::interpolate_at_nodes(double* terms) {
    std::fill_n(terms, space_.nodes->size(), 0.0);
    for (const auto& [first, last] : count_ranges_) {
        for (Index x = first; x < last; ++x) {
            const double expected = std::exchange(expected_information_[x], 0.0);
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

ThirdColumnVectors make_third_column_vectors(const TripleSpace& space,
                                             std::span<const Index> margin,
                                             std::span<const LetterExpansion* const> letters) {
    ThirdColumnVectors vectors;
    vectors.mean.assign(space.nodes->size(), 0);
    for (const LetterExpansion* letter : letters)
        for (Index node = 0; node < space.nodes->size(); ++node)
            vectors.mean[node] += letter->mean[node];
    if (space.basis == nullptr) return vectors;
    Third third(space, margin, letters);
    if (margin.size() > 1) {
        int orders = 1;
        for (const LetterExpansion* letter : letters) orders = std::max(orders, letter->orders);
        const LetterGram gram(margin, space.rows, orders);
        third.first_order();
        for (int m = 2; m <= orders; ++m) third.order(m, gram);
    }
    third.pack(vectors.mean, vectors.variance);
    return vectors;
}

}  // namespace pleat::mutual_information

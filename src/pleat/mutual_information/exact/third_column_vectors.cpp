// Third-column vectors: what a third column adds for each cell, and how it couples two cells.
#include <cmath>

#include "pleat/mutual_information/exact/triple_vectors.h"

namespace pleat::mutual_information {

namespace {

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

    void first_order();
    void order(int m, const LetterGram& gram);
    void pack(const std::vector<double>& mean, std::vector<double>& variance) const;

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

// Order 1: slopes, centred over the letters, since the margins fix the sum over all cells.
void Third::first_order() {
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

void Third::order(int m, const LetterGram& gram) {
    const Index letters = gram.letters();
    const double sign = m % 2 == 0 ? 1 : -1;
    std::vector<double> own(letters * nodes_), reach(letters * nodes_);
    std::vector<double> projected(letters * width_);
    for (Index c = 0; c < letters; ++c) {
        if (m > letters_[c]->orders) continue;
        std::copy_n(&letters_[c]->coefficient(m, 0), nodes_, own.data() + c * nodes_);
        std::copy_n(&letters_[c]->reach(m, 0), nodes_, reach.data() + c * nodes_);
        space_.basis->project_onto_basis(reach.data() + c * nodes_, projected.data() + c * width_);
    }
    const auto own_before = own, reach_before = reach, projected_before = projected;
    gram.apply_to(m, own.data(), nodes_, nodes_);
    gram.apply_to(m, reach.data(), nodes_, nodes_);
    gram.apply_to(m, projected.data(), width_, width_);
    for (Index at = 0; at < letters * nodes_; ++at) cell_[at % nodes_] += own[at] * own_before[at];
    if (m > space_.basis->orders()) return;
    for (Index at = 0; at < letters * nodes_; ++at)
        cell_[at % nodes_] -= sign * reach[at] * reach_before[at];
    for (Index c = 0; c < letters; ++c)
        couple(sign, projected_before.data() + c * width_, projected.data() + c * width_);
}

void Third::pack(const std::vector<double>& mean, std::vector<double>& variance) const {
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
            const double coupling = 0.5 * (coupling_[f * width_ + g] + coupling_[g * width_ + f]);
            *covariance++ = times * (coupling + slope[f] * slope[g]);
            *square++ = times * coupling;
        }
    }
}

}  // namespace

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

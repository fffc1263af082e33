// Triple basis: Gram-Schmidt over the expansions of letters, the largest remainder first.
#include "pleat/mutual_information/exact/triple_basis.h"

#include <algorithm>
#include <cmath>

#include "pleat/mutual_information/exact/hahn.h"
#include "pleat/mutual_information/exact/vector_loops.h"

namespace pleat::mutual_information {

namespace {

constexpr double kNegligible =
    1e-11;  // norm of a remainder that counts as 0; functions have norms near 1
constexpr double kUncoupled = 1e-13;  // product of two reaches that counts as 0

double dot(const double* a, const double* b, Index count) {
    double sum = 0;
    for (Index at = 0; at < count; ++at) sum += a[at] * b[at];
    return sum;
}

// The last order that couples two cells which fit beside each other.
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

}  // namespace

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
      at_nodes_(kMaxSize, nodes.size()) {
    auto functions = functions_of(rows, nodes, letters, orders_);
    const Index count = nodes.size();
    while (size_ < kMaxSize && !functions.empty()) {
        std::vector<double> norm;
        for (const auto& function : functions)
            norm.push_back(dot(function.data(), function.data(), count));
        const auto largest = std::max_element(norm.begin(), norm.end());
        if (std::sqrt(*largest) < kNegligible) break;
        importance_[size_] = std::sqrt(*largest);
        double* made = &at_nodes_(size_, 0);
        std::copy_n(functions[largest - norm.begin()].begin(), count, made);
        for (Index before = 1; before < size_; ++before) {
            const double projection = dot(made, &at_nodes_(before, 0), count);
            for (Index at = 0; at < count; ++at) made[at] -= projection * at_nodes_(before, at);
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
            values_(x, function) =
                dot(weight.data(), &at_nodes_(function, first), static_cast<Index>(weight.size()));
    }
}

void TripleBasis::project_onto_basis(const double* at_nodes, double* coefficient) const {
    std::fill_n(coefficient, width_, 0.0);
    for (Index first = 0; first < size_; first += 4) {  // rows above the size are 0
        const double* functions[4];
        for (Index at = 0; at < 4; ++at) functions[at] = &at_nodes_(first + at, 0);
        loops::products(at_nodes, functions, at_nodes_.extent(1), coefficient + first);
    }
}

}  // namespace pleat::mutual_information

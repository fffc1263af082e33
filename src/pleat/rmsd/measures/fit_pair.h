// Fit pair: the squares left of measured atoms after a rotation, with atoms that may change places,
// on host and device.
#pragma once

#include <vector>

#include "pleat/rmsd/superposition/superpose.h"

namespace pleat::rmsd {

/// Orders of groups of atoms in one array: for each group the number of its atoms and orders, and
/// the position of each atom in each order.
struct OrderTable {
    const Index* numbers = nullptr;
    Index groups = 0;
};

/// The array of an OrderTable for orders [group][order][position].
inline std::vector<Index> order_numbers(const std::vector<std::vector<std::vector<Index>>>& all) {
    std::vector<Index> numbers;
    for (const auto& group : all) {
        numbers.push_back(static_cast<Index>(group.front().size()));
        numbers.push_back(std::ssize(group));
        for (const std::vector<Index>& order : group)
            numbers.insert(numbers.end(), order.begin(), order.end());
    }
    return numbers;
}

/// The square of the distance between atom `from` of p, turned by `m`, and atom `to` of q, frames
/// [axis, atom].
PLEAT_HOST_DEVICE inline double square_between(const double* p, Index from, const double* q,
                                               Index to, Index atoms, const double (&m)[9]) {
    double sum = 0.0;
    for (Index axis = 0; axis < 3; ++axis) {
        double x = -q[axis * atoms + to];
        for (Index other = 0; other < 3; ++other)
            x += m[3 * axis + other] * p[other * atoms + from];
        sum += x * x;
    }
    return sum;
}

/// The sum of squared distances between p turned by `m` and q, with the atoms of each group in
/// their best order.
PLEAT_HOST_DEVICE inline double best_residual(const double* p, const double* q, Index atoms,
                                              const double (&m)[9], const OrderTable& orders) {
    double residual = rotated_residual(p, q, atoms, m);
    const Index* at = orders.numbers;
    for (Index group = 0; group < orders.groups; ++group) {
        const Index many = at[0], count = at[1];
        const Index* const named = at + 2;
        double as_named = 0.0, min_sum = 0.0;
        for (Index n = 0; n < count; ++n) {
            double sum = 0.0;
            for (Index k = 0; k < many; ++k)
                sum += square_between(p, named[k], q, named[n * many + k], atoms, m);
            if (n == 0) as_named = min_sum = sum;
            if (sum < min_sum) min_sum = sum;
        }
        residual -= as_named - min_sum;
        at = named + many * count;
    }
    return residual < 0.0 ? 0.0 : residual;
}

}  // namespace pleat::rmsd

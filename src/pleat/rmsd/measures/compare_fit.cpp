// RMSD of some atoms after superposing others, or in place.
#include <cmath>

#include "pleat/rmsd/measures/comparison.h"
#include "pleat/rmsd/measures/fit_pair.h"
#include "pleat/rmsd/superposition/superpose.h"

namespace pleat::rmsd {

std::unique_ptr<Comparison> make_fit_rmsd(std::shared_ptr<const FitFrames> rows,
                                          std::shared_ptr<const FitFrames> columns,
                                          const Context& context) {
    double in_orders = 0.0;
    for (const auto& group : rows->equal_orders)
        in_orders += static_cast<double>(group.size() * group.front().size());
    const Index atoms = rows->measured.extent(2),
                fitted = rows->is_in_place() ? 0 : rows->fit.atom_count();
    const bool is_reference = context.device.kind == Device::Kind::reference;
    const auto value = [=, numbers = order_numbers(rows->equal_orders)](Index i, Index j) {
        double rotation[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
        if (fitted > 0) {
            double covariance[9];
            covariance_of(rows->fit.frame(i), columns->fit.frame(j), fitted, covariance);
            is_reference ? rotation_by_jacobi(covariance, rotation)
                         : rotation_of_covariance(covariance, rotation);
        }
        const OrderTable orders{numbers.data(), std::ssize(rows->equal_orders)};
        const double sum =
            best_residual(rows->measured.data() + i * 3 * atoms,
                          columns->measured.data() + j * 3 * atoms, atoms, rotation, orders);
        return std::sqrt(sum / rows->weight);
    };
    return one_by_one(1000.0 + 5.0 * static_cast<double>(fitted + atoms) + 5.0 * in_orders, value);
}

}  // namespace pleat::rmsd

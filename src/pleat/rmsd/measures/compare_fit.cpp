// RMSD of some atoms after superposing others, or in place.
#include <cmath>
#include <utility>

#include "pleat/rmsd/measures/comparison.h"
#include "pleat/rmsd/measures/fit_pair.h"
#include "pleat/rmsd/superposition/rotation.h"

namespace pleat::rmsd {

namespace {

/// Computes the rotation of each pair in float64.
class FitRmsd final : public Comparison {
public:
    FitRmsd(std::shared_ptr<const FitFrames> rows, std::shared_ptr<const FitFrames> columns,
            bool is_reference)
        : rows_(std::move(rows)),
          columns_(std::move(columns)),
          orders_(order_numbers(rows_->equal_orders)),
          is_reference_(is_reference) {}

    double cost() const override {
        double orders = 0.0;
        for (const auto& group : rows_->equal_orders)
            orders += static_cast<double>(group.size() * group.front().size());
        const Index fitted = is_fitted() ? rows_->fit.atom_count() : 0;
        return 1000.0 + 5.0 * static_cast<double>(fitted + atoms()) + 5.0 * orders;
    }

    void block(Block rows, Block columns, float* values) const override {
        const OrderTable orders{orders_.data(), static_cast<Index>(rows_->equal_orders.size())};
        for (Index i = rows.first; i < rows.first + rows.count; ++i)
            for (Index j = columns.first; j < columns.first + columns.count; ++j) {
                double rotation[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
                if (is_fitted()) fit(i, j, rotation);
                const double sum = best_residual(measured(*rows_, i), measured(*columns_, j),
                                                 atoms(), rotation, orders);
                *values++ = static_cast<float>(std::sqrt(sum / rows_->weight));
            }
    }

private:
    bool is_fitted() const { return rows_->fit.xyz.size() > 0; }

    void fit(Index row, Index column, double (&rotation)[9]) const {
        double covariance[9];
        covariance_of(rows_->fit.frame(row), columns_->fit.frame(column), rows_->fit.atom_count(),
                      covariance);
        is_reference_ ? rotation_by_jacobi(covariance, rotation)
                      : rotation_of_covariance(covariance, rotation);
    }

    Index atoms() const { return rows_->measured.extent(2); }
    const double* measured(const FitFrames& frames, Index i) const {
        return frames.measured.data() + i * 3 * atoms();
    }

    std::shared_ptr<const FitFrames> rows_, columns_;
    std::vector<Index> orders_;
    bool is_reference_;
};

}  // namespace

std::unique_ptr<Comparison> make_fit_rmsd(std::shared_ptr<const FitFrames> rows,
                                          std::shared_ptr<const FitFrames> columns,
                                          const Context& context) {
    return std::make_unique<FitRmsd>(std::move(rows), std::move(columns),
                                     context.device.kind == Device::Kind::reference);
}

}  // namespace pleat::rmsd

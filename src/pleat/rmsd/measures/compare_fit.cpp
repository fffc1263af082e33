// RMSD of some atoms after superposing others, or in place.
#include <algorithm>
#include <cmath>
#include <utility>

#include "pleat/rmsd/measures/comparison.h"
#include "pleat/rmsd/superposition/rotation.h"
#include "pleat/rmsd/superposition/superpose.h"

namespace pleat::rmsd {

namespace {

/// Computes the rotation of each pair in float64.
class FitRmsd final : public Comparison {
public:
    FitRmsd(std::shared_ptr<const FitFrames> rows, std::shared_ptr<const FitFrames> columns,
            bool is_reference)
        : rows_(std::move(rows)), columns_(std::move(columns)), is_reference_(is_reference) {}

    double cost() const override {
        double orders = 0.0;
        for (const auto& group : rows_->equal_orders)
            orders += static_cast<double>(group.size() * group.front().size());
        const Index fitted = is_fitted() ? rows_->fit.atom_count() : 0;
        return 1000.0 + 5.0 * static_cast<double>(fitted + atoms()) + 5.0 * orders;
    }

    void block(Block rows, Block columns, float* values) const override {
        for (Index i = rows.first; i < rows.first + rows.count; ++i)
            for (Index j = columns.first; j < columns.first + columns.count; ++j) {
                double rotation[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
                if (is_fitted()) fit(i, j, rotation);
                double sum = rotated_residual(measured(*rows_, i), measured(*columns_, j), atoms(),
                                              rotation);
                for (const auto& orders : rows_->equal_orders)
                    sum -= gain(measured(*rows_, i), measured(*columns_, j), rotation, orders);
                *values++ = static_cast<float>(std::sqrt(std::max(sum, 0.0) / rows_->weight));
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

    /// How much less the sum of squares is with the atoms of a group in their best order.
    double gain(const double* p, const double* q, const double (&m)[9],
                const std::vector<std::vector<Index>>& orders) const {
        const std::vector<Index>& named = orders.front();
        double as_named = 0.0, min_sum = 0.0;
        for (std::size_t n = 0; n < orders.size(); ++n) {
            double sum = 0.0;
            for (std::size_t k = 0; k < named.size(); ++k)
                sum += square_between(p, named[k], q, orders[n][k], m);
            if (n == 0) as_named = min_sum = sum;
            min_sum = std::min(min_sum, sum);
        }
        return as_named - min_sum;
    }

    double square_between(const double* p, Index from, const double* q, Index to,
                          const double (&m)[9]) const {
        double sum = 0.0;
        for (Index axis = 0; axis < 3; ++axis) {
            double x = -q[axis * atoms() + to];
            for (Index other = 0; other < 3; ++other)
                x += m[3 * axis + other] * p[other * atoms() + from];
            sum += x * x;
        }
        return sum;
    }

    Index atoms() const { return rows_->measured.extent(2); }
    const double* measured(const FitFrames& frames, Index i) const {
        return frames.measured.data() + i * 3 * atoms();
    }

    std::shared_ptr<const FitFrames> rows_, columns_;
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

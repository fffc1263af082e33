// RMSD of some atoms after superposing others.
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
        return 1000.0 + 5.0 * static_cast<double>(rows_->fit.atom_count() + atoms());
    }

    void block(Block rows, Block columns, float* values) const override {
        for (Index i = rows.first; i < rows.first + rows.count; ++i)
            for (Index j = columns.first; j < columns.first + columns.count; ++j) {
                double covariance[9], rotation[9];
                covariance_of(rows_->fit.frame(i), columns_->fit.frame(j), rows_->fit.atom_count(),
                              covariance);
                is_reference_ ? rotation_by_jacobi(covariance, rotation)
                              : rotation_of_covariance(covariance, rotation);
                const double sum = rotated_residual(measured(*rows_, i), measured(*columns_, j),
                                                    atoms(), rotation);
                *values++ = static_cast<float>(std::sqrt(sum / rows_->weight));
            }
    }

private:
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

// Settled matrix: a matrix of RMSDs whose values near a cut-off are found again from the frames.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "pleat/cluster/distances/distances.h"
#include "pleat/core/array.h"
#include "pleat/core/context.h"
#include "pleat/rmsd/rmsd.h"

namespace pleat::rmsd {

/// The values are those of `matrix`; where they are nearer to a cut-off than the error of
/// `parameters.precision`, by which they were made, float64 decides as for SuperposedPairs.
class SettledMatrix final : public cluster::Distances {
public:
    /// `matrix`: plain RMSDs of all pairs of `xyz` [frame, atom, axis] with these weights of atoms
    /// (empty: all 1). Takes 8 bytes a coordinate. InputError, DeviceError.
    SettledMatrix(std::unique_ptr<cluster::Distances> matrix, View<const float, 3> xyz,
                  std::span<const double> weights, const Parameters& parameters,
                  const Context& context);
    ~SettledMatrix() override;

    Index count() const override { return matrix_->count(); }
    void for_each_band(std::string_view stage, const cluster::BandVisitor& visit) const override {
        matrix_->for_each_band(stage, visit);
    }
    void for_each_band_among(std::span<const Index> items,
                             const cluster::BandVisitor& visit) const override {
        matrix_->for_each_band_among(items, visit);
    }
    void rows(std::span<const Index> items, float* distances) const override {
        matrix_->rows(items, distances);
    }
    double doubt(double cutoff) const override;
    bool is_below(Index i, Index j, double cutoff) const override;

private:
    struct Truth;

    std::unique_ptr<cluster::Distances> matrix_;
    std::unique_ptr<const Truth> truth_;
};

}  // namespace pleat::rmsd

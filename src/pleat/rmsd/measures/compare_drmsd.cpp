// dRMSD: the root mean square difference of the distances between atoms, without superposition.
#include <algorithm>
#include <cmath>
#include <utility>

#include "pleat/rmsd/measures/comparison.h"
#include "pleat/rmsd/measures/distance_block.h"

namespace pleat::rmsd {

namespace {

double root_mean(double sum, double weight) { return weight > 0 ? std::sqrt(sum / weight) : 0.0; }

std::unique_ptr<Comparison> reference_drmsd(FrameSet rows, FrameSet columns,
                                            std::vector<double> weights) {
    const Index atoms = rows->atom_count();
    weights.resize(atoms, 1.0);
    const auto value = [=, weights = std::move(weights)](Index i, Index j) {
        const double *const p = rows->frame(i), *const q = columns->frame(j);
        const auto distance = [&](const double* frame, Index k, Index l) {
            return std::hypot(frame[k] - frame[l], frame[atoms + k] - frame[atoms + l],
                              frame[2 * atoms + k] - frame[2 * atoms + l]);
        };
        double sum = 0.0;
        for (Index k = 0; k < atoms; ++k)
            for (Index l = k + 1; l < atoms; ++l) {
                const double difference = distance(p, k, l) - distance(q, k, l);
                sum += weights[k] * weights[l] * difference * difference;
            }
        return root_mean(sum, pair_weight(weights, atoms));
    };
    return one_by_one(5.0 * static_cast<double>(atoms * atoms), value);
}

Array<double, 4> panels_of(const Frames& frames) {
    return frame_panels(frames.frame_count(), frames.atom_count(),
                        [&](Index i, Index k, int axis) { return frames.xyz(i, axis, k); });
}

/// Computes the distances within frames for a few pairs of atoms at a time, so that those of a
/// block of frames stay in the cache, and each root is taken once for all frames of the other side.
template <class Real>
class BlockDrmsd final : public Comparison {
public:
    BlockDrmsd(const Frames& rows, const Frames* columns, const std::vector<double>& weights)
        : rows_(panels_of(rows)), roots_(rows.atom_count(), 1.0) {
        if (columns != nullptr) columns_ = panels_of(*columns);
        for (std::size_t k = 0; k < weights.size(); ++k) roots_[k] = std::sqrt(weights[k]);
        weight_ = pair_weight(weights, rows.atom_count());
    }

    Index block_rows() const override { return 8 * kPanel; }
    Index block_columns() const override { return 16 * kPanel; }
    double cost() const override {
        return 20.0 + 0.03 * static_cast<double>(roots_.size() * roots_.size());
    }

    void block(Block rows, Block columns, float* values) const override {
        const Array<double, 4>& others = columns_.size() > 0 ? columns_ : rows_;
        const PanelSpan down(rows), across(columns);
        Array<Real, 3> row_distances(down.panels, kDistances, kPanel),
            column_distances(across.panels, kDistances, kPanel);
        // [row panel, column panel, row, column]
        Array<double, 4> sums(down.panels, across.panels, kPanel, kPanel);
        const Index atoms = rows_.extent(1), pairs = atoms * (atoms - 1) / 2;
        AtomPair at;
        for (Index done = 0; done < pairs; done += kDistances) {
            const Index count = std::min(kDistances, pairs - done);
            AtomPair next = at;
            for (Index n = 0; n < down.panels; ++n)
                next = panel_distances(rows_[down.first + n].data, roots_.data(), atoms, at, count,
                                       row_distances[n].data);
            for (Index n = 0; n < across.panels; ++n)
                panel_distances(others[across.first + n].data, roots_.data(), atoms, at, count,
                                column_distances[n].data);
            at = next;
            for (Index m = 0; m < down.panels; ++m)
                for (Index n = 0; n < across.panels; ++n)
                    add_squares(row_distances[m].data, kPanel, column_distances[n].data, count,
                                sums[m][n].data);
        }
        for (Index i = rows.first; i < rows.first + rows.count; ++i)
            for (Index j = columns.first; j < columns.first + columns.count; ++j)
                *values++ = static_cast<float>(
                    root_mean(sums(i / kPanel - down.first, j / kPanel - across.first, i % kPanel,
                                   j % kPanel),
                              weight_));
    }

private:
    Array<double, 4> rows_, columns_;
    std::vector<double> roots_;
    double weight_ = 0.0;
};

}  // namespace

double pair_weight(const std::vector<double>& weights, Index atoms) {
    double sum = 0.0, squares = 0.0;
    for (Index k = 0; k < atoms; ++k) {
        const double weight = weights.empty() ? 1.0 : weights[k];
        sum += weight;
        squares += weight * weight;
    }
    return std::max(0.0, 0.5 * (sum * sum - squares));
}

std::unique_ptr<Comparison> make_drmsd(FrameSet rows, FrameSet columns,
                                       const std::vector<double>& weights, FitPrecision precision,
                                       const Context& context) {
    if (context.device.kind == Device::Kind::reference)
        return reference_drmsd(std::move(rows), std::move(columns), weights);
    if (precision == FitPrecision::float64)
        return std::make_unique<BlockDrmsd<double>>(
            *rows, rows == columns ? nullptr : columns.get(), weights);
    return std::make_unique<BlockDrmsd<float>>(*rows, rows == columns ? nullptr : columns.get(),
                                               weights);
}

}  // namespace pleat::rmsd

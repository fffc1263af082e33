// Energies: a Potts model in the zero-sum gauge, and the energies of sequences and mutants in it.
#pragma once

#include <cstdint>
#include <span>

#include "pleat/core/array.h"
#include "pleat/couplings/couplings.h"

#pragma GCC visibility push(default)

namespace pleat::mutants {

/// E(x) = sum of h_i(x_i) + sum over i < j of J_ij(x_i, x_j); higher is more probable.
struct Energy {
    double full = 0;
    double couplings = 0;  ///< the part of the couplings, in the zero-sum gauge
    double fields = 0;     ///< the part of the fields, in the zero-sum gauge
};

/// A Potts model in the zero-sum gauge: fields sum to 0 over the letters of a column, and couplings
/// over the letters of either column of a pair. The gauge does not change differences of energies.
/// In it, a column without a letter can be left out: its terms are 0 on average over all letters.
class EnergyModel {
public:
    /// Converts a model from any gauge; `target` has one code per column.
    EnergyModel(couplings::Model model, std::span<const std::uint8_t> target, int threads);

    Index column_count() const { return model_.column_count(); }
    Index letter_count() const { return model_.letter_count(); }

    /// The energy of a sequence, given as one code per column. Codes that are no letter of the
    /// model (a gap, if the gap is no state) are left out of the sums.
    Energy energy(std::span<const std::uint8_t> codes) const;

    /// E(mutant) - E(target) of all single mutants, [column, letter]: 0 for the target's own
    /// letter, and in a column where the target has no letter of the model.
    struct Singles {
        Array<double, 2> full, fields;
    };
    const Singles& singles() const { return singles_; }

    /// E(double mutant) - E(target) minus both single effects: letters a at column i and b at
    /// column j of a target that has w_i and w_j there.
    double epistasis(Index i, std::uint8_t w_i, std::uint8_t a, Index j, std::uint8_t w_j,
                     std::uint8_t b) const;
    /// Prefetches the data of a later call of epistasis() with the same arguments.
    void prefetch(Index i, std::uint8_t w_i, std::uint8_t a, Index j, std::uint8_t w_j,
                  std::uint8_t b) const;

private:
    couplings::Model model_;
    Singles singles_;
};

}  // namespace pleat::mutants

#pragma GCC visibility pop

// Prior: the distribution of phi and psi of each residue of the linkers.
#pragma once

#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "pleat/workflows/refine/chain/chain_model.h"
#include "pleat/workflows/refine/moves/random.h"
#include "pleat/workflows/refine/prior/torsion_counts.h"

namespace pleat::refine {

inline constexpr std::size_t kCells = 72;  ///< of 5 degrees

/// The probability of each cell, [72 phi cell + psi cell], for each class; sum 1.
using TorsionTables = std::array<std::vector<double>, kResidueClasses>;

/// The counts smoothed by a product of von Mises kernels (kappa 30), and 2 % of the uniform
/// distribution.
const TorsionTables& coil_tables();

/// Draws phi and psi from the table of a class, radians.
std::pair<double, double> draw_torsions(ResidueClass residue_class, Random& random);

/// The cell of an angle in radians.
std::size_t cell_of(double angle);

/// The prior of phi and psi of the linkers' residues, each residue independent of the others. The
/// density is constant within a cell. If the structure fixes phi (proline), psi follows the
/// conditional distribution given that phi; at a chain end, where one of the angles does not exist,
/// the other follows its marginal distribution.
class Prior {
public:
    Prior(const ChainModel& model, const TorsionTables& tables);

    /// The log density at these angles in [-pi, pi), up to a constant.
    double log_density(Index residue, double phi, double psi) const;
    /// The log density summed over the residues of a conformation, those of the first copy alone.
    double log_density(const Conformation& conformation) const;
    /// Draws (phi, psi); an angle that cannot turn is 0.
    std::pair<double, double> draw(Index residue, Random& random) const;

private:
    struct TorsionDistribution {
        bool turns_phi = false, turns_psi = false;
        std::vector<double> log_probability;  ///< [cell], of 72 x 72 or 72
        std::vector<double> cumulative;       ///< [cell]
    };
    const TorsionDistribution& law(Index residue) const { return *torsion_distributions_[residue]; }
    static std::shared_ptr<const TorsionDistribution> make_torsion_distribution(
        const LinkerResidue& residue, const std::vector<double>& table);

    std::vector<std::shared_ptr<const TorsionDistribution>> torsion_distributions_;
};

}  // namespace pleat::refine

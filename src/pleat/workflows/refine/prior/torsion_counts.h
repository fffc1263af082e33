// Torsion counts: how often residues in coils of known structures have which phi and psi.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace pleat::refine {

/// Classes of residues with distinct distributions of phi and psi.
enum class ResidueClass : std::uint8_t {
    glycine,
    proline,
    before_proline,  ///< the next residue is proline
    beta_branched,   ///< isoleucine and valine
    other
};
inline constexpr int kResidueClasses = 5;

/// The class of a residue by its name and the next residue's name, empty at the chain end.
ResidueClass residue_class(std::string_view name, std::string_view next);

/// Residues with phi in [5 phi_cell - 180, 5 phi_cell - 175) degrees, and psi likewise.
struct TorsionCount {
    std::uint8_t phi_cell = 0, psi_cell = 0;
    std::uint16_t count = 0;
};

/// The counts that are not 0.
std::span<const TorsionCount> torsion_counts(ResidueClass residue_class);

}  // namespace pleat::refine

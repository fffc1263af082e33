// Torsion counts: the classes of residues whose phi and psi torsion_counts.tsv counts.
#pragma once

#include <cstdint>
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

}  // namespace pleat::refine

// Domain units: what keeps its shape when domains are moved apart by the residues built between
// them.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "pleat/bio/structure/topology.h"
#include "pleat/workflows/refine/chain/geometry.h"
#include "pleat/workflows/refine/chain/peptide_chains.h"

namespace pleat::refine {

/// Residues that are built between two units.
struct UnitBridge {
    Index before = 0, behind = 0;  ///< CA atoms of the residues next to them
    Transform across;              ///< takes positions behind to the frame in front
};

/// Each atom of a structure is in one unit: a domain between missing residues, a chain, or another
/// molecule.
class DomainUnits {
public:
    /// `starts`: residues with missing ones in front. All arguments must outlive the object;
    /// positions: [atom].
    DomainUnits(const Molecules& molecules, const Topology& topology,
                const std::vector<Vector>& positions,
                const std::set<const PeptideResidue*>& starts);

    /// Joins the residues of each group, and units with disulfide bonds.
    void join(const std::vector<std::vector<ResidueRange>>& groups);
    /// Joins units at no bridge to the one that they touch most, else to the nearest. `ends`: CA
    /// atoms at bridges.
    void join_loose(const std::vector<Index>& ends);
    Index of(Index atom) const { return unit_of_[static_cast<std::size_t>(atom)]; }
    /// Moves units from one bridge to the next; the largest rest. Returns a bridge that closes a
    /// loop.
    std::optional<std::size_t> move(const std::vector<UnitBridge>& bridges);
    /// How an atom moves; call move() before.
    const Transform& transform(Index atom) const {
        return *transforms_[static_cast<std::size_t>(of(atom))];
    }

private:
    void join(Index one, Index other);
    struct Contacts {
        Index close = 0;
        double minus_distance = 0;
        auto operator<=>(const Contacts&) const = default;
    };
    Contacts contacts(const std::vector<Index>& one, const std::vector<Index>& other) const;
    std::vector<std::size_t> largest_first() const;

    const Molecules& molecules_;
    const Topology& topology_;
    const std::vector<Vector>& at_;
    std::vector<Index> unit_of_;  ///< [atom]
    Index units_ = 0;
    std::vector<std::optional<Transform>> transforms_;  ///< [unit]
};

}  // namespace pleat::refine

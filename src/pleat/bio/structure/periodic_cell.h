// Periodic cell: the box of a simulation, and molecules that are broken across it.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "pleat/bio/structure/topology.h"
#include "pleat/core/view.h"

namespace pleat {

/// The three vectors of a periodic cell, in angstrom; all 0 if there is no cell.
struct PeriodicCell {
    std::array<std::array<double, 3>, 3> vectors{};

    /// Length of the shortest vector; 0 without a cell. Cells below 2 angstrom are dummies
    /// (PDB files of structures that are no crystals say 1 x 1 x 1) and count as none.
    double shortest_edge() const;
    /// Distance between a point and the nearest periodic image of another, `difference` apart.
    double nearest_image(const std::array<double, 3>& difference) const;
};

/// From lengths in angstrom and angles in degrees: alpha between b and c, beta between a and c,
/// gamma between a and b. No cell if they do not span one.
PeriodicCell make_cell(const std::array<double, 3>& lengths, const std::array<double, 3>& angles);

/// Finds molecules that a simulation left on both sides of its periodic cell. It looks at pairs of
/// selected atoms that are bonded or follow one another in a chain: neighbours within a residue,
/// and one pair of each two residues in succession. A pair is broken if it is farther apart than
/// half of the shortest edge of the cell while a periodic image is near.
class BrokenMolecules {
public:
    BrokenMolecules() = default;
    /// `selected`: indices into `all`.
    BrokenMolecules(std::shared_ptr<const Topology> all, const std::vector<Index>& selected);

    /// Looks at a frame of the selected atoms [axis, atom].
    void look(const PeriodicCell& cell, View<const float, 2> frame, const std::string& file,
              Index number);
    /// Forgets the broken pairs since the last call of keep(), or keeps them.
    void forget() { found_ = kept_; }
    void keep() { kept_ = found_; }
    /// The warning for the user; empty if nothing was found.
    std::string warning() const;

private:
    struct Pair {
        Index first = 0, second = 0;  // among the selected atoms
    };
    struct Found {
        Index frames = 0;
        std::string text;  // about the first one
    };

    std::vector<Pair> pairs_;
    std::shared_ptr<const Topology> all_;
    std::vector<Index> selected_;
    Found found_, kept_;
};

}  // namespace pleat

// Molecule images: the image of each molecule that lies where the topology has it.
#pragma once

#include <functional>
#include <vector>

#include "pleat/bio/periodic/bond_tree.h"
#include "pleat/bio/periodic/periodic_cell.h"
#include "pleat/bio/structure/topology.h"

namespace pleat {

/// Coordinates of an atom in a frame whose molecules are whole.
using AtomPosition = std::function<Point(Index atom)>;

/// Places the molecules of a frame as they lie in a reference: the molecule with most selected
/// atoms is fitted onto its own in the reference, and each other goes to the image that is nearest
/// to its place there. Water stays where it is, and so do molecules beyond the 2000 largest.
class MoleculeImages {
public:
    struct Place {
        Index molecule = 0;
        Lattice::Shift shift{};
        bool is_ambiguous = false;  ///< the second image is at most 20 % farther away
    };

    MoleculeImages() = default;
    MoleculeImages(const Topology& topology, const BondTree& tree);

    /// Whether there is more than one molecule to place.
    bool has_several() const { return placed_.size() > 1; }
    /// Molecules that are not placed, as there are too many.
    Index left_out() const { return left_out_; }
    bool has_reference() const { return !reference_.empty(); }
    /// Takes the reference from a frame: molecules at the images with the nearest contact (Prim's
    /// algorithm over heavy atoms); where they are if `lattice` is null.
    void set_reference(const AtomPosition& at, const Lattice* lattice);
    /// The molecules that move, in a frame with a reference.
    std::vector<Place> find(const AtomPosition& at, const Lattice& lattice) const;

private:
    struct Molecule {
        Index number = 0;             // in the tree
        std::vector<Index> selected;  // whose mean is its place
        std::vector<Index> contacts;  // atoms between which nearest contacts are sought
        bool in_first = false;
        bool is_ion = false;
    };
    void keep_largest();
    void choose_contacts(const Topology& topology);
    std::vector<Lattice::Shift> nearest_contacts(const AtomPosition& at,
                                                 const Lattice& lattice) const;

    Index left_out_ = 0;
    std::vector<Molecule> placed_;               // the one with most selected atoms in front
    std::vector<std::vector<Point>> reference_;  // [placed molecule][selected atom]
};

}  // namespace pleat

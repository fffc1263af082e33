// Whole molecules: frames whose molecules lie on both sides of their periodic cell, made whole.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pleat/bio/ensemble/ensemble.h"
#include "pleat/bio/periodic/bonds.h"
#include "pleat/bio/periodic/periodic_cell.h"
#include "pleat/bio/structure/topology.h"
#include "pleat/core/notes.h"
#include "pleat/core/view.h"

namespace pleat {

/// A breadth-first tree of bonds per molecule with selected atoms; branches without selected atoms
/// are pruned.
class BondTree {
public:
    struct Edge {
        std::int32_t atom = 0;
        std::int32_t parent = 0;  ///< comes before, nearer to the root
    };
    struct Molecule {
        Index root = 0;
        std::vector<Edge> edges;
        /// Bonds that close rings between atoms of the tree.
        std::vector<Edge> closing;
        std::vector<Index> selected;   ///< atoms, of `first` if it has some of them
        bool has_first_atoms = false;  ///< has atoms of `first`
    };

    BondTree() = default;
    /// `first` and `selected`: atom indices, ascending. A tree's root is its lowest atom of
    /// `first`, or of `selected` if it has none, so that selections with the same `first` give the
    /// same roots.
    BondTree(Index atoms, const std::vector<Bond>& bonds, const std::vector<Index>& first,
             const std::vector<Index>& selected);

    /// Sorted by root; molecules with atoms of `first` come before others.
    const std::vector<Molecule>& molecules() const { return molecules_; }

private:
    class Search;
    std::vector<Molecule> molecules_;
};

/// Coordinates of an atom in a frame whose molecules are whole.
using AtomPosition = std::function<Point(Index atom)>;

/// Moves the molecules of a frame to the periodic images that match a reference: the molecule with
/// the most selected atoms is superposed on the reference, and each other molecule goes to the
/// image nearest to its reference position. Waters, and molecules beyond the 2000 largest, are not
/// moved.
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
    bool has_several() const { return placed_molecules_.size() > 1; }
    /// Number of molecules that are not placed because there are too many.
    Index left_out() const { return left_out_; }
    bool has_reference() const { return !reference_.empty(); }
    /// Sets the reference from a frame, after moving molecules to the images with the nearest
    /// contacts (Prim's algorithm over heavy atoms); a null `lattice` means no moves.
    void set_reference(const AtomPosition& at, const Lattice* lattice);
    /// Returns the molecules to move in a frame; needs a reference.
    std::vector<Place> find(const AtomPosition& at, const Lattice& lattice) const;

private:
    struct Molecule {
        Index number = 0;             // in the tree
        std::vector<Index> selected;  // whose mean is its place
        std::vector<Index> contacts;  // atoms between which nearest contacts are sought
        bool has_first_atoms = false;
        bool is_ion = false;
    };
    void keep_largest_molecules();
    void choose_contact_atoms(const Topology& topology);
    std::vector<Lattice::Shift> nearest_contacts(const AtomPosition& at,
                                                 const Lattice& lattice) const;

    Index left_out_ = 0;
    std::vector<Molecule> placed_molecules_;     // the one with most selected atoms in front
    std::vector<std::vector<Point>> reference_;  // [placed molecule][selected atom]
};

/// Makes the molecules of frames whole that have selected atoms: each atom goes to the image that
/// is nearest to its predecessor on the way over bonds, then molecules to the images that lie as in
/// the topology, or in the first frame if the topology has no coordinates.
/// Depends on nothing else but the frame itself.
class WholeMolecules {
public:
    WholeMolecules() = default;
    /// `first`: atoms that decide where molecules lie (see BondTree); both are indices into `all`.
    WholeMolecules(std::shared_ptr<const Topology> all, std::vector<Index> first,
                   std::vector<Index> selected, Pbc pbc);

    /// Moves atoms of a frame of all atoms [axis, atom]. `file` and `number` name it in messages;
    /// `position` is its number among the frames of all files. Throws InputError for a cell without
    /// volume, and under Pbc::whole if molecules cannot be made whole.
    void apply(const PeriodicCell& cell, View<float, 2> frame, const std::string& file,
               Index number, Index position);
    /// For a copy that another thread uses: adds what it counted to `original`, and updates it if
    /// `original` has got atoms, bonds or a reference since.
    void synchronise(WholeMolecules& original);
    /// Notes for the user about the frames so far.
    Notes notes() const;

private:
    struct Frame;
    struct Count {
        Index frames = 0, first = 0;
        std::string text;  // about the first one
        void add(Index position, const std::string& about, Index count = 1) {
            if (count > 0 && (frames == 0 || position < first)) {
                first = position;
                text = about;
            }
            frames += count;
        }
    };
    struct Counts {
        Index frames = 0;
        Count split, placed, ambiguous, endless, apart;
    };

    void prepare(const PeriodicCell& cell);
    void set_reference(const PeriodicCell& cell, bool has_cell, View<const float, 2> positions);
    Point whole(const Frame& frame, Index atom) const;
    void unwrap(Frame& frame);
    const BondTree::Edge* find_open_ring_bond(const Frame& frame,
                                              const BondTree::Molecule& molecule) const;
    void leave_split(Frame& frame, const BondTree::Molecule& molecule, const BondTree::Edge& bond);
    void place(Frame& frame);
    void move(Frame& frame) const;
    void check_chain_neighbours(const Frame& frame);
    std::string label(Index atom) const;

    std::shared_ptr<const Topology> all_;
    std::vector<Index> first_, selected_;
    Pbc pbc_ = Pbc::automatic;
    bool is_prepared_ = false;
    BondTree tree_;
    MoleculeImages places_;
    std::vector<Bond> neighbours_;  // residues that follow one another, with selected atoms
    PeriodicCell cell_;             // of the frame before
    std::optional<Lattice> lattice_;
    std::vector<Lattice::Shift> shifts_;          // [atom]
    std::vector<std::int32_t> substitute_atoms_;  // [atom that a frame lacks]: one in its place
    Counts counts_;
};

}  // namespace pleat

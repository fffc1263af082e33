// Whole molecules: frames whose molecules lie on both sides of their periodic cell, made whole.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pleat/bio/ensemble/ensemble.h"
#include "pleat/bio/periodic/bond_tree.h"
#include "pleat/bio/periodic/molecule_images.h"
#include "pleat/bio/periodic/periodic_cell.h"
#include "pleat/bio/structure/topology.h"
#include "pleat/core/notes.h"
#include "pleat/core/view.h"

namespace pleat {

/// Makes the molecules of frames whole that have selected atoms: each atom goes to the image that
/// is nearest to its predecessor on the way over bonds, then molecules to the images that lie as in
/// the topology (molecule_images.h), or in the first frame if the topology has no coordinates.
/// Depends on nothing else but the frame itself.
class WholeMolecules {
public:
    WholeMolecules() = default;
    /// `first`: atoms that decide where molecules lie (see BondTree); both are indices into `all`.
    WholeMolecules(std::shared_ptr<const Topology> all, std::vector<Index> first,
                   std::vector<Index> selected, Pbc pbc);

    /// Moves atoms of a frame of all atoms [axis, atom]. `file` and `number` name it in messages.
    /// Throws InputError for a cell without volume, and under Pbc::whole if molecules cannot be
    /// made whole.
    void apply(const PeriodicCell& cell, View<float, 2> frame, const std::string& file,
               Index number);
    /// Notes for the user about the frames so far.
    Notes notes() const;

private:
    struct Frame;
    struct Count {
        Index frames = 0;
        std::string text;  // about the first one
        void add(const std::string& about) {
            if (++frames == 1) text = about;
        }
    };

    void prepare(const PeriodicCell& cell);
    void set_reference(const PeriodicCell& cell, bool has_cell, View<const float, 2> positions);
    Point whole(const Frame& frame, Index atom) const;
    void unwrap(Frame& frame);
    const BondTree::Edge* open_ring(const Frame& frame, const BondTree::Molecule& molecule) const;
    void give_up(Frame& frame, const BondTree::Molecule& molecule, const BondTree::Edge& bond);
    void place(Frame& frame);
    void move(Frame& frame) const;
    void look_at_neighbours(const Frame& frame);
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
    std::vector<Lattice::Shift> shifts_;   // [atom]
    std::vector<std::int32_t> stand_ins_;  // [atom that a frame lacks]: one in its place
    Index frames_ = 0;
    Count split_, placed_, ambiguous_, endless_, apart_;
};

}  // namespace pleat

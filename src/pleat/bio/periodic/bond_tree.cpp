// Bond tree: breadth first search over lists of neighbours.
#include "pleat/bio/periodic/bond_tree.h"

#include <algorithm>
#include <utility>

namespace pleat {

namespace {

/// Rings of fewer atoms cannot close around a cell; their bonds need no test if they lead to no
/// selected atom.
constexpr Index kSmallRing = 24;

}  // namespace

/// Visits each molecule once.
class BondTree::Search {
public:
    Search(Index atoms, const std::vector<Bond>& bonds)
        : begin_(static_cast<std::size_t>(atoms) + 1),
          parent_(static_cast<std::size_t>(atoms), kUnseen),
          depth_(static_cast<std::size_t>(atoms)),
          needed_(static_cast<std::size_t>(atoms)) {
        for (const Bond& bond : bonds)
            for (const Index i : bond) ++begin_[static_cast<std::size_t>(i) + 1];
        for (std::size_t i = 1; i < begin_.size(); ++i) begin_[i] += begin_[i - 1];
        neighbours_.resize(2 * bonds.size());
        std::vector<std::size_t> at(begin_.begin(), begin_.end() - 1);
        // Bonds are sorted, so that the neighbours of each atom are in the order of their indices:
        // first those of lower index, from bonds of which the atom is the second.
        for (const Bond& bond : bonds)
            neighbours_[at[static_cast<std::size_t>(bond[1])]++] = to_int(bond[0]);
        for (const Bond& bond : bonds)
            neighbours_[at[static_cast<std::size_t>(bond[0])]++] = to_int(bond[1]);
    }

    void need(Index atom) { needed_[static_cast<std::size_t>(atom)] = true; }
    bool is_seen(Index atom) const { return parent(atom) != kUnseen; }

    Molecule molecule_from(Index root) {
        Molecule molecule;
        molecule.root = root;
        std::vector<Edge> order, closing;  // of all atoms, and all bonds that close rings
        parent_[static_cast<std::size_t>(root)] = kRoot;
        order.push_back({to_int(root), kRoot});
        for (std::size_t n = 0; n < order.size(); ++n) {
            const std::int32_t atom = order[n].atom;
            const auto i = static_cast<std::size_t>(atom);
            for (std::size_t k = begin_[i]; k < begin_[i + 1]; ++k) {
                const std::int32_t other = neighbours_[k];
                const auto o = static_cast<std::size_t>(other);
                if (parent_[o] == kUnseen) {
                    parent_[o] = atom;
                    depth_[o] = depth_[i] + 1;
                    order.push_back({other, atom});
                } else if (other != parent_[i] && parent_[o] != atom && other < atom) {
                    closing.push_back({atom, other});
                }
            }
        }
        for (const Edge& bond : closing) {
            if (ring_size(bond) <= kSmallRing) continue;
            need(bond.atom);
            need(bond.parent);
        }
        for (std::size_t n = order.size(); n-- > 1;)
            if (is_needed(order[n].atom)) need(order[n].parent);
        for (std::size_t n = 1; n < order.size(); ++n)
            if (is_needed(order[n].atom)) molecule.edges.push_back(order[n]);
        for (const Edge& bond : closing)
            if (is_needed(bond.atom) && is_needed(bond.parent)) molecule.closing.push_back(bond);
        return molecule;
    }

private:
    static constexpr std::int32_t kUnseen = -2, kRoot = -1;
    static std::int32_t to_int(Index i) { return static_cast<std::int32_t>(i); }
    std::int32_t parent(Index i) const { return parent_[static_cast<std::size_t>(i)]; }
    bool is_needed(Index i) const { return needed_[static_cast<std::size_t>(i)]; }

    /// Atoms of the ring that a bond closes.
    Index ring_size(const Edge& bond) const {
        std::int32_t a = bond.atom, b = bond.parent;
        Index size = 1;
        while (a != b) {
            std::int32_t& deeper =
                depth_[static_cast<std::size_t>(a)] >= depth_[static_cast<std::size_t>(b)] ? a : b;
            deeper = parent(deeper);
            if (++size > kSmallRing) break;
        }
        return size;
    }

    std::vector<std::size_t> begin_;        // of each atom's neighbours
    std::vector<std::int32_t> neighbours_;  // ascending
    std::vector<std::int32_t> parent_;
    std::vector<std::int32_t> depth_;
    std::vector<bool> needed_;
};

BondTree::BondTree(Index atoms, const std::vector<Bond>& bonds, const std::vector<Index>& first,
                   const std::vector<Index>& selected) {
    Search search(atoms, bonds);
    for (const Index i : first) search.need(i);
    for (const Index i : selected) search.need(i);
    std::vector<Index> molecule_of(static_cast<std::size_t>(atoms), -1);
    const auto visit = [&](const std::vector<Index>& roots, bool in_first) {
        for (const Index root : roots) {
            if (search.is_seen(root)) continue;
            molecules_.push_back(search.molecule_from(root));
            molecules_.back().in_first = in_first;
            const auto number = static_cast<Index>(molecules_.size()) - 1;
            molecule_of[static_cast<std::size_t>(root)] = number;
            for (const Edge& edge : molecules_.back().edges)
                molecule_of[static_cast<std::size_t>(edge.atom)] = number;
        }
        for (const Index i : roots) {
            Molecule& molecule =
                molecules_[static_cast<std::size_t>(molecule_of[static_cast<std::size_t>(i)])];
            if (molecule.in_first == in_first) molecule.selected.push_back(i);
        }
    };
    visit(first, true);
    visit(selected, false);
}

}  // namespace pleat

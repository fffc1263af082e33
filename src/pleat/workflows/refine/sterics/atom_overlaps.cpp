// Atom overlaps: close pairs of heavy atoms.
#include <algorithm>
#include <cstdlib>

#include "pleat/workflows/refine/sterics/sterics.h"

namespace pleat::refine {

namespace {

std::vector<Index> heavy_atoms(const ChainModel& model) {
    std::vector<Index> atoms;
    for (Index atom = 0; atom < model.atom_count(); ++atom)
        if (model.topology->atoms[static_cast<std::size_t>(atom)].element != "H")
            atoms.push_back(atom);
    return atoms;
}

}  // namespace

AtomOverlaps::AtomOverlaps(const ChainModel& model)
    : model_(&model), points_(model, heavy_atoms(model)) {
    const Topology& topology = *model.topology;
    std::vector<Index> number(topology.residues.size());
    for (std::size_t n = 1; n < number.size(); ++n)
        number[n] =
            number[n - 1] + (topology.residues[n].chain != topology.residues[n - 1].chain ? 2 : 1);
    residue_of_.reserve(topology.atoms.size());
    for (const Topology::Atom& atom : topology.atoms)
        residue_of_.push_back(number[static_cast<std::size_t>(atom.residue)]);
    at_start_ = close_pairs();
}

bool AtomOverlaps::counts(Index a, Index b) const {
    const auto one = static_cast<std::size_t>(a), other = static_cast<std::size_t>(b);
    const std::vector<Topology::Atom>& atoms = model_->topology->atoms;
    return std::abs(residue_of_[one] - residue_of_[other]) > 1 &&
           !(atoms[one].element == "S" && atoms[other].element == "S");
}

std::vector<std::pair<Index, Index>> AtomOverlaps::close_pairs() {
    std::vector<std::pair<Index, Index>> pairs;
    points_.for_each_close_pair(
        kDistance, [&](Index a, Index b) { return counts(points_.atom(a), points_.atom(b)); },
        [&](Index a, Index b, double) {
            const Index one = points_.atom(a), other = points_.atom(b);
            pairs.push_back(std::minmax(one, other));
        });
    std::sort(pairs.begin(), pairs.end());
    return pairs;
}

Index AtomOverlaps::count(const Conformation& conformation) {
    points_.place(conformation);
    const std::vector<std::pair<Index, Index>> pairs = close_pairs();
    return static_cast<Index>(
        std::count_if(pairs.begin(), pairs.end(), [&](const std::pair<Index, Index>& pair) {
            return !std::binary_search(at_start_.begin(), at_start_.end(), pair);
        }));
}

}  // namespace pleat::refine

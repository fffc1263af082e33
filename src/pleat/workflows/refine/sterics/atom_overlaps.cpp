// Atom overlaps: close pairs of heavy atoms, found by a grid of cells.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <unordered_map>

#include "pleat/workflows/refine/sterics/sterics.h"

namespace pleat::refine {

namespace {

/// The cell of a position as one number; cells are kDistance wide.
std::int64_t cell_number(Vector at, int dx, int dy, int dz) {
    constexpr std::int64_t kHalf = 1 << 20;
    const auto number = [](double value, int step) {
        return static_cast<std::int64_t>(std::floor(value / AtomOverlaps::kDistance)) + step + kHalf;
    };
    return (number(at.x, dx) << 42) ^ (number(at.y, dy) << 21) ^ number(at.z, dz);
}

}  // namespace

AtomOverlaps::AtomOverlaps(const ChainModel& model) : model_(&model) {
    const Topology& topology = *model.topology;
    std::vector<Index> number(topology.residues.size());
    for (std::size_t n = 1; n < number.size(); ++n)
        number[n] = number[n - 1] + 1 +
                    (topology.residues[n].chain != topology.residues[n - 1].chain ? 1 : 0);
    for (const Topology::Atom& atom : topology.atoms)
        residue_of_.push_back(number[static_cast<std::size_t>(atom.residue)]);
    at_start_ = close_pairs(model.start);
}

bool AtomOverlaps::counts(Index a, Index b) const {
    const auto one = static_cast<std::size_t>(a), other = static_cast<std::size_t>(b);
    if (model_->piece_of[one] == model_->piece_of[other]) return false;
    if (std::abs(residue_of_[one] - residue_of_[other]) <= 1) return false;
    const std::vector<Topology::Atom>& atoms = model_->topology->atoms;
    return atoms[one].element != "H" && atoms[other].element != "H" &&
           !(atoms[one].element == "S" && atoms[other].element == "S");
}

std::vector<std::pair<Index, Index>> AtomOverlaps::close_pairs(
    const std::vector<Vector>& positions) const {
    std::unordered_map<std::int64_t, std::vector<Index>> cells;
    for (std::size_t n = 0; n < positions.size(); ++n)
        cells[cell_number(positions[n], 0, 0, 0)].push_back(static_cast<Index>(n));
    std::vector<std::pair<Index, Index>> pairs;
    for (std::size_t a = 0; a < positions.size(); ++a)
        for (int cell = 0; cell < 27; ++cell) {
            const auto found = cells.find(cell_number(positions[a], cell / 9 - 1,
                                                      cell / 3 % 3 - 1, cell % 3 - 1));
            if (found == cells.end()) continue;
            for (const Index b : found->second)
                if (b > static_cast<Index>(a) && counts(static_cast<Index>(a), b) &&
                    distance(positions[a], positions[static_cast<std::size_t>(b)]) < kDistance)
                    pairs.emplace_back(static_cast<Index>(a), b);
        }
    std::sort(pairs.begin(), pairs.end());
    return pairs;
}

Index AtomOverlaps::count(const Conformation& conformation) const {
    std::vector<Vector> positions;
    positions.reserve(model_->start.size());
    for (Index atom = 0; atom < model_->atom_count(); ++atom)
        positions.push_back(conformation.atom(atom));
    const std::vector<std::pair<Index, Index>> pairs = close_pairs(positions);
    return static_cast<Index>(
        std::count_if(pairs.begin(), pairs.end(), [&](const std::pair<Index, Index>& pair) {
            return !std::binary_search(at_start_.begin(), at_start_.end(), pair);
        }));
}

}  // namespace pleat::refine

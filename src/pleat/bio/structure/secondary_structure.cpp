// Secondary structure: hydrogen bonds of the backbone, helices from turns, strands from bridges.
#include "pleat/bio/structure/secondary_structure.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <vector>

namespace pleat {

namespace {

using Point = std::array<double, 3>;

double distance(const Point& a, const Point& b) {
    return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

struct Backbone {
    Point n{}, ca{}, c{}, o{};
    std::optional<Point> hydrogen = {};  ///< not in proline and behind a break of the chain
};

std::optional<Backbone> backbone_of(const Residue& residue) {
    Backbone backbone;
    for (const auto& [name, point] : {std::pair("N", &backbone.n),
                                      {"CA", &backbone.ca},
                                      {"C", &backbone.c},
                                      {"O", &backbone.o}}) {
        const Atom* atom = residue.find(name);
        if (atom == nullptr) return std::nullopt;
        *point = {atom->x, atom->y, atom->z};
    }
    return backbone;
}

/// The hydrogen is 1 angstrom from N, along the C=O of the previous residue.
Point place_hydrogen(const Backbone& before, const Point& n) {
    const double length = distance(before.c, before.o);
    Point hydrogen = n;
    for (std::size_t axis = 0; axis < 3; ++axis)
        hydrogen[axis] += (before.c[axis] - before.o[axis]) / length;
    return hydrogen;
}

/// The electrostatic energy of a C=O and an N-H in kcal/mol: Kabsch and Sander (1983), with charges
/// of 0.42 and 0.20 electrons.
double bond_energy(const Backbone& acceptor, const Backbone& donor) {
    constexpr double kFactor = 0.42 * 0.20 * 332;
    const Point& hydrogen = *donor.hydrogen;
    return kFactor * (1 / distance(acceptor.o, donor.n) + 1 / distance(acceptor.c, hydrogen) -
                      1 / distance(acceptor.o, hydrogen) - 1 / distance(acceptor.c, donor.n));
}

/// A ladder of DSSP: two strands whose residues are paired one by one.
struct Ladder {
    bool parallel;
    std::size_t first_i, last_i, first_j, last_j;  // i < j, both rising
    bool is_single() const { return first_i == last_i; }
};

class Assignment {
public:
    explicit Assignment(const Chain& chain)
        : letters_(chain.residues.size(), '-'),
          segments_(chain.residues.size()),
          donors_(chain.residues.size()) {
        std::size_t segment = 0;
        for (std::size_t i = 0; i < chain.residues.size(); ++i) {
            backbones_.push_back(backbone_of(chain.residues[i]));
            segments_[i] = segment;
            if (!backbones_[i] || chain.broken_after(i)) ++segment;
            if (i > 0 && segments_[i] == segments_[i - 1] && backbones_[i] &&
                chain.residues[i].letter != 'P')
                backbones_[i]->hydrogen = place_hydrogen(*backbones_[i - 1], backbones_[i]->n);
        }
        find_bonds();
    }

    bool has_backbone() const {
        return std::ranges::any_of(backbones_, [](const auto& one) { return one.has_value(); });
    }

    std::string letters() {
        mark_strands();
        mark_helices();
        return letters_;
    }

private:
    void find_bonds() {
        constexpr double kFarthest = 9, kMaxEnergy = -0.5;
        for (std::size_t i = 0; i < backbones_.size(); ++i)
            for (std::size_t j = 0; j < backbones_.size(); ++j) {
                if (i == j || j == i + 1 || !backbones_[i] || !backbones_[j] ||
                    !backbones_[j]->hydrogen ||
                    distance(backbones_[i]->ca, backbones_[j]->ca) > kFarthest)
                    continue;
                if (bond_energy(*backbones_[i], *backbones_[j]) < kMaxEnergy)
                    donors_[i].push_back(j);
            }
    }

    /// Whether the C=O of residue i and the N-H of residue j are bonded.
    bool is_bonded(std::size_t i, std::size_t j) const {
        return std::find(donors_[i].begin(), donors_[i].end(), j) != donors_[i].end();
    }
    bool is_turn(std::size_t i) const {
        constexpr std::size_t kTurn = 4;
        return i + kTurn < letters_.size() && segments_[i] == segments_[i + kTurn] &&
               is_bonded(i, i + kTurn);
    }
    /// Whether residues i - 1 and i + 1 are in the same unbroken segment as i.
    bool has_neighbours(std::size_t i) const {
        return i > 0 && i + 1 < letters_.size() && backbones_[i + 1] &&
               segments_[i - 1] == segments_[i + 1];
    }
    bool is_bridge(bool parallel, std::size_t i, std::size_t j) const {
        if (parallel)
            return (is_bonded(i - 1, j) && is_bonded(j, i + 1)) ||
                   (is_bonded(j - 1, i) && is_bonded(i, j + 1));
        return (is_bonded(i, j) && is_bonded(j, i)) ||
               (is_bonded(i - 1, j + 1) && is_bonded(j - 1, i + 1));
    }

    void mark_helices() {
        for (std::size_t i = 1; i < letters_.size(); ++i)
            if (is_turn(i - 1) && is_turn(i))
                std::fill_n(letters_.begin() + static_cast<std::ptrdiff_t>(i), 4, 'H');
    }

    /// Finds bridges and joins consecutive ones to ladders.
    std::vector<Ladder> find_ladders() const {
        std::vector<Ladder> ladders;
        for (std::size_t i = 0; i < letters_.size(); ++i) {
            if (!has_neighbours(i)) continue;
            for (std::size_t j = i + 3; j < letters_.size(); ++j)
                for (const bool parallel : {true, false}) {
                    if (!has_neighbours(j) || !is_bridge(parallel, i, j)) continue;
                    const auto next = std::ranges::find_if(ladders, [&](const Ladder& ladder) {
                        return ladder.parallel == parallel && ladder.last_i + 1 == i &&
                               (parallel ? ladder.last_j + 1 == j : ladder.first_j == j + 1);
                    });
                    if (next == ladders.end()) {
                        ladders.push_back({parallel, i, i, j, j});
                        continue;
                    }
                    next->last_i = i;
                    (parallel ? next->last_j : next->first_j) = j;
                }
        }
        return ladders;
    }

    /// Whether ladder b continues ladder a after a bulge of at most one extra residue on one strand
    /// and four on the other.
    bool joins(const Ladder& a, const Ladder& b) const {
        if (a.parallel != b.parallel || b.first_i <= a.last_i) return false;
        if (segments_[a.first_i] != segments_[b.last_i] ||
            segments_[std::min(a.first_j, b.first_j)] != segments_[std::max(a.last_j, b.last_j)])
            return false;
        const std::size_t from = a.parallel ? a.last_j : b.last_j,
                          to = a.parallel ? b.first_j : a.first_j;
        if (to < from) return false;
        const std::size_t step_i = b.first_i - a.last_i, step_j = to - from;
        return (step_i < 6 && step_j < 3) || (step_i < 3 && step_j < 6);
    }

    void mark_strands() {
        std::vector<Ladder> ladders = find_ladders();
        for (std::size_t a = 0; a < ladders.size(); ++a)
            for (std::size_t b = a + 1; b < ladders.size();) {
                if (!joins(ladders[a], ladders[b])) {
                    ++b;
                    continue;
                }
                ladders[a].last_i = ladders[b].last_i;
                ladders[a].first_j = std::min(ladders[a].first_j, ladders[b].first_j);
                ladders[a].last_j = std::max(ladders[a].last_j, ladders[b].last_j);
                ladders.erase(ladders.begin() + static_cast<std::ptrdiff_t>(b));
            }
        for (const Ladder& ladder : ladders) {
            if (ladder.is_single()) continue;
            std::fill(letters_.begin() + static_cast<std::ptrdiff_t>(ladder.first_i),
                      letters_.begin() + static_cast<std::ptrdiff_t>(ladder.last_i) + 1, 'E');
            std::fill(letters_.begin() + static_cast<std::ptrdiff_t>(ladder.first_j),
                      letters_.begin() + static_cast<std::ptrdiff_t>(ladder.last_j) + 1, 'E');
        }
    }

    std::string letters_;
    std::vector<std::size_t> segments_;  ///< of each residue, the unbroken piece of the chain
    std::vector<std::optional<Backbone>> backbones_;
    std::vector<std::vector<std::size_t>> donors_;  ///< of each C=O, the residues of bonded N-H
};

}  // namespace

std::string secondary_structure(const Chain& chain) {
    if (chain.kind != Chain::Kind::protein) return {};
    Assignment assignment(chain);
    return assignment.has_backbone() ? assignment.letters() : std::string();
}

}  // namespace pleat

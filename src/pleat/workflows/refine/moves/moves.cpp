// Moves: pivots, draws from the prior, crankshafts, and turns that keep a distance.
#include "pleat/workflows/refine/moves/moves.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "pleat/workflows/refine/moves/distance_step.h"

namespace pleat::refine {

namespace {

constexpr Index kMaxRedrawn = 4;     // neighbouring residues that are drawn together
constexpr Index kMaxCrankshaft = 6;  // residues from one end of a crankshaft to the other

constexpr std::array<Index, 2> kTurning = {4, 8};  // torsions of a distance move

/// The three angles at one end of a crankshaft.
struct EndAngles {
    double phi = 0, bend = 0, psi = 0;
};

EndAngles angles_at(Vector previous_c, Vector n, Vector ca, Vector c, Vector n_behind) {
    return {dihedral_angle(previous_c, n, ca, c), bond_angle(n, ca, c),
            dihedral_angle(n, ca, c, n_behind)};
}

/// Whether a hinge turns a domain in the frame of the root.
bool turns(const ChainModel& model, Index hinge, const Domain& domain) {
    return hinge < domain.piece && domain.piece < model.subtree_end[hinge + 1];
}

}  // namespace

Moves::Moves(const ChainModel& model, const Prior& prior, BendSpring spring)
    : model_(&model), prior_(&prior), spring_(spring), residue_of_(model.hinges.size(), -1) {
    const Index count = model.own_residues;
    for (Index n = 0; n < count; ++n) {
        const LinkerResidue& residue = model.residues[n];
        for (const Index hinge : {residue.phi_hinge, residue.bend_hinge, residue.psi_hinge})
            if (hinge >= 0) residue_of_[hinge] = n;
        for (const Index hinge : {residue.phi_hinge, residue.psi_hinge})
            if (hinge >= 0) torsion_hinges_.push_back(hinge);
        for (Index m = n + 1; m < std::min(count, n + kMaxCrankshaft); ++m) {
            const LinkerResidue& other = model.residues[m];
            if (other.linker != residue.linker) break;
            if (residue.bend_hinge >= 0 && other.bend_hinge >= 0)
                crankshaft_ends_.emplace_back(n, m);
        }
    }
    const auto domains = static_cast<Index>(model.domains.size());
    for (Index first = 0; first < domains; ++first)
        for (Index last = first + 1; last < domains; ++last) add_path(first, last);
    if (domains < 2)
        notes_.push_back({NoteKind::assumption,
                          "no moves keep a distance of domains: there are fewer than two"});
}

void Moves::add_path(Index first, Index last) {
    const Domain &one = model_->domains[first], &other = model_->domains[last];
    DomainPath path{first, last, {}};
    const auto add = [&](Index hinge, const Domain& turned, const Domain& resting) {
        if (turns(*model_, hinge, turned) && !turns(*model_, hinge, resting))
            path.hinges.push_back(hinge);
    };
    // From the first domain up the tree, then down to the last.
    for (Index hinge = model_->hinge_count(); hinge-- > 0;) add(hinge, one, other);
    for (Index hinge = 0; hinge < model_->hinge_count(); ++hinge) add(hinge, other, one);
    if (std::any_of(path.hinges.begin(), path.hinges.end(),
                    [&](Index hinge) { return model_->is_repeated(hinge); }))
        return;
    std::erase_if(path.hinges,
                  [&](Index hinge) { return model_->hinges[hinge].kind == HingeKind::bend; });
    if (static_cast<Index>(path.hinges.size()) >= kTurning[0])
        paths_.push_back(std::move(path));
    else
        notes_.push_back({NoteKind::assumption,
                          fmt::format("no moves keep the distance of {} and {}: {} torsions "
                                      "connect them, fewer than {}",
                                      one.name, other.name, path.hinges.size(), kTurning[0])});
}

MoveProposal Moves::pivot(const Conformation& from, double width, Random& random) const {
    MoveProposal proposal{.angles = from.angles()};
    const Index hinge = torsion_hinges_[random.below(static_cast<Index>(torsion_hinges_.size()))];
    const Index number = residue_of_[hinge];
    const LinkerResidue& residue = model_->residues[number];
    const double turn = width * (2 * random.uniform() - 1);
    proposal.angles[hinge] = wrapped(proposal.angles[hinge] + turn);
    const double phi = from.phi(residue), psi = from.psi(residue);
    const bool is_phi = hinge == residue.phi_hinge;
    proposal.log_ratio = prior_->log_density(number, is_phi ? wrapped(phi + turn) : phi,
                                             is_phi ? psi : wrapped(psi + turn)) -
                         prior_->log_density(number, phi, psi);
    return proposal;
}

void Moves::set_phi_psi(Index residue, std::pair<double, double> drawn,
                        std::vector<double>& angles) const {
    const LinkerResidue& one = model_->residues[residue];
    if (one.phi_hinge >= 0) angles[one.phi_hinge] = wrapped(drawn.first - one.phi);
    if (one.psi_hinge >= 0) angles[one.psi_hinge] = wrapped(drawn.second - one.psi);
}

MoveProposal Moves::redraw(const Conformation& from, Random& random) const {
    // The proposal's density is the prior's, so their ratio is 1. Which residues are drawn does not
    // depend on the conformation.
    MoveProposal proposal{.angles = from.angles()};
    const Index count = model_->own_residues;
    const Index first = random.below(count), residues = 1 + random.below(kMaxRedrawn);
    for (Index n = first; n < std::min(count, first + residues); ++n) {
        if (model_->residues[n].linker != model_->residues[first].linker) break;
        set_phi_psi(n, prior_->draw(n, random), proposal.angles);
    }
    return proposal;
}

MoveProposal Moves::crankshaft(const Conformation& from, double width, Random& random) const {
    MoveProposal proposal{.angles = from.angles()};
    const auto [one, other] =
        crankshaft_ends_[random.below(static_cast<Index>(crankshaft_ends_.size()))];
    const LinkerResidue &i = model_->residues[one], &j = model_->residues[other];
    const Vector ca_i = from.atom(i.ca), ca_j = from.atom(j.ca);
    const Transform turn =
        rotation_about(ca_i, unit(ca_j - ca_i), width * (2 * random.uniform() - 1));
    const auto at = [&](Index atom) { return from.atom(atom); };
    const auto moved = [&](Index atom) { return turn(from.atom(atom)); };
    const EndAngles old_i = angles_at(at(i.previous_c), at(i.n), ca_i, at(i.c), at(i.n_behind)),
                    old_j = angles_at(at(j.previous_c), at(j.n), ca_j, at(j.c), at(j.n_behind)),
                    new_i =
                        angles_at(at(i.previous_c), at(i.n), ca_i, moved(i.c), moved(i.n_behind)),
                    new_j =
                        angles_at(moved(j.previous_c), moved(j.n), ca_j, at(j.c), at(j.n_behind));
    const auto set = [&](Index residue, const EndAngles& before, const EndAngles& after) {
        const LinkerResidue& end = model_->residues[residue];
        const auto add = [&](Index hinge, double change) {
            double& angle = proposal.angles[hinge];
            angle = wrapped(angle + change);
        };
        add(end.phi_hinge, after.phi - before.phi);
        add(end.bend_hinge, after.bend - before.bend);
        add(end.psi_hinge, after.psi - before.psi);
        proposal.log_ratio +=
            prior_->log_density(residue, wrapped(after.phi), wrapped(after.psi)) -
            prior_->log_density(residue, wrapped(before.phi), wrapped(before.psi)) -
            spring_.energy(after.bend, end.bend) + spring_.energy(before.bend, end.bend);
    };
    set(one, old_i, new_i);
    set(other, old_j, new_j);
    return proposal;
}

MoveProposal Moves::distance(const Conformation& from, double width, Random& random) const {
    MoveProposal proposal{.angles = from.angles(),
                          .log_ratio = -std::numeric_limits<double>::infinity()};
    const auto& [first, last, hinges] = paths_[random.below(static_cast<Index>(paths_.size()))];
    const auto torsions = static_cast<Index>(hinges.size());
    const Index turning = kTurning[random.below(torsions < kTurning[1] ? 1 : 2)],
                start = random.below(torsions - turning + 1);
    const Domain &one = model_->domains[first], &other = model_->domains[last];
    TorsionPath path{from.piece(one.piece)(one.centre), from.piece(other.piece)(other.centre), {}};
    Turns normal = {};
    for (Index n = 0; n < turning; ++n) {
        const Index hinge = hinges[start + n];
        const auto& [kind, parent, origin, axis] = model_->hinges[hinge];
        const Transform& piece = from.piece(parent);
        const double sign = turns(*model_, hinge, other) ? 1 : -1;
        path.torsions.push_back({piece(origin), sign * piece.turned(axis)});
        normal[n] = random.normal();
    }
    const std::optional<DistanceStep> step = distance_step(path, normal, width);
    if (!step) return proposal;
    proposal.log_ratio = step->log_ratio;
    for (Index n = 0; n < turning; ++n) {
        double& angle = proposal.angles[hinges[start + n]];
        angle = wrapped(angle + step->turns[n]);
    }
    for (Index n = 0, before = -1; n < turning; ++n) {
        const Index number = residue_of_[hinges[start + n]];
        if (std::exchange(before, number) == number) continue;
        const LinkerResidue& residue = model_->residues[number];
        const auto turned = [&](Index hinge, double at_start) {
            return wrapped(at_start + (hinge < 0 ? 0.0 : proposal.angles[hinge]));
        };
        proposal.log_ratio += prior_->log_density(number, turned(residue.phi_hinge, residue.phi),
                                                  turned(residue.psi_hinge, residue.psi)) -
                              prior_->log_density(number, from.phi(residue), from.psi(residue));
    }
    return proposal;
}

std::vector<double> Moves::draw_all(Random& random) const {
    std::vector<double> angles(model_->hinges.size());
    for (Index n = 0; n < model_->own_residues; ++n)
        set_phi_psi(n, prior_->draw(n, random), angles);
    return angles;
}

std::vector<double> Moves::draw_prior(Random& random) const {
    std::vector<double> angles = draw_all(random);
    for (Index n = 0; n < model_->own_residues; ++n) {
        const LinkerResidue& residue = model_->residues[n];
        if (residue.bend_hinge < 0) continue;
        double bend = 0;  // density exp(-energy) sin(bend)
        do bend = residue.bend + spring_.deviation * random.normal();
        while (!(random.uniform() < std::sin(bend)));
        angles[residue.bend_hinge] = bend - residue.bend;
    }
    return angles;
}

double Moves::bend_energy(const Conformation& conformation, Index residue) const {
    const LinkerResidue& one = model_->residues[residue];
    return spring_.energy(conformation.bend(one), one.bend);
}

double Moves::log_density(const Conformation& conformation) const {
    double energy = 0;
    for (Index n = 0; n < model_->own_residues; ++n) energy += bend_energy(conformation, n);
    return prior_->log_density(conformation) - energy;
}

}  // namespace pleat::refine

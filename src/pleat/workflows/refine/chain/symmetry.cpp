// Symmetry: finding the copies of a chain and the axis of their rigid core.
#include "pleat/workflows/refine/chain/symmetry.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numbers>
#include <string>
#include <utility>

#include "pleat/bio/structure/topology_gemmi.h"
#include "pleat/core/error.h"
#include "pleat/core/files/text.h"
#include "pleat/rmsd/superposition/superposition.h"

namespace pleat::refine {

namespace {

constexpr Index kMaxOrder = 12;
constexpr double kMaxRmsd = 2;       // angstrom
constexpr std::size_t kMinCore = 3;  // residues of each chain
constexpr double kParallel = 1e-9;   // of a matrix of rotation: turned by no angle

[[noreturn]] void fail(const Topology& topology, const std::string& text) {
    throw InputError(topology.source.string(), 0, text);
}

/// Whether residues with the same number have the same letter, and most are in both chains.
bool are_copies(const Topology& topology, const PeptideChain& one, const PeptideChain& other) {
    std::map<std::pair<int, char>, char> letters;
    for (const PeptideResidue& residue : one.residues) {
        const Topology::Residue& known = topology.residues[residue.residue];
        letters[{known.number, known.insertion}] = residue_letter(known.name);
    }
    std::size_t shared = 0;
    for (const PeptideResidue& residue : other.residues) {
        const Topology::Residue& known = topology.residues[residue.residue];
        const auto found = letters.find({known.number, known.insertion});
        if (found == letters.end()) continue;
        if (found->second != residue_letter(known.name)) return false;
        ++shared;
    }
    return 2 * shared > std::max(one.residues.size(), other.residues.size());
}

using Copies = std::vector<const PeptideChain*>;

Copies find_copies(const Molecules& molecules, const Topology& topology, Index order) {
    std::string numbers;
    for (const PeptideChain& first : molecules.chains) {
        Copies copies;
        for (const PeptideChain& chain : molecules.chains)
            if (are_copies(topology, first, chain)) copies.push_back(&chain);
        if (std::ssize(copies) == order) return copies;
        numbers += fmt::format("{}{} of chain '{}'", numbers.empty() ? "" : ", ", copies.size(),
                               first.name);
    }
    fail(topology, fmt::format("expected {} chains of one sequence, numbered alike, for symmetry "
                               "c{}, found {}",
                               order, order, numbers.empty() ? "no protein" : numbers));
}

void require_equal_residues(const Copies& copies, const Topology& topology) {
    const auto at = [&](const PeptideResidue& residue) -> const Topology::Residue& {
        return topology.residues[residue.residue];
    };
    const auto text = [&](const PeptideChain& chain) {
        return fmt::format("{} of {}", chain.residues.size(),
                           range_of(at(chain.residues.front()), at(chain.residues.back())).text());
    };
    const PeptideChain& first = *copies.front();
    for (const PeptideChain* const copy : copies)
        if (!std::equal(first.residues.begin(), first.residues.end(), copy->residues.begin(),
                        copy->residues.end(), [&](const auto& one, const auto& other) {
                            return at(one).number == at(other).number &&
                                   at(one).insertion == at(other).insertion;
                        }))
            fail(topology, fmt::format("expected the same residues in symmetric chains, found {} "
                                       "and {}; --sequence builds missing residues",
                                       text(first), text(*copy)));
}

bool is_of(const Copies& copies, const std::string& chain) {
    return std::any_of(copies.begin(), copies.end(),
                       [&](const PeptideChain* copy) { return copy->name == chain; });
}

/// The ranges of one chain in all copies.
std::vector<ResidueRange> repeated(const std::vector<ResidueRange>& ranges, const Copies& copies) {
    std::vector<ResidueRange> all;
    for (const PeptideChain* const copy : copies)
        for (ResidueRange range : ranges) {
            range.chain = copy->name;
            all.push_back(std::move(range));
        }
    return all;
}

/// Adds the linkers of each copy to all others, and takes these residues out of the groups.
void repeat_linkers(const Topology& topology, const Copies& copies, ChainOptions& options) {
    for (const ResidueRange& range : options.linkers)
        if (!is_of(copies, range.chain))
            fail(topology, fmt::format("expected linkers in the symmetric chains {} to {} alone, "
                                       "found {}",
                                       copies.front()->name, copies.back()->name, range.text()));
    const auto given = std::ssize(options.linkers);
    options.linkers = add_ranges(topology, options.linkers, repeated(options.linkers, copies));
    const std::vector<ResidueRange> added(options.linkers.begin() + given, options.linkers.end());
    for (std::vector<ResidueRange>& group : options.groups) {
        const std::vector<ResidueRange> both = add_ranges(topology, added, group);
        group.assign(both.begin() + std::ssize(added), both.end());
    }
    std::erase_if(options.groups, [](const auto& group) { return group.empty(); });
}

/// [copy][residue]: the CA atoms of residues that are in one piece with those of all other copies.
using CoreAtoms = std::vector<std::vector<Vector>>;

CoreAtoms find_core(const ChainModel& model, const Copies& copies) {
    CoreAtoms core(copies.size());
    for (std::size_t n = 0; n < copies.front()->residues.size(); ++n) {
        const auto ca = [&](const PeptideChain* chain) { return chain->residues[n].ca; };
        const Index piece = model.piece_of[ca(copies.front())];
        if (!std::all_of(copies.begin(), copies.end(), [&](const PeptideChain* copy) {
                return model.piece_of[ca(copy)] == piece;
            }))
            continue;
        for (std::size_t copy = 0; copy < copies.size(); ++copy)
            core[copy].push_back(model.start[ca(copies[copy])]);
    }
    if (core.front().size() < kMinCore)
        fail(*model.topology,
             fmt::format("expected a rigid core with at least {} residues of each symmetric chain, "
                         "the same ones, found {}; join them by --group {}:1-100,{}:1-100",
                         kMinCore, core.front().size(), copies.front()->name, copies.back()->name));
    return core;
}

/// [residue, axis]
Array<float, 2> as_array(const std::vector<Vector>& points) {
    Array<float, 2> all(std::ssize(points), Index{3});
    float* to = all.begin();
    for (const Vector& at : points)
        for (const double value : {at.x, at.y, at.z}) *to++ = static_cast<float>(value);
    return all;
}

/// The axis of a rotation, and its angle rounded to a multiple of a full turn / order.
std::pair<Vector, double> symmetric_rotation(const double (&r)[9], Index order) {
    // R + R' + (1 - trace) 1 = (3 - trace) axis axis', and R - R' has the sign of the angle.
    const double trace = r[0] + r[4] + r[8], rest = 1 - trace;
    const Vector columns[3] = {{2 * r[0] + rest, r[1] + r[3], r[2] + r[6]},
                               {r[1] + r[3], 2 * r[4] + rest, r[5] + r[7]},
                               {r[2] + r[6], r[5] + r[7], 2 * r[8] + rest}};
    const Vector& longest =
        *std::max_element(columns, columns + 3,
                          [](const Vector& a, const Vector& b) { return length(a) < length(b); });
    if (length(longest) < kParallel) return {{0, 0, 1}, 0};
    Vector axis = unit(longest);
    if (dot(axis, {r[7] - r[5], r[2] - r[6], r[3] - r[1]}) < 0) axis = -1.0 * axis;
    const double step = 2 * std::numbers::pi / static_cast<double>(order),
                 angle = std::acos(std::clamp((trace - 1) / 2, -1.0, 1.0));
    return {axis, step * std::round(angle / step)};
}

/// The sum over residues of the squared distance from where a turn brings them.
double square_distance(const Transform& turn, const std::vector<Vector>& from,
                       const std::vector<Vector>& to) {
    double sum = 0;
    for (std::size_t n = 0; n < from.size(); ++n) {
        const Vector apart = turn(from[n]) - to[n];
        sum += dot(apart, apart);
    }
    return sum;
}

/// The turns of the first copy onto each, about one axis through the centre of the core, and the
/// RMSD of the core from where they bring it.
std::pair<std::vector<Transform>, double> find_turns(const CoreAtoms& core) {
    const Array<float, 2> first = as_array(core.front());
    std::vector<double> angles(core.size());
    Vector axis, centre;
    for (std::size_t copy = 0; copy < core.size(); ++copy) {
        for (const Vector& at : core[copy])
            centre = centre + (1.0 / static_cast<double>(core.size() * first.extent(0))) * at;
        if (copy == 0) continue;
        const rmsd::Superposer superposer(rmsd::to_double(as_array(core[copy]).view()).view(), {});
        const auto [own, angle] =
            symmetric_rotation(superposer.motion(first.view()).rotation, std::ssize(core));
        const double sign = dot(own, axis) < 0 ? -1 : 1;
        axis = axis + sign * own;
        angles[copy] = sign * angle;
    }
    std::vector<Transform> turns;
    double squares = 0;
    for (std::size_t copy = 0; copy < core.size(); ++copy) {
        turns.push_back(rotation_about(centre, unit(axis), angles[copy]));
        squares += square_distance(turns[copy], core.front(), core[copy]);
    }
    const auto count = static_cast<double>((core.size() - 1) * core.front().size());
    return {std::move(turns), std::sqrt(squares / count)};
}

/// Other molecules stay where they are. Throws InputError if a domain that one of them is on turns
/// away.
void require_resting_molecules(const ChainModel& model, const Molecules& molecules,
                               const Copies& copies, const std::vector<Transform>& turns) {
    for (const OtherMolecule& molecule : molecules.others) {
        double squares = 0, residues = 0;
        for (std::size_t copy = 1; copy < copies.size(); ++copy)
            for (std::size_t n = 0; n < copies[copy]->residues.size(); ++n) {
                const Index own = copies[copy]->residues[n].ca, first = copies[0]->residues[n].ca;
                if (model.piece_of[own] != model.piece_of[molecule.atoms.front()]) continue;
                squares += square_distance(turns[copy], {model.start[first]}, {model.start[own]});
                ++residues;
            }
        if (squares > kMaxRmsd * kMaxRmsd * residues)
            fail(*model.topology,
                 fmt::format("expected {} on a domain that symmetry does not move, found one that "
                             "it moves by {:.2f} angstrom (RMSD, at most {}); leave it out",
                             molecule.name, std::sqrt(squares / residues), kMaxRmsd));
    }
}

/// Replaces the atoms of the copies by those of the first, turned.
void turn_copies(const Copies& copies, const std::vector<Transform>& turns, HeavyAtoms& heavy,
                 std::vector<Index>& units) {
    const Topology& given = *heavy.topology;
    std::vector<std::pair<Index, std::size_t>> sources;  // residue of the first copy, and the copy
    for (Index n = 0; n < std::ssize(given.residues); ++n) sources.emplace_back(n, 0);
    for (std::size_t copy = 1; copy < copies.size(); ++copy)
        for (std::size_t n = 0; n < copies[copy]->residues.size(); ++n)
            sources[copies[copy]->residues[n].residue] = {copies[0]->residues[n].residue, copy};
    auto made = std::make_shared<Topology>();
    made->source = given.source;
    made->named = given.named;
    made->residues = given.residues;
    const std::vector<std::vector<Index>> atoms = atoms_by_residue(given);
    const std::vector<Vector> at = positions_of(heavy.xyz);
    std::vector<Vector> positions;
    std::vector<Index> units_of_made;
    for (std::size_t n = 0; n < sources.size(); ++n) {
        const auto [residue, copy] = sources[n];
        made->residues[n].name = given.residues[residue].name;  // MET may be MSE
        for (const Index atom : atoms[residue]) {
            made->atoms.push_back(given.atoms[atom]);
            made->atoms.back().residue = static_cast<Index>(n);
            positions.push_back(turns[copy](at[atom]));
            if (!units.empty()) units_of_made.push_back(units[atom]);
        }
    }
    heavy = {std::move(made), Array<float, 2>(Index{3}, std::ssize(positions))};
    const Array<float, 2> by_atom = as_array(positions);
    for (Index n = 0; n < heavy.xyz.size(); ++n) heavy.xyz(n % 3, n / 3) = by_atom(n / 3, n % 3);
    units = std::move(units_of_made);
}

}  // namespace

Index symmetry_order(std::string_view text) {
    if (text.empty()) return 1;
    const std::string lower = in_lower_case(text);
    Index order = 0;
    if ((lower.front() != 'c' && lower.front() != 'p') ||
        !parse_number(std::string_view(lower).substr(1), order) || order < 2 || order > kMaxOrder)
        throw UsageError(fmt::format(
            "symmetry: expected one axis, c2 to c{} (p2 to p{} mean the same), found '{}'",
            kMaxOrder, kMaxOrder, text));
    return order;
}

void complete_groups(const Topology& topology, Index order,
                     std::vector<std::vector<ResidueRange>>& groups) {
    const Molecules molecules = find_molecules(topology);
    const Copies copies = find_copies(molecules, topology, order);
    for (std::vector<ResidueRange>& group : groups)
        if (is_of(copies, group.front().chain) &&
            std::all_of(group.begin(), group.end(), [&](const ResidueRange& range) {
                return range.chain == group.front().chain;
            }))
            group = repeated(group, copies);
}

Note make_symmetric(Index order, HeavyAtoms& heavy, ChainOptions& options) {
    const std::shared_ptr<const Topology> topology = heavy.topology;
    const Molecules molecules = find_molecules(*topology);
    const Copies copies = find_copies(molecules, *topology, order);
    require_equal_residues(copies, *topology);
    repeat_linkers(*topology, copies, options);
    options.copies = order;
    const ChainModel given = make_chain_model(topology, heavy.xyz, options);
    const CoreAtoms core = find_core(given, copies);
    const auto [turns, rmsd] = find_turns(core);
    if (!(rmsd <= kMaxRmsd))
        fail(*topology, fmt::format("expected a rigid core with symmetry c{}, found that its CA "
                                    "atoms are {:.2f} angstrom (RMSD, at most {}) from it",
                                    order, rmsd, kMaxRmsd));
    require_resting_molecules(given, molecules, copies, turns);
    turn_copies(copies, turns, heavy, options.units);
    std::string names;
    for (std::size_t copy = 1; copy < copies.size(); ++copy)
        names += (copy == 1 ? "" : ", ") + copies[copy]->name;
    return {NoteKind::assumption,
            fmt::format("symmetry c{}: chain {} is repeated about an axis in place of {}, with the "
                        "same linkers and angles; CA atoms of the rigid core ({} residues of a "
                        "chain) moved by {:.2f} angstrom (RMSD)",
                        order, copies[0]->name, names, core.front().size(), rmsd)};
}

}  // namespace pleat::refine

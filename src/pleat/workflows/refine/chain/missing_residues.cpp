// Missing residues: segments of ideal geometry, the domains that they move apart, and the whole
// structure.
#include "pleat/workflows/refine/chain/missing_residues.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <numbers>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>

#include "pleat/bio/structure/topology_gemmi.h"
#include "pleat/core/error.h"
#include "pleat/workflows/refine/prior/prior.h"

namespace pleat::refine {

namespace {

constexpr double kContact = 5.0;  // angstrom

constexpr double kDegree = std::numbers::pi / 180;
// Engh and Huber, Acta Cryst. A47:392 (1991).
constexpr double kCaC = 1.525, kCN = 1.329, kNCa = 1.458, kCO = 1.231;
constexpr double kNCaC = 111.0 * kDegree, kCaCN = 116.6 * kDegree, kCNCa = 121.7 * kDegree,
                 kCaCO = 120.5 * kDegree;
constexpr double kProlinePhi = -65 * kDegree;
constexpr double kCisShare = 0.05;

/// The residue behind one with this psi.
Backbone next_backbone(const Backbone& from, double psi, bool is_cis, double phi) {
    Backbone next;
    next.n = point_from_internal(from.n, from.ca, from.c, kCN, kCaCN, psi);
    next.ca =
        point_from_internal(from.ca, from.c, next.n, kNCa, kCNCa, is_cis ? 0 : std::numbers::pi);
    next.c = point_from_internal(from.c, next.n, next.ca, kCaC, kNCaC, phi);
    return next;
}

/// A first residue anywhere.
Backbone first_backbone() {
    const Vector n, ca{kNCa, 0, 0};
    return {n, ca, ca + kCaC * Vector{-std::cos(kNCaC), std::sin(kNCaC), 0}};
}

std::pair<double, double> draw(std::string_view name, std::string_view next, Random& random) {
    std::pair<double, double> drawn = draw_torsions(residue_class(name, next), random);
    if (name == "PRO") drawn.first = kProlinePhi;
    return drawn;
}

constexpr double kMinCa = 4.0;       // angstrom
constexpr Index kMaxMissing = 5000;  // residues of a chain
constexpr Index kDraws = 100;

bool is_terminal_oxygen(const std::string& name) {
    return name == "OXT" || name == "OT2" || name == "OC2";
}

/// Neighbouring letters [first, last) of a chain without residues, and the residues next to them.
struct Segment {
    std::size_t chain = 0;  ///< of the matched ones
    std::size_t first = 0, last = 0;
    const PeptideResidue* before = nullptr;  ///< null at the N terminus
    const PeptideResidue* behind = nullptr;  ///< null at the C terminus
    BuiltSegment built = {};

    bool is_inner() const { return before != nullptr && behind != nullptr; }
};

Index close_pairs(const std::vector<Vector>& one, const std::vector<Vector>& other) {
    Index pairs = 0;
    for (const Vector& a : one)
        for (const Vector& b : other) {
            const Vector apart = a - b;
            pairs += dot(apart, apart) < kMinCa * kMinCa;
        }
    return pairs;
}

class Completion {
public:
    Completion(const HeavyAtoms& given, const std::filesystem::path& file, std::uint64_t seed)
        : topology_(*given.topology), seed_(seed), at_(positions_of(given.xyz)) {
        molecules_ = find_molecules(topology_);
        if (topology_.atoms.empty()) molecules_.chains.push_back({"A", {}});
        matched_ = match_sequences(molecules_, topology_, at_, file, result_.notes);
        for (std::size_t chain = 0; chain < matched_.size(); ++chain) find_segments(chain);
    }

    CompletedStructure run(const std::vector<std::vector<ResidueRange>>& groups) {
        std::set<const PeptideResidue*> starts;
        std::vector<Index> ends;
        for (const Segment& segment : segments_) {
            starts.insert(segment.behind);
            if (segment.is_inner())
                ends.insert(ends.end(), {segment.before->ca, segment.behind->ca});
        }
        units_.emplace(molecules_, topology_, at_, starts);
        units_->join(groups);
        units_->join_loose(ends);
        for (std::size_t n = 0; n < segments_.size(); ++n) build(n);
        move_units();
        write();
        describe();
        return std::move(result_);
    }

    /// Residues that are built between two units.
    struct UnitBridge {
        Index before = 0, behind = 0;  ///< CA atoms of the residues next to them
        Transform across;              ///< takes positions behind to the frame in front
    };

    /// Each atom of a structure is in one unit: a domain between missing residues, a chain, or
    /// another molecule.
    class DomainUnits {
    public:
        /// `starts`: residues with missing ones in front. All arguments must outlive the object;
        /// positions: [atom].
        DomainUnits(const Molecules& molecules, const Topology& topology,
                    const std::vector<Vector>& positions,
                    const std::set<const PeptideResidue*>& starts)
            : molecules_(molecules),
              topology_(topology),
              at_(positions),
              unit_of_(positions.size(), -1) {
            const auto assign = [&](Index atom) {
                if (atom >= 0) unit_of_[atom] = units_ - 1;
            };
            for (const PeptideChain& chain : molecules.chains) {
                ++units_;
                for (const PeptideResidue& residue : chain.residues) {
                    if (&residue != &chain.residues.front() && starts.count(&residue) > 0) ++units_;
                    for (const Index atom : {residue.n, residue.ca, residue.c}) assign(atom);
                    for (const Index atom : residue.others) assign(atom);
                }
            }
            for (const OtherMolecule& molecule : molecules.others) {
                ++units_;
                for (const Index atom : molecule.atoms) assign(atom);
            }
        }

        /// Joins the units of each group's residues, and units with disulfide bonds between them.
        void join(const std::vector<std::vector<ResidueRange>>& groups) {
            for (const std::vector<ResidueRange>& group : groups) {
                std::optional<Index> first;
                for (const ResidueRange& range : group) {
                    const ResiduePosition found = locate_range(molecules_, topology_, range);
                    for (std::size_t n = found.first; n <= found.last; ++n) {
                        const Index atom = molecules_.chains[found.chain].residues[n].ca;
                        if (!first) first = atom;
                        join(of(*first), of(atom));
                    }
                }
            }
            for (const auto& [a, b] : disulfide_bonds(topology_, at_)) join(of(a), of(b));
        }

        /// Joins units at no bridge to the one that they touch most, else to the nearest. `ends`:
        /// CA atoms at bridges.
        void join_loose(const std::vector<Index>& ends) {
            if (ends.empty()) return;
            std::vector<std::vector<Index>> atoms(static_cast<std::size_t>(units_));
            for (Index atom = 0; atom < topology_.atom_count(); ++atom)
                atoms[of(atom)].push_back(atom);
            std::set<Index> domains;
            for (const Index end : ends) domains.insert(of(end));
            for (Index loose = 0; loose < units_; ++loose) {
                const std::vector<Index>& own = atoms[loose];
                if (domains.count(loose) > 0 || own.empty()) continue;
                std::optional<std::pair<Contacts, Index>> best;
                for (const Index domain : domains) {
                    const std::pair found(contacts(own, atoms[domain]), domain);
                    if (!best || found.first > best->first) best = found;
                }
                join(best->second, loose);
            }
        }

        Index of(Index atom) const { return unit_of_[atom]; }
        /// Moves units along the bridges; the largest units rest. Returns a bridge that would close
        /// a loop.
        std::optional<std::size_t> move(const std::vector<UnitBridge>& bridges) {
            transforms_.assign(static_cast<std::size_t>(units_), std::nullopt);
            std::vector<std::uint8_t> is_used(bridges.size());
            for (const std::size_t root : largest_first()) {
                if (transforms_[root]) continue;
                transforms_[root] = Transform();
                for (bool has_changed = true; has_changed;) {
                    has_changed = false;
                    for (std::size_t n = 0; n < bridges.size(); ++n) {
                        std::optional<Transform>&before = transforms_[of(bridges[n].before)],
                        &behind = transforms_[of(bridges[n].behind)];
                        if (is_used[n] != 0 || (!before && !behind)) continue;
                        if (before && behind) return n;
                        if (before)
                            behind = *before * bridges[n].across;
                        else
                            before = *behind * inverse(bridges[n].across);
                        is_used[n] = 1;
                        has_changed = true;
                    }
                }
            }
            return std::nullopt;
        }

        /// How an atom moves; call move() before.
        const Transform& transform(Index atom) const { return *transforms_[of(atom)]; }

    private:
        void join(Index one, Index other) {
            std::replace(unit_of_.begin(), unit_of_.end(), other, one);
        }

        struct Contacts {
            Index close = 0;
            double minus_distance = 0;
            bool operator>(const Contacts& other) const {
                return std::pair(close, minus_distance) >
                       std::pair(other.close, other.minus_distance);
            }
        };
        Contacts contacts(const std::vector<Index>& one, const std::vector<Index>& other) const {
            Contacts found{0, -std::numeric_limits<double>::infinity()};
            for (const Index a : one)
                for (const Index b : other) {
                    const double apart = distance(at_[a], at_[b]);
                    if (apart < kContact) ++found.close;
                    found.minus_distance = std::max(found.minus_distance, -apart);
                }
            return found;
        }

        std::vector<std::size_t> largest_first() const {
            std::vector<Index> sizes(static_cast<std::size_t>(units_));
            for (const Index unit : unit_of_) ++sizes[unit];
            std::vector<std::size_t> order(sizes.size());
            std::iota(order.begin(), order.end(), std::size_t{0});
            std::stable_sort(order.begin(), order.end(),
                             [&](std::size_t a, std::size_t b) { return sizes[a] > sizes[b]; });
            return order;
        }

        const Molecules& molecules_;
        const Topology& topology_;
        const std::vector<Vector>& at_;
        std::vector<Index> unit_of_;  ///< [atom]
        Index units_ = 0;
        std::vector<std::optional<Transform>> transforms_;  ///< [unit]
    };

private:
    [[noreturn]] void fail(const std::string& text) const {
        throw InputError(topology_.source.string(), 0, text);
    }
    const Vector& at(Index atom) const { return at_[atom]; }
    const std::string& name_of(Index atom) const { return topology_.atoms[atom].name; }
    const PeptideChain& chain_of(const SequencedChain& chain) const {
        return molecules_.chains[chain.chain];
    }
    const Topology::Residue& residue_of(const PeptideResidue& residue) const {
        return topology_.residues[residue.residue];
    }
    /// "A:285-301" of letters [first, last).
    ResidueRange range(std::size_t chain, std::size_t first, std::size_t last) const {
        const SequencedChain& one = matched_[chain];
        return {chain_of(one).name, one.number(first), one.number(last - 1)};
    }
    ResidueRange range(const Segment& segment) const {
        return range(segment.chain, segment.first, segment.last);
    }

    void find_segments(std::size_t number) {
        const SequencedChain& chain = matched_[number];
        if (chain.missing() > kMaxMissing)
            fail(fmt::format("expected at most {} missing residues in chain '{}', found {}",
                             kMaxMissing, chain_of(chain).name, chain.missing()));
        const std::vector<PeptideResidue>& residues = chain_of(chain).residues;
        const auto residue = [&](std::size_t at) { return &residues[chain.residues[at]]; };
        for (std::size_t n = 0; n < chain.residues.size();) {
            if (chain.residues[n] >= 0) {
                ++n;
                continue;
            }
            Segment segment{.chain = number, .first = n};
            while (n < chain.residues.size() && chain.residues[n] < 0) check_letter(chain, n++);
            segment.last = n;
            if (segment.first > 0) segment.before = residue(segment.first - 1);
            if (n < chain.residues.size()) segment.behind = residue(n);
            segments_.push_back(std::move(segment));
        }
    }

    void check_letter(const SequencedChain& chain, std::size_t at) const {
        if (amino_acid_name(chain.letters[at]).empty())
            fail(fmt::format(
                "expected an amino acid for missing residue {} of chain '{}', found "
                "letter '{}' in sequence '{}'",
                chain.number(at), chain_of(chain).name, chain.letters[at], chain.sequence));
    }

    std::optional<SegmentEnd> end_of(const PeptideResidue* residue, const Segment& segment) const {
        if (residue == nullptr) return std::nullopt;
        if (residue->n < 0 || residue->c < 0)
            fail(
                fmt::format("expected N, CA and C of {} next to the missing residues {}, found it "
                            "without one",
                            residue_label(residue_of(*residue)), range(segment).text()));
        SegmentEnd end{
            residue_of(*residue).name, {at(residue->n), at(residue->ca), at(residue->c)}, {}};
        for (const Index atom : residue->others) {
            if (name_of(atom) == "O" || name_of(atom) == "OT1") end.o = at(atom);
        }
        return end;
    }

    /// CA atoms of the unit that a segment begins or ends at.
    std::vector<Vector> ca_atoms(const PeptideResidue* end) {
        std::vector<Vector> found;
        if (end == nullptr) return found;
        for (const PeptideChain& chain : molecules_.chains)
            for (const PeptideResidue& residue : chain.residues)
                if (units_->of(residue.ca) == units_->of(end->ca)) found.push_back(at(residue.ca));
        return found;
    }

    void build(std::size_t number) {
        Segment& segment = segments_[number];
        std::vector<std::string> names;
        for (std::size_t n = segment.first; n < segment.last; ++n)
            names.emplace_back(amino_acid_name(matched_[segment.chain].letters[n]));
        const std::optional<SegmentEnd> before = end_of(segment.before, segment),
                                        behind = end_of(segment.behind, segment);
        const std::vector<Vector> in_front = ca_atoms(segment.before),
                                  last = ca_atoms(segment.behind);
        Index fewest = std::numeric_limits<Index>::max();
        // Chain neighbours are always close, so they are not counted.
        const Index bonds =
            static_cast<Index>(names.size()) - 1 + (before ? 1 : 0) + (behind ? 1 : 0);
        for (Index draw = 0; draw < kDraws && fewest > bonds; ++draw) {
            Random random(seed_, static_cast<Index>(number), draw, Random::kBuild);
            BuiltSegment built = build_segment(names, before, behind, random);
            std::vector<Vector> own, moved;
            for (const BuiltResidue& residue : built.residues) own.push_back(residue.backbone.ca);
            for (const Vector& ca : last) moved.push_back(built.behind(ca));
            // Each pair of `own` counts twice, and each atom with itself.
            const Index pairs = close_pairs(in_front, own) + close_pairs(in_front, moved) +
                                close_pairs(own, moved) +
                                (close_pairs(own, own) - static_cast<Index>(own.size())) / 2;
            if (pairs >= fewest) continue;
            fewest = pairs;
            segment.built = std::move(built);
        }
    }

    void move_units() {
        std::vector<UnitBridge> bridges;
        std::vector<const Segment*> of_bridge;
        for (const Segment& segment : segments_) {
            if (!segment.is_inner()) continue;
            bridges.push_back({segment.before->ca, segment.behind->ca, segment.built.behind});
            of_bridge.push_back(&segment);
        }
        if (const auto closing = units_->move(bridges))
            fail(fmt::format(
                "expected missing residues between domains that can move, found {} in a closed "
                "loop: a group or disulfide bond joins what is on both sides",
                range(*of_bridge[*closing]).text()));
    }

    void add_residue(const std::string& name, int number, char insertion,
                     const std::string& chain) {
        completed_->residues.push_back({name, number, insertion, chain});
    }
    void add_atom(Topology::Atom atom, Vector position, Index unit = -1) {
        atom.residue = static_cast<Index>(completed_->residues.size()) - 1;
        completed_->atoms.push_back(std::move(atom));
        positions_.push_back(position);
        result_.units.push_back(unit);
    }
    void add_given_atom(Index atom) {
        add_atom(topology_.atoms[atom], units_->transform(atom)(at(atom)), units_->of(atom));
    }
    void add_built_atom(std::string_view name, Vector position) {
        const std::string element(name.substr(0, 1));
        add_atom({.name = std::string(name), .element = element, .mass = element_mass(element)},
                 position);
    }

    void write_given(const PeptideResidue& residue, const std::vector<Index>& atoms,
                     bool is_continued) {
        const Topology::Residue& one = residue_of(residue);
        add_residue(one.name, one.number, one.insertion, one.chain);
        for (const Index atom : atoms) {
            if (is_continued && is_terminal_oxygen(name_of(atom))) continue;
            add_given_atom(atom);
        }
    }

    void write_built(const BuiltResidue& residue, int number, const std::string& chain,
                     const Transform& move, Random& random) {
        add_residue(residue.name, number, ' ', chain);
        const Backbone at_end{move(residue.backbone.n), move(residue.backbone.ca),
                              move(residue.backbone.c)};
        add_built_atom("N", at_end.n);
        add_built_atom("CA", at_end.ca);
        add_built_atom("C", at_end.c);
        add_built_atom("O", move(residue.o));
        const ResidueRange label{chain, number, number};
        if (residue.is_cis) cis_.push_back(label.text());
        for (const auto& [name, at] : build_side_chain(residue.name, at_end, random))
            add_built_atom(name, at);
    }

    /// The transform of a segment's built residues; those at an N-terminus are in their own frame.
    Transform move_of(const Segment& segment) {
        if (segment.before != nullptr) return units_->transform(segment.before->ca);
        if (segment.behind == nullptr) return {};
        return units_->transform(segment.behind->ca) * inverse(segment.built.behind);
    }

    void write_chain(std::size_t number, const std::vector<std::vector<Index>>& atoms) {
        const SequencedChain& chain = matched_[number];
        const std::vector<PeptideResidue>& residues = chain_of(chain).residues;
        for (std::size_t n = 0; n < chain.residues.size(); ++n) {
            if (chain.residues[n] >= 0) {
                const PeptideResidue& residue = residues[chain.residues[n]];
                write_given(residue, atoms[residue.residue],
                            n + 1 < chain.residues.size() && chain.residues[n + 1] < 0);
                continue;
            }
            const Segment& segment =
                *std::find_if(segments_.begin(), segments_.end(), [&](const Segment& one) {
                    return one.chain == number && n >= one.first && n < one.last;
                });
            Random random(seed_, static_cast<Index>(number), static_cast<Index>(kDraws + n),
                          Random::kBuild);
            write_built(segment.built.residues[n - segment.first], chain.number(n),
                        chain_of(chain).name, move_of(segment), random);
        }
    }

    void write() {
        completed_ = std::make_shared<Topology>();
        completed_->source = topology_.source;
        completed_->named = topology_.named;
        const std::vector<std::vector<Index>> atoms = atoms_by_residue(topology_);
        std::map<Index, std::size_t> chain_at;  // by residues of the topology
        for (std::size_t n = 0; n < matched_.size(); ++n)
            for (const PeptideResidue& residue : chain_of(matched_[n]).residues)
                chain_at[residue.residue] = n;
        std::vector<std::uint8_t> is_written(matched_.size());
        for (std::size_t n = 0; n < atoms.size(); ++n) {
            if (const auto found = chain_at.find(static_cast<Index>(n)); found != chain_at.end()) {
                if (is_written[found->second]++ == 0) write_chain(found->second, atoms);
                continue;
            }
            const Topology::Residue& one = topology_.residues[n];
            add_residue(one.name, one.number, one.insertion, one.chain);
            for (const Index atom : atoms[n]) add_given_atom(atom);
        }
        if (atoms.empty()) write_chain(0, atoms);
        result_.heavy.xyz = Array<float, 2>(Index{3}, static_cast<Index>(positions_.size()));
        for (std::size_t n = 0; n < positions_.size(); ++n) {
            const auto atom = static_cast<Index>(n);
            result_.heavy.xyz(0, atom) = static_cast<float>(positions_[n].x);
            result_.heavy.xyz(1, atom) = static_cast<float>(positions_[n].y);
            result_.heavy.xyz(2, atom) = static_cast<float>(positions_[n].z);
        }
        result_.heavy.topology = completed_;
    }

    void describe() {
        for (const Segment& segment : segments_) {
            const std::size_t behind = segment.behind == nullptr ? 0 : 1;
            result_.built.push_back(range(segment).text());
            result_.built_residues += static_cast<Index>(segment.last - segment.first);
            result_.linkers.push_back(range(segment.chain, segment.first, segment.last + behind));
            if (segment.built.is_cis_after_segment)
                cis_.push_back(residue_label(residue_of(*segment.behind)));
        }
        Notes& notes = result_.notes;
        if (segments_.empty()) {
            notes.push_back(
                {NoteKind::residues, "no residues of the sequences are missing in the structure"});
            return;
        }
        if (topology_.atoms.empty())
            notes.push_back({NoteKind::residues,
                             fmt::format("without a structure all {} residues of '{}' are one "
                                         "linker, chain 'A'",
                                         result_.built_residues, matched_.front().sequence)});
        else
            notes.push_back(
                {NoteKind::residues,
                 fmt::format("built {} missing residues: {}; linkers also have the residue "
                             "behind them, whose phi "
                             "the structure lacks",
                             result_.built_residues, fmt::join(result_.built, ", "))});
        if (!cis_.empty())
            notes.push_back(
                {NoteKind::residues, fmt::format("cis prolines: {}", fmt::join(cis_, ", "))});
    }

    const Topology& topology_;
    std::uint64_t seed_;
    std::vector<Vector> at_;  ///< [atom], as given
    Molecules molecules_;
    std::vector<SequencedChain> matched_;
    std::vector<Segment> segments_;
    std::optional<DomainUnits> units_;
    std::shared_ptr<Topology> completed_;
    std::vector<Vector> positions_;  ///< [atom of completed_]
    std::vector<std::string> cis_;
    CompletedStructure result_;
};

}  // namespace

BuiltSegment build_segment(const std::vector<std::string>& names,
                           const std::optional<SegmentEnd>& before,
                           const std::optional<SegmentEnd>& behind, Random& random) {
    BuiltSegment built;
    const auto next_name = [&](std::size_t n) -> std::string_view {
        if (n + 1 < names.size()) return names[n + 1];
        return behind ? std::string_view(behind->name) : std::string_view();
    };
    const auto is_cis = [&](std::string_view name) {
        return name == "PRO" && random.uniform() < kCisShare;
    };
    std::optional<Backbone> last;
    double psi = 0;
    if (before) {
        last = before->backbone;
        // O lies opposite to the next N.
        psi = before->o ? dihedral_angle(last->n, last->ca, last->c, *before->o) + std::numbers::pi
                        : draw(before->name, names.front(), random).second;
    }
    for (std::size_t n = 0; n < names.size(); ++n) {
        const bool cis = last && is_cis(names[n]);
        const auto [phi, next_psi] = draw(names[n], next_name(n), random);
        const Backbone at = last ? next_backbone(*last, psi, cis, phi) : first_backbone();
        built.residues.push_back(
            {names[n], at,
             point_from_internal(at.n, at.ca, at.c, kCO, kCaCO, next_psi + std::numbers::pi), cis});
        last = at;
        psi = next_psi;
    }
    if (behind) {
        built.is_cis_after_segment = is_cis(behind->name);
        const double phi = draw(behind->name, {}, random).first;
        built.behind = next_backbone(*last, psi, built.is_cis_after_segment, phi).frame() *
                       inverse(behind->backbone.frame());
    }
    return built;
}

CompletedStructure build_missing_residues(const HeavyAtoms& given,
                                          const std::filesystem::path& file,
                                          const std::vector<std::vector<ResidueRange>>& groups,
                                          std::uint64_t seed) {
    return Completion(given, file, seed).run(groups);
}

}  // namespace pleat::refine

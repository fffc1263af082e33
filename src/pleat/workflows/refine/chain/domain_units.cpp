// Domain units: numbered, joined, and moved along bridges.
#include "pleat/workflows/refine/chain/domain_units.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace pleat::refine {

namespace {

constexpr double kMaxDisulfide = 2.5, kContact = 5.0;  // angstrom

}  // namespace

DomainUnits::DomainUnits(const Molecules& molecules, const Topology& topology,
                         const std::vector<Vector>& positions,
                         const std::set<const PeptideResidue*>& starts)
    : molecules_(molecules), topology_(topology), at_(positions), unit_of_(positions.size(), -1) {
    const auto assign = [&](Index atom) {
        if (atom >= 0) unit_of_[static_cast<std::size_t>(atom)] = units_ - 1;
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

void DomainUnits::join(Index one, Index other) {
    std::replace(unit_of_.begin(), unit_of_.end(), other, one);
}

void DomainUnits::join(const std::vector<std::vector<ResidueRange>>& groups) {
    for (const std::vector<ResidueRange>& group : groups) {
        std::optional<Index> first;
        for (const ResidueRange& range : group) {
            const ResiduePosition found = locate(molecules_, topology_, range);
            for (std::size_t n = found.first; n <= found.last; ++n) {
                const Index atom = molecules_.chains[found.chain].residues[n].ca;
                if (!first) first = atom;
                join(of(*first), of(atom));
            }
        }
    }
    std::vector<Index> sulfurs;
    for (Index atom = 0; atom < topology_.atom_count(); ++atom)
        if (topology_.atoms[static_cast<std::size_t>(atom)].name == "SG") sulfurs.push_back(atom);
    for (const Index a : sulfurs)
        for (const Index b : sulfurs)
            if (a < b && distance(at_[static_cast<std::size_t>(a)],
                                  at_[static_cast<std::size_t>(b)]) <= kMaxDisulfide)
                join(of(a), of(b));
}

void DomainUnits::join_loose(const std::vector<Index>& ends) {
    if (ends.empty()) return;
    std::vector<std::vector<Index>> atoms(static_cast<std::size_t>(units_));
    for (Index atom = 0; atom < topology_.atom_count(); ++atom)
        atoms[static_cast<std::size_t>(of(atom))].push_back(atom);
    std::set<Index> domains;
    for (const Index end : ends) domains.insert(of(end));
    for (Index loose = 0; loose < units_; ++loose) {
        const std::vector<Index>& own = atoms[static_cast<std::size_t>(loose)];
        if (domains.count(loose) > 0 || own.empty()) continue;
        std::optional<std::pair<Contacts, Index>> best;
        for (const Index domain : domains) {
            const std::pair found(contacts(own, atoms[static_cast<std::size_t>(domain)]), domain);
            if (!best || found.first > best->first) best = found;
        }
        join(best->second, loose);
    }
}

DomainUnits::Contacts DomainUnits::contacts(const std::vector<Index>& one,
                                            const std::vector<Index>& other) const {
    Contacts found{0, -std::numeric_limits<double>::infinity()};
    for (const Index a : one)
        for (const Index b : other) {
            const double apart =
                distance(at_[static_cast<std::size_t>(a)], at_[static_cast<std::size_t>(b)]);
            if (apart < kContact) ++found.close;
            found.minus_distance = std::max(found.minus_distance, -apart);
        }
    return found;
}

std::vector<std::size_t> DomainUnits::largest_first() const {
    std::vector<Index> sizes(static_cast<std::size_t>(units_));
    for (const Index unit : unit_of_) ++sizes[static_cast<std::size_t>(unit)];
    std::vector<std::size_t> order(sizes.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return sizes[a] > sizes[b]; });
    return order;
}

std::optional<std::size_t> DomainUnits::move(const std::vector<UnitBridge>& bridges) {
    transforms_.assign(static_cast<std::size_t>(units_), std::nullopt);
    std::vector<std::uint8_t> is_used(bridges.size());
    for (const std::size_t root : largest_first()) {
        if (transforms_[root]) continue;
        transforms_[root] = Transform();
        for (bool has_changed = true; has_changed;) {
            has_changed = false;
            for (std::size_t n = 0; n < bridges.size(); ++n) {
                std::optional<Transform>&before =
                    transforms_[static_cast<std::size_t>(of(bridges[n].before))],
                &behind = transforms_[static_cast<std::size_t>(of(bridges[n].behind))];
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

}  // namespace pleat::refine

// Symmetry: groups of chains and atoms by what the topology says of them.
#include "pleat/rmsd/symmetry/symmetry.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "pleat/bio/structure/equivalent_atoms.h"
#include "pleat/core/error.h"

namespace pleat::rmsd {

namespace {

using Groups = std::vector<std::vector<std::vector<Index>>>;

/// All orders of the sides of a group, beginning with the order of their names.
std::vector<std::vector<Index>> orders_of_sides(const std::vector<std::vector<Index>>& sides) {
    std::vector<std::vector<Index>> orders;
    std::vector<std::size_t> places(sides.size());
    for (std::size_t n = 0; n < places.size(); ++n) places[n] = n;
    do {
        std::vector<Index>& order = orders.emplace_back();
        for (const std::size_t place : places)
            order.insert(order.end(), sides[place].begin(), sides[place].end());
    } while (std::next_permutation(places.begin(), places.end()));
    return orders;
}

Groups orders_of_atoms(const Topology& topology, const AtomSets& sets, std::string& message) {
    Groups groups;
    const auto has = [](const std::vector<Index>& set, Index atom) {
        return set.empty() || std::ranges::binary_search(set, atom);
    };
    std::string kept;
    Index superposed = 0;
    for (const auto& group : equivalent_atoms(topology)) {
        bool is_measured = true, is_superposed = false;
        for (const std::vector<Index>& side : group)
            for (const Index atom : side) {
                is_measured = is_measured && has(sets.measured, atom);
                is_superposed = is_superposed || (!sets.in_place && has(sets.fit, atom));
            }
        is_superposed = is_superposed && !sets.are_one();
        if (!is_measured) continue;
        if (is_superposed && superposed++ == 0) kept = topology.atom_label(group.front().front());
        if (!is_superposed) groups.push_back(orders_of_sides(group));
    }
    if (groups.empty())
        throw InputError(
            topology.source.string(), 0,
            fmt::format("expected equivalent atoms that are measured, as with --select heavy or "
                        "--select backbone --measure heavy, found none{}",
                        kept.empty() ? "" : fmt::format(" but superposed ones such as {}", kept)));
    message = fmt::format(
        "symmetry: {} groups of equivalent atoms may change places{}", groups.size(),
        kept.empty()
            ? ""
            : fmt::format("; {} with superposed atoms, such as {}, may not", superposed, kept));
    return groups;
}

Groups orders_of_ligands(const Topology& all, const std::vector<Index>& read, const AtomSets& sets,
                         std::string& message) {
    std::vector<Index> measured = read;
    if (!sets.measured.empty()) {
        measured.clear();
        for (const Index atom : sets.measured) measured.push_back(read[atom]);
    }
    const auto is_superposed = [&](Index atom) {
        return !sets.in_place && !sets.are_one() &&
               (sets.fit.empty() || std::ranges::binary_search(sets.fit, atom));
    };
    Groups groups;
    std::vector<std::string> names;
    bool has_bonds = false;
    for (LigandOrders& ligand : ligand_orders(all, measured)) {
        has_bonds = has_bonds || ligand.orders.front().size() > 1;
        names.push_back(fmt::format("{} {} automorphism{}{}", ligand.name, ligand.orders.size(),
                                    ligand.orders.size() == 1 ? "" : "s",
                                    ligand.has_found_bonds ? " (bonds by distances)" : ""));
        if (ligand.orders.size() < 2) continue;
        for (std::vector<Index>& order : ligand.orders)
            for (Index& atom : order) atom = std::ranges::lower_bound(read, atom) - read.begin();
        const std::vector<Index>& own = ligand.orders.front();
        if (const auto atom = std::ranges::find_if(own, is_superposed); atom != own.end())
            throw InputError(
                all.source.string(), 0,
                fmt::format("expected ligands that are measured and not superposed, or both by the "
                            "same atoms, found {} of the superposed atoms measured with others",
                            all.atom_label(read[*atom])));
        groups.push_back(std::move(ligand.orders));
    }
    if (!has_bonds)
        throw InputError(
            all.source.string(), 0,
            "expected ligands of several atoms with bonds for --symmetry ligand, found "
            "single atoms only: select the ligand, as with 'ligand and heavy'");
    constexpr std::size_t kNamed = 5;
    const std::size_t count = names.size();
    names.resize(std::min(count, kNamed));
    message = fmt::format("symmetry: {}{}", fmt::join(names, ", "),
                          count > kNamed ? fmt::format(" and {} more", count - kNamed) : "");
    return groups;
}

Groups find_equal_chains(const Topology& topology, const AtomSets& sets, std::string& message) {
    const std::vector<EqualChains> groups =
        topology.named ? equal_chains(topology) : std::vector<EqualChains>();
    if (groups.empty())
        throw InputError(
            topology.source.string(), 0,
            fmt::format("expected chains of the same residues and atoms for --symmetry chains, "
                        "found {}",
                        describe_unequal_chains(topology)));
    AtomSets all = sets;
    std::vector<std::string> names;
    for (const EqualChains& group : groups) {
        all.equal_chains.push_back(group.atoms);
        names.push_back(fmt::format("{}", fmt::join(group.names, " = ")));
    }
    check(all, topology.atom_count());
    message = fmt::format("symmetry: chains {}, {:g} permutations", fmt::join(names, "; "),
                          permutation_count(all));
    return all.equal_chains;
}

}  // namespace

std::span<const std::string_view> names_of(Symmetry) {
    static constexpr std::string_view kNames[] = {"none", "chains", "atoms", "ligand"};
    return kNames;
}

FoundSymmetry find_symmetry(Symmetry symmetry, const Topology& all, const std::vector<Index>& read,
                            const AtomSets& sets) {
    FoundSymmetry found;
    switch (symmetry) {
        case Symmetry::none: break;
        case Symmetry::chains:
            found.equal_chains = find_equal_chains(subset(all, read), sets, found.message);
            break;
        case Symmetry::atoms:
            found.equal_orders = orders_of_atoms(subset(all, read), sets, found.message);
            break;
        case Symmetry::ligand:
            found.equal_orders = orders_of_ligands(all, read, sets, found.message);
            break;
    }
    return found;
}

std::string symmetry_text(Symmetry symmetry, const AtomSets& sets, bool is_relabelled,
                          Index unproven, Index count) {
    const std::string proof =
        unproven == 0 ? "exact"
                      : fmt::format("{} of {} not proven to be the best", unproven, count);
    switch (symmetry) {
        case Symmetry::none: return {};
        case Symmetry::atoms:
            return fmt::format("{}, {} groups of equivalent atoms", proof,
                               sets.equal_orders.size());
        case Symmetry::ligand:
            return fmt::format("{}, {:g} automorphism{}", proof, order_count(sets),
                               order_count(sets) == 1 ? "" : "s");
        case Symmetry::chains: break;
    }
    const double permutations = permutation_count(sets);
    return is_relabelled ? fmt::format("relabelled, each frame by the best of {:g} permutations",
                                       permutations)
                         : fmt::format("{}, {:g} permutations", proof, permutations);
}

}  // namespace pleat::rmsd

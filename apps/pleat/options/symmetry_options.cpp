// Symmetry options: finding equal chains, and giving frames one labelling.
#include "options/symmetry_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "pleat/bio/structure/equal_chains.h"
#include "pleat/bio/structure/equivalent_atoms.h"
#include "pleat/core/error.h"

namespace pleat::program {

std::span<const std::string_view> names_of(Symmetry) {
    static constexpr std::string_view kNames[] = {"none", "chains", "atoms"};
    return kNames;
}

std::vector<Field> fields(SymmetryOptions& options) {
    return {{.name = "symmetry",
             .target = &options.symmetry,
             .help = "chains: chains of the same residues and atoms may take each other's places; "
                     "the RMSD of two frames is the least over all permutations (up to 5040, on "
                     "CPUs); atoms: of measured atoms that are not superposed, the two sides of "
                     "rings of PHE and TYR, the oxygens of ASP and GLU and the like may change "
                     "places"},
            {.name = "relabel",
             .target = &options.relabel,
             .help = "With --symmetry: give the chains of each frame, once, the places that bring "
                     "it closest to the first frame (or to --reference), instead of trying all "
                     "permutations for each pair"}};
}

void check_options(const SymmetryOptions& options, const RunOptions& run) {
    if (options.relabel && !options.has_chains())
        throw UsageError("--relabel needs --symmetry chains");
    if (options.is_of_pairs() && run.device.starts_with("cuda"))
        throw UsageError(
            "GPUs do not try permutations: leave --device out, or take --device "
            "cpu");
}

AtomGroups find_equal_chains(const SymmetryOptions& options, const Coordinates& coordinates,
                             const Context& context) {
    AtomGroups chains;
    if (!options.has_chains()) return chains;
    const Topology& topology = *coordinates.topology;
    const std::vector<EqualChains> groups =
        topology.named ? equal_chains(topology) : std::vector<EqualChains>();
    if (groups.empty())
        throw InputError(
            topology.source.string(), 0,
            fmt::format("expected chains of the same residues and atoms for --symmetry chains, "
                        "found none that are equal among {}",
                        topology.named ? fmt::format("'{}'", fmt::join(topology.chains(), "', '"))
                                       : "atoms without names"));
    rmsd::AtomSets sets;
    std::vector<std::string> names;
    for (const EqualChains& group : groups) {
        sets.equal_chains.push_back(group.atoms);
        names.push_back(fmt::format("{}", fmt::join(group.names, " = ")));
    }
    rmsd::check(sets, topology.atom_count());
    context.message(fmt::format("symmetry: chains {}, {:g} permutations{}", fmt::join(names, "; "),
                                rmsd::permutation_count(sets),
                                options.is_of_pairs() ? ", compared on the CPU" : ""));
    return sets.equal_chains;
}

AtomGroups find_equal_sides(const SymmetryOptions& options, const Topology& topology,
                            const rmsd::AtomSets& sets, const Context& context) {
    AtomGroups groups;
    if (options.symmetry != Symmetry::atoms) return groups;
    const auto has = [](const std::vector<Index>& set, Index atom) {
        return set.empty() || std::binary_search(set.begin(), set.end(), atom);
    };
    std::string kept;
    Index superposed = 0;
    for (auto& group : equivalent_atoms(topology)) {
        bool is_measured = true, is_superposed = false;
        for (const std::vector<Index>& side : group)
            for (const Index atom : side) {
                is_measured = is_measured && has(sets.measured, atom);
                is_superposed = is_superposed || has(sets.fit, atom);
            }
        if (!is_measured) continue;
        if (is_superposed && superposed++ == 0) kept = topology.label(group.front().front());
        if (!is_superposed) groups.push_back(std::move(group));
    }
    if (groups.empty())
        throw InputError(
            topology.source.string(), 0,
            fmt::format("expected equivalent atoms that are measured and not superposed, as with "
                        "--select backbone --measure heavy, found none{}",
                        kept.empty() ? "" : fmt::format(" but superposed ones such as {}", kept)));
    context.message(fmt::format(
        "symmetry: {} groups of equivalent atoms may change places{}", groups.size(),
        kept.empty()
            ? ""
            : fmt::format("; {} with superposed atoms, such as {}, may not", superposed, kept)));
    return groups;
}

void relabel(const SymmetryOptions& options, View<float, 3> xyz, View<const float, 2> reference,
             const std::string& name, const rmsd::AtomSets& sets, const Context& context) {
    if (!options.relabel) return;
    Array<float, 2> copy(reference.extent(0), Index{3});
    std::copy(reference.begin(), reference.end(), copy.begin());
    const Index changed = rmsd::relabel_chains(xyz, copy, sets, context);
    context.message(fmt::format("symmetry: chains changed places in {} of {} frames, towards {}",
                                changed, xyz.extent(0), name));
}

std::string symmetry_line(const SymmetryOptions& options, const AtomGroups& groups) {
    if (options.symmetry == Symmetry::none) return {};
    if (!options.has_chains())
        return fmt::format("symmetry: exact, {} groups of equivalent atoms\n", groups.size());
    rmsd::AtomSets sets;
    sets.equal_chains = groups;
    const double count = rmsd::permutation_count(sets);
    return options.relabel
               ? fmt::format("symmetry: relabelled, each frame by the best of {:g} permutations\n",
                             count)
               : fmt::format("symmetry: exact, {:g} permutations\n", count);
}

void share(AtomGroups& groups, Ranks& ranks) {
    if (ranks.size() == 1) return;
    std::vector<Index> flat;
    for (const auto& group : groups) {
        flat.push_back(static_cast<Index>(group.size()));
        flat.push_back(static_cast<Index>(group.front().size()));
        for (const std::vector<Index>& chain : group)
            flat.insert(flat.end(), chain.begin(), chain.end());
    }
    ranks.share(flat);
    groups.clear();
    for (std::size_t at = 0; at < flat.size();) {
        const auto count = static_cast<std::size_t>(flat[at]),
                   atoms = static_cast<std::size_t>(flat[at + 1]);
        at += 2;
        groups.emplace_back();
        for (std::size_t chain = 0; chain < count; ++chain, at += atoms) {
            const auto begin = flat.begin() + static_cast<std::ptrdiff_t>(at);
            groups.back().emplace_back(begin, begin + static_cast<std::ptrdiff_t>(atoms));
        }
    }
}

}  // namespace pleat::program

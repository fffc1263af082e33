// Symmetry options: finding equal chains and orders of atoms, and giving frames one labelling.
#include "options/symmetry_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "pleat/core/error.h"
#include "pleat/rmsd/measures/permutations.h"

namespace pleat::program {

std::vector<Field> fields(SymmetryOptions& options) {
    return {{.name = "symmetry",
             .target = &options.symmetry,
             .help = "chains: chains of the same residues and atoms may take each other's places; "
                     "the RMSD of two frames is the least over all permutations; atoms: "
                     "the two sides of rings of PHE and TYR, the oxygens of ASP and "
                     "GLU and the like may change places; ligand: so may atoms of a ligand that "
                     "its bonds (SDF, or CONECT of PDB) do not tell apart"},
            {.name = "relabel",
             .target = &options.relabel,
             .help = "With --symmetry chains: give the chains of each frame, once, the places that "
                     "bring it closest to the first frame (of rmsd, to --reference), instead of "
                     "trying all permutations for each pair"},
            {.name = "fit",
             .target = &options.fit,
             .help = "Atoms to superpose, if not those of --select, which are then only measured; "
                     "none: measure frames where they are [default those of --select; with "
                     "--symmetry ligand none]",
             .value_name = "ATOMS|none"}};
}

ComparedAtoms compared_atoms(const SymmetryOptions& options, const std::string& select,
                             const std::string& measure) {
    const std::string& fit = options.fit;
    const std::string& superposed = fit == kNoFit ? measure : fit;
    if (!fit.empty() && !measure.empty() && !select.empty() && select != superposed)
        throw UsageError("give two of --select, --fit and --measure, not all three");
    if (fit == kNoFit || (fit.empty() && options.symmetry == Symmetry::ligand && measure.empty()))
        return {.superposed = {}, .measured = measure.empty() ? select : measure, .in_place = true};
    if (fit.empty()) return {.superposed = select, .measured = measure.empty() ? select : measure};
    return {.superposed = fit, .measured = measure.empty() ? select : measure};
}

void check_options(const SymmetryOptions& options) {
    if (options.relabel && !options.has_chains())
        throw UsageError("--relabel needs --symmetry chains");
}

rmsd::FoundSymmetry find_symmetry(const SymmetryOptions& options, const Topology& all,
                                  const std::vector<Index>& read, const rmsd::AtomSets& sets,
                                  const Context& context) {
    rmsd::FoundSymmetry found = rmsd::find_symmetry(options.symmetry, all, read, sets);
    rmsd::AtomSets tried = sets;
    tried.equal_chains = found.equal_chains;
    tried.equal_orders = found.equal_orders;
    const bool is_searched = options.is_of_pairs() && !rmsd::can_try_all(tried);
    if (!found.message.empty())
        context.message(found.message +
                        (is_searched ? ", too many to try all: searched on the CPU" : ""));
    return found;
}

void relabel(const SymmetryOptions& options, View<float, 3> xyz, View<const float, 2> reference,
             const std::string& name, const rmsd::AtomSets& sets, const Context& context) {
    if (!options.relabel) return;
    Array<float, 2> copy(reference.extent(0), Index{3});
    std::copy(reference.begin(), reference.end(), copy.begin());
    const rmsd::Relabelled done = rmsd::relabel_chains(xyz, copy, sets, context);
    context.message(
        fmt::format("symmetry: chains changed places in {} of {} frames, towards {}{}",
                    done.changed, xyz.extent(0), name,
                    done.unproven == 0
                        ? ""
                        : fmt::format(" (in {} not proven to be the best places)", done.unproven)));
}

std::string symmetry_lines(const SymmetryOptions& options, const rmsd::AtomSets& sets,
                           Index unproven, Index count) {
    const std::string text =
        rmsd::symmetry_text(options.symmetry, sets, options.relabel, unproven, count);
    return fmt::format("{}{}", sets.in_place ? "in place, not superposed\n" : "",
                       text.empty() ? "" : fmt::format("symmetry: {}\n", text));
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

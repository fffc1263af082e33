// lDDT of residues: which of a residue's surroundings in one structure each frame keeps.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "pleat/core/error.h"
#include "pleat/core/hardware/memory.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/core/loops/steps.h"
#include "pleat/rmsd/measures/lddt_block.h"
#include "pleat/rmsd/pairs/pairs_run.h"

namespace pleat::rmsd {

namespace {

template <class Frame>
double distance(const Frame& frame, Index k, Index l) {
    const double x = double{frame(k, 0)} - frame(l, 0), y = double{frame(k, 1)} - frame(l, 1),
                 z = double{frame(k, 2)} - frame(l, 2);
    return std::sqrt(x * x + y * y + z * z);
}

/// A distance of the reference below the radius, and the residues of its atoms.
struct Surrounding {
    Index k, l, residue, other;
    double distance;
};

std::vector<Surrounding> surroundings_of(View<const float, 2> reference, const AtomSets& sets) {
    const std::vector<Index> residues = residues_in_order(sets, reference.extent(0));
    std::vector<Index> atoms = sets.measured;
    for (Index atom = 0; sets.measured.empty() && atom < reference.extent(0); ++atom)
        atoms.push_back(atom);
    std::vector<Surrounding> found;
    for (std::size_t k = 0; k < atoms.size(); ++k)
        for (std::size_t l = k + 1; l < atoms.size(); ++l) {
            if (residues[k] == residues[l]) continue;
            const double expected = distance(reference, atoms[k], atoms[l]);
            if (expected < kInclusionRadius)
                found.push_back({atoms[k], atoms[l], residues[k], residues[l], expected});
        }
    return found;
}

}  // namespace

std::vector<std::int32_t> residues_of(const Topology& topology) {
    if (!topology.named) return {};
    using Identity = std::tuple<std::string, int, char, std::string>;
    std::map<Identity, std::int32_t> numbers;
    std::vector<std::int32_t> of_listed;  // residues as the topology lists them
    for (const Topology::Residue& one : topology.residues)
        of_listed.push_back(numbers
                                .emplace(Identity{one.chain, one.number, one.insertion, one.name},
                                         static_cast<std::int32_t>(numbers.size()))
                                .first->second);
    std::vector<std::int32_t> residues;
    for (const Topology::Atom& atom : topology.atoms)
        residues.push_back(of_listed[static_cast<std::size_t>(atom.residue)]);
    return residues;
}

std::vector<Index> residues_in_order(const AtomSets& sets, Index atoms) {
    std::map<std::int32_t, Index> places;
    std::vector<Index> found;
    const auto add = [&](Index atom) {
        const auto number = sets.residues.empty() ? static_cast<std::int32_t>(atom)
                                                  : sets.residues[static_cast<std::size_t>(atom)];
        found.push_back(places.emplace(number, static_cast<Index>(places.size())).first->second);
    };
    for (const Index atom : sets.measured) add(atom);
    for (Index atom = 0; sets.measured.empty() && atom < atoms; ++atom) add(atom);
    return found;
}

void require_surroundings(View<const float, 2> reference, const AtomSets& sets) {
    if (surroundings_of(reference, sets).empty())
        throw InputError(fmt::format(
            "expected atoms of different residues within {} angstrom of each other in the "
            "reference, found none: lDDT has nothing to compare",
            kInclusionRadius));
}

ResidueLddt residue_lddt(View<const float, 3> xyz, View<const float, 2> reference,
                         const AtomSets& sets, const Context& context) {
    const Index frames = xyz.extent(0);
    const std::vector<Index> residues = residues_in_order(sets, xyz.extent(1));
    const std::vector<Surrounding> pairs = surroundings_of(reference, sets);
    ResidueLddt result;
    const Index count = *std::max_element(residues.begin(), residues.end()) + 1;
    require_memory(4 * frames * count,
                   fmt::format("lDDT of {} residues in {} frames", count, frames),
                   "take fewer frames or atoms");
    result.distances.resize(static_cast<std::size_t>(count));
    for (const Surrounding& pair : pairs) {
        ++result.distances[static_cast<std::size_t>(pair.residue)];
        ++result.distances[static_cast<std::size_t>(pair.other)];
    }
    result.values = Array<float, 2>(frames, count);
    parallel_for_chunks(
        context, "lddt of residues", resolve_threads(context), frames, 1024, [&](Index i, int) {
            std::vector<std::int64_t> missed(static_cast<std::size_t>(count));
            for (const Surrounding& pair : pairs) {
                const double difference =
                    std::fabs(distance(xyz[i], pair.k, pair.l) - pair.distance);
                std::int64_t thresholds = 0;
                for (const double threshold : kLddtThresholds)
                    thresholds += difference < threshold ? 0 : 1;
                missed[static_cast<std::size_t>(pair.residue)] += thresholds;
                missed[static_cast<std::size_t>(pair.other)] += thresholds;
            }
            for (Index r = 0; r < count; ++r) {
                const auto at = static_cast<std::size_t>(r);
                const auto all = static_cast<double>(result.distances[at]);
                result.values(i, r) =
                    all > 0
                        ? static_cast<float>(1.0 - static_cast<double>(missed[at]) / (4.0 * all))
                        : kNoLddt;
            }
        });
    return result;
}

}  // namespace pleat::rmsd

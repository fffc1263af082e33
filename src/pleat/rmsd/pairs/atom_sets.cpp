// Atom sets: what makes no sense is refused before anything is computed.
#include "pleat/rmsd/pairs/atom_sets.h"

#include <fmt/format.h>

#include "pleat/core/error.h"

namespace pleat::rmsd {

namespace {

void check_set(const AtomSets& sets, const std::vector<Index>& set, Index atoms) {
    const std::vector<double>& weights = sets.weights;
    for (const Index atom : set)
        if (atom < 0 || atom >= atoms)
            throw UsageError(fmt::format("expected atoms from 0 to {}, found {}", atoms - 1, atom));
    if (weights.empty()) return;
    double sum = 0.0;
    if (set.empty())
        for (const double weight : weights) sum += weight;
    for (const Index atom : set) sum += weights[static_cast<std::size_t>(atom)];
    if (!(sum > 0)) throw InputError(sets.weights_file, 0, "expected a weight above 0, found none");
}

}  // namespace

void check(const AtomSets& sets, Index atoms) {
    if (!sets.weights.empty() && static_cast<Index>(sets.weights.size()) != atoms)
        throw InputError(sets.weights_file, 0,
                         fmt::format("expected a weight for each of {} atoms, found {}", atoms,
                                     sets.weights.size()));
    for (const double weight : sets.weights)
        if (!(weight >= 0 && weight <= 1e15))
            throw InputError(sets.weights_file, 0,
                             fmt::format("expected weights from 0 to 1e15, found {}", weight));
    check_set(sets, sets.fit, atoms);
    check_set(sets, sets.measured, atoms);
}

}  // namespace pleat::rmsd

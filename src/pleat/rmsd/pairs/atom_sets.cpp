// Atom sets: what makes no sense is refused before anything is computed.
#include "pleat/rmsd/pairs/atom_sets.h"

#include <fmt/format.h>

#include "pleat/core/error.h"

namespace pleat::rmsd {

namespace {

void check_set(const std::vector<Index>& set, const std::vector<double>& weights, Index atoms) {
    for (const Index atom : set)
        if (atom < 0 || atom >= atoms)
            throw InputError(fmt::format("expected atoms from 0 to {}, found {}", atoms - 1, atom));
    if (weights.empty()) return;
    double sum = 0.0;
    if (set.empty())
        for (const double weight : weights) sum += weight;
    for (const Index atom : set) sum += weights[static_cast<std::size_t>(atom)];
    if (!(sum > 0)) throw InputError("expected a weight above 0, found none");
}

}  // namespace

void check(const AtomSets& sets, Index atoms) {
    if (!sets.weights.empty() && static_cast<Index>(sets.weights.size()) != atoms)
        throw InputError(fmt::format("expected a weight for each of {} atoms, found {}", atoms,
                                     sets.weights.size()));
    for (const double weight : sets.weights)
        if (!(weight >= 0 && weight <= 1e15))
            throw InputError(fmt::format("expected weights from 0 to 1e15, found {}", weight));
    check_set(sets.fit, sets.weights, atoms);
    check_set(sets.measured, sets.weights, atoms);
}

}  // namespace pleat::rmsd

// Equal chains: chains of one sequence, which may change places when structures are compared.
#pragma once

#include <string>
#include <vector>

#include "pleat/bio/structure/topology.h"

namespace pleat {

/// Chains that have the same residues and the same atoms, by their names in the order of the file;
/// their numbers may differ.
struct EqualChains {
    std::vector<std::string> names;
    std::vector<std::vector<Index>> atoms;  ///< [chain][atom]: those that correspond in one order
};

/// Groups of at least two chains, by their first chain. Other chains are in no group.
std::vector<EqualChains> equal_chains(const Topology& topology);

/// What messages say of a structure without equal chains: "none that are equal among 'A', 'B'".
std::string describe_unequal_chains(const Topology& topology);

/// The only group of equal chains. Throws InputError if there is none or are several, or if atoms
/// have no names.
EqualChains only_equal_chains(const Topology& topology);

}  // namespace pleat

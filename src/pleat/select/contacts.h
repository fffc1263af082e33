// Contacts: predicted ones laid over the atoms of an ensemble, and which of them a frame forms.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pleat/bio/structure/casp_contacts.h"
#include "pleat/bio/structure/structure.h"
#include "pleat/bio/structure/topology.h"
#include "pleat/core/view.h"

namespace pleat::select {

/// Two residues that are expected in contact, and the atoms between which that is measured.
struct ExpectedContact {
    Index i = 0, j = 0;            ///< residues of the predicted sequence, from 1
    std::string name_i, name_j;    ///< "ALA 52A" of the structure
    Index atom_i = 0, atom_j = 0;  ///< of the topology
    double strength = 0;           ///< probability
};

/// What expected_contacts() found.
struct ContactMap {
    std::vector<ExpectedContact> contacts;  ///< the most probable first
    std::string chain;
    double identity = 0;  ///< of the aligned letters
    Index mapped = 0;     ///< residues of the sequence that have one of the chain
    Index beyond = 0;     ///< pairs among the most probable that the structure has no atoms for
};

/// Of each residue of the chain the index of its CB in the topology, of its CA where there is none,
/// else -1. Chains without a name fit any.
std::vector<Index> contact_atoms(const Chain& chain, const Topology& topology);

/// The `count` most probable pairs at least 6 residues apart, whose sequence is aligned to the
/// chain of `structure` that fits best (map_residues()). InputError: no chain fits, or no pair is
/// left.
ContactMap expected_contacts(const PredictedContacts& predicted, const Structure& structure,
                             const Topology& topology, Index count);

/// Sets marks[c] to 1 where the atoms of contact c are nearer than `cutoff` angstrom in `frame`
/// [axis, atom], else to 0.
void mark_satisfied(View<const float, 2> frame, const std::vector<ExpectedContact>& contacts,
                    double cutoff, std::uint8_t* marks);

}  // namespace pleat::select

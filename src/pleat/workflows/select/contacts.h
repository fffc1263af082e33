// Contacts: predicted contacts placed on the atoms of an ensemble, and which of them a frame forms.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pleat/bio/structure/casp_contacts.h"
#include "pleat/bio/structure/structure.h"
#include "pleat/bio/structure/topology.h"
#include "pleat/core/view.h"
#include "pleat/workflows/select/select.h"

namespace pleat::select {

/// Predicted contacts from a file in CASP's RR format, or from the folder of a run of couplings.
/// Throws InputError.
PredictedContacts read_predicted(const std::string& source);

/// [residue of the chain]: the topology index of its CB atom, or of CA if it has no CB, else -1. A
/// chain without a name matches all chains.
std::vector<Index> contact_atoms(const Chain& chain, const Topology& topology);

/// The `count` most probable pairs at least 6 residues apart, whose sequence is aligned to the
/// chain of `structure` that fits best (map_residues()). Throws InputError if no chain fits or no
/// pair is left.
ExpectedContacts expected_contacts(const PredictedContacts& predicted, const Structure& structure,
                                   const Topology& topology, Index count);

/// Sets marks[c] to 1 if the atoms of contact c are nearer than `cutoff` angstrom in `frame`
/// [axis, atom], else to 0.
void mark_formed(View<const float, 2> frame, const std::vector<ExpectedContact>& contacts,
                 double cutoff, std::uint8_t* marks);

}  // namespace pleat::select

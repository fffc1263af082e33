// Contacts: distances between the residues of a chain, in the columns of an alignment.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "pleat/bio/structure/structure.h"
#include "pleat/core/array.h"

namespace pleat {

/// Which atoms a distance is measured between.
enum class ContactAtoms {
    beta,   ///< proteins: CB, and CA for glycine or if CB is missing (CASP's definition)
    heavy,  ///< the closest pair of atoms other than hydrogen
    sugar,  ///< nucleic acids: C1'
};

/// When two residues are in contact: distance below `cutoff` angstrom.
struct ContactDefinition {
    ContactAtoms atoms = ContactAtoms::beta;
    double cutoff = 8.0;

    /// CB-CB below 8 angstrom for proteins (CASP), heavy atoms below 8 angstrom for nucleic acids.
    static ContactDefinition standard(Chain::Kind kind);
    /// The atoms' usual cut-off: beta 8, heavy 5 (proteins) or 8 (nucleic acids), sugar 12, wide
    /// enough for the two sugars of a base pair (10.5).
    static ContactDefinition usual(ContactAtoms atoms, Chain::Kind kind);
};

/// The names of ContactAtoms in options and files: "cb", "heavy", "sugar".
std::span<const std::string_view> names_of(ContactAtoms);
/// The name of one of them, and the reverse; throws UsageError for any other name.
std::string_view name_of(ContactAtoms atoms);
ContactAtoms parse_contact_atoms(std::string_view name);

/// Distances in angstrom between the residues of every two columns: [column, column], symmetric,
/// diagonal 0. NaN, diagonal included, in rows and columns that have no residue (-1 in `residues`)
/// or whose residue lacks the atom: these pairs can be called neither right nor wrong.
/// Throws UsageError if the atoms do not suit the kind of chain (beta: protein, sugar: nucleic
/// acid).
Array<double, 2> column_distances(const Chain& chain, const std::vector<Index>& residues,
                                  ContactAtoms atoms);

}  // namespace pleat

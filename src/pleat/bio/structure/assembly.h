// Biological assemblies: the copies of chains that a coordinate file describes, and their atoms.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "pleat/bio/structure/topology_gemmi.h"

namespace pleat {

/// A rotation and a translation in angstrom: x' = rows[axis][0..2] . x + rows[axis][3].
struct AssemblyOperation {
    std::array<std::array<double, 4>, 3> rows{};

    bool is_identity() const;
};

/// One assembly that a file describes.
struct Assembly {
    /// Chains, and the motions by each of which they are copied.
    struct Generator {
        std::vector<std::string> chains;  ///< AtomRecord::assembly_chain() of their atoms
        std::vector<AssemblyOperation> motions;
    };

    std::string name;     ///< "1", "PAU"
    std::string details;  ///< how many molecules it has, as the file says: "DIMERIC"; may be empty
    std::vector<Generator> generators;
    std::string problem;  ///< why it cannot be built; empty if it can
};

/// The assemblies that the REMARK 350 records of a PDB file describe.
std::vector<Assembly> pdb_assemblies(const std::vector<std::string>& records);

/// Parses an mmCIF operation expression into products of operation names; the last operation of a
/// product is applied first. "1,3-4" gives {1} {3} {4}, "(P)(1-2)" gives {P, 1} {P, 2}. Empty if
/// the text is invalid or describes more than 10,000 products.
std::vector<std::vector<std::string>> parse_operations(std::string_view expression);

/// The motion that applies `second` first, then `first`.
AssemblyOperation product(const AssemblyOperation& first, const AssemblyOperation& second);

/// The atoms of an assembly, copy after copy. The first copy of a chain keeps its name; further
/// copies are named, ... Throws InputError, naming `file`, for an assembly that cannot be
/// built, has none of the atoms, or has more than 100 million.
std::vector<AtomRecord> assembled_atoms(const std::string& file,
                                        const std::vector<AtomRecord>& atoms,
                                        const Assembly& assembly);

/// Whether an assembly is the atoms as the file lists them.
bool equals_listed_atoms(const Assembly& assembly, const std::vector<AtomRecord>& atoms);

}  // namespace pleat

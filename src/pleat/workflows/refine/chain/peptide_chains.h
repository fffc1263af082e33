// Peptide chains: the residues of each protein chain, and which of them are in linkers.
#pragma once

#include <string>
#include <vector>

#include "pleat/bio/structure/topology.h"
#include "pleat/workflows/refine/chain/geometry.h"
#include "pleat/workflows/refine/chain/residue_ranges.h"

namespace pleat::refine {

/// A residue with a CA atom. Atoms are indices into the topology, -1 where absent.
struct PeptideResidue {
    Index residue = 0;  ///< index into Topology::residues
    Index n = -1, ca = -1, c = -1;
    std::vector<Index> others = {};  ///< all other atoms, CB and O among them
    int linker = -1;                 ///< number of its linker, -1 in a rigid domain
};

/// The residues of one protein chain, in the order of the file.
struct PeptideChain {
    std::string name;
    std::vector<PeptideResidue> residues;
};

/// Atoms and residues that belong to no protein chain: a ligand, or a chain of nucleic acid.
struct OtherMolecule {
    std::string name;
    std::vector<Index> atoms;
};

struct Molecules {
    std::vector<PeptideChain> chains;
    std::vector<OtherMolecule> others;
};

/// Whether C of one residue and N of the next are close enough for a bond; positions: [atom].
bool is_bonded(const PeptideResidue& before, const PeptideResidue& behind,
               const std::vector<Vector>& positions);

/// Sorts atoms into chains and other molecules.
Molecules find_molecules(const Topology& topology);

/// Marks the residues in `linkers`. Throws InputError if a range is absent, overlaps another, or
/// has a gap in or next to it; positions: [atom], angstrom.
void mark_linkers(Molecules& molecules, const Topology& topology,
                  const std::vector<Vector>& positions, const std::vector<ResidueRange>& linkers);

/// The complement: linkers are the residues of the chains that `rigid` names, without those in it.
std::vector<ResidueRange> linkers_between(const Molecules& molecules, const Topology& topology,
                                          const std::vector<ResidueRange>& rigid);

/// The ranges, and of `further` what they do not have. Throws InputError as locate() does.
std::vector<ResidueRange> add_ranges(const Topology& topology, std::vector<ResidueRange> ranges,
                                     const std::vector<ResidueRange>& further);

/// The residue that a range begins with, and the one that it ends with, in a chain. Throws
/// InputError if there is none.
struct ResiduePosition {
    std::size_t chain = 0, first = 0, last = 0;
};
ResiduePosition locate(const Molecules& molecules, const Topology& topology,
                       const ResidueRange& range);

}  // namespace pleat::refine

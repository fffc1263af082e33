// Peptide chains: the chains of amino acids of an ensemble's selection, their residues by ranges,
// and their whole sequences.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pleat/bio/structure/topology.h"
#include "pleat/core/notes.h"
#include "pleat/workflows/refine/chain/geometry.h"

namespace pleat::refine {

/// Consecutive residues of one chain, both ends included.
struct ResidueRange {
    std::string chain;
    int first = 0, last = 0;  ///< the author's numbers
    char first_insertion = ' ', last_insertion = ' ';

    std::string text() const;  ///< "A:289-301"
};

/// Parses `CHAIN:FIRST-LAST,...`. An item without a chain has the chain of the previous item; the
/// first may omit it if there is only one chain. `FIRST` alone is one residue. Throws UsageError,
/// naming `option`, for other text.
std::vector<ResidueRange> parse_ranges(std::string_view text, std::string_view option);

/// The range from one residue to another of the same chain.
ResidueRange range_of(const Topology::Residue& first, const Topology::Residue& last);

/// The ranges as text, separated by commas.
std::string text_of(const std::vector<ResidueRange>& ranges);

/// The name of a residue in messages: "A:52A".
std::string residue_label(const Topology::Residue& residue);

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

std::vector<std::vector<Index>> atoms_by_residue(const Topology& topology);

/// Converts [axis, atom] to the positions of all atoms.
std::vector<Vector> positions_of(View<const float, 2> xyz);

/// Pairs of SG atoms that are near enough for a disulfide bond; positions: [atom].
std::vector<std::pair<Index, Index>> disulfide_bonds(const Topology& topology,
                                                     const std::vector<Vector>& positions);

/// Whether C of one residue and N of the next are close enough for a bond; positions: [atom].
bool is_bonded(const PeptideResidue& before, const PeptideResidue& behind,
               const std::vector<Vector>& positions);

/// Sorts atoms into chains and other molecules.
Molecules find_molecules(const Topology& topology);

/// Marks the residues in `linkers`. Throws InputError if a range is absent, overlaps another, or
/// has a gap in or next to it; positions: [atom], angstrom.
void mark_linkers(Molecules& molecules, const Topology& topology,
                  const std::vector<Vector>& positions, const std::vector<ResidueRange>& linkers);

/// Linkers are all residues of the chains that `rigid` names, except those in `rigid`.
std::vector<ResidueRange> linkers_between(const Topology& topology,
                                          const std::vector<ResidueRange>& rigid);

/// The ranges plus the residues of `further` that they lack. Throws InputError as locate_range().
std::vector<ResidueRange> add_ranges(const Topology& topology, std::vector<ResidueRange> ranges,
                                     const std::vector<ResidueRange>& further);

/// The first and the last residue of a range in a chain. Throws InputError if one does not exist.
struct ResiduePosition {
    std::size_t chain = 0, first = 0, last = 0;
};
ResiduePosition locate_range(const Molecules& molecules, const Topology& topology,
                             const ResidueRange& range);

/// The name of an amino acid's residues, "ALA" for 'A'; empty for other letters.
std::string_view amino_acid_name(char letter);

/// A protein chain with its sequence, along which its residues are numbered.
struct SequencedChain {
    std::size_t chain = 0;  ///< of Molecules
    std::string sequence;   ///< its name
    std::string letters;
    int first_number = 1;         ///< the residue number of the first letter
    std::vector<Index> residues;  ///< [letter]: index into PeptideChain::residues, -1 if missing
    Index missing() const;        ///< how many are
    int number(std::size_t at) const { return first_number + static_cast<int>(at); }
};

/// Reads the sequences (FASTA) and finds that of each chain: numbers of residues must count along
/// it, from any first number, and all residues of the 20 amino acids must have its letters. A chain
/// of fewer than half of the letters of each sequence is left out, with a note. Throws InputError
/// for a chain that almost fits, if none fits, and for neighbours in a sequence without a bond. A
/// topology without atoms has one chain, of the one sequence, of which all residues are missing.
/// `positions`: [atom], angstrom.
std::vector<SequencedChain> match_sequences(const Molecules& molecules, const Topology& topology,
                                            const std::vector<Vector>& positions,
                                            const std::filesystem::path& file, Notes& notes);

}  // namespace pleat::refine

// Chain sequences: the full sequences of a structure's chains, whose residues may be missing.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "pleat/bio/structure/topology.h"
#include "pleat/core/notes.h"
#include "pleat/workflows/refine/chain/peptide_chains.h"

namespace pleat::refine {

/// The name of an amino acid's residues, "ALA" for 'A'; empty for other letters.
std::string_view amino_acid_name(char letter);

/// A protein chain with its sequence, along which the numbers of its residues count.
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
/// for a chain that almost fits, if none fits, and for neighbours in a sequence without a bond.
/// `positions`: [atom], angstrom.
std::vector<SequencedChain> match_sequences(const Molecules& molecules, const Topology& topology,
                                            const std::vector<Vector>& positions,
                                            const std::filesystem::path& file, Notes& notes);

}  // namespace pleat::refine

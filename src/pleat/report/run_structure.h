// Run structure: the chain of a structure file whose residues belong to the columns of a run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pleat/bio/alignment/alignment.h"
#include "pleat/bio/structure/known_structure.h"
#include "pleat/bio/structure/structure.h"
#include "pleat/report/run_files.h"

namespace pleat::report {

/// What a run's tables say about a column.
struct ColumnLabel {
    Index number_in_source = 0;   ///< from 1
    std::string letter;           ///< of the reference row
    std::string residue, number;  ///< "ALA", "52A"; both empty if the column has no residue
};

/// A chain, and the index of its residue for each column; -1 for columns without a residue.
struct AlignedChain {
    Chain chain;
    std::vector<Index> residues;
    std::string file;  ///< name to show
};

/// Reads the structure file that `choice` (FILE[:CHAIN]) names, else the one that the run used, if
/// it is a regular file that still has the hash in the manifest, and returns the chain in which
/// most labels have a residue. Returns nothing, and adds the reason to `notes`, if the labels name
/// no residues or the run's file is missing or has changed. Throws InputError if `choice` cannot be
/// read or has none of the residues.
std::optional<AlignedChain> find_aligned_chain(const RunFolder& run,
                                               const std::vector<ColumnLabel>& labels,
                                               const std::string& choice,
                                               std::vector<std::string>& notes);

/// The chain in the file that `choice` names which is most like a sequence, with the residue of
/// each letter; without `choice`, that of the run. Returns nothing, and adds the reason to `notes`,
/// for several chains and if the run's file is missing, has changed or has no such chain. Throws
/// InputError if `choice` has none, as map_residues().
std::optional<AlignedChain> find_chain_of_sequence(const RunFolder& run, const std::string& letters,
                                                   const Alphabet& alphabet,
                                                   const std::string& choice,
                                                   std::vector<std::string>& notes);

/// A section {"kind": "molecule"}; `values`: numbers of the columns, [{"name", "values"}].
Json molecule_section(const AlignedChain& known, const Json& values);

/// The chain in PDB format as chain A with residues numbered from 1. Of chains with more than 600
/// residues only the backbone and CB atoms.
std::string pdb_text(const Chain& chain);

}  // namespace pleat::report

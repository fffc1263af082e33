// Known chain: the chain of a structure that the columns of a run were laid over.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pleat/bio/structure/contacts.h"
#include "pleat/bio/structure/structure.h"
#include "pleat/report/run_folder.h"

namespace pleat::report {

/// What a run's tables say of a column.
struct ColumnLabel {
    Index place = 0;              ///< in the source, from 1
    std::string letter;           ///< of the reference row
    std::string residue, number;  ///< "ALA", "52A"; empty where it has none
};

/// A chain, and the index of its residue for each column, -1 where there is none.
struct KnownChain {
    Chain chain;
    std::vector<Index> residues;
    std::string file;  ///< name for people
};

/// The structure that `choice` (FILE[:CHAIN]) names, else the one of the run's own --structure
/// where that file still is what it was. The chain is the one that fits most labels. Nothing where
/// the labels name no residues or the file is absent or has changed, which `notes` then says;
/// InputError where `choice` cannot be read or fits no label.
std::optional<KnownChain> find_known_chain(const RunFolder& run,
                                           const std::vector<ColumnLabel>& labels,
                                           const std::string& choice,
                                           std::vector<std::string>& notes);

/// The chain in PDB format, its residues numbered from 1 in the order of the chain, chain A. More
/// than 600 residues: backbone and CB atoms alone.
std::string pdb_text(const Chain& chain);

}  // namespace pleat::report

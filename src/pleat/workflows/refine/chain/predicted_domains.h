// Predicted domains: rigid domains and linkers from the errors that a structure prediction expects.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "pleat/bio/structure/topology.h"
#include "pleat/core/context.h"
#include "pleat/core/notes.h"
#include "pleat/workflows/refine/chain/peptide_chains.h"

namespace pleat::refine {

/// The domains found by --pae, in the form of --linkers and --group.
struct PredictedDomains {
    std::vector<ResidueRange> linkers;
    std::vector<std::vector<ResidueRange>> groups;  ///< domains of several chains
    Notes notes;

    /// "--linkers A:1-6,A:107-210"
    std::string options() const;
};

/// Residues with pLDDT >= 70 (the B factor of CA) are clustered by average linkage while the mean
/// predicted aligned error of pairs in a cluster is at most 5 angstrom. Blocks of at least 10
/// consecutive residues of a cluster are rigid; so is what lies between the blocks of one domain.
/// All else is linkers.
///
/// `file`: JSON of AlphaFold DB (predicted_aligned_error), of ColabFold or of AlphaFold 3 (pae),
/// errors of all residues in the order of the structure; in AlphaFold 3 residues are found by chain
/// and number. Throws InputError for another file, for another number of residues, for B factors
/// that are no pLDDT, and if there is nothing rigid or nothing flexible; Cancelled.
PredictedDomains predicted_domains(const Topology& topology, const std::filesystem::path& file,
                                   const Context& context);

}  // namespace pleat::refine

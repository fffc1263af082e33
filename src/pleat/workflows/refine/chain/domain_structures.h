// Domain structures: those that hold the domains of one protein, as one structure.
#pragma once

#include <string>
#include <vector>

#include "pleat/bio/ensemble/ensemble.h"
#include "pleat/workflows/refine/refine.h"

namespace pleat::refine {

/// The domains of one protein, each from a structure of its own, as one structure whose linkers are
/// missing (build_missing_residues()). Chains of one sequence of `fasta` become one chain, with the
/// name and numbers that the first of them has; other chains keep their names where these are free.
/// Structures have no place relative to one another: they are set far apart. Throws InputError if
/// two have the same residues of a sequence, and as match_sequences() does.
Ensemble join_domains(const std::vector<Ensemble>& structures, const std::string& fasta);

/// Reads what run() refines: the first model of a file, as conformers of one structure have the
/// same residues; or, by join_domains(), the models of a file that hold different domains, and
/// those of several files. With --sequence, which would build domains that are left out, all models
/// are looked at. Throws InputError if models share some of their residues alone, if some are
/// conformers and others domains, if domains come without --sequence or with --group, for a file
/// that is given twice, and for a pipe with --sequence.
Ensemble read_structures(const std::vector<std::string>& sources, const std::string& assembly,
                         const Parameters& parameters);

}  // namespace pleat::refine

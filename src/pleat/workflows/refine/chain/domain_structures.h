// Domain structures: those that hold the domains of one protein, as one structure.
#pragma once

#include <string>
#include <vector>

#include "pleat/bio/ensemble/ensemble.h"
#include "pleat/workflows/refine/refine.h"

namespace pleat::refine {

/// Reads what run() refines: the first model of a file, as conformers of one structure have the
/// same residues; or, by join_domains(), the models of a file that hold different domains, and
/// those of several files. With --sequence, which would build domains that are left out, all models
/// are looked at. `sources` that are its file alone: a frame without atoms. Throws InputError if
/// models share some of their residues alone, if some are conformers and others domains, if domains
/// come without --sequence or with --group, for a file that is given twice, and for a pipe with
/// --sequence.
Ensemble read_structures(const std::vector<std::string>& sources, const std::string& assembly,
                         const Parameters& parameters);

}  // namespace pleat::refine

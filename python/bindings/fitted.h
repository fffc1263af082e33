// Fitted: what pleat.couplings returns, for the bindings that compute with its model.
#pragma once

#include <optional>
#include <string>

#include "pleat/bio/alignment/alignment.h"
#include "pleat/bio/structure/known_structure.h"
#include "pleat/couplings/contacts/base_pairs.h"
#include "pleat/couplings/couplings.h"
#include "pleat/couplings/parts/inter_scores.h"
#include "results.h"

namespace pleat::python {

/// The result of a fit, and what contacts(), warning() and mutants() need besides.
struct Fitted : Described {
    couplings::Result result;
    couplings::Parameters parameters;
    Alignment alignment;     ///< as fitted
    ReferenceRow reference;  ///< the first row, over all columns of the source
    std::string device;
    std::optional<couplings::BasePairs> base_pairs;  ///< of nucleic acids
    std::optional<couplings::ScoredParts> parts;     ///< of several parts
};

ResultColumns columns(const Fitted& fitted);

}  // namespace pleat::python

// Fitted: what pleat.couplings returns, for the bindings that compute with its model.
#pragma once

#include <string>

#include "pleat/bio/alignment/alignment.h"
#include "pleat/bio/structure/known_structure.h"
#include "pleat/couplings/couplings.h"
#include "pleat/couplings/parts/analysis.h"
#include "results.h"

namespace pleat::python {

/// The result of a fit, and the data that contacts(), warning() and mutants() also need.
struct Fitted : Described, couplings::Analysis {
    couplings::Result result;
    couplings::Parameters parameters;
    Alignment alignment;     ///< as fitted
    ReferenceRow reference;  ///< the first row, over all columns of the source
    std::string device;
};

ResultColumns columns(const Fitted& fitted);

}  // namespace pleat::python

// Structures: NumPy coordinates with their topology, in the form that the saxs engine takes.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arrays.h"
#include "pleat/bio/ensemble/ensemble.h"
#include "pleat/core/notes.h"
#include "pleat/saxs/model/model_joining.h"
#include "pleat/saxs/saxs.h"

namespace pleat::python {

/// One ensemble for one call: made with Python's lock, transposed to the engine's order without it.
class Structures {
public:
    /// `xyz` [frame, atom, 3]; `origins` (file, its frame from 0), empty for an array.
    Structures(const Argument<float>& xyz, std::shared_ptr<Topology> topology,
               const std::vector<std::string>& files,
               const std::vector<std::pair<Index, Index>>& origins, const Notes& notes);

    /// Sets the coordinates of `ensemble`, [frame, axis, atom].
    void transpose();

    Argument<float> source;
    View<const float, 3> view;
    Ensemble ensemble;
};

/// The options of pleat.saxs, by field name.
struct SaxsKeywords {
    saxs::Parameters parameters;
    saxs::ModelsAre models_are = saxs::ModelsAre::automatic;

    std::vector<Field> fields();
};

/// What a call computes with.
struct SaxsInput {
    std::vector<Ensemble> ensembles;
    std::optional<saxs::FormFactorTable> form_factors;
    Notes notes;
};
/// Reads form factors from `path` (empty: none) and transposes `components`, whose coordinates it
/// moves from. Throws UsageError, InputError.
SaxsInput saxs_input(const std::vector<Structures*>& components, const std::string& path,
                     const SaxsKeywords& options);

}  // namespace pleat::python

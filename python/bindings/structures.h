// Structures: coordinates of NumPy's with their topology, as the engine of saxs takes them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arrays.h"
#include "pleat/bio/ensemble/ensemble.h"
#include "pleat/saxs/model/form_factors.h"

namespace pleat::python {

/// One ensemble for one call: made with Python's lock, turned to the engine's order without it.
class Structures {
public:
    /// `xyz` [frame, atom, 3]; `origins` (file, frame of it from 0), empty for an array.
    Structures(const Argument<float>& xyz, std::shared_ptr<Topology> topology,
               const std::vector<std::string>& files,
               const std::vector<std::pair<Index, Index>>& origins,
               const std::vector<std::string>& notes);

    /// Sets the coordinates of `ensemble`, [frame, axis, atom].
    void turn();

    Argument<float> source;
    View<const float, 3> view;
    Ensemble ensemble;
};

/// The table of `path` for this model; nothing where `path` is empty. UsageError, InputError.
std::optional<saxs::FormFactorTable> form_factors_of(const std::string& path,
                                                     const std::string& model,
                                                     std::vector<std::string>& notes);

}  // namespace pleat::python

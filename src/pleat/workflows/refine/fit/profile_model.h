// Profile model: the scatterers of a chain model and how they move with its pieces.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "pleat/core/array.h"
#include "pleat/core/context.h"
#include "pleat/saxs/debye/debye.h"
#include "pleat/saxs/session/session_sums.h"
#include "pleat/workflows/refine/chain/chain_model.h"

namespace pleat::refine {

/// Two beads per residue and sites of the hydration layer. The sites are found once, in an open
/// conformation, and move with their atoms, so that a conformation has one profile.
struct ProfileModel {
    /// The atoms of a scatterer in one piece, at their centre in the start structure.
    struct Share {
        Index scatterer = 0, piece = 0;
        Vector centre;
        double weight = 1;  ///< mass divided by the scatterer's
    };

    saxs::Model model;  ///< channels: net amplitudes, hydration
    Index beads = 0, sites = 0;
    Array<float, 2> scales;            ///< [row of scales, scatterer]
    std::vector<std::int32_t> bodies;  ///< [scatterer]
    std::vector<Share> shares;         ///< by scatterer
    /// With a GPU: what computes the profiles of all conformations there.
    std::shared_ptr<saxs::SharedGpu> gpu;

    /// Positions [axis, scatterer] in a conformation.
    void write(const Conformation& conformation, View<float, 2> positions) const;
};

/// `open`: the conformation in which the hydration layer is found. Throws InputError for residues
/// without beads.
ProfileModel make_profile_model(const ChainModel& chain, const Conformation& open,
                                const std::vector<double>& q, const Context& context);

}  // namespace pleat::refine

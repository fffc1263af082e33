// Profile model: the scatterers of a chain model and how they move with its pieces.
#pragma once

#include <cstdint>
#include <vector>

#include "pleat/core/array.h"
#include "pleat/core/context.h"
#include "pleat/saxs/debye/debye.h"
#include "pleat/saxs/model/scatterers.h"
#include "pleat/workflows/refine/chain/chain_model.h"

namespace pleat::refine {

/// Two beads per residue and sites of the hydration layer. The sites are found once, in an open
/// conformation, and move with their atoms, so that a conformation has one profile.
struct ProfileModel {
    saxs::Model model;  ///< channels: net amplitudes, hydration
    saxs::Scatterers scatterers;
    Array<float, 2> scales;            ///< [1, scatterer]
    std::vector<std::int32_t> bodies;  ///< [scatterer]
    std::vector<Vector> sites;         ///< [site]: position in the start structure of its piece
    std::vector<Index> site_pieces;    ///< [site]

    /// Positions [axis, scatterer] in a conformation.
    void write(const Conformation& conformation, Array<float, 2>& frame,
               View<float, 2> positions) const;
};

/// `open`: the conformation in which the hydration layer is found. Throws InputError for residues
/// without beads.
ProfileModel make_profile_model(const ChainModel& chain, const Conformation& open,
                                const std::vector<double>& q, const Context& context);

}  // namespace pleat::refine

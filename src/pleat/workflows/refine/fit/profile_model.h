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

    /// Scatterers, and their places in the start structure.
    struct PieceScatterers {
        std::vector<Index> scatterers;
        Coordinates places;

        /// Writes their places after a move of the piece.
        void write(const Transform& move, float* x, float* y, float* z) const {
            write_moved(move, places, 0, scatterers.size(), x, y, z);
        }
    };

    saxs::Model model;  ///< channels: net amplitudes, hydration
    Index beads = 0, sites = 0;
    Array<float, 2> scales;                 ///< [row of scales, scatterer]
    std::vector<std::int32_t> bodies;       ///< [scatterer]
    std::vector<Share> shares;              ///< by scatterer
    std::vector<PieceScatterers> of_piece;  ///< [piece]: scatterers in that piece alone
    std::vector<std::size_t> mixed;         ///< the first shares of scatterers in several pieces
    /// With a GPU: the object that computes the profiles of all conformations on it.
    std::shared_ptr<saxs::SharedGpu> gpu;

    /// Positions [axis, scatterer] in a conformation.
    void write(const Conformation& conformation, View<float, 2> positions) const;
    /// The position of the scatterer whose shares begin there.
    Vector position(const Conformation& conformation, std::size_t first_share) const {
        const Share& share = shares[first_share];
        Vector at = share.weight * conformation.piece(share.piece)(share.centre);
        for (std::size_t n = first_share + 1;
             n < shares.size() && shares[n].scatterer == share.scatterer; ++n)
            at = at + shares[n].weight * conformation.piece(shares[n].piece)(shares[n].centre);
        return at;
    }
};

/// `open`: the conformation in which the hydration layer is found; `few_moves`: as
/// saxs::make_shared_gpu() has it. Throws InputError for residues without beads.
ProfileModel make_profile_model(const ChainModel& chain, const Conformation& open,
                                const std::vector<double>& q, const Context& context,
                                bool few_moves = false);

}  // namespace pleat::refine

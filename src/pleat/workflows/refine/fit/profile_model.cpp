// Profile model: beads, their bodies, and sites of the hydration layer that move with pieces.
#include "pleat/workflows/refine/fit/profile_model.h"

#include <algorithm>
#include <map>

#include "pleat/saxs/model/form_factors.h"
#include "pleat/saxs/model/scatterer_positions.h"

namespace pleat::refine {

void ProfileModel::write(const Conformation& conformation, Array<float, 2>& frame,
                         View<float, 2> positions) const {
    conformation.write(frame.view(), 0);
    const Index count = scatterers.count();
    Array<float, 2> beads(Index{3}, count);
    saxs::set_centres_of_mass(scatterers, frame.view(), beads.view());
    for (Index axis = 0; axis < 3; ++axis) std::copy_n(&beads(axis, 0), count, &positions(axis, 0));
    for (std::size_t site = 0; site < sites.size(); ++site) {
        const Vector at = conformation.piece(site_pieces[site])(sites[site]);
        const Index index = count + static_cast<Index>(site);
        positions(0, index) = static_cast<float>(at.x);
        positions(1, index) = static_cast<float>(at.y);
        positions(2, index) = static_cast<float>(at.z);
    }
}

ProfileModel make_profile_model(const ChainModel& chain, const Conformation& open,
                                const std::vector<double>& q, const Context& context) {
    ProfileModel result;
    Array<float, 3> frame(Index{1}, Index{3}, chain.atom_count());
    open.write(frame.view()[0], 0);
    result.scatterers = saxs::make_scatterers(*chain.topology, frame.view()[0],
                                              {.resolution = saxs::Resolution::two_bead});
    const saxs::ScattererPositions found =
        saxs::scatterer_positions(frame.view(), result.scatterers, true, context);
    result.model = saxs::make_model(result.scatterers, nullptr, q, found.sites);
    const Index beads = result.scatterers.count();
    const auto piece_of = [&](Index scatterer) {
        const Index first = result.scatterers.starts[static_cast<std::size_t>(scatterer)];
        return chain.piece_of[static_cast<std::size_t>(
            result.scatterers.members[static_cast<std::size_t>(first)])];
    };
    std::map<Index, std::int32_t> body_of;
    const auto add = [&](Index piece) {
        result.bodies.push_back(
            body_of.try_emplace(piece, static_cast<std::int32_t>(body_of.size())).first->second);
    };
    for (Index scatterer = 0; scatterer < beads; ++scatterer) add(piece_of(scatterer));
    for (std::size_t site = 0; site < found.scatterer_of_site.size(); ++site) {
        const Index piece = piece_of(found.scatterer_of_site[site]),
                    index = beads + static_cast<Index>(site);
        result.site_pieces.push_back(piece);
        result.sites.push_back(inverse(open.piece(piece))(
            Vector{found.xyz(0, 0, index), found.xyz(0, 1, index), found.xyz(0, 2, index)}));
        add(piece);
    }
    result.scales = Array<float, 2>(Index{1}, found.scales.extent(2));
    std::copy_n(&found.scales(0, 0, 0), found.scales.extent(2), &result.scales(0, 0));
    return result;
}

}  // namespace pleat::refine

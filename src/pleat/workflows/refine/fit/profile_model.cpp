// Profile model: beads, their bodies, and sites of the hydration layer that move with pieces.
#include "pleat/workflows/refine/fit/profile_model.h"

#include <algorithm>
#include <map>
#include <utility>

#include "pleat/saxs/model/form_factors.h"
#include "pleat/saxs/model/scatterer_positions.h"

namespace pleat::refine {

namespace {

/// Bodies of whole pieces: pieces of few scatterers share one with the next pieces, since each pair
/// of bodies has a cost of its own. On a GPU that is a row of results which goes to the host.
std::vector<std::int32_t> divide_into_bodies(const std::vector<Index>& piece_of, Index pieces,
                                             bool is_gpu) {
    constexpr Index kMinScatterers = 8;
    const Index wanted =
        std::max<Index>(static_cast<Index>(piece_of.size()) / (is_gpu ? 8 : 64), kMinScatterers);
    std::vector<Index> counts(static_cast<std::size_t>(pieces));
    for (const Index piece : piece_of) ++counts[static_cast<std::size_t>(piece)];
    std::vector<std::int32_t> body_of_piece(counts.size());
    std::int32_t body = 0;
    Index held = 0;
    for (std::size_t piece = 0; piece < counts.size(); ++piece) {
        if (held > 0 && (held >= wanted || counts[piece] >= wanted)) {
            ++body;
            held = 0;
        }
        body_of_piece[piece] = body;
        held += counts[piece];
    }
    std::vector<std::int32_t> bodies;
    bodies.reserve(piece_of.size());
    for (const Index piece : piece_of)
        bodies.push_back(body_of_piece[static_cast<std::size_t>(piece)]);
    return bodies;
}

/// The atoms of one scatterer, by piece.
void add_shares(const ChainModel& chain, const saxs::Scatterers& scatterers, Index scatterer,
                std::vector<ProfileModel::Share>& shares) {
    std::map<Index, std::pair<double, Vector>> by_piece;  // mass, and its sum of positions
    double mass = 0;
    for (Index m = scatterers.starts[static_cast<std::size_t>(scatterer)];
         m < scatterers.starts[static_cast<std::size_t>(scatterer) + 1]; ++m) {
        const auto member = static_cast<std::size_t>(m);
        const auto atom = static_cast<std::size_t>(scatterers.members[member]);
        auto& [its_mass, sum] = by_piece[chain.piece_of[atom]];
        its_mass += scatterers.masses[member];
        sum = sum + scatterers.masses[member] * chain.start[atom];
        mass += scatterers.masses[member];
    }
    for (const auto& [piece, of_piece] : by_piece)
        shares.push_back(
            {scatterer, piece, (1 / of_piece.first) * of_piece.second, of_piece.first / mass});
}

/// By piece, where all of a scatterer is in one.
void divide_shares(Index pieces, ProfileModel& model) {
    model.of_piece.resize(static_cast<std::size_t>(pieces));
    const std::vector<ProfileModel::Share>& shares = model.shares;
    for (std::size_t first = 0; first < shares.size();) {
        std::size_t last = first + 1;
        while (last < shares.size() && shares[last].scatterer == shares[first].scatterer) ++last;
        const auto& [scatterer, piece, centre, weight] = shares[first];
        if (last == first + 1) {
            ProfileModel::PieceScatterers& of = model.of_piece[static_cast<std::size_t>(piece)];
            of.scatterers.push_back(scatterer);
            of.places.push_back(centre);
        } else {
            model.mixed.push_back(first);
        }
        first = last;
    }
}

}  // namespace

void ProfileModel::write(const Conformation& conformation, View<float, 2> positions) const {
    std::vector<float> x, y, z;
    for (std::size_t piece = 0; piece < of_piece.size(); ++piece) {
        const std::vector<Index>& scatterers = of_piece[piece].scatterers;
        for (std::vector<float>* const to : {&x, &y, &z}) to->resize(scatterers.size());
        of_piece[piece].write(conformation.piece(static_cast<Index>(piece)), x.data(), y.data(),
                              z.data());
        for (std::size_t n = 0; n < scatterers.size(); ++n) {
            positions(0, scatterers[n]) = x[n];
            positions(1, scatterers[n]) = y[n];
            positions(2, scatterers[n]) = z[n];
        }
    }
    for (const std::size_t first : mixed) {
        const Vector at = position(conformation, first);
        const Index scatterer = shares[first].scatterer;
        positions(0, scatterer) = static_cast<float>(at.x);
        positions(1, scatterer) = static_cast<float>(at.y);
        positions(2, scatterer) = static_cast<float>(at.z);
    }
}

ProfileModel make_profile_model(const ChainModel& chain, const Conformation& open,
                                const std::vector<double>& q, const Context& context,
                                bool few_moves) {
    ProfileModel result;
    Array<float, 3> frame(Index{1}, Index{3}, chain.atom_count());
    open.write(frame.view()[0], 0);
    const saxs::Scatterers scatterers = saxs::make_scatterers(
        *chain.topology, frame.view()[0], {.resolution = saxs::Resolution::two_bead});
    const saxs::ScattererPositions found =
        saxs::scatterer_positions(frame.view(), scatterers, true, context);
    result.model = saxs::make_model(scatterers, nullptr, q, found.sites);
    result.beads = scatterers.count();
    result.sites = found.sites;
    std::vector<Index> piece_of;
    for (Index bead = 0; bead < result.beads; ++bead) {
        const std::size_t first = result.shares.size();
        add_shares(chain, scatterers, bead, result.shares);
        piece_of.push_back(result.shares[first].piece);
    }
    for (Index site = 0; site < result.sites; ++site) {
        const Index bead = found.scatterer_of_site[static_cast<std::size_t>(site)],
                    piece = piece_of[static_cast<std::size_t>(bead)], index = result.beads + site;
        const Vector at{found.xyz(0, 0, index), found.xyz(0, 1, index), found.xyz(0, 2, index)};
        result.shares.push_back({index, piece, inverse(open.piece(piece))(at), 1});
        piece_of.push_back(piece);
    }
    divide_shares(chain.piece_count(), result);
    result.bodies = divide_into_bodies(piece_of, chain.piece_count(),
                                       context.device.kind == Device::Kind::cuda);
    // Beads scatter only in the first channel and sites only in the last, so they can share scales.
    result.model.scaled = {1, 2};
    result.scales = Array<float, 2>(Index{1}, found.scales.extent(2));
    std::copy_n(&found.scales(0, 0, 0), found.scales.extent(2), &result.scales(0, 0));
    std::fill_n(&result.scales(0, 0), result.beads, 1.0f);
    if (context.device.kind == Device::Kind::cuda)
        result.gpu =
            saxs::make_shared_gpu(result.model, result.bodies, context.device.index, few_moves);
    return result;
}

}  // namespace pleat::refine

// Curve fit: profiles of moves in batches, and the weights of proposals.
#include "pleat/workflows/refine/fit/curve_fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <numeric>
#include <utility>

#include "pleat/bio/scattering/profile.h"
#include "pleat/core/error.h"
#include "pleat/saxs/fit/fit.h"
#include "pleat/saxs/model/form_factors.h"
#include "pleat/saxs/model/scatterer_positions.h"

namespace pleat::refine {

namespace {

/// Divides pieces into bodies of whole pieces: pieces with few scatterers share a body with the
/// next pieces, because each pair of bodies has a fixed cost; on a GPU it adds a row of results to
/// copy to the host.
std::vector<std::int32_t> divide_into_bodies(const std::vector<Index>& piece_of, Index pieces,
                                             bool is_gpu) {
    constexpr Index kMinScatterers = 24;
    const Index wanted =
        std::max<Index>(static_cast<Index>(piece_of.size()) / (is_gpu ? 8 : 64), kMinScatterers);
    std::vector<Index> counts(static_cast<std::size_t>(pieces));
    for (const Index piece : piece_of) ++counts[piece];
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
    for (const Index piece : piece_of) bodies.push_back(body_of_piece[piece]);
    return bodies;
}

/// The atoms of one scatterer, by piece.
void add_shares(const ChainModel& chain, const saxs::Scatterers& scatterers, Index scatterer,
                std::vector<ProfileModel::Share>& shares) {
    std::map<Index, std::pair<double, Vector>> by_piece;  // mass, and its sum of positions
    double mass = 0;
    for (Index m = scatterers.starts[scatterer];
         m < scatterers.starts[static_cast<std::size_t>(scatterer) + 1]; ++m) {
        const auto atom = static_cast<std::size_t>(scatterers.members[m]);
        auto& [its_mass, sum] = by_piece[chain.piece_of[atom]];
        its_mass += scatterers.masses[m];
        sum = sum + scatterers.masses[m] * chain.start[atom];
        mass += scatterers.masses[m];
    }
    for (const auto& [piece, scatterers_of_piece] : by_piece)
        shares.push_back({scatterer, piece,
                          (1 / scatterers_of_piece.first) * scatterers_of_piece.second,
                          scatterers_of_piece.first / mass});
}

/// Sorted by piece, if all atoms of a scatterer are in one piece.
void divide_shares(Index pieces, ProfileModel& model) {
    model.scatterers_of_piece.resize(static_cast<std::size_t>(pieces));
    const std::vector<ProfileModel::Share>& shares = model.shares;
    for (std::size_t first = 0; first < shares.size();) {
        std::size_t last = first + 1;
        while (last < shares.size() && shares[last].scatterer == shares[first].scatterer) ++last;
        const auto& [scatterer, piece, centre, weight] = shares[first];
        if (last == first + 1) {
            ProfileModel::PieceScatterers& of = model.scatterers_of_piece[piece];
            of.scatterers.push_back(scatterer);
            of.places.push_back(centre);
        } else {
            model.mixed.push_back(first);
        }
        first = last;
    }
}

constexpr Index kOpenDraws = 20;
constexpr int kContrasts = 9;  // values of c2
constexpr Index kMinPoints = 10;
constexpr Index kMinGrid = 26, kMaxGrid = 401;

/// The diagonal in angstrom of a conformation's bounding box.
double extent_of(const Conformation& conformation) {
    Array<float, 2> frame(Index{3}, conformation.model().atom_count());
    conformation.write(frame.view(), 0);
    return saxs::box_diagonal(frame.view());
}

/// The most extended of several conformations drawn from the prior, in which domains cover little
/// of each other's surface.
Conformation open_conformation(const ChainModel& chain, const Moves& moves, std::uint64_t seed) {
    Conformation open(chain), drawn(chain);
    double widest = 0;
    for (Index draw = 0; draw < kOpenDraws; ++draw) {
        drawn.set_angles(find_start(chain, moves, {}, seed, -1 - draw));
        if (const double extent = extent_of(drawn); extent > widest) {
            widest = extent;
            open = drawn;
        }
    }
    return open;
}

}  // namespace

void ProfileModel::write(const Conformation& conformation, View<float, 2> positions) const {
    std::vector<float> x, y, z;
    for (std::size_t piece = 0; piece < scatterers_of_piece.size(); ++piece) {
        const std::vector<Index>& scatterers = scatterers_of_piece[piece].scatterers;
        for (std::vector<float>* const to : {&x, &y, &z}) to->resize(scatterers.size());
        scatterers_of_piece[piece].write(conformation.piece(static_cast<Index>(piece)), x.data(),
                                         y.data(), z.data());
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
                                const std::vector<double>& q, const Context& context) {
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
        const Index bead = found.scatterer_of_site[site], piece = piece_of[bead],
                    index = result.beads + site;
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
        result.gpu = saxs::make_shared_gpu(result.model, result.bodies, context.device.index);
    return result;
}

ProfileBatch::ProfileBatch(const ProfileModel& model, Index conformations, const Device& device)
    : model_(&model),
      xyz_(conformations, Index{3}, model.model.scatterer_count()),
      pieces_(static_cast<std::size_t>(conformations)),
      proposals_(static_cast<std::size_t>(conformations)) {
    context_.threads = 1;  // batches run beside one another
    context_.device = device;
}

saxs::ProfileSession& ProfileBatch::session() {
    if (session_) return *session_;
    Array<float, 3> scales(xyz_.extent(0), model_->scales.extent(0), model_->scales.extent(1));
    for (Index n = 0; n < scales.extent(0); ++n)
        std::copy(model_->scales.begin(), model_->scales.end(), scales.view()[n].data);
    saxs::ProfileSessionOptions options{.refresh = 0};
    if (context_.device.kind == Device::Kind::cuda) options.gpu = model_->gpu;
    return session_.emplace(model_->model, xyz_.view(), scales.view(), model_->bodies, options,
                            context_);
}

void ProfileBatch::start(Index conformation, const Conformation& at) {
    model_->write(at, xyz_.view()[conformation]);
    if (session_) {
        // A new session would take its memory anew, on a GPU while all others wait.
        finish();
        std::vector<Index> all(static_cast<std::size_t>(model_->model.scatterer_count()));
        std::iota(all.begin(), all.end(), Index{0});
        const saxs::Move move{conformation, all, xyz_.view()[conformation]};
        session_->propose({&move, 1});
        session_->accept(conformation);
        session_->refresh(conformation);
    }
    std::vector<Transform>& pieces = pieces_[conformation];
    pieces.clear();
    for (Index piece = 0; piece < at.model().piece_count(); ++piece)
        pieces.push_back(at.piece(piece));
    proposals_[conformation].is_queued = false;
}

void ProfileBatch::propose(Index conformation, const Conformation& proposed) {
    NotedProposal& proposal = proposals_[conformation];
    const std::vector<Transform>& pieces = pieces_[conformation];
    proposal.turns.clear();
    has_moved_.assign(pieces.size(), 0);
    std::size_t count = 0;
    for (std::size_t n = 0; n < pieces.size(); ++n) {
        const Transform& now = proposed.piece(static_cast<Index>(n));
        if (now == pieces[n]) continue;
        has_moved_[n] = 1;
        proposal.turns.emplace_back(n, now);
        count += model_->scatterers_of_piece[n].scatterers.size();
    }
    moved_shares_.clear();
    for (const std::size_t first : model_->mixed) {
        const Index scatterer = model_->shares[first].scatterer;
        for (std::size_t n = first;
             n < model_->shares.size() && model_->shares[n].scatterer == scatterer; ++n) {
            if (has_moved_[model_->shares[n].piece] == 0) continue;
            moved_shares_.push_back(first);
            break;
        }
    }
    count += moved_shares_.size();
    proposal.moved.resize(count);
    proposal.xyz.resize(3 * count);
    Index* moved = proposal.moved.data();
    float *x = proposal.xyz.data(), *y = x + count, *z = y + count;
    for (const auto& [piece, turn] : proposal.turns) {
        const ProfileModel::PieceScatterers& of = model_->scatterers_of_piece[piece];
        if (of.scatterers.empty()) continue;
        of.write(turn, x, y, z);
        moved = std::copy(of.scatterers.begin(), of.scatterers.end(), moved);
        x += of.scatterers.size();
        y += of.scatterers.size();
        z += of.scatterers.size();
    }
    for (const std::size_t first : moved_shares_) {
        const Vector at = model_->position(proposed, first);
        *moved++ = model_->shares[first].scatterer;
        *x++ = static_cast<float>(at.x);
        *y++ = static_cast<float>(at.y);
        *z++ = static_cast<float>(at.z);
    }
    proposal.is_queued = true;
}

void ProfileBatch::begin() {
    moves_.clear();
    for (std::size_t n = 0; n < proposals_.size(); ++n) {
        NotedProposal& proposal = proposals_[n];
        if (!proposal.is_queued) continue;
        proposal.is_queued = false;
        proposal.number_in_call = -1;
        if (proposal.moved.empty()) continue;
        proposal.number_in_call = static_cast<Index>(moves_.size());
        moves_.push_back({static_cast<Index>(n), proposal.moved, proposal.positions()});
    }
    if (moves_.empty()) return;
    session().start(moves_);
    has_begun_computing_ = true;
}

void ProfileBatch::finish() {
    if (has_begun_computing_) computed_profiles_ = session().finish();
    has_begun_computing_ = false;
}

View<const double, 2> ProfileBatch::proposed_profile(Index conformation) {
    const NotedProposal& proposal = proposals_[conformation];
    if (proposal.is_queued) begin();
    finish();
    return proposal.number_in_call < 0 ? profile(conformation)
                                       : computed_profiles_[proposal.number_in_call];
}

View<const double, 2> ProfileBatch::profile(Index conformation) {
    return session().profile(conformation);
}

void ProfileBatch::accept(Index conformation) {
    const NotedProposal& proposal = proposals_[conformation];
    for (const auto& [piece, turn] : proposal.turns) pieces_[conformation][piece] = turn;
    if (proposal.number_in_call >= 0) session().accept(conformation);
}

void ProfileBatch::reject(Index conformation) {
    NotedProposal& proposal = proposals_[conformation];
    if (!proposal.is_queued && proposal.number_in_call >= 0) session().reject(conformation);
    proposal.is_queued = false;
}

CurveTarget::CurveTarget(const ChainModel& chain, std::shared_ptr<ProfileBatch> profiles,
                         Index in_batch, const CurveLikelihood& likelihood)
    : sterics_(chain),
      profiles_(std::move(profiles)),
      likelihood_(&likelihood),
      in_batch_(in_batch) {}

void CurveTarget::start(const Conformation& at) {
    energy_ = allowed_energy(sterics_.overlap(at));
    profiles_->start(in_batch_, at);
    is_known_ = false;
}

bool CurveTarget::prepare(const Conformation& proposed) {
    const OverlapEnergy overlap = sterics_.overlap(proposed);
    if (overlap.hard_pairs > 0) return false;
    pending_energy_ = overlap.energy;
    profiles_->propose(in_batch_, proposed);
    return true;
}

double CurveTarget::prepared_log_weight() {
    pending_log_likelihood_ = likelihood_->log_likelihood(profiles_->proposed_profile(in_batch_));
    return -pending_energy_ + beta_ * pending_log_likelihood_;
}

void CurveTarget::accept() {
    profiles_->accept(in_batch_);
    energy_ = pending_energy_;
    log_likelihood_ = pending_log_likelihood_;
}

double CurveTarget::log_likelihood() {
    if (!is_known_) log_likelihood_ = likelihood_->log_likelihood(profiles_->profile(in_batch_));
    is_known_ = true;
    return log_likelihood_;
}

Index grid_points(double q_max, double extent) {
    // 2.2 points in pi / extent, between which a spline errs by 0.1 % of the intensity at most.
    constexpr double kPointsOfExtent = 0.7;
    return std::clamp<Index>(static_cast<Index>(std::ceil(kPointsOfExtent * q_max * extent)) + 1,
                             kMinGrid, kMaxGrid);
}

CurveFitSetup::CurveFitSetup(const ChainModel& chain, const Moves& moves, const CurveInput& input,
                             const Parameters& parameters, const Context& context)
    : chain_(&chain) {
    if (context.device.kind == Device::Kind::cuda) device_ = context.device;
    const Profile curve = saxs::cut_curve(*input.curve, input.q_max);
    if (static_cast<Index>(curve.size()) < kMinPoints)
        throw InputError(curve.source, 0,
                         fmt::format("expected at least {} points up to q = {}, found {}",
                                     kMinPoints, input.q_max, curve.size()));
    const Conformation open = open_conformation(chain, moves, context.seed);
    const double extent = extent_of(open), last = curve.q.back();
    const Index points = grid_points(last, extent);
    std::vector<double> q;
    for (Index n = 0; n < points; ++n)
        q.push_back(last * static_cast<double>(n) / static_cast<double>(points - 1));
    model_ = make_profile_model(chain, open, q, context);
    LikelihoodOptions options{
        .model_error = parameters.model_error, .correlation = std::numbers::pi / extent, .c2 = {}};
    const int contrasts = input.c2_max > input.c2_min ? kContrasts : 1;
    for (int n = 0; n < contrasts; ++n)
        options.c2.push_back(input.c2_min +
                             (input.c2_max - input.c2_min) * n / std::max(contrasts - 1, 1));
    likelihood_.emplace(curve, q, options);
    notes.push_back({NoteKind::assumption,
                     fmt::format("moves are judged by profiles of {} beads and {} sites of the "
                                 "hydration layer at {} values of "
                                 "q, compared with {} points up to q = {:.4g}",
                                 model_.beads, model_.sites, points, curve.size(), last)});
}

TargetBatch CurveFitSetup::make_targets(Index conformations) const {
    const auto profiles = std::make_shared<ProfileBatch>(model_, conformations, device_);
    TargetBatch targets;
    for (Index n = 0; n < conformations; ++n)
        targets.push_back(std::make_unique<CurveTarget>(*chain_, profiles, n, *likelihood_));
    return targets;
}

}  // namespace pleat::refine

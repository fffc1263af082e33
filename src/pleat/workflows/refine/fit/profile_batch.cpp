// Profile batch: the scatterers that moved, and calls of the session.
#include "pleat/workflows/refine/fit/profile_batch.h"

#include <algorithm>

namespace pleat::refine {

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

void ProfileBatch::copy_positions(const saxs::ProfileSession& from) {
    for (Index n = 0; n < xyz_.extent(0); ++n) {
        const Array<float, 2> accepted = from.positions(n);
        std::copy(accepted.begin(), accepted.end(), xyz_.view()[n].data);
    }
}

void ProfileBatch::start(Index conformation, const Conformation& at) {
    if (session_) copy_positions(*session_);
    session_.reset();
    has_begun_ = false;
    model_->write(at, xyz_.view()[conformation]);
    std::vector<Transform>& pieces = pieces_[static_cast<std::size_t>(conformation)];
    pieces.clear();
    for (Index piece = 0; piece < at.model().piece_count(); ++piece)
        pieces.push_back(at.piece(piece));
    proposals_[static_cast<std::size_t>(conformation)].is_noted = false;
}

void ProfileBatch::propose(Index conformation, const Conformation& proposed) {
    Proposal& proposal = proposals_[static_cast<std::size_t>(conformation)];
    const std::vector<Transform>& pieces = pieces_[static_cast<std::size_t>(conformation)];
    proposal.turns.clear();
    has_moved_.assign(pieces.size(), 0);
    std::size_t count = 0;
    for (std::size_t n = 0; n < pieces.size(); ++n) {
        const Transform& now = proposed.piece(static_cast<Index>(n));
        if (now == pieces[n]) continue;
        has_moved_[n] = 1;
        proposal.turns.emplace_back(n, now);
        count += model_->of_piece[n].scatterers.size();
    }
    mixed_.clear();
    for (const std::size_t first : model_->mixed) {
        const Index scatterer = model_->shares[first].scatterer;
        for (std::size_t n = first;
             n < model_->shares.size() && model_->shares[n].scatterer == scatterer; ++n) {
            if (has_moved_[static_cast<std::size_t>(model_->shares[n].piece)] == 0) continue;
            mixed_.push_back(first);
            break;
        }
    }
    count += mixed_.size();
    proposal.moved.resize(count);
    proposal.xyz.resize(3 * count);
    Index* moved = proposal.moved.data();
    float *x = proposal.xyz.data(), *y = x + count, *z = y + count;
    for (const auto& [piece, turn] : proposal.turns) {
        const ProfileModel::PieceScatterers& of = model_->of_piece[piece];
        if (of.scatterers.empty()) continue;
        of.write(turn, x, y, z);
        moved = std::copy(of.scatterers.begin(), of.scatterers.end(), moved);
        x += of.scatterers.size();
        y += of.scatterers.size();
        z += of.scatterers.size();
    }
    for (const std::size_t first : mixed_) {
        const Vector at = model_->position(proposed, first);
        *moved++ = model_->shares[first].scatterer;
        *x++ = static_cast<float>(at.x);
        *y++ = static_cast<float>(at.y);
        *z++ = static_cast<float>(at.z);
    }
    proposal.is_noted = true;
}

void ProfileBatch::begin() {
    moves_.clear();
    for (std::size_t n = 0; n < proposals_.size(); ++n) {
        Proposal& proposal = proposals_[n];
        if (!proposal.is_noted) continue;
        proposal.is_noted = false;
        proposal.in_call = -1;
        if (proposal.moved.empty()) continue;
        proposal.in_call = static_cast<Index>(moves_.size());
        moves_.push_back({static_cast<Index>(n), proposal.moved, proposal.positions()});
    }
    if (moves_.empty()) return;
    session().start(moves_);
    has_begun_ = true;
}

void ProfileBatch::finish() {
    if (has_begun_) computed_ = session().finish();
    has_begun_ = false;
}

View<const double, 2> ProfileBatch::proposed_profile(Index conformation) {
    const Proposal& proposal = proposals_[static_cast<std::size_t>(conformation)];
    if (proposal.is_noted) begin();
    finish();
    return proposal.in_call < 0 ? profile(conformation) : computed_[proposal.in_call];
}

View<const double, 2> ProfileBatch::profile(Index conformation) {
    return session().profile(conformation);
}

void ProfileBatch::accept(Index conformation) {
    const Proposal& proposal = proposals_[static_cast<std::size_t>(conformation)];
    for (const auto& [piece, turn] : proposal.turns)
        pieces_[static_cast<std::size_t>(conformation)][piece] = turn;
    if (proposal.in_call >= 0) session().accept(conformation);
}

void ProfileBatch::reject(Index conformation) {
    Proposal& proposal = proposals_[static_cast<std::size_t>(conformation)];
    if (!proposal.is_noted && proposal.in_call >= 0) session().reject(conformation);
    proposal.is_noted = false;
}

void ProfileBatch::adopt(Index conformation, const ProfileBatch& from) {
    if (!session_) copy_positions(*from.session_);
    session().adopt(conformation, *from.session_);
    const auto n = static_cast<std::size_t>(conformation);
    pieces_[n] = from.pieces_[n];
    proposals_[n].is_noted = false;
}

void ProfileBatch::refresh(Index conformation) {
    finish();
    session().refresh(conformation);
}

}  // namespace pleat::refine

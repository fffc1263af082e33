// Profile batch: the scatterers that moved, and calls of the session.
#include "pleat/workflows/refine/fit/profile_batch.h"

#include <algorithm>

namespace pleat::refine {

ProfileBatch::ProfileBatch(const ProfileModel& model, Index conformations, const Device& device)
    : model_(&model),
      xyz_(conformations, Index{3}, model.model.scatterer_count()),
      proposed_(conformations, Index{3}, model.model.scatterer_count()),
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
    session_.reset();
    model_->write(at, xyz_.view()[conformation]);
    proposals_[static_cast<std::size_t>(conformation)].is_noted = false;
}

void ProfileBatch::propose(Index conformation, const Conformation& proposed) {
    Proposal& proposal = proposals_[static_cast<std::size_t>(conformation)];
    const View<float, 2> before = xyz_.view()[conformation], after = proposed_.view()[conformation];
    model_->write(proposed, after);
    const Index count = after.extent(1);
    const float *const x = before[0].data, *const y = before[1].data, *const z = before[2].data,
                       *const u = after[0].data, *const v = after[1].data, *const w = after[2].data;
    proposal.moved.clear();
    for (Index n = 0; n < count; ++n)
        if (x[n] != u[n] || y[n] != v[n] || z[n] != w[n]) proposal.moved.push_back(n);
    const auto moved = static_cast<Index>(proposal.moved.size());
    proposal.xyz = Array<float, 2>::unset(Index{3}, moved);
    for (Index axis = 0; axis < 3; ++axis)
        for (Index n = 0; n < moved; ++n)
            proposal.xyz(axis, n) = after(axis, proposal.moved[static_cast<std::size_t>(n)]);
    proposal.is_noted = true;
}

void ProfileBatch::compute() {
    std::vector<saxs::Move> moves;
    for (std::size_t n = 0; n < proposals_.size(); ++n) {
        Proposal& proposal = proposals_[n];
        if (!proposal.is_noted) continue;
        proposal.is_noted = false;
        proposal.in_call = -1;
        if (proposal.moved.empty()) continue;
        proposal.in_call = static_cast<Index>(moves.size());
        moves.push_back({static_cast<Index>(n), proposal.moved, proposal.xyz.view()});
    }
    if (!moves.empty()) computed_ = session().propose(moves);
}

View<const double, 2> ProfileBatch::proposed_profile(Index conformation) {
    const Proposal& proposal = proposals_[static_cast<std::size_t>(conformation)];
    if (proposal.is_noted) compute();
    return proposal.in_call < 0 ? profile(conformation) : computed_[proposal.in_call];
}

View<const double, 2> ProfileBatch::profile(Index conformation) {
    return session().profile(conformation);
}

void ProfileBatch::accept(Index conformation) {
    const Proposal& proposal = proposals_[static_cast<std::size_t>(conformation)];
    if (proposal.in_call < 0) return;
    session().accept(conformation);
    for (Index axis = 0; axis < 3; ++axis)
        for (std::size_t n = 0; n < proposal.moved.size(); ++n)
            xyz_(conformation, axis, proposal.moved[n]) = proposal.xyz(axis, static_cast<Index>(n));
}

void ProfileBatch::reject(Index conformation) {
    if (proposals_[static_cast<std::size_t>(conformation)].in_call >= 0)
        session().reject(conformation);
}

void ProfileBatch::refresh(Index conformation) { session().refresh(conformation); }

}  // namespace pleat::refine

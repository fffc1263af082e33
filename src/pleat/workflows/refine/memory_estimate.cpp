// Memory estimate: upper bounds by counting, and times that were measured.
#include "pleat/workflows/refine/memory_estimate.h"

#include <algorithm>
#include <cmath>

#include "pleat/bio/scattering/profile.h"
#include "pleat/core/error.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/saxs/fit/fit.h"
#include "pleat/saxs/model/scatterer_positions.h"
#include "pleat/workflows/refine/fit/curve_fit.h"
#include "pleat/workflows/refine/run_setup.h"

namespace pleat::refine {

namespace {

constexpr double kResidueLength = 3.8;  // distance of neighbouring CA atoms, angstrom
constexpr std::int64_t kChannelPairs = 3;
constexpr Index kMaxBodies = 128;  // of profiles, see make_profile_model()

/// Two beads of each residue, and sites of the hydration layer, of which there are fewer.
std::int64_t scatterers_of(const RunSize& size) { return 3 * size.residues; }

/// Bytes of one conformation that moves: positions, points that may overlap, and the sums of its
/// profile, all of them also for the proposal.
std::int64_t conformation_bytes(const RunSize& size) {
    std::int64_t bytes = 1000 * size.angles + 500 * size.residues;
    if (size.grid == 0) return bytes;
    const std::int64_t bodies = std::min<Index>(size.angles + 2, kMaxBodies);
    bytes += 2 * 8 * kChannelPairs * size.grid * bodies * (bodies + 1) / 2;
    return bytes + 100 * scatterers_of(size);
}

/// Seconds of a move: of one thread, or of a GPU with its host.
double move_seconds(const RunSize& size, bool has_gpu) {
    // Overlaps were measured with 556 and 4773 atoms. Profiles on a CPU took 0.27, 0.76, 0.79 and
    // 2.5 ms with 210, 660, 738 and 1809 scatterers, whatever the number of q (34 to 127); on an
    // H200 1.5, 17 and 19 us with 200, 1888 and 738, in 64 or more conformations.
    constexpr double kOverlaps = 8e-10, kOverlapsPower = 4.0 / 3;
    const double overlaps = kOverlaps * std::pow(static_cast<double>(size.atoms), kOverlapsPower);
    if (size.grid == 0) return overlaps;
    const double scatterer = has_gpu ? 1.2e-8 : 1.2e-6;
    return overlaps + scatterer * static_cast<double>(scatterers_of(size));
}

}  // namespace

RunSize size_of_run(const Ensemble& structure, const CurveInput& curve,
                    const Parameters& parameters, const Context& context) {
    const RunSetup setup = set_up(structure, curve, parameters, context);
    const PoolOptions& options = setup.options;
    const ChainModel& model = setup.model;
    PoolOptions on_gpu = options;  // the device may be chosen later
    on_gpu.divide_for_gpu();
    RunSize size{.mode = setup.mode,
                 .all_atoms = structure.atom_count(),
                 .atoms = model.atom_count(),
                 .residues = static_cast<Index>(setup.heavy.topology->residues.size()),
                 .domains = static_cast<Index>(model.domains.size()),
                 .angles = model.hinge_count(),
                 .frames = setup.frames,
                 .conformations = options.chains * options.rungs * options.replicas,
                 .walkers = options.chains * options.rungs,
                 .ahead = on_gpu.ahead,
                 .kept = options.kept * options.chains * options.replicas,
                 .diameter = saxs::box_diagonal(setup.heavy.xyz.view()) +
                             kResidueLength * static_cast<double>(model.residues.size())};
    size.moves = static_cast<double>(size.conformations) *
                 static_cast<double>(options.kept + options.burn_in) *
                 static_cast<double>(options.moves);
    if (setup.mode == Mode::pool) return size;
    const Profile fitted = saxs::cut_curve(*curve.curve, curve.q_max);
    size.curve_points = static_cast<Index>(fitted.size());
    size.grid = fitted.q.empty() ? 0 : grid_points(fitted.q.back(), size.diameter);
    return size;
}

Estimate estimate(const RunSize& size, const Context& context) {
    const bool has_gpu = context.device.kind == Device::Kind::cuda;
    if (has_gpu && size.mode == Mode::pool)
        throw UsageError("mode pool makes its moves on the CPU alone; give the device cpu");
    const int threads = resolve_threads(context);
    const Index columns = 10 + size.domains * (size.domains - 1) / 2;
    Estimate all;
    // The structure as read and its names; overlaps of atoms on each thread.
    all.host_bytes = 600 * size.all_atoms + (200 * size.atoms + (1 << 20)) * threads;
    // Angles, and once more in a checkpoint; coordinates; numbers, and their table.
    all.host_bytes += 2 * 8 * size.kept * size.angles + 12 * size.frames * size.atoms +
                      40 * size.frames * columns;
    all.disk_bytes =
        8 * size.kept * size.angles + 12 * size.frames * size.atoms + 12 * size.frames * columns;
    const Index copies =
        has_gpu ? std::clamp<Index>(threads / size.walkers, 1, size.ahead) : Index{1};
    all.host_bytes += copies * size.conformations * conformation_bytes(size);
    // The covariance of the curve's points and the grid at 9 contrasts.
    all.host_bytes += 8 * 40 * size.curve_points * (size.curve_points + size.grid);
    if (has_gpu) {
        constexpr std::int64_t kMebibyte = std::int64_t{1} << 20;
        all.gpu_bytes = all.min_gpu_bytes =
            256 * kMebibyte + copies * size.conformations * conformation_bytes(size);
    }
    if (context.device.kind == Device::Kind::reference) return all;
    constexpr double kFrame = 3e-7;  // per atom: overlaps of atoms, and writing
    const double usable = std::min<double>(threads, static_cast<double>(size.conformations));
    all.seconds =
        0.05 + size.moves * move_seconds(size, has_gpu) / (has_gpu ? 1 : usable) +
        kFrame * static_cast<double>(size.frames) * static_cast<double>(size.atoms) / threads;
    return all;
}

}  // namespace pleat::refine

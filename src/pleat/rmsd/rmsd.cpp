// RMSD: checks, the choice of a kernel for all pairs of one set, and hashes of problems.
#include "pleat/rmsd/rmsd.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <mutex>

#include "pleat/core/error.h"
#include "pleat/core/files/hash.h"
#include "pleat/core/hardware/memory.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/core/loops/steps.h"
#include "pleat/core/ranks/lanes.h"
#include "pleat/rmsd/cuda/tile_pack.h"
#include "pleat/rmsd/measures/comparison.h"
#include "pleat/rmsd/pairs/pairs_run.h"

namespace pleat::rmsd {

namespace {

void check_set(const AtomSets& sets, const std::vector<Index>& set, Index atoms) {
    const std::vector<double>& weights = sets.weights;
    for (const Index atom : set)
        if (atom < 0 || atom >= atoms)
            throw UsageError(fmt::format("expected atoms from 0 to {}, found {}", atoms - 1, atom));
    if (weights.empty()) return;
    double sum = 0.0;
    if (set.empty())
        for (const double weight : weights) sum += weight;
    for (const Index atom : set) sum += weights[atom];
    if (!(sum > 0)) throw InputError(sets.weights_file, 0, "expected a weight above 0, found none");
}

/// Throws unless equal chains have as many atoms, each once, with corresponding weights equal.
void check_chains(const AtomSets& sets, Index atoms) {
    std::vector<std::uint8_t> is_used(atoms);
    for (const auto& group : sets.equal_chains) {
        if (group.size() < 2) throw UsageError("expected groups of at least 2 equal chains");
        for (const std::vector<Index>& chain : group) {
            if (chain.size() != group.front().size() || chain.empty())
                throw UsageError("expected equal chains of the same number of atoms");
            for (std::size_t k = 0; k < chain.size(); ++k) {
                if (chain[k] < 0 || chain[k] >= atoms || is_used[chain[k]])
                    throw UsageError(
                        fmt::format("expected atoms from 0 to {}, each in one chain, found {}",
                                    atoms - 1, chain[k]));
                is_used[chain[k]] = 1;
                if (sets.weights.empty()) continue;
                const double weight = sets.weights[chain[k]],
                             first = sets.weights[group.front()[k]];
                if (weight != first)
                    throw InputError(
                        sets.weights_file, 0,
                        fmt::format("expected one weight for corresponding atoms of equal chains, "
                                    "found {} and {}",
                                    first, weight));
            }
        }
    }
    if (sets.equal_chains.empty()) return;
    if (!sets.fit.empty() || !sets.measured.empty())
        throw UsageError("equal chains need all atoms superposed and measured");
    for (const auto& group : sets.equal_chains)
        if (group.size() > kMaxEqualChains)
            throw InputError(fmt::format("expected at most {} equal chains, found {}",
                                         kMaxEqualChains, group.size()));
}

/// Throws unless each order has the atoms of the first, with equal weights at each position.
void check_group(const AtomSets& sets, const std::vector<std::vector<Index>>& group) {
    if (group.empty() || group.size() > kMaxOrders)
        throw UsageError(fmt::format("expected from 1 to {} orders of a group of atoms, found {}",
                                     kMaxOrders, group.size()));
    std::vector<Index> atoms = group.front();
    std::ranges::sort(atoms);
    for (const std::vector<Index>& order : group) {
        std::vector<Index> sorted = order;
        std::ranges::sort(sorted);
        if (sorted != atoms) throw UsageError("expected orders of the same atoms in each group");
        for (std::size_t k = 0; k < order.size() && !sets.weights.empty(); ++k)
            if (sets.weights[order[k]] != sets.weights[group.front()[k]])
                throw InputError(sets.weights_file, 0,
                                 "expected one weight for atoms that may change places, found two");
    }
}

/// Throws unless interchangeable atoms are measured, each in one group, and are fitted only if the
/// fitted atoms are the measured ones.
void check_orders(const AtomSets& sets, Index atoms) {
    if (sets.in_place && !sets.fit.empty())
        throw UsageError("expected no fitted atoms of frames that are measured in place");
    if (sets.in_place && !sets.equal_chains.empty())
        throw UsageError("equal chains need all atoms superposed and measured");
    const auto has = [](const std::vector<Index>& set, Index atom) {
        return set.empty() || std::ranges::binary_search(set, atom);
    };
    std::vector<std::uint8_t> is_used(atoms);
    for (const auto& group : sets.equal_orders) {
        for (const Index atom : group.empty() ? std::vector<Index>() : group.front()) {
            const bool is_there = atom >= 0 && atom < atoms;
            const bool is_fitted =
                is_there && !sets.in_place && !sets.are_one() && has(sets.fit, atom);
            if (!is_there || is_fitted || !has(sets.measured, atom) ||
                std::exchange(is_used[atom], std::uint8_t{1}) != 0)
                throw UsageError(
                    fmt::format("expected groups of other atoms each, which are measured and not "
                                "superposed, or all that are superposed, found {}",
                                atom));
        }
        check_group(sets, group);
    }
    if (!sets.equal_orders.empty() && !sets.equal_chains.empty())
        throw UsageError("expected either equal chains or equal orders of atoms, found both");
}

/// Divides the rows into bands for a GPU, each of a fraction of a second. `pair_time`: nanoseconds.
std::vector<Tile> gpu_bands(Kernel& kernel, Index frames, const Parameters& parameters,
                            double pair_time = 0.1, Index step = kTileRows) {
    constexpr Index kCounted = Index{1} << 28, kStored = Index{1} << 24;
    const auto in_time = static_cast<Index>(2e8 / pair_time);
    const bool has_values = parameters.matrix != MatrixLayout::none || parameters.nearest > 0 ||
                            kernel.counter() == nullptr;
    return bands(frames, std::min(has_values ? kStored : kCounted, in_time), step);
}

}  // namespace

void check(const AtomSets& sets, Index atoms) {
    if (!sets.weights.empty() && std::ssize(sets.weights) != atoms)
        throw InputError(sets.weights_file, 0,
                         fmt::format("expected a weight for each of {} atoms, found {}", atoms,
                                     sets.weights.size()));
    for (const double weight : sets.weights)
        if (!(weight >= 0 && weight <= 1e15))
            throw InputError(sets.weights_file, 0,
                             fmt::format("expected weights from 0 to 1e15, found {}", weight));
    check_set(sets, sets.fit, atoms);
    check_set(sets, sets.measured, atoms);
    if (!sets.residues.empty() && std::ssize(sets.residues) != atoms)
        throw UsageError(fmt::format("expected the residue of each of {} atoms, found {}", atoms,
                                     sets.residues.size()));
    check_chains(sets, atoms);
    check_orders(sets, atoms);
}

void check_cutoff(const Parameters& parameters) {
    const MetricTraits& metric = traits_of(parameters.metric);
    if (metric.is_score && parameters.cutoff && *parameters.cutoff >= 1)
        throw UsageError(
            fmt::format("give a --cutoff below 1, not {:g}: {} is a score from 0 to 1, and pairs "
                        "above the cutoff are listed",
                        *parameters.cutoff, metric.label));
}

void check_input(const FrameStore& xyz, Parameters parameters) {
    check(fields(parameters));
    check_cutoff(parameters);
    if (xyz.extent(2) != 3)
        throw UsageError(fmt::format(
            "expected coordinates [frame, atom, 3], found {} on the last axis", xyz.extent(2)));
    if (xyz.extent(0) < 1 || xyz.extent(1) < 1)
        throw InputError(fmt::format("expected at least 1 frame and 1 atom, found {} and {}",
                                     xyz.extent(0), xyz.extent(1)));
    if (xyz.extent(0) > std::numeric_limits<std::int32_t>::max())
        throw InputError(
            fmt::format("expected at most 2147483647 frames, found {}", xyz.extent(0)));
}

void check_sets(const AtomSets& sets, Index atoms, const Parameters& parameters) {
    const MetricTraits& metric = traits_of(parameters.metric);
    check(sets, atoms);
    if (metric.is_score && !sets.weights.empty())
        throw UsageError(
            fmt::format("leave weights of atoms out: --metric {} has none", metric.name));
    if (metric.is_score && parameters.precision != FitPrecision::mixed)
        throw UsageError(fmt::format(
            "leave --precision out: --metric {} is always computed in float64", metric.name));
    if (parameters.metric != Metric::rmsd && sets.fit != sets.measured)
        throw UsageError(fmt::format(
            "--measure needs --metric rmsd: {} uses the measured atoms only", metric.name));
    const bool has_symmetry = !sets.equal_chains.empty() || !sets.equal_orders.empty();
    if (parameters.metric != Metric::rmsd && (has_symmetry || sets.in_place))
        throw UsageError(fmt::format("{} needs --metric rmsd: {} knows no other places of atoms",
                                     has_symmetry ? "--symmetry" : "--fit none", metric.name));
    if (parameters.metric != Metric::lddt) return;
    const std::vector<Index> residues = residues_in_order(sets, atoms);
    if (std::ranges::count(residues, 0) == std::ssize(residues))
        throw InputError("expected atoms of at least 2 residues for lDDT, found those of 1");
}

void check_matrix(const Parameters& parameters, const MatrixTarget& matrix, Index size) {
    if (parameters.matrix == MatrixLayout::none || !matrix.file.empty()) return;
    if (matrix.memory.data() == nullptr && size > 0)
        throw UsageError("give a file or memory for the matrix, or take --matrix none");
    if (std::ssize(matrix.memory) != size)
        throw UsageError(fmt::format("expected memory for a matrix of {} numbers, found {}", size,
                                     matrix.memory.size()));
}

std::int64_t nearest_memory(Index frames, Index others, const Parameters& parameters) {
    return 8 * frames * std::clamp<Index>(parameters.nearest, 0, std::max<Index>(others, 0));
}

Index matrix_size(Index frames, const Parameters& parameters) {
    if (parameters.matrix == MatrixLayout::none) return 0;
    return parameters.matrix == MatrixLayout::full ? frames * frames : frames * (frames - 1) / 2;
}

namespace {

/// Adds coordinates to `hash`; large ones as hashes of blocks, computed on several threads.
void add_coordinates(const FrameStore& xyz, int threads, Sha256& hash) {
    constexpr Index kBlock = Index{1} << 22;
    const View<const float, 3> all = xyz.in_memory();
    if (xyz.size() <= 4 * kBlock && !xyz.is_on_disk()) {
        hash.field(all);
        return;
    }
    for (const Index extent : all.extents) hash.field(extent);
    std::vector<std::string> blocks((xyz.size() + kBlock - 1) / kBlock);
    parallel_for(threads, std::ssize(blocks), [&](Index n, int) {
        const Index first = n * kBlock, count = std::min(kBlock, xyz.size() - first);
        std::vector<float> read(xyz.is_on_disk() ? count : 0);
        if (xyz.is_on_disk()) xyz.read(first, count, read.data());
        blocks[n] = Sha256()
                        .add(xyz.is_on_disk() ? read.data() : all.data + first,
                             static_cast<std::size_t>(count) * sizeof(float))
                        .hex();
    });
    for (const std::string& block : blocks) hash.field(block);
}

}  // namespace

void require_frame_memory(std::int64_t bytes, Index frames, Index atoms, std::string_view how) {
    require_memory(bytes, fmt::format("{} frames of {} atoms{}", frames, atoms, how),
                   "take fewer frames or atoms");
}

bool needs_blocks(const FrameStore& xyz, const Parameters& parameters, const Context& context) {
    const Index frames = xyz.frame_count(), atoms = xyz.atom_count();
    const std::int64_t needed = memory_needed(frames, atoms, parameters, {Device::Kind::cpu, 0});
    const double lacking =
        xyz.is_on_disk() ? 1.0
                         : static_cast<double>(needed) - static_cast<double>(available_memory());
    // Either all ranks read blocks or none does, because the bands differ.
    if (max_over_ranks(context, lacking) <= 0) return false;
    require_frame_memory(block_memory(frames, atoms) +
                             nearest_memory(frames, frames - 1, parameters) +
                             4 * frames * block_band_rows(frames),
                         frames, atoms, ", read in blocks");
    return true;
}

std::string problem_hash(const FrameStore& xyz, const FrameStore& others, const AtomSets& sets,
                         const Parameters& parameters, const Context& context) {
    const bool is_rmsd = parameters.metric == Metric::rmsd;
    Sha256 hash;
    const int threads = resolve_threads(context);
    hash.field(traits_of(parameters.metric).name);
    add_coordinates(xyz, threads, hash);
    if (!others.is_same(xyz)) add_coordinates(others, threads, hash);
    hash.field(context.device.kind_name()).field(static_cast<int>(parameters.precision));
    // RMSDs near the cutoff, and on a GPU also near the edges of bins, are recomputed in float64.
    hash.field(is_rmsd ? parameters.cutoff.value_or(0.0) : 0.0);
    if (context.device.kind == Device::Kind::cuda) hash.field(parameters.bin_width);
    for (const auto* set : {&sets.fit, &sets.measured}) {
        hash.field(static_cast<std::int64_t>(set->size()));
        for (const Index atom : *set) hash.field(atom);
    }
    for (const double weight : sets.weights) hash.field(weight);
    for (const std::int32_t residue : sets.residues) hash.field(residue);
    if (sets.in_place) hash.field("in place");
    for (const auto* groups : {&sets.equal_chains, &sets.equal_orders})
        for (const auto& group : *groups)
            for (const std::vector<Index>& part : group) {
                hash.field(static_cast<std::int64_t>(part.size()));
                for (const Index atom : part) hash.field(atom);
            }
    return hash.hex();
}

std::int64_t memory_needed(Index frames, Index atoms, const Parameters& parameters,
                           const Device& device) {
    const std::int64_t coordinates = 3 * frames * atoms, band = 8 * 48 * frames;
    // Besides the ensemble: values of some rows, neighbours of a band, and a reserve.
    if (device.kind == Device::Kind::cuda)
        return tile_memory(frames, atoms, TileFormat::split) +
               std::min<std::int64_t>(4 * pairs_before(frames, frames), std::int64_t{1} << 28) +
               (std::int64_t{512} << 20);
    // Centred in float64, and packed twice in the type of the product.
    const std::int64_t packed = parameters.precision == FitPrecision::float64 ? 16 : 8;
    return (8 + packed) * coordinates + 200 * frames + band +
           nearest_memory(frames, frames - 1, parameters) + (std::int64_t{32} << 20);
}

Result run(const FrameStore& xyz, const AtomSets& sets, const Parameters& parameters,
           const Context& context, const MatrixTarget& matrix) {
    check_input(xyz, parameters);
    check_sets(sets, xyz.atom_count(), parameters);
    check_matrix(parameters, matrix, matrix_size(xyz.frame_count(), parameters));
    const Index frames = xyz.frame_count(), atoms = xyz.atom_count();
    const bool is_plain = parameters.metric == Metric::rmsd && sets.are_plain();
    if (!is_plain && xyz.is_on_disk())
        throw UsageError("frames on disk: only the RMSD of all atoms is computed from them");
    const bool has_gpu = context.device.kind == Device::Kind::cuda;
    const bool has_blocks = is_plain && needs_blocks(xyz, parameters, context);
    if (!is_plain)
        require_frame_memory(comparison_memory(frames, atoms, parameters.metric, !sets.are_one()) +
                                 nearest_memory(frames, frames - 1, parameters),
                             frames, atoms);
    const double cutoff = parameters.cutoff.value_or(0.0);
    const Index measured = sets.measured.empty() ? atoms : std::ssize(sets.measured);
    // Data that all lanes share: centred frames, and their hash if there is a checkpoint file.
    std::shared_ptr<const FrameSource> source;
    if (has_blocks)
        source = block_source(xyz, sets.weights, resolve_threads(context));
    else if (is_plain && has_gpu)
        source =
            memory_source(owned(centre(xyz.in_memory(), sets.weights, resolve_threads(context))));
    std::once_flag is_hashed;
    std::string shared_hash;
    const auto hash = [&] {
        std::call_once(is_hashed,
                       [&] { shared_hash = problem_hash(xyz, xyz, sets, parameters, context); });
        return shared_hash;
    };
    return first_of_lanes(context, [&](const Context& lane) {
        std::unique_ptr<Kernel> kernel;
        std::vector<Tile> tiles;
        if (source != nullptr) {
            kernel = make_kernel({.frames = source->in_memory(),
                                  .precision = parameters.precision,
                                  .cutoff = cutoff,
                                  .bin_width = parameters.bin_width,
                                  .source = source->in_memory() == nullptr ? source : nullptr},
                                 lane);
            const bool reads_blocks =
                has_blocks && !copies_frames_to_gpu(parameters.precision, lane);
            tiles = reads_blocks ? cut_into_bands(frames, block_band_rows(frames))
                                 : gpu_bands(*kernel, frames, parameters);
        } else {
            auto comparison =
                make_comparison({xyz.in_memory(), xyz.in_memory()}, sets, parameters.metric,
                                {parameters.precision, cutoff}, lane);
            const double cost = comparison->cost();
            const Index step = comparison->block_rows();
            kernel = make_pair_kernel(std::move(comparison), frames, resolve_threads(lane));
            tiles = has_gpu ? gpu_bands(*kernel, frames, parameters, cost, step)
                            : bands(frames, static_cast<Index>(kTileTime / cost), step);
        }
        StageProgress preparing(lane, "prepare", 1);
        if (!lane.checkpoint.empty() || !matrix.file.empty()) hash();
        kernel->prepare();
        preparing.advance_to(1);
        return run_pairs({*kernel, frames, measured, std::move(tiles), hash}, parameters, lane,
                         matrix);
    });
}

}  // namespace pleat::rmsd

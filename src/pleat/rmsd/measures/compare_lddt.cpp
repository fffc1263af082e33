// lDDT: the share of distances between nearby atoms that another frame keeps, no superposition.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "pleat/core/error.h"
#include "pleat/core/hardware/memory.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/core/loops/steps.h"
#include "pleat/rmsd/cuda/gpu_comparisons.h"
#include "pleat/rmsd/measures/comparison.h"
#include "pleat/rmsd/measures/lddt_block.h"
#include "pleat/rmsd/pairs/pairs_run.h"

namespace pleat::rmsd {

namespace {

/// How many distances of one frame the other frame does not preserve.
struct Missed {
    std::int64_t distances = 0;   ///< of the other frame, below the radius
    std::int64_t thresholds = 0;  ///< of four for each distance

    double lddt() const {
        return 1.0 - static_cast<double>(thresholds) / (4.0 * static_cast<double>(distances));
    }
};

/// The mean of both directions; for a frame without distances below the radius only the other
/// direction counts, and two such frames have 1.
float mean_lddt(const Missed& one, const Missed& other) {
    if (one.distances == 0 && other.distances == 0) return 1.0F;
    if (one.distances == 0) return static_cast<float>(other.lddt());
    if (other.distances == 0) return static_cast<float>(one.lddt());
    return static_cast<float>(0.5 * (one.lddt() + other.lddt()));
}

double distance(View<const float, 2> frame, Index k, Index l) {
    const double x = double{frame(k, 0)} - frame(l, 0), y = double{frame(k, 1)} - frame(l, 1),
                 z = double{frame(k, 2)} - frame(l, 2);
    return std::sqrt(x * x + y * y + z * z);
}

/// The number of thresholds that a difference of distances exceeds.
std::int64_t missed_by(double difference) {
    std::int64_t missed = 0;
    for (const double threshold : kLddtThresholds) missed += difference < threshold ? 0 : 1;
    return missed;
}

/// The definition of Mariani et al., one atom pair at a time.
std::unique_ptr<Comparison> reference_lddt(LddtFrames frames) {
    const double atoms = static_cast<double>(frames.rows->extent(1));
    const auto value = [of = std::move(frames)](Index i, Index j) {
        const auto missed = [&](View<const float, 2> reference, View<const float, 2> model) {
            Missed all;
            for (Index k = 0; k < reference.extent(0); ++k)
                for (Index l = k + 1; l < reference.extent(0); ++l) {
                    if (!are_in_different_residues(of.residues, k, l)) continue;
                    const double expected = distance(reference, k, l);
                    if (!(expected < kInclusionRadius)) continue;
                    ++all.distances;
                    all.thresholds += missed_by(std::fabs(distance(model, k, l) - expected));
                }
            return all;
        };
        const View<const float, 2> p = (*of.rows)[i], q = (*of.columns)[j];
        const Missed of_column = missed(q, p);
        return of.is_reference ? mean_lddt(of_column, of_column)
                               : mean_lddt(missed(p, q), of_column);
    };
    return one_by_one(5.0 * atoms * atoms, value);
}

/// One side, a frame per lane.
struct LddtPanels {
    Array<double, 4> panels;              ///< [panel, atom, axis, lane]
    std::vector<std::int64_t> distances;  ///< [frame]: those below the radius
};

Array<double, 4> panels_of(View<const float, 3> frames) {
    return frame_panels(frames.extent(0), frames.extent(1),
                        [&](Index i, Index k, int axis) { return double{frames(i, k, axis)}; });
}

/// The pairs of atoms of different residues that are within the radius in any frame. Throws
/// InputError if they are too many to count, DeviceError if their list does not fit in memory.
std::vector<ListedPair> near_pairs(const std::vector<const Array<double, 4>*>& sides,
                                   const std::vector<std::int32_t>& residues, int threads) {
    const Index atoms = sides.front()->extent(1);
    std::vector<std::vector<std::int32_t>> others(atoms);
    parallel_for(threads, atoms, [&](Index k, int) {
        for (Index l = k + 1; l < atoms; ++l) {
            if (!are_in_different_residues(residues, k, l)) continue;
            const ListedPair pair{static_cast<std::int32_t>(k), static_cast<std::int32_t>(l)};
            const bool is_near = std::ranges::any_of(sides, [&](const auto* side) {
                return may_be_near(side->data(), side->extent(0), atoms, pair);
            });
            if (is_near) others[k].push_back(pair.l);
        }
    });
    std::int64_t count = 0;
    for (const auto& list : others) count += static_cast<std::int64_t>(list.size());
    require_countable(count);
    require_memory(count * static_cast<std::int64_t>(sizeof(ListedPair)),
                   fmt::format("{} pairs of atoms", count), "select fewer atoms");
    std::vector<ListedPair> pairs;
    pairs.reserve(count);
    for (std::size_t k = 0; k < others.size(); ++k)
        for (const std::int32_t l : others[k]) pairs.push_back({static_cast<std::int32_t>(k), l});
    return pairs;
}

std::span<const ListedPair> some_of(const std::vector<ListedPair>& pairs, std::size_t first) {
    return std::span(pairs).subspan(
        first, std::min(static_cast<std::size_t>(kPairsAtOnce), pairs.size() - first));
}

LddtPanels with_counts(Array<double, 4> panels, Index frames, const std::vector<ListedPair>& pairs,
                       int threads) {
    LddtPanels side;
    side.distances.resize(frames);
    parallel_for(threads, panels.extent(0), [&](Index panel, int) {
        PanelDistances distances;
        for (std::size_t first = 0; first < pairs.size(); first += kPairsAtOnce) {
            const auto some = some_of(pairs, first);
            panel_distances(panels[panel].data, some, distances);
            for (Index lane = 0; lane < std::min(kPanel, frames - panel * kPanel); ++lane)
                for (std::size_t n = 0; n < some.size(); ++n)
                    side.distances[panel * kPanel + lane] +=
                        distances.exact[n * kPanel + static_cast<std::size_t>(lane)] <
                        kInclusionRadius;
        }
    });
    side.panels = std::move(panels);
    return side;
}

/// Computes distances of a few atom pairs at a time in a block of frames, and uses each for all
/// frames of the other side and both directions.
class BlockLddt final : public Comparison {
public:
    BlockLddt(const LddtFrames& frames, int threads)
        : has_one_side_(frames.rows == frames.columns), is_reference_(frames.is_reference) {
        Array<double, 4> rows = panels_of(*frames.rows), columns;
        if (!has_one_side_) columns = panels_of(*frames.columns);
        std::vector<const Array<double, 4>*> sides;
        if (has_one_side_ || !is_reference_) sides.push_back(&rows);
        if (!has_one_side_) sides.push_back(&columns);
        pairs_ = near_pairs(sides, frames.residues, threads);
        rows_ = with_counts(std::move(rows), frames.rows->extent(0), pairs_, threads);
        if (!has_one_side_)
            columns_ = with_counts(std::move(columns), frames.columns->extent(0), pairs_, threads);
    }

    Index block_rows() const override { return 8 * kPanel; }
    Index block_columns() const override { return 16 * kPanel; }
    double cost() const override { return 20.0 + 0.2 * static_cast<double>(pairs_.size()); }

    void block(Block rows, Block columns, float* values) const override {
        const LddtPanels& others = has_one_side_ ? rows_ : columns_;
        const PanelSpan down(rows), across(columns);
        std::vector<PanelDistances> of_rows(down.panels),
            of_columns(static_cast<std::size_t>(across.panels));
        // [row panel, column panel, row, column]
        Array<std::uint32_t, 4> by_row(down.panels, across.panels, kPanel, kPanel),
            by_column(down.panels, across.panels, kPanel, kPanel);
        for (std::size_t first = 0; first < pairs_.size(); first += kPairsAtOnce) {
            const auto some = some_of(pairs_, first);
            for (Index m = 0; m < down.panels; ++m)
                panel_distances(rows_.panels[down.first + m].data, some, of_rows[m]);
            for (Index n = 0; n < across.panels; ++n)
                panel_distances(others.panels[across.first + n].data, some, of_columns[n]);
            for (Index m = 0; m < down.panels; ++m)
                for (Index n = 0; n < across.panels; ++n)
                    add_missed(of_rows[m], kPanel, of_columns[n], std::ssize(some),
                               by_row[m][n].data, by_column[m][n].data);
        }
        for (Index i = rows.first; i < rows.first + rows.count; ++i)
            for (Index j = columns.first; j < columns.first + columns.count; ++j) {
                const auto found = [&](const Array<std::uint32_t, 4>& missed) {
                    return std::int64_t{missed(i / kPanel - down.first, j / kPanel - across.first,
                                               i % kPanel, j % kPanel)};
                };
                const Missed of_column{others.distances[j], found(by_column)};
                *values++ = is_reference_
                                ? mean_lddt(of_column, of_column)
                                : mean_lddt({rows_.distances[i], found(by_row)}, of_column);
            }
    }

private:
    bool has_one_side_, is_reference_;
    std::vector<ListedPair> pairs_;
    LddtPanels rows_, columns_;
};

}  // namespace

void require_countable(std::int64_t pairs) {
    constexpr std::int64_t kMaxPairs = (std::int64_t{1} << 30) - 1;  // four thresholds in 32 bits
    if (pairs > kMaxPairs)
        throw InputError(fmt::format(
            "expected at most {} pairs of atoms within {} angstrom, found {}: select fewer atoms",
            kMaxPairs, kInclusionRadius, pairs));
}

std::unique_ptr<Comparison> make_lddt(LddtFrames frames, const Context& context) {
    if (context.device.kind == Device::Kind::cuda) return make_lddt_on_cuda(frames, context);
    if (context.device.kind == Device::Kind::reference) return reference_lddt(std::move(frames));
    return std::make_unique<BlockLddt>(frames, resolve_threads(context));
}

namespace {

/// A distance below the radius in the reference, and the residues of its atoms.
struct Surrounding {
    Index k, l, residue, other;
    double distance;
};

std::vector<Surrounding> surroundings_of(View<const float, 2> reference, const AtomSets& sets) {
    const std::vector<Index> residues = residues_in_order(sets, reference.extent(0));
    std::vector<Index> atoms = sets.measured;
    for (Index atom = 0; sets.measured.empty() && atom < reference.extent(0); ++atom)
        atoms.push_back(atom);
    std::vector<Surrounding> found;
    for (std::size_t k = 0; k < atoms.size(); ++k)
        for (std::size_t l = k + 1; l < atoms.size(); ++l) {
            if (residues[k] == residues[l]) continue;
            const double expected = distance(reference, atoms[k], atoms[l]);
            if (expected < kInclusionRadius)
                found.push_back({atoms[k], atoms[l], residues[k], residues[l], expected});
        }
    return found;
}

}  // namespace

std::vector<std::int32_t> residues_of(const Topology& topology) {
    if (!topology.named) return {};
    using Identity = std::tuple<std::string, int, char, std::string>;
    std::map<Identity, std::int32_t> numbers;
    std::vector<std::int32_t> of_listed;  // residues as the topology lists them
    for (const Topology::Residue& one : topology.residues)
        of_listed.push_back(numbers
                                .emplace(Identity{one.chain, one.number, one.insertion, one.name},
                                         static_cast<std::int32_t>(numbers.size()))
                                .first->second);
    std::vector<std::int32_t> residues;
    for (const Topology::Atom& atom : topology.atoms) residues.push_back(of_listed[atom.residue]);
    return residues;
}

std::vector<Index> residues_in_order(const AtomSets& sets, Index atoms) {
    std::map<std::int32_t, Index> places;
    std::vector<Index> found;
    const auto add = [&](Index atom) {
        const auto number =
            sets.residues.empty() ? static_cast<std::int32_t>(atom) : sets.residues[atom];
        found.push_back(places.emplace(number, std::ssize(places)).first->second);
    };
    for (const Index atom : sets.measured) add(atom);
    for (Index atom = 0; sets.measured.empty() && atom < atoms; ++atom) add(atom);
    return found;
}

void require_surroundings(View<const float, 2> reference, const AtomSets& sets) {
    if (surroundings_of(reference, sets).empty())
        throw InputError(fmt::format(
            "expected atoms of different residues within {} angstrom of each other in the "
            "reference, found none: lDDT has nothing to compare",
            kInclusionRadius));
}

ResidueLddt residue_lddt(View<const float, 3> xyz, View<const float, 2> reference,
                         const AtomSets& sets, const Context& context) {
    const Index frames = xyz.extent(0);
    const std::vector<Index> residues = residues_in_order(sets, xyz.extent(1));
    const std::vector<Surrounding> pairs = surroundings_of(reference, sets);
    ResidueLddt result;
    const Index count = *std::ranges::max_element(residues) + 1;
    require_memory(4 * frames * count,
                   fmt::format("lDDT of {} residues in {} frames", count, frames),
                   "take fewer frames or atoms");
    result.distances.resize(count);
    for (const Surrounding& pair : pairs) {
        ++result.distances[pair.residue];
        ++result.distances[pair.other];
    }
    result.values = Array<float, 2>(frames, count);
    parallel_for_chunks(
        context, "lddt of residues", resolve_threads(context), frames, 1024, [&](Index i, int) {
            std::vector<std::int64_t> missed(count);
            for (const Surrounding& pair : pairs) {
                const double difference =
                    std::fabs(distance(xyz[i], pair.k, pair.l) - pair.distance);
                const std::int64_t thresholds = missed_by(difference);
                missed[pair.residue] += thresholds;
                missed[pair.other] += thresholds;
            }
            for (Index r = 0; r < count; ++r) {
                const auto all = static_cast<double>(result.distances[r]);
                result.values(i, r) =
                    all > 0 ? static_cast<float>(1.0 - static_cast<double>(missed[r]) / (4.0 * all))
                            : kNoLddt;
            }
        });
    return result;
}

}  // namespace pleat::rmsd

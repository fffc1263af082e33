// Output: what a result of rmsd holds, and its tables of frames, residues and atoms.
#include "pleat/rmsd/output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "pleat/core/files/output_file.h"
#include "pleat/core/files/text.h"
#include "pleat/rmsd/measures/metric.h"

namespace pleat::rmsd {

namespace {

/// Chain, number with insertion code, and name.
std::string residue_columns(const Topology::Residue& residue) {
    std::string number = std::to_string(residue.number);
    if (residue.insertion != ' ') number += residue.insertion;
    return fmt::format("{}\t{}\t{}", printable(residue.chain), printable(number),
                       printable(residue.name));
}

void write_residue_table(RunDirectory& run, const Topology& topology,
                         const std::vector<Index>& residues, const ResidueLddt& lddt) {
    const Index frames = lddt.values.extent(0);
    std::string text = "chain\tresidue\tresidue_name\tdistances\tmean\tmin\tmax\n";
    Index next = 0;
    for (std::size_t atom = 0; atom < residues.size(); ++atom) {
        if (residues[atom] != next) continue;  // the first atom of each
        const Index residue = next++;
        const std::int64_t distances = lddt.distances[residue];
        double sum = 0.0;
        float min = 1.0F, max = 0.0F;
        for (Index i = 0; i < frames; ++i) {
            sum += lddt.values(i, residue);
            min = std::min(min, lddt.values(i, residue));
            max = std::max(max, lddt.values(i, residue));
        }
        text += fmt::format(
            "{}\t{}\t", residue_columns(topology.residue_of(static_cast<Index>(atom))), distances);
        text += distances > 0 ? fmt::format("{:.6g}\t{:.6g}\t{:.6g}\n",
                                            sum / static_cast<double>(frames), min, max)
                              : "NA\tNA\tNA\n";
    }
    write_text(run.output("lddt_residues.tsv"), text);
}

constexpr const char* kResidueArray = "lddt_residues.npy";

/// Neighbours and nearest frames; empty lists are included.
ResultColumns list_columns(const Result& result, const Parameters& parameters) {
    const NeighbourRows& near = result.neighbours;
    const Nearest& best = result.nearest;
    const auto with_cutoff = [&](ColumnValue value) {
        return std::move(value).or_none(!near.starts.empty());
    };
    const auto with_nearest = [&](ColumnValue value) {
        return std::move(value).or_none(best.indices.size() != 0);
    };
    constexpr const char *kNear = "neighbours.npz", *kBest = "best.npz", *kMetric = "{metric}";
    return {
        {"neighbour_starts",
         "int64 [frame + 1], with cutoff: those of frame i are numbers starts[i] to "
         "starts[i + 1] - 1 of the neighbours",
         with_cutoff(near.starts), kNear, "starts"},
        {"neighbour_indices", "int32 [neighbour], frames", with_cutoff(near.indices), kNear,
         "indices", "neighbours", "j"},
        {"neighbour_values", "float32 [neighbour]", with_cutoff(near.values), kNear, kMetric,
         "neighbours", "value"},
        {"", "the cutoff", parameters.cutoff, kNear, "cutoff"},
        {"best_indices", "int32 [frame, rank], nearest first, with `nearest`",
         with_nearest(best.indices), kBest, "indices", "best", "j"},
        {"best_values", "float32 [frame, rank]", with_nearest(best.values), kBest, kMetric, "best",
         "value"},
    };
}

}  // namespace

ResultColumns columns(const Result& result, const Parameters& parameters) {
    const PairStatistics& pairs = result.statistics;
    const auto of_reference = [&](ColumnValue value) {
        return std::move(value).or_none(!result.values.empty());
    };
    const auto of_residues = [&](ColumnValue value) {
        return std::move(value).or_none(!result.residues.distances.empty());
    };
    ResultColumns all = {
        {"matrix",
         "float32, condensed as SciPy's ([frame (frame - 1) / 2]), or [frame, frame] with "
         "matrix='full', or [frame, other] with `against`; None with 'none' or `reference`",
         ColumnValue::kept("NDArray[np.float32] | None"), "{metric}.npy"},
        {"values", "float32 [frame], with `reference`; else None", of_reference(result.values),
         "reference.tsv", "{metric}", "values", "value"},
        {"residue_values",
         "float32 [frame, residue], lDDT of residues with `reference`, in the order of "
         "their first atoms; -1 for a residue without distances; else None",
         of_residues(result.residues.values), kResidueArray},
        {"residue_distances",
         "int64 [residue], distances of the reference below 15 angstrom; else None",
         of_residues(result.residues.distances), "lddt_residues.tsv", "distances"},
        {"frames", "number of frames", result.frames, "results"},
        {"atoms", "number of atoms that were measured", result.atoms, "results"},
        {"pairs", "number of pairs", pairs.pairs(), "results"},
        {"min", "the smallest value", pairs.min(), "results"},
        {"mean", "the mean", pairs.mean(), "results"},
        {"max", "the largest value", pairs.max(), "results"},
        {"", "with --cutoff, pairs below it",
         ColumnValue(result.neighbours.pairs).or_none(!result.neighbours.starts.empty()), "results",
         "neighbour_pairs"},
        {"metric", "the measure: 'rmsd', 'drmsd', 'tm', 'gdt_ts' or 'lddt'",
         traits_of(parameters.metric).name, "parameters"},
        {"device", "the device that computed", ColumnValue::kept("str"), "manifest"},
        {"selection", "the text that selected the measured atoms; '' if it was none",
         ColumnValue::kept("str")},
        {"symmetry", "what could take each other's places: 'none', 'chains', 'atoms' or 'ligand'",
         ColumnValue::kept("str"), "parameters"},
        {"unproven",
         "with `reference`: number of values that are not proven to be the least over all "
         "permutations",
         result.unproven},
        {"histogram", "int64 [bin], of width `bin_width`", pairs.histogram(), "histogram.tsv",
         "pairs"},
        {"bin_width", "width of the bins of the histogram", pairs.bin_width(), "parameters",
         "bin-width"},
        {"_coordinates", "frames from which pairs near a cutoff can be recomputed, or None",
         ColumnValue::kept("Any")},
        {"_weights", "weights of the atoms of these", ColumnValue::kept("Any")},
        {"_precision", "precision of the superposition",
         names_of(FitPrecision())[static_cast<std::size_t>(parameters.precision)], "parameters",
         "precision"},
    };
    return joined({all, list_columns(result, parameters)});
}

void write_results(RunDirectory& run, const Result& result, const Parameters& parameters) {
    write_histogram(run, result.statistics);
    ResultColumns all = columns(result, parameters);
    record(run, all);
    // With a single frame the lists exist but are empty.
    for (ResultColumn& one : all)
        if (one.file == "best.npz" && parameters.nearest > 0)
            one.value = std::move(one.value).or_none(true);
    std::erase_if(all, [](const ResultColumn& one) { return one.file == kResidueArray; });
    write_arrays(run, all);
}

void write_reference(RunDirectory& run, const Result& result, const Parameters& parameters,
                     const std::vector<FrameOrigin>& origins, const std::vector<std::string>& files,
                     const Topology& topology, const std::vector<Index>& residues) {
    const ResultColumns all = columns(result, parameters);
    const auto file =
        table_column("file", [&](std::size_t row) { return table_cell(files[origins[row].file]); });
    std::vector<TableColumn> table = table_columns(all, "reference.tsv");
    table.insert(table.begin(), row_numbers("frame"));
    table.push_back(file);
    table.push_back(
        table_column("frame_of_file", [&](std::size_t row) { return origins[row].frame; }));
    write_table(run.output("reference.tsv"), result.values.size(), table);
    if (parameters.metric != Metric::lddt) return;
    write_residue_table(run, topology, residues, result.residues);
    write_arrays(run, all, kResidueArray);
}

void write_rmsf(RunDirectory& run, const Topology& topology, const Fluctuations& fluctuations,
                const std::vector<double>& weights) {
    std::string atoms = "chain\tresidue\tresidue_name\tatom\trmsf\tdistance\n";
    std::string residues = "chain\tresidue\tresidue_name\tatoms\trmsf\tdistance\n";
    double squares = 0.0, distances = 0.0, weight = 0.0;
    Index count = 0;
    for (Index k = 0; k < topology.atom_count(); ++k) {
        const std::string columns = residue_columns(topology.residue_of(k));
        const double rmsf = fluctuations.rmsf[k], distance = fluctuations.distance[k];
        atoms += fmt::format("{}\t{}\t{:.6g}\t{:.6g}\n", columns, printable(topology.atoms[k].name),
                             rmsf, distance);
        const double own = weights.empty() ? 1.0 : weights[k];
        squares += own * rmsf * rmsf;
        distances += own * distance * distance;
        weight += own;
        ++count;
        const bool is_last = k + 1 == topology.atom_count() ||
                             topology.atoms[k + 1].residue != topology.atoms[k].residue;
        if (!is_last) continue;
        // A residue without weight has no mean.
        residues += fmt::format("{}\t{}\t", columns, count);
        residues += weight > 0 ? fmt::format("{:.6g}\t{:.6g}\n", std::sqrt(squares / weight),
                                             std::sqrt(distances / weight))
                               : "NA\tNA\n";
        squares = distances = weight = 0.0;
        count = 0;
    }
    write_text(run.output("rmsf.tsv"), atoms);
    write_text(run.output("rmsf_residues.tsv"), residues);
}

std::vector<std::string_view> citations(Metric metric) {
    switch (metric) {
        case Metric::drmsd: return {"Cohen1980"};
        case Metric::lddt: return {"Mariani2013"};
        case Metric::tm: return {"Zhang2004", "Horn1987"};
        case Metric::gdt_ts: return {"Zemla2003", "Zhang2004", "Horn1987"};
        case Metric::rmsd: break;
    }
    return {"Hung2011", "Horn1987"};
}

}  // namespace pleat::rmsd

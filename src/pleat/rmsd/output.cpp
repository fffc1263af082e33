// Output: what a result of rmsd holds, and its tables of frames, residues and atoms.
#include "pleat/rmsd/output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "pleat/core/files/output_file.h"
#include "pleat/core/files/printable.h"
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
        const std::int64_t distances = lddt.distances[static_cast<std::size_t>(residue)];
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

}  // namespace

ResultColumns columns(const Result& result, const Parameters& parameters) {
    const PairStatistics& pairs = result.statistics;
    const Neighbours& near = result.neighbours;
    const Nearest& best = result.nearest;
    const auto of_reference = [&](ColumnValue value) {
        return std::move(value).or_none(!result.values.empty());
    };
    const auto of_residues = [&](ColumnValue value) {
        return std::move(value).or_none(!result.residues.distances.empty());
    };
    // Lists without a neighbour are there, too.
    const auto with_cutoff = [&](ColumnValue value) {
        return std::move(value).or_none(!near.starts.empty());
    };
    const auto with_nearest = [&](ColumnValue value) {
        return std::move(value).or_none(best.indices.size() != 0);
    };
    return {
        {.name = "matrix",
         .help = "float32, condensed as SciPy's ([frame (frame - 1) / 2]), or [frame, frame] with "
                 "matrix='full', or [frame, other] with `against`; None with 'none' or `reference`",
         .value = ColumnValue::kept("NDArray[np.float32] | None"),
         .file = "{metric}.npy"},
        {.name = "values",
         .help = "float32 [frame], with `reference`; else None",
         .value = of_reference(result.values),
         .file = "reference.tsv",
         .key = "{metric}",
         .table = "values",
         .header = "value"},
        {.name = "residue_values",
         .help = "float32 [frame, residue], lDDT of residues with `reference`, in the order of "
                 "their first atoms; -1 for a residue without distances; else None",
         .value = of_residues(result.residues.values),
         .file = kResidueArray},
        {.name = "residue_distances",
         .help = "int64 [residue], distances of the reference below 15 angstrom; else None",
         .value = of_residues(result.residues.distances),
         .file = "lddt_residues.tsv",
         .key = "distances"},
        {.name = "frames", .help = "number of frames", .value = result.frames, .file = "results"},
        {.name = "atoms",
         .help = "number of atoms that were measured",
         .value = result.atoms,
         .file = "results"},
        {.name = "pairs", .help = "number of pairs", .value = pairs.pairs(), .file = "results"},
        {.name = "min", .help = "the smallest value", .value = pairs.min(), .file = "results"},
        {.name = "mean", .help = "the mean", .value = pairs.mean(), .file = "results"},
        {.name = "max", .help = "the largest value", .value = pairs.max(), .file = "results"},
        {.name = "",
         .help = "with --cutoff, pairs below it",
         .value = with_cutoff(near.pairs),
         .file = "results",
         .key = "neighbour_pairs"},
        {.name = "metric",
         .help = "the measure: 'rmsd', 'drmsd', 'tm', 'gdt_ts' or 'lddt'",
         .value = traits_of(parameters.metric).name,
         .file = "parameters"},
        {.name = "device",
         .help = "the device that computed",
         .value = ColumnValue::kept("str"),
         .file = "manifest"},
        {.name = "selection",
         .help = "the text that selected the measured atoms; '' if it was none",
         .value = ColumnValue::kept("str")},
        {.name = "symmetry",
         .help = "what could take each other's places: 'none', 'chains', 'atoms' or 'ligand'",
         .value = ColumnValue::kept("str"),
         .file = "parameters"},
        {.name = "unproven",
         .help = "with `reference`: number of values that are not proven to be the least over all "
                 "permutations",
         .value = result.unproven},
        {.name = "histogram",
         .help = "int64 [bin], of width `bin_width`",
         .value = pairs.histogram(),
         .file = "histogram.tsv",
         .key = "pairs"},
        {.name = "bin_width",
         .help = "width of the bins of the histogram",
         .value = pairs.bin_width(),
         .file = "parameters",
         .key = "bin-width"},
        {.name = "neighbour_starts",
         .help = "int64 [frame + 1], with cutoff: those of frame i are numbers starts[i] to "
                 "starts[i + 1] - 1 of the neighbours",
         .value = with_cutoff(near.starts),
         .file = "neighbours.npz",
         .key = "starts"},
        {.name = "neighbour_indices",
         .help = "int32 [neighbour], frames",
         .value = with_cutoff(near.indices),
         .file = "neighbours.npz",
         .key = "indices",
         .table = "neighbours",
         .header = "j"},
        {.name = "neighbour_values",
         .help = "float32 [neighbour]",
         .value = with_cutoff(near.values),
         .file = "neighbours.npz",
         .key = "{metric}",
         .table = "neighbours",
         .header = "value"},
        {.name = "",
         .help = "the cutoff",
         .value = parameters.cutoff,
         .file = "neighbours.npz",
         .key = "cutoff"},
        {.name = "best_indices",
         .help = "int32 [frame, rank], nearest first, with `nearest`",
         .value = with_nearest(best.indices),
         .file = "best.npz",
         .key = "indices",
         .table = "best",
         .header = "j"},
        {.name = "best_values",
         .help = "float32 [frame, rank]",
         .value = with_nearest(best.values),
         .file = "best.npz",
         .key = "{metric}",
         .table = "best",
         .header = "value"},
        {.name = "_coordinates",
         .help = "frames from which pairs near a cutoff can be recomputed, or None",
         .value = ColumnValue::kept("Any")},
        {.name = "_weights",
         .help = "weights of the atoms of these",
         .value = ColumnValue::kept("Any")},
        {.name = "_precision",
         .help = "precision of the superposition",
         .value = names_of(Precision())[static_cast<std::size_t>(parameters.precision)],
         .file = "parameters",
         .key = "precision"},
    };
}

void write_results(RunDirectory& run, const Result& result, const Parameters& parameters) {
    write_histogram(run, result.statistics);
    ResultColumns all = columns(result, parameters);
    record(run, all);
    std::erase_if(all, [](const ResultColumn& one) { return one.file == kResidueArray; });
    write_arrays(run, all);
}

void write_reference(RunDirectory& run, const Result& result, const Parameters& parameters,
                     const std::vector<FrameOrigin>& origins, const std::vector<std::string>& files,
                     const Topology& topology, const std::vector<Index>& residues) {
    const ResultColumns all = columns(result, parameters);
    write_table(
        run, all, "reference.tsv", {{"frame", [](std::size_t row) { return std::to_string(row); }}},
        {{"file",
          [&](std::size_t row) {
              return table_cell(files[static_cast<std::size_t>(origins[row].file)]);
          }},
         {"frame_of_file", [&](std::size_t row) { return std::to_string(origins[row].frame); }}});
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
        const auto at = static_cast<std::size_t>(k);
        const double rmsf = fluctuations.rmsf[at], distance = fluctuations.distance[at];
        atoms += fmt::format("{}\t{}\t{:.6g}\t{:.6g}\n", columns,
                             printable(topology.atoms[at].name), rmsf, distance);
        const double own = weights.empty() ? 1.0 : weights[at];
        squares += own * rmsf * rmsf;
        distances += own * distance * distance;
        weight += own;
        ++count;
        const bool is_last = k + 1 == topology.atom_count() ||
                             topology.atoms[at + 1].residue != topology.atoms[at].residue;
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

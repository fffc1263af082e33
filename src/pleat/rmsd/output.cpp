// Output: the table of the histogram, neighbours in compressed rows, and nearest frames.
#include "pleat/rmsd/output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "pleat/core/files/npy.h"
#include "pleat/core/files/output_file.h"
#include "pleat/core/files/text.h"
#include "pleat/rmsd/measures/metric.h"

namespace pleat::rmsd {

namespace {

template <class T>
void add_vector(NpzWriter& writer, std::string_view name, const std::vector<T>& values) {
    writer.add(name, values.data(), {static_cast<Index>(values.size())});
}

std::string histogram_table(const PairStatistics& pairs) {
    std::string text = "from\tto\tpairs\n";
    const std::vector<std::int64_t>& counts = pairs.histogram();
    for (std::size_t n = 0; n < counts.size(); ++n) {
        const bool is_last = static_cast<Index>(n) == kMaxBins - 1;
        const double from = static_cast<double>(n) * pairs.bin_width(),
                     to = static_cast<double>(n + 1) * pairs.bin_width();
        text += is_last ? fmt::format("{:.6g}\tNA\t{}\n", from, counts[n])
                        : fmt::format("{:.6g}\t{:.6g}\t{}\n", from, to, counts[n]);
    }
    return text;
}

/// Chain, number with insertion code, and name.
std::string residue_columns(const Topology::Residue& residue) {
    std::string number = std::to_string(residue.number);
    if (residue.insertion != ' ') number += residue.insertion;
    return fmt::format("{}\t{}\t{}", printable(residue.chain), printable(number),
                       printable(residue.name));
}

}  // namespace

void write_results(RunDirectory& run, const Result& result, const Parameters& parameters) {
    write_text(run.output("histogram.tsv"), histogram_table(result.statistics));
    const std::string_view metric = traits_of(parameters.metric).name;
    if (parameters.cutoff) {
        NpzWriter writer(run.output("neighbours.npz"));
        add_vector(writer, "starts", result.neighbours.starts);
        add_vector(writer, "indices", result.neighbours.indices);
        add_vector(writer, metric, result.neighbours.values);
        writer.add_scalar("cutoff", *parameters.cutoff);
        writer.close();
    }
    if (parameters.nearest > 0) {
        NpzWriter writer(run.output("best.npz"));
        writer.add("indices", result.nearest.indices.view());
        writer.add(metric, result.nearest.values.view());
        writer.close();
    }
}

void write_reference(RunDirectory& run, const std::vector<float>& values, Metric metric,
                     const std::vector<FrameOrigin>& origins,
                     const std::vector<std::string>& files) {
    std::string text = fmt::format("frame\t{}\tfile\tframe_of_file\n", traits_of(metric).name);
    for (std::size_t n = 0; n < values.size(); ++n)
        text += fmt::format("{}\t{:.6g}\t{}\t{}\n", n, values[n],
                            table_cell(files[static_cast<std::size_t>(origins[n].file)]),
                            origins[n].frame);
    write_text(run.output("reference.tsv"), text);
}

void write_residue_lddt(RunDirectory& run, const Topology& topology,
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
    write_npy(run.output("lddt_residues.npy"), lddt.values.data(), {frames, lddt.values.extent(1)});
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

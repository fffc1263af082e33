// Output: the histogram's table, neighbours in compressed rows, and the best of each frame.
#include "pleat/rmsd/output.h"

#include <fmt/format.h>

#include <string>

#include "pleat/core/npy.h"
#include "pleat/core/output_file.h"

namespace pleat::rmsd {

namespace {

template <class T>
void add_vector(NpzWriter& writer, std::string_view name, const std::vector<T>& values) {
    writer.add(name, values.data(), {static_cast<Index>(values.size())});
}

std::string histogram_table(const Result& result, double bin) {
    std::string text = "from\tto\tpairs\n";
    for (std::size_t n = 0; n < result.histogram.size(); ++n) {
        const bool is_open = static_cast<Index>(n) == kMostBins - 1;
        const double from = static_cast<double>(n) * bin, to = static_cast<double>(n + 1) * bin;
        text += is_open ? fmt::format("{:.6g}\tNA\t{}\n", from, result.histogram[n])
                        : fmt::format("{:.6g}\t{:.6g}\t{}\n", from, to, result.histogram[n]);
    }
    return text;
}

}  // namespace

void write_results(RunDirectory& run, const Result& result, const Parameters& parameters) {
    write_text(run.output("histogram.tsv"), histogram_table(result, parameters.bin));
    if (parameters.has_cutoff()) {
        NpzWriter writer(run.output("neighbours.npz"));
        add_vector(writer, "starts", result.neighbours.starts);
        add_vector(writer, "indices", result.neighbours.indices);
        add_vector(writer, "rmsd", result.neighbours.rmsd);
        writer.add_scalar("cutoff", parameters.cutoff);
        writer.close();
    }
    if (parameters.best > 0) {
        NpzWriter writer(run.output("best.npz"));
        writer.add("indices", result.best.indices.view());
        writer.add("rmsd", result.best.rmsd.view());
        writer.close();
    }
}

}  // namespace pleat::rmsd

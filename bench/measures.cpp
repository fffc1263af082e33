// Times all pairs of frames by any metric on any device, as JSON.
//
// bench_measures METRIC FRAMES ATOMS [DEVICE]   one of rmsd, drmsd, tm, gdt_ts, lddt; cuda
//     measure: RMSD of half of the atoms after superposing the other half
//
// Frames are scattered by 1 angstrom around a random walk. A run makes a histogram and no matrix;
// its seconds are those of the whole call, of which the first also starts the GPU.
#include <chrono>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "pleat/core/loops/parallel.h"
#include "pleat/rmsd/measures/metric.h"
#include "pleat/rmsd/rmsd.h"
#include "pleat/rmsd/tests/random_ensemble.h"

namespace {

using namespace pleat;
using Json = nlohmann::ordered_json;

double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

Json run(std::string_view metric, Index frames, Index atoms, const std::string& device) {
    const Array<float, 3> xyz = rmsd::random_ensemble(frames, atoms, 1.0, 1);
    rmsd::AtomSets sets;
    rmsd::Parameters parameters;
    parameters.matrix = rmsd::MatrixLayout::none;
    if (metric == "measure")
        for (Index k = 0; k < atoms; ++k) (k % 2 == 0 ? sets.fit : sets.measured).push_back(k);
    else
        parameters.metric = rmsd::metric_named(metric);
    if (rmsd::traits_of(parameters.metric).is_score) parameters.bin_width = 0.01;
    Context context;
    context.device = Device::parse(device);
    context.threads = available_threads();
    Json told{{"metric", metric}, {"frames", frames}, {"atoms", atoms}};
    for (int repeat = 0; repeat < 3; ++repeat) {
        const double start = now();
        const rmsd::Result result = rmsd::run(xyz.view(), sets, parameters, context, {});
        told["seconds"].push_back(now() - start);
        told["pairs"] = result.statistics.pairs();
        told["mean"] = result.statistics.mean();
        if (told["seconds"].back() > 20) break;  // one is enough
    }
    return told;
}

}  // namespace

int main(int count, char** words) {
    try {
        if (count < 4) throw std::invalid_argument("expected METRIC FRAMES ATOMS [DEVICE]");
        std::cout << run(words[1], std::atoll(words[2]), std::atoll(words[3]),
                         count > 4 ? words[4] : "cuda")
                         .dump(1)
                  << std::endl;
    } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
        return 1;
    }
    return 0;
}

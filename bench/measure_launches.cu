// Times each kernel of dRMSD and lDDT on a GPU, and what comes before them, as JSON.
//
// bench_measure_launches METRIC FRAMES ATOMS   drmsd or lddt
#include <chrono>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "pleat/core/cuda/cuda_gpu.cuh"
#include "pleat/core/loops/parallel.h"
#include "pleat/rmsd/cuda/drmsd_on_gpu.cuh"
#include "pleat/rmsd/cuda/gpu_comparison.cuh"
#include "pleat/rmsd/cuda/lddt_on_gpu.cuh"
#include "pleat/rmsd/tests/random_ensemble.h"

namespace {

using namespace pleat;
using Json = nlohmann::ordered_json;

double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

/// A GPU that waits for each launch and adds its seconds to those of its name.
class WatchedGpu : public pleat::cuda::CudaGpu {
public:
    WatchedGpu(int index, std::map<std::string, double>& seconds)
        : CudaGpu(index), seconds_(&seconds) {}
    template <class... Arguments>
    void launch(const char* what, Arguments&&... arguments) const {
        pleat::cuda::Timer timer;
        timer.start();
        CudaGpu::launch(what, std::forward<Arguments>(arguments)...);
        timer.stop();
        (*seconds_)[what] += timer.seconds();
    }

private:
    std::map<std::string, double>* seconds_;
};

template <class Measure>
double count(Measure measure, Index frames, const WatchedGpu& gpu) {
    const rmsd::cuda::GpuComparison<WatchedGpu, Measure> comparison(std::move(measure), frames,
                                                                    available_threads(), gpu);
    const double start = now();
    const Index band = std::max<Index>(1, (Index{1} << 28) / frames / 128) * 128;
    PairCounts counts;
    for (Index row = 0; row < frames; row += band)
        comparison.counter()->count({row, std::min(band, frames - row)}, {0.05, 0.0, false},
                                    counts);
    return now() - start;
}

Json run(const std::string& metric, Index frames, Index atoms) {
    const Array<float, 3> xyz = rmsd::random_ensemble(frames, atoms, 1.0, 1);
    std::map<std::string, double> seconds;
    const WatchedGpu gpu(0, seconds);
    Json told{{"metric", metric}, {"frames", frames}, {"atoms", atoms}};
    for (int repeat = 0; repeat < 2; ++repeat) {
        seconds.clear();
        const double start = now();
        if (metric == "drmsd") {
            rmsd::cuda::DrmsdOnGpu<WatchedGpu> measure(
                xyz.view(), xyz.view(), {}, rmsd::FitPrecision::mixed, gpu, gpu.free_bytes() / 2);
            told["made"] = now() - start;
            told["counted"] = count(std::move(measure), frames, gpu);
        } else {
            const auto shared = std::make_shared<const Array<float, 3>>(xyz);
            rmsd::cuda::LddtOnGpu<WatchedGpu> measure({shared, shared, {}}, gpu,
                                                      gpu.free_bytes() / 2);
            told["made"] = now() - start;
            told["counted"] = count(std::move(measure), frames, gpu);
        }
        told["launches"] = seconds;
    }
    return told;
}

}  // namespace

int main(int count, char** words) {
    try {
        if (count < 4) throw std::invalid_argument("expected METRIC FRAMES ATOMS");
        std::cout << run(words[1], std::atoll(words[2]), std::atoll(words[3])).dump(1) << std::endl;
    } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
        return 1;
    }
    return 0;
}

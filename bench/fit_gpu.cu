// Times RMSDs of other atoms, of two sets and over permutations of chains on a GPU, beside the
// limit of float64, as JSON.
//
// bench_fit_gpu [PART], PART one of
//   measure   20000 frames, 100 atoms superposed, 100 others measured, each with each
//   against   100000 frames of 100 atoms with 1000
//   place     20000 frames of 100 atoms in place, each with each
//   chains    5000 frames of 4 equal chains of 100 atoms, each with each
#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <iostream>
#include <numeric>
#include <string>
#include <vector>

#include "made_ensemble.h"
#include "pleat/core/cuda/cuda_gpu.cuh"
#include "pleat/rmsd/cuda/fit_on_gpu.cuh"
#include "pleat/rmsd/cuda/gpu_comparisons.h"
#include "pleat/rmsd/cuda/permuted_on_gpu.cuh"
#include "product_ceilings.h"

namespace {

using namespace pleat;
using namespace pleat::rmsd;
using Gpu = pleat::cuda::CudaGpu;

double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

Context context_of(Device::Kind kind) {
    Context context;
    context.device = {kind, 0};
    context.threads = available_threads();
    return context;
}

struct Case {
    const char* name;
    Array<float, 3> rows, columns;  ///< no columns: each row with each
    AtomSets sets;
    double products = 0.0;  ///< of coordinates, for a pair

    View<const float, 3> others() const {
        return columns.size() > 0 ? columns.view() : rows.view();
    }
    double pairs() const {
        return static_cast<double>(rows.extent(0)) * static_cast<double>(others().extent(0));
    }
};

/// Seconds of the kernels for all pairs, by the GPU's clock: the least of three.
template <class Measure>
double kernel_seconds(Measure measure, Index rows, Index columns) {
    constexpr Index kValues = Index{1} << 27;
    const Index height = std::min(rows, std::max<Index>(1, kValues / columns));
    Gpu::Array<float> values(height * columns);
    double best = INFINITY;
    for (int repeat = 0; repeat < 3; ++repeat) {
        pleat::cuda::Timer timer;
        timer.start();
        for (Index first = 0; first < rows; first += height)
            measure.run({first, std::min(height, rows - first)}, {0, columns}, values.data());
        timer.stop();
        best = std::min(best, timer.seconds());
    }
    return best;
}

double kernel_seconds(const Case& given) {
    const int threads = available_threads();
    const Index rows = given.rows.extent(0), columns = given.others().extent(0);
    const bool is_one = given.columns.size() == 0;
    if (!given.sets.equal_chains.empty()) {
        const PlaceTable table(given.sets.equal_chains, true, given.rows.extent(1));
        const Frames frames = centre(given.rows, {}, threads);
        return kernel_seconds(rmsd::cuda::PermutedOnGpu<Gpu>(frames, 0, table, 0.0, Gpu(0)), rows,
                              columns);
    }
    const FitFrames p = fit_frames(given.rows, given.sets, threads);
    const FitFrames q = is_one ? FitFrames() : fit_frames(given.columns, given.sets, threads);
    return kernel_seconds(rmsd::cuda::FitOnGpu<Gpu>(p, is_one ? p : q, 0.0, Gpu(0)), rows, columns);
}

/// Seconds of the whole call: packing, kernels, and values copied to the host; and how far some of
/// them are from the reference.
void tell(const Case& given, bool is_last) {
    const Index rows = given.rows.extent(0), columns = given.others().extent(0);
    const double kernels = kernel_seconds(given);
    const TwoSets sides{given.rows, given.others()};
    constexpr Index kValues = Index{1} << 27;
    const Index height = std::min(rows, std::max<Index>(1, kValues / columns));
    std::vector<float> values(static_cast<std::size_t>(height * columns)), first;
    const double start = now();
    const auto comparison =
        make_comparison(sides, given.sets, Metric::rmsd, {}, context_of(Device::Kind::cuda));
    const double packed = now();
    for (Index row = 0; row < rows; row += height) {
        comparison->block({row, std::min(height, rows - row)}, {0, columns}, values.data());
        if (row == 0) first.assign(values.begin(), values.begin() + columns);
    }
    const double end = now();
    const auto reference =
        make_comparison(sides, given.sets, Metric::rmsd, {}, context_of(Device::Kind::reference));
    const auto cpu =
        make_comparison(sides, given.sets, Metric::rmsd, {}, context_of(Device::Kind::cpu));
    const Index some = std::min<Index>(columns, 1000);
    std::vector<float> expected(static_cast<std::size_t>(some));
    reference->block({0, 1}, {0, some}, expected.data());
    double worst = 0.0;
    for (Index n = 0; n < some; ++n)
        worst = std::max(worst, std::fabs(double{first[n]} - expected[n]));
    const double cpu_start = now();
    compare(*cpu, {0, 16}, {0, some}, 1, values.data());
    const double cpu_pair = (now() - cpu_start) / static_cast<double>(16 * some);
    const double floor = given.pairs() * 9.0 * given.products;
    const double vector_rate = bench::multiply_adds_a_second(bench::Product::float64),
                 tensor_rate = bench::multiply_adds_a_second(bench::Product::float64_tensor);
    std::cout << " \"" << given.name << "\": {\"pairs\": " << given.pairs()
              << ", \"kernel_seconds\": " << kernels
              << ", \"nanoseconds_a_pair\": " << 1e9 * kernels / given.pairs()
              << ", \"pack_seconds\": " << packed - start
              << ", \"values_on_host_seconds\": " << end - packed
              << ", \"fraction_of_vector_float64\": " << floor / vector_rate / kernels
              << ", \"fraction_of_tensor_float64\": " << floor / tensor_rate / kernels
              << ", \"vector_multiply_adds_a_second\": " << vector_rate
              << ", \"tensor_multiply_adds_a_second\": " << tensor_rate
              << ", \"worst_error\": " << worst
              << ", \"cpu_thread_nanoseconds_a_pair\": " << 1e9 * cpu_pair << '}'
              << (is_last ? "" : ",") << std::endl;
}

Array<float, 3> made(Index frames, Index atoms) {
    return bench::MadeEnsemble(atoms, 20, 1).frames(frames, available_threads());
}

/// The frames from `first` on.
Array<float, 3> part_of(const Array<float, 3>& xyz, Index first, Index count) {
    auto some = Array<float, 3>::unset(count, xyz.extent(1), Index{3});
    std::copy_n(xyz[first].data, some.size(), some.data());
    return some;
}

std::vector<Index> atoms_from(Index first, Index count) {
    std::vector<Index> atoms(static_cast<std::size_t>(count));
    std::iota(atoms.begin(), atoms.end(), first);
    return atoms;
}

Case case_named(const std::string& part) {
    if (part == "measure") {
        Case one{"measure", made(20000, 200), {}, {}, 200};
        one.sets.fit = atoms_from(0, 100);
        one.sets.measured = atoms_from(100, 100);
        return one;
    }
    if (part == "against") {
        const Array<float, 3> all = made(101000, 100);
        return {"against", part_of(all, 0, 100000), part_of(all, 100000, 1000), {}, 100};
    }
    if (part == "place") {
        Case one{"place", made(20000, 100), {}, {}, 100.0 / 3};
        one.sets.in_place = true;
        return one;
    }
    if (part == "chains") {
        Case one{"chains", made(5000, 400), {}, {}, 1600};
        one.sets.equal_chains.emplace_back();
        for (Index chain = 0; chain < 4; ++chain)
            one.sets.equal_chains.back().push_back(atoms_from(100 * chain, 100));
        return one;
    }
    throw std::invalid_argument("expected measure, against, place or chains, found " + part);
}

}  // namespace

int main(int count, char** words) {
    try {
        std::vector<std::string> parts{"measure", "against", "place", "chains"};
        if (count > 1) parts = {words[1]};
        std::cout << "{\n";
        for (const std::string& part : parts) tell(case_named(part), part == parts.back());
        std::cout << '}' << std::endl;
    } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
        return 1;
    }
    return 0;
}

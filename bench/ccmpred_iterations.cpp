// Prints the objective that CCMpred's optimiser reaches in a given number of iterations.
//
// bench_ccmpred_iterations DEVICE ITERATIONS FILE...   one line of JSON a file
//
// The same start, search directions and line search as `pleat couplings --compatible ccmpred`, but
// on it goes when the objective hardly falls, and inner products stay on the device, in double
// precision. That program's single precision makes somewhat other steps: CheY's family (1000 x 126)
// is at 88169 after 34 iterations there, where its rule stops, at 88852 here, and at 87840 here
// after 50; the minimum is 86947.
#include <cstdio>
#include <exception>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "pleat/bio/alignment/read_alignment.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/core/math/minimise.h"
#include "pleat/couplings/fit/compatible.h"
#include "pleat/couplings/kernel/kernel.h"
#include "pleat/weights/weights.h"

namespace {

using namespace pleat;
using namespace pleat::couplings;

void print_objective(const Context& context, Index iterations, const char* path) {
    const Alignment alignment = read_alignment(path);
    const std::vector<double> weights = weights::sequence_weights(alignment.letters, 0.8, context);
    Problem problem;
    problem.letters = alignment.letters;
    problem.weights = View<const double, 1>(weights.data(), alignment.sequence_count());
    problem.letter_count = alignment.alphabet->size();
    problem.lambda_pair = 0.2 * static_cast<double>(alignment.column_count() - 1);
    problem.scaled = false;
    problem.pair_metric = 2;
    const std::unique_ptr<Kernel> kernel = make_kernel(problem, context);
    PlainObjective vectors(*kernel);
    ConjugateGradients minimiser(vectors, {.min_fall = -std::numeric_limits<double>::infinity()});
    kernel->set_fields(minimiser.x(), independent_fields(alignment, resolve_threads(context)));
    minimiser.start();
    const double start = minimiser.objective();
    while (minimiser.iterations() < iterations &&
           minimiser.step() == ConjugateGradients::Outcome::moved) {
    }
    std::printf(
        "{\"alignment\": \"%s\", \"iterations\": %lld, \"evaluations\": %lld, "
        "\"start\": %.10g, \"objective\": %.10g}\n",
        std::filesystem::path(path).filename().c_str(),
        static_cast<long long>(minimiser.iterations()),
        static_cast<long long>(minimiser.evaluations()), start, minimiser.objective());
    std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) try {
    if (argc < 4) {
        std::fprintf(stderr, "bench_ccmpred_iterations DEVICE ITERATIONS FILE...\n");
        return 2;
    }
    Context context;
    context.device = Device::parse(argv[1]);
    const Index iterations = std::stoll(argv[2]);
    for (int k = 3; k < argc; ++k) print_objective(context, iterations, argv[k]);
    return 0;
} catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}

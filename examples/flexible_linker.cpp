// Example: conformations of two domains on a flexible linker, and the distances between them.
//
//     flexible_linker data/1a8o.pdb.gz A:174-179
#include <algorithm>
#include <cstdio>
#include <exception>
#include <vector>

#include "pleat/bio/ensemble/ensemble.h"
#include "pleat/workflows/refine/refine.h"

int main(int count, char** values) {
    using namespace pleat;
    if (count != 3) {
        std::fprintf(stderr, "usage: flexible_linker STRUCTURE LINKERS\n");
        return 2;
    }
    try {
        refine::Parameters parameters;
        parameters.linkers = values[2];
        parameters.frames = 400;
        parameters.moves = 20;
        EnsembleOptions first_model;
        first_model.range = {.first = 0, .last = 1};
        const Ensemble structure = read_ensemble({values[1]}, first_model);
        const refine::Result pool = refine::run(structure, {}, parameters, Context{});
        std::printf("%td frames, %td angles change\n",
                    static_cast<std::ptrdiff_t>(pool.frames.frame_count()),
                    static_cast<std::ptrdiff_t>(pool.hinges));
        for (const refine::Quantity& quantity : pool.quantities) {
            std::vector<double> sorted = quantity.values;
            std::sort(sorted.begin(), sorted.end());
            std::printf("%s: %.1f to %.1f angstrom in 90 %% of frames, R-hat %.3f\n",
                        quantity.name.c_str(), sorted[sorted.size() / 20],
                        sorted[sorted.size() - 1 - sorted.size() / 20], quantity.convergence.r_hat);
        }
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 3;
    }
}

// Kernel: the certified gap, defaults for kernels that only know whole models, choice of a device.
#include "pleat/couplings/kernel/kernel.h"

#include <algorithm>
#include <cmath>

#include "pleat/core/error.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/couplings/contacts/scores.h"

namespace pleat::couplings {

double certified_gap(const Evaluation& at, const Problem& problem) {
    return at.field_gradient2 / (4 * problem.lambda_single) +
           at.pair_gradient2 / (4 * problem.lambda_pair);
}

double relative_gradient(const Evaluation& at) {
    return std::sqrt(at.field_gradient2 + at.pair_gradient2) / std::max(1.0, std::sqrt(at.point2));
}

void check_objective(const Evaluation& at) {
    if (!std::isfinite(at.objective))
        throw UsageError(
            "the objective is not a finite number; change --lambda-single, --lambda-pair or the "
            "model of --initial");
}

Array<double, 2> Kernel::raw_scores(int vector, int threads) const {
    return frobenius_scores(model(vector), threads);
}

void Kernel::set_fields(int vector, View<const float, 2> fields) {
    const Index columns = fields.extent(0), letters = fields.extent(1);
    Model model{Array<float, 2>(columns, letters),
                Array<float, 3>(columns * (columns - 1) / 2, letters, letters)};
    std::copy(fields.begin(), fields.end(), model.fields.begin());
    set_model(vector, model);
}

void set_start(Kernel& kernel, int vector, const Model& start) {
    if (start.pairs.size() == 0) {
        kernel.set_fields(vector, start.fields);
    } else {
        kernel.set_model(vector, start);
    }
}

std::unique_ptr<Kernel> make_kernel(const Problem& problem, const Context& context) {
    switch (context.device.kind) {
        case Device::Kind::reference: return make_reference_kernel(problem);
        case Device::Kind::cpu: return make_cpu_kernel(problem, resolve_threads(context));
        case Device::Kind::cuda: break;
    }
    return make_cuda_kernel(problem, context.device.index);
}

}  // namespace pleat::couplings

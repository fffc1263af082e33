// Compatible: repeats CCMpred's fit, including its rounding, its counts and its stop rule.
#include "pleat/couplings/fit/compatible.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

#include <fmt/format.h>

#include "pleat/core/error.h"
#include "pleat/core/files/hash.h"
#include "pleat/core/files/npy.h"
#include "pleat/core/loops/iterate.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/core/math/minimise.h"

namespace pleat::couplings {

namespace {

constexpr Index kMaxIterations = 250;

// Sums inner products term by term in single precision, like CCMpred. Such a sum of 10^6 squares
// loses small terms (0.2 % of |g|^2 for 75 columns, 0.5 % for 126), and steps depend on it.
class SinglePrecisionObjective final : public PlainObjective {
public:
    SinglePrecisionObjective(Kernel& kernel, int threads)
        : PlainObjective(kernel), threads_(threads) {}
    void dots(int a, std::span<const int> others, std::span<double> out) override {
        for (std::size_t k = 0; k < others.size(); ++k) out[k] = single_precision_dot(a, others[k]);
    }

private:
    // CCMpred's order: the fields [letter][column], then both orders of each pair as [letter
    // b][column k] [letter a][column j].
    float single_precision_dot(int a, int b) {
        Model product = kernel_.model(a);
        const Index columns = product.column_count(), letters = product.letter_count();
        if (a == b) {
            for (float& value : product.fields) value *= value;
            for (float& value : product.pairs) value *= value;
        } else {
            const Model other = kernel_.model(b);
            std::transform(product.fields.begin(), product.fields.end(), other.fields.begin(),
                           product.fields.begin(), std::multiplies<>());
            std::transform(product.pairs.begin(), product.pairs.end(), other.pairs.begin(),
                           product.pairs.begin(), std::multiplies<>());
        }
        if (terms_.size() == 0) terms_ = Array<float, 4>(letters, columns, letters, columns);
        parallel_for(threads_, columns, [&](Index k, int) {
            for (Index j = 0; j < columns; ++j) {
                if (j == k) continue;
                const auto block =
                    product.pairs[pair_index(std::min(j, k), std::max(j, k), columns)];
                for (Index at_k = 0; at_k < letters; ++at_k) {
                    float* to = &terms_(at_k, k, 0, j);
                    for (Index at_j = 0; at_j < letters; ++at_j) {
                        to[at_j * columns] = j < k ? block(at_j, at_k) : block(at_k, at_j);
                    }
                }
            }
        });
        float sum = 0;
        for (Index letter = 0; letter < letters - 1; ++letter) {
            for (Index i = 0; i < columns; ++i) sum += product.fields(i, letter);
        }
        for (const float term : terms_) sum += term;
        return sum;
    }

    int threads_;
    Array<float, 4> terms_;  ///< reused by all products; zero at j = k
};

// The checkpoint: the minimiser and the evaluation of its point, which is the result after the last
// step.
class CompatibleState final : public State {
public:
    CompatibleState(ConjugateGradients& minimiser, std::function<std::string()> problem)
        : minimiser_(minimiser), problem_(std::move(problem)) {}
    std::string problem() const override { return problem_(); }
    void save(NpzWriter& writer) const override {
        minimiser_.save(writer);
        const double numbers[] = {at.objective, at.field_gradient2, at.pair_gradient2, at.point2};
        writer.add("evaluation", numbers, {4});
        writer.add_scalar("ending", static_cast<int>(stop_reason));
    }
    void load(const NpzReader& reader) override {
        minimiser_.load(reader);
        const auto numbers = reader.get("evaluation").as<double>(reader.label("evaluation"));
        const std::int64_t number = reader.integer("ending");
        if (numbers.size() != 4 || number < 0 || number > static_cast<int>(StopReason::stalled)) {
            throw InputError(reader.label("evaluation") +
                             ": expected 4 numbers and a stop reason, found " +
                             std::to_string(numbers.size()) + " and " + std::to_string(number));
        }
        at = {numbers[0], numbers[1], numbers[2], numbers[3]};
        stop_reason = static_cast<StopReason>(number);
    }

    Evaluation at;
    StopReason stop_reason = StopReason::iteration_limit;

private:
    ConjugateGradients& minimiser_;
    std::function<std::string()> problem_;
};

std::string problem_hash(const Problem& problem, const Model& start, const Device& device) {
    Sha256 hash;
    hash.field("ccmpred").field(device.kind_name()).field(problem.letters).field(problem.weights);
    hash.field(problem.lambda_single).field(problem.lambda_pair);
    hash.field(start.fields.view()).field(start.pairs.view());
    return hash.hex();
}

}  // namespace

Array<float, 2> independent_fields(const Alignment& alignment, int threads) {
    const Index columns = alignment.column_count(), sequences = alignment.sequence_count();
    const int letters = alignment.alphabet->size();
    Array<float, 2> fields(columns, letters);
    constexpr Index kBlock = 64;  // columns that a thread counts at a time, row by row
    parallel_for(threads, (columns + kBlock - 1) / kBlock, [&](Index block, int) {
        const Index first = block * kBlock, last = std::min(first + kBlock, columns);
        std::vector<double> counts(static_cast<std::size_t>((last - first) * letters), 1.0);
        for (Index n = 0; n < sequences; ++n)
            for (Index i = first; i < last; ++i)
                counts[static_cast<std::size_t>((i - first) * letters) + alignment.letters(n, i)] +=
                    1;
        for (Index i = first; i < last; ++i) {
            const double* of_column = counts.data() + (i - first) * letters;
            for (int a = 0; a < letters - 1; ++a)
                fields(i, a) = static_cast<float>(std::log(of_column[a] / of_column[letters - 1]));
        }
    });
    return fields;
}

int fit_compatible(const Problem& problem, const Model& start, std::int64_t max_iterations,
                   const Context& context, Kernel& kernel, Result& result) {
    SinglePrecisionObjective vectors(kernel, resolve_threads(context));
    ConjugateGradients minimiser(vectors, {});
    CompatibleState state(minimiser, [&] { return problem_hash(problem, start, context.device); });
    set_start(kernel, minimiser.x(), start);
    const auto step = [&](std::int64_t done) {
        Step report;
        if (done == 0) {
            minimiser.start();
            report.finished = minimiser.is_converged_at_start();
            if (report.finished) state.stop_reason = StopReason::compatible_rule;
        } else {
            const ConjugateGradients::Outcome outcome = minimiser.step();
            report.finished = outcome != ConjugateGradients::Outcome::moved;
            if (outcome == ConjugateGradients::Outcome::converged)
                state.stop_reason = StopReason::compatible_rule;
            if (outcome == ConjugateGradients::Outcome::failed)
                state.stop_reason = StopReason::stalled;
        }
        state.at = kernel.latest();
        check_objective(state.at);
        report.note = fmt::format("f {:.8g}", state.at.objective);
        return report;
    };
    iterate(context, "fit", state, std::min(max_iterations, kMaxIterations) + 1, step);
    result.objective = state.at.objective;
    result.relative_gap = certified_gap(state.at, problem) / std::abs(state.at.objective);
    result.relative_gradient = relative_gradient(state.at);
    result.iterations = minimiser.iterations();
    result.evaluations = minimiser.evaluations();
    result.stop_reason = state.stop_reason;
    return minimiser.x();
}

}  // namespace pleat::couplings

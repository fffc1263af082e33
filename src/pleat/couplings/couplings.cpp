// Couplings: check, weigh, fit in the loop, score.
#include "pleat/couplings/couplings.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include <fmt/format.h>

#include "pleat/core/error.h"
#include "pleat/core/hash.h"
#include "pleat/core/iterate.h"
#include "pleat/core/npy.h"
#include "pleat/core/parallel.h"
#include "pleat/couplings/column_work.h"
#include "pleat/couplings/compatible.h"
#include "pleat/couplings/kernel.h"
#include "pleat/couplings/memory_check.h"
#include "pleat/couplings/model_file.h"
#include "pleat/couplings/scores.h"
#include "pleat/weights/weights.h"

namespace pleat::couplings {

namespace {

constexpr double kFieldShare = 1e-3;  // of the gap, left to the fields

// What the loop saves: the minimiser with its history, so that a resumed fit repeats every bit, and
// what is known of its latest point, for a fit that was killed between its end and its results.
class FitState final : public State {
public:
    FitState(Lbfgs& minimiser, Kernel& kernel, std::string problem_hash)
        : minimiser_(minimiser), kernel_(kernel), problem_(std::move(problem_hash)) {}

    std::string problem() const override { return problem_; }
    void save(NpzWriter& writer) const override {
        minimiser_.save(writer);
        writer.add_scalar("field_gap", kernel_.field_gap);
        writer.add_scalar("relative_gap", relative_gap);
        writer.add_scalar("relative_gradient", relative_gradient);
        writer.add_scalar("stalled", std::int64_t{stalled});
    }
    void load(const NpzReader& reader) override {
        minimiser_.load(reader);
        kernel_.field_gap = reader.scalar("field_gap");
        relative_gap = reader.scalar("relative_gap");
        relative_gradient = reader.scalar("relative_gradient");
        stalled = reader.integer("stalled") != 0;
        started = true;
    }

    bool reaches_limit() const override { return false; }

    bool started = false, stalled = false;
    double relative_gap = std::numeric_limits<double>::infinity(), relative_gradient = 0;

private:
    Lbfgs& minimiser_;
    Kernel& kernel_;
    std::string problem_;
};

std::string problem_hash(const Alignment& alignment, const Parameters& parameters,
                         const Model& start, const Device& device) {
    Sha256 hash;
    Parameters copy = parameters;
    hash.field(alignment.letters.view()).field(alignment.alphabet->name()).field(device.kind_name());
    for (const Field& field : fields(copy)) {
        if (field.name != "iterations") hash.field(field.name).field(field.text());
    }
    hash.field(start.fields.view());
    if (!parameters.initial.empty()) hash.field(start.pairs.view());  // else zero
    return hash.hex();
}

void check_input(const Alignment& alignment) {
    const std::string source = alignment.source.string();
    if (alignment.sequence_count() < 2) {
        throw InputError(fmt::format("{}: expected at least 2 sequences, found {}", source,
                                     alignment.sequence_count()));
    }
    if (alignment.column_count() < 2) {
        throw InputError(fmt::format("{}: expected at least 2 columns, found {}", source,
                                     alignment.column_count()));
    }
}

// e_i(a) = ln(c_a + 1) - ln(c_gap + 1) from unweighted counts, no couplings (Seemayer et al. 2014).
Model independent_model(const Alignment& alignment) {
    const Index columns = alignment.column_count();
    const int letters = alignment.alphabet->size();
    Model model{Array<float, 2>(columns, letters),
                Array<float, 3>(columns * (columns - 1) / 2, letters, letters)};
    Array<double, 2> counts(columns, letters);
    for (Index n = 0; n < alignment.sequence_count(); ++n) {
        for (Index i = 0; i < columns; ++i) counts(i, alignment.letters(n, i)) += 1;
    }
    for (Index i = 0; i < columns; ++i) {
        for (int a = 0; a < letters - 1; ++a) {
            model.fields(i, a) =
                static_cast<float>(std::log((counts(i, a) + 1) / (counts(i, letters - 1) + 1)));
        }
    }
    return model;
}

void fit(const Problem& problem, const Alignment& alignment, const Parameters& parameters,
         const Model& start, const Context& context, Kernel& kernel, Result& result) {
    // The fields need no more accuracy than the couplings have reached.
    kernel.field_gap = kFieldShare * result.effective_sequences *
                       static_cast<double>(alignment.column_count());
    Lbfgs minimiser(kernel, {.history = kHistory});
    FitState state(minimiser, kernel, problem_hash(alignment, parameters, start, context.device));
    kernel.set_model(minimiser.x(), start);
    const auto step = [&](std::int64_t) -> Step {
        if (!state.started) {
            minimiser.start();
            state.started = true;
        } else if (!minimiser.step()) {
            state.stalled = true;
            return {true, "no step lowers the objective any more"};
        }
        const Evaluation& at = kernel.latest();
        if (!std::isfinite(at.objective)) {
            throw UsageError("expected an objective that is a finite number, found none at these "
                             "values of --lambda-single, --lambda-pair and --initial");
        }
        state.relative_gap = certified_gap(at, problem) / std::abs(at.objective);
        state.relative_gradient = std::sqrt(at.field_gradient2 + at.pair_gradient2) /
                                  std::max(1.0, std::sqrt(at.point2));
        kernel.field_gap = kFieldShare * at.objective *
                           std::clamp(state.relative_gap, parameters.tolerance, 1.0);
        return {state.relative_gap <= parameters.tolerance,
                fmt::format("f {:.8g}  certified gap {:.1e}", at.objective, state.relative_gap)};
    };
    // The first step of the loop evaluates the start.
    result.iterations = iterate(context, "fit", state, parameters.iterations + 1, step) - 1;
    result.objective = minimiser.objective();
    result.relative_gap = state.relative_gap;
    result.relative_gradient = state.relative_gradient;
    result.ending = state.stalled                                  ? Ending::stalled
                    : state.relative_gap <= parameters.tolerance ? Ending::converged
                                                                   : Ending::iteration_limit;
    result.evaluations = minimiser.evaluations();
    result.model = kernel.model(minimiser.x());
}

}  // namespace

Result run(const Alignment& alignment, const Parameters& parameters, const Context& context) {
    Parameters checked = parameters;
    check(fields(checked));
    check_input(alignment);
    check_memory(alignment, context);

    Result result;
    const Index count = alignment.sequence_count(), columns = alignment.column_count();
    result.weights = parameters.weights ? weights::sequence_weights(alignment.letters,
                                                                    parameters.threshold, context)
                                        : std::vector<double>(count, 1.0);
    result.effective_sequences = weights::effective_count(result.weights);

    Problem problem;
    problem.letters = alignment.letters;
    problem.weights = View<const double, 1>(result.weights.data(), count);
    problem.letter_count = alignment.alphabet->size();
    problem.lambda_single = parameters.lambda_single;
    problem.lambda_pair = parameters.lambda_pair * static_cast<double>(columns - 1);
    if (parameters.compatible == "ccmpred") {
        problem.scaled = false;
        problem.pair_metric = 2;
    }
    const Model start = parameters.initial.empty() ? independent_model(alignment)
                                                   : read_model(parameters.initial, alignment);
    const std::unique_ptr<Kernel> kernel = make_kernel(problem, context);
    if (parameters.compatible == "ccmpred") {
        fit_compatible(problem, start, parameters.iterations, context, *kernel, result);
    } else {
        fit(problem, alignment, parameters, start, context, *kernel, result);
    }
    result.raw = frobenius_scores(result.model, resolve_threads(context));
    result.corrected = parameters.apc ? average_product_correction(result.raw) : result.raw;
    return result;
}

}  // namespace pleat::couplings

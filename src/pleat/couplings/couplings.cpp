// Couplings: checks the input, computes weights, fits, and scores.
#include "pleat/couplings/couplings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <utility>

#include "pleat/bio/alignment/filter.h"
#include "pleat/core/error.h"
#include "pleat/core/files/hash.h"
#include "pleat/core/files/npy.h"
#include "pleat/core/loops/iterate.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/core/ranks/lanes.h"
#include "pleat/couplings/contacts/scores.h"
#include "pleat/couplings/files/model_file.h"
#include "pleat/couplings/files/weights_file.h"
#include "pleat/couplings/fit/compatible.h"
#include "pleat/couplings/fit/memory_estimate.h"
#include "pleat/couplings/kernel/column_work.h"
#include "pleat/couplings/kernel/kernel.h"
#include "pleat/weights/weights.h"

namespace pleat::couplings {

namespace {

constexpr double kFieldShare = 1e-3;  // fraction of the gap that the fields may keep
constexpr double kCoarseTolerance =
    1e-5;  // from this tolerance on, rounding errors of 1e-6 do not matter

// Checkpoint of a fit: the minimiser with its history, so that a resumed fit is bit-identical, and
// the results at its latest point, for a fit that was killed after its last step.
class FitState final : public State {
public:
    FitState(Lbfgs& minimiser, Kernel& kernel, int history,
             std::function<std::string()> problem_hash)
        : minimiser_(minimiser),
          kernel_(kernel),
          history_(history),
          problem_(std::move(problem_hash)) {}

    // Computed at first use: a short fit never saves.
    std::string problem() const override { return problem_(); }
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
    std::int64_t bytes() const override { return 4 * (2 + 2 * history_) * kernel_.size(); }

    bool started = false, stalled = false;
    double relative_gap = std::numeric_limits<double>::infinity(), relative_gradient = 0;

private:
    Lbfgs& minimiser_;
    Kernel& kernel_;
    int history_;
    std::function<std::string()> problem_;
};

std::string problem_hash(const Alignment& alignment, const Parameters& parameters,
                         View<const double, 1> weights, const Model& start, const Device& device) {
    Sha256 hash;
    Parameters copy = parameters;
    hash.field(alignment.letters.view())
        .field(alignment.alphabet->name())
        .field(device.kind_name());
    for (const Field& field : fields(copy)) {
        if (field.name != "max-iterations" && field.name != "models" && field.name != "norm" &&
            field.name != "weights")
            hash.field(field.name).field(field.text());
    }
    if (!parameters.weights.empty()) hash.field(weights);
    hash.field(start.fields.view());
    if (start.pairs.size() > 0) hash.field(start.pairs.view());
    return hash.hex();
}

void check_input(const Alignment& alignment, Parameters parameters) {
    check(fields(parameters));
    check(null_fields(parameters));
    if (parameters.null == ScoreNull::none &&
        (!parameters.tree.file.empty() || parameters.tree.write_null))
        throw UsageError("give --null tree with --tree or --write-null, which belong to it");
    if (!parameters.weights.empty() && !parameters.sequence_weights)
        throw UsageError("give either --weights or --no-sequence-weights, not both");
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

// Returns the number of the vector with the fitted model.
int fit(const Problem& problem, const Alignment& alignment, const Parameters& parameters,
        const Model& start, int history, const Context& context, Kernel& kernel, Result& result) {
    // The fields need not be more accurate than the couplings.
    kernel.field_gap =
        kFieldShare * result.effective_sequences * static_cast<double>(alignment.column_count());
    Lbfgs minimiser(kernel, {.history = history, .f_precision = kernel.rounding()});
    FitState state(minimiser, kernel, history, [&] {
        return problem_hash(alignment, parameters, problem.weights, start, context.device);
    });
    set_start(kernel, minimiser.x(), start);
    const auto step = [&](std::int64_t) -> Step {
        if (!state.started) {
            minimiser.start();
            state.started = true;
        } else if (!minimiser.step()) {
            state.stalled = true;
            return {true, "no step lowers the objective any more"};
        }
        const Evaluation& at = kernel.latest();
        check_objective(at);
        state.relative_gap = certified_gap(at, problem) / std::abs(at.objective);
        state.relative_gradient = relative_gradient(at);
        kernel.field_gap =
            kFieldShare * at.objective * std::clamp(state.relative_gap, parameters.tolerance, 1.0);
        return {state.relative_gap <= parameters.tolerance,
                fmt::format("f {:.8g}  certified gap {:.1e}, goal {:.1e}", at.objective,
                            state.relative_gap, parameters.tolerance)};
    };
    // The first step of the loop evaluates the start.
    result.iterations = iterate(context, "fit", state, parameters.max_iterations + 1, step) - 1;
    result.objective = minimiser.objective();
    result.relative_gap = state.relative_gap;
    result.relative_gradient = state.relative_gradient;
    result.stop_reason = state.stalled                                ? StopReason::stalled
                         : state.relative_gap <= parameters.tolerance ? StopReason::converged
                                                                      : StopReason::iteration_limit;
    result.evaluations = minimiser.evaluations();
    return minimiser.x();
}

Result fit_and_score(const Alignment& alignment, const Parameters& parameters,
                     std::vector<double> weights, int history, const Context& context) {
    Result result;
    result.weights = std::move(weights);
    result.effective_sequences = weights::effective_count(result.weights);
    const Index count = alignment.sequence_count(), columns = alignment.column_count();

    Problem problem;
    problem.letters = alignment.letters;
    problem.weights = View<const double, 1>(result.weights.data(), count);
    problem.letter_count = alignment.alphabet->size();
    problem.lambda_single = parameters.lambda_single;
    problem.lambda_pair = parameters.lambda_pair * static_cast<double>(columns - 1);
    if (parameters.tolerance >= kCoarseTolerance) problem.objective_error = 1e-6;
    if (parameters.compatible == CompatibleProgram::ccmpred) {
        problem.objective_error = 1e-9;
        problem.scaled = false;
        problem.pair_metric = 2;
    }
    const int threads = resolve_threads(context);
    const Model start = parameters.initial.empty()
                            ? Model{independent_fields(alignment, threads), {}}
                            : read_model(parameters.initial, alignment);
    const std::unique_ptr<Kernel> kernel = make_kernel(problem, context);
    const int end =
        parameters.compatible == CompatibleProgram::ccmpred
            ? fit_compatible(problem, start, parameters.max_iterations, context, *kernel, result)
            : fit(problem, alignment, parameters, start, history, context, *kernel, result);
    const bool needs_model = parameters.models || parameters.norm == NormLetters::all;
    Model model = needs_model ? kernel->model(end) : Model{};
    result.raw = parameters.norm == NormLetters::all
                     ? frobenius_scores(model, threads, parameters.norm)
                     : kernel->raw_scores(end, threads);
    if (parameters.models) result.model = std::move(model);
    result.corrected =
        parameters.apc ? average_product_correction(result.raw, threads) : result.raw;
    return result;
}

}  // namespace

std::vector<double> sequence_weights(const Alignment& alignment, const Parameters& parameters,
                                     const Context& context) {
    check_input(alignment, parameters);
    if (!parameters.weights.empty())
        return read_weights(parameters.weights, alignment.sequence_count());
    if (!parameters.sequence_weights) return std::vector<double>(alignment.sequence_count(), 1.0);
    if (const std::string gaps = gap_only_text(alignment); !gaps.empty())
        context.message(
            fmt::format("{}: {}, which the weights count as identical; --max-gaps and "
                        "--min-coverage leave them out",
                        alignment.source.string(), gaps));
    return weights::sequence_weights(alignment.letters,
                                     *resolved(parameters, *alignment.alphabet).identity, context);
}

bool weights_want_gpu(const Alignment& alignment, const Parameters& parameters,
                      const Context& context) {
    return parameters.sequence_weights && parameters.weights.empty() &&
           weights::gpu_pays(alignment.sequence_count(), alignment.column_count(),
                             resolve_threads(context));
}

Result run(const Alignment& alignment, const Parameters& parameters, const Context& context) {
    require_one_device(context, "the fit of one alignment");
    check_input(alignment, parameters);
    const Parameters used = resolved(parameters, *alignment.alphabet);
    const int history = check_memory(alignment, used, context);
    return fit_and_score(alignment, used, sequence_weights(alignment, used, context), history,
                         context);
}

Result run(const Alignment& alignment, const Parameters& parameters, std::vector<double> weights,
           const Context& context) {
    require_one_device(context, "the fit of one alignment");
    check_input(alignment, parameters);
    const Parameters used = resolved(parameters, *alignment.alphabet);
    const int history = check_memory(alignment, used, context);
    if (static_cast<Index>(weights.size()) != alignment.sequence_count())
        throw UsageError(fmt::format("expected a weight for each of {} sequences, found {} weights",
                                     alignment.sequence_count(), weights.size()));
    return fit_and_score(alignment, used, std::move(weights), history, context);
}

}  // namespace pleat::couplings

// Analyse: reads the curves of a run, analyses them and writes the folder.
#include "saxs/analyse.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "pleat/core/error.h"
#include "pleat/core/files/input_file.h"
#include "pleat/core/files/text.h"
#include "pleat/saxs/analysis/analysis_output.h"
#include "process/process.h"

namespace pleat::program {

bool is_curve(const std::string& file) {
    constexpr std::uintmax_t kMaxBytes = 8 << 20;
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(file, ignored) ||
        std::filesystem::file_size(file, ignored) > kMaxBytes)
        return false;
    try {
        read_profile(file, {.assumed_error = 0.1});
        return true;
    } catch (const Error&) {
        return false;
    }
}

bool is_analysis(const SaxsOptions& options) {
    const std::vector<std::string>& sources = options.ensemble.sources;
    return options.data.empty() && options.ensemble.topology.empty() && !sources.empty() &&
           (options.data_is_input || std::ranges::all_of(sources, is_curve));
}

void take_data_as_input(SaxsOptions& options) {
    std::vector<std::string>& sources = options.ensemble.sources;
    if (options.data.empty() || options.jobs.is_used() || !options.series.empty() ||
        !options.ensemble.topology.empty() || !std::ranges::all_of(sources, is_curve))
        return;
    sources.insert(sources.begin(), options.data);
    options.data.clear();
    options.data_is_input = true;
}

void check_analysis(const SaxsOptions& options) {
    for (const auto& [value, flag] :
         {std::pair(options.observables, "--observables"), std::pair(options.series, "--series"),
          std::pair(options.form_factors, "--form-factors")})
        if (!value.empty())
            throw UsageError(
                fmt::format("{} needs a structure: leave it out of the analysis of "
                            "curves alone",
                            flag));
    check_readable(options.ensemble.sources);
    refuse_pipes(options.ensemble.sources, "the analysis reads it more than once");
}

std::string analyse_curves(SaxsOptions& options, const JobTask& task, Ranks& ranks) {
    ranks.require_one_rank("the analysis of curves");
    check_analysis(options);
    OpenRun opened("saxs", options.run, result_fields(options), task, nullptr);
    auto& [context, run] = opened;
    if (options.run.names_device() && context.device.kind == Device::Kind::cuda)
        throw UsageError("the analysis of curves computes on CPUs: leave --device out");
    context.device = {Device::Kind::cpu, 0};
    run.stage("read");
    std::vector<Profile> curves;
    for (const std::string& file : options.ensemble.sources) {
        record_input(file, run);
        ProfileFile read = read_profile(file, options.curve);
        // The first frame decides the unit of all, which have no size of their own to judge it by.
        if (options.analysis.elution && !curves.empty())
            std::erase_if(read.notes, [](const Note& note) { return note.kind == NoteKind::unit; });
        if (options.analysis.elution)
            options.curve.unit =
                read.per_nanometre ? MomentumUnit::per_nanometre : MomentumUnit::per_angstrom;
        context.notes(with_source(read.notes, file));
        curves.push_back(std::move(read.profile));
    }
    run.context(context);
    run.stage("analyse");
    saxs::AnalysisParameters parameters = options.analysis;
    parameters.q_max = options.parameters.q_max;
    const saxs::SampleAnalysis analysis = saxs::analyse(curves, parameters);
    context.notes(analysis.notes);
    if (task.computed) task.computed();
    run.stage("write");
    saxs::write_results(run, analysis);
    run.cite(saxs::citations(analysis));
    run.finish();
    std::string text = saxs::summary_of(analysis);
    if (analysis.curves.size() > 1)
        text += fmt::format("{} curves are in analysis.tsv\n", analysis.curves.size());
    return text + fmt::format("\nThe run is in {}: analysis.tsv, pr.tsv, pr.out and more\n",
                              printable(run.path().string()));
}

RunEstimate estimate_analysis(const SaxsOptions& options) {
    constexpr std::int64_t kBytes = 64 << 20;
    constexpr double kSeconds = 0.2;
    const auto curves = static_cast<double>(options.ensemble.sources.size());
    return {.input = fmt::format("{} curves without a structure", options.ensemble.sources.size()),
            .on = [=](const Context&) {
                return Estimate{.host_bytes = kBytes, .seconds = kSeconds * (curves + 1)};
            }};
}

}  // namespace pleat::program

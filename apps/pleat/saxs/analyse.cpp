// Analyse: reads the curves of a run, analyses them and writes the folder.
#include "saxs/analyse.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "pleat/bio/ensemble/ensemble_files.h"
#include "pleat/core/error.h"
#include "pleat/core/files/input_file.h"
#include "pleat/core/files/text.h"
#include "pleat/saxs/analysis/analysis_output.h"
#include "process/process.h"

namespace pleat::program {

namespace {

bool is_curve_ending(const std::string& ending) {
    static const std::set<std::string> kEndings = {".dat", ".txt", ".csv",  ".tsv", ".asc",
                                                   ".xml", ".h5",  ".hdf5", ".nxs", ".sascif"};
    return kEndings.count(ending) > 0;
}

std::vector<std::string> sources_of(const SaxsOptions& options) {
    std::vector<std::string> sources = {options.data};
    sources.insert(sources.end(), options.ensemble.sources.begin(), options.ensemble.sources.end());
    return sources;
}

}  // namespace

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
    return !options.data.empty() && (sources.empty() || is_curve(sources.front()));
}

std::vector<std::string> curve_files(const SaxsOptions& options) {
    std::vector<std::string> all;
    for (const std::string& source : sources_of(options)) {
        const std::vector<std::string> files =
            is_folder(source) ? files_in(source, is_curve_ending) : ensemble_files({source});
        if (files.empty())
            throw InputError(source, 0,
                             "expected a folder with curves (.dat, .txt, .csv, .xml, ...), found "
                             "none");
        all.insert(all.end(), files.begin(), files.end());
    }
    return all;
}

void refuse_options_of(const SaxsOptions& options, bool are_structures) {
    constexpr std::string_view kBoth[] = {"data",    "q-max", "q-unit", "assume-error",
                                          "columns", "curve", "q-min"};
    SaxsOptions given = options, defaults;
    const std::vector<Field> fields = result_fields(given), usual = result_fields(defaults),
                             analysis = saxs::fields(given.analysis);
    for (std::size_t n = 0; n < fields.size(); ++n) {
        const std::string& name = fields[n].name;
        const bool is_for_curves =
            std::ranges::find(analysis, name, &Field::name) != analysis.end();
        if (is_for_curves != are_structures && std::ranges::find(kBoth, name) == std::end(kBoth) &&
            fields[n].text() != usual[n].text())
            throw UsageError(
                fmt::format("leave --{} out: it is for {}", name,
                            are_structures ? "structures" : "curves without a structure"));
    }
}

void check_analysis(const SaxsOptions& options) {
    refuse_options_of(options, true);
    refuse_ensemble_pipes(sources_of(options), "the analysis reads it more than once");
    const std::vector<std::string> files = curve_files(options);
    saxs::check(options.analysis, files.size());
    check_readable(files);
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
    for (const std::string& file : curve_files(options)) {
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
    return text + fmt::format("\nThe run is in {}: analysis.tsv{} and more\n",
                              printable(run.path().string()),
                              analysis.result().pairs.is_valid ? ", pr.tsv, pr.out" : "");
}

RunEstimate estimate_analysis(const SaxsOptions& options) {
    check_analysis(options);
    constexpr std::int64_t kBytes = 64 << 20;
    constexpr double kSeconds = 0.2;
    const std::size_t files = curve_files(options).size();
    const auto curves = static_cast<double>(files);
    return {.input = fmt::format("{} curve{} without a structure", files, files == 1 ? "" : "s"),
            .on = [=](const Context&) {
                return Estimate{.host_bytes = kBytes, .seconds = kSeconds * (curves + 1)};
            }};
}

}  // namespace pleat::program

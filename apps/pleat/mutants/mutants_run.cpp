// Mutants run: fits the family or reads its model, computes effects and writes them.
#include "mutants/mutants_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "couplings/couplings_fit.h"
#include "jobs/run_stages.h"
#include "mutants/mutants_summary.h"
#include "options/options.h"
#include "pleat/core/error.h"
#include "pleat/core/files/input_file.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/couplings/files/model_file.h"
#include "pleat/workflows/mutants/output.h"

namespace pleat::program {

namespace {

constexpr const char* kStage = "couplings";

CouplingsOptions couplings_stage(const MutantsOptions& options) {
    CouplingsOptions stage;
    stage.run = options.run;
    stage.alignment = options.alignment;
    stage.structure.row = options.row;
    stage.structure.focus = options.focus;
    stage.parameters = options.fit;
    stage.models = couplings::ModelFiles::npz;
    return stage;
}

/// The files beside the family, read.
struct MutantFiles {
    std::optional<mutants::NamedSequence> target = {};
    std::optional<mutants::MutantTable> table = {};
    std::optional<mutants::SequenceFile> sequences = {};

    mutants::Input with(couplings::SavedModel model) const {
        return {.model = std::move(model),
                .target = target,
                .table = table ? &*table : nullptr,
                .sequences = sequences ? &*sequences : nullptr};
    }
};

/// Fits the family in a folder of its own; returns the file of its model.
std::filesystem::path fit_model(const MutantsOptions& options, const MutantFiles& files,
                                const JobTask& task, RunDirectory& run, const Context& context) {
    CouplingsOptions own = couplings_stage(options), usual;
    const Stage stage{.name = kStage,
                      .command = "couplings",
                      .fields = result_fields(own),
                      .defaults = result_fields(usual),
                      .arguments = {options.alignment.path},
                      .inputs = {options.alignment.path}};
    RunStages stages(options.run, task, run);
    const RunStages::StageRun made =
        stages.make(stage, context, [&](const std::filesystem::path& folder, bool force) {
            own.run.output = folder.string();
            own.run.force = force;
            fit_family(own, stages.task_of(stage, context), {},
                       [&](const Alignment& alignment, const ReferenceRow& reference) {
                           mutants::check_input(files.with({}), alignment, reference,
                                                options.parameters);
                       });
        });
    return made.folder / "couplings.npz";
}

MutantFiles read_files(const MutantsOptions& options, RunDirectory& run) {
    MutantFiles files;
    if (!options.target.empty())
        files.target = mutants::only_sequence(mutants::read_sequences(options.target));
    if (!options.table.empty()) files.table = mutants::read_mutant_table(options.table);
    if (!options.sequences.empty()) files.sequences = mutants::read_sequences(options.sequences);
    for (const std::string& file : {options.target, options.table, options.sequences})
        if (!file.empty()) record_input(file, run);
    return files;
}

/// What the energies of a model of this size need.
Estimate energies_need(const MutantsOptions& options, Index columns, Index letters) {
    const Index model = 2 * columns * (columns - 1) * letters * letters;
    Estimate needed;
    needed.host_bytes = (std::int64_t{64} << 20) + 3 * model;
    needed.seconds = 0.05 + 4e-10 * static_cast<double>(model);
    constexpr Index kSingle = 150;  // bytes of a line
    const bool is_all = options.parameters.doubles == "all";
    needed.disk_bytes = kSingle * columns * letters + (is_all ? model : 0);
    return needed;
}

bool is_folder_path(const std::string& path) {
    std::error_code none;
    return std::filesystem::is_directory(path, none);
}

}  // namespace

std::filesystem::path model_file(const std::string& path) {
    if (is_folder_path(path)) {
        const std::filesystem::path folder = path;
        for (const std::filesystem::path& file :
             {folder / "couplings.npz", folder / kStage / "couplings.npz", folder / "model.plmc"})
            if (is_file(file)) return file;
        throw InputError(
            path, 0,
            "expected a finished run of 'pleat couplings' or 'pleat mutants', found no "
            "couplings.npz; give the alignment, or 'pleat couplings' --models npz");
    }
    if (path.empty() || is_read_once(path) || !is_file(path)) return {};
    return couplings::is_model_file(path) ? std::filesystem::path(path) : std::filesystem::path();
}

std::vector<Field> mutant_row_fields(MutantsOptions& options) {
    return {{.name = "row",
             .target = &options.row,
             .help = "Name of the row of the alignment that is the target; by default the first",
             .value_name = "NAME"},
            focus_field(options.focus)};
}

std::vector<Field> mutant_file_fields(MutantsOptions& options) {
    return {
        {.name = "target",
         .target = &options.target,
         .help = "FASTA file of the target's sequence, by which its residues are numbered; it "
                 "is aligned to the row",
         .value_name = "FILE"},
        {.name = "mutants",
         .target = &options.table,
         .help = "Table of mutants, as ProteinGym, EVcouplings and EVE have it: a column 'mutant' "
                 "or 'mutations' (A24G, A24G:K30R, p.Ala24Gly) or 'mutated_sequence'. It comes "
                 "back as listed.csv",
         .value_name = "FILE.csv"},
        {.name = "sequences",
         .target = &options.sequences,
         .help = "FASTA, A2M or A3M file of sequences in the family's columns, whose energies "
                 "are computed",
         .value_name = "FILE"}};
}

std::vector<Field> mutant_fit_fields(MutantsOptions& options) {
    std::vector<Field> chosen;
    for (const Field& field : couplings::fields(options.fit))
        if (field.name != "models") chosen.push_back(field);
    return chosen;
}

std::vector<Field> result_fields(MutantsOptions& options) {
    return concatenated({mutant_row_fields(options), mutant_file_fields(options),
                         mutants::fields(options.parameters), mutant_fit_fields(options),
                         fields(options.alignment)});
}

void check_options(const MutantsOptions& options) {
    if (options.parameters.align && options.sequences.empty())
        throw UsageError("give --sequences with --align: they are what it aligns");
    if (options.alignment.path == "-")
        throw UsageError("'-': give a file, since a stage of the run reads it");
    check_readable({options.target, options.table, options.sequences});
    if (model_file(options.alignment.path).empty()) {
        check_alignment_job(options.alignment);
        return check_readable({options.fit.initial, options.fit.weights});
    }
    MutantsOptions own = options, usual;
    const auto of_alignment = [](MutantsOptions& from) {
        return concatenated(
            {mutant_fit_fields(from), fields(from.alignment), mutant_row_fields(from)});
    };
    const std::vector<Field> given = of_alignment(own), defaults = of_alignment(usual);
    for (std::size_t n = 0; n < given.size(); ++n)
        if (given[n].text() != defaults[n].text())
            throw UsageError(fmt::format(
                "--{}{} is for an alignment, but {} is a model that has been fitted; omit it",
                given[n].negated_flag ? "no-" : "", given[n].name, options.alignment.path));
}

std::string compute_mutants(MutantsOptions options, const JobTask& task) {
    Context context = make_context(options.run);
    if (task.choose_device) context.lanes.clear();
    RunDirectory run(run_request("mutants", options.run, task));
    context.progress = &run.watch(task.shown);
    run.parameters(result_fields(options));
    for (const std::string_view key : mutants::citations()) run.cite(key);
    run.stage("read");
    std::filesystem::path model = model_file(options.alignment.path);
    record_input(model.empty() ? std::filesystem::path(options.alignment.path) : model, run);
    const MutantFiles files = read_files(options, run);
    if (files.sequences) context.notes(files.sequences->notes);
    if (model.empty()) model = fit_model(options, files, task, run, context);
    run.stage("model");
    mutants::Input input = files.with(couplings::read_saved_model(model));
    run.stage("effects");
    // Energies are computed on the CPU; the device was that of the fit.
    context.device = {};
    context.device.kind = Device::Kind::cpu;
    context.lanes.clear();
    const Index columns = input.model.model.column_count();
    const Index letters = input.model.model.letter_count();
    const Estimate needed = energies_need(options, columns, letters);
    if (task.choose_device)
        task.choose_device({.estimate = [&](const Context&) { return needed; }}, context);
    run.context(context);
    run.require_space(needed.disk_bytes);
    couplings::ModelDescription about = input.model.about;
    const mutants::Result result = mutants::run(std::move(input), options.parameters, context);
    context.notes(result.notes);
    if (task.computed) task.computed();
    run.stage("write");
    const mutants::Report report{result, about, files.table ? &*files.table : nullptr};
    mutants::write_results(run, report, resolve_threads(context));
    run.finish();
    return summary(report, about, run.path().string());
}

RunEstimate estimate_mutants(MutantsOptions& options, SharedInputs& inputs) {
    check_options(options);
    const std::filesystem::path model = model_file(options.alignment.path);
    if (model.empty()) {
        CouplingsOptions stage = couplings_stage(options);
        return estimate_family(stage, inputs);
    }
    const couplings::SavedModel saved = couplings::read_saved_model(model);
    const Index columns = saved.model.column_count(), letters = saved.model.letter_count();
    return {.input = fmt::format("a model of {} columns, {} letters", columns, letters),
            .may_use_gpu = false,
            .on = [needed = energies_need(options, columns, letters)](const Context&) {
                return needed;
            }};
}

}  // namespace pleat::program

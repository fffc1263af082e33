// pleat mutants: effects of mutations from one family or model, or from many.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "commands.h"
#include "couplings/couplings.h"
#include "help/help.h"
#include "jobs/job_list.h"
#include "options/common_options.h"
#include "options/options.h"
#include "options/structure_choice.h"
#include "pleat/bio/input/byte_source.h"
#include "pleat/core/error.h"
#include "pleat/core/files/input_file.h"
#include "pleat/core/files/text.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/couplings/couplings.h"
#include "pleat/couplings/files/model_file.h"
#include "pleat/workflows/mutants/mutant_table.h"
#include "pleat/workflows/mutants/mutants.h"
#include "pleat/workflows/mutants/output.h"

namespace pleat::program {

namespace {

using mutants::Position;
using mutants::Problem;
constexpr std::size_t kShown = 5;

constexpr const char* kDescription =
    "Predict the effects of mutations of a sequence from a model of its family.";

constexpr const char* kExamples =
    "Examples:\n"
    "  pleat mutants family.a3m.gz -o run\n"
    "  pleat mutants family.a3m -o run --mutants scan.csv --target protein.fasta\n"
    "  pleat mutants family.a3m -o run --mutants scan.csv --structure model.pdb:A\n"
    "  pleat mutants pair.aln -o run --parts 218,310 --structure complex.cif:A,B\n"
    "  pleat mutants couplings_run -o run --doubles 20-45\n"
    "  pleat mutants model.plmc -o run --first-number 128\n"
    "  pleat mutants couplings_run -o run --sequences designs.fasta --align\n\n"
    "An effect is E(mutant) - E(target): the more negative, the more harmful. Each is given "
    "beside\n"
    "that of an independent model, which has no couplings. The family is fitted as by\n"
    "'pleat couplings', on --device, in the folder couplings of the run, and only if it has no "
    "such\n"
    "run yet: with other mutants (--force) it is not fitted again. Effects of listed mutants are\n"
    "exact for the model; energies of sequences that --align has aligned are rough.\n"
    "--list also takes the table of --mutants: its header distinguishes it from a list of "
    "inputs.\n\n"
    "A run that was stopped or killed resumes when the same command is given again.";

/// All options of `pleat mutants`.
struct MutantsOptions {
    RunOptions run;
    AlignmentOptions alignment;            ///< or the folder or file of a model
    std::string focus;                     ///< name of the target's row, whose columns are kept
    std::string row;                       ///< name of the target's row; empty: the first
    std::string target, table, sequences;  ///< files; empty: none
    std::string structure;                 ///< FILE[:CHAIN]; empty: none
    couplings::Parameters fit;
    mutants::Parameters parameters;
    JobListOptions jobs;
};

constexpr const char* kStage = "couplings";

bool is_folder_path(const std::string& path) {
    std::error_code none;
    return std::filesystem::is_directory(path, none);
}

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
    return {{.name = "target",
             .target = &options.target,
             .help = "FASTA file of the target's sequence, by which its residues are numbered; it "
                     "is aligned to the row",
             .value_name = "FILE"},
            {.name = "mutants",
             .target = &options.table,
             .help = "Table of mutants, as ProteinGym, EVcouplings and EVE have it: a column "
                     "'mutant' or 'mutations' (A24G, A24G:K30R, p.Ala24Gly) or 'mutated_sequence'. "
                     "The table with predictions is listed.csv",
             .value_name = "FILE.csv"},
            {.name = "structure",
             .target = &options.structure,
             .help = "PDB or mmCIF file of the target: effects are weighted by burial in it and by "
                     "conservation, beside those without weights; append :CHAIN to choose a chain",
             .value_name = "FILE[:CHAIN]"},
            {.name = "parts",
             .target = &options.parameters.parts,
             .help = "Chains of a complex in the columns of the alignment, as lengths (218,310) or "
                     "ranges (A:1-218,B:219-528); --structure names a chain for each (FILE:A,B)",
             .value_name = "LENGTHS"},
            {.name = "sequences",
             .target = &options.sequences,
             .help = "Compute the energies of the sequences in this FASTA, A2M or A3M file, which "
                     "are aligned to the columns of the family",
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
    if (!options.structure.empty())
        check_readable({parse_structure_choice(options.structure).file.string()});
    if (!options.parameters.parts.empty() && !options.focus.empty())
        throw UsageError("--focus and --parts do not go together: parts count columns");
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

std::string number(double value) {
    return std::isnan(value) ? std::string("NA") : fmt::format("{:.3f}", value);
}

void append_positions(std::string& text, std::vector<Position> positions) {
    std::stable_sort(positions.begin(), positions.end(), [](const Position& a, const Position& b) {
        return a.epistatic < b.epistatic;
    });
    const std::size_t shown = std::min(kShown, positions.size());
    const auto list = [&](const char* what, auto first) {
        append(text, "{}:", what);
        for (std::size_t n = 0; n < shown; ++n, ++first)
            append(text, " {}{} ({:.2f})", first->wild_type, first->number, first->epistatic);
        text += '\n';
    };
    list("most sensitive residues (mean effect)", positions.begin());
    list("most tolerant residues (mean effect)", positions.rbegin());
}

void append_listed(std::string& text, const mutants::Report& report) {
    const mutants::Result& result = report.result;
    append(text, "\n{}: {} of {} mutants predicted\n", printable(report.table->source),
           result.listed_with(Problem::none), result.listed.size());
    for (std::size_t n = 1; n < names_of(Problem()).size(); ++n) {
        const auto problem = static_cast<Problem>(n);
        if (const Index count = result.listed_with(problem); count > 0)
            append(text, "  NA, {}: {}\n", names_of(problem)[n], count);
    }
    if (result.correlations.empty()) return;
    const bool has_burial = result.burial.has_value();
    append(text, "  {:<24} {:>7} {:>10} {:>12} {:>13}{}\n", "rank correlation with", "rows",
           "epistatic", "independent", "conservation", has_burial ? "   weighted" : "");
    for (const mutants::Correlation& one : result.correlations)
        append(text, "  {:<24} {:>7} {:>10} {:>12} {:>13}{}\n", printable(one.name), one.count,
               number(one.epistatic), number(one.independent), number(one.conserved),
               has_burial ? fmt::format(" {:>10}", number(one.weighted)) : "");
    if (has_burial)
        append(text,
               "weighted: by burial and conservation; where exposed residues have a function, "
               "the effects without weights (epistatic) may be better\n");
}

std::string summary(const mutants::Report& report, const couplings::ModelDescription& about,
                    const std::string& folder) {
    const mutants::Result& result = report.result;
    std::string text;
    append(text, "{}: {} residues, {} to {}, in {} columns ({:.1f} effective sequences)\n",
           result.target.name.empty() ? "target" : printable(result.target.name),
           result.positions.size(), result.positions.front().number, result.positions.back().number,
           about.reference.size(), about.effective_sequences);
    append(text,
           "energy {:.3f} (couplings {:.3f}, fields {:.3f}), independent model {:.3f}; {} single "
           "mutants\n",
           result.energy.full, result.energy.couplings, result.energy.fields,
           result.independent_energy, result.singles.size());
    append_positions(text, result.positions);
    if (report.table != nullptr) append_listed(text, report);
    if (!result.sequences.empty())
        append(text, "\n{} sequences, {} without an energy for low coverage\n",
               result.sequences.size(),
               std::count_if(result.sequences.begin(), result.sequences.end(),
                             [](const auto& one) { return one.problem != Problem::none; }));
    append(text,
           "\nThe run is in {}: singles.tsv, positions.tsv, logo.tsv, manifest.json and more\n",
           printable(folder));
    return text;
}

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
    std::optional<mutants::TargetStructure> structure = {};

    mutants::Input with(couplings::SavedModel model) const {
        return {.model = std::move(model),
                .target = target,
                .table = table ? &*table : nullptr,
                .sequences = sequences ? &*sequences : nullptr,
                .structure = structure ? &*structure : nullptr};
    }
};

/// Fits the family in its own folder; returns the path of the model file.
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
        stages.make(stage, own.run, context, [&](const JobTask& stage_task) {
            fit_family(own, stage_task, {},
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
    if (!options.structure.empty()) {
        files.structure = mutants::read_target_structure(options.structure);
        record_input(files.structure->structure.source, run);
    }
    return files;
}

/// Memory needed for the energies of mutants under a model of this size.
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

/// Makes options.run.output from options.alignment.path; returns the text for standard output.
std::string compute_mutants(MutantsOptions& options, const JobTask& task, Ranks& /*ranks*/) {
    check_options(options);
    OpenRun opened("mutants", options.run, result_fields(options), task, nullptr);
    auto& [context, run] = opened;
    if (task.choose_device) context.lanes.clear();
    run.cite(mutants::citations());
    run.stage("read");
    std::filesystem::path model = model_file(options.alignment.path);
    record_input(model.empty() ? std::filesystem::path(options.alignment.path) : model, run);
    const MutantFiles files = read_files(options, run);
    if (files.sequences) context.notes(files.sequences->notes);
    if (model.empty()) model = fit_model(options, files, task, run, context);
    run.stage("model");
    mutants::Input input = files.with(couplings::read_saved_model(model));
    run.stage("effects");
    // The fit used the device; energies are computed on the CPU.
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

/// The rank correlations of all jobs with a table of mutants, a line each; empty without any.
std::string correlations_of_jobs(const JobTable& table) {
    const auto cell = [&](const JobRow& row, std::string_view name) -> std::string {
        const auto found = std::ranges::find(table.numbers, name);
        const auto at = static_cast<std::size_t>(found - table.numbers.begin());
        return at < row.numbers.size() ? row.numbers[at] : std::string();
    };
    std::string text;
    for (const JobRow& row : table.rows) {
        if (cell(row, "measure").empty()) continue;
        if (text.empty())
            append(text, "\n{:<24} {:<16} {:>10} {:>12} {:>13} {:>10}\n", "rank correlation",
                   "measure", "epistatic", "independent", "conservation", "weighted");
        append(text, "{:<24} {:<16}", printable(row.folder), printable(cell(row, "measure")));
        for (const auto& [name, width] :
             {std::pair{"spearman_epistatic", 10}, std::pair{"spearman_independent", 12},
              std::pair{"spearman_conservation", 13}, std::pair{"spearman_weighted", 10}}) {
            double value = std::nan("");
            parse_number(cell(row, name), value);
            append(text, " {:>{}}", number(value), width);
        }
        text += '\n';
    }
    return text;
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

void take_table_from_list(MutantsOptions& options) {
    const std::string& list = options.jobs.list;
    if (list.empty() || is_read_once(list)) return;
    constexpr std::size_t kHeader = 4096;
    if (!mutants::is_mutant_table(ByteReader(list).peek(kHeader))) return;
    if (!options.table.empty())
        throw UsageError(fmt::format("--list {} is a table of mutants, too; give one", list));
    if (options.alignment.paths.size() > 1)
        throw UsageError(fmt::format(
            "--list {} is a table of mutants: expected one input, as it belongs to one, found {}",
            list, options.alignment.paths.size()));
    options.table = std::move(options.jobs.list);
    options.jobs.list.clear();
}

}  // namespace

Command mutants_command(CLI::App& program, Ranks& ranks) {
    static const JobFunctions<MutantsOptions> functions{
        .command = "mutants",
        .description = kDescription,
        .examples = kExamples,
        .wanted = "an ALIGNMENT, a RUN or a --list of them",
        .input_column = "alignment",
        .numbers = {"target", "residues", "singles", "effective_sequences", "energy",
                    "energy_independent", "listed", "predicted", "measure", "spearman_epistatic",
                    "spearman_independent", "spearman_conservation", "spearman_weighted"},
        .per_input = {"row", "focus", "target", "mutants", "structure", "sequences", "first-number",
                      "doubles", "parts", "initial", "weights"},
        .single_rank_work = "mutants of one family",
        .add_options =
            [](CLI::App& parser, MutantsOptions& options) {
                add_texts(parser, "ALIGNMENT|RUN", options.alignment.paths,
                          "Alignment of the target's family, whose first row is the "
                          "target; or the folder of a run of 'pleat couplings', its "
                          "couplings.npz, or a binary model of plmc. Several are several "
                          "jobs");
                add_fields(parser, "Input", mutant_row_fields(options));
                add_fields(parser, "Input", mutant_file_fields(options));
                add_fields(parser, "Input", fields(options.alignment));
                add_job_options(parser, options.run, options.jobs, false, false);
                add_fields(parser, "Mutants", mutants::fields(options.parameters));
                add_fields(parser, "Fit", mutant_fit_fields(options));
            },
        .fields = result_fields,
        .begin = [](MutantsOptions& options, Ranks&) { take_table_from_list(options); },
        .check = check_options,
        .input_files = [](const MutantsOptions& options) -> std::vector<std::string> {
            const std::filesystem::path model = model_file(options.alignment.path);
            return {model.empty() ? options.alignment.path : model.string()};
        },
        .run = compute_mutants,
        .summary = correlations_of_jobs,
        .estimate = estimate_mutants};
    return job_command(program, ranks, functions);
}

}  // namespace pleat::program

// pleat couplings: contacts from one alignment or from many.
#include "couplings/couplings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "commands.h"
#include "help/help.h"
#include "options/options.h"
#include "options/structure_choice.h"
#include "pleat/bio/alignment/filter.h"
#include "pleat/core/error.h"
#include "pleat/core/files/input_file.h"
#include "pleat/core/files/text.h"
#include "pleat/core/hardware/memory.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/core/name_of.h"
#include "pleat/core/ranks/lanes.h"
#include "pleat/couplings/contacts/contact_list.h"
#include "pleat/couplings/fit/memory_estimate.h"
#include "pleat/couplings/output.h"
#include "pleat/couplings/parts/analysis.h"
#include "pleat/couplings/parts/parts.h"
#include "pleat/couplings/tree/tree_contacts.h"

namespace pleat::program {

namespace {

using couplings::BasePairs;
using couplings::ContactEvaluation;
using couplings::RangePrecision;
using couplings::RankedPair;
using couplings::Report;
using couplings::Result;
using couplings::ScoredParts;
using couplings::StopReason;
constexpr std::size_t kShown = 10;

constexpr const char* kDescription =
    "Fit a Markov random field to an alignment and rank its pairs of columns as contacts.";

constexpr const char* kExamples =
    "Examples:\n"
    "  pleat couplings family.a3m.gz -o run\n"
    "  pleat couplings family.a3m -o run --structure 1abc.pdb:A --max-gaps 0.7\n"
    "  zcat family.sto.gz | pleat couplings - -o run -t 4\n"
    "  pleat couplings family.a3m -o run --null tree\n"
    "  pleat couplings rna.sto -o run --secondary rna.sto --max-gaps 0.5\n"
    "  pleat couplings pair.aln -o run --parts 218,310 --shuffle-parts 5\n"
    "  pleat couplings families/*.a3m -o runs\n"
    "  pleat couplings --list families.txt -o runs\n"
    "  pleat couplings family.a3m -o runs --sweep identity=0.7,0.8,0.9\n\n"
    "A run that was stopped or killed resumes when the same command is given again.";

std::vector<Field> fit_fields(CouplingsOptions& options) {
    std::vector<Field> all = couplings::fields(options.parameters);
    for (Field& field : all)
        if (field.name == "models")
            field = {.name = "models",
                     .target = &options.models,
                     .help =
                         "Files of the fitted model, which are large: npz, couplings.npz, "
                         "which 'pleat mutants' reads; plmc, model.plmc, which EVcouplings opens"};
    return all;
}

std::vector<Field> output_fields(CouplingsOptions& options) {
    return {{.name = "min-separation",
             .target = &options.min_separation,
             .help = "List pairs at least this many columns apart",
             .min = 1}};
}

std::vector<Field> structure_fields(CouplingsOptions& options) {
    std::vector<Field> all = fields(options.structure);
    all.push_back({.name = "secondary",
                   .target = &options.secondary,
                   .help = "Secondary structure of a nucleic acid: a Stockholm file (SS_cons), or "
                           "dot-bracket notation with one mark per column or per residue of the "
                           "first row. Each pair is then classified relative to the base pairs",
                   .value_name = "FILE"});
    return all;
}

std::vector<Field> part_fields(CouplingsOptions& options) {
    return {
        {.name = "parts",
         .target = &options.parts,
         .help = "Which columns belong to which chain, by lengths (218,310) or as "
                 "A:1-218,B:219-528; pairs between chains are scored, too. --structure FILE:A,B "
                 "then names a chain for each. By default the lengths in the first line of a "
                 "ColabFold file",
         .value_name = "PARTS"},
        {.name = "shuffle-parts",
         .target = &options.shuffle_parts,
         .help = "Fit this many alignments in which the rows of the parts are paired at random, "
                 "for false discovery rates of pairs between parts",
         .min = 0,
         .max = 1000}};
}

void check_couplings_options(const CouplingsOptions& options) {
    check_structure_options(options.structure);
    couplings::parse_parts(options.parts);
    if (!options.parts.empty() && !options.structure.focus.empty())
        throw UsageError("--focus and --parts do not go together: parts count columns");
}

std::int64_t fit_disk_space(const CouplingsOptions& options, Index columns, Index letters) {
    constexpr Index kScores = 16 + 12, kLine = 60;  // bytes per pair of columns
    return kScores * columns * columns + kLine * columns * (columns - 1) / 2 +
           couplings::bytes_of(options.models, columns, letters);
}

void append_fit(std::string& text, const Report& report) {
    const couplings::Result& result = report.result;
    append(text, "{}: {} sequences ({:.1f} effective), {} columns, {}\n",
           printable(report.alignment.source.string()), report.alignment.sequence_count(),
           result.effective_sequences, report.alignment.column_count(),
           report.alignment.alphabet->name());
    append(text, "objective {:.6f} after {} iterations, certified within {:.1e} of its minimum{}\n",
           result.objective, result.iterations, result.relative_gap,
           result.stop_reason == StopReason::converged
               ? ""
               : fmt::format(" ({})", name_of(result.stop_reason)));
}

/// Appends scoring settings whose defaults differ between nucleic acids and proteins.
void append_scoring(std::string& text, const Report& report) {
    if (report.base_pairs == nullptr) return;
    const bool has_gap = report.parameters.norm == couplings::NormLetters::all;
    if (report.parameters.sequence_weights)
        append(text, "sequences share their weight above {:g} identity; ",
               *report.parameters.identity);
    append(text, "scores are norms over {}\n",
           has_gap ? "all letters and the gap" : "letters without the gap");
    append(text, "{} base pairs {}\n", report.base_pairs->pairs.size(),
           report.base_pairs->is_given ? "given" : "found in the scores");
}

void append_inter_contacts(std::string& text, const Report& report) {
    if (report.parts == nullptr) return;
    const std::vector<couplings::InterPair>& pairs = report.parts->pairs;
    const std::size_t shown = std::min(kShown, pairs.size());
    append(text, "\nThe {} strongest pairs between parts (positions in each part, from 1):\n",
           shown);
    append(text, "{:>5} {:>16} {:>16} {:>9} {:>7} {:>10} {:>8} {:>8}\n", "rank", "i", "j", "score",
           "Z", "EVcomplex", "GREMLIN", "fdr");
    const auto position = [&](Index column) {
        const couplings::Part& part = report.parts->parts[report.parts->part_of_column[column]];
        const Index source = report.alignment.columns[column];
        const char letter = report.reference.letters[source];
        return fmt::format("{} {} ({})", printable(part.name), source - part.first + 1,
                           letter == '-' ? "gap" : std::string(1, letter));
    };
    const auto number = [](double value, int decimals) {
        return std::isnan(value) ? "-" : fmt::format("{:.{}f}", value, decimals);
    };
    for (std::size_t rank = 0; rank < shown; ++rank) {
        const couplings::InterPair& pair = pairs[rank];
        append(text, "{:>5} {:>16} {:>16} {:>9.4f} {:>7.2f} {:>10} {:>8} {:>8}\n", rank + 1,
               position(pair.i), position(pair.j), pair.block_corrected, pair.z,
               number(pair.evcomplex, 2), number(pair.gremlin, 3), number(pair.fdr, 4));
    }
}

void append_contacts(std::string& text, const Report& report) {
    const std::size_t shown = std::min(kShown, report.pairs.size());
    if (shown == 0) {
        text += "\nNo contacts: no two columns are --min-separation apart\n";
        return;
    }
    append(text, "\nThe {} strongest contacts of {} ({}):\n", shown,
           printable(report.reference.name), numbers_text(report.reference));
    append(text, "{:>5}", "rank");
    if (report.structure != nullptr) append(text, " {:>10} {:>10}", "residue i", "residue j");
    append(text, " {:>11} {:>11} {:>9} {:>7} {:>11}", number_heading(report.reference, 'i'),
           number_heading(report.reference, 'j'), "score", "Z", "probability");
    if (report.tree != nullptr) append(text, " {:>9}", "E");
    if (report.structure != nullptr) append(text, " {:>8}", "distance");
    if (report.base_pairs != nullptr) append(text, " {:>8}", "class");
    text += '\n';
    for (std::size_t rank = 0; rank < shown; ++rank) {
        const RankedPair& pair = report.pairs[rank];
        append(text, "{:>5}", rank + 1);
        if (report.structure != nullptr)
            append(text, " {:>10} {:>10}", residue_label(*report.structure, pair.i, "none"),
                   residue_label(*report.structure, pair.j, "none"));
        append(text, " {:>11} {:>11} {:>9.4f} {:>7.2f} {:>11}",
               column_label(report.alignment, report.reference, pair.i),
               column_label(report.alignment, report.reference, pair.j), pair.corrected, pair.z,
               std::isnan(pair.probability) ? "-" : fmt::format("{:.3f}", pair.probability));
        if (report.tree != nullptr) {
            const Index at = couplings::pair_index(pair.i, pair.j, report.alignment.column_count());
            append(text, " {:>9}",
                   fmt::format("{}{:.2g}", report.tree->extrapolated[at] != 0 ? "~" : "",
                               report.tree->e[at]));
        }
        if (report.structure != nullptr) {
            const double distance = report.structure->distances(pair.i, pair.j);
            append(text, " {:>8}", std::isnan(distance) ? "-" : fmt::format("{:.1f}", distance));
        }
        if (report.base_pairs != nullptr)
            append(
                text, " {:>8}",
                pair.pair_class == couplings::PairClass::unknown ? "-" : name_of(pair.pair_class));
        text += '\n';
    }
}

/// How many pairs null alignments leave significant.
void append_tree_null(std::string& text, const Report& report) {
    if (report.tree == nullptr) return;
    const std::vector<double>& e = report.tree->e;
    const auto hits = std::count_if(e.begin(), e.end(),
                                    [](double one) { return one < phylogeny::kSignificantE; });
    append(text,
           "\n{} of {} pairs have an E below {:g} against fits to {} alignments along a tree; ~ "
           "beyond all their scores, of the fitted tail alone\n",
           hits, e.size(), phylogeny::kSignificantE, report.tree->null_alignments);
}

void append_evaluation(std::string& text, const Report& report) {
    const KnownStructure& known = *report.structure;
    append(
        text,
        "\nPrecision against {} chain {} ({} of {} columns, identity {:.2f} to {}; contact below "
        "{:g} angstrom):\n",
        printable(known.structure.source.string()), printable(known.map.chain_name),
        report.evaluation->length, report.alignment.column_count(), known.map.identity,
        printable(known.map.row_name), report.evaluation->cutoff);
    std::string range;
    for (const RangePrecision& entry : report.evaluation->precisions) {
        if (range.empty()) {
            append(text, "{:>8}", "");
            for (const RangePrecision& head : report.evaluation->precisions)
                if (head.range == entry.range) append(text, " {:>6}", head.depth);
        }
        if (entry.range != range) append(text, "\n{:>8}", entry.range);
        range = entry.range;
        append(text, " {:>6}",
               std::isnan(entry.precision) ? "-" : fmt::format("{:.3f}", entry.precision));
    }
    text += '\n';
}

std::string summary(const Report& report, const std::string& folder) {
    std::string text;
    append_fit(text, report);
    append_scoring(text, report);
    append_contacts(text, report);
    append_tree_null(text, report);
    append_inter_contacts(text, report);
    if (report.evaluation != nullptr) append_evaluation(text, report);
    append(text, "\nThe run is in {}: contacts.tsv, scores.npz, manifest.json and more\n",
           printable(folder));
    return text;
}

/// Returns the function that aligns a structure to several concatenated parts; empty for one part.
ResidueMapper part_mapper(const couplings::Parts& parts) {
    if (parts.empty()) return {};
    return [parts](const Alignment& source, Structure& structure, const ResidueMapOptions& choice) {
        return couplings::map_parts(source, parts, choice.row, choice.chain, structure);
    };
}

Result fit(const CouplingsOptions& options, const Alignment& alignment, std::vector<double> weights,
           const Context& context) {
    Result result = couplings::run(alignment, options.parameters, std::move(weights), context);
    if (result.stop_reason == couplings::StopReason::iteration_limit ||
        result.stop_reason == couplings::StopReason::stalled) {
        context.message(fmt::format("the fit ended early ({}): its certified gap is {:.1e}",
                                    name_of(result.stop_reason), result.relative_gap));
    }
    const std::string warning =
        couplings::depth_warning(result.effective_sequences, couplings::is_nucleic(alignment));
    if (options.parameters.apc && !warning.empty()) context.message(warning);
    return result;
}

/// A family as it is fitted.
struct FamilyInput {
    Alignment alignment;  ///< filtered
    std::optional<KnownStructure> known;
    ReferenceRow reference;
    couplings::Parts parts;  ///< empty: one
    std::optional<BasePairs> base_pairs;
};

/// Reads the base pairs of --secondary; returns nothing if the option is not given.
std::optional<BasePairs> read_base_pairs(const CouplingsOptions& options, const FamilyInput& input,
                                         RunDirectory& run) {
    if (options.secondary.empty()) return std::nullopt;
    if (!couplings::is_nucleic(input.alignment))
        throw UsageError(fmt::format("--secondary is for nucleic acids, and {} has proteins",
                                     input.alignment.source.string()));
    const SecondaryStructure structure = read_secondary_structure(options.secondary);
    record_input(options.secondary, run);
    return couplings::given_base_pairs(structure, input.alignment, input.reference);
}

/// Reads and filters a family. The unfiltered rows are freed on return.
FamilyInput read_family(CouplingsOptions& options, RunDirectory& run, const Context& context) {
    check_structure_file(options.structure);
    check_couplings_options(options);
    check_readable({options.parameters.initial, options.parameters.weights, options.secondary,
                    options.parameters.tree.file});
    FamilyInput input;
    options.alignment.reading.keep_full_rows = true;
    const std::shared_ptr<const Alignment> read = read_input(options.alignment, &run);
    const Alignment& source = *read;
    Notes notes = source.notes;
    input.parts = couplings::choose_parts(options.parts, source, !options.structure.focus.empty(),
                                          options.shuffle_parts, notes);
    context.notes(notes);
    const FilterOptions filters = filter_options(options.alignment, options.structure, source);
    input.known = read_known_structure(options.structure, source, run, part_mapper(input.parts));
    input.reference = reference_row(options.structure, source, input.known, context);
    input.alignment = filter(source, filters);
    if (input.known) {
        measure(*input.known, input.alignment);
        warn_of_other_structure(options.structure, *input.known, context);
    }
    for (const std::string& file :
         {options.parameters.initial, options.parameters.weights, options.parameters.tree.file})
        if (!file.empty()) record_input(file, run);
    input.base_pairs = read_base_pairs(options, input, run);
    return input;
}

JobDemand demand_of(const CouplingsOptions& options, const Alignment& alignment) {
    return {.gpu_bytes = couplings::gpu_memory_needed(alignment),
            .estimate = [&](const Context& context) {
                return couplings::estimate(alignment.sequence_count(), alignment.column_count(),
                                           alignment.alphabet->size(), options.parameters, context);
            }};
}

/// Computes the sequence weights, then chooses the context's device, so that a GPU can start or
/// become free meanwhile. Returns no weights if the GPU should compute them.
std::vector<double> weights_and_device(const CouplingsOptions& options, const JobTask& task,
                                       const Alignment& alignment, Context& context) {
    const bool may_use_a_gpu = may_use_gpu(options.run);
    // The weights of a large family take minutes, so memory is checked before, unless other
    // families of this process may free some until then.
    if (!may_use_a_gpu && !task.shares_process) {
        Context silent = context;  // the fit repeats the check and reports it
        silent.progress = nullptr;
        couplings::check_memory(alignment, options.parameters, silent);
    }
    std::vector<double> weights;
    if (!may_use_a_gpu || !couplings::weights_want_gpu(alignment, options.parameters, context))
        weights = couplings::sequence_weights(alignment, options.parameters, context);
    const std::string reason =
        task.choose_device
            ? task.choose_device(demand_of(options, alignment), context)
            : choose_device(options.run, couplings::gpu_memory_needed(alignment), context);
    if (options.run.verbose) context.message(reason);
    return weights;
}

/// Reports the size of the model file before the fit; throws if it does not fit on the disk.
void announce_files(const CouplingsOptions& options, const Alignment& alignment,
                    const RunDirectory& run, const Context& context) {
    constexpr std::int64_t kLarge = std::int64_t{100} << 20;
    const Index columns = alignment.column_count(), letters = alignment.alphabet->size();
    const std::int64_t models = couplings::bytes_of(options.models, columns, letters);
    if (models >= kLarge)
        context.message(fmt::format("the model's files ({}) will take {} of disk space",
                                    name_of(options.models), human_bytes(models)));
    run.require_space(fit_disk_space(options, columns, letters));
}

/// With several parts: precision within each part, and in the range "inter" the precision of pairs
/// between parts, ranked by their block-corrected scores.
ContactEvaluation evaluate(const KnownStructure& known, const Alignment& alignment,
                           const Result& result, const std::optional<ScoredParts>& parts) {
    const double cutoff = known.definition.cutoff;
    if (!parts)
        return couplings::evaluate(result.corrected, known.distances, alignment.columns, cutoff);
    return couplings::evaluate_parts(result, *parts, known.distances, alignment.columns, cutoff);
}

}  // namespace

std::vector<Field> result_fields(CouplingsOptions& options) {
    return concatenated({fit_fields(options), couplings::null_fields(options.parameters),
                         fields(options.alignment), structure_fields(options), part_fields(options),
                         output_fields(options)});
}

RunEstimate estimate_family(CouplingsOptions& options, SharedInputs& inputs) {
    options.alignment.inputs = &inputs;
    options.parameters.models = options.models != couplings::ModelFiles::none;
    const std::shared_ptr<const Alignment> read = read_input(options.alignment, nullptr);
    const Alignment alignment =
        filter(*read, filter_options(options.alignment, options.structure, *read));
    const Index sequences = alignment.sequence_count(), columns = alignment.column_count();
    return {
        .input = fmt::format("{} sequences, {} columns", sequences, columns),
        .may_use_gpu = true,
        .on = [=, bytes = fit_disk_space(options, columns, alignment.alphabet->size()),
               fits = options.shuffle_parts + (options.parameters.null == couplings::ScoreNull::tree
                                                   ? options.parameters.tree.alignments
                                                   : 0),
               letters = alignment.alphabet->size(),
               parameters = couplings::resolved(options.parameters, *alignment.alphabet)](
                  const Context& context) {
            require_one_device(context, "the fit of one alignment");
            Estimate all = couplings::estimate(sequences, columns, letters, parameters, context);
            all.seconds *= static_cast<double>(1 + fits);
            if (parameters.null == couplings::ScoreNull::tree)
                all.host_bytes = std::max(
                    all.host_bytes,
                    couplings::null_fit_bytes(sequences, columns, letters, parameters, context));
            all.disk_bytes = bytes;
            return all;
        }};
}

std::string fit_family(CouplingsOptions options, const JobTask& task,
                       const std::function<void(const Report&)>& written,
                       const std::function<void(const Alignment&, const ReferenceRow&)>& check) {
    options.alignment.inputs = task.inputs;
    options.parameters.models = options.models != couplings::ModelFiles::none;
    OpenRun opened("couplings", options.run, result_fields(options), task, nullptr,
                   "checkpoint.npz");
    auto& [context, run] = opened;
    run.cite(couplings::citations(options.parameters));
    run.stage("read");
    FamilyInput input = read_family(options, run, context);
    if (check) check(input.alignment, input.reference);
    options.parameters = couplings::resolved(options.parameters, *input.alignment.alphabet);
    announce_files(options, input.alignment, run, context);
    std::vector<double> weights = weights_and_device(options, task, input.alignment, context);
    run.context(context);
    if (weights.empty())
        weights = couplings::sequence_weights(input.alignment, options.parameters, context);
    const Result result = fit(options, input.alignment, std::move(weights), context);
    if (task.computed) task.computed();

    const int threads = resolve_threads(context);
    if (!input.parts.empty())
        for (const char* key : {"Hopf2014", "Ovchinnikov2014"}) run.cite(key);
    if (options.shuffle_parts > 0) run.stage("shuffled fits");
    if (options.parameters.null == couplings::ScoreNull::tree) run.cite("Rivas2017");
    const auto [base_pairs, parts, tree] = couplings::analyse(
        input.alignment, result, options.parameters,
        {.parts = input.parts,
         .base_pairs = std::move(input.base_pairs),
         .shuffled_fits = options.shuffle_parts,
         .checkpoint =
             [&run = run](Index fit) {
                 return run.checkpoint(fmt::format("checkpoint-shuffled-{}.npz", fit));
             }},
        context);
    run.stage("write");
    const std::vector<RankedPair> pairs = couplings::rank_pairs(
        input.alignment, result,
        {.min_separation = options.min_separation,
         .is_calibrated =
             couplings::has_probabilities(options.parameters, *input.alignment.alphabet),
         .base_pairs = base_pairs ? &*base_pairs : nullptr,
         .part_of_column = parts ? parts->part_of_column : std::vector<Index>{},
         .threads = threads});
    std::optional<ContactEvaluation> evaluation;
    if (input.known) evaluation = evaluate(*input.known, input.alignment, result, parts);
    const Report report{.alignment = input.alignment,
                        .parameters = options.parameters,
                        .result = result,
                        .reference = input.reference,
                        .pairs = pairs,
                        .structure = input.known ? &*input.known : nullptr,
                        .evaluation = evaluation ? &*evaluation : nullptr,
                        .base_pairs = base_pairs ? &*base_pairs : nullptr,
                        .parts = parts ? &*parts : nullptr,
                        .tree = tree ? &*tree : nullptr,
                        .models = options.models};
    couplings::write_results(run, report, threads);
    run.finish();
    if (written) written(report);
    return summary(report, run.path().string());
}

Command couplings_command(CLI::App& program, Ranks& ranks) {
    static const JobFunctions<CouplingsOptions> functions{
        .command = "couplings",
        .description = kDescription,
        .examples = kExamples,
        .wanted = "an ALIGNMENT or a --list of alignments",
        .input_column = "alignment",
        .uses_seed = true,
        .numbers = {"sequences", "columns", "effective_sequences", "evaluations", "relative_gap",
                    "stop_reason", "precision_L"},
        .per_input = {"structure", "row", "focus", "initial", "secondary", "parts", "weights",
                      "tree"},
        .single_rank_work = "couplings of one alignment",
        .add_options =
            [](CLI::App& parser, CouplingsOptions& options) {
                add_alignment_options(parser, options.alignment);
                add_job_options(parser, options.run, options.jobs, true, false);
                add_fields(parser, "Fit", fit_fields(options));
                add_fields(parser, "Null model", couplings::null_fields(options.parameters));
                add_fields(parser, "Structure", structure_fields(options));
                add_fields(parser, "Parts", part_fields(options));
                add_fields(parser, "Output", output_fields(options));
            },
        .fields = result_fields,
        .begin =
            [](CouplingsOptions& options, Ranks& caller) {
                // Columns of a list and sweeps may still name a structure.
                if (!options.jobs.is_used() && caller.caller() == nullptr)
                    check_couplings_options(options);
            },
        .check =
            [](const CouplingsOptions& options) {
                check_couplings_options(options);
                check_alignment_job(options.alignment);
                check_structure_file(options.structure);
            },
        .run =
            [](CouplingsOptions& options, const JobTask& task, Ranks&) {
                std::jthread device_start;
                if (!task.choose_device)
                    device_start = start_device(options.run, make_context(options.run), true);
                return fit_family(options, task);
            },
        .estimate = estimate_family};
    return job_command(program, ranks, functions);
}

}  // namespace pleat::program

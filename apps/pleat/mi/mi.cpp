// pleat mi: mutual information of pairs and triples of columns against a null model.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <thread>

#include "commands.h"
#include "help/help.h"
#include "jobs/job_list.h"
#include "options/common_options.h"
#include "options/options.h"
#include "options/structure_choice.h"
#include "pleat/bio/alignment/bracket_notation.h"
#include "pleat/bio/alignment/filter.h"
#include "pleat/core/cuda/cuda_device.h"
#include "pleat/core/files/input_file.h"
#include "pleat/core/files/text.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/core/name_of.h"
#include "pleat/couplings/contacts/contact_list.h"
#include "pleat/mutual_information/estimate.h"
#include "pleat/mutual_information/output.h"

namespace pleat::program {

namespace {

namespace mi = mutual_information;

constexpr std::size_t kShown = 10;

/// The table header for the columns that append_columns() writes.
void append_heads(std::string& text, const mi::Report& report, std::string_view names) {
    if (report.structure != nullptr)
        for (const char name : names) append(text, " {:>10}", fmt::format("residue {}", name));
    for (const char name : names) append(text, " {:>11}", number_heading(report.reference, name));
}

/// Appends columns as "133 (G)", preceded by the structure's residues if there is a structure.
void append_columns(std::string& text, const mi::Report& report, std::span<const Index> columns) {
    if (report.structure != nullptr)
        for (const Index column : columns)
            append(text, " {:>10}", residue_label(*report.structure, column, "none"));
    for (const Index column : columns)
        append(text, " {:>11}", column_label(report.alignment, report.reference, column));
}

std::string number(double value, const char* format) {
    return std::isnan(value) ? "-" : fmt::format(fmt::runtime(format), value);
}

/// Formats the p of a pair without shuffles: exact if all tables were enumerated, else "~".
std::string tail_text(const mi::PairInformation& pairs, std::size_t pair) {
    if (pairs.tail_p.empty() || std::isnan(pairs.tail_p[pair])) return "-";
    const double p = pairs.tail_p[pair];
    const bool is_exact = !pairs.exact_p.empty() && !std::isnan(pairs.exact_p[pair]);
    return fmt::format("{}{}{:.2g}", is_exact ? "" : "~", p <= mi::kMinTail ? "<" : "", p);
}

void append_input(std::string& text, const mi::Report& report) {
    append(text, "{}: {} sequences, {} columns, {}", printable(report.alignment.source.string()),
           report.alignment.sequence_count(), report.alignment.column_count(),
           report.alignment.alphabet->name());
    if (!report.result.weights.empty() && !report.result.tree)
        append(text, " ({:.1f} effective sequences)", report.result.effective_sequences);
    const std::size_t count = report.result.low_entropy.size();
    append(text, "\n{} {} an entropy below {:g} bits\n", count,
           count == 1 ? "column has" : "columns have", report.parameters.min_entropy);
}

/// The null alignments, and how many pairs they leave significant.
void append_tree_null(std::string& text, const mi::Report& report) {
    const mi::Parameters& parameters = report.parameters;
    const mi::TreeResult& tree = *report.result.tree;
    append(text, "Null model: {} alignments that evolve along {} ({})\n", tree.null_alignments,
           parameters.tree.file.empty() ? "a tree by UPGMA" : "the given tree",
           name_of(parameters.tree.kind));
    const auto hits =
        std::count_if(tree.e.begin(), tree.e.end(), [](double e) { return e < mi::kSignificantE; });
    append(text, "{} {} an E below {:g}\n", hits, hits == 1 ? "pair has" : "pairs have",
           mi::kSignificantE);
    if (report.annotated == nullptr) return;
    const std::array<Index, 3> found = mi::significant_pairs(report);
    const std::optional<double> expected = mi::expected_pairs(report);
    append(text,
           "of these, {} of {} annotated pairs{}, {} of columns without annotated partners, {} "
           "that contradict an annotated pair\n",
           found[0], report.annotated->size(),
           expected ? fmt::format(" ({:.1f} expected by their substitutions)", *expected) : "",
           found[1], found[2]);
}

/// Appends a description of the null model for pairs and triples.
void append_null(std::string& text, const mi::Report& report) {
    const mi::Parameters& parameters = report.parameters;
    const std::string shuffles = fmt::format("{} random shuffles", report.result.shuffles);
    const bool is_unused = parameters.shuffles && !parameters.has_sampled();
    const bool lacks_variance = parameters.order == 3 && !parameters.triple_variance;
    if (report.result.tree) return append_tree_null(text, report);
    text += "Null model: ";
    if (parameters.has_exact())
        append(text, "exact, over all permutations of the columns{}{}",
               lacks_variance ? " (of triples the mean alone)" : "",
               parameters.has_sampled() ? ", and " + shuffles : "");
    else
        text += parameters.has_sampled() ? shuffles : "none";
    append(text, "{}\n", is_unused ? "; --null leaves --shuffles without use" : "");
}

void append_tree_pairs(std::string& text, const mi::Report& report,
                       const std::vector<Index>& ranked) {
    const mi::TreeResult& tree = *report.result.tree;
    const mi::PairScore statistic = report.parameters.statistic;
    append(text, "{:>5}", "rank");
    append_heads(text, report, "ij");
    append(text, " {:>8} {:>9} {:>9} {:>9}{}\n", "MI/bits", name_of(statistic), "null mean", "E",
           report.annotated != nullptr ? "  annotation" : "");
    const std::vector<mi::Annotation> relation =
        report.annotated != nullptr ? mi::annotations(report) : std::vector<mi::Annotation>();
    const auto columns_of = mi::all_pairs(report.alignment.column_count());
    for (std::size_t rank = 0; rank < std::min(kShown, ranked.size()); ++rank) {
        const auto at = static_cast<std::size_t>(ranked[rank]);
        append(text, "{:>5}", rank + 1);
        append_columns(text, report, columns_of[at]);
        append(text, " {:>8.4f} {:>9.4g} {:>9.2g} {:>9}", report.result.pairs.mi[at],
               tree.score[at], tree.mean[at],
               fmt::format("{}{:.2g}", tree.extrapolated[at] ? "~" : "", tree.e[at]));
        if (!relation.empty())
            append(text, "  {}",
                   mi::names_of(mi::Annotation{})[static_cast<std::size_t>(relation[at])]);
        text += '\n';
    }
    text += "~ beyond the scores of all null alignments: of the fitted tail alone\n";
}

/// A line for p of permutations if the sequences are related; empty if they seem independent.
std::string relatedness_text(const mi::Report& report) {
    if (!report.result.related_identity) return {};
    return fmt::format(
        "p does not account for the tree of the sequences (mean pairwise identity {:.0f} %): "
        "use --null tree\n",
        100 * *report.result.related_identity);
}

void append_pairs(std::string& text, const mi::Report& report) {
    const mi::PairInformation& pairs = report.result.pairs;
    const std::vector<Index> ranked = mi::ranked_pairs(report.result, report.parameters);
    const std::size_t shown = std::min(kShown, ranked.size());
    if (shown == 0) {
        text += "\nNo pair reaches --min-z\n";
        return;
    }
    append(text, "\nThe {} strongest pairs ({}):\n", shown, numbers_text(report.reference));
    if (report.result.tree) return append_tree_pairs(text, report, ranked);
    append(text, "{:>5}", "rank");
    append_heads(text, report, "ij");
    const bool has_family_p = !pairs.family_p.empty();
    append(text, " {:>8} {:>8} {:>8} {:>9}{}\n", "MI/bits", "APC", "Z", "p",
           has_family_p ? "  family p" : "");
    const auto columns_of = mi::all_pairs(report.alignment.column_count());
    for (std::size_t rank = 0; rank < shown; ++rank) {
        const Index pair = ranked[rank];
        const auto at = static_cast<std::size_t>(pair);
        const bool sampled = !pairs.sampled.empty();
        const double z = !pairs.z.empty() ? pairs.z[at]
                         : sampled        ? pairs.sampled[at].z
                                          : std::nan("");
        append(text, "{:>5}", rank + 1);
        append_columns(text, report, columns_of[at]);
        append(text, " {:>8.4f} {:>8.4f} {:>8} {:>9}", pairs.mi[at], pairs.apc[at],
               number(z, "{:.2f}"),
               sampled ? number(pairs.sampled[at].p, "{:.2g}") : tail_text(pairs, at));
        if (has_family_p) append(text, " {:>9}", number(pairs.family_p[at], "{:.2g}"));
        text += '\n';
    }
    if (pairs.sampled.empty() && !pairs.tail_p.empty())
        text +=
            "~ p of a gamma distribution with the exact mean and variance, not an exact p; see "
            "--shuffles\n";
    text += relatedness_text(report);
}

void append_cliques(std::string& text, const mi::TripleResult& triples) {
    const auto line = [&](const char* rule, const std::optional<mi::TripleSet>& set) {
        if (!set) return;
        append(text, "{} of {} triples are in the clique set C {}\n", set->size, triples.count,
               rule);
    };
    line("by percentiles", triples.cliques);
    line("by exact Z", triples.cliques_by_z);
}

void append_triples(std::string& text, const mi::Report& report) {
    const mi::TripleResult& triples = *report.result.triples;
    const std::size_t shown = std::min(kShown, triples.best_triples.triples.size());
    const std::string& key = triples.names[triples.key];
    if (shown == 0) {
        append(text, "\nNo triple has a value of {} and three columns of at least {:g} bits{}\n",
               key, report.parameters.min_entropy,
               report.parameters.min_z ? ", and reaches --min-z" : "");
        append_cliques(text, triples);
        return;
    }
    append(text, "\nThe {} strongest triples by {} ({}, those below {:g} bits left out):\n", shown,
           key, numbers_text(report.reference), report.parameters.min_entropy);
    const auto synergy = std::find(triples.names.begin(), triples.names.end(), "synergy");
    const auto value_of = [&](std::size_t rank, std::string_view name) {
        const auto row = triples.best_triples.numbers.view()[static_cast<Index>(rank)];
        if (name == "excess") return triples.best_excess[rank];
        if (name == "synergy") return row[synergy - triples.names.begin()];
        return name == "mi" ? row[0] : row[triples.key];
    };
    std::vector<std::string> shown_names = {"mi", key, "synergy", "excess"};
    for (std::size_t at = 0; at < shown_names.size(); ++at)
        if (at != 1 && shown_names[at] == key) shown_names.erase(shown_names.begin() + 1);
    append(text, "{:>5}", "rank");
    append_heads(text, report, "ijk");
    for (const std::string& name : shown_names)
        append(text, " {:>10}", name == "mi" ? "MI/bits" : name);
    text += '\n';
    for (std::size_t rank = 0; rank < shown; ++rank) {
        const auto at =
            mi::triple_at(triples.best_triples.triples[rank], report.alignment.column_count());
        append(text, "{:>5}", rank + 1);
        append_columns(text, report, at);
        for (const std::string& name : shown_names)
            append(text, " {:>10.4f}", value_of(rank, name));
        text += '\n';
    }
    append_cliques(text, triples);
}

}  // namespace

std::string summary(const mi::Report& report, const std::string& folder) {
    std::string text;
    append_input(text, report);
    append_null(text, report);
    append_pairs(text, report);
    if (report.result.triples) append_triples(text, report);
    append(text, "\nThe run is in {}: pairs.tsv, pairs.npz, columns.tsv, manifest.json and more\n",
           printable(folder));
    return text;
}

namespace {

namespace mi = mutual_information;

constexpr const char* kDescription =
    "Compute the mutual information of columns of an alignment, and compare it with shuffled "
    "columns.";

constexpr const char* kExamples =
    "Examples:\n"
    "  pleat mi family.a3m.gz -o run\n"
    "  pleat mi family.a3m -o run --structure 1abc.pdb:A\n"
    "  pleat mi family.a3m -o run --shuffles 10000\n"
    "  pleat mi rna.sto -o run --null tree --max-gaps 0.75 --secondary rna.sto\n"
    "  pleat mi rna.sto -o run --order 3 --shuffles 1000\n"
    "  pleat mi family.a3m -o run --order 3 --rank-by synergy --no-triple-variance\n"
    "  pleat mi families/*.a3m -o runs --shuffles 1000 --sweep null=exact,sampled\n"
    "  mpirun -n 4 pleat mi family.a3m -o run --order 3\n\n"
    "Gaps and unknown letters count as symbols: 22 in proteins, 6 in RNA. The MI of a\n"
    "column with itself is its entropy; its Z is 0/0 and has no value.\n\n"
    "The null model is exact: mean and variance over all permutations of the columns give\n"
    "Z of pairs and triples, and a p of pairs (exact for conserved columns, else that of a\n"
    "gamma distribution). Percentiles, the family-wise p, and any p of triples\n"
    "need --shuffles N.\n\n"
    "Permutations ignore that sequences are related, so that most pairs of a family get a\n"
    "small p. --null tree compares with alignments that evolve along a tree of the\n"
    "sequences, and gives E, the expected number of pairs without covariation that score\n"
    "as high. Only small E are calibrated: p of 0.5 is not a probability of one half.\n\n"
    "The clique set C by percentiles holds the triples whose percentile c is at least that\n"
    "of each of their pairs. If most pairs reach c = 1, so do most triples, and C says\n"
    "little; C by exact Z does not saturate. Neither tests for third-order interactions,\n"
    "because shuffling also destroys pairs: see synergy and excess.\n\n"
    "If a run was stopped or killed, the same command resumes it, also on a different\n"
    "number of ranks.";

struct MiOptions {
    RunOptions run;
    AlignmentOptions alignment;
    StructureOptions structure;
    mi::Parameters parameters;
    std::string secondary;  ///< file of a secondary structure; empty: none
    JobListOptions jobs;
};

/// The structure options without the contact cutoff, since the tables list distances, not contacts.
std::vector<Field> structure_fields(MiOptions& options) {
    std::vector<Field> all = fields(options.structure);
    std::erase_if(all, [](const Field& field) { return field.name == "contact-cutoff"; });
    all.push_back({.name = "secondary",
                   .target = &options.secondary,
                   .help = "Secondary structure of a nucleic acid, a Stockholm file (SS_cons) or "
                           "dot-bracket: mark its pairs in pairs.tsv, and count those that --null "
                           "tree finds",
                   .value_name = "FILE"});
    return all;
}

std::vector<Field> result_fields(MiOptions& options) {
    return concatenated(
        {mi::fields(options.parameters), fields(options.alignment), structure_fields(options)});
}

void record_result(RunDirectory& run, const mi::Report& report) {
    const mi::Result& result = report.result;
    if (result.gpu_seconds) {
        run.fact("gpu_seconds_pairs", result.gpu_seconds->pairs);
        if (result.triples) run.fact("gpu_seconds_triples", result.gpu_seconds->triples);
    }
    if (report.structure == nullptr) return;
    run.fact("chain", report.structure->map.chain_name);
    run.fact("identity", report.structure->map.identity);
    run.fact("mapped_columns", report.structure->map.mapped);
}

/// The structure mapped to the columns, and the row whose residues the lists show. Only on the
/// first rank.
struct Aligned {
    std::optional<KnownStructure> structure;
    ReferenceRow reference;
    std::optional<std::vector<std::pair<Index, Index>>> annotated;  ///< columns i < j
};

Aligned align_structure(const MiOptions& options, const Alignment& source, RunDirectory& run,
                        const Context& context) {
    Aligned aligned;
    context.notes(source.notes);
    // The structure is aligned with sequences in which unknown letters are gaps.
    const Alignment plain = without_unknown(source);
    aligned.structure = read_known_structure(options.structure, plain, run);
    if (aligned.structure) warn_of_other_structure(options.structure, *aligned.structure, context);
    aligned.reference = reference_row(options.structure, source, aligned.structure, context);
    return aligned;
}

std::string write(const MiOptions& options, const Alignment& alignment, const mi::Result& result,
                  Aligned& aligned, OpenRun& run) {
    run.folder.stage("write");
    if (aligned.structure) measure(*aligned.structure, alignment);
    const mi::Report report{alignment,
                            options.parameters,
                            result,
                            aligned.reference,
                            aligned.structure ? &*aligned.structure : nullptr,
                            aligned.annotated ? &*aligned.annotated : nullptr};
    mi::write_results(run.folder, report, resolve_threads(run.context));
    record_result(run.folder, report);
    run.folder.finish();
    return summary(report, run.folder.path().string());
}

/// Chooses the device of the run, starts it if it is a GPU, and returns the reason for the choice.
std::string choose_mi_device(const MiOptions& options, const JobTask& task,
                             const Alignment& alignment, Ranks& ranks, Context& context) {
    std::optional<GpuDemand> demand;
    if (task.choose_device || !options.run.names_device())
        demand = mi::gpu_demand(alignment, options.parameters, resolve_threads(context));
    const auto estimate = [&](const Context& chosen) {
        return mi::estimate(alignment, options.parameters, chosen);
    };
    std::string remark = choose_device(
        options.run, task, demand, estimate,
        "using the CPU: GPUs compute shuffles with plain counts only", ranks, context);
    if (task.choose_device) return remark;
    if (context.device.kind == Device::Kind::cuda && !options.parameters.counts_on_cpu())
        use_cuda_device(context.device.index);
    return remark;
}

/// Reads, computes and writes; returns the text for standard output.
std::string make_mi(MiOptions& options, const JobTask& task, Ranks& ranks) {
    check_structure_options(options.structure);
    OpenRun run("mi", options.run, result_fields(options), task, &ranks, "checkpoint.npz");
    auto& [context, folder] = run;
    std::jthread device_start;
    if (!task.choose_device && (options.run.names_device() || options.parameters.has_gpu_work()))
        device_start = start_device(options.run, context, true);
    folder.cite(mi::citations(options.parameters));
    for (const auto& path :
         {mi::triple_checkpoint(context.checkpoint), mi::exact_checkpoint(context.checkpoint)})
        folder.checkpoint(path.filename().string());
    folder.stage("read");
    if (ranks.is_leader()) check_structure_file(options.structure);
    options.alignment.reading.keep_unknown = true;
    options.alignment.reading.keep_full_rows =
        !options.structure.focus.empty() || !options.structure.structure.empty();
    options.alignment.inputs = task.inputs;
    const auto source = read_input(options.alignment, &folder, &ranks);
    Aligned aligned;
    if (ranks.is_leader()) aligned = align_structure(options, *source, folder, context);
    const Alignment alignment =
        filter(*source, filter_options(options.alignment, options.structure, *source));
    if (ranks.is_leader() && !options.secondary.empty()) {
        const SecondaryStructure marks = read_secondary_structure(options.secondary);
        record_input(options.secondary, folder);
        aligned.annotated =
            couplings::given_base_pairs(marks, alignment, aligned.reference, false).pairs;
    }
    if (!options.parameters.tree.file.empty() && ranks.is_leader())
        record_input(options.parameters.tree.file, folder);
    folder.stage("device");
    const std::string remark = choose_mi_device(options, task, alignment, ranks, context);
    folder.context(context);
    folder.require_space(mi::disk_needed(alignment, options.parameters));
    folder.stage("pairs");
    if (options.run.verbose) context.message(remark);
    const mi::Result result = mi::run(alignment, options.parameters, context);
    if (task.computed) task.computed();
    return ranks.is_leader() ? write(options, alignment, result, aligned, run) : std::string();
}

RunEstimate estimate_mi(MiOptions& options, SharedInputs& inputs) {
    options.alignment.reading.keep_unknown = true;
    options.alignment.inputs = &inputs;
    const std::shared_ptr<const Alignment> read = read_input(options.alignment, nullptr);
    const auto alignment = std::make_shared<const Alignment>(
        filter(*read, filter_options(options.alignment, options.structure, *read)));
    return {.input = fmt::format("{} sequences, {} columns", alignment->sequence_count(),
                                 alignment->column_count()),
            .may_use_gpu = options.parameters.has_gpu_work(),
            .on = [alignment, parameters = options.parameters](const Context& context) {
                return mi::estimate(*alignment, parameters, context);
            }};
}

}  // namespace

Command mi_command(CLI::App& program, Ranks& ranks) {
    static const JobFunctions<MiOptions> functions{
        .command = "mi",
        .description = kDescription,
        .examples = kExamples,
        .wanted = "an ALIGNMENT or a --list of alignments",
        .input_column = "alignment",
        .uses_seed = true,
        .numbers = {"sequences", "columns", "effective_sequences", "shuffles", "pairs", "triples",
                    "cliques", "cliques_by_z"},
        .per_input = {"structure", "row", "focus", "tree", "secondary"},
        .add_options =
            [](CLI::App& parser, MiOptions& options) {
                add_alignment_options(parser, options.alignment);
                add_job_options(parser, options.run, options.jobs, true, false);
                add_fields(parser, "Mutual information", mi::fields(options.parameters));
                add_fields(parser, "Structure", structure_fields(options));
            },
        .fields = result_fields,
        .check =
            [](const MiOptions& options) {
                check_readable({options.parameters.tree.file, options.secondary});
                check_structure_options(options.structure);
                check_alignment_job(options.alignment);
                check_structure_file(options.structure);
            },
        .run = make_mi,
        .estimate = estimate_mi};
    return job_command(program, ranks, functions);
}

}  // namespace pleat::program

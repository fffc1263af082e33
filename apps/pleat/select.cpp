// pleat select: conformations ranked by contacts, clusters and scattering together.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "commands.h"
#include "help_format.h"
#include "options.h"
#include "pleat/bio/alignment/read_alignment.h"
#include "pleat/bio/ensemble/ensemble_files.h"
#include "pleat/bio/structure/residue_map.h"
#include "pleat/bio/structure/selection.h"
#include "pleat/core/error.h"
#include "pleat/core/files/input_file.h"
#include "pleat/core/files/printable.h"
#include "pleat/core/hardware/instruction_set.h"
#include "pleat/core/terminal/progress_terminal.h"
#include "pleat/select/output.h"
#include "ranks.h"
#include "select_evidence.h"
#include "select_options.h"
#include "select_stages.h"
#include "standard_output.h"

namespace pleat::program {

namespace {

constexpr const char* kDescription =
    "Rank the conformations of an ensemble by contacts, clusters and scattering together.";

constexpr const char* kExamples =
    "Examples:\n"
    "  pleat select --ensemble models.pdb.gz --alignment family.a3m -o run\n"
    "  pleat select --ensemble models/ --alignment family.a3m --saxs curve.dat -o run\n"
    "  pleat select --ensemble md.xtc --topology protein.pdb --contacts contacts.rr -o run\n"
    "  pleat select --ensemble models.pdb --contacts couplings_run --weight-clusters 0.5 -o run\n"
    "  pleat report run -o page.html\n\n"
    "The couplings, clusters and profiles that it stands on are runs of their own in the folders\n"
    "couplings, clusters and saxs within; they are kept, and taken again where version, options "
    "and\n"
    "inputs agree: a selection that was stopped goes on when the same command is given again, and\n"
    "one with other weights (--force) makes none of them anew. Ranks are from 0 (worst) to 1\n"
    "(best), the joined score is their weighted mean. Frames and clusters are counted from 0 in\n"
    "files. Proteins alone.";

/// Where the evidence of a run comes from.
struct Gathered {
    std::filesystem::path clusters, saxs;  ///< folders of stages; empty: none
    select::ContactMap map;                ///< without contacts: empty
};

/// The row of the alignment that is the ensemble's own sequence; empty where its name is not the
/// only one, and the first row then counts. InputError for an alignment of another family.
std::string own_row(const SelectOptions& options, const Structure& structure) {
    const Alignment alignment = read_alignment(options.alignment);
    if (alignment.alphabet->kind() != Alphabet::Kind::protein)
        throw InputError(options.alignment, 0,
                         fmt::format("expected an alignment of proteins, found one of {}",
                                     alignment.alphabet->name()));
    const ResidueMap map = map_residues(alignment, structure);
    try {
        if (find_row(alignment, map.row_name) == map.row) return map.row_name;
    } catch (const UsageError&) {
        // Several rows have that name.
    }
    return {};
}

std::filesystem::path make_couplings(const SelectOptions& options, const std::string& row,
                                     Stages& stages, const Context& context) {
    CouplingsOptions own = couplings_stage(options, row), usual;
    const Stage stage{.name = "couplings",
                      .command = "couplings",
                      .fields = result_fields(own),
                      .defaults = result_fields(usual),
                      .arguments = {options.alignment},
                      .inputs = {options.alignment}};
    return stages.make(stage, context, [&](const std::filesystem::path& folder, bool force) {
        own.run.force = force;
        const auto settle = [&](const Alignment& alignment, Context& of_stage) {
            return choose_device(options.run, couplings::gpu_memory_needed(alignment), of_stage);
        };
        fit_family(own,
                   {.folder = folder,
                    .arguments = stage_arguments(stage, options.run, stages.final_folder(stage)),
                    .shown = context.progress,
                    .choose_device = settle});
    });
}

std::filesystem::path make_cluster_stage(const SelectOptions& options, Index residues,
                                         Stages& stages, const Context& context) {
    ClusterOptions own = clusters_stage(options, residues), usual;
    const Stage stage{.name = "clusters",
                      .command = "cluster",
                      .fields = result_fields(own),
                      .defaults = result_fields(usual),
                      .arguments = options.ensemble.sources,
                      .inputs = ensemble_inputs(options.ensemble)};
    return stages.make(stage, context, [&](const std::filesystem::path& folder, bool force) {
        own.run.output = folder.string();
        own.run.force = force;
        make_clusters(own, stage_arguments(stage, options.run, stages.final_folder(stage)),
                      context.progress);
    });
}

std::filesystem::path make_saxs_stage(const SelectOptions& options, Stages& stages, Ranks& ranks,
                                      const Context& context) {
    SaxsOptions own = saxs_stage(options), usual;
    Stage stage{.name = "saxs",
                .command = "saxs",
                .fields = result_fields(own),
                .defaults = result_fields(usual),
                .arguments = options.ensemble.sources,
                .inputs = ensemble_inputs(options.ensemble)};
    stage.inputs.emplace_back(options.curve);
    return stages.make(stage, context, [&](const std::filesystem::path& folder, bool force) {
        own.run.output = folder.string();
        own.run.force = force;
        make_profiles(own, stage_arguments(stage, options.run, stages.final_folder(stage)), ranks,
                      context.progress);
    });
}

Index superposed_residues(const EnsembleReader& reader, const std::string& selection) {
    const Topology& all = *reader.topology();
    return static_cast<Index>(subset(all, select_atoms(all, selection)).residues.size());
}

select::ContactMap map_contacts(const SelectOptions& options, const PredictedContacts& predicted,
                                const Structure& structure, const EnsembleReader& reader,
                                const Context& context) {
    const auto length = static_cast<double>(predicted.sequence.size());
    const auto count = static_cast<Index>(
        std::max(1.0, std::round(options.parameters.contacts_per_residue * length)));
    select::ContactMap map =
        select::expected_contacts(predicted, structure, *reader.topology(), count);
    if (map.beyond > 0)
        context.message(
            fmt::format("{} of {} expected contacts are between residues that the "
                        "ensemble has not: they do not count",
                        map.beyond, count));
    return map;
}

/// All stages; what is wrong with files that are there is told before the first of them.
Gathered gather(const SelectOptions& options, const EnsembleReader& reader, Stages& stages,
                Ranks& ranks, const Context& context) {
    Gathered gathered;
    const Index residues = superposed_residues(reader, options.ensemble.select);
    std::optional<Structure> structure;
    std::string row;
    if (options.has_contacts()) structure = read_residues(reader, options.ensemble);
    if (!options.alignment.empty()) row = own_row(options, *structure);
    if (!options.contacts.empty())
        gathered.map =
            map_contacts(options, read_predicted(options.contacts), *structure, reader, context);
    if (!options.curve.empty()) gathered.saxs = make_saxs_stage(options, stages, ranks, context);
    gathered.clusters = make_cluster_stage(options, residues, stages, context);
    if (options.alignment.empty()) return gathered;
    const std::filesystem::path couplings = make_couplings(options, row, stages, context);
    gathered.map =
        map_contacts(options, read_predicted(couplings.string()), *structure, reader, context);
    return gathered;
}

/// RMSD of each frame from the medoid of the first selected cluster.
std::vector<float> distances_from_first(const cluster::Distances& distances,
                                        const ClusterFiles& clusters,
                                        const select::Result& result) {
    if (result.clusters.empty() || result.clusters.front().selected == 0) return {};
    const Index medoid =
        clusters.medoids[static_cast<std::size_t>(result.clusters.front().cluster)];
    std::vector<float> rmsd(static_cast<std::size_t>(distances.count()));
    distances.rows(std::span(&medoid, 1), rmsd.data());
    return rmsd;
}

void write_selected(RunDirectory& run, const SelectOptions& options, const ClusterInput& input,
                    const ClusterFiles& clusters, const select::Result& result,
                    const Context& context) {
    std::vector<Index> best, medoids;
    for (const select::ClusterEvidence& one : result.clusters) {
        if (one.selected == 0) continue;
        best.push_back(one.best);
        medoids.push_back(clusters.medoids[static_cast<std::size_t>(one.cluster)]);
    }
    write_frames(run, "best", input, best, options.structures, context);
    write_frames(run, "medoids", input, medoids, options.structures, context);
}

void record_result(RunDirectory& run, const select::ContactMap& map, const select::Result& result,
                   double cutoff) {
    if (!map.contacts.empty()) {
        run.fact("contacts", static_cast<std::int64_t>(map.contacts.size()));
        run.fact("chain", map.chain);
        run.fact("identity", map.identity);
        run.fact("mapped_residues", map.mapped);
    }
    std::int64_t selected = 0;
    for (const select::ClusterEvidence& one : result.clusters) selected += one.selected > 0;
    run.fact("frames", static_cast<std::int64_t>(result.scores.place.size()));
    run.fact("clusters", static_cast<std::int64_t>(result.clusters.size()));
    run.fact("selected", selected);
    run.fact("cutoff", cutoff);
    for (std::size_t frame = 0; frame < result.scores.place.size(); ++frame)
        if (result.scores.place[frame] == 1)
            run.fact("best_frame", static_cast<std::int64_t>(frame));
    if (selected > 0)
        run.fact("first_cluster", static_cast<std::int64_t>(result.clusters.front().cluster));
}

std::string number(double value) {
    return std::isnan(value) ? std::string("-") : fmt::format("{:.4f}", value);
}

std::string summary(const SelectOptions& options, const select::Result& result,
                    const std::string& folder) {
    std::string text =
        fmt::format("{}{}: {} frames, {} clusters\n\n{:>8}{:>9}{:>8}{:>8}{:>9}{:>10}{:>9}{:>9}\n",
                    printable(options.ensemble.sources.front()),
                    options.ensemble.sources.size() > 1 ? " and more" : "",
                    result.scores.place.size(), result.clusters.size(), "selected", "cluster",
                    "size", "best", "joined", "contacts", "added", "chi^2");
    for (const select::ClusterEvidence& one : result.clusters)
        if (one.selected > 0)
            text += fmt::format("{:>8}{:>9}{:>8}{:>8}{:>9}{:>10}{:>9}{:>9}\n", one.selected,
                                one.cluster, one.size, one.best, number(one.joined),
                                number(one.contacts), number(one.added), number(one.chi2));
    return text + fmt::format(
                      "\nThe run is in {}: scores.tsv, clusters.tsv, manifest.json and more; "
                      "'pleat report {} -o page.html' draws it\n",
                      printable(folder), printable(folder));
}

const Citation kCutoff{
    "Zhang2004",
    "Zhang, Skolnick: Scoring function for automated assessment of protein structure template "
    "quality. Proteins 57:702 (2004), doi:10.1002/prot.20264",
    "@article{Zhang2004,\n  author  = {Zhang, Yang and Skolnick, Jeffrey},\n  title   = {Scoring "
    "function for automated assessment of protein structure template quality},\n  journal = "
    "{Proteins},\n  volume  = {57},\n  pages   = {702--710},\n  year    = {2004},\n  doi     = "
    "{10.1002/prot.20264}\n}\n"};

/// Every file is looked at first, as stages take long; several of them read each file.
void check_files(const SelectOptions& options) {
    constexpr const char* kReason = "several stages read it";
    std::vector<std::string> others = {options.ensemble.topology, options.alignment, options.curve};
    std::error_code ignored;
    if (!std::filesystem::is_directory(options.contacts, ignored))
        others.push_back(options.contacts);
    refuse_ensemble_pipes(options.ensemble.sources, kReason);
    refuse_pipes(others, kReason);
    check_readable(others);
}

void record_inputs(const SelectOptions& options, RunDirectory& run) {
    record_lists(options.ensemble.sources, run);
    for (const std::filesystem::path& file : ensemble_inputs(options.ensemble))
        record_input(file, run);
    std::error_code ignored;
    for (const std::string& file : {options.alignment, options.contacts, options.curve}) {
        if (file.empty()) continue;
        const std::filesystem::path path = file;
        record_input(std::filesystem::is_directory(path, ignored) ? path / "contacts.rr" : path,
                     run);
    }
}

std::string make_selection(SelectOptions& options, const std::vector<std::string>& arguments,
                           Ranks& ranks, Progress* shown) {
    Context context = make_context(options.run);
    RunDirectory run({.path = options.run.output,
                      .command = "select",
                      .arguments = arguments,
                      .force = options.run.force});
    context.progress = &run.watch(shown);
    run.parameters(result_fields(options));
    Stages stages(run);
    check_files(options);
    EnsembleReader reader(options.ensemble.sources,
                          {.topology = options.ensemble.topology,
                           .assembly = options.ensemble.assembly,
                           .range = parse_frame_range(options.ensemble.frames),
                           .truncated = options.ensemble.truncated});
    record_inputs(options, run);
    const Gathered gathered = gather(options, reader, stages, ranks, context);

    run.stage("read");
    const select::ContactMap& map = gathered.map;
    const ClusterInput input =
        read_cluster_input(options.ensemble, {}, "", options.run, run, context);
    run.context(context);
    const Index frames = input.coordinates->frames();
    const ClusterFiles clusters = read_clusters(gathered.clusters, frames);
    const double cutoff = std::isnan(clusters.cutoff)
                              ? usual_cutoff(superposed_residues(reader, options.ensemble.select))
                              : clusters.cutoff;
    std::vector<double> chi2, strengths;
    if (!gathered.saxs.empty()) chi2 = read_chi2(gathered.saxs, frames);
    for (const select::ExpectedContact& contact : map.contacts)
        strengths.push_back(contact.strength);
    Array<std::uint8_t, 2> satisfied;
    if (!strengths.empty())
        satisfied = satisfied_contacts(reader, frames, map.contacts,
                                       options.parameters.contact_cutoff, context);
    const std::vector<double> density = densities(*input.distances, cutoff, context);
    const select::Evidence evidence{.satisfied = satisfied,
                                    .strengths = strengths,
                                    .assignment = clusters.assignment,
                                    .density = density,
                                    .chi2 = chi2};
    const select::Result result = select::run(evidence, options.parameters);

    run.stage("write");
    if (options.clustering.cutoff.empty()) run.cite(kCutoff);
    std::vector<std::string> files;
    std::vector<Index> numbers;
    for (const FrameOrigin& origin : input.coordinates->origins) {
        files.push_back(input.coordinates->files[static_cast<std::size_t>(origin.file)]);
        numbers.push_back(origin.frame);
    }
    const std::vector<float> rmsd = distances_from_first(*input.distances, clusters, result);
    select::write_results(run,
                          {evidence, result, files, numbers, clusters.medoids, rmsd, map.contacts});
    write_selected(run, options, input, clusters, result, context);
    record_result(run, map, result, cutoff);
    run.finish();
    return summary(options, result, run.path().string());
}

void run_select(SelectOptions& options, const std::vector<std::string>& arguments, Ranks& ranks) {
    check_options(options);
    restrict_instruction_set_by_environment();
    install_interrupt_handler();
    const std::unique_ptr<Progress> shown = make_progress(stderr, options.run.quiet);
    const std::string text = make_selection(options, arguments, ranks, shown.get());
    if (!options.run.quiet) print(text);
}

}  // namespace

Command select_command(CLI::App& program, Ranks& ranks) {
    CLI::App* parser = program.add_subcommand("select", kDescription);
    const auto options = std::make_shared<SelectOptions>();
    parser->add_option("-e,--ensemble", options->ensemble.sources, kEnsembleFiles)
        ->type_name("ENSEMBLE ...")
        ->required()
        ->group("Input");
    add_fields(*parser, "Input", frame_fields(options->ensemble));
    add_fields(*parser, "Input", evidence_fields(*options));
    add_run_options(*parser, options->run, true);
    add_fields(*parser, "Selection", select::fields(options->parameters));
    add_fields(*parser, "Clustering", clustering_fields(*options));
    add_fields(*parser, "Structures", structure_fields(*options));
    parser->footer(help_footer(kExamples));
    return {.parser = parser, .run = [options, &ranks](const std::vector<std::string>& arguments) {
                run_select(*options, arguments, ranks);
            }};
}

}  // namespace pleat::program

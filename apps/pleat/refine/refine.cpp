// pleat refine: conformations of rigid domains on flexible linkers, and those that fit a curve.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cluster/cluster.h"
#include "commands.h"
#include "help/help.h"
#include "jobs/job_list.h"
#include "options/common_options.h"
#include "options/ensemble_options.h"
#include "options/options.h"
#include "pleat/bio/ensemble/ensemble.h"
#include "pleat/core/error.h"
#include "pleat/core/files/input_file.h"
#include "pleat/core/files/output_file.h"
#include "pleat/core/files/text.h"
#include "pleat/core/hardware/device_choice.h"
#include "pleat/core/jobs/job_command.h"
#include "pleat/saxs/memory_estimate.h"
#include "pleat/saxs/observable_files.h"
#include "pleat/workflows/refine/chain/domain_structures.h"
#include "pleat/workflows/refine/output.h"
#include "pleat/workflows/refine/refine.h"
#include "pleat/workflows/refine/run_setup.h"
#include "process/process.h"
#include "saxs/saxs.h"

namespace pleat::program {

namespace {

constexpr const char* kDescription =
    "Sample conformations of rigid domains on flexible linkers, and fit them to a curve.";

constexpr const char* kExamples =
    "Examples:\n"
    "  pleat refine protein.pdb --linkers A:225-242,A:446-448 -o run\n"
    "  pleat refine protein.pdb --rigid A:20-224,A:243-600 --data curve.dat -o run\n"
    "  pleat refine model.cif --pae pae.json --data curve.dat -o run\n"
    "  pleat refine domains.pdb --sequence protein.fasta --data curve.dat -o run\n"
    "  pleat refine one.pdb two.pdb --join --sequence protein.fasta -o run\n"
    "  pleat refine --sequence disordered.fasta --data curve.dat -o run\n"
    "  pleat refine dimer.cif --linkers A:1-15,B:1-15 --group A:16-180,B:16-180 -o run\n"
    "  pleat refine dimer.cif --linkers A:1-15 --group A:16-180 --symmetry c2 -o run\n"
    "  pleat refine protein.pdb --linkers A:289-301 --data curve.dat --mode fit -o run\n"
    "  pleat refine start1.pdb start2.pdb --linkers A:225-242 -o runs --sweep seed=1,2,3\n"
    "  pleat report run -o page.html\n\n"
    "Linkers turn about phi and psi, as in coils of known structures; the rest of the protein is\n"
    "rigid. The frames are samples, not one refined model: in mode pool of what linkers and "
    "overlaps\n"
    "allow, to which a curve of --data gives weights (proteins that stay flexible), in mode fit of "
    "the\n"
    "same times the likelihood of the curve, where each frame alone explains it (one conformation "
    "of\n"
    "unknown place).\n"
    "Chains, ligands and nucleic acids without linkers move with the domain that they touch most.\n"
    "With --data the frames are fitted in RUN/saxs as 'pleat saxs' does: chi^2 of each, minimal\n"
    "ensembles and weights. A run that has not converged says so, and one whose frames do not\n"
    "explain the curve; its files stay. The same command resumes a run that was stopped. "
    "--device\n"
    "names the GPU that computes profiles; moves are made on the CPU's threads.";

/// All options of `pleat refine`.
struct RefineOptions {
    RunOptions run;
    EnsembleSource ensemble;  ///< one file, or those of domains, and the assembly
    bool join = false;        ///< whether several files are domains of one protein
    refine::Parameters parameters;
    SaxsOptions saxs;                      ///< data, curve and parameters of the fit
    bool profiles = false;                 ///< of the frames without a curve, too
    std::optional<double> cluster_cutoff;  ///< angstrom; not set: no clusters

    /// Whether the sequence stands where the structure does.
    bool has_sequence_alone() const { return ensemble.sources == std::vector{parameters.sequence}; }
    bool has_curve() const { return !saxs.data.empty(); }
    bool has_profiles() const { return profiles || has_curve() || !saxs.observables.empty(); }
    JobListOptions jobs;
};

/// The files besides the structure.
std::vector<std::string> other_files(const RefineOptions& options) {
    std::vector<std::string> files = {options.saxs.data, options.saxs.observables,
                                      options.parameters.pae};
    if (!options.has_sequence_alone()) files.push_back(options.parameters.sequence);
    return files;
}

std::vector<Field> input_fields(RefineOptions& options) {
    std::vector<Field> fields = frame_fields(options.ensemble);
    std::erase_if(fields, [](const Field& field) { return field.name != "assembly"; });
    fields.push_back({.name = "join",
                      .target = &options.join,
                      .help = "The STRUCTUREs contain domains of one protein, whose "
                              "linkers --sequence builds; without this option each is a run of its "
                              "own"});
    return fields;
}

std::vector<Field> refined_curve_fields(RefineOptions& options) {
    std::vector<Field> fields = curve_fields(options.saxs);
    // The frames are not known before.
    std::erase_if(fields, [](const Field& field) {
        return field.name == "series" || field.name == "smear" || field.name == "observable-values";
    });
    return fields;
}

std::vector<Field> frame_cluster_fields(RefineOptions& options) {
    return {{.name = "cluster-cutoff",
             .target = &options.cluster_cutoff,
             .help = "Cluster the frames by GROMOS (RUN/clusters) with this cutoff of the RMSD "
                     "of CA atoms",
             .unit = "angstrom",
             .min = 0,
             .min_excluded = true,
             .automatic = "none"}};
}

std::vector<Field> frame_profile_fields(RefineOptions& options) {
    std::vector<Field> fields = {
        {.name = "profiles",
         .target = &options.profiles,
         .help = "Compute profiles of the frames without --data, too (RUN/saxs/profiles.npy)"}};
    for (const Field& field : refine::profile_fields(options.saxs.parameters))
        fields.push_back(field);
    return fields;
}

std::vector<Field> result_fields(RefineOptions& options) {
    return concatenated({refine::fields(options.parameters), input_fields(options),
                         refined_curve_fields(options), frame_profile_fields(options)});
}

void choose_mode(RefineOptions& options) {
    refine::Mode& mode = options.parameters.mode;
    if (mode == refine::Mode::automatic) mode = refine::Mode::pool;
}

void check_job(const RefineOptions& options) {
    const bool has_curve = options.has_curve();
    refine::check_options(options.parameters, has_curve);
    if (options.has_sequence_alone() && (options.join || !options.ensemble.assembly.empty()))
        throw UsageError("--join and --assembly: expected a STRUCTURE, found none");
    if (options.join && options.ensemble.sources.size() == 1)
        throw UsageError(
            "--join: expected several STRUCTUREs, found one; models of one file need no --join");
    if (options.parameters.mode == refine::Mode::fit && options.saxs.parameters.background)
        throw UsageError("mode fit has no background: leave out --background, or give --mode pool");
    if (options.run.names_device() && make_context(options.run).device.kind == Device::Kind::cuda &&
        !options.has_profiles() && !options.cluster_cutoff)
        throw UsageError(
            "--device is for profiles and clusters: without --data, --profiles and "
            "--cluster-cutoff moves need the CPU alone");
    check_readable(options.ensemble.sources);
    check_readable(other_files(options));
    if (has_curve) refuse_pipes({options.saxs.data}, "it is read again");
    if (options.saxs.observables.empty()) return;
    refuse_pipes({options.saxs.observables}, "it is read again");
    if (!saxs::read_observables(options.saxs.observables).is_computed())
        throw InputError(
            options.saxs.observables, 0,
            "expected how each observable is computed from a frame, found some without");
}

std::string moves_line(const refine::Result& result) {
    std::string text = "accepted moves:";
    for (const refine::MoveShare& move : result.moves)
        if (move.proposed > 0)
            text += fmt::format(
                " {} {:.0f} %,", move.name,
                100.0 * static_cast<double>(move.accepted) / static_cast<double>(move.proposed));
    text.back() = '\n';
    return text;
}

/// The 5th, 50th and 95th percentile of values, their deviation, and the entropy of their histogram
/// of 20 equal bins from `min` to `max`, of that of equal bins (Rflex: Tria, Mertens, Kachala,
/// Svergun, IUCrJ 2:207, 2015).
struct Distribution {
    double low = 0, middle = 0, high = 0, deviation = 0, flexibility = 0;
};
Distribution distribution_of(const std::vector<double>& values, std::span<const double> weights,
                             double min, double max) {
    constexpr std::size_t kBins = 20;
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
    Distribution found;
    std::array<double, kBins> bins{};
    double sum = 0, mean = 0, square = 0;
    for (const std::size_t n : order) {
        const double value = values[n], before = sum;
        sum += weights[n];
        for (const auto& [share, to] : {std::pair(0.05, &found.low), std::pair(0.5, &found.middle),
                                        std::pair(0.95, &found.high)})
            if (before <= share && sum > share) *to = value;
        mean += weights[n] * value;
        square += weights[n] * value * value;
        const double at = max > min ? (value - min) / (max - min) : 0;
        bins[std::min(kBins - 1, static_cast<std::size_t>(at * kBins))] += weights[n];
    }
    found.deviation = std::sqrt(std::max(0.0, square - mean * mean));
    for (const double share : bins)
        if (share > 0) found.flexibility -= share * std::log(share) / std::log(double{kBins});
    return found;
}
/// That of equal weights.
Distribution distribution_of(const std::vector<double>& values) {
    const auto [min, max] = std::minmax_element(values.begin(), values.end());
    const std::vector<double> equal(values.size(), 1 / static_cast<double>(values.size()));
    return distribution_of(values, equal, *min, *max);
}

std::string summary(const RefineOptions& options, const refine::Result& result,
                    const std::string& folder) {
    std::string text;
    text += result.is_converged() ? fmt::format("converged: effective sizes of at least {:.0f}\n",
                                                refine::smallest_size(result))
                                  : refine::convergence_remark(result) + "\n";
    text += fmt::format("{}: {} frames of {} atoms, {} angles of linkers {}\n",
                        printable(fmt::format("{}", fmt::join(options.ensemble.sources, ", "))),
                        result.frames.frame_count(), result.frames.atom_count(), result.hinges,
                        fmt::join(result.linkers, ", "));
    if (!result.symmetry.empty())
        text +=
            fmt::format("symmetry {}: the angles are the same in all copies\n", result.symmetry);
    if (result.built_residues > 0 && !options.has_sequence_alone())
        text += fmt::format("built {} missing residues: {}\n", result.built_residues,
                            fmt::join(result.built, ", "));
    for (std::size_t n = 0; n < result.domains.size(); ++n)
        text += fmt::format("domain {}: {}\n", n + 1, result.domains[n]);
    text += moves_line(result);
    if (result.evidence)
        text += fmt::format(
            "{} powers of the likelihood; frames descend from {} draws; ln of the evidence {:.2f} "
            "+- {:.2f}\n",
            result.evidence->powers.size(), result.evidence->ancestors,
            result.evidence->log_evidence, result.evidence->error);
    if (!result.chi2.empty())
        text += fmt::format("chi^2 per point, by beads: smallest {:.3f}, median {:.3f}\n",
                            *std::min_element(result.chi2.begin(), result.chi2.end()),
                            distribution_of(result.chi2).middle);
    text += fmt::format("\n{:<16}{:>10}{:>10}{:>10}{:>9}{:>8}\n", "quantity", "5 %", "median",
                        "95 %", "R-hat", "ESS");
    for (const refine::Quantity& quantity : result.quantities) {
        const Distribution found = distribution_of(quantity.values);
        text += fmt::format("{:<16}{:>10.2f}{:>10.2f}{:>10.2f}{:>9.3f}{:>8.0f}\n", quantity.name,
                            found.low, found.middle, found.high, quantity.convergence.r_hat,
                            quantity.convergence.effective_size);
    }
    if (const std::string remark = refine::misfit_remark(result); !remark.empty())
        text += "\n" + remark + "\n";
    if (!result.found_options.empty())
        text += "\nfound by --pae (also in domains.txt): " + result.found_options + "\n";
    return text + fmt::format(
                      "\nThe run is in {}: frames.dcd, {}, frames.tsv, convergence.json, "
                      "manifest.json\n",
                      printable(folder), refine::topology_name(result));
}

/// Sets the options of another command to read the written frames and to use a subfolder of this
/// run. Returns its command line.
template <class Options>
std::vector<std::string> set_stage(const RefineOptions& options, const refine::Result& result,
                                   const char* folder, const char* command, RunDirectory& run,
                                   Options& own) {
    Options usual;
    own.run = options.run;
    own.run.output = run.stage_folder(folder).string();
    own.run.force = true;
    own.ensemble.sources = {run.output("frames.dcd").string()};
    own.ensemble.topology = run.output(refine::topology_name(result)).string();
    return call_words(command, own.ensemble.sources, program::result_fields(own),
                      program::result_fields(usual), own.run, own.run.output);
}

/// The task of such a run.
JobTask stage_task(const std::vector<std::string>& words, const JobTask& task,
                   const Context& context) {
    return {.arguments = words,
            .shown = context.progress,
            .shares_process = task.shares_process,
            .choose_device = task.choose_device};
}

cluster::Parameters clustering(double cutoff) {
    cluster::Parameters parameters;
    parameters.cutoff = cutoff;
    return parameters;
}

/// Finds clusters of the frames, by their CA atoms.
std::string find_clusters(const RefineOptions& options, const refine::Result& result,
                          RunDirectory& run, const JobTask& task, Ranks& ranks,
                          const Context& context) {
    ClusterOptions own;
    own.parameters = clustering(*options.cluster_cutoff);
    own.ensemble.select = "ca";
    const std::vector<std::string> words =
        set_stage(options, result, "clusters", "cluster", run, own);
    return make_clusters(own, stage_task(words, task, context), ranks).summary;
}

/// Pool and weighted ensemble side by side, as text and in ensemble.tsv; how far the pool reaches.
std::string compare_ensemble(const refine::Result& result, const saxs::Weighted& weighted,
                             RunDirectory& run) {
    constexpr double kFewest = 20, kEnough = 400;
    const auto frames = static_cast<double>(weighted.weights.size());
    std::string text =
        fmt::format("\nweights rest on {:.0f} effective frames of {:.0f}{}\n",
                    weighted.effective_frames, frames,
                    weighted.effective_frames < kFewest
                        ? ": too few to be an ensemble; draw more frames, or take mode fit if "
                          "the protein has one conformation"
                    : weighted.effective_frames < kEnough
                        ? fmt::format(": {:.0f} are wanted; draw more frames", kEnough)
                        : "");
    text += fmt::format("{:<16}{:>8}{:>8}{:>8}{:>10}{:>8}{:>8}{:>8}{:>8}{:>8}\n", "angstrom", "5 %",
                        "median", "95 %", "weighted:", "5 %", "median", "95 %", "Rflex", "Rsigma");
    std::string table =
        "quantity\tpool_5\tpool_50\tpool_95\tpool_rflex\tensemble_5\tensemble_50\t"
        "ensemble_95\tensemble_rflex\trsigma\n";
    std::vector<double> weights(result.chain.size());
    for (std::size_t n = 0; n < weighted.frames.size(); ++n)
        weights[weighted.frames[n]] = weighted.weights[n];
    for (const refine::Quantity& quantity : result.quantities) {
        const auto [min, max] = std::minmax_element(quantity.values.begin(), quantity.values.end());
        const Distribution pool = distribution_of(quantity.values),
                           found = distribution_of(quantity.values, weights, *min, *max);
        const double ratio = pool.deviation > 0 ? found.deviation / pool.deviation : 1;
        text += fmt::format(
            "{:<16}{:>8.2f}{:>8.2f}{:>8.2f}{:>10}{:>8.2f}{:>8.2f}{:>8.2f}{:>7.0f}%"
            "{:>8.2f}\n",
            quantity.name, pool.low, pool.middle, pool.high, "", found.low, found.middle,
            found.high, 100 * found.flexibility, ratio);
        table += fmt::format(
            "{}\t{:.4f}\t{:.4f}\t{:.4f}\t{:.4f}\t{:.4f}\t{:.4f}\t{:.4f}\t{:.4f}\t{:.4f}\n",
            quantity.name, pool.low, pool.middle, pool.high, pool.flexibility, found.low,
            found.middle, found.high, found.flexibility, ratio);
    }
    write_text(run.output("ensemble.tsv"), table);
    return text;
}

/// Computes the frames' profiles and, if there is a curve, fits them to it.
std::string compute_profiles(RefineOptions& options, const refine::Result& result,
                             RunDirectory& run, const JobTask& task, Ranks& ranks,
                             const Context& context) {
    const std::vector<std::string> words =
        set_stage(options, result, "saxs", "saxs", run, options.saxs);
    const SaxsOutcome outcome =
        make_profiles(options.saxs, stage_task(words, task, context), ranks);
    const auto& ensemble = outcome.result.ensemble;
    if (result.mode != refine::Mode::pool || ensemble.scan.empty()) return outcome.summary;
    return outcome.summary +
           compare_ensemble(result, ensemble.scan[ensemble.scan_chosen].result, run);
}

/// What is read before sampling.
struct Input {
    std::shared_ptr<const Ensemble> structure;
    std::optional<ProfileFile> curve;

    refine::CurveInput fitted(const RefineOptions& options) const {
        return refine::curve_input(options.saxs.parameters, curve ? &curve->profile : nullptr);
    }
};

Input read_input(const RefineOptions& options, SharedInputs* shared) {
    Input input;
    const EnsembleSource& source = options.ensemble;
    input.structure = shared_input<Ensemble>(
        shared,
        "first model\n" + options.parameters.sequence + "\n" + options.parameters.group + "\n" +
            input_key(source),
        [&] {
            return refine::read_structures(source.sources, source.assembly, options.parameters);
        });
    if (!options.saxs.data.empty()) {
        ProfileOptions reading = options.saxs.curve;
        if (input.structure->atom_count() > 0)
            reading.structure_gyration =
                saxs::gyration_of_structure(*input.structure, options.saxs.parameters);
        input.curve = read_profile(options.saxs.data, reading);
    }
    return input;
}

void add_stage(const refine::RunSize& size, const Estimate& stage, Estimate& all) {
    const std::int64_t kept = 12 * size.frames * size.atoms;
    all.host_bytes = std::max(all.host_bytes, kept + stage.host_bytes);
    all.gpu_bytes = std::max(all.gpu_bytes, stage.gpu_bytes);
    all.min_gpu_bytes = std::max(all.min_gpu_bytes, stage.min_gpu_bytes);
    all.seconds += stage.seconds;
    all.disk_bytes += stage.disk_bytes;
}

/// Estimates sampling, then clustering and profiles of the frames.
Estimate estimate_run(const RefineOptions& options, const refine::RunSize& size, Index curve_points,
                      const Context& context) {
    Context sampling = context;
    // --device auto uses a GPU only for clustering and profiles.
    if (!options.run.names_device() || size.mode == refine::Mode::pool) sampling.device = {};
    Estimate all = refine::estimate(size, sampling);
    if (options.cluster_cutoff)
        add_stage(size,
                  estimate_superposing({.frames = size.frames, .atoms = size.residues},
                                       clustering(*options.cluster_cutoff), {}, context),
                  all);
    const saxs::ComponentSize frames{size.frames, size.atoms, size.diameter};
    if (options.has_profiles())
        add_stage(size,
                  saxs::estimate({&frames, 1}, curve_points, options.saxs.parameters, context),
                  all);
    return all;
}

/// Chooses the device for profiles of Monte Carlo moves: the CPU unless the user names one.
void choose_sampling_device(const RefineOptions& options, const JobTask& task, const Input& input,
                            Context& context) {
    if (task.choose_device) {
        context.lanes.clear();
        const refine::RunSize size = refine::size_of_run(*input.structure, input.fitted(options),
                                                         options.parameters, context);
        const std::string remark =
            task.choose_device({.gpu_bytes = {},
                                .estimate =
                                    [&](Context chosen) {
                                        // A GPU has nothing to compute for a pool.
                                        if (size.mode == refine::Mode::pool) chosen.device = {};
                                        return refine::estimate(size, chosen);
                                    }},
                               context);
        if (options.run.verbose) context.message(remark);
    }
    context.lanes.clear();
}

/// Lists the input files and reports decisions of their readers; called on the first rank.
void record_run(const RefineOptions& options, const Input& input, OpenRun& opened) {
    auto& [context, run] = opened;
    for (const std::string& source : options.ensemble.sources) record_input(source, run);
    for (const std::string& file : other_files(options))
        if (!file.empty()) record_input(file, run);
    context.notes(input.structure->notes);
    if (input.curve) context.notes(with_source(input.curve->notes, options.saxs.data));
    run.context(context);
    const Index points = input.curve ? std::ssize(input.curve->profile.q) : Index{0};
    const refine::RunSize size =
        refine::size_of_run(*input.structure, input.fitted(options), options.parameters, {});
    run.require_space(estimate_run(options, size, points, {}).disk_bytes);
}

/// Reads, samples, and writes the folder options.run.output. Returns the summary for standard
/// output.
std::string make_frames(RefineOptions& options, const JobTask& task, Ranks& ranks) {
    choose_mode(options);
    check_job(options);
    if (ranks.size() > 1) refuse_pipes(options.ensemble.sources, "each rank reads it");
    if (const Context named = make_context(options.run, ranks);
        named.device.kind == Device::Kind::cuda)
        machine_gpus().free_bytes(named.device.index);  // refuses one that is missing
    OpenRun opened("refine", options.run, result_fields(options), task, &ranks, "checkpoint.npz");
    auto& [context, run] = opened;
    run.stage("read");
    const Input input = read_input(options, task.inputs);
    // Atoms that are not there are found before moves.
    if (!options.saxs.observables.empty())
        saxs::observables_of(saxs::read_observables(options.saxs.observables), "",
                             refine::first_frame(*input.structure, input.fitted(options),
                                                 options.parameters, context));
    choose_sampling_device(options, task, input, context);
    if (ranks.is_leader()) record_run(options, input, opened);
    const refine::Result result =
        refine::run(*input.structure, input.fitted(options), options.parameters, context);
    if (!ranks.is_leader()) return {};
    context.notes(result.notes);
    refine::write_results(run, result, context);
    refine::record_facts(run, result);
    std::string text = summary(options, result, run.path().string());
    if (task.stage_ended) task.stage_ended();
    // The other ranks have ended.
    if (options.cluster_cutoff)
        text += "\n" + find_clusters(options, result, run, task, ranks.alone(), context);
    if (options.has_profiles())
        text += "\n" + compute_profiles(options, result, run, task, ranks.alone(), context);
    if (!result.is_converged()) context.message("WARNING: " + refine::convergence_remark(result));
    if (const std::string remark = refine::misfit_remark(result); !remark.empty())
        context.message("WARNING: " + remark);
    run.finish();
    return text;
}

RunEstimate estimate_frames(RefineOptions& options, SharedInputs& /*inputs*/) {
    choose_mode(options);
    check_job(options);
    const Input input = read_input(options, nullptr);
    const refine::RunSize size =
        refine::size_of_run(*input.structure, input.fitted(options), options.parameters, {});
    const Index points = input.curve ? static_cast<Index>(input.curve->profile.size()) : Index{0};
    std::string text = fmt::format("{} atoms, {} angles of linkers, {} frames, {:.3g} moves",
                                   size.atoms, size.angles, size.frames, size.moves);
    if (points > 0) text += fmt::format(", a curve of {} points", points);
    const bool has_stages = options.cluster_cutoff || options.has_profiles();
    const bool is_for_cpu_alone = options.has_profiles() &&
                                  options.saxs.parameters.method == saxs::Method::multipole &&
                                  options.saxs.parameters.precision == saxs::Precision::float64;
    return {.input = text,
            .may_use_gpu = has_stages && !is_for_cpu_alone,
            .on = [=, options = options](const Context& context) {
                return estimate_run(options, size, points, context);
            }};
}

}  // namespace

Command refine_command(CLI::App& program, Ranks& ranks) {
    static const JobFunctions<RefineOptions> functions{
        .command = "refine",
        .description = kDescription,
        .examples = kExamples,
        .wanted = "a STRUCTURE, a --list of structures, or a --sequence alone",
        .input_column = "structure",
        .uses_seed = true,
        .numbers = {"frames", "angles", "domains", "converged", "residuals_are_noise",
                    "log_evidence"},
        .per_input = {"pae", "sequence"},
        .add_options =
            [](CLI::App& parser, RefineOptions& options) {
                add_texts(parser, "STRUCTURE", options.ensemble.sources,
                          "PDB or mmCIF file; of several models the first, or all if they "
                          "hold different domains of the --sequence; none with a --sequence alone");
                add_fields(parser, "Input", input_fields(options));
                add_fields(parser, "Sampling", refine::fields(options.parameters));
                add_fields(parser, "Curve", refined_curve_fields(options));
                add_job_options(parser, options.run, options.jobs, true, false);
                add_fields(parser, "Clusters", frame_cluster_fields(options));
                add_fields(parser, "Profile", frame_profile_fields(options));
            },
        .fields = result_fields,
        .begin =
            [](RefineOptions& options, Ranks&) {
                std::vector<std::string>& sources = options.ensemble.sources;
                if (sources.empty() && options.jobs.list.empty() &&
                    !options.parameters.sequence.empty())
                    sources = {options.parameters.sequence};
                if (options.join && options.jobs.is_used())
                    throw UsageError(
                        "--join makes one run of its structures: leave out --list, --sweep and "
                        "--share");
            },
        .joins = [](const RefineOptions& options) { return options.join; },
        .prepare = choose_mode,
        .check = check_job,
        .run = make_frames,
        .estimate = estimate_frames};
    return job_command(program, ranks, functions);
}

}  // namespace pleat::program

// pleat saxs-calibrate: form factors of beads, derived from all-atom profiles of structures.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "commands.h"
#include "help/help_format.h"
#include "options/common_options.h"
#include "options/options.h"
#include "pleat/bio/ensemble/ensemble.h"
#include "pleat/bio/ensemble/ensemble_files.h"
#include "pleat/core/error.h"
#include "pleat/core/files/output_file.h"
#include "pleat/core/files/printable.h"
#include "pleat/core/hardware/instruction_set.h"
#include "pleat/core/loops/steps.h"
#include "pleat/core/ranks/lanes.h"
#include "pleat/core/terminal/progress_terminal.h"
#include "pleat/saxs/model/calibration.h"
#include "process/standard_output.h"

namespace pleat::program {

namespace {

constexpr const char* kDescription =
    "Derive the form factors of the one- and two-bead models from structures of proteins.";

constexpr const char* kExamples =
    "Example:\n"
    "  pleat saxs-calibrate structures/ -o run --unseen others/\n"
    "  pleat saxs protein.pdb -o run2 --model two-bead --form-factors "
    "run/form_factors_two_bead.tsv\n\n"
    "The 20 amino acids (selenomethionine as methionine) in the first frame of each file are "
    "used.\n"
    "Files without all atoms, and proteins of the same composition as an earlier one, are skipped\n"
    "and named. Proteins that share more than 15 % of their sequences' quadruples are a cluster.\n"
    "residuals.tsv says how well the factors reproduce the profiles of the fitted structures, of\n"
    "each fifth of the clusters when it is left out of the fit, and of structures of --unseen "
    "that\n"
    "are in no cluster with a fitted one: root mean square by range of q in percent, and for\n"
    "q <= 0.5 the largest deviation of a structure in units of sigma = 0.30 (q + 0.15) I: that of\n"
    "99 % of the structures, of all, and the number of structures beyond 1.";

struct CalibrateOptions {
    RunOptions run;
    std::vector<std::string> sources, unseen;
};

constexpr const char* kAminoAcids =
    "(ALA,ARG,ASN,ASP,CYS,GLN,GLU,GLY,HIS,ILE,LEU,LYS,MET,MSE,PHE,PRO,SER,THR,TRP,TYR,VAL)";
constexpr double kRanges[] = {0, 0.15, 0.3, 0.5, 0.7501};
constexpr double kMaxQ = 0.5;  // of the largest deviation

/// The structures of the files that can be used, after those in `cases`.
void add_cases(const std::vector<std::string>& files, saxs::Resolution resolution,
               const Context& context, std::vector<saxs::CalibrationCase>& cases) {
    const auto add = [&](Index n, Index) {
        const std::string& file = files[static_cast<std::size_t>(n)];
        try {
            const Ensemble ensemble =
                read_ensemble({file}, {.topology = {}, .select = kAminoAcids, .range = {0, 1, 1}});
            saxs::CalibrationCase added =
                saxs::make_case(file, *ensemble.topology, ensemble.xyz[0], resolution, context);
            const bool is_known =
                std::any_of(cases.begin(), cases.end(), [&](const saxs::CalibrationCase& one) {
                    return one.bead_counts == added.bead_counts;
                });
            if (is_known)
                context.message(file + " skipped: the composition of an earlier structure");
            else
                cases.push_back(std::move(added));
        } catch (const InputError& error) {
            const std::string text = error.what();
            context.message("skipped: " + text.substr(0, text.find('\n')));
        }
    };
    for_each_block(context, saxs::name_of(resolution), static_cast<Index>(files.size()), 1, add,
                   "structures");
}

/// The structures of the files that are in no cluster of sequences with one of `fitted`.
std::vector<saxs::CalibrationCase> unseen_cases(const std::vector<std::string>& files,
                                                const std::vector<saxs::CalibrationCase>& fitted,
                                                saxs::Resolution resolution,
                                                const Context& context) {
    std::vector<saxs::CalibrationCase> all = fitted;
    add_cases(files, resolution, context, all);
    const std::vector<Index> clusters = saxs::sequence_clusters(all);
    const std::set<Index> seen(clusters.begin(),
                               clusters.begin() + static_cast<std::ptrdiff_t>(fitted.size()));
    std::vector<saxs::CalibrationCase> unseen;
    for (std::size_t n = fitted.size(); n < all.size(); ++n) {
        if (seen.count(clusters[n]) > 0)
            context.message(all[n].name + " skipped: in a cluster with a fitted structure");
        else
            unseen.push_back(std::move(all[n]));
    }
    return unseen;
}

std::string table_text(const saxs::FormFactorTable& table) {
    std::string text = "q";
    for (const std::string& type : table.types) text += "\t" + type;
    text += "\n";
    for (std::size_t k = 0; k < table.q.size(); ++k) {
        text += fmt::format("{:.3f}", table.q[k]);
        for (const double factor : table.factors[static_cast<Index>(k)])
            text += fmt::format("\t{:.6g}", factor);
        text += "\n";
    }
    return text;
}

/// Deviations of a set of structures, and their names.
struct Group {
    const char* name;
    const std::vector<saxs::CalibrationCase>& cases;
    saxs::Deviations deviations;
};

std::string ranges_text(const saxs::Deviations& deviations) {
    std::string text;
    for (std::size_t n = 0; n + 1 < std::size(kRanges); ++n)
        text += fmt::format("\t{:.2f}",
                            100 * saxs::root_mean_square(deviations, kRanges[n], kRanges[n + 1]));
    return text;
}

std::string residual_line(saxs::Resolution resolution, const Group& group) {
    std::vector<double> largest = saxs::largest_by_error_model(group.deviations, kMaxQ);
    std::sort(largest.begin(), largest.end());
    const std::size_t rank = (99 * largest.size() + 99) / 100;
    return fmt::format("{}\t{}\t{}{}\t{:.2f}\t{:.2f}\t{}\n", saxs::name_of(resolution), group.name,
                       largest.size(), ranges_text(group.deviations), largest[rank - 1],
                       largest.back(),
                       largest.end() - std::upper_bound(largest.begin(), largest.end(), 1.0));
}

std::string deviation_lines(saxs::Resolution resolution, const Group& group) {
    const std::vector<double> largest = saxs::largest_by_error_model(group.deviations, kMaxQ);
    std::string text;
    for (std::size_t n = 0; n < largest.size(); ++n)
        text += fmt::format("{}\t{}\t{}{}\t{:.2f}\n", saxs::name_of(resolution), group.name,
                            printable(group.cases[n].name), ranges_text({group.deviations[n]}),
                            largest[n]);
    return text;
}

void run_calibrate(CalibrateOptions& options, const std::vector<std::string>& arguments) {
    restrict_instruction_set_by_environment();
    install_interrupt_handler();
    Context context = make_context(options.run);
    require_one_device(context, "saxs-calibrate");
    if (!options.run.names_device()) context.device = {Device::Kind::cpu, 0};
    if (context.device.kind == Device::Kind::cuda)
        throw UsageError(
            fmt::format("expected --device cpu or reference, which sum in float64, found {}",
                        context.device.name()));
    RunDirectory run({.path = options.run.output,
                      .command = "saxs-calibrate",
                      .arguments = arguments,
                      .force = options.run.force});
    const std::unique_ptr<Progress> shown = make_progress(stderr, options.run.quiet);
    context.progress = &run.watch(shown.get());
    run.context(context);
    std::vector<std::string> all_sources = options.sources;
    all_sources.insert(all_sources.end(), options.unseen.begin(), options.unseen.end());
    check_ensemble_files(all_sources);
    refuse_ensemble_pipes(all_sources, "each structure is read twice");
    const std::vector<std::string> files = ensemble_files(options.sources);
    const std::vector<std::string> unseen_files =
        options.unseen.empty() ? std::vector<std::string>() : ensemble_files(options.unseen);
    std::string residuals =
        "model\tstructures\tcount\tq<0.15\tq<0.3\tq<0.5\tq<=0.75\tmax_of_99%\tmax\tbeyond_1\n";
    std::string deviations = "model\tstructures\tfile\tq<0.15\tq<0.3\tq<0.5\tq<=0.75\tmax\n";
    for (const saxs::Resolution resolution :
         {saxs::Resolution::one_bead, saxs::Resolution::two_bead}) {
        std::vector<saxs::CalibrationCase> cases;
        add_cases(files, resolution, context, cases);
        const saxs::Calibration calibration = saxs::calibrate(cases, resolution, context);
        const bool is_one = resolution == saxs::Resolution::one_bead;
        write_text(run.output(is_one ? "form_factors_one_bead.tsv" : "form_factors_two_bead.tsv"),
                   table_text(calibration.table));
        const std::vector<saxs::CalibrationCase> unseen =
            unseen_cases(unseen_files, cases, resolution, context);
        for (const Group& group :
             {Group{"fitted", cases, saxs::deviations(cases, calibration.table)},
              Group{"left out", cases, calibration.left_out},
              Group{"unseen", unseen, saxs::deviations(unseen, calibration.table)}}) {
            if (group.cases.empty()) continue;
            residuals += residual_line(resolution, group);
            deviations += deviation_lines(resolution, group);
        }
        run.fact(is_one ? "ridge_one_bead" : "ridge_two_bead", calibration.ridge);
    }
    record_lists(all_sources, run);
    for (const std::string& file : files) record_input(file, run);
    for (const std::string& file : unseen_files) record_input(file, run);
    write_text(run.output("residuals.tsv"), residuals);
    write_text(run.output("deviations.tsv"), deviations);
    run.finish();
    if (!options.run.quiet)
        print("Deviation from all-atom profiles: root mean square in percent, largest in sigma\n" +
              residuals + fmt::format("\nThe run is in {}\n", printable(run.path().string())));
}

}  // namespace

Command saxs_calibrate_command(CLI::App& program) {
    CLI::App* parser = program.add_subcommand("saxs-calibrate", kDescription);
    const auto options = std::make_shared<CalibrateOptions>();
    parser
        ->add_option("STRUCTURE", options->sources,
                     "PDB or mmCIF files of proteins; folders; @LIST")
        ->required();
    parser
        ->add_option("--unseen", options->unseen,
                     "Structures for the test of the factors: files, folders or @LIST; may be "
                     "repeated. Those similar to a fitted one are skipped")
        ->type_name("STRUCTURE")
        ->allow_extra_args(false);
    add_run_options(*parser, options->run);
    parser->footer(help_footer(kExamples));
    return {.parser = parser, .run = [options](const std::vector<std::string>& arguments) {
                run_calibrate(*options, arguments);
            }};
}

}  // namespace pleat::program

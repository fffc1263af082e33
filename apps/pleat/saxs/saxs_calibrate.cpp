// pleat saxs-calibrate: form factors of beads, derived from all-atom profiles of structures.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
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
    "  pleat saxs-calibrate structures/ -o run\n"
    "  pleat saxs protein.pdb -o run2 --model two-bead --form-factors "
    "run/form_factors_two_bead.tsv\n\n"
    "The 20 amino acids in the first frame of each file are used. Files without all atoms, and\n"
    "proteins of the same composition as an earlier one, are skipped and named. Every fourth of\n"
    "the others is held out; residuals.tsv says how well the factors reproduce their profiles.";

struct CalibrateOptions {
    RunOptions run;
    std::vector<std::string> sources;
};

constexpr std::size_t kHeldOut = 4;
constexpr const char* kAminoAcids =
    "(ALA,ARG,ASN,ASP,CYS,GLN,GLU,GLY,HIS,ILE,LEU,LYS,MET,PHE,PRO,SER,THR,TRP,TYR,VAL)";
constexpr double kRanges[] = {0, 0.15, 0.3, 0.5, 0.7501};

struct Cases {
    std::vector<saxs::CalibrationCase> fitted, held_out;
};

Cases make_cases(const std::vector<std::string>& files, saxs::Resolution resolution,
                 const Context& context) {
    Cases cases;
    std::vector<std::vector<double>> seen;
    std::size_t count = 0;
    const auto add = [&](Index n, Index) {
        const std::string& file = files[static_cast<std::size_t>(n)];
        try {
            const Ensemble ensemble =
                read_ensemble({file}, {.topology = {}, .select = kAminoAcids, .range = {0, 1, 1}});
            saxs::CalibrationCase added =
                saxs::make_case(file, *ensemble.topology, ensemble.xyz[0], resolution, context);
            if (std::find(seen.begin(), seen.end(), added.bead_counts) != seen.end()) {
                context.message(file + " skipped: the composition of an earlier structure");
                return;
            }
            seen.push_back(added.bead_counts);
            auto& to = ++count % kHeldOut == 0 ? cases.held_out : cases.fitted;
            to.push_back(std::move(added));
        } catch (const InputError& error) {
            const std::string text = error.what();
            context.message("skipped: " + text.substr(0, text.find('\n')));
        }
    };
    for_each_block(context, saxs::name_of(resolution), static_cast<Index>(files.size()), 1, add,
                   "structures");
    if (cases.held_out.empty())
        throw InputError(fmt::format("expected {} or more structures of proteins, found {}",
                                     kHeldOut, cases.fitted.size()));
    return cases;
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

std::string residual_lines(saxs::Resolution resolution, const Cases& cases,
                           const saxs::FormFactorTable& table) {
    std::string text;
    for (const auto* set : {&cases.fitted, &cases.held_out}) {
        const auto deviations = saxs::deviations(*set, table);
        text += fmt::format("{}\t{}\t{}", saxs::name_of(resolution),
                            set == &cases.fitted ? "fitted" : "held out", set->size());
        for (std::size_t n = 0; n + 1 < std::size(kRanges); ++n)
            text += fmt::format(
                "\t{:.2f}", 100 * saxs::root_mean_square(deviations, kRanges[n], kRanges[n + 1]));
        text += fmt::format("\t{:.2f}\n", saxs::largest_by_error_model(deviations, 0.5));
    }
    return text;
}

std::string deviation_lines(saxs::Resolution resolution, const Cases& cases,
                            const saxs::FormFactorTable& table) {
    std::string text;
    for (const auto* set : {&cases.fitted, &cases.held_out}) {
        const auto all = saxs::deviations(*set, table);
        for (std::size_t n = 0; n < all.size(); ++n) {
            text += fmt::format("{}\t{}\t{}", saxs::name_of(resolution),
                                set == &cases.fitted ? "fitted" : "held out",
                                printable((*set)[n].name));
            for (std::size_t r = 0; r + 1 < std::size(kRanges); ++r)
                text += fmt::format(
                    "\t{:.2f}", 100 * saxs::root_mean_square({all[n]}, kRanges[r], kRanges[r + 1]));
            text += "\n";
        }
    }
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
    refuse_ensemble_pipes(options.sources, "each structure is read twice");
    const std::vector<std::string> files = ensemble_files(options.sources);
    std::string residuals = "model\tstructures\tcount\tq<0.15\tq<0.3\tq<0.5\tq<=0.75\tmax\n";
    std::string deviations = "model\tstructures\tfile\tq<0.15\tq<0.3\tq<0.5\tq<=0.75\n";
    for (const saxs::Resolution resolution :
         {saxs::Resolution::one_bead, saxs::Resolution::two_bead}) {
        const Cases cases = make_cases(files, resolution, context);
        const saxs::Calibration calibration = saxs::calibrate(cases.fitted, resolution, context);
        const bool is_one = resolution == saxs::Resolution::one_bead;
        write_text(run.output(is_one ? "form_factors_one_bead.tsv" : "form_factors_two_bead.tsv"),
                   table_text(calibration.table));
        residuals += residual_lines(resolution, cases, calibration.table);
        deviations += deviation_lines(resolution, cases, calibration.table);
        run.fact(is_one ? "ridge_one_bead" : "ridge_two_bead", calibration.ridge);
    }
    record_lists(options.sources, run);
    for (const std::string& file : files) record_input(file, run);
    write_text(run.output("residuals.tsv"), residuals);
    write_text(run.output("deviations.tsv"), deviations);
    run.finish();
    if (!options.run.quiet)
        print("Root mean square deviation from all-atom profiles, percent\n" + residuals +
              fmt::format("\nThe run is in {}\n", printable(run.path().string())));
}

}  // namespace

Command saxs_calibrate_command(CLI::App& program) {
    CLI::App* parser = program.add_subcommand("saxs-calibrate", kDescription);
    const auto options = std::make_shared<CalibrateOptions>();
    parser
        ->add_option("STRUCTURE", options->sources,
                     "PDB or mmCIF files of proteins; folders; @LIST")
        ->required();
    add_run_options(*parser, options->run);
    parser->footer(help_footer(kExamples));
    return {.parser = parser, .run = [options](const std::vector<std::string>& arguments) {
                run_calibrate(*options, arguments);
            }};
}

}  // namespace pleat::program

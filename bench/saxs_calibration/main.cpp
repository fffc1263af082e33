// Derives form factors of beads from all-atom profiles of structures, for
// scripts/calibrate_form_factors.py.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "calibration.h"
#include "pleat/bio/ensemble/ensemble.h"
#include "pleat/bio/ensemble/ensemble_files.h"
#include "pleat/core/error.h"
#include "pleat/core/files/output_file.h"
#include "pleat/core/loops/steps.h"
#include "pleat/core/terminal/progress_terminal.h"

namespace pleat::saxs {

namespace {

constexpr const char* kAminoAcids =
    "(ALA,ARG,ASN,ASP,CYS,GLN,GLU,GLY,HIS,ILE,LEU,LYS,MET,MSE,PHE,PRO,SER,THR,TRP,TYR,VAL)";
constexpr double kRanges[] = {0, 0.15, 0.3, 0.5, 0.7501};
constexpr double kMaxQ = 0.5;  // of the largest deviation

/// The structures of the files that can be used, after those in `cases`.
void add_cases(const std::vector<std::string>& files, Resolution resolution, const Context& context,
               std::vector<CalibrationCase>& cases) {
    const auto add = [&](Index n, Index) {
        const std::string& file = files[static_cast<std::size_t>(n)];
        try {
            const Ensemble ensemble =
                read_ensemble({file}, {.topology = {}, .select = kAminoAcids, .range = {0, 1, 1}});
            CalibrationCase added =
                make_case(file, *ensemble.topology, ensemble.xyz[0], resolution, context);
            const bool is_known = std::any_of(
                cases.begin(), cases.end(),
                [&](const CalibrationCase& one) { return one.bead_counts == added.bead_counts; });
            if (is_known)
                context.message(file + " skipped: the composition of an earlier structure");
            else
                cases.push_back(std::move(added));
        } catch (const InputError& error) {
            const std::string text = error.what();
            context.message("skipped: " + text.substr(0, text.find('\n')));
        }
    };
    for_each_block(context, name_of(resolution), static_cast<Index>(files.size()), 1, add,
                   "structures");
}

/// The structures of the files that are in no cluster of sequences with one of `fitted`.
std::vector<CalibrationCase> unseen_cases(const std::vector<std::string>& files,
                                          const std::vector<CalibrationCase>& fitted,
                                          Resolution resolution, const Context& context) {
    std::vector<CalibrationCase> all = fitted;
    add_cases(files, resolution, context, all);
    const std::vector<Index> clusters = sequence_clusters(all);
    const std::set<Index> seen(clusters.begin(),
                               clusters.begin() + static_cast<std::ptrdiff_t>(fitted.size()));
    std::vector<CalibrationCase> unseen;
    for (std::size_t n = fitted.size(); n < all.size(); ++n) {
        if (seen.count(clusters[n]) > 0)
            context.message(all[n].name + " skipped: in a cluster with a fitted structure");
        else
            unseen.push_back(std::move(all[n]));
    }
    return unseen;
}

std::string table_text(const FormFactorTable& table) {
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
    const std::vector<CalibrationCase>& cases;
    Deviations deviations;
};

std::string ranges_text(const Deviations& deviations) {
    std::string text;
    for (std::size_t n = 0; n + 1 < std::size(kRanges); ++n)
        text +=
            fmt::format("\t{:.2f}", 100 * root_mean_square(deviations, kRanges[n], kRanges[n + 1]));
    return text;
}

std::string residual_line(Resolution resolution, const Group& group) {
    std::vector<double> largest = largest_by_error_model(group.deviations, kMaxQ);
    std::sort(largest.begin(), largest.end());
    const std::size_t rank = (99 * largest.size() + 99) / 100;
    return fmt::format("{}\t{}\t{}{}\t{:.2f}\t{:.2f}\t{}\n", name_of(resolution), group.name,
                       largest.size(), ranges_text(group.deviations), largest[rank - 1],
                       largest.back(),
                       largest.end() - std::upper_bound(largest.begin(), largest.end(), 1.0));
}

std::string deviation_lines(Resolution resolution, const Group& group) {
    const std::vector<double> largest = largest_by_error_model(group.deviations, kMaxQ);
    std::string text;
    for (std::size_t n = 0; n < largest.size(); ++n)
        text += fmt::format("{}\t{}\t{}{}\t{:.2f}\n", name_of(resolution), group.name,
                            group.cases[n].name, ranges_text({group.deviations[n]}), largest[n]);
    return text;
}

void write_tables(const std::vector<std::string>& files,
                  const std::vector<std::string>& unseen_files, const std::filesystem::path& folder,
                  const Context& context) {
    std::string residuals =
        "model\tstructures\tcount\tq<0.15\tq<0.3\tq<0.5\tq<=0.75\tmax_of_99%\tmax\tbeyond_1\n";
    std::string deviation_rows = "model\tstructures\tfile\tq<0.15\tq<0.3\tq<0.5\tq<=0.75\tmax\n";
    std::filesystem::create_directories(folder);
    for (const Resolution resolution : {Resolution::one_bead, Resolution::two_bead}) {
        std::vector<CalibrationCase> cases;
        add_cases(files, resolution, context, cases);
        const Calibration calibration = calibrate(cases, resolution, context);
        const bool is_one = resolution == Resolution::one_bead;
        write_text(folder / (is_one ? "form_factors_one_bead.tsv" : "form_factors_two_bead.tsv"),
                   table_text(calibration.table));
        const std::vector<CalibrationCase> unseen =
            unseen_cases(unseen_files, cases, resolution, context);
        for (const Group& group :
             {Group{"fitted", cases, deviations(cases, calibration.table)},
              Group{"left out", cases, calibration.left_out},
              Group{"unseen", unseen, deviations(unseen, calibration.table)}}) {
            if (group.cases.empty()) continue;
            residuals += residual_line(resolution, group);
            deviation_rows += deviation_lines(resolution, group);
        }
        fmt::print("{}: ridge {:g}\n", name_of(resolution), calibration.ridge);
    }
    write_text(folder / "residuals.tsv", residuals);
    write_text(folder / "deviations.tsv", deviation_rows);
    fmt::print(
        "Deviation from all-atom profiles: root mean square in percent, largest in sigma\n{}",
        residuals);
}

}  // namespace

}  // namespace pleat::saxs

int main(int count, char** words) {
    std::vector<std::string> sources, unseen;
    for (int n = 2; n < count; ++n) {
        const bool is_unseen = words[n] == std::string("--unseen") && n + 1 < count;
        (is_unseen ? unseen : sources).push_back(words[is_unseen ? ++n : n]);
    }
    if (sources.empty()) {
        std::fprintf(stderr, "usage: %s FOLDER STRUCTURE... [--unseen STRUCTURE]...\n", words[0]);
        return 2;
    }
    try {
        pleat::check_ensemble_files(sources);
        pleat::check_ensemble_files(unseen);
        const auto shown = pleat::make_progress(stderr, false);
        pleat::Context context;
        context.progress = shown.get();
        pleat::saxs::write_tables(pleat::ensemble_files(sources),
                                  unseen.empty() ? unseen : pleat::ensemble_files(unseen), words[1],
                                  context);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return 0;
}

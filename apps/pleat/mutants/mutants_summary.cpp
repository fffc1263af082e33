// Mutants summary: lines on the target, the residues, the table and the sequences.
#include "mutants/mutants_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "pleat/core/files/text.h"

namespace pleat::program {

namespace {

using mutants::Position;
using mutants::Problem;

constexpr std::size_t kShown = 5;

template <class... Arguments>
void append(std::string& text, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(text), format, std::forward<Arguments>(arguments)...);
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
    append(text, "  {:<24} {:>7} {:>10} {:>12}\n", "rank correlation with", "rows", "epistatic",
           "independent");
    for (const mutants::Correlation& one : result.correlations)
        append(text, "  {:<24} {:>7} {:>10} {:>12}\n", printable(one.name), one.count,
               number(one.epistatic), number(one.independent));
}

}  // namespace

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

}  // namespace pleat::program

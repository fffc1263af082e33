// Mutual information summary: the strongest pairs and triples in aligned columns.
#include "mi_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>

namespace pleat::program {

namespace {

namespace mi = mutual_information;

constexpr std::size_t kShown = 10;

template <class... Arguments>
void append(std::string& text, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(text), format, std::forward<Arguments>(arguments)...);
}

/// "A17" of the reference row, or "ALA 52A" of the structure.
std::string column_text(const mi::Report& report, Index column) {
    if (report.structure != nullptr) {
        const Index residue = report.structure->residues[static_cast<std::size_t>(column)];
        if (residue < 0) return "-";
        const Residue& found =
            report.structure->chain().residues[static_cast<std::size_t>(residue)];
        return found.name + " " + found.id();
    }
    const Index source = report.alignment.columns[static_cast<std::size_t>(column)];
    return fmt::format("{}{}", report.reference.letters[static_cast<std::size_t>(source)],
                       source + 1);
}

std::string number(double value, const char* format) {
    return std::isnan(value) ? "-" : fmt::format(fmt::runtime(format), value);
}

void append_input(std::string& text, const mi::Report& report) {
    append(text, "{}: {} sequences, {} columns, {}", report.alignment.source.string(),
           report.alignment.sequence_count(), report.alignment.column_count(),
           report.alignment.alphabet->name());
    if (!report.result.weights.empty())
        append(text, " ({:.1f} effective sequences)", report.result.effective_sequences);
    append(text, "\n{} columns have an entropy below {:g} bits\n", report.result.low_entropy.size(),
           report.parameters.least_entropy);
}

void append_pairs(std::string& text, const mi::Report& report) {
    const mi::PairStatistics& pairs = report.result.pairs;
    const std::vector<Index> ranked = mi::ranked_pairs(report.result, report.parameters);
    const std::size_t shown = std::min(kShown, ranked.size());
    append(text, "\nThe {} strongest pairs (columns count from 1):\n", shown);
    append(text, "{:>5} {:>9} {:>9} {:>8} {:>8} {:>8} {:>9} {:>9}\n", "rank", "i", "j", "MI/bits",
           "APC", "Z", "p", "family p");
    const Index columns = report.alignment.column_count();
    std::vector<std::pair<Index, Index>> places;
    for (Index i = 0; i < columns; ++i)
        for (Index j = i + 1; j < columns; ++j) places.emplace_back(i, j);
    const auto of = [](const std::vector<double>& values, Index pair) {
        return values.empty() ? std::nan("") : values[static_cast<std::size_t>(pair)];
    };
    for (std::size_t rank = 0; rank < shown; ++rank) {
        const Index pair = ranked[rank];
        const auto at = static_cast<std::size_t>(pair);
        const bool sampled = !pairs.sampled.empty();
        const double z = !pairs.z.empty() ? pairs.z[at] : sampled ? pairs.sampled[at].z : std::nan("");
        append(text, "{:>5} {:>9} {:>9} {:>8.4f} {:>8.4f} {:>8} {:>9} {:>9}\n", rank + 1,
               column_text(report, places[at].first), column_text(report, places[at].second),
               pairs.mi[at], pairs.mip[at], number(z, "{:.2f}"),
               number(sampled ? pairs.sampled[at].p : of(pairs.tail_p, pair), "{:.2g}"),
               number(of(pairs.family_p, pair), "{:.2g}"));
    }
}

void append_cliques(std::string& text, const mi::TripleResult& triples) {
    const auto line = [&](const char* rule, const std::optional<mi::CliqueSet>& set) {
        if (!set) return;
        append(text, "{} of {} triples are in the clique set C {}\n", set->size(), triples.count, rule);
    };
    line("by percentiles", triples.cliques);
    line("by exact Z", triples.cliques_by_z);
}

void append_triples(std::string& text, const mi::Report& report) {
    const mi::TripleResult& triples = *report.result.triples;
    const std::size_t shown = std::min(kShown, triples.best.triples.size());
    const std::string& key = triples.names[static_cast<std::size_t>(triples.key)];
    append(text, "\nThe {} strongest triples by {}:\n", shown, key);
    append(text, "{:>5} {:>9} {:>9} {:>9} {:>8} {:>10} {:>8} {:>8}\n", "rank", "i", "j", "k", "MI/bits",
           key, "synergy", "excess");
    const auto synergy = std::find(triples.names.begin(), triples.names.end(), "synergy");
    for (std::size_t rank = 0; rank < shown; ++rank) {
        const auto at =
            mi::triple_at(triples.best.triples[rank], report.alignment.column_count());
        const auto row = triples.best.numbers.view()[static_cast<Index>(rank)];
        append(text, "{:>5} {:>9} {:>9} {:>9} {:>8.4f} {:>10.4f} {:>8.4f} {:>8.4f}\n", rank + 1,
               column_text(report, at[0]), column_text(report, at[1]), column_text(report, at[2]),
               row[0], row[triples.key], row[synergy - triples.names.begin()],
               triples.best_excess[rank]);
    }
    append_cliques(text, triples);
}

}  // namespace

std::string summary(const mi::Report& report, const std::string& folder) {
    std::string text;
    append_input(text, report);
    append_pairs(text, report);
    if (report.result.triples) append_triples(text, report);
    append(text, "\nThe run is in {}: pairs.tsv, pairs.npz, columns.tsv, manifest.json and more\n",
           folder);
    return text;
}

}  // namespace pleat::program

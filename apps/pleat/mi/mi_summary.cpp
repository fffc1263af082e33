// Mutual information summary: the strongest pairs and triples in aligned columns.
#include "mi/mi_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <span>
#include <string_view>

#include "pleat/core/files/text.h"

namespace pleat::program {

namespace {

namespace mi = mutual_information;

constexpr std::size_t kShown = 10;

template <class... Arguments>
void append(std::string& text, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(text), format, std::forward<Arguments>(arguments)...);
}

/// The head of the cells that append_columns() writes.
void append_heads(std::string& text, const mi::Report& report, std::string_view names) {
    if (report.structure != nullptr)
        for (const char name : names) append(text, " {:>10}", fmt::format("residue {}", name));
    for (const char name : names) append(text, " {:>11}", number_heading(report.reference, name));
}

/// Columns as "133 (G)"; the structure's residues, if there is one, before them.
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

/// The p of a pair without shuffles: exact where tables were enumerated, else marked.
std::string tail_text(const mi::PairStatistics& pairs, std::size_t pair) {
    if (pairs.tail_p.empty() || std::isnan(pairs.tail_p[pair])) return "-";
    const double p = pairs.tail_p[pair];
    const bool is_exact = !pairs.exact_p.empty() && !std::isnan(pairs.exact_p[pair]);
    return fmt::format("{}{}{:.2g}", is_exact ? "" : "~", p <= mi::kMinTail ? "<" : "", p);
}

void append_input(std::string& text, const mi::Report& report) {
    append(text, "{}: {} sequences, {} columns, {}", printable(report.alignment.source.string()),
           report.alignment.sequence_count(), report.alignment.column_count(),
           report.alignment.alphabet->name());
    if (!report.result.weights.empty())
        append(text, " ({:.1f} effective sequences)", report.result.effective_sequences);
    const std::size_t count = report.result.low_entropy.size();
    append(text, "\n{} {} an entropy below {:g} bits\n", count,
           count == 1 ? "column has" : "columns have", report.parameters.min_entropy);
}

/// What the pairs and triples are compared with.
void append_null(std::string& text, const mi::Report& report) {
    const mi::Parameters& parameters = report.parameters;
    const std::string shuffles = fmt::format("{} random shuffles", report.result.shuffles);
    const bool is_unused = parameters.shuffles && !parameters.has_sampled();
    const bool lacks_variance = parameters.order == 3 && !parameters.triple_variance;
    text += "Null model: ";
    if (parameters.has_exact())
        append(text, "exact, over all permutations of the columns{}{}",
               lacks_variance ? " (of triples the mean alone)" : "",
               parameters.has_sampled() ? ", and " + shuffles : "");
    else
        text += parameters.has_sampled() ? shuffles : "none";
    append(text, "{}\n", is_unused ? "; --null leaves --shuffles without use" : "");
}

void append_pairs(std::string& text, const mi::Report& report) {
    const mi::PairStatistics& pairs = report.result.pairs;
    const std::vector<Index> ranked = mi::ranked_pairs(report.result, report.parameters);
    const std::size_t shown = std::min(kShown, ranked.size());
    if (shown == 0) {
        text += "\nNo pair reaches --min-z\n";
        return;
    }
    append(text, "\nThe {} strongest pairs ({}):\n", shown, numbers_text(report.reference));
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
    const std::string& key = triples.names[static_cast<std::size_t>(triples.key)];
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

}  // namespace pleat::program

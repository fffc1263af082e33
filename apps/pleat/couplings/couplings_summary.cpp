// Couplings summary: lines and tables about a fit.
#include "couplings/couplings_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "pleat/core/files/text.h"

namespace pleat::program {

namespace {

using couplings::RangePrecision;
using couplings::RankedPair;
using couplings::Report;
using couplings::StopReason;

constexpr std::size_t kShown = 10;

template <class... Arguments>
void append(std::string& text, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(text), format, std::forward<Arguments>(arguments)...);
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

/// What nucleic acids have by default and proteins have not.
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
        const auto at = static_cast<std::size_t>(column);
        const couplings::Part& part =
            report.parts->parts[static_cast<std::size_t>(report.parts->part_of_column[at])];
        const Index source = report.alignment.columns[at];
        const char letter = report.reference.letters[static_cast<std::size_t>(source)];
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

}  // namespace

std::string summary(const Report& report, const std::string& folder) {
    std::string text;
    append_fit(text, report);
    append_scoring(text, report);
    append_contacts(text, report);
    append_inter_contacts(text, report);
    if (report.evaluation != nullptr) append_evaluation(text, report);
    append(text, "\nThe run is in {}: contacts.tsv, scores.npz, manifest.json and more\n",
           printable(folder));
    return text;
}

}  // namespace pleat::program

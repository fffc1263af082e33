// Output: scores, contact lists, evaluation and models written into a run directory.
#include "pleat/couplings/output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

#include "pleat/core/npy.h"
#include "pleat/core/output_file.h"
#include "pleat/core/parallel.h"
#include "pleat/core/version.h"
#include "pleat/couplings/model_file.h"
#include "pleat/couplings/plmc_file.h"

namespace pleat::couplings {

namespace {

using Text = fmt::memory_buffer;

template <class... Arguments>
void append(Text& text, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(text), format, std::forward<Arguments>(arguments)...);
}

void write(RunDirectory& run, std::string_view name, const Text& text) {
    write_text(run.output(name), {text.data(), text.size()});
}

/// "NA" where there is no number.
std::string number_or_none(double value, const char* format) {
    return std::isnan(value) ? "NA" : fmt::format(fmt::runtime(format), value);
}

void write_scores(RunDirectory& run, const Report& report) {
    NpzWriter writer(run.output("scores.npz"));
    writer.add("raw", report.result.raw.view());
    writer.add("corrected", report.result.corrected.view());
    writer.add("columns", report.alignment.columns.data(), {report.alignment.column_count()});
    writer.close();

    // CCMpred's layout: a tab behind every number, the last of a row included.
    Text text;
    const View<const double, 2> scores = report.result.corrected;
    for (Index i = 0; i < scores.extent(0); ++i) {
        for (Index j = 0; j < scores.extent(1); ++j) append(text, "{:.20e}\t", scores(i, j));
        text.push_back('\n');
    }
    write(run, "scores.mat", text);
}

/// "ALA 52A", or "NA" twice.
std::string residue_cells(const KnownStructure& known, Index column) {
    const Index residue = known.residues[static_cast<std::size_t>(column)];
    if (residue < 0) return "NA\tNA";
    const Residue& found = known.chain().residues[static_cast<std::size_t>(residue)];
    return fmt::format("{}\t{}", found.name, found.id());
}

void write_contact_table(RunDirectory& run, const Report& report) {
    Text text;
    append(text, "rank\ti\tj\tletter_i\tletter_j\t");
    if (report.structure != nullptr)
        append(text, "residue_i\tnumber_i\tresidue_j\tnumber_j\tdistance\t");
    append(text, "raw\tcorrected\tz\tprobability\n");
    Index rank = 0;
    for (const RankedPair& pair : report.pairs) {
        const Index i = report.alignment.columns[static_cast<std::size_t>(pair.i)];
        const Index j = report.alignment.columns[static_cast<std::size_t>(pair.j)];
        append(text, "{}\t{}\t{}\t{}\t{}\t", ++rank, i + 1, j + 1,
               report.reference.letters[static_cast<std::size_t>(i)],
               report.reference.letters[static_cast<std::size_t>(j)]);
        if (report.structure != nullptr) {
            append(text, "{}\t{}\t{}\t", residue_cells(*report.structure, pair.i),
                   residue_cells(*report.structure, pair.j),
                   number_or_none(report.structure->distances(pair.i, pair.j), "{:.2f}"));
        }
        append(text, "{:.9g}\t{:.9g}\t{:.4f}\t{}\n", pair.raw, pair.corrected, pair.z,
               number_or_none(pair.probability, "{:.6f}"));
    }
    write(run, "contacts.tsv", text);
}

/// The reference row without gaps and, for each column of the source, its residue's number from 1; 0
/// where it has a gap.
struct TargetSequence {
    std::string letters;
    std::vector<Index> numbers;
};
TargetSequence target_sequence(const ReferenceRow& reference) {
    TargetSequence target;
    for (const char letter : reference.letters) {
        if (letter != '-') target.letters += letter;
        target.numbers.push_back(letter == '-' ? 0 : static_cast<Index>(target.letters.size()));
    }
    return target;
}

/// A name with its blanks replaced, for a record of one word.
std::string one_word(std::string name) {
    for (char& c : name)
        if (c == ' ' || c == '\t') c = '_';
    return name;
}

// CASP's contact format (RR of CASP 11 to 13): at most 50 letters a line, pairs i < j in the numbers
// of the target's residues, the range of distances in angstrom, and falling probabilities.
void write_casp_contacts(RunDirectory& run, const Report& report) {
    constexpr std::size_t kLettersPerLine = 50;
    const TargetSequence target = target_sequence(report.reference);
    Text text;
    append(text, "PFRMAT RR\nTARGET {}\nAUTHOR pleat {}\n", one_word(report.reference.name), kVersion);
    append(text, "METHOD Markov random field of {} sequences ({:.1f} effective), {} columns; L2\n",
           report.alignment.sequence_count(), report.result.effective_sequences,
           report.alignment.column_count());
    append(text, "METHOD regularised pseudolikelihood, Frobenius norms with APC, calibrated probability\n");
    append(text, "REMARK Numbers count the residues of the target's row, gaps left out.\nMODEL 1\n");
    for (std::size_t at = 0; at < target.letters.size(); at += kLettersPerLine)
        append(text, "{}\n", target.letters.substr(at, kLettersPerLine));
    for (const RankedPair& pair : report.pairs) {
        const Index i = target.numbers[static_cast<std::size_t>(
            report.alignment.columns[static_cast<std::size_t>(pair.i)])];
        const Index j = target.numbers[static_cast<std::size_t>(
            report.alignment.columns[static_cast<std::size_t>(pair.j)])];
        if (i > 0 && j > 0 && !std::isnan(pair.probability))
            append(text, "{} {} 0 8 {:.6f}\n", i, j, pair.probability);
    }
    append(text, "END\n");
    write(run, "contacts.rr", text);
}

const char* name_of(ContactAtoms atoms) {
    switch (atoms) {
        case ContactAtoms::beta: return "cb";
        case ContactAtoms::heavy: return "heavy";
        case ContactAtoms::sugar: return "sugar";
    }
    return "";
}

void write_evaluation(RunDirectory& run, const Report& report) {
    const ContactEvaluation& evaluation = *report.evaluation;
    const KnownStructure& known = *report.structure;
    Text text;
    append(text, "range\tdepth\tpairs\tcorrect\tprecision\n");
    nlohmann::ordered_json precisions = nlohmann::ordered_json::array();
    for (const Precision& entry : evaluation.precisions) {
        append(text, "{}\t{}\t{}\t{}\t{}\n", entry.range, entry.depth, entry.pairs, entry.correct,
               number_or_none(entry.precision, "{:.6f}"));
        precisions.push_back({{"range", entry.range},
                              {"depth", entry.depth},
                              {"pairs", entry.pairs},
                              {"correct", entry.correct},
                              {"precision", entry.precision}});
    }
    write(run, "evaluation.tsv", text);

    const nlohmann::ordered_json json = {{"structure", known.structure.source.string()},
                                         {"chain", known.map.chain_name},
                                         {"row", known.map.row_name},
                                         {"identity", known.map.identity},
                                         {"length", evaluation.length},
                                         {"atoms", name_of(known.definition.atoms)},
                                         {"cutoff_angstrom", evaluation.cutoff},
                                         {"pairs", evaluation.evaluated},
                                         {"contacts", evaluation.contacts},
                                         {"precision", precisions}};
    const auto replace = nlohmann::ordered_json::error_handler_t::replace;
    write_text(run.output("evaluation.json"), json.dump(2, ' ', false, replace) + "\n");
}

}  // namespace

void write_results(RunDirectory& run, const Report& report) {
    write_scores(run, report);
    write_contact_table(run, report);
    // The format is of probabilities, and those are calibrated for corrected scores of proteins.
    const bool is_protein = report.alignment.alphabet->kind() == Alphabet::Kind::protein;
    if (is_protein && report.parameters.apc) write_casp_contacts(run, report);
    write_npy(run.output("weights.npy"), report.result.weights.data(),
              {static_cast<Index>(report.result.weights.size())});
    if (report.structure != nullptr && report.evaluation != nullptr) write_evaluation(run, report);
}

void write_models(RunDirectory& run, const Report& report, int threads) {
    std::string reference;
    for (const Index column : report.alignment.columns)
        reference += report.reference.letters[static_cast<std::size_t>(column)];
    const std::filesystem::path npz = run.output("couplings.npz"), plmc = run.output("model.plmc");
    parallel_for(std::min(threads, 2), 2, [&](Index file, int) {
        if (file == 0) {
            write_model(npz, report.result.model, report.alignment);
        } else {
            write_plmc_model(plmc, report.alignment, report.parameters, report.result, reference,
                             threads);
        }
    });
}

}  // namespace pleat::couplings

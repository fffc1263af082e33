// Output: scores, contact lists, evaluation and models written into a run directory.
#include "pleat/couplings/output.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <future>
#include <iterator>
#include <nlohmann/json.hpp>

#include "pleat/core/files/npy.h"
#include "pleat/core/files/output_file.h"
#include "pleat/core/files/text.h"
#include "pleat/core/loops/threads.h"
#include "pleat/core/name_of.h"
#include "pleat/core/version.h"
#include "pleat/couplings/contacts/contact_list.h"
#include "pleat/couplings/files/model_file.h"
#include "pleat/couplings/files/plmc_file.h"
#include "pleat/phylogeny/output.h"

namespace pleat::couplings {

namespace {

using Text = fmt::memory_buffer;

template <class... Arguments>
void append(Text& text, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(text), format, std::forward<Arguments>(arguments)...);
}

/// Writes files in the background; end() throws the error of the first file that failed, in their
/// order.
class FileWriters {
public:
    explicit FileWriters(int threads) : behind_(threads > 1) {}
    template <class Action>
    void add(Action action) {
        files_.push_back(behind_ ? run_in_background(std::move(action))
                                 : std::async(std::launch::deferred, std::move(action)));
    }
    void add(const std::filesystem::path& path, TextPieces pieces) {
        add([path, pieces = std::move(pieces)] { write_text(path, pieces); });
    }
    void end() {
        for (std::future<void>& file : files_) file.wait();
        for (std::future<void>& file : files_) file.get();
    }

private:
    bool behind_;
    std::vector<std::future<void>> files_;
};

std::string number_or_na(double value, int decimals) {
    std::string text;
    if (std::isnan(value)) return "NA";
    append_number(text, value, std::chars_format::fixed, decimals);
    return text;
}

void write_scores(const std::filesystem::path& path, const Report& report) {
    NpzWriter writer(path);
    writer.add("raw", report.result.raw.view());
    writer.add("corrected", report.result.corrected.view());
    const std::vector<Index> columns = shown_columns(report.alignment, report.reference);
    writer.add("columns", columns.data(), {report.alignment.column_count()});
    if (report.tree != nullptr) {
        const phylogeny::TreeResult& tree = *report.tree;
        const auto add = [&](const char* name, const auto& values) {
            writer.add(name, values.data(), {std::ssize(values)});
        };
        add("tree_score", tree.score);
        add("tree_mean", tree.mean);
        add("tree_p", tree.p);
        add("tree_e", tree.e);
        add("extrapolated", tree.extrapolated);
        add("substitutions", tree.substitutions);
    }
    writer.close();
}

// CCMpred's layout: a tab after every number, the last of a row included.
TextPieces score_matrix(const Report& report, int threads) {
    const View<const double, 2> scores = report.result.corrected;
    return make_lines(threads, scores.extent(0), [&](Index i, std::string& text) {
        for (const double score : scores[i]) {
            append_number(text, score, std::chars_format::scientific, 20);
            text += '\t';
        }
        text += '\n';
    });
}

/// Formats a residue as "ALA\t52A"; "NA\tNA" for a column without a residue.
std::string residue_cells(const KnownStructure& known, Index column) {
    const Index residue = known.residues[column];
    if (residue < 0) return "NA\tNA";
    const Residue& of_column = known.chain().residues[residue];
    return fmt::format("{}\t{}", table_cell(of_column.name), table_cell(of_column.id()));
}

/// Names of the cells of append_pair().
std::string pair_head(const Report& report) {
    std::string head = "rank\ti\tj\t";
    if (report.parts != nullptr) head += "part_i\tposition_i\tpart_j\tposition_j\t";
    head += "letter_i\tletter_j\t";
    if (report.structure != nullptr) head += "residue_i\tnumber_i\tresidue_j\tnumber_j\tdistance\t";
    return head;
}

/// Appends the first cells of a row, which describe a pair of fitted columns; each ends with a tab.
void append_pair(const Report& report, Index rank, Index column_i, Index column_j,
                 std::string& text) {
    const Index i = report.alignment.columns[column_i];
    const Index j = report.alignment.columns[column_j];
    for (const Index number :
         {rank + 1, report.reference.shown_number(i), report.reference.shown_number(j)}) {
        append_integer(text, number);
        text += '\t';
    }
    for (const Index column : {column_i, column_j}) {
        if (report.parts == nullptr) break;
        const Part& part = report.parts->parts[report.parts->part_of_column[column]];
        text += table_cell(part.name) + '\t';
        append_integer(text, report.alignment.columns[column] - part.first + 1);
        text += '\t';
    }
    for (const Index column : {i, j}) {
        text += report.reference.letters[column];
        text += '\t';
    }
    if (report.structure != nullptr) {
        text += residue_cells(*report.structure, column_i) + '\t' +
                residue_cells(*report.structure, column_j) + '\t' +
                number_or_na(report.structure->distances(column_i, column_j), 2) + '\t';
    }
}

void append_contact(const Report& report, Index rank, std::string& text) {
    const RankedPair& pair = report.pairs[rank];
    append_pair(report, rank, pair.i, pair.j, text);
    for (const double score : {pair.raw, pair.corrected}) {
        append_number(text, score, std::chars_format::general, 9);
        text += '\t';
    }
    append_number(text, pair.z, std::chars_format::fixed, 4);
    text += '\t' + number_or_na(pair.probability, 6);
    if (report.base_pairs != nullptr) {
        text += '\t';
        text += name_of(pair.pair_class);
    }
    if (report.tree != nullptr) {
        const Index at = pair_index(pair.i, pair.j, report.alignment.column_count());
        for (const std::vector<double>* values :
             {&report.tree->score, &report.tree->mean, &report.tree->p, &report.tree->e}) {
            text += '\t';
            append_number(text, (*values)[at], std::chars_format::general, 9);
        }
        text += report.tree->extrapolated[at] != 0 ? "\t1" : "\t0";
    }
    text += '\n';
}

void append_inter_contact(const Report& report, Index rank, std::string& text) {
    const InterPair& pair = report.parts->pairs[rank];
    append_pair(report, rank, pair.i, pair.j, text);
    for (const double score : {pair.raw, pair.corrected, pair.block_corrected}) {
        append_number(text, score, std::chars_format::general, 9);
        text += '\t';
    }
    for (const double score : {pair.z, pair.evcomplex, pair.evcomplex_block})
        text += number_or_na(score, 4) + '\t';
    text += number_or_na(pair.gremlin, 6) + '\t' + number_or_na(pair.fdr, 6) + "\tNA\n";
}

TextPieces inter_contact_table(const Report& report, int threads) {
    TextPieces pieces = make_lines(
        threads, static_cast<Index>(report.parts->pairs.size()),
        [&](Index rank, std::string& text) { append_inter_contact(report, rank, text); });
    pieces.insert(pieces.begin(),
                  pair_head(report) +
                      "raw\tcorrected\tblock_corrected\tz\tevcomplex\tevcomplex_block\tgremlin\t"
                      "fdr\tprobability\n");
    return pieces;
}

constexpr const char* kTreeHead = "\ttree_score\ttree_mean\ttree_p\ttree_e\textrapolated";

TextPieces contact_table(const Report& report, int threads) {
    TextPieces pieces =
        make_lines(threads, static_cast<Index>(report.pairs.size()),
                   [&](Index rank, std::string& text) { append_contact(report, rank, text); });
    pieces.insert(pieces.begin(), pair_head(report) + "raw\tcorrected\tz\tprobability" +
                                      (report.base_pairs != nullptr ? "\tclass" : "") +
                                      (report.tree != nullptr ? kTreeHead : "") + "\n");
    return pieces;
}

/// Turns a name into one word by replacing blanks by underscores.
std::string one_word(std::string name) {
    for (char& c : name)
        if (c == ' ' || c == '\t') c = '_';
    return printable(name);
}

// CASP's contact format (RR of CASP 11 to 13): at most 50 letters per line; then pairs i < j of
// residue numbers of the target, the range of distances in angstrom and the probability, highest
// first.
TextPieces casp_contacts(const Report& report, int threads) {
    constexpr std::size_t kLettersPerLine = 50;
    const std::string& target = report.reference.sequence;
    Text text;
    append(text, "PFRMAT RR\nTARGET {}\nAUTHOR pleat {}\n", one_word(report.reference.name),
           kVersion);
    append(text, "METHOD Markov random field of {} sequences ({:.1f} effective), {} columns; L2\n",
           report.alignment.sequence_count(), report.result.effective_sequences,
           report.alignment.column_count());
    append(
        text,
        "METHOD regularised pseudolikelihood, Frobenius norms with APC, calibrated probability\n");
    append(
        text,
        "REMARK Numbers count all residues of the target's row, insertions included.\nMODEL 1\n");
    for (std::size_t at = 0; at < target.size(); at += kLettersPerLine)
        append(text, "{}\n", target.substr(at, kLettersPerLine));
    const auto number = [&](Index column) {
        return report.reference.numbers[report.alignment.columns[column]];
    };
    TextPieces pieces = make_lines(
        threads, static_cast<Index>(report.pairs.size()), [&](Index rank, std::string& line) {
            const RankedPair& pair = report.pairs[rank];
            const Index i = number(pair.i), j = number(pair.j);
            if (i == 0 || j == 0 || std::isnan(pair.probability)) return;
            append_integer(line, i);
            line += ' ';
            append_integer(line, j);
            line += " 0 8 ";
            append_number(line, pair.probability, std::chars_format::fixed, 6);
            line += '\n';
        });
    pieces.insert(pieces.begin(), {text.data(), text.size()});
    pieces.emplace_back("END\n");
    return pieces;
}

void write_evaluation(const std::filesystem::path& table, const std::filesystem::path& json_path,
                      const Report& report) {
    const ContactEvaluation& evaluation = *report.evaluation;
    const KnownStructure& known = *report.structure;
    Text text;
    append(text, "range\tdepth\tpairs\tcorrect\tprecision\n");
    nlohmann::ordered_json precisions = nlohmann::ordered_json::array();
    for (const RangePrecision& entry : evaluation.precisions) {
        append(text, "{}\t{}\t{}\t{}\t{}\n", entry.range, entry.depth, entry.pairs,
               entry.contact_count, number_or_na(entry.precision, 6));
        precisions.push_back({{"range", entry.range},
                              {"depth", entry.depth},
                              {"pairs", entry.pairs},
                              {"correct", entry.contact_count},
                              {"precision", entry.precision}});
    }
    write_text(table, std::string_view(text.data(), text.size()));

    const nlohmann::ordered_json json = {{"structure", known.structure.source.string()},
                                         {"chain", known.map.chain_name},
                                         {"row", known.map.row_name},
                                         {"identity", known.map.identity},
                                         {"length", evaluation.length},
                                         {"atoms", name_of(known.definition.atoms)},
                                         {"cutoff_angstrom", evaluation.cutoff},
                                         {"pairs", evaluation.evaluated_pairs},
                                         {"contacts", evaluation.contacts},
                                         {"precision", precisions}};
    const auto replace = nlohmann::ordered_json::error_handler_t::replace;
    write_text(json_path, json.dump(2, ' ', false, replace) + "\n");
}

std::string fitted_reference(const Report& report) {
    std::string letters;
    for (const Index column : report.alignment.columns) letters += report.reference.letters[column];
    return letters;
}

/// The pairs between parts, in source column numbers.
std::vector<InterPair> source_pairs(const Report& report) {
    std::vector<InterPair> pairs;
    if (report.parts != nullptr) pairs = report.parts->pairs;
    for (InterPair& pair : pairs) {
        pair.i = report.alignment.columns[pair.i];
        pair.j = report.alignment.columns[pair.j];
    }
    return pairs;
}

/// [pair, 2], columns of the source.
Array<Index, 2> source_base_pairs(const Report& report) {
    if (report.base_pairs == nullptr) return {};
    Array<Index, 2> pairs(std::ssize(report.base_pairs->pairs), Index{2});
    for (Index k = 0; k < pairs.extent(0); ++k) {
        const auto [i, j] = report.base_pairs->pairs[k];
        pairs(k, 0) = report.alignment.columns[i];
        pairs(k, 1) = report.alignment.columns[j];
    }
    return pairs;
}

/// The name of the part of each column.
std::vector<std::string> part_names(const Report& report) {
    std::vector<std::string> names;
    if (report.parts == nullptr) return names;
    for (const Index part : report.parts->part_of_column)
        names.push_back(report.parts->parts[part].name);
    return names;
}

std::vector<RecordField> inter_fields() {
    return {record_field("i", &InterPair::i, {.first = 1}),
            record_field("j", &InterPair::j, {.first = 1}),
            record_field("raw", &InterPair::raw),
            record_field("corrected", &InterPair::corrected),
            record_field("block_corrected", &InterPair::block_corrected),
            record_field("z", &InterPair::z),
            record_field("evcomplex", &InterPair::evcomplex),
            record_field("evcomplex_block", &InterPair::evcomplex_block),
            record_field("gremlin", &InterPair::gremlin),
            record_field("fdr", &InterPair::fdr)};
}

/// The values that the manifest records about family, fit and structure.
ResultColumns facts(const Report& report) {
    const Result& result = report.result;
    const Alphabet* const alphabet = report.alignment.alphabet;
    ResultColumns all = {
        fact("alphabet", alphabet != nullptr ? alphabet->name() : "", "the kind of the letters"),
        fact("format", report.alignment.format, "that of the alignment"),
        fact("sequences", report.alignment.sequence_count(), "number of sequences"),
        fact("columns", report.alignment.column_count(), "number of columns"),
        {"effective_sequences", "the sum of the weights", result.effective_sequences, "results"},
        fact("weights_identity", report.parameters.identity,
             "identity above which sequences share their weight"),
        fact("norm_letters", name_of(report.parameters.norm),
             "the letters over which norms are taken"),
        {"objective", "the value of the function that was minimised", result.objective, "results"},
        {"relative_gap", "how far the fit is from its minimum at most, as a fraction",
         result.relative_gap, "results"},
        fact("relative_gradient", result.relative_gradient, "the gradient's norm by that of x"),
        {"iterations", "iterations of the fit", result.iterations, "results"},
        {"evaluations", "evaluations of the objective", result.evaluations, "results"},
        {"stop_reason", "why the fit ended", name_of(result.stop_reason), "results"},
        fact("reference_row", report.reference.name, "the row that tables show")};
    if (report.base_pairs != nullptr)
        all.push_back(fact("base_pairs", std::ssize(report.base_pairs->pairs), "their number"));
    if (report.parts != nullptr)
        all.push_back(fact("parts", std::ssize(report.parts->parts), "their number"));
    for (ResultColumn& one : phylogeny::facts(report.tree, "scores.npz"))
        all.push_back(std::move(one));
    if (report.evaluation == nullptr) return all;
    const ResidueMap& map = report.structure->map;
    all.push_back(fact("chain", map.chain_name, "that of --structure"));
    all.push_back(fact("identity", map.identity, "share of identical letters"));
    all.push_back(fact("mapped_columns", map.mapped, "columns with a residue"));
    all.push_back(fact("precision_L", report.evaluation->at("all", "L").precision,
                       "contacts among the best L pairs"));
    return all;
}

}  // namespace

ResultColumns columns(const Report& report) {
    const Result& result = report.result;
    const Model& model = result.model;
    const bool has_parts = report.parts != nullptr, has_pairs = report.base_pairs != nullptr;
    const Alphabet* const alphabet = report.alignment.alphabet;
    const bool is_nucleic = alphabet != nullptr && alphabet->kind() != Alphabet::Kind::protein;
    const bool is_calibrated =
        alphabet != nullptr && has_probabilities(report.parameters, *alphabet);
    constexpr const char *kScores = "scores.npz", *kModel = "couplings.npz";
    ResultColumns all = {
        {"letters", "str [L], of the first sequence of the alignment in these columns",
         ColumnValue::kept("str")},
        {"raw_scores", "float64 [L, L], before APC", result.raw, kScores, "raw"},
        {"scores", "float64 [L, L], after APC", result.corrected, kScores, "corrected"},
        {"columns", "int64 [L], the number of each column in the source alignment, from 0",
         ColumnValue::owned(shown_columns(report.alignment, report.reference)), kScores},
        {"fields", "float32 [L, q], e_i(a); None with models=False",
         ColumnValue(model.fields).or_none(model.fields.size() > 0), kModel},
        {"pairs",
         "float32 [L (L - 1) / 2, q, q], e_ij(a, b), i < j in row order; None with models=False",
         ColumnValue(model.pairs).or_none(model.pairs.size() > 0), kModel},
        {"columns", "", ColumnValue::kept(""), kModel},
        {"weights", "float64 [sequence]", result.weights, "weights.npy"},
        {"warning",
         "why the probabilities are too high or missing if there are few sequences, else \"\"",
         is_calibrated ? depth_warning(result.effective_sequences, is_nucleic) : std::string()},
        {"device", "the device that computed", ColumnValue::kept("str"), "manifest"},
        {"base_pairs",
         "int64 [pair, 2], nested base pairs of a nucleic acid, columns of the source: those of "
         "`secondary`, else those that the scores show; None for proteins",
         ColumnValue::owned(source_base_pairs(report)).or_none(has_pairs)},
        {"parts", "the name of the part of each column; None for one part",
         ColumnValue(part_names(report)).or_none(has_parts)},
        {"inter_contacts",
         "records (i, j, raw, corrected, block_corrected, z, evcomplex, evcomplex_block, gremlin, "
         "fdr) of the pairs between parts, the highest block_corrected first, as "
         "contacts_inter.tsv; i and j as in contacts(); None for one part",
         ColumnValue::owned(source_pairs(report), inter_fields()).or_none(has_parts),
         "contacts_inter.tsv"},
        {"_is_calibrated", "whether scores of this kind have probabilities", is_calibrated},
        {"_is_nucleic", "whether the letters are those of a nucleic acid", is_nucleic},
        {"_has_given_base_pairs", "whether `secondary` was given",
         has_pairs && report.base_pairs->is_given}};
    return joined({all, phylogeny::pair_columns(report.tree, kScores), facts(report)});
}

void write_results(RunDirectory& run, const Report& report, int threads) {
    // Listed in manifest order; files that take longest are written first.
    const auto scores = run.output("scores.npz"), matrix = run.output("scores.mat");
    const auto table = run.output("contacts.tsv");
    // The format needs probabilities, which are calibrated for corrected scores of proteins with
    // enough sequences.
    const bool is_protein = report.alignment.alphabet->kind() == Alphabet::Kind::protein;
    const bool has_casp = is_protein &&
                          has_probabilities(report.parameters, *report.alignment.alphabet) &&
                          report.result.effective_sequences >= kMinEffectiveSequences;
    const std::filesystem::path casp = has_casp ? run.output("contacts.rr") : "";
    const auto weights = run.output("weights.npy");
    if (report.tree != nullptr) phylogeny::write_tree(run, *report.tree);
    const std::filesystem::path inter =
        report.parts == nullptr ? "" : run.output("contacts_inter.tsv");
    FileWriters writers(threads);
    if (report.structure != nullptr && report.evaluation != nullptr) {
        writers.add(
            [&report, table = run.output("evaluation.tsv"), json = run.output("evaluation.json")] {
                write_evaluation(table, json, report);
            });
    }
    if (has_npz(report.models))
        writers.add([&report, path = run.output("couplings.npz")] {
            write_model(path, report.result.model,
                        describe(report.alignment, report.result.weights, report.reference));
        });
    if (has_plmc(report.models))
        writers.add([&report, threads, path = run.output("model.plmc")] {
            write_plmc_model(path, report.alignment, report.parameters, report.result,
                             {.letters = fitted_reference(report),
                              .columns = shown_columns(report.alignment, report.reference)},
                             threads);
        });
    writers.add([&report, scores] { write_scores(scores, report); });
    writers.add([&report, weights] {
        write_npy(weights, report.result.weights.data(),
                  {static_cast<Index>(report.result.weights.size())});
    });
    writers.add(matrix, score_matrix(report, threads));
    writers.add(table, contact_table(report, threads));
    if (has_casp) writers.add(casp, casp_contacts(report, threads));
    if (report.parts != nullptr) writers.add(inter, inter_contact_table(report, threads));
    writers.end();
    record(run, facts(report));
}

std::vector<std::string_view> citations(const Parameters& parameters) {
    std::vector<std::string_view> keys = {"Seemayer2014", "Ekeberg2013"};
    if (parameters.apc) keys.push_back("Dunn2008");
    return keys;
}

}  // namespace pleat::couplings

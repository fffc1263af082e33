// Mutants: the columns of each sequence, and the effects of all its substitutions and of listed
// mutants.
#include "pleat/workflows/mutants/mutants.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>

#include "pleat/bio/alignment/text_alignment.h"
#include "pleat/bio/structure/known_structure.h"
#include "pleat/core/error.h"
#include "pleat/core/files/text.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/couplings/parts/parts.h"
#include "pleat/workflows/mutants/independent.h"
#include "pleat/workflows/mutants/predictor.h"
#include "pleat/workflows/mutants/region.h"

namespace pleat::mutants {

namespace {

struct ColumnSequence {
    std::vector<std::uint8_t> codes;  ///< [column]; the alphabet's gap for none
    Index inserted = 0;               ///< residues outside the columns
};

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

/// How the rows of a file are aligned.
struct Layout {
    bool match_only = false;     ///< lower case and '.' are insertions
    std::vector<Index> columns;  ///< [column of the model]: column of the rows
};

/// The number of columns of a row: all, or only match columns.
Index width_of(const std::string& row, bool match_only) {
    const auto size = static_cast<Index>(row.size());
    return match_only ? size - std::count_if(row.begin(), row.end(), is_insertion) : size;
}

std::optional<Layout> layout_of(const SequenceFile& file,
                                const couplings::ModelDescription& about) {
    const auto own = static_cast<Index>(about.reference.size());
    for (const bool match_only : {true, false}) {
        for (const Index width : {about.source_columns, own}) {
            const bool fits =
                width > 0 && std::all_of(file.rows.begin(), file.rows.end(), [&](const auto& row) {
                    return width_of(row, match_only) == width;
                });
            if (!fits) continue;
            Layout layout{match_only, about.columns};
            if (width == own)
                for (Index i = 0; i < own; ++i) layout.columns[i] = i;
            return layout;
        }
    }
    return std::nullopt;
}

ColumnSequence by_layout(const std::string& row, const Layout& layout, const Alphabet& alphabet) {
    std::string all;
    ColumnSequence found;
    for (const char c : row) {
        found.inserted += is_letter(c);
        if (!layout.match_only || !is_insertion(c)) all += c;
    }
    for (const Index column : layout.columns) {
        const char c = all[column];
        found.codes.push_back(std::min(alphabet.code(c), alphabet.gap()));
        found.inserted -= is_letter(c);  // an unknown letter is in its column, too
    }
    return found;
}

ColumnSequence by_profile(const std::string& row, const ProfileScoring& profile,
                          const Alphabet& alphabet) {
    std::vector<std::uint8_t> residues;
    for (const char c : row)
        if (is_letter(c)) residues.push_back(std::min(alphabet.code(c), alphabet.gap()));
    const std::vector<Index> columns = profile_columns(profile, residues);
    ColumnSequence found{std::vector<std::uint8_t>(
                             static_cast<std::size_t>(profile.scores.extent(0)), alphabet.gap()),
                         0};
    for (std::size_t n = 0; n < residues.size(); ++n) {
        if (columns[n] < 0)
            ++found.inserted;
        else
            found.codes[columns[n]] = residues[n];
    }
    return found;
}

/// Throws InputError for the first letter that is not in the alphabet.
void check_letters(const SequenceFile& file, const Alphabet& alphabet) {
    for (std::size_t n = 0; n < file.rows.size(); ++n)
        for (const char c : file.rows[n])
            if (alphabet.code(c) == Alphabet::invalid)
                throw InputError(file.source, file.lines[n],
                                 fmt::format("expected letters of {}, found '{}' in '{}'",
                                             alphabet.name(), c, printable(file.names[n])));
}

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr double kMinCoverage = 0.5;

/// Letters of an alphabet without the gap, in alphabetical order.
std::vector<std::uint8_t> residue_order(const Alphabet& alphabet) {
    std::string letters(alphabet.letters().substr(0, alphabet.gap()));
    std::sort(letters.begin(), letters.end());
    std::vector<std::uint8_t> codes;
    for (const char letter : letters) codes.push_back(alphabet.code(letter));
    return codes;
}

/// Data shared by the steps of a run.
struct Work {
    const couplings::ModelDescription& about;
    const Alphabet& alphabet;
    std::vector<std::uint8_t> order;
    EnergyModel model;
    Array<double, 2> frequencies, independent;  ///< [column, letter without the gap]
    std::vector<double> conservation;           ///< [column]: 1 - entropy / log2(letters)
    int threads = 1;

    Work(const couplings::ModelDescription& description, couplings::Model&& fitted,
         const Target& target, int thread_count)
        : about(description),
          alphabet(*description.alphabet),
          order(residue_order(alphabet)),
          model(std::move(fitted), target.codes, thread_count),
          frequencies(residue_frequencies(description.frequencies, alphabet.gap())),
          independent(independent_fields(frequencies, description.effective_sequences)),
          threads(thread_count) {
        for (Index i = 0; i < frequencies.extent(0); ++i)
            conservation.push_back(1 - entropy(i) / std::log2(static_cast<double>(alphabet.gap())));
    }

    double independent_energy(std::span<const std::uint8_t> codes) const {
        double sum = 0;
        for (std::size_t i = 0; i < codes.size(); ++i)
            if (codes[i] < alphabet.gap()) sum += independent(static_cast<Index>(i), codes[i]);
        return sum;
    }
    /// Entropy in bits of the residues in a column; NaN if it has none.
    double entropy(Index column) const {
        double sum = 0, total = 0;
        for (const double share : frequencies[column]) {
            if (share > 0) sum -= share * std::log2(share);
            total += share;
        }
        return total > 0 ? sum : kNone;
    }
};

/// The target with the given residue numbers, else with those that agree best with the table. Adds
/// to `notes` if these are not the most likely ones.
Target choose_target(const Input& input, const Parameters& parameters, Notes& notes) {
    std::vector<Index> starts = first_numbers(input.model.about, input.target);
    if (parameters.first_number) starts = {*parameters.first_number};
    std::vector<Target> targets = {make_target(input.model.about, input.target, starts.front())};
    for (std::size_t n = 1; n < starts.size(); ++n) {
        targets.push_back(targets.front());
        targets.back().first_number = starts[n];
    }
    if (input.table == nullptr) return targets.front();
    const Target& best = best_target(targets, *input.table);
    if (best.first_number != targets.front().first_number)
        notes.push_back(
            {NoteKind::numbering,
             fmt::format("{}: residues of '{}' are counted from {}, since the wild-type letters "
                         "agree with it",
                         input.table->source, printable(best.name), best.first_number)});
    return best;
}

/// [column]: the weights of effects.
struct Weights {
    std::vector<double> conservation, burial;  ///< `burial` is empty without a structure
};

/// Replaces each NaN by the mean of the other values; 0 if there are none.
void fill_with_mean(std::vector<double>& values) {
    double sum = 0, count = 0;
    for (const double value : values)
        if (!std::isnan(value)) {
            sum += value;
            ++count;
        }
    for (double& value : values)
        if (std::isnan(value)) value = count > 0 ? sum / count : 0;
}

Weights weights_of(const Work& work, const Result& result) {
    constexpr double kBase = 0.25;
    Weights weights{work.conservation, {}};
    fill_with_mean(weights.conservation);
    if (result.burial) {
        for (const Index residue : result.target.residues)
            weights.burial.push_back(
                residue == Target::kNone
                    ? kNone
                    : 1 - std::min(result.burial->accessibility[residue], 1.0));
        fill_with_mean(weights.burial);
        for (std::size_t i = 0; i < weights.burial.size(); ++i)
            weights.burial[i] += kBase + weights.conservation[i];
    }
    for (double& weight : weights.conservation) weight += 1;
    return weights;
}

void add_singles(const Work& work, const Weights& weights, Result& result) {
    const EnergyModel::Singles& singles = work.model.singles();
    const Target& target = result.target;
    for (std::size_t i = 0; i < target.codes.size(); ++i) {
        if (target.residues[i] == Target::kNone) continue;
        const auto column = static_cast<Index>(i);
        for (const std::uint8_t a : work.order) {
            if (a == target.codes[i]) continue;
            const double full = singles.full(column, a), fields = singles.fields(column, a);
            result.singles.push_back(
                {.number = target.number(target.residues[i]),
                 .column = work.about.columns[i],
                 .wild_type = work.alphabet.letter(target.codes[i]),
                 .letter = work.alphabet.letter(a),
                 .frequency = work.frequencies(column, a),
                 .conservation = work.conservation[i],
                 .epistatic = full,
                 .couplings = full - fields,
                 .fields = fields,
                 .independent =
                     work.independent(column, a) - work.independent(column, target.codes[i]),
                 .conserved = weights.conservation[i] * full,
                 .weighted = weights.burial.empty() ? kNone : weights.burial[i] * full});
        }
    }
}

/// Adds the target's residues in the order of their numbers, which is that of columns.
void add_positions(const Weights& weights, Result& result) {
    std::vector<Index> columns;  // with a residue, in order
    for (std::size_t i = 0; i < result.target.residues.size(); ++i)
        if (result.target.residues[i] != Target::kNone) columns.push_back(static_cast<Index>(i));
    for (std::size_t from = 0; from < result.singles.size();) {
        const Single& first = result.singles[from];
        Position position{.number = first.number,
                          .column = first.column,
                          .wild_type = first.wild_type,
                          .conservation = first.conservation,
                          .min_epistatic = first.epistatic,
                          .max_epistatic = first.epistatic};
        std::size_t to = from;
        for (; to < result.singles.size() && result.singles[to].column == first.column; ++to) {
            const Single& one = result.singles[to];
            position.epistatic += one.epistatic;
            position.independent += one.independent;
            position.min_epistatic = std::min(position.min_epistatic, one.epistatic);
            position.max_epistatic = std::max(position.max_epistatic, one.epistatic);
        }
        position.epistatic /= static_cast<double>(to - from);
        position.independent /= static_cast<double>(to - from);
        const Index column = columns[result.positions.size()];
        position.accessibility =
            result.burial ? result.burial->accessibility[result.target.residues[column]] : kNone;
        position.burial_weight = result.burial ? weights.burial[column] : kNone;
        result.positions.push_back(position);
        from = to;
    }
}

EffectRanks rank_singles(Result& result) {
    std::vector<double> effects, independent;
    for (const Single& one : result.singles) {
        effects.push_back(one.epistatic);
        independent.push_back(one.independent);
    }
    const EffectRanks ranks(effects), independent_ranks(independent);
    for (Single& one : result.singles) {
        one.percentile = ranks.percentile(one.epistatic);
        one.z = ranks.z(one.epistatic);
        one.independent_percentile = independent_ranks.percentile(one.independent);
        one.independent_z = independent_ranks.z(one.independent);
    }
    return ranks;
}

void add_logo(const Work& work, Result& result) {
    const double max_entropy = std::log2(static_cast<double>(work.alphabet.gap()));
    for (Index i = 0; i < work.frequencies.extent(0); ++i) {
        const bool has_residue = result.target.residues[i] != Target::kNone;
        const double information = max_entropy - work.entropy(i);
        double mean = 0;
        for (const double field : work.independent[i]) mean += field / work.alphabet.gap();
        for (const std::uint8_t a : work.order) {
            LogoLetter letter{.column = work.about.columns[i],
                              .letter = work.alphabet.letter(a),
                              .frequency = work.frequencies(i, a),
                              .information = information,
                              .height = information * work.frequencies(i, a),
                              .independent = work.independent(i, a) - mean};
            if (has_residue) {
                letter.number = result.target.number(result.target.residues[i]);
                letter.wild_type = work.alphabet.letter(result.target.codes[i]);
            }
            result.logo.push_back(letter);
        }
    }
}

/// Throws InputError for a letter that is not in the alphabet and, without `align`, for rows whose
/// width is not that of the model, its source or its match columns.
void check_sequences(const SequenceFile& file, const couplings::ModelDescription& about,
                     bool align) {
    check_letters(file, *about.alphabet);
    if (align || layout_of(file, about)) return;
    const auto own = static_cast<Index>(about.reference.size());
    const Index width = about.source_columns > 0 ? about.source_columns : own;
    std::size_t odd = 0;
    while (odd + 1 < file.rows.size() && width_of(file.rows[odd], true) == width) ++odd;
    throw InputError(
        file.source, file.lines[odd],
        fmt::format("expected rows of {} columns like the family, found {} in '{}'; --align "
                    "aligns sequences to the family's profile",
                    width, width_of(file.rows[odd], true), printable(file.names[odd])));
}

/// The sequences of a file in the model's columns. Rows that all have the width of the model or of
/// its source, or as many match columns (A2M, A3M), are aligned already. Others are aligned to the
/// family's profile if `align` is set, which sets `is_aligned_here`. Throws as check_sequences().
std::vector<ColumnSequence> sequences_in_columns(const SequenceFile& file,
                                                 const couplings::ModelDescription& about,
                                                 bool align, const Context& context,
                                                 bool& is_aligned_here) {
    const Alphabet& alphabet = *about.alphabet;
    check_sequences(file, about, align);
    const std::optional<Layout> layout = layout_of(file, about);
    is_aligned_here = !layout;
    const ProfileScoring profile = layout ? ProfileScoring{} : family_profile(about);
    std::vector<ColumnSequence> found(file.rows.size());
    parallel_for(resolve_threads(context), static_cast<Index>(found.size()), [&](Index n, int) {
        const std::string& row = file.rows[n];
        found[n] = layout ? by_layout(row, *layout, alphabet) : by_profile(row, profile, alphabet);
    });
    return found;
}

void add_sequences(const Work& work, const SequenceFile& file, bool align, const Context& context,
                   Result& result) {
    const std::vector<ColumnSequence> rows =
        sequences_in_columns(file, work.about, align, context, result.sequences_are_aligned);
    const auto columns = static_cast<double>(work.about.reference.size());
    result.sequences.resize(rows.size());
    parallel_for(work.threads, static_cast<Index>(rows.size()), [&](Index n, int) {
        const ColumnSequence& row = rows[n];
        SequenceEnergy& out = result.sequences[n];
        out.name = file.names[n];
        out.inserted = row.inserted;
        out.gaps = std::count(row.codes.begin(), row.codes.end(), work.alphabet.gap());
        out.residues = static_cast<Index>(row.codes.size()) - out.gaps;
        out.coverage = static_cast<double>(out.residues) / columns;
        if (result.sequences_are_aligned && out.coverage < kMinCoverage) {
            out.problem = Problem::low_coverage;
            out.energy = {kNone, kNone, kNone};
            out.effect = out.independent = out.independent_effect = kNone;
            return;
        }
        out.energy = work.model.energy(row.codes);
        out.effect = out.energy.full - result.energy.full;
        out.independent = work.independent_energy(row.codes);
        out.independent_effect = out.independent - result.independent_energy;
    });
}

void add_doubles(const Work& work, const std::string& region, Result& result) {
    Doubles& doubles = result.doubles;
    doubles.columns = columns_of_region(region, result.target, result.notes);
    const auto count = static_cast<Index>(doubles.columns.size());
    const Index letters = work.alphabet.gap();
    doubles.singles = Array<double, 2>(count, letters);
    doubles.epistasis = Array<float, 3>(count * (count - 1) / 2, letters, letters);
    const auto code = [&](Index i) { return result.target.codes[i]; };
    parallel_for(work.threads, count, [&](Index n, int) {
        const Index i = doubles.columns[n];
        for (Index a = 0; a < letters; ++a) doubles.singles(n, a) = work.model.singles().full(i, a);
        for (Index m = n + 1; m < count; ++m) {
            const Index j = doubles.columns[m];
            const View<float, 2> block = doubles.epistasis[couplings::pair_index(n, m, count)];
            for (Index a = 0; a < letters; ++a)
                for (Index b = 0; b < letters; ++b)
                    block(a, b) = static_cast<float>(
                        work.model.epistasis(i, code(i), static_cast<std::uint8_t>(a), j, code(j),
                                             static_cast<std::uint8_t>(b)));
        }
    });
}

/// Residues of the target as ranges of numbers: "5, 9-12".
std::string ranges_of(const std::vector<Index>& numbers) {
    std::string text;
    for (std::size_t from = 0; from < numbers.size();) {
        std::size_t to = from + 1;
        while (to < numbers.size() && numbers[to] == numbers[to - 1] + 1) ++to;
        text += fmt::format("{}{}", text.empty() ? "" : ", ", numbers[from]);
        if (to > from + 1) text += fmt::format("-{}", numbers[to - 1]);
        from = to;
    }
    return text;
}

void check_structure(const Input& input, const Parameters& parameters) {
    if (input.structure != nullptr) return;
    if (parameters.accessibility != Surroundings::chain)
        throw UsageError("give --structure with --accessibility: it says what covers its residues");
    if (!parameters.parts.empty())
        throw UsageError("give --structure with --parts: they are those of its chains");
}

/// The first residue of each part; 0 for one part.
std::vector<Index> part_starts(const Target& target, const couplings::ModelDescription& about,
                               const std::string& text) {
    const couplings::Parts parts = couplings::parse_parts(text);
    if (parts.empty()) return {0};
    const auto own = static_cast<Index>(about.reference.size());
    const Index columns = about.source_columns > 0 ? about.source_columns : own;
    if (parts.back().last != columns)
        throw UsageError(fmt::format("give --parts the {} columns of the family, not {}", columns,
                                     parts.back().last));
    std::vector<Index> starts(parts.size(), Target::kNone);
    for (std::size_t i = target.residues.size(), part = parts.size() - 1; i-- > 0;) {
        while (about.columns[i] < parts[part].first) --part;
        if (target.residues[i] != Target::kNone) starts[part] = target.residues[i];
    }
    for (std::size_t part = 0; part < parts.size(); ++part)
        if (starts[part] == Target::kNone)
            throw InputError(fmt::format("expected residues of '{}' in part {}, found none",
                                         printable(target.name), parts[part].name));
    starts.front() = 0;
    return starts;
}

/// Measures burial, and notes the chain and the residues without an accessibility.
Burial find_burial(const Input& input, const Parameters& parameters, const Target& target,
                   const Context& context, Notes& notes) {
    const TargetStructure& known = *input.structure;
    notes.insert(notes.end(), known.notes.begin(), known.notes.end());
    const std::vector<Index> starts = part_starts(target, input.model.about, parameters.parts);
    Burial burial = measure_burial(target, starts, known, parameters.accessibility, context, notes);
    std::vector<Index> missing;
    Index all = 0;
    for (const Index residue : target.residues) {
        if (residue == Target::kNone) continue;
        ++all;
        if (std::isnan(burial.accessibility[residue])) missing.push_back(target.number(residue));
    }
    const std::string file = known.structure.source.string();
    notes.push_back(
        {NoteKind::matching,
         fmt::format("{}: chain '{}' has {} of the {} residues of '{}', identity {:.2f}", file,
                     burial.chain, burial.mapped, target.sequence.size(), printable(target.name),
                     burial.identity)});
    if (!missing.empty())
        notes.push_back({.kind = NoteKind::residues,
                         .text = fmt::format("{}: {} of {} residues in the model's columns have no "
                                             "accessibility and take the mean burial: {}",
                                             file, missing.size(), all, ranges_of(missing)),
                         .is_warning = 2 * std::ssize(missing) > all});
    return burial;
}

void add_notes(const Input& input, const Target& target, Result& result) {
    const bool is_counted = input.target || !input.model.about.number_is_recorded;
    if (is_counted && start_in_name(target.name) == target.first_number) {
        const std::string doubt =
            doubt_about_numbers(target.name, static_cast<Index>(target.sequence.size()));
        if (!doubt.empty())
            result.notes.push_back(
                {NoteKind::assumption,
                 doubt + (input.target ? "" : " unless the target's whole sequence is given")});
    }
    if (input.target && !input.model.about.sequence.empty()) {
        Index other = 0;
        for (std::size_t i = 0; i < target.residues.size(); ++i) {
            const char row = input.model.about.reference[i];
            other += row != '-' && target.residues[i] != Target::kNone &&
                     row != target.sequence[target.residues[i]];
        }
        if (other > 0)
            result.notes.push_back(
                {NoteKind::names_differ,
                 fmt::format("{}: '{}' has another letter than row '{}' in {} columns; its own are "
                             "the wild type",
                             input.target->file, printable(target.name),
                             printable(input.model.about.reference_name), other)});
    }
    if (const Index odd = result.listed_with(Problem::other_length); odd > 0)
        result.notes.push_back(
            {.kind = NoteKind::residues,
             .text = fmt::format("{}: {} of {} mutants are sequences of another length than the "
                                 "target's {} residues; --target gives the whole sequence",
                                 input.table->source, odd, result.listed.size(),
                                 target.sequence.size()),
             .is_warning = 2 * odd > std::ssize(result.listed)});
    if (result.sequences_are_aligned)
        result.notes.push_back(
            {NoteKind::assumption,
             "the sequences were aligned to the family's profile; their energies are rough, and "
             "comparable only between sequences with few gaps"});
}

}  // namespace

Index Result::listed_with(Problem problem) const {
    return std::count_if(listed.begin(), listed.end(),
                         [&](const Listed& one) { return one.problem == problem; });
}

void check_input(const Input& input, const Parameters& parameters) {
    check_structure(input, parameters);
    Notes notes;
    const Target target = choose_target(input, parameters, notes);
    if (!parameters.doubles.empty()) columns_of_region(parameters.doubles, target, notes);
    if (input.structure != nullptr) find_burial(input, parameters, target, {}, notes);
    if (input.sequences != nullptr)
        check_sequences(*input.sequences, input.model.about, parameters.align);
}

void check_input(Input input, const Alignment& alignment, const ReferenceRow& reference,
                 const Parameters& parameters) {
    const std::vector<double> equal(static_cast<std::size_t>(alignment.sequence_count()), 1.0);
    input.model.about = couplings::describe(alignment, equal, reference);
    check_input(input, parameters);
}

Result run(Input input, const Parameters& parameters, const Context& context) {
    Parameters copy = parameters;
    check(fields(copy));
    check_structure(input, parameters);
    Result result;
    result.target = choose_target(input, parameters, result.notes);
    const int threads = resolve_threads(context);
    const Work work(input.model.about, std::move(input.model.model), result.target, threads);
    result.energy = work.model.energy(result.target.codes);
    result.independent_energy = work.independent_energy(result.target.codes);
    result.target_gaps =
        std::count(result.target.residues.begin(), result.target.residues.end(), Target::kNone);
    if (input.structure != nullptr)
        result.burial = find_burial(input, parameters, result.target, context, result.notes);
    const Weights weights = weights_of(work, result);
    add_singles(work, weights, result);
    add_positions(weights, result);
    const EffectRanks ranks = rank_singles(result);
    add_logo(work, result);
    if (input.table != nullptr) {
        const MutantPredictor predictor{work.model,       work.alphabet, result.target,
                                        work.independent, ranks,         weights.conservation,
                                        weights.burial};
        result.listed = predict_rows(predictor, *input.table, threads);
        result.correlations = correlations(*input.table, result.listed);
    }
    if (input.sequences != nullptr)
        add_sequences(work, *input.sequences, parameters.align, context, result);
    if (!parameters.doubles.empty()) add_doubles(work, parameters.doubles, result);
    add_notes(input, result.target, result);
    return result;
}

}  // namespace pleat::mutants

// Predictor: energies of substitutions, robust Z-scores, and ranks.
#include "pleat/workflows/mutants/predictor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <unordered_map>
#include <utility>

#include "pleat/core/error.h"
#include "pleat/core/files/text.h"
#include "pleat/core/loops/parallel.h"

namespace pleat::mutants {

namespace {

constexpr double kUnits = 1e4;  // four decimals
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

long long rounded(double value) { return std::llround(value * kUnits); }

double median_of(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    if (values.size() % 2 == 1) return *middle;
    return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

/// Ranks of values; equal values share a rank.
template <class T>
std::vector<double> ranks_of(const std::vector<T>& values) {
    std::vector<std::pair<T, std::size_t>> order;  // values beside their places sort faster
    order.reserve(values.size());
    for (std::size_t n = 0; n < values.size(); ++n) order.emplace_back(values[n], n);
    std::sort(order.begin(), order.end());
    std::vector<double> ranks(values.size());
    for (std::size_t from = 0; from < order.size();) {
        std::size_t to = from + 1;
        while (to < order.size() && order[to].first == order[from].first) ++to;
        for (std::size_t n = from; n < to; ++n)
            ranks[order[n].second] = static_cast<double>(from + to + 1) / 2;
        from = to;
    }
    return ranks;
}

constexpr double kMaxDiffering = 0.05;

char upper(char c) { return static_cast<char>(std::toupper(static_cast<unsigned char>(c))); }

bool is_wild_type(std::string_view text) {
    std::string lower;
    for (const char c : text)
        if (c != '_' && c != '-')
            lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return lower.empty() || lower == "wt" || lower == "sy" || lower == "wild" ||
           lower == "wildtype";
}

/// Whether a text is the sequence of a mutant: letters of the alphabet alone, and as many as the
/// target or more than a word has.
bool is_sequence(std::string_view text, const Target& target) {
    constexpr std::size_t kShortest = 20;
    return (text.size() >= kShortest || text.size() == target.sequence.size()) &&
           std::all_of(text.begin(), text.end(), [&](char c) {
               return target.alphabet->code(c) < target.alphabet->gap() || upper(c) == 'X';
           });
}

/// The letter of a three-letter code in HGVS ("Ala"; "Ter": '*'); 0 for others.
char letter_of(std::string_view three) {
    static constexpr std::string_view kThree[] = {"ala", "arg", "asn", "asp", "cys", "gln", "glu",
                                                  "gly", "his", "ile", "leu", "lys", "met", "phe",
                                                  "pro", "ser", "thr", "trp", "tyr", "val", "ter"};
    std::string lower;
    for (const char c : three)
        lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    const auto* const found = std::find(std::begin(kThree), std::end(kThree), lower);
    return found == std::end(kThree) ? '\0' : "ARNDCQEGHILKMFPSTWYV*"[found - std::begin(kThree)];
}

/// Converts "Ala24Gly" or "Ala24=" to "A24G" and "A24A"; returns other texts unchanged.
std::string with_letters(std::string_view text) {
    const std::size_t from = text.find_first_of("0123456789");
    const std::size_t last = text.find_last_of("0123456789");
    const char wild_type = from == 3 ? letter_of(text.substr(0, 3)) : '\0';
    if (wild_type == '\0') return std::string(text);
    const std::string_view mutant = text.substr(last + 1);
    const char letter = mutant == "=" ? wild_type : mutant == "*" ? '*' : letter_of(mutant);
    if (letter == '\0') return std::string(text);
    return fmt::format("{}{}{}", wild_type, text.substr(from, last + 1 - from), letter);
}

bool parse_substitution(std::string_view given, Substitution& out) {
    const std::string text = with_letters(trimmed(given));
    if (text.size() < 3) return false;
    const char* const last = text.data() + text.size() - 1;
    const auto [end, problem] = std::from_chars(text.data() + 1, last, out.number);
    constexpr Index kMaxNumber = 1'000'000'000'000;
    if (problem != std::errc() || end != last || std::abs(out.number) > kMaxNumber) return false;
    out.wild_type = upper(text.front());
    out.letter = upper(text.back());
    return std::isalpha(static_cast<unsigned char>(out.wild_type)) != 0 &&
           std::isdigit(static_cast<unsigned char>(out.letter)) == 0;
}

Listed without_prediction(Problem problem) {
    return {problem, false, kNone, kNone, kNone, kNone, kNone, kNone};
}

/// A substitution in columns and codes.
struct Change {
    Index column = 0;
    std::uint8_t from = 0, to = 0;
};

Listed sum_of(const MutantPredictor& p, const std::vector<Change>& changes) {
    Listed listed;
    // The couplings of a large model are not in the cache.
    for (std::size_t n = 0; n < changes.size(); ++n)
        for (std::size_t m = 0; m < n; ++m)
            p.model.prefetch(changes[m].column, changes[m].from, changes[m].to, changes[n].column,
                             changes[n].from, changes[n].to);
    const bool has_burial = !p.burial_weights.empty();
    listed.weighted = has_burial ? 0 : kNone;
    /// Adds an effect in column i, or the epistasis of columns i and j.
    const auto add = [&](double effect, Index i, Index j) {
        const auto weight = [&](std::span<const double> of) { return 0.5 * (of[i] + of[j]); };
        listed.epistatic += effect;
        listed.conserved += weight(p.conservation_weights) * effect;
        if (has_burial) listed.weighted += weight(p.burial_weights) * effect;
    };
    for (std::size_t n = 0; n < changes.size(); ++n) {
        const Change& change = changes[n];
        add(p.model.singles().full(change.column, change.to), change.column, change.column);
        listed.independent +=
            p.independent(change.column, change.to) - p.independent(change.column, change.from);
        for (std::size_t m = 0; m < n; ++m)
            add(p.model.epistasis(changes[m].column, changes[m].from, changes[m].to, change.column,
                                  change.from, change.to),
                changes[m].column, change.column);
    }
    listed.is_target = std::all_of(changes.begin(), changes.end(),
                                   [](const Change& change) { return change.from == change.to; });
    listed.percentile = p.ranks.percentile(listed.epistatic);
    listed.z = p.ranks.z(listed.epistatic);
    return listed;
}

/// Ranks from 1; values that are equal to four decimals get their mean rank.
std::vector<double> mid_ranks(const std::vector<double>& values) {
    std::vector<long long> units;
    units.reserve(values.size());
    for (const double value : values) units.push_back(rounded(value));
    return ranks_of(units);
}

}  // namespace

EffectRanks::EffectRanks(const std::vector<double>& effects) {
    if (effects.empty()) return;
    for (const double effect : effects) sorted_.push_back(rounded(effect));
    std::sort(sorted_.begin(), sorted_.end());
    median_effect_ = median_of(effects);
    std::vector<double> distances;
    distances.reserve(effects.size());
    for (const double effect : effects) distances.push_back(std::abs(effect - median_effect_));
    deviation_ = 1.4826 * median_of(distances);
}

double EffectRanks::percentile(double effect) const {
    if (sorted_.empty()) return kNone;
    const auto [first, last] = std::equal_range(sorted_.begin(), sorted_.end(), rounded(effect));
    const auto below = static_cast<double>(first - sorted_.begin());
    return 100 * (below + static_cast<double>(last - first) / 2) /
           static_cast<double>(sorted_.size());
}

double EffectRanks::z(double effect) const {
    return deviation_ > 0 ? (effect - median_effect_) / deviation_ : kNone;
}

double rank_correlation(const std::vector<double>& a, const std::vector<double>& b, Index& count) {
    std::vector<double> predicted, measured;
    for (std::size_t n = 0; n < a.size(); ++n) {
        if (std::isnan(a[n]) || std::isnan(b[n])) continue;
        predicted.push_back(a[n]);
        measured.push_back(b[n]);
    }
    count = static_cast<Index>(predicted.size());
    if (count < 3) return kNone;
    const std::vector<double> x = mid_ranks(predicted), y = ranks_of(measured);
    const double mean = static_cast<double>(count + 1) / 2;
    double xx = 0, yy = 0, xy = 0;
    for (std::size_t n = 0; n < x.size(); ++n) {
        xx += (x[n] - mean) * (x[n] - mean);
        yy += (y[n] - mean) * (y[n] - mean);
        xy += (x[n] - mean) * (y[n] - mean);
    }
    return xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : kNone;
}

bool parse_mutant(std::string_view text, std::vector<Substitution>& substitutions) {
    substitutions.clear();
    // HGVS: "NP_000305.3:p.[Ala24Gly;Lys30Arg]", "p.(Ala24Gly)", "p.=".
    if (const std::size_t protein = text.find("p."); protein != std::string_view::npos) {
        text.remove_prefix(protein + 2);
        while (text.starts_with('[') || text.starts_with('(')) text.remove_prefix(1);
        while (text.ends_with(']') || text.ends_with(')')) text.remove_suffix(1);
        if (text == "=") return true;
    }
    if (is_wild_type(text)) return true;
    while (true) {
        const std::size_t end = text.find_first_of(",:;");
        Substitution one;
        if (!parse_substitution(text.substr(0, end), one)) return false;
        substitutions.push_back(one);
        if (end == std::string_view::npos) return true;
        text.remove_prefix(end + 1);
    }
}

Listed MutantPredictor::predict(const std::vector<Substitution>& substitutions) const {
    std::vector<Change> changes;
    for (const Substitution& one : substitutions) {
        const Index residue = target.residue(one.number);
        const Index column = residue == Target::kNone ? residue : target.columns[residue];
        if (column == Target::kNone || target.residues[column] != residue)
            return without_prediction(Problem::outside);
        const std::uint8_t from = target.codes[column];
        if (alphabet.code(one.wild_type) != from)
            return without_prediction(Problem::other_wild_type);
        const std::uint8_t to = alphabet.code(one.letter);
        if (to >= alphabet.gap()) return without_prediction(Problem::unknown_letter);
        const bool is_named = std::any_of(changes.begin(), changes.end(), [&](const Change& other) {
            return other.column == column;
        });
        if (is_named) return without_prediction(Problem::repeated);
        changes.push_back({column, from, to});
    }
    return sum_of(*this, changes);
}

Listed MutantPredictor::predict_sequence(std::string_view sequence) const {
    if (sequence.size() != target.sequence.size()) return without_prediction(Problem::other_length);
    std::vector<Change> changes;
    for (std::size_t at = 0; at < sequence.size(); ++at) {
        const char letter = upper(sequence[at]);
        const std::uint8_t to = alphabet.code(letter);
        const bool is_known = to < alphabet.gap();
        if (is_known ? to == alphabet.code(target.sequence[at]) : letter == target.sequence[at])
            continue;
        const Index column = target.columns[at];
        if (column == Target::kNone || target.residues[column] != static_cast<Index>(at))
            return without_prediction(Problem::outside);
        if (!is_known) return without_prediction(Problem::unknown_letter);
        changes.push_back({column, target.codes[column], to});
    }
    return sum_of(*this, changes);
}

ListedLetters listed_letters(const MutantTable& table) {
    std::unordered_map<Index, Index> times;  // by number and letter
    constexpr Index kLetters = 256;
    std::vector<Substitution> substitutions;
    for (const MutantRow& row : table.rows) {
        if (row.is_blank || !parse_mutant(row.mutant, substitutions)) continue;
        for (const Substitution& one : substitutions)
            ++times[one.number * kLetters + one.wild_type];
    }
    ListedLetters letters;
    for (const auto& [key, count] : times) {
        const Index letter = ((key % kLetters) + kLetters) % kLetters;
        letters.push_back({{(key - letter) / kLetters, static_cast<char>(letter)}, count});
    }
    return letters;
}

const Target& best_target(const std::vector<Target>& targets, const MutantTable& table) {
    if (!table.has_mutants) return targets.front();
    const ListedLetters letters = listed_letters(table);
    const Target* best = &targets.front();
    Agreement found = agreement(*best, letters);
    for (const Target& target : targets) {
        const Agreement own = agreement(target, letters);
        const bool is_better = own.compared - own.differing > found.compared - found.differing;
        if (!is_better) continue;
        best = &target;
        found = own;
    }
    const Index all = found.compared + found.outside;
    const bool differs =
        static_cast<double>(found.differing) > kMaxDiffering * static_cast<double>(found.compared);
    if (all == 0 || (!differs && found.compared > 0)) return *best;
    const Shift shift = best_shift(*best, letters);
    const std::string what =
        found.compared == 0
            ? fmt::format("no residue of numbers {} to {}", best->first_number,
                          best->number(static_cast<Index>(best->sequence.size()) - 1))
            : fmt::format("other letters in {} of {} substitutions", found.differing,
                          found.compared);
    const std::string advice =
        2 * shift.agreeing <= all || shift.shift == 0  // letters that fit by chance are no advice
            ? std::string("no shift of the numbers fits")
            : fmt::format("numbers shifted by {:+} would agree in {} of {} (--first-number {})",
                          shift.shift, shift.agreeing, all, best->first_number - shift.shift);
    throw InputError(table.source, 0,
                     fmt::format("expected the wild-type letters of '{}', found {}; {}; --target "
                                 "gives the sequence that the numbers count",
                                 printable(best->name), what, advice));
}

std::vector<Listed> predict_rows(const MutantPredictor& predictor, const MutantTable& table,
                                 int threads) {
    constexpr Index kRows = 256;
    const auto rows = static_cast<Index>(table.rows.size());
    std::vector<Listed> listed(table.rows.size());
    parallel_for(threads, (rows + kRows - 1) / kRows, [&](Index block, int) {
        std::vector<Substitution> substitutions;
        for (Index n = block * kRows; n < std::min(rows, (block + 1) * kRows); ++n) {
            const MutantRow& row = table.rows[n];
            Listed& out = listed[n];
            if (row.is_blank) continue;
            if (!table.has_mutants)
                out = predictor.predict_sequence(row.sequence);
            else if (parse_mutant(row.mutant, substitutions))
                out = predictor.predict(substitutions);
            else if (is_sequence(row.mutant, predictor.target))
                out = predictor.predict_sequence(row.mutant);
            else
                out = without_prediction(Problem::not_a_mutant);
        }
    });
    return listed;
}

std::vector<Correlation> correlations(const MutantTable& table, const std::vector<Listed>& listed) {
    const auto predictions = [&](double Listed::*prediction) {
        std::vector<double> values;
        values.reserve(listed.size());
        for (const Listed& one : listed) values.push_back(one.is_target ? kNone : one.*prediction);
        return values;
    };
    const std::vector<double> epistatic = predictions(&Listed::epistatic),
                              independent = predictions(&Listed::independent),
                              conserved = predictions(&Listed::conserved),
                              weighted = predictions(&Listed::weighted);
    std::vector<Correlation> found;
    for (std::size_t n = 0; n < table.numbers.size(); ++n) {
        Correlation one{.name = table.number_names[n]};
        Index none = 0;
        one.conserved = rank_correlation(conserved, table.numbers[n], none);
        one.weighted = rank_correlation(weighted, table.numbers[n], none);
        one.epistatic = rank_correlation(epistatic, table.numbers[n], one.count);
        one.independent = rank_correlation(independent, table.numbers[n], one.count);
        found.push_back(one);
    }
    return found;
}

}  // namespace pleat::mutants

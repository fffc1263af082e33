// Target: aligning a sequence to the columns, and comparing numbers.
#include "pleat/workflows/mutants/target.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "pleat/bio/alignment/pairwise.h"
#include "pleat/bio/structure/known_structure.h"
#include "pleat/core/error.h"
#include "pleat/core/files/text.h"
#include "pleat/workflows/mutants/independent.h"

namespace pleat::mutants {

namespace {

constexpr double kMinIdentity = 0.5;  // random sequences of similar length reach 0.3

std::vector<std::uint8_t> codes_of(const std::string& letters, const Alphabet& alphabet) {
    std::vector<std::uint8_t> codes;
    for (const char letter : letters)
        codes.push_back(std::min(alphabet.code(letter), alphabet.gap()));
    return codes;
}

/// For each residue of the sequence its column, by the alignment to the reference row.
std::vector<Index> columns_by_row(const couplings::ModelDescription& about,
                                  const NamedSequence& sequence) {
    const Alphabet& alphabet = *about.alphabet;
    const std::vector<std::uint8_t> row = codes_of(about.sequence, alphabet);
    const ChainLetters chain{codes_of(sequence.letters, alphabet),
                             std::vector<std::uint8_t>(sequence.letters.size(), 0)};
    const std::vector<Index> partners = pair_partners(row, chain, PairScoring::of(alphabet));
    std::vector<Index> columns(sequence.letters.size(), Target::kNone);
    Index known = 0, identical = 0;
    for (std::size_t i = 0; i < about.numbers.size(); ++i) {
        if (about.numbers[i] == 0) continue;
        const auto residue = static_cast<std::size_t>(about.numbers[i] - 1);
        ++known;
        if (partners[residue] < 0) continue;
        const auto at = static_cast<std::size_t>(partners[residue]);
        columns[at] = static_cast<Index>(i);
        identical += row[residue] == chain.letters[at];
    }
    if (static_cast<double>(identical) < kMinIdentity * static_cast<double>(known))
        throw InputError(sequence.file, 0,
                         fmt::format("expected the sequence of row '{}', found one with {} of its "
                                     "{} residues",
                                     printable(about.reference_name), identical, known));
    return columns;
}

std::vector<Index> columns_by_profile(const couplings::ModelDescription& about,
                                      const NamedSequence& sequence) {
    return profile_columns(family_profile(about), codes_of(sequence.letters, *about.alphabet));
}

}  // namespace

NamedSequence only_sequence(const SequenceFile& file) {
    if (file.rows.size() != 1)
        throw InputError(
            file.source, file.lines[1],
            fmt::format("expected one sequence as the target, found {}", file.rows.size()));
    NamedSequence found{file.source, file.names.front(), {}};
    for (const char c : file.rows.front())
        if (std::isalpha(static_cast<unsigned char>(c)) != 0)
            found.letters += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return found;
}

Target make_target(const couplings::ModelDescription& about,
                   const std::optional<NamedSequence>& sequence, Index first_number) {
    const auto width = about.reference.size();
    Target target{.alphabet = about.alphabet,
                  .name = sequence ? sequence->name : about.reference_name,
                  .sequence = sequence ? sequence->letters : about.sequence,
                  .first_number = first_number,
                  .columns = {},
                  .residues = std::vector<Index>(width, Target::kNone),
                  .codes = std::vector<std::uint8_t>(width, about.alphabet->gap())};
    if (sequence) {
        target.columns = about.sequence.empty() ? columns_by_profile(about, *sequence)
                                                : columns_by_row(about, *sequence);
    } else {
        if (about.sequence.empty())
            throw InputError(
                "expected a model with the sequence of its target, found one without (plmc writes "
                "it with -f); give --target");
        target.columns.assign(about.sequence.size(), Target::kNone);
        for (std::size_t i = 0; i < width; ++i)
            if (about.numbers[i] > 0) target.columns[about.numbers[i] - 1] = static_cast<Index>(i);
    }
    Index mapped = 0;
    for (std::size_t residue = 0; residue < target.columns.size(); ++residue) {
        if (target.columns[residue] == Target::kNone) continue;
        const auto column = static_cast<std::size_t>(target.columns[residue]);
        if (!target.is_known(static_cast<Index>(residue))) continue;
        target.residues[column] = static_cast<Index>(residue);
        target.codes[column] = about.alphabet->code(target.sequence[residue]);
        ++mapped;
    }
    if (mapped == 0)
        throw InputError(fmt::format("expected residues of '{}' in the model's columns, found none",
                                     printable(target.name)));
    return target;
}

std::vector<Index> first_numbers(const couplings::ModelDescription& about,
                                 const std::optional<NamedSequence>& sequence) {
    if (!sequence && about.number_is_recorded) return {about.first_number};
    const std::optional<Index> start =
        start_in_name(sequence ? sequence->name : about.reference_name);
    if (!start || *start == 1) return {1};
    return {*start, 1};
}

Agreement agreement(const Target& target, const ListedLetters& listed) {
    Agreement found;
    for (const auto& [one, times] : listed) {
        const Index residue = target.residue(one.number);
        if (residue == Target::kNone) {
            found.outside += times;
            continue;
        }
        if (!target.is_known(residue)) continue;
        const char letter = target.sequence[residue];
        found.compared += times;
        found.differing +=
            target.alphabet->code(letter) == target.alphabet->code(one.letter) ? 0 : times;
    }
    return found;
}

Shift best_shift(const Target& target, const ListedLetters& listed) {
    std::array<std::vector<Index>, 256> residues;  // [code]
    for (Index at = 0; at < static_cast<Index>(target.sequence.size()); ++at)
        if (target.is_known(at))
            residues[target.alphabet->code(target.sequence[at])].push_back(target.number(at));
    std::unordered_map<Index, Index> agreeing;
    for (const auto& [one, times] : listed)
        for (const Index number : residues[target.alphabet->code(one.letter)])
            agreeing[number - one.number] += times;
    Shift best;
    for (const auto& [shift, count] : agreeing) {
        const bool is_nearer = std::abs(shift) < std::abs(best.shift) ||
                               (std::abs(shift) == std::abs(best.shift) && shift > best.shift);
        if (count > best.agreeing || (count == best.agreeing && is_nearer)) best = {shift, count};
    }
    return best;
}

}  // namespace pleat::mutants

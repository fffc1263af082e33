// Known structure: choosing a row and a chain, aligning them, distances, and what people call
// residues and columns.
#include "pleat/bio/structure/known_structure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "pleat/bio/alignment/pairwise.h"
#include "pleat/core/error.h"
#include "pleat/core/files/text.h"

namespace pleat {

namespace {

bool is_hydrogen(const Atom& atom) { return atom.element == "H" || atom.element == "D"; }

std::vector<Atom> measured_atoms(const Residue& residue, ContactAtoms atoms) {
    std::vector<Atom> picked;
    if (atoms == ContactAtoms::heavy) {
        std::copy_if(residue.atoms.begin(), residue.atoms.end(), std::back_inserter(picked),
                     [](const Atom& atom) { return !is_hydrogen(atom); });
        return picked;
    }
    const Atom* atom = nullptr;
    if (atoms == ContactAtoms::beta) {
        atom = residue.letter == 'G' ? nullptr : residue.find("CB");
        if (atom == nullptr) atom = residue.find("CA");
    } else {
        atom = residue.find("C1'");
        if (atom == nullptr) atom = residue.find("C1*");  // the name before 2007
    }
    if (atom != nullptr) picked.push_back(*atom);
    return picked;
}

double min_distance(const std::vector<Atom>& a, const std::vector<Atom>& b) {
    double squared = std::numeric_limits<double>::infinity();
    for (const Atom& p : a) {
        for (const Atom& q : b) {
            const double x = p.x - q.x;
            const double y = p.y - q.y;
            const double z = p.z - q.z;
            squared = std::min(squared, x * x + y * y + z * z);
        }
    }
    return std::sqrt(squared);
}

void check_kind(const Chain& chain, ContactAtoms atoms) {
    const bool protein = chain.kind == Chain::Kind::protein;
    if (atoms == ContactAtoms::beta && !protein) {
        throw UsageError(
            "expected contact atoms 'heavy' or 'sugar' for a nucleic acid, found 'cb'");
    }
    if (atoms == ContactAtoms::sugar && protein)
        throw UsageError("expected contact atoms 'cb' or 'heavy' for a protein, found 'sugar'");
}

}  // namespace

ContactDefinition ContactDefinition::standard(Chain::Kind kind) {
    return with_default_cutoff(
        kind == Chain::Kind::protein ? ContactAtoms::beta : ContactAtoms::heavy, kind);
}

ContactDefinition ContactDefinition::with_default_cutoff(ContactAtoms atoms, Chain::Kind kind) {
    switch (atoms) {
        case ContactAtoms::beta: return {atoms, 8.0};
        case ContactAtoms::sugar: return {atoms, 12.0};
        case ContactAtoms::heavy: break;
    }
    return {atoms, kind == Chain::Kind::protein ? 5.0 : 8.0};
}

std::span<const std::string_view> names_of(ContactAtoms) {
    static constexpr std::string_view kNames[] = {"cb", "heavy", "sugar"};
    return kNames;
}

ContactAtoms parse_contact_atoms(std::string_view name) {
    for (const ContactAtoms atoms : {ContactAtoms::beta, ContactAtoms::heavy, ContactAtoms::sugar})
        if (name_of(atoms) == name) return atoms;
    throw UsageError(
        fmt::format("expected contact atoms 'cb', 'heavy' or 'sugar', found '{}'", name));
}

Array<double, 2> column_distances(const Chain& chain, const std::vector<Index>& residues,
                                  ContactAtoms atoms) {
    check_kind(chain, atoms);
    const auto columns = std::ssize(residues);
    std::vector<std::vector<Atom>> picked(residues.size());
    for (std::size_t column = 0; column < residues.size(); ++column) {
        if (residues[column] < 0) continue;
        picked[column] = measured_atoms(chain.residues.at(residues[column]), atoms);
    }
    Array<double, 2> distances(columns, columns);
    distances.fill(std::numeric_limits<double>::quiet_NaN());
    for (Index i = 0; i < columns; ++i) {
        const std::vector<Atom>& a = picked[i];
        if (a.empty()) continue;
        distances(i, i) = 0.0;
        for (Index j = i + 1; j < columns; ++j) {
            const std::vector<Atom>& b = picked[j];
            if (b.empty()) continue;
            distances(i, j) = distances(j, i) = min_distance(a, b);
        }
    }
    return distances;
}

namespace {

constexpr Index kCellBudget = 20'000'000;  // cells of exact alignments while looking for the row
constexpr Index kMinCandidates = 64;
constexpr double kMinCoverage = 0.3;
constexpr double kDoubtfulIdentity = 0.5;  // random sequences of similar length reach 0.3

bool fits(const Alphabet& alphabet, const Chain& chain) {
    return (alphabet.kind() == Alphabet::Kind::protein) == (chain.kind == Chain::Kind::protein);
}

/// All residues of a row, including insertions if the reader kept them.
std::vector<std::uint8_t> ungapped(const Alignment& alignment, Index row) {
    std::vector<std::uint8_t> letters;
    const std::uint8_t gap = alignment.alphabet->gap();
    if (alignment.has_full_row(row)) {
        for (const char c : alignment.full_rows[row])
            if (c != '-') letters.push_back(std::min(alignment.alphabet->code(c), gap));
        return letters;
    }
    for (std::uint8_t code : alignment.letters[row]) {
        if (code != gap) letters.push_back(code);
    }
    return letters;
}

ChainLetters letters_of(const Chain& chain, const Alphabet& alphabet) {
    ChainLetters result;
    for (std::size_t i = 0; i < chain.residues.size(); ++i) {
        const std::uint8_t code = alphabet.code(chain.residues[i].letter);
        result.letters.push_back(std::min(code, alphabet.gap()));
        result.broken.push_back(chain.broken_after(i) ? 1 : 0);
    }
    return result;
}

/// Calls `visit` with the index of each word of `length` known letters.
template <class Visit>
void for_each_word(const std::vector<std::uint8_t>& letters, const Alphabet& alphabet, int length,
                   Visit visit) {
    const Index base = alphabet.gap();
    Index count = 1;
    for (int k = 0; k < length; ++k) count *= base;
    Index word = 0;
    int known = 0;
    for (std::uint8_t code : letters) {
        known = code < base ? known + 1 : 0;
        word = code < base ? (word * base + code) % count : 0;
        if (known >= length) visit(static_cast<std::size_t>(word));
    }
}

/// The rows to align exactly to the chain: those that share the most words with it, most first.
std::vector<Index> candidate_rows(const Alignment& alignment, const ChainLetters& chain) {
    const Alphabet& alphabet = *alignment.alphabet;
    const Index cells = std::max<Index>(1, alignment.column_count() * std::ssize(chain.letters));
    const Index max_rows = std::max(kMinCandidates, kCellBudget / cells);
    std::vector<Index> rows(alignment.sequence_count());
    std::iota(rows.begin(), rows.end(), Index{0});
    if (alignment.sequence_count() <= max_rows) return rows;

    const int length = alphabet.kind() == Alphabet::Kind::protein ? 3 : 5;
    std::vector<std::uint8_t> in_chain(std::pow(alphabet.gap(), length), 0);
    for_each_word(chain.letters, alphabet, length, [&](std::size_t word) { in_chain[word] = 1; });
    std::vector<Index> shared(rows.size(), 0);
    for (Index row : rows) {
        for_each_word(ungapped(alignment, row), alphabet, length,
                      [&](std::size_t word) { shared[row] += in_chain[word]; });
    }
    std::partial_sort(rows.begin(), rows.begin() + max_rows, rows.end(), [&](Index a, Index b) {
        const Index shared_a = shared[a];
        const Index shared_b = shared[b];
        return shared_a != shared_b ? shared_a > shared_b : a < b;
    });
    rows.resize(max_rows);
    return rows;
}

/// Cuts a name at its first blank, or at the slash of a range.
std::string_view first_word(std::string_view name) {
    return name.substr(0, name.find_first_of(" \t"));
}
std::string_view without_range(std::string_view name) { return name.substr(0, name.rfind('/')); }

/// The row with exactly this name, even if other rows with this name have the same letters.
std::optional<Index> row_of_whole_name(const Alignment& alignment, const std::string& name) {
    std::optional<Index> found;
    for (Index row = 0; row < alignment.sequence_count(); ++row) {
        if (alignment.names[row] != name) continue;
        if (!found) {
            found = row;
            continue;
        }
        const auto first = alignment.letters[*found], other = alignment.letters[row];
        if (std::equal(first.begin(), first.end(), other.begin())) continue;
        throw UsageError(
            fmt::format("expected the name of one row of {}, found '{}' on the rows {} and {}, "
                        "which differ: name one of them otherwise",
                        alignment.source.string(), name, *found + 1, row + 1));
    }
    return found;
}

/// Indices of the chains to try.
std::vector<std::size_t> candidate_chains(const Alignment& alignment, const Structure& structure,
                                          const std::string& name) {
    const Alphabet& alphabet = *alignment.alphabet;
    const char* wanted = alphabet.kind() == Alphabet::Kind::protein ? "protein" : "nucleic acid";
    std::vector<std::size_t> chains;
    if (!name.empty()) {
        const Chain& chain = structure.chain(name);
        if (!fits(alphabet, chain)) {
            throw InputError(structure.source.string(), 0,
                             fmt::format("expected a {} for this alignment, found chain '{}' to be "
                                         "of another kind",
                                         wanted, name));
        }
        chains.push_back(static_cast<std::size_t>(&chain - structure.chains.data()));
        return chains;
    }
    std::vector<std::string> sequences;
    for (std::size_t i = 0; i < structure.chains.size(); ++i) {
        if (!fits(alphabet, structure.chains[i])) continue;
        std::string sequence = structure.chains[i].sequence();
        if (std::ranges::find(sequences, sequence) != sequences.end()) continue;
        sequences.push_back(std::move(sequence));
        chains.push_back(i);
    }
    if (chains.empty()) {
        throw InputError(structure.source.string(), 0,
                         fmt::format("expected a {} chain for this alignment, found none", wanted));
    }
    return chains;
}

struct Best {
    int score = -1;
    std::size_t chain = 0;
    Index row = 0;
    ChainLetters letters;
};

Best best_pair(const Alignment& alignment, const Structure& structure,
               const ResidueMapOptions& options) {
    const Alphabet& alphabet = *alignment.alphabet;
    const PairScoring& scoring = PairScoring::of(alphabet);
    const std::vector<std::size_t> chains = candidate_chains(alignment, structure, options.chain);
    std::vector<Index> named;
    if (!options.row.empty()) named.push_back(find_row(alignment, options.row));
    Best best;
    for (std::size_t chain : chains) {
        const ChainLetters letters = letters_of(structure.chains[chain], alphabet);
        for (Index row : named.empty() ? candidate_rows(alignment, letters) : named) {
            const int score = pair_score(ungapped(alignment, row), letters, scoring);
            const bool better = score > best.score ||
                                (score == best.score && chain == best.chain && row < best.row);
            if (better) best = {score, chain, row, letters};
        }
    }
    return best;
}

void judge(const ResidueMap& map, Index row_letters, Index chain_letters,
           const Alignment& alignment, const Structure& structure, double min_identity) {
    const double shorter = static_cast<double>(std::min(row_letters, chain_letters));
    const bool covered =
        map.mapped > 0 && static_cast<double>(map.mapped) >= kMinCoverage * shorter;
    if (covered && map.identity >= min_identity) return;
    throw InputError(
        structure.source.string(), 0,
        fmt::format("expected a structure of {}, found identity {:.2f} over {} of {} "
                    "residues between chain '{}' and row '{}', needed {:.2f} over {:.0f}; name "
                    "another file, chain (FILE:chain) or row",
                    alignment.source.empty() ? "the sequence"
                                             : "the family in " + alignment.source.string(),
                    map.identity, map.mapped, std::min(row_letters, chain_letters), map.chain_name,
                    map.row_name, min_identity, std::ceil(kMinCoverage * shorter)));
}

}  // namespace

Index find_row(const Alignment& alignment, const std::string& name) {
    if (const std::optional<Index> exact = row_of_whole_name(alignment, name)) return *exact;
    std::optional<Index> found;
    for (std::size_t row = 0; row < alignment.names.size(); ++row) {
        const std::string_view word = first_word(alignment.names[row]);
        if (word != name && without_range(word) != name) continue;
        if (found) {
            throw UsageError(fmt::format(
                "expected the name of one row of {}, found that '{}' fits both '{}' and '{}'",
                alignment.source.string(), name, alignment.names[*found], alignment.names[row]));
        }
        found = static_cast<Index>(row);
    }
    if (found) return *found;
    throw UsageError(fmt::format("expected the name of a row of {} (the first is '{}'), found '{}'",
                                 alignment.source.string(),
                                 alignment.names.empty() ? "" : alignment.names.front(), name));
}

std::string doubt_about_family(const std::string& structure, const std::string& chain,
                               double identity, const std::string& sequence) {
    if (identity >= kDoubtfulIdentity) return {};
    return fmt::format(
        "{}: chain {} has an identity of only {:.2f} to {}; is it a structure of this family?",
        structure, chain, identity, sequence);
}

ResidueMap map_residues(const Alignment& alignment, const Structure& structure,
                        const ResidueMapOptions& options) {
    const Alphabet& alphabet = *alignment.alphabet;
    const Best best = best_pair(alignment, structure, options);
    const Chain& chain = structure.chains[best.chain];
    const std::vector<std::uint8_t> letters = ungapped(alignment, best.row);
    const std::vector<Index> partners =
        pair_partners(letters, best.letters, PairScoring::of(alphabet));

    ResidueMap map;
    map.row = best.row;
    map.row_name = alignment.names[best.row];
    map.chain = static_cast<Index>(best.chain);
    map.chain_name = chain.name;
    map.residues.assign(alignment.column_count(), -1);
    Index known = 0;
    Index identical = 0;
    const ReferenceRow row = make_reference_row(alignment, best.row);
    for (std::size_t column = 0; column < map.residues.size(); ++column) {
        if (row.numbers[column] == 0) continue;
        const auto letter = static_cast<std::size_t>(row.numbers[column] - 1);
        const Index partner = partners[letter];
        const std::uint8_t code = letters[letter];
        if (partner < 0) continue;
        map.residues[column] = partner;
        ++map.mapped;
        const std::uint8_t other = best.letters.letters[partner];
        if (code == alphabet.gap()) continue;
        known += other != alphabet.gap();
        identical += other == code;
    }
    map.identity = known > 0 ? static_cast<double>(identical) / static_cast<double>(known) : 0.0;
    const double automatic = alphabet.kind() == Alphabet::Kind::protein ? 0.3 : 0.6;
    judge(map, std::ssize(letters), std::ssize(chain.residues), alignment, structure,
          options.min_identity.value_or(automatic));
    return map;
}

ResidueMap map_sequence(const std::string& name, std::string_view letters, const Alphabet& alphabet,
                        const Structure& structure, const std::string& chain) {
    const auto count = static_cast<Index>(letters.size());
    Alignment alone{.names = {name},
                    .letters = Array<std::uint8_t, 2>(1, count),
                    .alphabet = &alphabet,
                    .source = {},
                    .columns = {},
                    .format = {}};
    for (Index n = 0; n < count; ++n)
        alone.letters(0, n) = std::min(alphabet.code(letters[n]), alphabet.gap());
    return map_residues(alone, structure, {.chain = chain});
}

ReferenceRow make_reference_row(const Alignment& source, Index row) {
    ReferenceRow reference{source.names[row], {}, {}, {}};
    for (const std::uint8_t code : source.letters[row])
        reference.letters += source.alphabet->letter(code);
    for (const char c : source.has_full_row(row) ? source.full_rows[row] : reference.letters) {
        if (c != '-')
            reference.sequence += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
        if (std::islower(static_cast<unsigned char>(c)) != 0) continue;
        reference.numbers.push_back(c == '-' ? 0 : std::ssize(reference.sequence));
    }
    return reference;
}

std::string numbers_text(const ReferenceRow& reference) {
    return reference.shown.empty()
               ? std::string("columns count from 1")
               : fmt::format("residues of {} by number", printable(reference.name));
}

std::string number_heading(const ReferenceRow& reference, char index) {
    return fmt::format("{} {}", reference.shown.empty() ? "column" : "number", index);
}

namespace {

/// START and END of a name NAME/START-END.
std::optional<std::pair<Index, Index>> range_in_name(const std::string& name) {
    const std::size_t slash = name.rfind('/');
    if (slash == std::string::npos) return std::nullopt;
    const char* const end = name.data() + name.size();
    Index first = 0, last = 0;
    const auto [dash, problem] = std::from_chars(name.data() + slash + 1, end, first);
    if (problem != std::errc() || dash == end || *dash != '-') return std::nullopt;
    const auto [rest, second_problem] = std::from_chars(dash + 1, end, last);
    if (second_problem != std::errc() || rest != end || last < first) return std::nullopt;
    return std::pair(first, last);
}

}  // namespace

std::optional<Index> start_in_name(const std::string& name) {
    const auto range = range_in_name(name);
    return range ? std::optional(range->first) : std::nullopt;
}

std::string doubt_about_numbers(const std::string& name, Index residues) {
    const auto range = range_in_name(name);
    if (!range || range->second - range->first + 1 == residues) return {};
    return fmt::format(
        "'{}' has {} residues, but its name counts {}: numbers after residues that are missing "
        "are wrong",
        printable(name), residues, range->second - range->first + 1);
}

void show_residue_numbers(ReferenceRow& reference) {
    const Index before = start_in_name(reference.name).value_or(1) - 1;
    reference.shown.clear();
    for (const Index number : reference.numbers) reference.shown.push_back(number + before);
}

std::vector<Index> shown_columns(const Alignment& kept, const ReferenceRow& reference) {
    std::vector<Index> shown;
    for (const Index column : kept.columns) shown.push_back(reference.shown_number(column) - 1);
    return shown;
}

std::string residue_label(const KnownStructure& known, Index column, std::string_view none) {
    const Index residue = known.residues[column];
    if (residue < 0) return std::string(none);
    const Residue& found = known.chain().residues[residue];
    return found.name + " " + found.id();
}

std::string column_label(const Alignment& kept, const ReferenceRow& reference, Index column) {
    const Index source = kept.columns[column];
    const char letter = reference.letters[source];
    // A '-' beside a number reads as a minus.
    const Index number = reference.shown_number(source);
    return letter == '-' || letter == '.' ? fmt::format("{} (gap)", number)
                                          : fmt::format("{} ({})", number, letter);
}

}  // namespace pleat

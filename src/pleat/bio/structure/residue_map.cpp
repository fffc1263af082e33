// Residue map: choosing a row and a chain, aligning them, and judging whether they belong together.
#include "pleat/bio/structure/residue_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <string_view>

#include "pleat/bio/alignment/pairwise.h"
#include "pleat/bio/structure/known_structure.h"
#include "pleat/core/error.h"

namespace pleat {

namespace {

constexpr Index kCellBudget = 20'000'000;  // cells of exact alignments while looking for the row
constexpr Index kMinCandidates = 64;
constexpr double kMinCoverage = 0.3;
constexpr double kDoubtfulIdentity = 0.5;  // random sequences of similar length reach 0.3

bool fits(const Alphabet& alphabet, const Chain& chain) {
    return (alphabet.kind() == Alphabet::Kind::protein) == (chain.kind == Chain::Kind::protein);
}

/// All residues of a row, insertions included if the reader kept them.
std::vector<std::uint8_t> ungapped(const Alignment& alignment, Index row) {
    std::vector<std::uint8_t> letters;
    const std::uint8_t gap = alignment.alphabet->gap();
    if (alignment.has_full_row(row)) {
        for (const char c : alignment.full_rows[static_cast<std::size_t>(row)])
            if (c != '-') letters.push_back(std::min(alignment.alphabet->code(c), gap));
        return letters;
    }
    for (std::uint8_t code : alignment.letters.view()[row]) {
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

/// The rows worth an exact alignment to the chain, most shared words first.
std::vector<Index> candidate_rows(const Alignment& alignment, const ChainLetters& chain) {
    const Alphabet& alphabet = *alignment.alphabet;
    const Index cells =
        std::max<Index>(1, alignment.column_count() * static_cast<Index>(chain.letters.size()));
    const Index max_rows = std::max(kMinCandidates, kCellBudget / cells);
    std::vector<Index> rows(static_cast<std::size_t>(alignment.sequence_count()));
    std::iota(rows.begin(), rows.end(), Index{0});
    if (alignment.sequence_count() <= max_rows) return rows;

    const int length = alphabet.kind() == Alphabet::Kind::protein ? 3 : 5;
    std::vector<std::uint8_t> in_chain(static_cast<std::size_t>(std::pow(alphabet.gap(), length)),
                                       0);
    for_each_word(chain.letters, alphabet, length, [&](std::size_t word) { in_chain[word] = 1; });
    std::vector<Index> shared(rows.size(), 0);
    for (Index row : rows) {
        for_each_word(ungapped(alignment, row), alphabet, length, [&](std::size_t word) {
            shared[static_cast<std::size_t>(row)] += in_chain[word];
        });
    }
    std::partial_sort(rows.begin(), rows.begin() + max_rows, rows.end(), [&](Index a, Index b) {
        const Index shared_a = shared[static_cast<std::size_t>(a)];
        const Index shared_b = shared[static_cast<std::size_t>(b)];
        return shared_a != shared_b ? shared_a > shared_b : a < b;
    });
    rows.resize(static_cast<std::size_t>(max_rows));
    return rows;
}

/// A name up to its first blank, and up to the slash of a range.
std::string_view first_word(std::string_view name) {
    return name.substr(0, name.find_first_of(" \t"));
}
std::string_view without_range(std::string_view name) { return name.substr(0, name.rfind('/')); }

/// The row that has exactly this name, also where others of the name have the same letters.
std::optional<Index> row_of_whole_name(const Alignment& alignment, const std::string& name) {
    std::optional<Index> found;
    for (Index row = 0; row < alignment.sequence_count(); ++row) {
        if (alignment.names[static_cast<std::size_t>(row)] != name) continue;
        if (!found) {
            found = row;
            continue;
        }
        const auto first = alignment.letters.view()[*found], other = alignment.letters.view()[row];
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
        if (std::find(sequences.begin(), sequences.end(), sequence) != sequences.end()) continue;
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
        fmt::format("expected a structure of the family in {}, found identity {:.2f} over {} of {} "
                    "residues between chain '{}' and row '{}', needed {:.2f} over {:.0f}; name "
                    "another file, chain (FILE:chain) or row",
                    alignment.source.string(), map.identity, map.mapped,
                    std::min(row_letters, chain_letters), map.chain_name, map.row_name,
                    min_identity, std::ceil(kMinCoverage * shorter)));
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
                alignment.source.string(), name, alignment.names[static_cast<std::size_t>(*found)],
                alignment.names[row]));
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
    map.row_name = alignment.names[static_cast<std::size_t>(best.row)];
    map.chain = static_cast<Index>(best.chain);
    map.chain_name = chain.name;
    map.residues.assign(static_cast<std::size_t>(alignment.column_count()), -1);
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
        const std::uint8_t other = best.letters.letters[static_cast<std::size_t>(partner)];
        if (code == alphabet.gap()) continue;
        known += other != alphabet.gap();
        identical += other == code;
    }
    map.identity = known > 0 ? static_cast<double>(identical) / static_cast<double>(known) : 0.0;
    const double automatic = alphabet.kind() == Alphabet::Kind::protein ? 0.3 : 0.6;
    judge(map, static_cast<Index>(letters.size()), static_cast<Index>(chain.residues.size()),
          alignment, structure, options.min_identity.value_or(automatic));
    return map;
}

}  // namespace pleat

// Chain sequences: read from FASTA and matched to chains by the numbers of residues.
#include "pleat/workflows/refine/chain/chain_sequences.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <utility>

#include "pleat/bio/alignment/text_alignment.h"
#include "pleat/core/error.h"
#include "pleat/core/notes.h"

namespace pleat::refine {

namespace {

constexpr std::array<std::pair<char, std::string_view>, 20> kAminoAcids = {
    {{'A', "ALA"}, {'R', "ARG"}, {'N', "ASN"}, {'D', "ASP"}, {'C', "CYS"},
     {'Q', "GLN"}, {'E', "GLU"}, {'G', "GLY"}, {'H', "HIS"}, {'I', "ILE"},
     {'L', "LEU"}, {'K', "LYS"}, {'M', "MET"}, {'F', "PHE"}, {'P', "PRO"},
     {'S', "SER"}, {'T', "THR"}, {'W', "TRP"}, {'Y', "TYR"}, {'V', "VAL"}}};
constexpr char kUnknown = 'X';  // fits any letter

char letter_of(const std::string& residue_name) {
    if (residue_name == "MSE") return 'M';
    for (const auto& [letter, name] : kAminoAcids)
        if (name == residue_name) return letter;
    return kUnknown;
}

struct Sequence {
    std::string name, letters;
};

std::vector<Sequence> read_sequences(const std::filesystem::path& file) {
    constexpr Index kMaxBytes = Index{64} << 20;
    ByteSource source(file, kMaxBytes);
    TextAlignment text(source, kMaxBytes, TextAlignment::kKeepAll);
    read_fasta(source, text);
    std::vector<Sequence> sequences;
    for (const TextRow& row : text.rows) {
        Sequence& one = sequences.emplace_back(Sequence{row.name, row.letters});
        for (char& letter : one.letters) {
            letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
            if (std::isalpha(static_cast<unsigned char>(letter)) == 0)
                throw InputError(file.string(), row.line,
                                 fmt::format("expected a sequence of letters alone, found '{}' in "
                                             "'{}'",
                                             letter, row.name));
        }
    }
    return sequences;
}

/// How well the numbers of a chain count along a sequence whose first letter has this number.
struct Match {
    std::size_t sequence = 0;
    int first_number = 1;
    std::size_t fitting = 0;  ///< residues that have the sequence's letter
    bool is_unique = true;    ///< whether no other first number fits as many
};

class Matcher {
public:
    Matcher(const PeptideChain& chain, const Topology& topology) {
        for (const PeptideResidue& residue : chain.residues) {
            const auto& one = topology.residues[static_cast<std::size_t>(residue.residue)];
            residues_.push_back({letter_of(one.name), one.number, one.insertion == ' ', &one.name,
                                 residue_label(one)});
        }
    }

    /// The best first number; of equals 1.
    Match best(const std::string& letters, std::size_t sequence) const {
        std::optional<Match> best;
        for (std::size_t at = 0; at < letters.size(); ++at) {
            Match one{.sequence = sequence,
                      .first_number = residues_.front().number - static_cast<int>(at)};
            for (const Residue& residue : residues_) one.fitting += fits(residue, letters, one);
            if (!best || one.fitting > best->fitting ||
                (one.fitting == best->fitting && one.first_number == 1)) {
                best = one;
            } else if (one.fitting == best->fitting && best->first_number != 1) {
                best->is_unique = false;
            }
        }
        return *best;
    }

    std::size_t count() const { return residues_.size(); }

    /// "SER A:205, where letter 205 of sequence 'x' is L" of the first residue that does not fit.
    std::string misfit(const Sequence& sequence, const Match& match) const {
        for (const Residue& residue : residues_) {
            if (fits(residue, sequence.letters, match)) continue;
            const std::string found = fmt::format("{} {}", *residue.name, residue.label);
            if (!residue.has_plain_number) return found + ", which has an insertion code";
            const int at = residue.number - match.first_number;
            if (at < 0 || at >= static_cast<int>(sequence.letters.size()))
                return fmt::format("{}, beyond the {} letters of sequence '{}' from number {}",
                                   found, sequence.letters.size(), sequence.name,
                                   match.first_number);
            return fmt::format("{}, where letter {} of sequence '{}' is {}", found, at + 1,
                               sequence.name, sequence.letters[static_cast<std::size_t>(at)]);
        }
        return "none";
    }

private:
    struct Residue {
        char letter;
        int number;
        bool has_plain_number;
        const std::string* name;
        std::string label;
    };

    static bool fits(const Residue& residue, const std::string& letters, const Match& match) {
        const int at = residue.number - match.first_number;
        if (!residue.has_plain_number || at < 0 || at >= static_cast<int>(letters.size()))
            return false;
        const char letter = letters[static_cast<std::size_t>(at)];
        return letter == residue.letter || letter == kUnknown || residue.letter == kUnknown;
    }

    std::vector<Residue> residues_;
};

/// The residue at each letter. Neighbours must be bonded.
SequencedChain place(const Molecules& molecules, const Topology& topology,
                     const std::vector<Vector>& positions, std::size_t number,
                     const Sequence& sequence, const Match& match) {
    SequencedChain placed{.chain = number,
                          .sequence = sequence.name,
                          .letters = sequence.letters,
                          .first_number = match.first_number,
                          .residues = std::vector<Index>(sequence.letters.size(), -1)};
    const std::vector<PeptideResidue>& all = molecules.chains[number].residues;
    const auto fail = [&](const std::string& text) {
        throw InputError(topology.source.string(), 0, text);
    };
    const auto residue = [&](std::size_t n) -> const Topology::Residue& {
        return topology.residues[static_cast<std::size_t>(all[n].residue)];
    };
    for (std::size_t n = 0; n < all.size(); ++n) {
        if (n > 0 && residue(n).number <= residue(n - 1).number)
            fail(fmt::format("expected residues in the order of their numbers, found {} behind {}",
                             residue_label(residue(n)), residue_label(residue(n - 1))));
        placed.residues[static_cast<std::size_t>(residue(n).number - match.first_number)] =
            static_cast<Index>(n);
        if (n > 0 && residue(n).number == residue(n - 1).number + 1 &&
            !is_bonded(all[n - 1], all[n], positions))
            fail(fmt::format("expected a bond or missing residues between {} and {}, found neither",
                             residue_label(residue(n - 1)), residue_label(residue(n))));
    }
    return placed;
}

}  // namespace

std::string_view amino_acid_name(char letter) {
    for (const auto& [known, name] : kAminoAcids)
        if (known == letter) return name;
    return {};
}

Index SequencedChain::missing() const {
    return static_cast<Index>(std::count(residues.begin(), residues.end(), Index{-1}));
}

std::vector<SequencedChain> match_sequences(const Molecules& molecules, const Topology& topology,
                                            const std::vector<Vector>& positions,
                                            const std::filesystem::path& file, Notes& notes) {
    constexpr std::size_t kMinShare = 2;  // 1 / this of a chain's residues almost fit
    const std::string source = topology.source.string();
    const std::vector<Sequence> sequences = read_sequences(file);
    if (molecules.chains.empty())
        throw InputError(source, 0, "expected a protein with CA atoms, found none");
    std::vector<SequencedChain> matched;
    std::string closest;
    for (std::size_t chain = 0; chain < molecules.chains.size(); ++chain) {
        const Matcher matcher(molecules.chains[chain], topology);
        Match best;
        for (std::size_t n = 0; n < sequences.size(); ++n)
            if (const Match one = matcher.best(sequences[n].letters, n);
                n == 0 || one.fitting > best.fitting)
                best = one;
        const Sequence& sequence = sequences[best.sequence];
        if (best.fitting < matcher.count()) {
            const std::string misfit = fmt::format(
                "expected residues of chain '{}' whose numbers count along a sequence of {}, found "
                "{}",
                molecules.chains[chain].name, file.string(), matcher.misfit(sequence, best));
            if (kMinShare * best.fitting >= matcher.count()) throw InputError(source, 0, misfit);
            if (closest.empty()) closest = misfit;
            notes.push_back(
                {NoteKind::residues,
                 fmt::format("chain '{}' is in no sequence of {}: none of its residues are built",
                             molecules.chains[chain].name, file.string())});
            continue;
        }
        if (!best.is_unique)
            throw InputError(source, 0,
                             fmt::format("expected residues of chain '{}' at one place of sequence "
                                         "'{}', found several; number them from 1 along it",
                                         molecules.chains[chain].name, sequence.name));
        matched.push_back(place(molecules, topology, positions, chain, sequence, best));
    }
    if (matched.empty()) throw InputError(source, 0, closest);
    return matched;
}

}  // namespace pleat::refine

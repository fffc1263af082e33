// Peptide chains: finding the chains, reading ranges of residues, and reading and aligning
// sequences.
#include "pleat/workflows/refine/chain/peptide_chains.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>

#include "pleat/bio/alignment/text_alignment.h"
#include "pleat/core/error.h"

namespace pleat::refine {

namespace {

struct ResidueId {
    int number = 0;
    char insertion = ' ';
};

/// Parses and removes "-5", "52" or "52A" at the front of `text`.
std::optional<ResidueId> take_id(std::string_view& text) {
    ResidueId id;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id.number);
    if (error != std::errc()) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (!text.empty() && std::isalpha(static_cast<unsigned char>(text.front())) != 0) {
        id.insertion = text.front();
        text.remove_prefix(1);
    }
    return id;
}

std::optional<ResidueRange> parse_range(std::string_view text, const std::string& chain_before) {
    ResidueRange range;
    range.chain = chain_before;
    if (const std::size_t colon = text.rfind(':'); colon != std::string_view::npos) {
        range.chain = text.substr(0, colon);
        if (range.chain.find_first_of(" :") != std::string::npos) return std::nullopt;
        text.remove_prefix(colon + 1);
    }
    const std::optional<ResidueId> first = take_id(text);
    if (!first) return std::nullopt;
    std::optional<ResidueId> last = first;
    if (!text.empty()) {
        if (text.front() != '-') return std::nullopt;
        text.remove_prefix(1);
        last = take_id(text);
    }
    if (!last || !text.empty()) return std::nullopt;
    range.first = first->number;
    range.first_insertion = first->insertion;
    range.last = last->number;
    range.last_insertion = last->insertion;
    return range;
}

std::string id_text(int number, char insertion) {
    return insertion == ' ' ? std::to_string(number) : fmt::format("{}{}", number, insertion);
}

constexpr double kMaxDisulfide = 2.5;    // angstrom
constexpr double kMaxPeptideBond = 2.5;  // angstrom, as in Chain::broken_after()

bool is_nucleotide(const Topology& topology, const std::vector<Index>& atoms) {
    return std::any_of(atoms.begin(), atoms.end(), [&](Index atom) {
        const std::string& name = topology.atoms[atom].name;
        return name == "C1'" || name == "C1*";
    });
}

PeptideResidue peptide_residue(const Topology& topology, Index residue,
                               const std::vector<Index>& atoms) {
    PeptideResidue found{.residue = residue};
    for (const Index index : atoms) {
        const Topology::Atom& atom = topology.atoms[index];
        if (atom.name == "N" && found.n < 0)
            found.n = index;
        else if (atom.name == "CA" && atom.element == "C" && found.ca < 0)
            found.ca = index;
        else if (atom.name == "C" && found.c < 0)
            found.c = index;
        else
            found.others.push_back(index);
    }
    return found;
}

PeptideChain& chain_named(std::vector<PeptideChain>& chains, const std::string& name) {
    for (PeptideChain& chain : chains)
        if (chain.name == name) return chain;
    return chains.emplace_back(PeptideChain{name, {}});
}

std::string label_of(const Topology& topology, const PeptideResidue& residue) {
    return residue_label(topology.residues[residue.residue]);
}

std::string chain_names(const Molecules& molecules) {
    std::string names;
    for (const PeptideChain& chain : molecules.chains)
        names += fmt::format("{}'{}'", names.empty() ? "" : ", ", chain.name);
    return names;
}

/// Index of the residue with this number and insertion code.
std::size_t find_residue(const PeptideChain& chain, const Topology& topology, int number,
                         char insertion, const std::string& range) {
    for (std::size_t n = 0; n < chain.residues.size(); ++n) {
        const auto& one = topology.residues[chain.residues[n].residue];
        if (one.number == number && one.insertion == insertion) return n;
    }
    throw InputError(topology.source.string(), 0,
                     fmt::format("expected residue {}{} of {}, found chain '{}' from {} to {} "
                                 "without it",
                                 number, insertion == ' ' ? "" : std::string(1, insertion), range,
                                 chain.name, label_of(topology, chain.residues.front()),
                                 label_of(topology, chain.residues.back())));
}

/// [chain][residue]: whether a range contains it.
std::vector<std::vector<std::uint8_t>> marks_of(const Molecules& molecules,
                                                const Topology& topology,
                                                const std::vector<ResidueRange>& ranges) {
    std::vector<std::vector<std::uint8_t>> marks(molecules.chains.size());
    for (const ResidueRange& range : ranges) {
        const ResiduePosition at = locate_range(molecules, topology, range);
        marks[at.chain].resize(molecules.chains[at.chain].residues.size());
        std::fill(marks[at.chain].begin() + static_cast<std::ptrdiff_t>(at.first),
                  marks[at.chain].begin() + static_cast<std::ptrdiff_t>(at.last) + 1,
                  std::uint8_t{1});
    }
    return marks;
}

/// Adds the unmarked residues of [first, last) of a chain as ranges.
void add_unmarked(const PeptideChain& chain, const Topology& topology,
                  const std::vector<std::uint8_t>& marks, std::size_t first, std::size_t last,
                  std::vector<ResidueRange>& ranges) {
    for (std::size_t n = first; n < last; ++n) {
        if (marks[n] != 0) continue;
        const auto& residue = topology.residues[chain.residues[n].residue];
        if (n == first || marks[n - 1] != 0) ranges.push_back(range_of(residue, residue));
        ranges.back().last = residue.number;
        ranges.back().last_insertion = residue.insertion;
    }
}

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
        if (one.letters.size() > 1 && one.letters.back() == '*')
            one.letters.pop_back();  // a stop codon
        for (char& letter : one.letters) {
            letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
            if (std::isalpha(static_cast<unsigned char>(letter)) == 0)
                throw InputError(file.string(), row.line,
                                 fmt::format("expected a sequence of letters alone, found '{}' at "
                                             "position {} of '{}'",
                                             letter, &letter - one.letters.data() + 1, row.name));
        }
    }
    return sequences;
}

/// How well a chain's residue numbers fit a sequence whose first letter has this number.
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
            const auto& one = topology.residues[residue.residue];
            residues_.push_back({letter_of(one.name), one.number, one.insertion == ' ', &one.name,
                                 residue_label(one)});
        }
    }

    /// The best first number; of equals 1.
    Match best(const std::string& letters, std::size_t sequence) const {
        std::optional<Match> best;
        const int front = residues_.front().number, back = residues_.back().number;
        for (int first = std::max(front, back), last = front - static_cast<int>(letters.size());
             first > last; --first) {
            Match one{.sequence = sequence, .first_number = first};
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

    /// Whether `part` has several residues in a row that `best` lacks.
    bool has_further(const Sequence& part, const Match& at, const Sequence& best,
                     const Match& best_at) const {
        constexpr int kRun = 8;  // too many for chance
        int run = 0;
        for (const Residue& residue : residues_) {
            const bool is_further =
                fits(residue, part.letters, at) && !fits(residue, best.letters, best_at);
            run = is_further ? run + 1 : 0;
            if (run == kRun) return true;
        }
        return false;
    }

    std::size_t count() const { return residues_.size(); }

    /// The first residue that does not fit: "SER A:205, where letter 205 of sequence 'x' is L".
    std::string misfit(const Sequence& sequence, const Match& match) const {
        for (const Residue& residue : residues_) {
            if (fits(residue, sequence.letters, match)) continue;
            const std::string found = fmt::format("{} {}", *residue.name, residue.chain_and_number);
            if (!residue.has_plain_number) return found + ", which has an insertion code";
            const int at = residue.number - match.first_number;
            if (at < 0 || at >= static_cast<int>(sequence.letters.size()))
                return fmt::format(
                    "{}, beyond the {} letters of sequence '{}' from number {}; give "
                    "the whole sequence of the chain",
                    found, sequence.letters.size(), sequence.name, match.first_number);
            return fmt::format("{}, where letter {} of sequence '{}' is {}", found, at + 1,
                               sequence.name, sequence.letters[at]);
        }
        return "none";
    }

private:
    struct Residue {
        char letter;
        int number;
        bool has_plain_number;
        const std::string* name;
        std::string chain_and_number;  ///< "A:205"
    };

    static bool fits(const Residue& residue, const std::string& letters, const Match& match) {
        const int at = residue.number - match.first_number;
        if (!residue.has_plain_number || at < 0 || at >= static_cast<int>(letters.size()))
            return false;
        const char letter = letters[at];
        return letter == residue.letter || letter == kUnknown || residue.letter == kUnknown;
    }

    std::vector<Residue> residues_;
};

/// The residue at each letter. Neighbours must be bonded.
SequencedChain sequenced_chain(const Molecules& molecules, const Topology& topology,
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
        return topology.residues[all[n].residue];
    };
    for (std::size_t n = 0; n < all.size(); ++n) {
        if (n > 0 && residue(n).number <= residue(n - 1).number)
            fail(fmt::format("expected residues in the order of their numbers, found {} behind {}",
                             residue_label(residue(n)), residue_label(residue(n - 1))));
        placed.residues[residue(n).number - match.first_number] = static_cast<Index>(n);
        if (n > 0 && residue(n).number == residue(n - 1).number + 1 &&
            !is_bonded(all[n - 1], all[n], positions))
            fail(fmt::format("expected a bond or missing residues between {} and {}, found neither",
                             residue_label(residue(n - 1)), residue_label(residue(n))));
    }
    return placed;
}

/// The chain of the one sequence of a file, without residues.
SequencedChain whole_chain(const std::vector<Sequence>& sequences,
                           const std::filesystem::path& file) {
    constexpr std::size_t kMinResidues = 5;
    const Sequence& sequence = sequences.front();
    if (sequences.size() > 1)
        throw InputError(file.string(), 0,
                         fmt::format("expected one sequence without a structure, found {}: '{}', "
                                     "'{}'{}; write each protein to a file of its own",
                                     sequences.size(), sequence.name, sequences[1].name,
                                     sequences.size() > 2 ? ", ..." : ""));
    if (sequence.letters.size() < kMinResidues)
        throw InputError(file.string(), 0,
                         fmt::format("expected at least {} residues without a structure, found {} "
                                     "in sequence '{}'",
                                     kMinResidues, sequence.letters.size(), sequence.name));
    return {.sequence = sequence.name,
            .letters = sequence.letters,
            .residues = std::vector<Index>(sequence.letters.size(), -1)};
}

}  // namespace

std::string ResidueRange::text() const {
    const std::string from = id_text(first, first_insertion), to = id_text(last, last_insertion);
    return fmt::format("{}{}{}{}", chain, chain.empty() ? "" : ":", from,
                       from == to ? "" : "-" + to);
}

std::vector<ResidueRange> parse_ranges(std::string_view text, std::string_view option) {
    std::vector<ResidueRange> ranges;
    std::string chain;
    while (true) {
        const std::size_t comma = text.find(',');
        const std::string_view item = text.substr(0, comma);
        const std::optional<ResidueRange> range = parse_range(item, chain);
        if (!range)
            throw UsageError(fmt::format(
                "{}: expected residues such as A:289-301,A:310-320, found '{}'", option, item));
        chain = range->chain;
        ranges.push_back(*range);
        if (comma == std::string_view::npos) return ranges;
        text.remove_prefix(comma + 1);
    }
}

ResidueRange range_of(const Topology::Residue& first, const Topology::Residue& last) {
    return {first.chain, first.number, last.number, first.insertion, last.insertion};
}

std::string text_of(const std::vector<ResidueRange>& ranges) {
    std::string text;
    for (const ResidueRange& range : ranges) text += (text.empty() ? "" : ",") + range.text();
    return text;
}

std::string residue_label(const Topology::Residue& residue) {
    return range_of(residue, residue).text();
}

bool is_bonded(const PeptideResidue& before, const PeptideResidue& behind,
               const std::vector<Vector>& positions) {
    return before.c >= 0 && behind.n >= 0 &&
           distance(positions[before.c], positions[behind.n]) <= kMaxPeptideBond;
}

std::vector<std::vector<Index>> atoms_by_residue(const Topology& topology) {
    std::vector<std::vector<Index>> atoms(topology.residues.size());
    for (Index atom = 0; atom < topology.atom_count(); ++atom)
        atoms[topology.atoms[atom].residue].push_back(atom);
    return atoms;
}

std::vector<Vector> positions_of(View<const float, 2> xyz) {
    std::vector<Vector> positions;
    for (Index atom = 0; atom < xyz.extent(1); ++atom)
        positions.push_back({xyz(0, atom), xyz(1, atom), xyz(2, atom)});
    return positions;
}

std::vector<std::pair<Index, Index>> disulfide_bonds(const Topology& topology,
                                                     const std::vector<Vector>& positions) {
    std::vector<std::pair<Index, Index>> bonds;
    for (std::size_t a = 0; a < positions.size(); ++a)
        for (std::size_t b = a + 1; topology.atoms[a].name == "SG" && b < positions.size(); ++b)
            if (topology.atoms[b].name == "SG" &&
                distance(positions[a], positions[b]) <= kMaxDisulfide)
                bonds.emplace_back(static_cast<Index>(a), static_cast<Index>(b));
    return bonds;
}

Molecules find_molecules(const Topology& topology) {
    const std::vector<std::vector<Index>> atoms = atoms_by_residue(topology);
    Molecules molecules;
    std::string last_nucleic;
    for (std::size_t n = 0; n < atoms.size(); ++n) {
        if (atoms[n].empty()) continue;
        const Topology::Residue& residue = topology.residues[n];
        PeptideResidue peptide = peptide_residue(topology, static_cast<Index>(n), atoms[n]);
        if (peptide.ca >= 0) {
            chain_named(molecules.chains, residue.chain).residues.push_back(std::move(peptide));
            continue;
        }
        const bool continues = is_nucleotide(topology, atoms[n]) && !molecules.others.empty() &&
                               last_nucleic == residue.chain;
        if (continues) {
            auto& all = molecules.others.back().atoms;
            all.insert(all.end(), atoms[n].begin(), atoms[n].end());
            continue;
        }
        const bool nucleic = is_nucleotide(topology, atoms[n]);
        last_nucleic = nucleic ? residue.chain : std::string("\n");
        molecules.others.push_back(
            {nucleic ? fmt::format("chain '{}'", residue.chain)
                     : fmt::format("{} {}", residue.name, residue_label(residue)),
             atoms[n]});
    }
    return molecules;
}

ResiduePosition locate_range(const Molecules& molecules, const Topology& topology,
                             const ResidueRange& range) {
    const std::string source = topology.source.string();
    if (molecules.chains.empty())
        throw InputError(source, 0, "expected a protein with CA atoms, found none");
    ResiduePosition at;
    while (at.chain < molecules.chains.size() && molecules.chains[at.chain].name != range.chain)
        ++at.chain;
    if (at.chain == molecules.chains.size()) {
        if (!range.chain.empty() || molecules.chains.size() > 1)
            throw InputError(source, 0,
                             fmt::format("expected one of the protein chains {}, found '{}' in {}",
                                         chain_names(molecules), range.chain, range.text()));
        at.chain = 0;
    }
    const PeptideChain& chain = molecules.chains[at.chain];
    at.first = find_residue(chain, topology, range.first, range.first_insertion, range.text());
    at.last = find_residue(chain, topology, range.last, range.last_insertion, range.text());
    if (at.last < at.first)
        throw InputError(source, 0,
                         fmt::format("expected a range whose first residue comes first, found {}",
                                     range.text()));
    return at;
}

void mark_linkers(Molecules& molecules, const Topology& topology,
                  const std::vector<Vector>& positions, const std::vector<ResidueRange>& linkers) {
    const std::string source = topology.source.string();
    for (std::size_t number = 0; number < linkers.size(); ++number) {
        const std::string text = linkers[number].text();
        const ResiduePosition at = locate_range(molecules, topology, linkers[number]);
        std::vector<PeptideResidue>& residues = molecules.chains[at.chain].residues;
        for (std::size_t n = at.first; n <= at.last; ++n) {
            if (residues[n].linker >= 0)
                throw InputError(
                    source, 0,
                    fmt::format("expected linkers that do not overlap, found {} in {} and {}",
                                label_of(topology, residues[n]), linkers[residues[n].linker].text(),
                                text));
            if (residues[n].n < 0 || residues[n].c < 0)
                throw InputError(source, 0,
                                 fmt::format("expected N, CA and C of each residue of linker {}, "
                                             "found {} without one",
                                             text, label_of(topology, residues[n])));
            residues[n].linker = static_cast<int>(number);
        }
        for (std::size_t n = at.first == 0 ? 0 : at.first - 1;
             n <= at.last && n + 1 < residues.size(); ++n)
            if (!is_bonded(residues[n], residues[n + 1], positions))
                throw InputError(source, 0,
                                 fmt::format("expected linker {} without gaps, found no bond "
                                             "between {} and {}",
                                             text, label_of(topology, residues[n]),
                                             label_of(topology, residues[n + 1])));
    }
}

std::vector<ResidueRange> add_ranges(const Topology& topology, std::vector<ResidueRange> ranges,
                                     const std::vector<ResidueRange>& further) {
    const Molecules molecules = find_molecules(topology);
    std::vector<std::vector<std::uint8_t>> marks = marks_of(molecules, topology, ranges);
    for (const ResidueRange& range : further) {
        const ResiduePosition at = locate_range(molecules, topology, range);
        const PeptideChain& chain = molecules.chains[at.chain];
        marks[at.chain].resize(chain.residues.size());
        add_unmarked(chain, topology, marks[at.chain], at.first, at.last + 1, ranges);
    }
    return ranges;
}

std::vector<ResidueRange> linkers_between(const Topology& topology,
                                          const std::vector<ResidueRange>& rigid) {
    const Molecules molecules = find_molecules(topology);
    const std::vector<std::vector<std::uint8_t>> is_rigid = marks_of(molecules, topology, rigid);
    std::vector<ResidueRange> linkers;
    for (std::size_t chain = 0; chain < is_rigid.size(); ++chain)
        add_unmarked(molecules.chains[chain], topology, is_rigid[chain], 0, is_rigid[chain].size(),
                     linkers);
    return linkers;
}

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
    if (topology.atoms.empty()) return {whole_chain(sequences, file)};
    if (molecules.chains.empty())
        throw InputError(source, 0, "expected a protein with CA atoms, found none");
    std::vector<SequencedChain> matched;
    std::string closest;
    for (std::size_t chain = 0; chain < molecules.chains.size(); ++chain) {
        const Matcher matcher(molecules.chains[chain], topology);
        std::vector<Match> all;
        for (std::size_t n = 0; n < sequences.size(); ++n)
            all.push_back(matcher.best(sequences[n].letters, n));
        const Match best =
            *std::max_element(all.begin(), all.end(),
                              [](const Match& a, const Match& b) { return a.fitting < b.fitting; });
        const Sequence& sequence = sequences[best.sequence];
        if (best.fitting < matcher.count()) {
            for (const Match& one : all)
                if (matcher.has_further(sequences[one.sequence], one, sequence, best))
                    throw InputError(
                        file.string(), 0,
                        fmt::format("expected the whole sequence of chain '{}' as one record, "
                                    "found parts of it in '{}' and '{}'; join them, with the "
                                    "letters between them",
                                    molecules.chains[chain].name, sequence.name,
                                    sequences[one.sequence].name));
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
        matched.push_back(sequenced_chain(molecules, topology, positions, chain, sequence, best));
    }
    if (matched.empty()) throw InputError(source, 0, closest);
    return matched;
}

}  // namespace pleat::refine

// Atom match: atoms by their identity, or by aligned chains.
#include "pleat/bio/structure/atom_match.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "pleat/bio/alignment/pairwise.h"
#include "pleat/bio/selection/residue_kinds.h"
#include "pleat/bio/structure/topology_gemmi.h"
#include "pleat/core/error.h"

namespace pleat {

namespace {

using selection::ResidueKind;

struct PolymerChain {
    std::string name;
    bool is_protein = true;
    std::vector<Index> residues;
    ChainLetters sequence;

    const Alphabet& alphabet() const { return is_protein ? Alphabet::protein() : Alphabet::rna(); }
    Index size() const { return std::ssize(residues); }
};

/// The atoms, chains and ligands of a topology by residue.
struct Polymers {
    explicit Polymers(const Topology& topology) : topology_(topology) {
        atoms.resize(topology.residues.size());
        for (Index atom = 0; atom < topology.atom_count(); ++atom)
            atoms[topology.atoms[atom].residue].push_back(atom);
        const std::vector<ResidueKind> kinds = selection::residue_kinds(topology);
        std::map<std::pair<std::string, bool>, std::size_t> known;
        for (Index r = 0; r < std::ssize(kinds); ++r) {
            const Topology::Residue& residue = topology.residues[r];
            const ResidueKind kind = kinds[r];
            const bool is_protein = kind == ResidueKind::protein;
            if (!is_protein && kind != ResidueKind::nucleic) {
                if (kind != ResidueKind::water) ligands[residue.name].push_back(r);
                continue;
            }
            const char letter = residue_letter(residue.name);
            if (letter == 'X' && find(r, "CA") < 0 && find(r, "C1'") < 0) continue;  // a cap
            const auto [place, is_new] =
                known.try_emplace({residue.chain, is_protein}, chains.size());
            if (is_new)
                chains.push_back({.name = residue.chain,
                                  .is_protein = is_protein,
                                  .residues = {},
                                  .sequence = {}});
            PolymerChain& chain = chains[place->second];
            if (chain.size() > 0)
                chain.sequence.broken.back() = is_broken(chain.residues.back(), r);
            const Alphabet& alphabet = chain.alphabet();
            chain.residues.push_back(r);
            chain.sequence.letters.push_back(std::min(alphabet.code(letter), alphabet.gap()));
            chain.sequence.broken.push_back(0);
            ++count;
        }
    }

    Index find(Index residue, std::string_view name) const {
        for (const Index atom : atoms[residue])
            if (topology_.atoms[atom].name == name) return atom;
        return -1;
    }

    std::vector<std::vector<Index>> atoms;  // [residue]
    std::vector<PolymerChain> chains;
    std::map<std::string, std::vector<Index>> ligands;  // by name
    Index count = 0;                                    // of residues in chains

private:
    /// Whether residues are missing between two neighbours, judged by the distance of their atoms.
    bool is_broken(Index one, Index next) const {
        for (const auto& [name, cutoff] : {std::pair("CA", 4.5), {"P", 9.0}, {"C3'", 9.0}}) {
            const Index a = find(one, name), b = find(next, name);
            if (a < 0 || b < 0 || topology_.positions.empty()) continue;
            const std::array<double, 3>&p = topology_.positions[a], &q = topology_.positions[b];
            return std::hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]) > cutoff;
        }
        return topology_.residues[next].number - topology_.residues[one].number > 1;
    }

    const Topology& topology_;
};

/// Two chains and their aligned residues.
struct ChainPair {
    std::size_t wanted = 0, other = 0;
    std::vector<std::array<Index, 2>> places = {};  // in each chain
    Index identical = 0;
    int score = 0;

    double identity() const {
        return places.empty() ? 0
                              : static_cast<double>(identical) / static_cast<double>(places.size());
    }
};

void align(const PolymerChain& wanted, const PolymerChain& other, ChainPair& pair) {
    const PairScoring& scoring = PairScoring::of(wanted.alphabet());
    // The shorter sequence is treated as the chain in which residues may be missing.
    const bool is_longer = wanted.size() >= other.size();
    const std::vector<std::uint8_t>& row = (is_longer ? wanted : other).sequence.letters;
    const ChainLetters& chain = (is_longer ? other : wanted).sequence;
    pair.score = pair_score(row, chain, scoring);
    const std::vector<Index> partners = pair_partners(row, chain, scoring);
    for (Index n = 0; n < std::ssize(partners); ++n) {
        if (partners[n] < 0) continue;
        pair.places.push_back({is_longer ? n : partners[n], is_longer ? partners[n] : n});
        pair.identical += row[n] == chain.letters[partners[n]];
    }
}

/// All pairs of chains of one kind, the best first.
std::vector<ChainPair> all_pairs(const Polymers& wanted, const Polymers& other) {
    std::vector<ChainPair> pairs;
    // Equal sequences are aligned once, since complexes have many copies of some chains.
    using Letters = std::tuple<bool, std::vector<std::uint8_t>, std::vector<std::uint8_t>>;
    const auto letters = [](const PolymerChain& chain) {
        return Letters(chain.is_protein, chain.sequence.letters, chain.sequence.broken);
    };
    std::map<std::pair<Letters, Letters>, ChainPair> known;
    for (std::size_t w = 0; w < wanted.chains.size(); ++w)
        for (std::size_t o = 0; o < other.chains.size(); ++o) {
            const PolymerChain &one = wanted.chains[w], &two = other.chains[o];
            if (one.is_protein != two.is_protein) continue;
            const auto [place, is_new] = known.try_emplace({letters(one), letters(two)});
            if (is_new) align(one, two, place->second);
            ChainPair pair = place->second;
            pair.wanted = w;
            pair.other = o;
            pairs.push_back(std::move(pair));
        }
    std::ranges::stable_sort(pairs, [&](const ChainPair& a, const ChainPair& b) {
        const auto has_name = [&](const ChainPair& pair) {
            return wanted.chains[pair.wanted].name == other.chains[pair.other].name;
        };
        return std::make_tuple(-a.score, !has_name(a)) < std::make_tuple(-b.score, !has_name(b));
    });
    return pairs;
}

/// Whether different residues have this atom in common.
bool is_common_to_all(std::string_view name, bool is_protein) {
    if (!is_protein) return name.find_first_of("'*P") != std::string_view::npos;
    return name == "N" || name == "CA" || name == "C" || name == "O" || name == "CB";
}

class Matching {
public:
    Matching(const Topology& wanted, const Topology& other)
        : wanted_(wanted), other_(other), of_wanted_(wanted), of_other_(other) {
        match_.atoms.assign(other.atoms.size(), -1);
        match_.residues_of_wanted = of_wanted_.count;
        match_.of_other = of_other_.count;
    }

    SequenceMatch run() {
        const std::vector<ChainPair> pairs = all_pairs(of_wanted_, of_other_);
        std::vector<std::uint8_t> has_wanted(of_wanted_.chains.size()),
            has_other(of_other_.chains.size());
        std::map<std::size_t, std::string> texts;  // in the order of the wanted chains
        for (const ChainPair& pair : pairs) {
            if (has_wanted[pair.wanted] != 0 || has_other[pair.other] != 0) continue;
            const PolymerChain& one = of_wanted_.chains[pair.wanted];
            const PolymerChain& two = of_other_.chains[pair.other];
            const auto shorter = static_cast<double>(std::min(one.size(), two.size()));
            if (pair.identity() < (one.is_protein ? 0.3 : 0.6) ||
                static_cast<double>(pair.places.size()) < 0.3 * shorter)
                continue;
            has_wanted[pair.wanted] = has_other[pair.other] = 1;
            partner_[one.name] = two.name;
            texts[pair.wanted] = fmt::format("{} = {}", shown(one.name), shown(two.name));
            for (const ChainPair& like : pairs)
                match_.chains_paired_by_order |=
                    one.name != two.name && like.score == pair.score &&
                    (like.wanted == pair.wanted) != (like.other == pair.other);
            for (const auto& [w, o] : pair.places) add(one.residues[w], two.residues[o]);
            match_.residues += std::ssize(pair.places);
            match_.identical += pair.identical;
        }
        if (texts.empty()) refuse(pairs);
        for (const auto& [chain, text] : texts)
            match_.pairs += (match_.pairs.empty() ? "" : ", ") + text;
        match_ligands();
        return std::move(match_);
    }

private:
    /// Ligands whose name occurs once in each structure, or once in a chain and its partner.
    void match_ligands() {
        const auto in_chain = [](const Topology& topology, const std::vector<Index>& residues,
                                 const std::string& chain) {
            std::vector<Index> found;
            for (const Index residue : residues)
                if (topology.residues[residue].chain == chain) found.push_back(residue);
            return found;
        };
        for (const auto& [name, ours] : of_wanted_.ligands) {
            const auto found = of_other_.ligands.find(name);
            if (found == of_other_.ligands.end()) continue;
            const std::vector<Index>& theirs = found->second;
            if (ours.size() == 1 && theirs.size() == 1) {
                add(ours.front(), theirs.front());
                continue;
            }
            for (const Index residue : ours) {
                const std::string& chain = wanted_.residues[residue].chain;
                const auto partner = partner_.find(chain);
                const std::vector<Index> of_partner =
                    in_chain(other_, theirs, partner == partner_.end() ? chain : partner->second);
                if (of_partner.size() == 1 && in_chain(wanted_, ours, chain).size() == 1)
                    add(residue, of_partner.front());
            }
        }
    }

    static std::string shown(const std::string& name) { return name.empty() ? "' '" : name; }

    void add(Index wanted, Index other) {
        const std::string &one = wanted_.residues[wanted].name, &two = other_.residues[other].name;
        const bool is_protein = of_wanted_.find(wanted, "CA") >= 0;
        for (const Index atom : of_other_.atoms[other]) {
            const std::string& name = other_.atoms[atom].name;
            if (!are_same_residue(one, two) && !is_common_to_all(name, is_protein)) continue;
            const Index found = of_wanted_.find(wanted, name);
            if (found >= 0 && of_other_.find(other, name) == atom) match_.atoms[atom] = found;
        }
    }

    [[noreturn]] void refuse(const std::vector<ChainPair>& pairs) const {
        const std::string found =
            pairs.empty()
                ? fmt::format("{} and {} such chains", of_wanted_.chains.size(),
                              of_other_.chains.size())
                : fmt::format("at best identity {:.2f} over {} residues of chains '{}' and '{}'",
                              pairs.front().identity(), pairs.front().places.size(),
                              of_wanted_.chains[pairs.front().wanted].name,
                              of_other_.chains[pairs.front().other].name);
        throw InputError(other_.source.string(), 0,
                         fmt::format("expected a chain of a protein or nucleic acid with a "
                                     "sequence like one in {}, found {}",
                                     wanted_.source.string(), found));
    }

    const Topology &wanted_, &other_;
    Polymers of_wanted_, of_other_;
    std::map<std::string, std::string> partner_;  // of wanted chains, by name
    SequenceMatch match_;
};

/// Matches all residues of two files that list the same residues.
bool have_same_residues(const Topology& one, const Topology& other) {
    return std::equal(one.residues.begin(), one.residues.end(), other.residues.begin(),
                      other.residues.end(),
                      [](const Topology::Residue& a, const Topology::Residue& b) {
                          return a.name == b.name && a.number == b.number &&
                                 a.insertion == b.insertion && a.chain == b.chain;
                      });
}

}  // namespace

bool are_same_residue(const std::string& one, const std::string& other) {
    if (one == other) return true;
    const char letter = residue_letter(one);
    return letter != 'X' && letter == residue_letter(other);
}

SequenceMatch match_by_sequence(const Topology& wanted, const Topology& other) {
    if (!have_same_residues(wanted, other)) return Matching(wanted, other).run();
    SequenceMatch match{.atoms = std::vector<Index>(other.atoms.size(), -1), .is_plain = true};
    const Polymers names(wanted);
    for (Index atom = 0; atom < other.atom_count(); ++atom) {
        const Topology::Atom& one = other.atoms[atom];
        // Atoms usually have the same order in both, so the same index is tried first.
        const bool is_there = atom < wanted.atom_count() &&
                              wanted.atoms[atom].residue == one.residue &&
                              wanted.atoms[atom].name == one.name;
        match.atoms[atom] = is_there ? atom : names.find(one.residue, one.name);
    }
    match.residues_of_wanted = match.of_other = match.residues = match.identical = names.count;
    return match;
}

namespace {

using Key = std::tuple<std::string, int, char, std::string>;

std::vector<Index> find_atoms(const Topology& wanted, const Topology& other) {
    const bool with_chain = wanted.chains().size() > 1 || other.chains().size() > 1;
    const ChainName name = common_chain_name(wanted, other);
    const auto key_of = [name](const Topology& topology, Index atom, bool has_chain) -> Key {
        const Topology::Residue& residue = topology.residue_of(atom);
        return {has_chain ? chain_name(residue, name) : std::string(), residue.number,
                residue.insertion, topology.atoms[atom].name};
    };
    // Without chain names, chains are compared only if the order does not identify the atoms.
    const bool in_order = with_chain && (name == ChainName::segment ||
                                         (wanted.has_chain_names && other.has_chain_names));
    const Index count = wanted.atom_count();
    std::vector<Index> found(count, -1);
    std::map<Key, Index> by_key;  // made when the atoms are not in the same order
    for (Index atom = 0; atom < count; ++atom) {
        if (atom < other.atom_count() &&
            key_of(wanted, atom, in_order) == key_of(other, atom, in_order)) {
            found[atom] = atom;
            continue;
        }
        if (by_key.empty())
            for (Index n = 0; n < other.atom_count(); ++n)
                by_key.try_emplace(key_of(other, n, with_chain), n);
        const auto at = by_key.find(key_of(wanted, atom, with_chain));
        if (at != by_key.end()) found[atom] = at->second;
    }
    return found;
}

}  // namespace

AtomMatch match_atoms(const Topology& wanted, const Topology& other) {
    AtomMatch match{find_atoms(wanted, other)};
    Index last = -1;
    for (Index atom = 0; atom < wanted.atom_count(); ++atom) {
        const Index found = match.atoms[atom];
        const Index residue = wanted.atoms[atom].residue;
        if (found < 0 || residue == last) continue;
        last = residue;
        ++match.residues;
        const Topology::Residue &one = other.residue_of(found), &two = wanted.residue_of(atom);
        const bool is_same = are_same_residue(one.name, two.name);
        match.residues_of_name += is_same;
        if (!is_same && match.first_other_residue.empty())
            match.first_other_residue = fmt::format("{} {} in chain '{}' for {}", one.name,
                                                    one.number, one.chain, two.name);
    }
    return match;
}

}  // namespace pleat

// Selections: words to terms, terms to flags of atoms.
#include "pleat/bio/selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "pleat/bio/topology_gemmi.h"
#include "pleat/core/error.h"

namespace pleat {

namespace {

using Flags = std::vector<std::uint8_t>;
/// Residue number and insertion code; blank comes before 'A'.
using Place = std::pair<int, char>;

bool is_backbone(std::string_view name) {
    static const std::set<std::string_view> kNames = {"N",   "CA",  "C",   "O",   "P",
                                                      "O5'", "C5'", "C4'", "C3'", "O3'"};
    return kNames.count(name) > 0;
}

template <class Test>
Flags flags_of(const Topology& topology, const Test& test) {
    Flags flags;
    flags.reserve(topology.atoms.size());
    for (const Topology::Atom& atom : topology.atoms) flags.push_back(test(atom));
    return flags;
}

bool is_carbon_alpha(const Topology::Atom& atom) {
    return atom.name == "CA" && atom.element == "C";
}

/// A residue of several atoms that has one of those that make a chain.
std::vector<std::uint8_t> polymer_residues(const Topology& topology) {
    std::vector<std::uint8_t> polymer(topology.residues.size());
    for (const Topology::Atom& atom : topology.atoms) {
        if (is_carbon_alpha(atom) || atom.name == "C3'" || atom.name == "P") {
            polymer[static_cast<std::size_t>(atom.residue)] = 1;
        }
    }
    return polymer;
}

[[noreturn]] void refuse_range(std::string_view term) {
    throw UsageError(fmt::format(
        "expected residues as chain:first-last, such as A:10-50 or A:10-50,60A, found '{}'", term));
}

/// Takes a number and an insertion code off the front; false, taking nothing, where there is none.
bool take_place(std::string_view& text, Place& place) {
    const auto [end, problem] =
        std::from_chars(text.data(), text.data() + text.size(), place.first);
    if (problem != std::errc()) return false;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    place.second = ' ';
    if (!text.empty() && text.front() != '-' && text.front() != ',') {
        place.second = text.front();
        text.remove_prefix(1);
    }
    return true;
}

std::vector<std::pair<Place, Place>> parse_ranges(std::string_view term, std::string_view text) {
    std::vector<std::pair<Place, Place>> ranges;
    while (true) {
        constexpr int kLeast = std::numeric_limits<int>::min();
        constexpr int kMost = std::numeric_limits<int>::max();
        std::pair<Place, Place> range{{kLeast, ' '}, {kMost, '~'}};
        const bool first = take_place(text, range.first);
        if (!text.empty() && text.front() == '-') {
            text.remove_prefix(1);
            const bool last = take_place(text, range.second);
            if (!first && !last) refuse_range(term);
        } else if (first) {
            range.second = range.first;
        } else {
            refuse_range(term);
        }
        if (range.second < range.first) refuse_range(term);
        ranges.push_back(range);
        if (text.empty()) return ranges;
        if (text.front() != ',') refuse_range(term);
        text.remove_prefix(1);
    }
}

Flags residue_ranges(const Topology& topology, std::string_view term, std::size_t colon) {
    const std::string_view chain = term.substr(0, colon);
    const auto ranges = parse_ranges(term, term.substr(colon + 1));
    return flags_of(topology, [&](const Topology::Atom& atom) {
        const Topology::Residue& residue =
            topology.residues[static_cast<std::size_t>(atom.residue)];
        if (!chain.empty() && chain != residue.chain) return false;
        const Place place{residue.number, residue.insertion};
        return std::any_of(ranges.begin(), ranges.end(), [&](const auto& range) {
            return range.first <= place && place <= range.second;
        });
    });
}

std::vector<AtomRecord> records_of(const Topology& topology) {
    std::vector<AtomRecord> records;
    records.reserve(topology.atoms.size());
    for (const Topology::Atom& atom : topology.atoms) {
        const Topology::Residue& residue =
            topology.residues[static_cast<std::size_t>(atom.residue)];
        AtomRecord& record = records.emplace_back();
        record.name = atom.name;
        record.element = atom.element;
        record.residue_name = residue.name;
        record.chain = residue.chain;
        record.number = residue.number;
        record.insertion = residue.insertion;
    }
    return records;
}

Flags term_flags(const Topology& topology, std::string_view term) {
    using Atom = Topology::Atom;
    if (term == "all") return flags_of(topology, [](const Atom&) { return true; });
    if (term == "ca") return flags_of(topology, is_carbon_alpha);
    if (term == "heavy") {
        return flags_of(
            topology, [](const Atom& atom) { return atom.element != "H" && atom.element != "D"; });
    }
    if (term == "backbone") {
        const std::vector<std::uint8_t> polymer = polymer_residues(topology);
        return flags_of(topology, [&](const Atom& atom) {
            return is_backbone(atom.name) && polymer[static_cast<std::size_t>(atom.residue)];
        });
    }
    const std::size_t colon = term.find(':');
    if (colon != std::string_view::npos && term.find_first_of("/([;") == std::string_view::npos) {
        return residue_ranges(topology, term, colon);
    }
    return match_cid(records_of(topology), std::string(term));
}

std::vector<std::string_view> words_of(std::string_view text) {
    std::vector<std::string_view> words;
    while (true) {
        const std::size_t first = text.find_first_not_of(" \t");
        if (first == std::string_view::npos) return words;
        text.remove_prefix(first);
        const std::size_t end = std::min(text.find_first_of(" \t"), text.size());
        words.push_back(text.substr(0, end));
        text.remove_prefix(end);
    }
}

/// Terms with `not`, joined by `and`, joined by `or`.
class Expression {
public:
    Expression(const Topology& topology, std::string_view text)
        : topology_(topology), text_(text), words_(words_of(text)) {}

    Flags evaluate() {
        Flags taken = conjunction();
        while (take("or")) {
            const Flags other = conjunction();
            for (std::size_t i = 0; i < taken.size(); ++i) taken[i] |= other[i];
        }
        if (at_ < words_.size()) refuse(fmt::format("'{}'", words_[at_]));
        return taken;
    }

private:
    bool take(std::string_view word) {
        if (at_ == words_.size() || words_[at_] != word) return false;
        ++at_;
        return true;
    }

    Flags conjunction() {
        Flags taken = factor();
        while (take("and")) {
            const Flags other = factor();
            for (std::size_t i = 0; i < taken.size(); ++i) taken[i] &= other[i];
        }
        return taken;
    }

    Flags factor() {
        bool negated = false;
        while (take("not")) negated = !negated;
        if (at_ == words_.size()) refuse("its end");
        const std::string_view word = words_[at_];
        if (word == "and" || word == "or") refuse(fmt::format("'{}'", word));
        ++at_;
        Flags flags = term_flags(topology_, word);
        if (negated) {
            for (std::uint8_t& flag : flags) flag = !flag;
        }
        return flags;
    }

    [[noreturn]] void refuse(std::string_view found) const {
        throw UsageError(fmt::format(
            "expected a selection, terms joined by 'and', 'or' and 'not', found {} in '{}'", found,
            text_));
    }

    const Topology& topology_;
    std::string_view text_;
    std::vector<std::string_view> words_;
    std::size_t at_ = 0;
};

/// What a structure has, for those whose selection took nothing of it.
std::string contents(const Topology& topology) {
    std::map<std::string, std::pair<int, int>> numbers;
    std::map<std::string, Index> names;
    for (const Topology::Residue& residue : topology.residues) {
        const auto [at, fresh] = numbers.try_emplace(residue.chain, residue.number, residue.number);
        at->second.first = std::min(at->second.first, residue.number);
        at->second.second = std::max(at->second.second, residue.number);
    }
    for (const Topology::Atom& atom : topology.atoms) ++names[atom.name];
    constexpr std::size_t kMost = 8;
    std::vector<std::string> chains, atoms;
    for (const auto& [chain, range] : numbers) {
        if (chains.size() == kMost) break;
        chains.push_back(fmt::format("'{}' ({} to {})", chain, range.first, range.second));
    }
    std::vector<std::pair<Index, std::string>> common;
    for (const auto& [name, count] : names) common.emplace_back(-count, name);
    std::sort(common.begin(), common.end());
    for (const auto& [count, name] : common) {
        if (atoms.size() < kMost) atoms.push_back(name);
    }
    return fmt::format("{} atoms; chains (residues) {}{}; atoms {}{}", topology.atom_count(),
                       fmt::join(chains, ", "), numbers.size() > kMost ? ", ..." : "",
                       fmt::join(atoms, ", "), names.size() > kMost ? ", ..." : "");
}

}  // namespace

std::vector<Index> select_atoms(const Topology& topology, std::string_view text) {
    if (!topology.named && words_of(text) != std::vector<std::string_view>{"all"}) {
        throw InputError(topology.source.string(), 0,
                         fmt::format("expected atoms with names for the selection '{}', found "
                                     "coordinates only: give a topology (PDB or mmCIF)",
                                     text));
    }
    const Flags taken = Expression(topology, text).evaluate();
    std::vector<Index> atoms;
    for (std::size_t i = 0; i < taken.size(); ++i) {
        if (taken[i]) atoms.push_back(static_cast<Index>(i));
    }
    if (atoms.empty()) {
        throw InputError(topology.source.string(), 0,
                         fmt::format("expected atoms for the selection '{}', found none: the "
                                     "structure has {}",
                                     text, contents(topology)));
    }
    return atoms;
}

}  // namespace pleat

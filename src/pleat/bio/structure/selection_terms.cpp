// Selection terms: words of a selection to flags of atoms.
#include "pleat/bio/structure/selection_terms.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "pleat/bio/structure/topology_gemmi.h"
#include "pleat/core/error.h"

namespace pleat::selection {

namespace {

/// Residue number and insertion code; blank comes before 'A'.
using ResidueNumber = std::pair<int, char>;

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
bool take_number(std::string_view& text, ResidueNumber& number) {
    const auto [end, problem] =
        std::from_chars(text.data(), text.data() + text.size(), number.first);
    if (problem != std::errc()) return false;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    number.second = ' ';
    if (!text.empty() && text.front() != '-' && text.front() != ',') {
        number.second = text.front();
        text.remove_prefix(1);
    }
    return true;
}

std::vector<std::pair<ResidueNumber, ResidueNumber>> parse_ranges(std::string_view term,
                                                                  std::string_view text) {
    std::vector<std::pair<ResidueNumber, ResidueNumber>> ranges;
    while (true) {
        constexpr int kMin = std::numeric_limits<int>::min();
        constexpr int kMax = std::numeric_limits<int>::max();
        std::pair<ResidueNumber, ResidueNumber> range{{kMin, ' '}, {kMax, '~'}};
        const bool first = take_number(text, range.first);
        if (!text.empty() && text.front() == '-') {
            text.remove_prefix(1);
            const bool last = take_number(text, range.second);
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
        const ResidueNumber number{residue.number, residue.insertion};
        return std::any_of(ranges.begin(), ranges.end(), [&](const auto& range) {
            return range.first <= number && number <= range.second;
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

/// Residues of amino acids by their name, or with the backbone of one: N, CA and C.
std::vector<std::uint8_t> protein_residues(const Topology& topology) {
    std::vector<std::uint8_t> protein(topology.residues.size()), parts(topology.residues.size());
    for (const Topology::Atom& atom : topology.atoms)
        parts[static_cast<std::size_t>(atom.residue)] |= is_carbon_alpha(atom) ? 1
                                                         : atom.name == "N"    ? 2
                                                         : atom.name == "C"    ? 4
                                                                               : 0;
    for (std::size_t n = 0; n < protein.size(); ++n)
        protein[n] = parts[n] == 7 || is_amino_acid(topology.residues[n].name);
    return protein;
}

Flags atoms_of(const Topology& topology, const std::vector<std::uint8_t>& residues) {
    return flags_of(topology, [&](const Topology::Atom& atom) {
        return residues[static_cast<std::size_t>(atom.residue)];
    });
}

/// The first (or last) `count` polymer residues of every chain.
Flags ends_of_chains(const Topology& topology, Index count, bool from_end) {
    const std::vector<std::uint8_t> polymer = polymer_residues(topology);
    std::vector<std::uint8_t> chosen(polymer.size());
    std::map<std::string, std::set<ResidueNumber>> seen;
    for (std::size_t n = 0; n < polymer.size(); ++n) {
        const std::size_t at = from_end ? polymer.size() - 1 - n : n;
        if (!polymer[at]) continue;
        const Topology::Residue& residue = topology.residues[at];
        std::set<ResidueNumber>& of_chain = seen[residue.chain];
        const ResidueNumber number{residue.number, residue.insertion};
        // Parts of one residue that are apart in the file count once.
        if (of_chain.count(number) == 0 && static_cast<Index>(of_chain.size()) == count) continue;
        of_chain.insert(number);
        chosen[at] = 1;
    }
    return atoms_of(topology, chosen);
}

}  // namespace

bool has_chain(const Topology& topology, std::string_view name) {
    return std::any_of(topology.residues.begin(), topology.residues.end(),
                       [&](const Topology::Residue& residue) { return residue.chain == name; });
}

std::optional<Flags> keyword_flags(const Topology& topology, std::string_view word) {
    using Atom = Topology::Atom;
    if (word == "all") return flags_of(topology, [](const Atom&) { return true; });
    if (word == "ca" || (word == "CA" && !has_chain(topology, word)))
        return flags_of(topology, is_carbon_alpha);
    if (word == "heavy")
        return flags_of(
            topology, [](const Atom& atom) { return atom.element != "H" && atom.element != "D"; });
    if (word == "protein") return atoms_of(topology, protein_residues(topology));
    if (word != "backbone") return std::nullopt;
    const std::vector<std::uint8_t> polymer = polymer_residues(topology);
    return flags_of(topology, [&](const Atom& atom) {
        return is_backbone(atom.name) && polymer[static_cast<std::size_t>(atom.residue)];
    });
}

Words split_commas(const Words& values) {
    Words parts;
    for (std::string_view value : values) {
        while (!value.empty()) {
            const std::size_t comma = std::min(value.find(','), value.size());
            if (comma > 0) parts.push_back(value.substr(0, comma));
            value.remove_prefix(std::min(comma + 1, value.size()));
        }
    }
    return parts;
}

bool takes_values(std::string_view word) {
    return word == "name" || word == "resname" || word == "chain" || word == "resid" ||
           word == "first" || word == "last";
}

Flags value_flags(const Topology& topology, std::string_view word, const Words& values) {
    if (word == "resid") {
        Flags all(topology.atoms.size());
        for (const std::string_view value : values) {
            const Flags some = residue_ranges(topology, fmt::format(":{}", value), 0);
            for (std::size_t n = 0; n < all.size(); ++n) all[n] |= some[n];
        }
        return all;
    }
    if (word == "first" || word == "last") {
        Index count = 0;
        const std::string_view text = values.front();
        const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), count);
        if (problem != std::errc() || end != text.data() + text.size() || count < 1 ||
            values.size() > 1)
            throw UsageError(fmt::format("expected a number of residues after '{}', found '{}'",
                                         word, fmt::join(values, " ")));
        return ends_of_chains(topology, count, word == "last");
    }
    const Words names = split_commas(values);
    return flags_of(topology, [&](const Topology::Atom& atom) {
        const Topology::Residue& residue =
            topology.residues[static_cast<std::size_t>(atom.residue)];
        const std::string& found = word == "name"      ? atom.name
                                   : word == "resname" ? residue.name
                                                       : residue.chain;
        return std::find(names.begin(), names.end(), found) != names.end();
    });
}

Flags written_flags(const Topology& topology, std::string_view term) {
    const std::size_t colon = term.find(':');
    if (colon != std::string_view::npos && term.find_first_of("/([;") == std::string_view::npos) {
        return residue_ranges(topology, term, colon);
    }
    return match_cid(records_of(topology), std::string(term));
}

std::string contents_of(const Topology& topology) {
    std::map<std::string, std::pair<int, int>> numbers;
    std::map<std::string, Index> names;
    for (const Topology::Residue& residue : topology.residues) {
        const auto [at, fresh] = numbers.try_emplace(residue.chain, residue.number, residue.number);
        at->second.first = std::min(at->second.first, residue.number);
        at->second.second = std::max(at->second.second, residue.number);
    }
    for (const Topology::Atom& atom : topology.atoms) ++names[atom.name];
    constexpr std::size_t kMax = 8;
    std::vector<std::string> chains, atoms;
    for (const auto& [chain, range] : numbers) {
        if (chains.size() == kMax) break;
        chains.push_back(fmt::format("'{}' ({} to {})", chain, range.first, range.second));
    }
    std::vector<std::pair<Index, std::string>> common;
    for (const auto& [name, count] : names) common.emplace_back(-count, name);
    std::sort(common.begin(), common.end());
    for (const auto& [count, name] : common) {
        if (atoms.size() < kMax) atoms.push_back(name);
    }
    return fmt::format("{} atoms; chains (residues) {}{}; atoms {}{}", topology.atom_count(),
                       fmt::join(chains, ", "), numbers.size() > kMax ? ", ..." : "",
                       fmt::join(atoms, ", "), names.size() > kMax ? ", ..." : "");
}

}  // namespace pleat::selection

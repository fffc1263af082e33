// Selection terms: words of a selection to flags of atoms.
#include "pleat/bio/selection/selection_terms.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "pleat/bio/periodic/bonds.h"
#include "pleat/bio/selection/residue_kinds.h"
#include "pleat/bio/selection/selection_keys.h"
#include "pleat/bio/structure/topology_gemmi.h"
#include "pleat/core/error.h"

namespace pleat::selection {

namespace {

using ResidueNumber = std::pair<int, char>;  // with the insertion code
using Names = std::set<std::string_view>;

bool is_backbone(std::string_view name) {
    static const Names kNames = {"N", "CA", "C", "O", "P", "O5'", "C5'", "C4'", "C3'", "O3'"};
    return kNames.contains(name);
}

/// Of a protein: the backbone, the oxygens of the last residue, and hydrogens of both.
bool is_main_chain(std::string_view name) {
    static const Names kNames = {"N",   "CA",  "C",   "O",   "OXT", "OT1", "OT2", "O1",  "O2",
                                 "OC1", "OC2", "H",   "HN",  "HA",  "HA1", "HA2", "HA3", "H1",
                                 "H2",  "H3",  "HT1", "HT2", "HT3", "HN1", "HN2", "HN3", "HXT"};
    return kNames.contains(name);
}

template <class Test>
Flags flags_of(const Topology& topology, const Test& test) {
    Flags flags;
    flags.reserve(topology.atoms.size());
    for (const Topology::Atom& atom : topology.atoms) flags.push_back(test(atom));
    return flags;
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

std::vector<AtomRecord> records_of(const Topology& topology, ChainName name) {
    std::vector<AtomRecord> records;
    records.reserve(topology.atoms.size());
    for (const Topology::Atom& atom : topology.atoms) {
        const Topology::Residue& residue =
            topology.residues[static_cast<std::size_t>(atom.residue)];
        AtomRecord& record = records.emplace_back();
        record.name = atom.name;
        record.element = atom.element;
        record.residue_name = residue.name;
        record.chain = chain_name(residue, name);
        record.number = residue.number;
        record.insertion = residue.insertion;
        record.b_factor = atom.b_factor;
    }
    return records;
}

Flags atoms_of(const Topology& topology, const std::vector<std::uint8_t>& residues) {
    return flags_of(topology, [&](const Topology::Atom& atom) {
        return residues[static_cast<std::size_t>(atom.residue)];
    });
}

/// Atoms of residues of one kind that pass a test.
template <class Test>
Flags kind_flags(const Topology& topology, ResidueKind kind, const Test& test) {
    const std::vector<ResidueKind> kinds = residue_kinds(topology);
    return flags_of(topology, [&](const Topology::Atom& atom) {
        return kinds[static_cast<std::size_t>(atom.residue)] == kind && test(atom);
    });
}

bool is_any(const Topology::Atom&) { return true; }

/// A word as other programs write it, and the word for it here.
std::string foreign_word(std::string_view word) {
    static const std::map<std::string_view, std::string_view> kWords = {
        {"around", "(within 5 of protein) and not protein"},
        {"exwithin", "(within 5 of protein) and not protein"},
        {"byres", "same residue as"},
        {"residue", "resid, the number in the file"},
        {"fragment", "same molecule as"},
        {"molecule", "same molecule as"},
        {"resi", "resid"},
        {"resn", "resname"},
        {"segi", "segid"},
        {"segment", "segid"},
        {"serial", "index, which counts from 0"},
        {"bynum", "index, which counts from 0"},
        {"id", "index, which counts from 0"},
        {"beta", "bfactor"},
        {"tempfactor", "bfactor"},
        {"b", "bfactor"},
        {"noh", "heavy"},
        {"noH", "heavy"},
        {"solvent", "water"},
        {"waters", "water"},
        {"ions", "ion"},
        {"hydrogens", "hydrogen"},
        {"mainchain", "backbone"},
        {"calpha", "ca"},
        {"alpha", "ca"},
        {"symbol", "element"},
        {"everything", "all"}};
    const auto found = kWords.find(word);
    return found == kWords.end() ? std::string() : std::string(found->second);
}

std::string lower(std::string_view text) {
    std::string result(text);
    for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return result;
}

}  // namespace

bool has_chain(const Topology& topology, std::string_view name) {
    return std::any_of(topology.residues.begin(), topology.residues.end(),
                       [&](const Topology::Residue& residue) { return residue.is_of_chain(name); });
}

bool has_residue(const Topology& topology, std::string_view name) {
    return std::any_of(topology.residues.begin(), topology.residues.end(),
                       [&](const Topology::Residue& residue) { return residue.name == name; });
}

bool is_keyword(std::string_view word) {
    static const Names kWords = {"all",     "ca",    "backbone", "heavy",  "hydrogen", "protein",
                                 "nucleic", "water", "ion",      "ligand", "sidechain"};
    return kWords.contains(word);
}

std::optional<Flags> keyword_flags(const Topology& topology, std::string_view word) {
    if (word == "all") return Flags(topology.atoms.size(), 1);
    if (word == "ca" || (word == "CA" && !has_chain(topology, word)))
        return flags_of(topology, is_carbon_alpha);
    if (word == "heavy") return flags_of(topology, std::not_fn(is_hydrogen));
    if (word == "hydrogen") return flags_of(topology, is_hydrogen);
    if (word == "protein") return kind_flags(topology, ResidueKind::protein, is_any);
    if (word == "nucleic") return kind_flags(topology, ResidueKind::nucleic, is_any);
    if (word == "water") return kind_flags(topology, ResidueKind::water, is_any);
    if (word == "ion") return kind_flags(topology, ResidueKind::ion, is_any);
    if (word == "ligand") return kind_flags(topology, ResidueKind::other, is_any);
    if (word == "sidechain")
        return kind_flags(topology, ResidueKind::protein,
                          [](const Topology::Atom& atom) { return !is_main_chain(atom.name); });
    if (word != "backbone") return std::nullopt;
    const std::vector<std::uint8_t> polymer = polymer_residues(topology);
    return flags_of(topology, [&](const Topology::Atom& atom) {
        return is_backbone(atom.name) && polymer[static_cast<std::size_t>(atom.residue)];
    });
}

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

Flags whole_residues(const Topology& topology, const Flags& flags) {
    std::vector<std::uint8_t> residues(topology.residues.size());
    for (std::size_t n = 0; n < flags.size(); ++n)
        if (flags[n]) residues[static_cast<std::size_t>(topology.atoms[n].residue)] = 1;
    return atoms_of(topology, residues);
}

Flags whole_chains(const Topology& topology, const Flags& flags) {
    std::set<std::string_view> chains;
    for (std::size_t n = 0; n < flags.size(); ++n)
        if (flags[n]) chains.insert(topology.residue_of(static_cast<Index>(n)).chain);
    std::vector<std::uint8_t> residues(topology.residues.size());
    for (std::size_t n = 0; n < residues.size(); ++n)
        residues[n] = chains.contains(topology.residues[n].chain);
    return atoms_of(topology, residues);
}

Flags bonded_molecules(const Topology& topology, const Flags& flags) {
    const PeriodicCell cell{topology.cell};
    const bool has_cell = cell.exists() && cell.volume() > 0;
    std::vector<Index> parent(flags.size());
    std::iota(parent.begin(), parent.end(), Index{0});
    const auto root_of = [&](Index atom) {
        while (parent[static_cast<std::size_t>(atom)] != atom) {
            Index& above = parent[static_cast<std::size_t>(atom)];
            above = parent[static_cast<std::size_t>(above)];  // shortens the way for later ones
            atom = above;
        }
        return static_cast<std::size_t>(atom);
    };
    for (const Bond& bond : find_bonds(topology, has_cell ? cell : PeriodicCell{}))
        parent[root_of(bond[0])] = static_cast<Index>(root_of(bond[1]));
    Flags chosen(flags.size());
    for (std::size_t n = 0; n < flags.size(); ++n)
        if (flags[n]) chosen[root_of(static_cast<Index>(n))] = 1;
    Flags atoms(flags.size());
    for (std::size_t n = 0; n < flags.size(); ++n)
        atoms[n] = chosen[root_of(static_cast<Index>(n))];
    return atoms;
}

std::vector<std::string_view> split_commas(const std::vector<std::string_view>& values) {
    std::vector<std::string_view> parts;
    for (std::string_view value : values) {
        while (!value.empty()) {
            const std::size_t comma = std::min(value.find(','), value.size());
            if (comma > 0) parts.push_back(value.substr(0, comma));
            value.remove_prefix(std::min(comma + 1, value.size()));
        }
    }
    return parts;
}

Flags written_flags(const Topology& topology, std::string_view term) {
    const std::size_t colon = term.find(':');
    if (colon != std::string_view::npos && term.find_first_of("/([;") == std::string_view::npos)
        return residue_ranges(topology, term, term.substr(0, colon), term.substr(colon + 1));
    const auto flags_by = [&](ChainName name) {
        return match_cid(records_of(topology, name), std::string(term));
    };
    Flags flags = flags_by(ChainName::chain);
    const bool is_empty = std::find(flags.begin(), flags.end(), 1) == flags.end();
    return is_empty ? flags_by(ChainName::shared_chain) : flags;
}

std::string advice_for(const Topology& topology, std::string_view word) {
    if (word.find('@') != std::string_view::npos) return fmt::format("amber({})", word);
    if (const std::string known = foreign_word(word); !known.empty()) return known;
    const std::string small = lower(word);
    if (word.find_first_not_of("0123456789-,:") == std::string_view::npos)
        return fmt::format("resid {}", word);
    for (const Topology::Atom& atom : topology.atoms)
        if (lower(atom.name) == small) return fmt::format("name {}", atom.name);
    for (const Topology::Residue& residue : topology.residues)
        if (lower(residue.name) == small) return fmt::format("resname {}", residue.name);
    for (const Topology::Residue& residue : topology.residues)
        if (lower(residue.chain) == small) return fmt::format("chain {}", residue.chain);
    if (is_keyword(small) || key_of(small)) return small;
    return {};
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
    common.reserve(names.size());
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

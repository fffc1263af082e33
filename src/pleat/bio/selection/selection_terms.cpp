// Selection terms: words of a selection, and names, numbers, ranges and comparisons behind keys, to
// flags of atoms.
#include "pleat/bio/selection/selection_terms.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "pleat/bio/periodic/bonds.h"
#include "pleat/bio/periodic/periodic_cell.h"
#include "pleat/bio/selection/residue_kinds.h"
#include "pleat/bio/structure/topology_gemmi.h"
#include "pleat/core/error.h"
#include "pleat/core/files/text.h"

namespace pleat::selection {

namespace {

/// Residue number and insertion code; blank comes before 'A'.
using ResidueNumber = std::pair<int, char>;
template <class Number>
using Ranges = std::vector<std::pair<Number, Number>>;

constexpr ResidueNumber kFirstResidue{std::numeric_limits<int>::min(), ' '};
constexpr ResidueNumber kLastResidue{std::numeric_limits<int>::max(), '~'};

bool take_number(std::string_view& text, double& number) {
    return take_number_from(text, number) && std::isfinite(number);
}

/// A residue's number and insertion code.
bool take_number(std::string_view& text, ResidueNumber& number) {
    if (!take_number_from(text, number.first)) return false;
    number.second = ' ';
    if (!text.empty() && std::string_view("-,:").find(text.front()) == std::string_view::npos) {
        number.second = text.front();
        text.remove_prefix(1);
    }
    return true;
}

bool take_separator(std::string_view& text) {
    if (text.empty() || (text.front() != '-' && text.front() != ':')) return false;
    text.remove_prefix(1);
    return true;
}

/// Parses ranges separated by commas; returns false for other text. Both ends of a range are
/// required unless `lowest` and `highest` are given; these replace missing ends.
template <class Number>
bool parse_ranges(std::string_view text, const Number* lowest, const Number* highest,
                  Ranges<Number>& ranges) {
    while (true) {
        std::pair<Number, Number> range;
        const bool has_first = take_number(text, range.first);
        if (take_separator(text)) {
            const bool has_last = take_number(text, range.second);
            if (!has_first && !has_last) return false;
            if ((!has_first || !has_last) && lowest == nullptr) return false;
            if (!has_first) range.first = *lowest;
            if (!has_last) range.second = *highest;
        } else if (has_first) {
            range.second = range.first;
        } else {
            return false;
        }
        if (range.second < range.first) return false;
        ranges.push_back(range);
        if (text.empty()) return true;
        if (text.front() != ',') return false;
        text.remove_prefix(1);
    }
}

bool is_separator(std::string_view word) { return word == "to" || word == ":" || word == "-"; }

/// The ranges of several words; `10 to 50` is three words.
template <class Number>
Ranges<Number> ranges_of(const Words& values, const Number* lowest, const Number* highest,
                         std::string_view expected) {
    Ranges<Number> ranges;
    for (std::size_t n = 0; n < values.size(); ++n) {
        std::string text(values[n]);
        const bool is_range = n + 2 < values.size() && is_separator(values[n + 1]);
        if (is_range) {
            text = fmt::format("{}:{}", values[n], values[n + 2]);
            n += 2;
        }
        // `10- 50` would mean 10 and everything after it, plus 50.
        const bool is_open = !text.empty() && (text.back() == '-' || text.back() == ':');
        const bool is_good = parse_ranges<Number>(text, is_range ? nullptr : lowest,
                                                  is_range ? nullptr : highest, ranges);
        if (!is_good || (is_open && n + 1 < values.size()))
            throw UsageError(
                fmt::format("expected {}, found '{}'", expected, fmt::join(values, " ")));
    }
    return ranges;
}

template <class Number>
bool is_in(const Ranges<Number>& ranges, const Number& number) {
    return std::ranges::any_of(
        ranges, [&](const auto& range) { return range.first <= number && number <= range.second; });
}

template <class Number>
bool compare(const Number& a, std::string_view sign, const Number& b) {
    if (sign == "<") return a < b;
    if (sign == "<=") return a <= b;
    if (sign == ">") return b < a;
    if (sign == ">=") return b <= a;
    return (a == b) == (sign != "!=");
}

bool is_of_residues(Key key) { return key == Key::resid; }

bool is_of_names(Key key) {
    return key == Key::name || key == Key::resname || key == Key::chain || key == Key::segment ||
           key == Key::element;
}

template <class Test>
Flags flags_of_atoms(const Topology& topology, const Test& test) {
    Flags flags(topology.atoms.size());
    for (std::size_t n = 0; n < flags.size(); ++n) flags[n] = test(static_cast<Index>(n));
    return flags;
}

ResidueNumber residue_number(const Topology& topology, Index atom) {
    const Topology::Residue& residue = topology.residue_of(atom);
    return {residue.number, residue.insertion};
}

double number_of(const Topology& topology, Key key, Index atom) {
    return key == Key::index ? static_cast<double>(atom) : topology.atoms[atom].b_factor;
}

/// If all B factors are 0, the file has none. pLDDT must be from 0 to 100.
void check_b_factors(const Topology& topology, Key key) {
    if ((key != Key::bfactor && key != Key::plddt) || topology.atoms.empty()) return;
    double lowest = topology.atoms.front().b_factor, highest = lowest;
    for (const Topology::Atom& atom : topology.atoms) {
        lowest = std::min(lowest, atom.b_factor);
        highest = std::max(highest, atom.b_factor);
    }
    if (lowest == 0 && highest == 0)
        throw InputError(topology.source.string(), 0,
                         "expected B factors for the selection, found none but 0");
    if (key == Key::plddt && (lowest < 0 || highest > 100 || highest <= 1))
        throw InputError(topology.source.string(), 0,
                         fmt::format("expected pLDDT from 0 to 100 as B factors, found {} to {}",
                                     lowest, highest));
}

/// Some programs write pLDDT from 0 to 1, though not in coordinate files.
void refuse_fraction(Key key, double highest) {
    if (key == Key::plddt && highest > 0 && highest <= 1)
        throw UsageError(
            fmt::format("expected pLDDT from 0 to 100, as in plddt >= 70, found {:g}", highest));
}

/// VMD's "H.*" would match no atom name here, and `not name` with it would select all atoms.
void refuse_quotes(std::string_view pattern) {
    if (pattern.front() == '"' || pattern.front() == '\'')
        throw UsageError(fmt::format(
            "expected a name without quotes, in which * stands for any letters and ? for one, "
            "found {}",
            pattern));
}

/// Returns the segment name, or the chain name in files without segments.
const std::string& of_segment(const Topology::Residue& residue) {
    return residue.segment.empty() ? residue.chain : residue.segment;
}

Flags name_flags(const Topology& topology, Key key, const Words& patterns) {
    const bool is_element = key == Key::element;
    std::vector<std::string> wanted;
    for (const std::string_view pattern : split_commas(patterns)) {
        refuse_quotes(pattern);
        wanted.push_back(is_element ? in_upper_case(pattern) : std::string(pattern));
    }
    return flags_of_atoms(topology, [&](Index n) {
        const Topology::Atom& atom = topology.atoms[n];
        const Topology::Residue& residue = topology.residue_of(n);
        const std::string found = key == Key::name      ? atom.name
                                  : key == Key::resname ? residue.name
                                  : key == Key::segment ? of_segment(residue)
                                  : key == Key::chain   ? residue.chain
                                                        : in_upper_case(atom.element);
        return std::ranges::any_of(wanted, [&](const std::string& name) {
            return matches(name, found) || (key == Key::chain && !residue.shared_chain.empty() &&
                                            matches(name, residue.shared_chain));
        });
    });
}

constexpr std::string_view kResidues =
    "residue numbers such as 10, 10 to 50 or 10-50,60A after 'resid'";
constexpr std::string_view kNumbers = "numbers such as 10, 10 to 50 or < 50";

}  // namespace

std::optional<Key> key_of(std::string_view word) {
    static const std::map<std::string_view, Key> kKeys = {
        {"name", Key::name},       {"resname", Key::resname}, {"chain", Key::chain},
        {"chainID", Key::chain},   {"chainid", Key::chain},   {"segid", Key::segment},
        {"segname", Key::segment}, {"element", Key::element}, {"resid", Key::resid},
        {"resSeq", Key::resid},    {"resnum", Key::resid},    {"index", Key::index},
        {"bfactor", Key::bfactor}, {"plddt", Key::plddt},     {"pLDDT", Key::plddt},
        {"first", Key::first},     {"last", Key::last}};
    const auto key = kKeys.find(word);
    return key == kKeys.end() ? std::nullopt : std::optional(key->second);
}

bool matches(std::string_view pattern, std::string_view text) {
    // After a mismatch the last `*` absorbs one more character.
    std::size_t at = 0, star = std::string_view::npos, resume = 0, n = 0;
    while (n < text.size()) {
        if (at < pattern.size() && pattern[at] == '*') {
            star = at++;
            resume = n;
        } else if (at < pattern.size() && (pattern[at] == '?' || pattern[at] == text[n])) {
            ++at;
            ++n;
        } else if (star != std::string_view::npos) {
            at = star + 1;
            n = ++resume;
        } else {
            return false;
        }
    }
    return pattern.find_first_not_of('*', at) == std::string_view::npos;
}

Flags residue_ranges(const Topology& topology, std::string_view term, std::string_view chain,
                     std::string_view text) {
    Ranges<ResidueNumber> ranges;
    if (!parse_ranges(text, &kFirstResidue, &kLastResidue, ranges))
        throw UsageError(fmt::format(
            "expected residues as chain:first-last, such as A:10-50 or A:10-50,60A, found '{}'",
            term));
    return flags_of_atoms(topology, [&](Index n) {
        return (chain.empty() || topology.residue_of(n).is_of_chain(chain)) &&
               is_in(ranges, residue_number(topology, n));
    });
}

Flags value_flags(const Topology& topology, Key key, const Words& values) {
    if (key == Key::first || key == Key::last) {
        Index count = 0;
        std::string_view text = values.front();
        if (!take_number_from(text, count) || !text.empty() || count < 1 || values.size() > 1)
            throw UsageError(fmt::format("expected a number of residues after '{}', found '{}'",
                                         key == Key::last ? "last" : "first",
                                         fmt::join(values, " ")));
        return ends_of_chains(topology, count, key == Key::last);
    }
    if (is_of_names(key)) return name_flags(topology, key, values);
    if (is_of_residues(key)) {
        const auto ranges = ranges_of(values, &kFirstResidue, &kLastResidue, kResidues);
        return flags_of_atoms(topology,
                              [&](Index n) { return is_in(ranges, residue_number(topology, n)); });
    }
    const auto ranges = ranges_of<double>(values, nullptr, nullptr, kNumbers);
    for (const auto& range : ranges) refuse_fraction(key, range.second);
    check_b_factors(topology, key);
    return flags_of_atoms(topology,
                          [&](Index n) { return is_in(ranges, number_of(topology, key, n)); });
}

Flags comparison_flags(const Topology& topology, Key key, std::string_view sign,
                       std::string_view value) {
    const auto refuse = [&](std::string_view expected) {
        throw UsageError(fmt::format("expected {}, found '{} {}'", expected, sign, value));
    };
    std::string_view text = value;
    if (is_of_names(key)) {
        if (sign.front() == '<' || sign.front() == '>')
            refuse("= or != between this word and a name");
        Flags flags = name_flags(topology, key, {value});
        if (sign == "!=")
            for (std::uint8_t& flag : flags) flag = !flag;
        return flags;
    }
    if (is_of_residues(key)) {
        ResidueNumber wanted;
        if (!take_number(text, wanted) || !text.empty()) refuse(kResidues);
        return flags_of_atoms(
            topology, [&](Index n) { return compare(residue_number(topology, n), sign, wanted); });
    }
    double wanted = 0;
    if (key == Key::first || key == Key::last || !take_number(text, wanted) || !text.empty())
        refuse("a number");
    refuse_fraction(key, wanted);
    check_b_factors(topology, key);
    return flags_of_atoms(
        topology, [&](Index n) { return compare(number_of(topology, key, n), sign, wanted); });
}

namespace {

using ResidueNumber = std::pair<int, char>;  // with the insertion code
using Names = std::set<std::string_view>;

bool is_backbone(std::string_view name) {
    static const Names kNames = {"N", "CA", "C", "O", "P", "O5'", "C5'", "C4'", "C3'", "O3'"};
    return kNames.contains(name);
}

/// Main chain of a protein: the backbone, the oxygens of the last residue, and their hydrogens.
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

/// [residue]: whether it has several atoms, one of which is CA, C3' or P.
std::vector<std::uint8_t> polymer_residues(const Topology& topology) {
    std::vector<std::uint8_t> polymer(topology.residues.size());
    for (const Topology::Atom& atom : topology.atoms) {
        if (is_carbon_alpha(atom) || atom.name == "C3'" || atom.name == "P")
            polymer[atom.residue] = 1;
    }
    return polymer;
}

std::vector<AtomRecord> records_of(const Topology& topology, ChainName name) {
    std::vector<AtomRecord> records;
    records.reserve(topology.atoms.size());
    for (const Topology::Atom& atom : topology.atoms) {
        const Topology::Residue& residue = topology.residues[atom.residue];
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
    return flags_of(topology, [&](const Topology::Atom& atom) { return residues[atom.residue]; });
}

/// Atoms of residues of one kind that pass a test.
template <class Test>
Flags kind_flags(const Topology& topology, ResidueKind kind, const Test& test) {
    const std::vector<ResidueKind> kinds = residue_kinds(topology);
    return flags_of(topology, [&](const Topology::Atom& atom) {
        return kinds[atom.residue] == kind && test(atom);
    });
}

bool is_any(const Topology::Atom&) { return true; }

/// Translates a keyword of another program into the one used here.
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

}  // namespace

bool has_chain(const Topology& topology, std::string_view name) {
    return std::ranges::any_of(topology.residues, [&](const Topology::Residue& residue) {
        return residue.is_of_chain(name);
    });
}

bool has_residue(const Topology& topology, std::string_view name) {
    return std::ranges::any_of(
        topology.residues, [&](const Topology::Residue& residue) { return residue.name == name; });
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
        return is_backbone(atom.name) && polymer[atom.residue];
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
        // A residue whose atoms are in several places of the file counts once.
        if (of_chain.count(number) == 0 && std::ssize(of_chain) == count) continue;
        of_chain.insert(number);
        chosen[at] = 1;
    }
    return atoms_of(topology, chosen);
}

Flags whole_residues(const Topology& topology, const Flags& flags) {
    std::vector<std::uint8_t> residues(topology.residues.size());
    for (std::size_t n = 0; n < flags.size(); ++n)
        if (flags[n]) residues[topology.atoms[n].residue] = 1;
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
        while (parent[atom] != atom) {
            Index& above = parent[atom];
            above = parent[above];  // shortens the way for later ones
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

Flags residue_or_gemmi_flags(const Topology& topology, std::string_view term) {
    const std::size_t colon = term.find(':');
    if (colon != std::string_view::npos && term.find_first_of("/([;") == std::string_view::npos)
        return residue_ranges(topology, term, term.substr(0, colon), term.substr(colon + 1));
    const auto flags_by = [&](ChainName name) {
        return match_cid(records_of(topology, name), std::string(term));
    };
    Flags flags = flags_by(ChainName::chain);
    const bool is_empty = std::ranges::find(flags, 1) == flags.end();
    return is_empty ? flags_by(ChainName::shared_chain) : flags;
}

std::string suggestion_for(const Topology& topology, std::string_view word) {
    if (word.find('@') != std::string_view::npos) return fmt::format("amber({})", word);
    if (const std::string known = foreign_word(word); !known.empty()) return known;
    const std::string small = in_lower_case(word);
    if (word.find_first_not_of("0123456789-,:") == std::string_view::npos)
        return fmt::format("resid {}", word);
    for (const Topology::Atom& atom : topology.atoms)
        if (in_lower_case(atom.name) == small) return fmt::format("name {}", atom.name);
    for (const Topology::Residue& residue : topology.residues)
        if (in_lower_case(residue.name) == small) return fmt::format("resname {}", residue.name);
    for (const Topology::Residue& residue : topology.residues)
        if (in_lower_case(residue.chain) == small) return fmt::format("chain {}", residue.chain);
    if (is_keyword(small) || key_of(small)) return small;
    return {};
}

std::string describe_contents(const Topology& topology) {
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
    std::ranges::sort(common);
    for (const auto& [count, name] : common) {
        if (atoms.size() < kMax) atoms.push_back(name);
    }
    return fmt::format("{} atoms; chains (residues) {}{}; atoms {}{}", topology.atom_count(),
                       fmt::join(chains, ", "), numbers.size() > kMax ? ", ..." : "",
                       fmt::join(atoms, ", "), names.size() > kMax ? ", ..." : "");
}

Flags near_flags(const Topology& topology, const Flags& others, double distance) {
    if (topology.positions.size() != topology.atoms.size())
        throw InputError(topology.source.string(), 0,
                         "expected coordinates of the topology for distances, found none");
    for (const Point& point : topology.positions)
        if (!std::ranges::all_of(point, [](double x) { return std::isfinite(x); }))
            throw InputError(topology.source.string(), 0,
                             "expected finite coordinates for distances, found others");
    std::vector<Point> points;
    for (std::size_t n = 0; n < others.size(); ++n)
        if (others[n]) points.push_back(topology.positions[n]);
    const PointTree tree(points);
    Flags near(others.size());
    for (std::size_t n = 0; n < near.size(); ++n)
        near[n] = others[n] || tree.has_near(topology.positions[n], distance);
    return near;
}

}  // namespace pleat::selection

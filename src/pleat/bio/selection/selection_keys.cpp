// Selection keys: names, numbers, ranges and comparisons.
#include "pleat/bio/selection/selection_keys.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <string>

#include "pleat/core/error.h"

namespace pleat::selection {

namespace {

/// Residue number and insertion code; blank comes before 'A'.
using ResidueNumber = std::pair<int, char>;
template <class Number>
using Ranges = std::vector<std::pair<Number, Number>>;

constexpr ResidueNumber kFirstResidue{std::numeric_limits<int>::min(), ' '};
constexpr ResidueNumber kLastResidue{std::numeric_limits<int>::max(), '~'};

/// Takes a number off the front; false, taking nothing, where there is none.
template <class Number>
bool take_plain(std::string_view& text, Number& number) {
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (problem != std::errc()) return false;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return true;
}

bool take_number(std::string_view& text, double& number) {
    return take_plain(text, number) && std::isfinite(number);
}

/// A residue's number and insertion code.
bool take_number(std::string_view& text, ResidueNumber& number) {
    if (!take_plain(text, number.first)) return false;
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

/// Ranges between commas; false where the text has others. Both ends of a range must be there
/// unless `lowest` and `highest` are, which stand for them.
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

/// The ranges of several words, of which `10 to 50` are three.
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
        // `10- 50` would be 10 and all after it, and 50 once more.
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
    return std::any_of(ranges.begin(), ranges.end(), [&](const auto& range) {
        return range.first <= number && number <= range.second;
    });
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
    return key == Key::index ? static_cast<double>(atom)
                             : topology.atoms[static_cast<std::size_t>(atom)].b_factor;
}

/// B factors that are all 0 are those of a file without them. As pLDDT they are from 0 to 100.
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

/// Some programs write pLDDT from 0 to 1 in other files than those of coordinates.
void refuse_fraction(Key key, double highest) {
    if (key == Key::plddt && highest > 0 && highest <= 1)
        throw UsageError(
            fmt::format("expected pLDDT from 0 to 100, as in plddt >= 70, found {:g}", highest));
}

std::string upper(std::string_view text) {
    std::string result(text);
    for (char& c : result) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return result;
}

/// VMD's "H.*" would be a name that no atom has, and `not name` of it all atoms.
void refuse_quotes(std::string_view pattern) {
    if (pattern.front() == '"' || pattern.front() == '\'')
        throw UsageError(fmt::format(
            "expected a name without quotes, in which * stands for any letters and ? for one, "
            "found {}",
            pattern));
}

/// Files without segments have chains in their place.
const std::string& of_segment(const Topology::Residue& residue) {
    return residue.segment.empty() ? residue.chain : residue.segment;
}

Flags name_flags(const Topology& topology, Key key, const Words& patterns) {
    const bool is_element = key == Key::element;
    std::vector<std::string> wanted;
    for (const std::string_view pattern : split_commas(patterns)) {
        refuse_quotes(pattern);
        wanted.push_back(is_element ? upper(pattern) : std::string(pattern));
    }
    return flags_of_atoms(topology, [&](Index n) {
        const Topology::Atom& atom = topology.atoms[static_cast<std::size_t>(n)];
        const Topology::Residue& residue = topology.residue_of(n);
        const std::string found = key == Key::name      ? atom.name
                                  : key == Key::resname ? residue.name
                                  : key == Key::segment ? of_segment(residue)
                                  : key == Key::chain   ? residue.chain
                                                        : upper(atom.element);
        return std::any_of(wanted.begin(), wanted.end(), [&](const std::string& name) {
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
    // The last `*` takes one character more whenever what follows it does not match.
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
        if (!take_plain(text, count) || !text.empty() || count < 1 || values.size() > 1)
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

}  // namespace pleat::selection

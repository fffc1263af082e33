// Selections: words, groups and operators to flags of atoms.
#include "pleat/bio/selection/selection.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <optional>
#include <utility>

#include "pleat/bio/selection/selection_terms.h"
#include "pleat/core/error.h"
#include "pleat/core/files/text.h"

namespace pleat::selection {

namespace {

bool is_and(std::string_view word) { return word == "and" || word == "&&"; }

bool is_or(std::string_view word) { return word == "or" || word == "||"; }

bool is_not(std::string_view word) { return word == "not" || word == "!"; }

bool is_operator(std::string_view word) { return is_and(word) || is_or(word) || is_not(word); }

bool is_comparison(std::string_view word) {
    return word == "<" || word == "<=" || word == ">" || word == ">=" || word == "=" ||
           word == "==" || word == "!=";
}

constexpr std::string_view kMask = "amber(";

/// Whether gemmi's list of residue names, `(ALA,GLY)` or `(!HOH)`, begins here rather than a group
/// in parentheses. A word that names a chain, or is CA, and is no residue name makes it a group.
bool is_residue_list(const Topology& topology, std::string_view text) {
    std::size_t at = text.starts_with("(!") ? 2 : 1, letters = 0;
    for (; at < text.size(); ++at) {
        const char c = text[at];
        if ((c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' || c == '-')
            ++letters;
        else if (c != ',')
            break;
    }
    if (letters == 0 || at == text.size() || text[at] != ')') return false;
    const std::string_view name = text.substr(1, at - 1);
    return has_residue(topology, name) || !(name == "CA" || has_chain(topology, name));
}

/// The length of an operator at the beginning of the text; 0 if there is none.
std::size_t operator_length(std::string_view text) {
    for (const std::string_view sign : {"&&", "||", "<=", ">=", "==", "!="})
        if (text.starts_with(sign)) return 2;
    constexpr std::string_view kSigns = "<>=!";
    return !text.empty() && kSigns.find(text.front()) != std::string_view::npos ? 1 : 0;
}

/// The length of a mask, up to its closing parenthesis or the end of the text.
std::size_t amber_mask_length(std::string_view text) {
    int open = 1;
    std::size_t end = kMask.size();
    for (; end < text.size() && open > 0; ++end)
        open += text[end] == '(' ? 1 : text[end] == ')' ? -1 : 0;
    return end;
}

bool takes_group(std::string_view word) {
    return is_operator(word) || word == "of" || word == "as";
}

/// The length of FILE.ndx:GROUP at the beginning of the text; 0 if there is none. Its names may
/// contain blanks; it ends at an operator or at the closing parenthesis of a group.
std::size_t index_group_length(std::string_view text) {
    if (takes_group(text.substr(0, text.find_first_of(" (")))) return 0;
    int open = 0;
    std::size_t end = 0;
    for (; end < text.size() && (text[end] != ')' || open > 0); ++end) {
        open += text[end] == '(' ? 1 : text[end] == ')' ? -1 : 0;
        if (text[end] != ' ') continue;
        const std::string_view rest = text.substr(end + 1);
        if (takes_group(rest.substr(0, rest.find_first_of(" (")))) break;
    }
    return index_file(text.substr(0, end)).empty() ? 0 : end;
}

/// The length of the word at the beginning of the text, which is not blank.
std::size_t word_length(const Topology& topology, std::string_view text) {
    if (const std::size_t sign = operator_length(text); sign > 0) return sign;
    if (text.starts_with(kMask)) return amber_mask_length(text);
    if (text.front() == ')' || (text.front() == '(' && !is_residue_list(topology, text))) return 1;
    if (const std::size_t group = index_group_length(text); group > 0) return group;
    int open = text.front() == '(';
    bool is_plain = open == 0;  // letters and digits so far
    std::size_t end = 1;
    for (; end < text.size() && text[end] != ' ' && text[end] != '\t'; ++end) {
        const char c = text[end];
        is_plain = is_plain && std::isalnum(static_cast<unsigned char>(text[end - 1])) != 0;
        if (c == '(' && takes_group(text.substr(0, end))) break;
        if (c == ')' && open == 0) break;
        const std::string_view rest = text.substr(end);
        if (open == 0 && (rest.starts_with("&&") || rest.starts_with("||"))) break;
        // Operators inside a word of gemmi's syntax belong to it: //A/(!HOH), //A//;b<20.
        if (is_plain && operator_length(rest) > 0) break;
        open += c == '(' ? 1 : c == ')' ? -1 : 0;
    }
    return end;
}

/// Splits at blanks, parentheses and operators. One word each: `!`, `&&`, `||`, the comparisons `<`
/// `<=` `>` `>=` `=` `==` `!=`, a mask such as `amber(:1-3@CA)` with its parentheses, and gemmi's
/// syntax with its lists: `//A/(ALA,GLY)`. Capitals in parentheses, `(ALA,GLY)`, are a list of
/// residue names, unless the word names a chain of the structure, or is CA, and is no residue name.
Words words_of(const Topology& topology, std::string_view text) {
    Words words;
    while (true) {
        text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
        if (text.empty()) return words;
        const std::size_t length = word_length(topology, text);
        words.push_back(text.substr(0, length));
        text.remove_prefix(length);
    }
}

constexpr std::string_view kEnding = ".ndx";

struct Group {
    std::string name;
    std::vector<Index> atoms;  // ascending
};

std::vector<Group> read_groups(ByteSource& source, Index atom_count) {
    std::vector<Group> groups;
    std::string_view line;
    while (source.next(line)) {
        const std::string_view text = trimmed(line.substr(0, line.find(';')));
        if (text.empty()) continue;
        if (text.front() == '[') {
            const std::size_t end = text.find(']');
            if (end == std::string_view::npos || !is_printable_ascii(text))
                throw InputError(
                    source.name(), source.line(),
                    fmt::format("expected a group as [ name ], found {}", in_quotes(text)));
            groups.push_back({std::string(trimmed(text.substr(1, end - 1))), {}});
            continue;
        }
        for (const std::string_view word : words(text)) {
            Index atom = 0;
            if (groups.empty() || !parse_number(word, atom) || atom < 1 || atom > atom_count)
                throw InputError(
                    source.name(), source.line(),
                    fmt::format("expected {}, found {}",
                                groups.empty() ? std::string("a group as [ name ]")
                                               : fmt::format("atoms from 1 to {}", atom_count),
                                in_quotes(word)));
            groups.back().atoms.push_back(atom - 1);
        }
    }
    for (Group& group : groups) {
        std::ranges::sort(group.atoms);
        group.atoms.erase(std::unique(group.atoms.begin(), group.atoms.end()), group.atoms.end());
    }
    return groups;
}

}  // namespace

std::string index_file(std::string_view word) {
    const std::size_t at = word.rfind(kEnding);
    if (at == std::string_view::npos || at == 0) return {};
    const std::string_view rest = word.substr(at + kEnding.size());
    return rest.empty() || rest.front() == ':' ? std::string(word.substr(0, at + kEnding.size()))
                                               : std::string();
}

std::vector<std::string> index_files(std::string_view text) {
    std::vector<std::string> files;
    for (const std::string_view word : words_of({}, text))
        if (std::string file = index_file(word); !file.empty()) files.push_back(std::move(file));
    return files;
}

std::vector<Index> read_index_group(ByteSource& source, std::optional<std::string_view> name,
                                    Index atom_count) {
    std::vector<Group> groups = read_groups(source, atom_count);
    std::vector<std::string> names;
    Group* found = nullptr;
    for (Group& group : groups) {
        names.push_back(group.name);
        if (name ? group.name != *name : groups.size() > 1) continue;
        if (found != nullptr && found->atoms != group.atoms)
            throw InputError(
                source.name(), 0,
                fmt::format("expected one group '{}', found two with other atoms", group.name));
        found = &group;
    }
    if (found == nullptr)
        throw InputError(
            source.name(), 0,
            fmt::format("expected {}, found {}",
                        name ? fmt::format("group {}", in_quotes(*name))
                             : std::string("one group, or its name behind a colon"),
                        names.empty() ? std::string("no groups")
                                      : fmt::format("'{}'", fmt::join(names, "', '"))));
    if (found->atoms.empty())
        throw InputError(source.name(), 0,
                         fmt::format("expected atoms in group '{}', found none", found->name));
    return std::move(found->atoms);
}

std::vector<Index> read_index_group(std::string_view text, Index atom_count) {
    const std::string file = index_file(text);
    const std::size_t end = file.size();
    ByteSource source(std::filesystem::path(file), ByteSource::kMaxBytes);
    return read_index_group(
        source, end < text.size() ? std::optional(text.substr(end + 1)) : std::nullopt, atom_count);
}

}  // namespace pleat::selection

namespace pleat {

namespace {

using namespace selection;  // NOLINT(google-build-using-namespace): its own parts

/// Terms and groups with `not`, joined by `and`, joined by `or`.
class Expression {
public:
    Expression(const Topology& topology, std::string_view text)
        : topology_(topology), text_(text), words_(words_of(topology, text)) {}

    Flags evaluate() {
        Flags taken = disjunction();
        if (at_ < words_.size()) refuse();
        return taken;
    }

private:
    bool take(std::string_view word) {
        return take_if([word](std::string_view found) { return found == word; });
    }

    template <class Test>
    bool take_if(const Test& test) {
        if (at_ == words_.size() || !test(words_[at_])) return false;
        ++at_;
        return true;
    }

    Flags disjunction() {
        Flags taken = conjunction();
        while (take_if(is_or)) {
            const Flags other = conjunction();
            for (std::size_t i = 0; i < taken.size(); ++i) taken[i] |= other[i];
        }
        return taken;
    }

    Flags conjunction() {
        Flags taken = factor();
        while (take_if(is_and)) {
            const Flags other = factor();
            for (std::size_t i = 0; i < taken.size(); ++i) taken[i] &= other[i];
        }
        return taken;
    }

    Flags factor() {
        constexpr int kMaxDepth = 100;  // calls of these functions that the stack has room for
        if (++depth_ > kMaxDepth) refuse();
        bool negated = false;
        while (take_if(is_not)) negated = !negated;
        Flags flags = take("(") ? group() : term();
        if (negated) {
            for (std::uint8_t& flag : flags) flag = !flag;
        }
        --depth_;
        return flags;
    }

    Flags group() {
        Flags flags = disjunction();
        if (!take(")")) refuse("')'");
        return flags;
    }

    Flags term() {
        if (at_ == words_.size() || is_operator(words_[at_]) || is_comparison(words_[at_]) ||
            words_[at_] == ")")
            refuse();
        const std::string_view word = words_[at_++];
        if (!index_file(word).empty()) return index_group(word);
        if (!topology_.named && word != "all")
            throw InputError(
                topology_.source.string(), 0,
                fmt::format("expected atoms with names for the selection '{}', found coordinates "
                            "only: give a topology (PDB, GRO, PSF, PRMTOP, ...)",
                            text_));
        if (const std::optional<Key> key = key_of(word)) return keyed(word, *key);
        if (word == "same") return same();
        if (word == "within") return within();
        if (word.starts_with("amber(")) return mask(word);
        if (std::optional<Flags> flags = keyword_flags(topology_, word)) return std::move(*flags);
        refuse_absent_chain(word);
        if (word.find('@') != std::string_view::npos && word.find('/') == std::string_view::npos)
            throw UsageError(
                fmt::format("expected residues by their numbers, found '{}' {}: did you mean "
                            "'amber({})', where "
                            "residues are counted from 1?",
                            word, position(word), word));
        return located(word, [&] { return residue_or_gemmi_flags(topology_, word); });
    }

    /// Values or a comparison behind a key.
    Flags keyed(std::string_view word, Key key) {
        if (at_ < words_.size() && is_comparison(words_[at_])) {
            const std::string_view sign = words_[at_++];
            if (!is_value()) refuse(fmt::format("a value after '{} {}'", word, sign));
            const std::string_view value = words_[at_++];
            return located(word, [&] { return comparison_flags(topology_, key, sign, value); });
        }
        Words values;
        while (is_value()) {
            refuse_joined(key);
            values.push_back(words_[at_++]);
        }
        if (values.empty()) refuse(fmt::format("values after '{}'", word));
        return located(word, [&] { return value_flags(topology_, key, values); });
    }

    bool is_value() const {
        return at_ < words_.size() && !is_operator(words_[at_]) && !is_comparison(words_[at_]) &&
               words_[at_] != "(" && words_[at_] != ")";
    }

    /// Without `and`, `chain A resid 10` would mean three chain names.
    void refuse_joined(Key key) const {
        const std::string_view word = words_[at_];
        const bool is_word = is_keyword(word) || key_of(word) || word == "same" ||
                             word == "within" || word == "to" || word.starts_with("amber(");
        const bool is_range = word == "to" && (key == Key::resid || key == Key::index ||
                                               key == Key::bfactor || key == Key::plddt);
        if (!is_word || is_range || topology_.atoms.empty()) return;
        const Flags flags = value_flags_of_name(key, word);
        if (std::ranges::find(flags, 1) == flags.end())
            refuse(fmt::format("'and' or 'or' before '{}'", word));
    }

    /// A chain, an atom or an element may have the name of a word.
    Flags value_flags_of_name(Key key, std::string_view word) const {
        const bool is_name = key == Key::name || key == Key::resname || key == Key::chain ||
                             key == Key::segment || key == Key::element;
        return is_name ? value_flags(topology_, key, {word}) : Flags();
    }

    Flags same() {
        std::string what;
        for (const char* word : {"residue", "chain", "molecule", "fragment"})
            if (take(word)) what = word;
        if (what.empty()) refuse("'residue', 'chain' or 'molecule' after 'same'");
        if (!take("as")) refuse(fmt::format("'as' after 'same {}'", what));
        const Flags flags = factor();
        return what == "residue" ? whole_residues(topology_, flags)
               : what == "chain" ? whole_chains(topology_, flags)
                                 : bonded_molecules(topology_, flags);
    }

    Flags within() {
        double distance = 0;
        if (at_ == words_.size()) refuse("a distance in angstrom after 'within'");
        const std::string_view word = words_[at_];
        if (!parse_number(word, distance) || !std::isfinite(distance) || distance < 0)
            refuse("a distance in angstrom after 'within'");
        ++at_;
        if (!take("of")) refuse(fmt::format("'of' after 'within {}'", word));
        return near_flags(topology_, factor(), distance);
    }

    Flags index_group(std::string_view word) const {
        Flags flags(topology_.atoms.size());
        if (flags.empty()) return flags;  // check_selection()
        for (const Index atom : read_index_group(word, topology_.atom_count())) flags[atom] = 1;
        return flags;
    }

    Flags mask(std::string_view word) const {
        if (word.back() != ')')
            throw UsageError(
                fmt::format("expected ')' after the mask '{}' {}", word, position(word)));
        const std::size_t begin = word.find('(') + 1;
        return located(word, [&] {
            return mask_flags(topology_, word.substr(begin, word.size() - begin - 1));
        });
    }

    std::string position(std::string_view word) const {
        return fmt::format("at character {} of '{}'", word.data() - text_.data() + 1, text_);
    }

    /// Calls `make` and adds the position of the word in the text to its UsageErrors.
    template <class Make>
    Flags located(std::string_view word, const Make& make) const {
        try {
            return make();
        } catch (const UsageError& error) {
            if (word == text_) throw;
            throw UsageError(fmt::format("{} ({})", error.what(), position(word)));
        }
    }

    /// A word of letters and digits names chains; if the structure lacks the chain, it is more
    /// likely an error than an empty selection.
    void refuse_absent_chain(std::string_view word) const;

    [[noreturn]] void refuse(std::string_view expected =
                                 "a selection: terms and groups in "
                                 "parentheses, joined by 'and', 'or' and "
                                 "'not'") const {
        const std::string found = at_ == words_.size()
                                      ? fmt::format("the end of '{}'", text_)
                                      : fmt::format("'{}' {}", words_[at_], position(words_[at_]));
        throw UsageError(fmt::format("expected {}, found {}", expected, found));
    }

    const Topology& topology_;
    std::string_view text_;
    Words words_;
    std::size_t at_ = 0;
    int depth_ = 0;
};

void Expression::refuse_absent_chain(std::string_view word) const {
    const bool names_chains =
        std::ranges::all_of(word, [](unsigned char c) { return std::isalnum(c) != 0 || c == ','; });
    if (!names_chains || topology_.atoms.empty()) return;
    for (const std::string_view chain : split_commas({word})) {
        if (has_chain(topology_, chain)) continue;
        std::string advice = suggestion_for(topology_, chain);
        if (!advice.empty()) advice = fmt::format(" (did you mean '{}'?)", advice);
        throw InputError(
            topology_.source.string(), 0,
            fmt::format("expected a keyword or a chain of the structure, found '{}' {}{}: "
                        "the structure has {}",
                        chain, position(word), advice, describe_contents(topology_)));
    }
}

}  // namespace

std::vector<Index> select_atoms(const Topology& topology, std::string_view text) {
    const Flags taken = Expression(topology, text).evaluate();
    std::vector<Index> atoms;
    for (std::size_t i = 0; i < taken.size(); ++i) {
        if (taken[i]) atoms.push_back(static_cast<Index>(i));
    }
    if (atoms.empty()) {
        throw InputError(topology.source.string(), 0,
                         fmt::format("expected atoms for the selection '{}', found none: the "
                                     "structure has {}",
                                     text, describe_contents(topology)));
    }
    return atoms;
}

void check_selection(std::string_view text) {
    const Topology nothing;
    Expression(nothing, text).evaluate();
}

std::vector<Index> positions_among(const std::vector<Index>& some, const std::vector<Index>& all) {
    std::vector<Index> positions;
    positions.reserve(some.size());
    for (const Index atom : some)
        positions.push_back(std::ranges::lower_bound(all, atom) - all.begin());
    return positions;
}

}  // namespace pleat

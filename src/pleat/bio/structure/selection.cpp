// Selections: words, groups and operators to flags of atoms.
#include "pleat/bio/structure/selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

#include "pleat/bio/structure/selection_terms.h"
#include "pleat/core/error.h"

namespace pleat {

namespace {

using selection::contents_of, selection::Flags, selection::has_chain, selection::keyword_flags,
    selection::split_commas, selection::takes_values, selection::value_flags, selection::Words,
    selection::written_flags;

bool is_operator(std::string_view word) { return word == "and" || word == "or" || word == "not"; }

bool has_residue(const Topology& topology, std::string_view name) {
    return std::any_of(topology.residues.begin(), topology.residues.end(),
                       [&](const Topology::Residue& residue) { return residue.name == name; });
}

/// Whether gemmi's list of residue names, `(ALA,GLY)` or `(!HOH)`, begins here and not a group: not
/// where it is a chain, or CA, and no residue.
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

/// Words and the parentheses of groups; parentheses within a word, as in //A/(ALA,GLY), stay there.
Words words_of(const Topology& topology, std::string_view text) {
    Words words;
    while (true) {
        text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
        if (text.empty()) return words;
        std::size_t end = 1;
        if (text.front() != ')' && (text.front() != '(' || is_residue_list(topology, text))) {
            int open = text.front() == '(';
            for (; end < text.size() && text[end] != ' ' && text[end] != '\t'; ++end) {
                if (text[end] == '(' && is_operator(text.substr(0, end))) break;
                if (text[end] == ')' && open == 0) break;
                open += text[end] == '(' ? 1 : text[end] == ')' ? -1 : 0;
            }
        }
        words.push_back(text.substr(0, end));
        text.remove_prefix(end);
    }
}

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
        if (at_ == words_.size() || words_[at_] != word) return false;
        ++at_;
        return true;
    }

    Flags disjunction() {
        Flags taken = conjunction();
        while (take("or")) {
            const Flags other = conjunction();
            for (std::size_t i = 0; i < taken.size(); ++i) taken[i] |= other[i];
        }
        return taken;
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
        Flags flags = take("(") ? group() : term();
        if (negated) {
            for (std::uint8_t& flag : flags) flag = !flag;
        }
        return flags;
    }

    Flags group() {
        constexpr int kMaxGroups = 100;  // calls of these functions that the stack has room for
        if (++groups_ > kMaxGroups) refuse();
        Flags flags = disjunction();
        --groups_;
        if (!take(")")) refuse("')'");
        return flags;
    }

    Flags term() {
        if (at_ == words_.size() || is_operator(words_[at_]) || words_[at_] == ")") refuse();
        const std::string_view word = words_[at_++];
        if (takes_values(word)) {
            const std::size_t first = at_;
            while (at_ < words_.size() && !is_operator(words_[at_]) && words_[at_] != "(" &&
                   words_[at_] != ")")
                ++at_;
            if (at_ == first) refuse(fmt::format("values after '{}'", word));
            const Words values(words_.begin() + static_cast<std::ptrdiff_t>(first),
                               words_.begin() + static_cast<std::ptrdiff_t>(at_));
            return located(word, [&] { return value_flags(topology_, word, values); });
        }
        if (std::optional<Flags> flags = keyword_flags(topology_, word)) return std::move(*flags);
        refuse_absent_chain(word);
        return located(word, [&] { return written_flags(topology_, word); });
    }

    std::string position(std::string_view word) const {
        return fmt::format("at character {} of '{}'", word.data() - text_.data() + 1, text_);
    }

    /// `make`, whose UsageErrors do not say where the word stands.
    template <class Make>
    Flags located(std::string_view word, const Make& make) const {
        try {
            return make();
        } catch (const UsageError& error) {
            if (word == text_) throw;
            throw UsageError(fmt::format("{} ({})", error.what(), position(word)));
        }
    }

    /// A word of letters and digits names chains; one that the structure lacks is rather a slip
    /// than a selection of nothing.
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
    int groups_ = 0;
};

void Expression::refuse_absent_chain(std::string_view word) const {
    const bool names_chains = std::all_of(
        word.begin(), word.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == ','; });
    if (!names_chains || topology_.atoms.empty()) return;
    for (const std::string_view chain : split_commas({word})) {
        if (has_chain(topology_, chain)) continue;
        throw InputError(
            topology_.source.string(), 0,
            fmt::format("expected a keyword or a chain of the structure, found '{}' {}: "
                        "the structure has {}",
                        chain, position(word), contents_of(topology_)));
    }
}

}  // namespace

std::vector<Index> select_atoms(const Topology& topology, std::string_view text) {
    if (!topology.named && words_of(topology, text) != Words{"all"}) {
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
                                     text, contents_of(topology)));
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
        positions.push_back(std::lower_bound(all.begin(), all.end(), atom) - all.begin());
    return positions;
}

}  // namespace pleat

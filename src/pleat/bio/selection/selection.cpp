// Selections: words, groups and operators to flags of atoms.
#include "pleat/bio/selection/selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "pleat/bio/selection/atom_mask.h"
#include "pleat/bio/selection/index_groups.h"
#include "pleat/bio/selection/near_atoms.h"
#include "pleat/bio/selection/selection_keys.h"
#include "pleat/bio/selection/selection_terms.h"
#include "pleat/bio/selection/selection_words.h"
#include "pleat/core/error.h"

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
        return located(word, [&] { return written_flags(topology_, word); });
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

    /// `chain A resid 10` without `and` would be chains of three names.
    void refuse_joined(Key key) const {
        const std::string_view word = words_[at_];
        const bool is_word = is_keyword(word) || key_of(word) || word == "same" ||
                             word == "within" || word == "to" || word.starts_with("amber(");
        const bool is_range = word == "to" && (key == Key::resid || key == Key::index ||
                                               key == Key::bfactor || key == Key::plddt);
        if (!is_word || is_range || topology_.atoms.empty()) return;
        const Flags flags = value_flags_of_name(key, word);
        if (std::find(flags.begin(), flags.end(), 1) == flags.end())
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
        const auto [end, problem] =
            std::from_chars(word.data(), word.data() + word.size(), distance);
        if (problem != std::errc() || end != word.data() + word.size() ||
            !std::isfinite(distance) || distance < 0)
            refuse("a distance in angstrom after 'within'");
        ++at_;
        if (!take("of")) refuse(fmt::format("'of' after 'within {}'", word));
        return near_flags(topology_, factor(), distance);
    }

    Flags index_group(std::string_view word) const {
        Flags flags(topology_.atoms.size());
        if (flags.empty()) return flags;  // check_selection()
        for (const Index atom : read_index_group(word, topology_.atom_count()))
            flags[static_cast<std::size_t>(atom)] = 1;
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

    /// Calls `make`, whose UsageErrors do not say where in the text the word is.
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
    int depth_ = 0;
};

void Expression::refuse_absent_chain(std::string_view word) const {
    const bool names_chains = std::all_of(
        word.begin(), word.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == ','; });
    if (!names_chains || topology_.atoms.empty()) return;
    for (const std::string_view chain : split_commas({word})) {
        if (has_chain(topology_, chain)) continue;
        std::string advice = advice_for(topology_, chain);
        if (!advice.empty()) advice = fmt::format(" (did you mean '{}'?)", advice);
        throw InputError(
            topology_.source.string(), 0,
            fmt::format("expected a keyword or a chain of the structure, found '{}' {}{}: "
                        "the structure has {}",
                        chain, position(word), advice, contents_of(topology_)));
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

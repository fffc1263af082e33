// Atom masks: recursive descent over the characters of a mask.
#include "pleat/bio/selection/selection_terms.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "pleat/core/error.h"
#include "pleat/core/files/text.h"

namespace pleat::selection {

namespace {

/// One of a list: a range of positions from 1, or a name.
struct Item {
    Index first = 0, last = 0;  // 0: a name
    std::string name;           // with * and ?
};

bool is_in(const std::vector<Item>& items, Index position, std::string_view name) {
    return std::ranges::any_of(items, [&](const Item& item) {
        return item.first > 0 ? item.first <= position && position <= item.last
                              : matches(item.name, name);
    });
}

class Mask {
public:
    Mask(const Topology& topology, std::string_view text) : topology_(topology), text_(text) {}

    Flags evaluate() {
        Flags flags = any_of();
        if (at_ < text_.size()) refuse();
        return flags;
    }

private:
    [[noreturn]] void refuse() const {
        throw UsageError(
            fmt::format("expected an AMBER mask such as :1-3@CA or :ALA,GLY in amber( ), found {}",
                        at_ < text_.size() ? fmt::format("'{}' in '{}'", text_.substr(at_), text_)
                                           : fmt::format("the end of '{}'", text_)));
    }

    bool take(std::string_view sign) {
        while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0)
            ++at_;
        if (!text_.substr(at_).starts_with(sign)) return false;
        at_ += sign.size();
        return true;
    }

    Flags any_of() {
        Flags flags = all_of();
        while (take("|")) {
            const Flags other = all_of();
            for (std::size_t n = 0; n < flags.size(); ++n) flags[n] |= other[n];
        }
        return flags;
    }

    Flags all_of() {
        Flags flags = near();
        while (take("&")) {
            const Flags other = near();
            for (std::size_t n = 0; n < flags.size(); ++n) flags[n] &= other[n];
        }
        return flags;
    }

    /// Parses a term, perhaps with a distance: residues or atoms within (<) or beyond (>) it.
    Flags near() {
        Flags flags = term();
        while (true) {
            const bool is_within = take("<");
            if (!is_within && !take(">")) return flags;
            const bool residues = take(":");
            if (!residues && !take("@")) refuse();
            double distance = 0;
            std::string_view rest = text_.substr(at_);
            if (!take_number_from(rest, distance) || !std::isfinite(distance) || distance < 0)
                refuse();
            at_ = text_.size() - rest.size();
            flags = near_flags(topology_, flags, distance);
            if (residues) flags = whole_residues(topology_, flags);
            if (!is_within)
                for (std::uint8_t& flag : flags) flag = !flag;
        }
    }

    Flags term() {
        constexpr int kMaxDepth = 100;  // calls of these functions that the stack has room for
        if (depth_ == kMaxDepth) refuse();
        if (take("!")) {
            ++depth_;
            Flags flags = term();
            --depth_;
            for (std::uint8_t& flag : flags) flag = !flag;
            return flags;
        }
        if (take("(")) {
            ++depth_;
            Flags flags = any_of();
            --depth_;
            if (!take(")")) refuse();
            return flags;
        }
        if (take("*")) return Flags(topology_.atoms.size(), 1);
        return atoms_of_lists();
    }

    /// `::A`, `:1-3`, `@CA`, and several of these in a row.
    Flags atoms_of_lists() {
        Flags flags(topology_.atoms.size(), 1);
        bool has_list = false;
        const auto keep = [&](const auto& test) {
            has_list = true;
            for (std::size_t n = 0; n < flags.size(); ++n)
                flags[n] = flags[n] && test(topology_.atoms[n], static_cast<Index>(n));
        };
        const auto residue = [&](const Topology::Atom& atom) -> const Topology::Residue& {
            return topology_.residues[atom.residue];
        };
        while (true) {
            if (take("::")) {
                const auto items = list(false);
                keep([&](const auto& atom, Index) {
                    const Topology::Residue& one = residue(atom);
                    return is_in(items, 0, one.chain) ||
                           (!one.shared_chain.empty() && is_in(items, 0, one.shared_chain));
                });
            } else if (take(":")) {
                const auto items = list(true);
                keep([&](const auto& atom, Index) {
                    return is_in(items, atom.residue + 1, residue(atom).name);
                });
            } else if (take("@/")) {
                const auto items = list(false);
                keep([&](const auto& atom, Index) { return is_in(items, 0, atom.element); });
            } else if (take("@")) {
                const auto items = list(true);
                keep([&](const auto& atom, Index n) { return is_in(items, n + 1, atom.name); });
            } else if (has_list) {
                return flags;
            } else {
                refuse();
            }
        }
    }

    /// Names and, if they count here, positions between commas.
    std::vector<Item> list(bool has_positions) {
        std::vector<Item> items;
        do {
            const std::size_t begin = at_;
            while (at_ < text_.size() && is_of_name(text_[at_])) ++at_;
            const std::string_view word = text_.substr(begin, at_ - begin);
            if (word.empty()) refuse();
            Item item{.name = std::string(word)};
            // AMBER's manual writes @H= where others write H*.
            std::replace(item.name.begin(), item.name.end(), '=', '*');
            if (has_positions && word.find_first_not_of("0123456789-") == std::string_view::npos &&
                !as_positions(word, item)) {
                at_ = begin;
                refuse();
            }
            items.push_back(item);
        } while (at_ < text_.size() && text_[at_] == ',' && ++at_ > 0);
        return items;
    }

    static bool is_of_name(char c) {
        return std::isspace(static_cast<unsigned char>(c)) == 0 &&
               std::string_view(",@:&|!()<>/%^;").find(c) == std::string_view::npos;
    }

    static bool as_positions(std::string_view word, Item& item) {
        const auto number = [&](Index& value) {
            return take_number_from(word, value) && value > 0;
        };
        if (!number(item.first)) return false;
        item.last = item.first;
        if (word.empty()) return true;
        if (word.front() != '-') return false;
        word.remove_prefix(1);
        return number(item.last) && word.empty() && item.last >= item.first;
    }

    const Topology& topology_;
    std::string_view text_;
    std::size_t at_ = 0;
    int depth_ = 0;
};

}  // namespace

Flags mask_flags(const Topology& topology, std::string_view mask) {
    return Mask(topology, mask).evaluate();
}

}  // namespace pleat::selection

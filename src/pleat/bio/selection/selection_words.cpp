// Selection words: where each word of a selection ends.
#include "pleat/bio/selection/selection_words.h"

#include <algorithm>
#include <cctype>

#include "pleat/bio/selection/index_groups.h"
#include "pleat/bio/selection/selection_terms.h"

namespace pleat::selection {

namespace {

constexpr std::string_view kMask = "amber(";

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

/// The length of an operator at the beginning of the text; 0 if there is none.
std::size_t operator_length(std::string_view text) {
    for (const std::string_view sign : {"&&", "||", "<=", ">=", "==", "!="})
        if (text.starts_with(sign)) return 2;
    constexpr std::string_view kSigns = "<>=!";
    return !text.empty() && kSigns.find(text.front()) != std::string_view::npos ? 1 : 0;
}

/// The length of a mask, to the parenthesis that closes it or the end of the text.
std::size_t mask_length(std::string_view text) {
    int open = 1;
    std::size_t end = kMask.size();
    for (; end < text.size() && open > 0; ++end)
        open += text[end] == '(' ? 1 : text[end] == ')' ? -1 : 0;
    return end;
}

bool takes_group(std::string_view word) {
    return is_operator(word) || word == "of" || word == "as";
}

/// The length of FILE.ndx:GROUP at the beginning of the text, whose names may have blanks, to an
/// operator or the parenthesis that closes a group; 0 if there is none.
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
    if (text.starts_with(kMask)) return mask_length(text);
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
        // Within a word of gemmi's syntax the others are its own: //A/(!HOH), //A//;b<20.
        if (is_plain && operator_length(rest) > 0) break;
        open += c == '(' ? 1 : c == ')' ? -1 : 0;
    }
    return end;
}

}  // namespace

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

bool is_and(std::string_view word) { return word == "and" || word == "&&"; }

bool is_or(std::string_view word) { return word == "or" || word == "||"; }

bool is_not(std::string_view word) { return word == "not" || word == "!"; }

bool is_operator(std::string_view word) { return is_and(word) || is_or(word) || is_not(word); }

bool is_comparison(std::string_view word) {
    return word == "<" || word == "<=" || word == ">" || word == ">=" || word == "=" ||
           word == "==" || word == "!=";
}

}  // namespace pleat::selection

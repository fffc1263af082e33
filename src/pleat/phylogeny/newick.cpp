// Newick: trees as text, read with one pass and no recursion, and written.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

#include "pleat/bio/input/byte_source.h"
#include "pleat/core/error.h"
#include "pleat/core/files/text.h"
#include "pleat/phylogeny/tree.h"

namespace pleat::phylogeny {

namespace {

constexpr std::string_view kMarks = "()[]':;,";

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

class NewickParser {
public:
    NewickParser(const std::string& name, std::string_view text) : name_(name), text_(text) {}

    Tree parse() {
        struct Open {
            Index node;
            int children = 0;
        };
        std::vector<Open> open;  // the inner nodes around the next one
        const auto add_node = [&](std::string name, Index row) {
            return tree_.add(open.empty() ? -1 : open.back().node, std::move(name), row);
        };
        while (true) {
            skip();
            if (peek() == '(') {
                ++at_;
                open.push_back({add_node("", -1)});
                continue;
            }
            Index node = add_node(leaf_name(), leaf_count_++);
            // What may follow a node: its length, and then the end of its parent, again and again.
            while (true) {
                read_length(node);
                skip();
                if (open.empty()) return finished();
                ++open.back().children;
                const char mark = peek();
                if (mark != ',' && mark != ')') refuse("',' or ')'");
                ++at_;
                if (mark == ',') break;
                if (open.back().children < 2)
                    throw InputError(
                        name_, line(),
                        "expected at least 2 branches below every node, found a node with one");
                node = open.back().node;
                open.pop_back();
                skip();
                label();  // of an inner node
            }
        }
    }

private:
    char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

    std::int64_t line() const {
        const auto end = text_.begin() + static_cast<Index>(std::min(at_, text_.size()));
        return 1 + std::count(text_.begin(), end, '\n');
    }

    [[noreturn]] void refuse(std::string_view expected) const {
        const std::string_view rest = text_.substr(std::min(at_, text_.size()));
        throw InputError(name_, line(),
                         fmt::format("expected {}, found {}", expected,
                                     rest.empty() ? "the end of the file"
                                                  : in_quotes(rest.substr(0, rest.find('\n')))));
    }

    /// Passes over white space and comments.
    void skip() {
        while (at_ < text_.size()) {
            if (text_[at_] == '[') {
                const std::size_t end = text_.find(']', at_);
                if (end == text_.npos) refuse("']' at the end of a comment");
                at_ = end + 1;
            } else if (is_space(text_[at_])) {
                ++at_;
            } else {
                return;
            }
        }
    }

    std::string label() {
        std::string name;
        if (peek() == '\'') {
            for (++at_; at_ < text_.size(); ++at_) {
                if (text_[at_] != '\'') {
                    name += text_[at_];
                } else if (text_.substr(at_, 2) == "''") {
                    name += '\'';
                    ++at_;
                } else {
                    ++at_;
                    return name;
                }
            }
            refuse("a quote at the end of a name");
        }
        while (at_ < text_.size() && kMarks.find(text_[at_]) == kMarks.npos &&
               !is_space(text_[at_]))
            name += text_[at_++];
        return name;
    }

    std::string leaf_name() {
        std::string name = label();
        if (name.empty()) refuse("the name of a leaf or '('");
        if (!seen_.insert(name).second)
            throw InputError(
                name_, line(),
                fmt::format("expected each leaf once, found {} twice", in_quotes(name)));
        return name;
    }

    void read_length(Index node) {
        skip();
        if (peek() != ':') return;
        ++at_;
        skip();
        std::string_view rest = text_.substr(at_);
        double value = 0;
        if (rest.starts_with('+')) rest.remove_prefix(1);
        if (!take_number_from(rest, value) || !std::isfinite(value))
            refuse("the length of a branch");
        if (value < 0) refuse("a length of at least 0");
        at_ = text_.size() - rest.size();
        tree_.length[static_cast<std::size_t>(node)] = value;
    }

    Tree finished() {
        if (peek() == ';') ++at_;
        skip();
        if (at_ < text_.size()) refuse("the end of the tree");
        return std::move(tree_);
    }

    const std::string& name_;
    std::string_view text_;
    std::size_t at_ = 0;
    Tree tree_;
    std::unordered_set<std::string> seen_;
    Index leaf_count_ = 0;
};

/// "3 (a, b, c)", at most five names.
std::string listed(const std::vector<std::string>& names) {
    std::string text = fmt::format("{} (", names.size());
    for (std::size_t at = 0; at < std::min<std::size_t>(names.size(), 5); ++at)
        text += (at > 0 ? ", " : "") + printable(names[at]);
    return text + (names.size() > 5 ? ", ...)" : ")");
}

std::string quoted(const std::string& name) {
    const bool is_plain = std::none_of(name.begin(), name.end(), [](char c) {
        return is_space(c) || kMarks.find(c) != kMarks.npos;
    });
    if (is_plain && !name.empty()) return name;
    std::string text = "'";
    for (const char c : name) text += c == '\'' ? "''" : std::string(1, c);
    return text + "'";
}

}  // namespace

Index Tree::add(Index above, std::string name, Index of_row) {
    parent.push_back(static_cast<std::int32_t>(above));
    length.push_back(0);
    names.push_back(std::move(name));
    row.push_back(of_row);
    return node_count() - 1;
}

Tree parse_newick(const std::string& name, std::string_view text) {
    return NewickParser(name, text).parse();
}

Tree read_newick(const std::filesystem::path& path) {
    constexpr std::size_t kMaxBytes = std::size_t{1} << 30;
    ByteSource source(path);
    std::string text;
    for (std::string_view line; source.next(line);) {
        text.append(line).append("\n");
        if (text.size() > kMaxBytes)
            throw InputError(path.string(), 0, "expected a tree of at most 1 GiB, found more");
    }
    return parse_newick(path.string(), text);
}

void check_names(std::span<const std::string> rows, const std::string& source) {
    std::unordered_set<std::string_view> seen;
    for (const std::string& name : rows)
        if (!seen.insert(name).second)
            throw InputError(source, 0,
                             fmt::format("expected rows with different names, which the leaves of "
                                         "a tree need, found {} twice",
                                         in_quotes(name)));
}

void match_rows(Tree& tree, std::span<const std::string> rows, const std::string& source) {
    std::unordered_map<std::string_view, Index> numbers;
    for (std::size_t row = 0; row < rows.size(); ++row)
        numbers.emplace(rows[row], static_cast<Index>(row));
    std::vector<std::string> unknown, missing;
    std::vector<bool> found(rows.size());
    for (Index node = 0; node < tree.node_count(); ++node) {
        const auto at = static_cast<std::size_t>(node);
        if (!tree.is_leaf(node)) continue;
        const auto entry = numbers.find(tree.names[at]);
        if (entry == numbers.end()) {
            unknown.push_back(tree.names[at]);
            continue;
        }
        tree.row[at] = entry->second;
        found[static_cast<std::size_t>(entry->second)] = true;
    }
    for (std::size_t row = 0; row < rows.size(); ++row)
        if (!found[row]) missing.push_back(rows[row]);
    if (unknown.empty() && missing.empty()) return;
    std::string text =
        fmt::format("expected the {} rows of the alignment as leaves, found ", rows.size());
    if (!unknown.empty()) text += listed(unknown) + " that are no rows";
    if (!missing.empty())
        text += (unknown.empty() ? "no leaf for " : ", and no leaf for ") + listed(missing);
    throw InputError(source, 0, text);
}

std::string to_newick(const Tree& tree) {
    const auto nodes = static_cast<std::size_t>(tree.node_count());
    std::vector<std::vector<std::int32_t>> children(nodes);
    for (std::size_t node = 1; node < nodes; ++node)
        children[static_cast<std::size_t>(tree.parent[node])].push_back(
            static_cast<std::int32_t>(node));
    std::string text;
    std::vector<std::pair<std::size_t, std::size_t>> stack = {{0, 0}};  // node, children written
    while (!stack.empty()) {
        auto& [node, written] = stack.back();
        if (written < children[node].size()) {
            text += written == 0 ? '(' : ',';
            stack.emplace_back(static_cast<std::size_t>(children[node][written++]), 0);
            continue;
        }
        text += children[node].empty() ? quoted(tree.names[node]) : ")";
        if (node > 0) text += fmt::format(":{:.6g}", tree.length[node]);
        stack.pop_back();
    }
    return text + ";\n";
}

}  // namespace pleat::phylogeny

// Index groups: "[ name ]" and numbers of atoms from 1.
#include "pleat/bio/selection/index_groups.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "pleat/bio/input/text_fields.h"
#include "pleat/bio/selection/selection_words.h"
#include "pleat/core/error.h"

namespace pleat::selection {

namespace {

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
        std::sort(group.atoms.begin(), group.atoms.end());
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

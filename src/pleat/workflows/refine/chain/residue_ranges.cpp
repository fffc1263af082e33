// Residue ranges: reading them.
#include "pleat/workflows/refine/chain/residue_ranges.h"

#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <optional>

#include "pleat/core/error.h"

namespace pleat::refine {

namespace {

struct ResidueId {
    int number = 0;
    char insertion = ' ';
};

/// Reads "-5", "52" or "52A" from the front of `text` and removes it.
std::optional<ResidueId> take_id(std::string_view& text) {
    ResidueId id;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id.number);
    if (error != std::errc()) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (!text.empty() && std::isalpha(static_cast<unsigned char>(text.front())) != 0) {
        id.insertion = text.front();
        text.remove_prefix(1);
    }
    return id;
}

std::optional<ResidueRange> parse_range(std::string_view text, const std::string& chain_before) {
    ResidueRange range;
    range.chain = chain_before;
    if (const std::size_t colon = text.rfind(':'); colon != std::string_view::npos) {
        range.chain = text.substr(0, colon);
        if (range.chain.find_first_of(" :") != std::string::npos) return std::nullopt;
        text.remove_prefix(colon + 1);
    }
    const std::optional<ResidueId> first = take_id(text);
    if (!first) return std::nullopt;
    std::optional<ResidueId> last = first;
    if (!text.empty()) {
        if (text.front() != '-') return std::nullopt;
        text.remove_prefix(1);
        last = take_id(text);
    }
    if (!last || !text.empty()) return std::nullopt;
    range.first = first->number;
    range.first_insertion = first->insertion;
    range.last = last->number;
    range.last_insertion = last->insertion;
    return range;
}

std::string id_text(int number, char insertion) {
    return insertion == ' ' ? std::to_string(number) : fmt::format("{}{}", number, insertion);
}

}  // namespace

std::string ResidueRange::text() const {
    const std::string from = id_text(first, first_insertion), to = id_text(last, last_insertion);
    return fmt::format("{}{}{}{}", chain, chain.empty() ? "" : ":", from,
                       from == to ? "" : "-" + to);
}

std::vector<ResidueRange> parse_ranges(std::string_view text, std::string_view option) {
    std::vector<ResidueRange> ranges;
    std::string chain;
    while (true) {
        const std::size_t comma = text.find(',');
        const std::string_view item = text.substr(0, comma);
        const std::optional<ResidueRange> range = parse_range(item, chain);
        if (!range)
            throw UsageError(fmt::format(
                "{}: expected residues such as A:289-301,A:310-320, found '{}'", option, item));
        chain = range->chain;
        ranges.push_back(*range);
        if (comma == std::string_view::npos) return ranges;
        text.remove_prefix(comma + 1);
    }
}

std::string residue_label(const Topology::Residue& residue) {
    return ResidueRange{residue.chain, residue.number, residue.number, residue.insertion,
                        residue.insertion}
        .text();
}

}  // namespace pleat::refine

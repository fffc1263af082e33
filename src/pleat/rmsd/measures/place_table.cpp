// Place table: lists of all permutations of chains and orders of groups.
#include "pleat/rmsd/measures/place_table.h"

#include <algorithm>
#include <numeric>

namespace pleat::rmsd {

namespace {

std::vector<Index> range(Index first, Index count) {
    std::vector<Index> all(static_cast<std::size_t>(count));
    std::iota(all.begin(), all.end(), first);
    return all;
}

/// Follows each choice so far by each of `next`, the later ones changing fastest.
void append_choices(const std::vector<std::vector<std::int32_t>>& next, PlaceTable& table) {
    const Index length = table.depth;
    const Index before = length == 0 ? 1 : table.permutations();
    std::vector<std::int32_t> all;
    for (Index n = 0; n < before; ++n)
        for (const std::vector<std::int32_t>& some : next) {
            all.insert(all.end(), table.choices.begin() + n * length,
                       table.choices.begin() + (n + 1) * length);
            all.insert(all.end(), some.begin(), some.end());
        }
    table.choices = std::move(all);
    table.depth += static_cast<Index>(next.front().size());
}

}  // namespace

PlaceTable places_of(const ChainOrder& order) {
    PlaceTable table;
    const auto atoms = static_cast<Index>(order.order.size());
    table.blocks.push_back({range(order.others, atoms - order.others), {}});
    table.blocks.front().column = table.blocks.front().row;
    for (const ChainOrder::Group& group : order.groups) {
        const auto first = static_cast<std::int32_t>(table.blocks.size());
        for (Index a = 0; a < group.chains; ++a)
            for (Index b = 0; b < group.chains; ++b)
                table.blocks.push_back({range(group.first + a * group.atoms, group.atoms),
                                        range(group.first + b * group.atoms, group.atoms)});
        const auto chains = static_cast<std::int32_t>(group.chains);
        std::vector<std::int32_t> places(static_cast<std::size_t>(chains));
        std::iota(places.begin(), places.end(), 0);
        std::vector<std::vector<std::int32_t>> all;
        do {
            std::vector<std::int32_t>& blocks = all.emplace_back();
            for (std::int32_t a = 0; a < chains; ++a)
                blocks.push_back(first + a * chains + places[static_cast<std::size_t>(a)]);
        } while (std::next_permutation(places.begin(), places.end()));
        append_choices(all, table);
    }
    return table;
}

PlaceTable places_of(const OrderGroups& groups, Index atoms) {
    PlaceTable table;
    std::vector<std::uint8_t> changes(static_cast<std::size_t>(atoms));
    table.blocks.emplace_back();
    for (const auto& group : groups) {
        if (group.size() < 2) continue;
        std::vector<std::vector<std::int32_t>> all;
        for (const std::vector<Index>& order : group) {
            all.push_back({static_cast<std::int32_t>(table.blocks.size())});
            table.blocks.push_back({group.front(), order});
        }
        for (const Index atom : group.front()) changes[static_cast<std::size_t>(atom)] = 1;
        append_choices(all, table);
    }
    PlaceTable::Atoms& others = table.blocks.front();
    for (Index atom = 0; atom < atoms; ++atom)
        if (changes[static_cast<std::size_t>(atom)] == 0) others.row.push_back(atom);
    others.column = others.row;
    if (table.depth > 0) return table;
    // One order only: a block without atoms.
    table.blocks.emplace_back();
    append_choices({{1}}, table);
    return table;
}

bool can_try_all(const AtomSets& sets) {
    if (sets.equal_orders.empty() || !sets.are_one()) {
        Index blocks = 1;
        for (const auto& group : sets.equal_chains)
            blocks += static_cast<Index>(group.size() * group.size());
        return blocks <= kMaxPlaceBlocks && permutation_count(sets) <= kMaxPermutations;
    }
    Index blocks = 1;
    for (const auto& group : sets.equal_orders) blocks += static_cast<Index>(group.size());
    return blocks <= kMaxPlaceBlocks && order_count(sets) <= kMaxPermutations;
}

}  // namespace pleat::rmsd

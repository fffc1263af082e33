// Equal chains: chains by what they consist of.
#include "pleat/bio/structure/equal_chains.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <utility>

#include "pleat/core/error.h"

namespace pleat {

std::vector<EqualChains> equal_chains(const Topology& topology) {
    struct Chain {
        std::string name, content;  // names of residues and atoms
        std::vector<Index> atoms;
        Index residue = -1;
    };
    std::vector<Chain> chains;
    std::map<std::string, std::size_t> by_name;
    for (Index atom = 0; atom < topology.atom_count(); ++atom) {
        const Topology::Residue& residue = topology.residue_of(atom);
        const auto [at, is_new] = by_name.try_emplace(residue.chain, chains.size());
        if (is_new) chains.push_back({.name = residue.chain, .content = {}, .atoms = {}});
        Chain& chain = chains[at->second];
        const Topology::Atom& one = topology.atoms[static_cast<std::size_t>(atom)];
        if (one.residue != chain.residue) (chain.content += '\n') += residue.name;
        (chain.content += '\t') += one.name;
        chain.residue = one.residue;
        chain.atoms.push_back(atom);
    }
    std::vector<EqualChains> groups;
    std::map<std::string, std::size_t> by_content;
    for (Chain& chain : chains) {
        const auto [at, is_new] = by_content.try_emplace(chain.content, groups.size());
        if (is_new) groups.emplace_back();
        groups[at->second].names.push_back(std::move(chain.name));
        groups[at->second].atoms.push_back(std::move(chain.atoms));
    }
    std::erase_if(groups, [](const EqualChains& group) { return group.names.size() < 2; });
    return groups;
}

std::string describe_unequal_chains(const Topology& topology) {
    const std::vector<std::string> names = topology.chains();
    if (!topology.named) return "atoms without names";
    if (names.size() == 1) return fmt::format("one chain, '{}'", names.front());
    return fmt::format("none that are equal among '{}'", fmt::join(names, "', '"));
}

EqualChains only_equal_chains(const Topology& topology) {
    std::vector<EqualChains> groups =
        topology.named ? equal_chains(topology) : std::vector<EqualChains>();
    if (groups.size() == 1) return std::move(groups.front());
    std::vector<std::string> names;
    names.reserve(groups.size());
    for (const EqualChains& group : groups)
        names.push_back(fmt::format("{}", fmt::join(group.names, " = ")));
    if (groups.empty())
        throw InputError(
            topology.source.string(), 0,
            fmt::format("expected chains of the same residues and atoms, found {}; --select can "
                        "leave out what some of them lack",
                        describe_unequal_chains(topology)));
    throw InputError(
        topology.source.string(), 0,
        fmt::format("expected one group of equal chains, found {}; select one, such as "
                    "'chain {} and name CA'",
                    fmt::join(names, "; "), fmt::join(groups.front().names, " ")));
}

}  // namespace pleat

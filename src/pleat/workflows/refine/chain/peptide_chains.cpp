// Peptide chains: found in a topology, and their linkers marked.
#include "pleat/workflows/refine/chain/peptide_chains.h"

#include <fmt/format.h>

#include <algorithm>

#include "pleat/core/error.h"

namespace pleat::refine {

namespace {

constexpr double kMaxPeptideBond = 2.5;  // angstrom, as in Chain::broken_after()

bool is_nucleotide(const Topology& topology, const std::vector<Index>& atoms) {
    return std::any_of(atoms.begin(), atoms.end(), [&](Index atom) {
        const std::string& name = topology.atoms[static_cast<std::size_t>(atom)].name;
        return name == "C1'" || name == "C1*";
    });
}

PeptideResidue peptide_residue(const Topology& topology, Index residue,
                               const std::vector<Index>& atoms) {
    PeptideResidue found{.residue = residue};
    for (const Index index : atoms) {
        const Topology::Atom& atom = topology.atoms[static_cast<std::size_t>(index)];
        if (atom.name == "N" && found.n < 0)
            found.n = index;
        else if (atom.name == "CA" && atom.element == "C" && found.ca < 0)
            found.ca = index;
        else if (atom.name == "C" && found.c < 0)
            found.c = index;
        else
            found.others.push_back(index);
    }
    return found;
}

PeptideChain& chain_named(std::vector<PeptideChain>& chains, const std::string& name) {
    for (PeptideChain& chain : chains)
        if (chain.name == name) return chain;
    return chains.emplace_back(PeptideChain{name, {}});
}

std::string label_of(const Topology& topology, const PeptideResidue& residue) {
    return residue_label(topology.residues[static_cast<std::size_t>(residue.residue)]);
}

std::string chain_names(const Molecules& molecules) {
    std::string names;
    for (const PeptideChain& chain : molecules.chains)
        names += fmt::format("{}'{}'", names.empty() ? "" : ", ", chain.name);
    return names;
}

/// Index of the residue with this number and insertion code.
std::size_t find_residue(const PeptideChain& chain, const Topology& topology, int number,
                         char insertion, const std::string& range) {
    for (std::size_t n = 0; n < chain.residues.size(); ++n) {
        const auto& one = topology.residues[static_cast<std::size_t>(chain.residues[n].residue)];
        if (one.number == number && one.insertion == insertion) return n;
    }
    throw InputError(topology.source.string(), 0,
                     fmt::format("expected residue {}{} of {}, found chain '{}' from {} to {} "
                                 "without it",
                                 number, insertion == ' ' ? "" : std::string(1, insertion), range,
                                 chain.name, label_of(topology, chain.residues.front()),
                                 label_of(topology, chain.residues.back())));
}

}  // namespace

bool is_bonded(const PeptideResidue& before, const PeptideResidue& behind,
               const std::vector<Vector>& positions) {
    return before.c >= 0 && behind.n >= 0 &&
           distance(positions[static_cast<std::size_t>(before.c)],
                    positions[static_cast<std::size_t>(behind.n)]) <= kMaxPeptideBond;
}

Molecules find_molecules(const Topology& topology) {
    std::vector<std::vector<Index>> atoms(topology.residues.size());
    for (Index atom = 0; atom < topology.atom_count(); ++atom)
        atoms[static_cast<std::size_t>(topology.atoms[static_cast<std::size_t>(atom)].residue)]
            .push_back(atom);
    Molecules molecules;
    std::string last_nucleic;
    for (std::size_t n = 0; n < atoms.size(); ++n) {
        if (atoms[n].empty()) continue;
        const Topology::Residue& residue = topology.residues[n];
        PeptideResidue peptide = peptide_residue(topology, static_cast<Index>(n), atoms[n]);
        if (peptide.ca >= 0) {
            chain_named(molecules.chains, residue.chain).residues.push_back(std::move(peptide));
            continue;
        }
        const bool continues = is_nucleotide(topology, atoms[n]) && !molecules.others.empty() &&
                               last_nucleic == residue.chain;
        if (continues) {
            auto& all = molecules.others.back().atoms;
            all.insert(all.end(), atoms[n].begin(), atoms[n].end());
            continue;
        }
        const bool nucleic = is_nucleotide(topology, atoms[n]);
        last_nucleic = nucleic ? residue.chain : std::string("\n");
        molecules.others.push_back(
            {nucleic ? fmt::format("chain '{}'", residue.chain)
                     : fmt::format("{} {}", residue.name, residue_label(residue)),
             atoms[n]});
    }
    return molecules;
}

ResiduePosition locate(const Molecules& molecules, const Topology& topology,
                       const ResidueRange& range) {
    const std::string source = topology.source.string();
    if (molecules.chains.empty())
        throw InputError(source, 0, "expected a protein with CA atoms, found none");
    ResiduePosition at;
    while (at.chain < molecules.chains.size() && molecules.chains[at.chain].name != range.chain)
        ++at.chain;
    if (at.chain == molecules.chains.size()) {
        if (!range.chain.empty() || molecules.chains.size() > 1)
            throw InputError(source, 0,
                             fmt::format("expected one of the protein chains {}, found '{}' in {}",
                                         chain_names(molecules), range.chain, range.text()));
        at.chain = 0;
    }
    const PeptideChain& chain = molecules.chains[at.chain];
    at.first = find_residue(chain, topology, range.first, range.first_insertion, range.text());
    at.last = find_residue(chain, topology, range.last, range.last_insertion, range.text());
    if (at.last < at.first)
        throw InputError(source, 0,
                         fmt::format("expected a range whose first residue comes first, found {}",
                                     range.text()));
    return at;
}

void mark_linkers(Molecules& molecules, const Topology& topology,
                  const std::vector<Vector>& positions, const std::vector<ResidueRange>& linkers) {
    const std::string source = topology.source.string();
    for (std::size_t number = 0; number < linkers.size(); ++number) {
        const std::string text = linkers[number].text();
        const ResiduePosition at = locate(molecules, topology, linkers[number]);
        std::vector<PeptideResidue>& residues = molecules.chains[at.chain].residues;
        for (std::size_t n = at.first; n <= at.last; ++n) {
            if (residues[n].linker >= 0)
                throw InputError(
                    source, 0,
                    fmt::format("expected linkers that do not overlap, found {} in {} and {}",
                                label_of(topology, residues[n]),
                                linkers[static_cast<std::size_t>(residues[n].linker)].text(),
                                text));
            if (residues[n].n < 0 || residues[n].c < 0)
                throw InputError(source, 0,
                                 fmt::format("expected N, CA and C of each residue of linker {}, "
                                             "found {} without one",
                                             text, label_of(topology, residues[n])));
            residues[n].linker = static_cast<int>(number);
        }
        for (std::size_t n = at.first == 0 ? 0 : at.first - 1;
             n <= at.last && n + 1 < residues.size(); ++n)
            if (!is_bonded(residues[n], residues[n + 1], positions))
                throw InputError(source, 0,
                                 fmt::format("expected linker {} without gaps, found no bond "
                                             "between {} and {}",
                                             text, label_of(topology, residues[n]),
                                             label_of(topology, residues[n + 1])));
    }
}

namespace {

/// [chain][residue]: whether one of the ranges has it.
std::vector<std::vector<std::uint8_t>> marks_of(const Molecules& molecules,
                                                const Topology& topology,
                                                const std::vector<ResidueRange>& ranges) {
    std::vector<std::vector<std::uint8_t>> marks(molecules.chains.size());
    for (const ResidueRange& range : ranges) {
        const ResiduePosition at = locate(molecules, topology, range);
        marks[at.chain].resize(molecules.chains[at.chain].residues.size());
        std::fill(marks[at.chain].begin() + static_cast<std::ptrdiff_t>(at.first),
                  marks[at.chain].begin() + static_cast<std::ptrdiff_t>(at.last) + 1,
                  std::uint8_t{1});
    }
    return marks;
}

/// The residues [first, last) of a chain that have no mark, as ranges.
void add_unmarked(const PeptideChain& chain, const Topology& topology,
                  const std::vector<std::uint8_t>& marks, std::size_t first, std::size_t last,
                  std::vector<ResidueRange>& ranges) {
    for (std::size_t n = first; n < last; ++n) {
        if (marks[n] != 0) continue;
        const auto& residue =
            topology.residues[static_cast<std::size_t>(chain.residues[n].residue)];
        if (n == first || marks[n - 1] != 0)
            ranges.push_back({residue.chain, residue.number, residue.number, residue.insertion,
                              residue.insertion});
        ranges.back().last = residue.number;
        ranges.back().last_insertion = residue.insertion;
    }
}

}  // namespace

std::vector<ResidueRange> add_ranges(const Topology& topology, std::vector<ResidueRange> ranges,
                                     const std::vector<ResidueRange>& further) {
    const Molecules molecules = find_molecules(topology);
    std::vector<std::vector<std::uint8_t>> marks = marks_of(molecules, topology, ranges);
    for (const ResidueRange& range : further) {
        const ResiduePosition at = locate(molecules, topology, range);
        const PeptideChain& chain = molecules.chains[at.chain];
        marks[at.chain].resize(chain.residues.size());
        add_unmarked(chain, topology, marks[at.chain], at.first, at.last + 1, ranges);
    }
    return ranges;
}

std::vector<ResidueRange> linkers_between(const Molecules& molecules, const Topology& topology,
                                          const std::vector<ResidueRange>& rigid) {
    const std::vector<std::vector<std::uint8_t>> is_rigid = marks_of(molecules, topology, rigid);
    std::vector<ResidueRange> linkers;
    for (std::size_t chain = 0; chain < is_rigid.size(); ++chain)
        add_unmarked(molecules.chains[chain], topology, is_rigid[chain], 0, is_rigid[chain].size(),
                     linkers);
    return linkers;
}

}  // namespace pleat::refine

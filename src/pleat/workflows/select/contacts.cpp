// Contacts: aligning the predicted sequence, finding atoms, measuring distances.
#include "pleat/workflows/select/contacts.h"

#include <fmt/format.h>

#include <map>
#include <tuple>

#include "pleat/bio/alignment/alignment.h"
#include "pleat/bio/structure/known_structure.h"
#include "pleat/core/error.h"
#include "pleat/core/files/input_file.h"
#include "pleat/core/run/manifest.h"

namespace pleat::select {

namespace {

constexpr Index kMinSeparation = 6;

Alignment one_row(const PredictedContacts& predicted) {
    const Alphabet& alphabet = Alphabet::protein();
    const auto length = static_cast<Index>(predicted.sequence.size());
    Alignment alignment{.names = {"target"},
                        .letters = Array<std::uint8_t, 2>(Index{1}, length),
                        .alphabet = &alphabet,
                        .source = predicted.source,
                        .columns = {},
                        .notes = {},
                        .format = "rr",
                        .parts = {},
                        .full_rows = {}};
    for (Index at = 0; at < length; ++at) {
        const char letter = predicted.sequence[at];
        const std::uint8_t code = alphabet.code(letter);
        alignment.letters(0, at) = code == Alphabet::invalid ? alphabet.gap() : code;
        alignment.columns.push_back(at);
    }
    return alignment;
}

std::string name_of(const Residue& residue) { return residue.name + " " + residue.id(); }

}  // namespace

std::vector<Index> contact_atoms(const Chain& chain, const Topology& topology) {
    std::map<std::tuple<int, char, std::string>, std::size_t> residues;
    for (std::size_t n = 0; n < chain.residues.size(); ++n) {
        const Residue& one = chain.residues[n];
        residues.emplace(std::tuple(one.number, one.insertion, one.name), n);
    }
    std::vector<Index> atoms(chain.residues.size(), -1);
    std::vector<std::uint8_t> is_beta(chain.residues.size(), 0);
    for (Index atom = 0; atom < topology.atom_count(); ++atom) {
        const std::string& name = topology.atoms[atom].name;
        if (name != "CA" && name != "CB") continue;
        const Topology::Residue& residue = topology.residue_of(atom);
        if (!chain.name.empty() && residue.chain != chain.name) continue;
        const auto found =
            residues.find(std::tuple(residue.number, residue.insertion, residue.name));
        if (found == residues.end()) continue;
        const std::size_t at = found->second;
        if (atoms[at] >= 0 && (is_beta[at] != 0 || name == "CA")) continue;
        atoms[at] = atom;
        is_beta[at] = name == "CB";
    }
    return atoms;
}

PredictedContacts read_predicted(const std::string& source) {
    if (source == "-" || !is_folder(source)) return read_casp_contacts(source);
    const std::filesystem::path folder = source;
    const EarlierRun run = read_earlier_run(folder / "manifest.json");
    if (!run.is_ours || run.command != "couplings" || run.status != "finished")
        throw InputError(
            source, 0,
            fmt::format("expected the folder of a finished 'pleat couplings', found {}",
                        !run.is_ours ? std::string("another one")
                                     : fmt::format("one of 'pleat {}' that is {}", run.command,
                                                   run.status)));
    if (!is_file(folder / "contacts.rr"))
        throw InputError(source, 0,
                         "expected probabilities of contacts (contacts.rr), found none: they are "
                         "given for proteins, with --apc and 20 effective sequences or more");
    return read_casp_contacts(folder / "contacts.rr");
}

ExpectedContacts expected_contacts(const PredictedContacts& predicted, const Structure& structure,
                                   const Topology& topology, Index count) {
    const ResidueMap map = map_residues(one_row(predicted), structure);
    const Chain& chain = structure.chains[map.chain];
    const std::vector<Index> atoms = contact_atoms(chain, topology);
    ExpectedContacts expected{.contacts = {},
                              .chain = map.chain_name,
                              .identity = map.identity,
                              .mapped_residues = map.mapped,
                              .pairs_without_atoms = 0};
    const auto residue_of = [&](Index at) { return map.residues[at]; };
    const auto atom_of = [&](Index residue) { return residue < 0 ? Index{-1} : atoms[residue]; };
    Index considered = 0;
    for (const PredictedContact& pair : predicted.pairs) {
        if (considered == count) break;
        if (pair.j - pair.i < kMinSeparation || !(pair.probability > 0)) continue;
        ++considered;
        const Index a = residue_of(pair.i), b = residue_of(pair.j);
        const Index atom_a = atom_of(a), atom_b = atom_of(b);
        if (atom_a < 0 || atom_b < 0) {
            ++expected.pairs_without_atoms;
            continue;
        }
        expected.contacts.push_back({.i = pair.i + 1,
                                     .j = pair.j + 1,
                                     .name_i = name_of(chain.residues[a]),
                                     .name_j = name_of(chain.residues[b]),
                                     .atom_i = atom_a,
                                     .atom_j = atom_b,
                                     .strength = pair.probability});
    }
    if (expected.contacts.empty())
        throw InputError(
            predicted.source.string(), 0,
            fmt::format("expected pairs at least {} residues apart between residues of "
                        "chain '{}', found none",
                        kMinSeparation, expected.chain));
    return expected;
}

void mark_formed(View<const float, 2> frame, const std::vector<ExpectedContact>& contacts,
                 double cutoff, std::uint8_t* marks) {
    for (std::size_t c = 0; c < contacts.size(); ++c) {
        double sum = 0;
        for (Index axis = 0; axis < 3; ++axis) {
            const double step = static_cast<double>(frame(axis, contacts[c].atom_i)) -
                                static_cast<double>(frame(axis, contacts[c].atom_j));
            sum += step * step;
        }
        marks[c] = sum < cutoff * cutoff ? 1 : 0;
    }
}

}  // namespace pleat::select

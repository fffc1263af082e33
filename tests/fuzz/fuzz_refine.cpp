// Fuzzer of what refine reads beside structures: predicted errors, sequences, residue ranges.
#include "harness.h"

#include "pleat/workflows/refine/chain/missing_residues.h"
#include "pleat/workflows/refine/chain/predicted_domains.h"
#include "pleat/workflows/refine/tests/made_chain.h"

namespace {

using namespace pleat;
using namespace pleat::refine;

constexpr const char* kSource = "made.pdb";

/// A peptide of 30 residues, as a predicted model whose middle is uncertain.
const HeavyAtoms& whole() {
    static const HeavyAtoms structure = [] {
        test::MadeChain made;
        test::add_peptide(made, "AGPVCSAAAGPVCSAAAGPVCSAAAGPVCS", "A");
        made.topology->source = kSource;
        for (Topology::Atom& atom : made.topology->atoms)
            atom.b_factor = atom.residue < 12 || atom.residue >= 17 ? 90 : 50;
        return HeavyAtoms{made.topology, made.xyz()};
    }();
    return structure;
}

/// The same without the residues in the middle.
const HeavyAtoms& without_middle() {
    static const HeavyAtoms structure = [] {
        std::vector<Index> kept;
        for (Index atom = 0; atom < whole().topology->atom_count(); ++atom)
            if (whole().topology->atoms[static_cast<std::size_t>(atom)].b_factor > 70)
                kept.push_back(atom);
        HeavyAtoms gapped{std::make_shared<const Topology>(subset(*whole().topology, kept)),
                          Array<float, 2>(Index{3}, static_cast<Index>(kept.size()))};
        for (Index axis = 0; axis < 3; ++axis)
            for (std::size_t n = 0; n < kept.size(); ++n)
                gapped.xyz(axis, static_cast<Index>(n)) = whole().xyz(axis, kept[n]);
        return gapped;
    }();
    return structure;
}

void check_model(const HeavyAtoms& structure, const std::vector<ResidueRange>& linkers) {
    fuzz::require(
        make_chain_model(structure.topology, structure.xyz, {.linkers = linkers}).piece_count() >
        0);
}

void read_errors(const std::string& file) {
    const PredictedDomains found = predicted_domains(*whole().topology, file, {});
    fuzz::require(!found.linkers.empty());
    check_model(whole(), found.linkers);
}

void read_sequences(const std::string& file) {
    const CompletedStructure completed = build_missing_residues(without_middle(), file, {}, 1);
    const auto atoms = completed.heavy.topology->atom_count();
    fuzz::require(atoms >= without_middle().topology->atom_count());
    fuzz::require(completed.heavy.xyz.extent(1) == atoms);
    fuzz::require((completed.built_residues > 0) == !completed.built.empty());
}

}  // namespace

/// The first byte tells which option the rest is for.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::string_view text = fuzz::text_of(data + 1, size - 1);
    const fuzz::MemoryFile file(text);
    try {
        switch (data[0] % 3) {
            case 0: read_errors(file.path()); break;
            case 1: read_sequences(file.path()); break;
            default: check_model(whole(), parse_ranges(text, "linkers"));
        }
    } catch (const InputError& error) {
        // Ranges that the structure lacks are a fault of both.
        const bool is_of_structure =
            std::string_view(error.what()).starts_with(std::string(kSource) + ":");
        fuzz::require_refusal(error, is_of_structure ? kSource : file.path());
    } catch (const UsageError& error) {
        fuzz::require_printable(error);
    }
    return 0;
}

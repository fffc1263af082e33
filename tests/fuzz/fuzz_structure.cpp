// Fuzzer of structures: any bytes of PDB, mmCIF or a topology give sound chains, or atoms and
// bonds, or an InputError.
#include "harness.h"

#include <cmath>

#include "pleat/bio/periodic/bonds.h"
#include "pleat/bio/structure/structure.h"
#include "pleat/bio/structure/topology.h"
#include "pleat/core/error.h"

namespace {

using namespace pleat;

void check(const Structure& structure) {
    fuzz::require(!structure.chains.empty());
    for (const Chain& chain : structure.chains) {
        fuzz::require(!chain.residues.empty());
        fuzz::require(chain.sequence().size() == chain.residues.size());
        for (std::size_t i = 0; i < chain.residues.size(); ++i) {
            fuzz::require(!chain.residues[i].atoms.empty());
            chain.broken_after(i);
        }
    }
}

void check(const Topology& topology) {
    fuzz::require(topology.atom_count() > 0);
    for (Index i = 0; i < topology.atom_count(); ++i) {
        const Topology::Atom& atom = topology.atoms[static_cast<std::size_t>(i)];
        fuzz::require(atom.residue >= 0 &&
                      atom.residue < static_cast<Index>(topology.residues.size()));
        fuzz::require(std::isfinite(atom.mass) && atom.mass >= 0);
        topology.atom_label(i);
        topology.identity(i);
    }
    fuzz::require(!topology.chains().empty());
    fuzz::require(topology.positions.empty() ||
                  static_cast<Index>(topology.positions.size()) == topology.atom_count());
    const PeriodicCell cell{topology.cell};
    constexpr Index kMaxAtoms = 1000;  // more take too long for a fuzzer
    if (topology.atom_count() > kMaxAtoms) return;
    for (const Bond& bond : find_bonds(topology, cell.volume() > 0 ? cell : PeriodicCell{}))
        fuzz::require(bond[0] >= 0 && bond[0] < bond[1] && bond[1] < topology.atom_count());
}

}  // namespace

/// The first bit says whether the rest is read as the atoms of an ensemble instead of as chains.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::string_view bytes = fuzz::text_of(data + 1, size - 1);
    std::string file = "fuzz";
    try {
        if ((data[0] & 1) == 0) {
            check(read_structure("fuzz", bytes));
            return 0;
        }
        const fuzz::MemoryFile memory(bytes);
        file = memory.path();
        check(read_topology(file));
    } catch (const InputError& error) {
        fuzz::require_refusal(error, file);
    }
    return 0;
}

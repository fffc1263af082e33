// Fuzzer of the frame readers: any bytes give frames or an InputError, nothing else.
#include "harness.h"

#include "pleat/bio/ensemble/frame_reader.h"
#include "pleat/bio/selection/selection.h"
#include "pleat/core/array.h"
#include "pleat/core/error.h"

namespace {

void check(const pleat::Topology& topology) {
    for (pleat::Index i = 0; i < topology.atom_count(); ++i) {
        const auto& atom = topology.atoms[static_cast<std::size_t>(i)];
        fuzz::require(atom.residue >= 0 &&
                      atom.residue < static_cast<pleat::Index>(topology.residues.size()));
        fuzz::require(atom.mass >= 0 && !atom.name.empty());
    }
    fuzz::require(static_cast<pleat::Index>(pleat::select_atoms(topology, "all").size()) ==
                  topology.atom_count());
}

}  // namespace

/// The first bit says whether every second frame is passed over, the rest is the file.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const bool skip = data[0] & 1;
    try {
        const std::string_view bytes = fuzz::text_of(data + 1, size - 1);
        const auto reader = pleat::open_frames("fuzz", bytes);
        fuzz::require(reader->atom_count() > 0);
        if (reader->topology() != nullptr) check(*reader->topology());
        // Who reads a trajectory knows its atoms: a header alone makes no room for them.
        constexpr pleat::Index kMaxAtoms = 100000;
        if (reader->atom_count() > kMaxAtoms) return 0;
        pleat::Array<float, 2> frame(3, reader->atom_count());
        while (reader->next(frame)) {
            if (skip && !reader->skip()) break;
        }
        fuzz::require(!reader->next(frame));
    } catch (const pleat::InputError& error) {
        fuzz::require_refusal(error);
    }
    return 0;
}

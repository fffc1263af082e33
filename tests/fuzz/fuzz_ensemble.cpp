// Fuzzer of the frame readers: any bytes give frames or an InputError, nothing else.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "pleat/bio/frame_reader.h"
#include "pleat/bio/selection.h"
#include "pleat/core/array.h"
#include "pleat/core/error.h"

namespace {

void require(bool condition) {
    if (!condition) std::abort();
}

/// `fuzz:`, perhaps a line, and a text that says what was expected; no control characters but the
/// ends of at most ten lines.
void check(std::string_view refusal) {
    require(refusal.starts_with("fuzz:"));
    require(refusal.find("expected") != std::string_view::npos);
    int lines = 1;
    for (char c : refusal) {
        lines += c == '\n';
        require(c == '\n' || (c >= ' ' && c < 0x7f));
    }
    require(lines <= 10);
}

void check(const pleat::Topology& topology) {
    for (pleat::Index i = 0; i < topology.atom_count(); ++i) {
        const auto& atom = topology.atoms[static_cast<std::size_t>(i)];
        require(atom.residue >= 0 &&
                atom.residue < static_cast<pleat::Index>(topology.residues.size()));
        require(atom.mass >= 0 && !atom.name.empty());
    }
    require(static_cast<pleat::Index>(pleat::select_atoms(topology, "all").size()) ==
            topology.atom_count());
}

}  // namespace

/// The first bit says whether every second frame is passed over, the rest is the file.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const bool skip = data[0] & 1;
    try {
        const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
        const auto reader = pleat::open_frames("fuzz", bytes);
        require(reader->atom_count() > 0);
        if (reader->topology() != nullptr) check(*reader->topology());
        // Who reads a trajectory knows its atoms: a header alone makes no room for them.
        constexpr pleat::Index kMostAtoms = 100000;
        if (reader->atom_count() > kMostAtoms) return 0;
        pleat::Array<float, 2> frame(3, reader->atom_count());
        while (reader->next(frame)) {
            if (skip && !reader->skip()) break;
        }
        require(!reader->next(frame));
    } catch (const pleat::InputError& error) {
        check(std::string_view(error.what()));
    }
    return 0;
}

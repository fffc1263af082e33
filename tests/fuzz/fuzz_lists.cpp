// Fuzzer of what users list: paths, ranges of frames, selections of atoms, chains of structures.
#include "harness.h"

#include <iterator>
#include <limits>
#include <set>

#include "pleat/bio/alignment/family_list.h"
#include "pleat/bio/ensemble/ensemble.h"
#include "pleat/bio/ensemble/ensemble_files.h"
#include "pleat/bio/structure/selection.h"
#include "pleat/bio/structure/structure.h"
#include "pleat/core/error.h"

namespace {

using namespace pleat;

void read_families(std::string_view text) {
    const std::vector<std::string> paths = parse_path_list("fuzz", text);
    fuzz::require(!paths.empty());
    std::set<std::string> names;
    for (const Family& family : name_families(paths)) {
        fuzz::require(family.name.find('/') == std::string::npos);
        fuzz::require(names.insert(family.name).second);
    }
}

void read_ensemble_list(std::string_view text) {
    const fuzz::MemoryFile file(text);
    fuzz::require(!ensemble_files({"@" + file.path()}).empty());
}

void read_range(std::string_view text) {
    const FrameRange range = parse_frame_range(text);
    fuzz::require(range.step >= 1);
    for (const Index number : {Index{0}, Index{1}, std::numeric_limits<Index>::max()})
        range.has(number);
}

/// Two chains of three residues, some with insertion codes.
Topology small_topology() {
    Topology topology;
    for (int residue = 0; residue < 6; ++residue) {
        topology.residues.push_back({.name = residue % 2 == 0 ? "ALA" : "GLY",
                                     .number = 50 + residue / 2,
                                     .insertion = residue % 3 == 1 ? 'A' : ' ',
                                     .chain = residue < 3 ? "A" : "B"});
        for (const char* name : {"N", "CA", "C", "O", "H"})
            topology.atoms.push_back(
                {.name = name, .element = std::string(1, name[0]), .mass = 12, .residue = residue});
    }
    return topology;
}

void select(std::string_view text) {
    static const Topology topology = small_topology();
    Index before = -1;
    const std::vector<Index> atoms = select_atoms(topology, text);
    fuzz::require(!atoms.empty());
    for (const Index atom : atoms) {
        fuzz::require(atom > before && atom < topology.atom_count());
        before = atom;
    }
}

void choose_structure(std::string_view text) {
    fuzz::require(!parse_structure_choice(text).file.empty());
}

}  // namespace

/// The first byte chooses what the rest is.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    constexpr void (*kReaders[])(std::string_view) = {read_families, read_ensemble_list, read_range,
                                                      select, choose_structure};
    try {
        kReaders[data[0] % std::size(kReaders)](fuzz::text_of(data + 1, size - 1));
    } catch (const InputError& error) {
        fuzz::require_printable(error);
    } catch (const UsageError& error) {
        fuzz::require_printable(error);
    }
    return 0;
}

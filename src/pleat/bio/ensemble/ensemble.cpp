// Ensembles: whole in memory, turned to the order of atoms, and named in errors.
#include "pleat/bio/ensemble/ensemble.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "pleat/bio/ensemble/ensemble_reader.h"
#include "pleat/core/loops/parallel.h"

namespace pleat {

InputError Ensemble::error_in(Index frame, std::string_view text) const {
    const auto at = static_cast<std::size_t>(frame);
    if (at >= origins.size()) return InputError(fmt::format("frame {}: {}", frame, text));
    return InputError(files.at(static_cast<std::size_t>(origins[at].file)), 0,
                      fmt::format("frame {}: {}", origins[at].frame, text));
}

Ensemble read_ensemble(const std::vector<std::string>& sources, EnsembleOptions options) {
    EnsembleReader reader(sources, std::move(options));
    Ensemble ensemble;
    ensemble.topology = reader.topology();
    ensemble.all_atoms = reader.all_atoms();
    const Index atoms = reader.atom_count();
    // Blocks that the system gets back one by one while they are copied, so that the coordinates
    // are never held twice.
    constexpr Index kBlockBytes = Index{64} << 20;
    const Index in_block = std::max<Index>(1, kBlockBytes / (12 * std::max<Index>(1, atoms)));
    std::vector<Array<float, 3>> blocks;
    Array<float, 2> frame(3, atoms);
    while (reader.next(frame)) {
        const Index at = static_cast<Index>(ensemble.origins.size()) % in_block;
        if (at == 0) blocks.push_back(Array<float, 3>::unset(in_block, 3, atoms));
        std::copy(frame.begin(), frame.end(), blocks.back()[at].begin());
        ensemble.origins.push_back(reader.origin());
    }
    const auto frames = static_cast<Index>(ensemble.origins.size());
    ensemble.xyz = Array<float, 3>::unset(frames, 3, atoms);
    for (std::size_t b = 0; b < blocks.size(); ++b) {
        const Index first = static_cast<Index>(b) * in_block;
        const Index count = std::min(in_block, frames - first);
        std::copy_n(blocks[b].begin(), count * 3 * atoms, ensemble.xyz[first].begin());
        blocks[b] = {};
    }
    ensemble.files = reader.files();
    ensemble.notes = reader.notes();
    return ensemble;
}

Array<float, 3> atom_by_atom(const Ensemble& ensemble, std::span<const Index> atoms, int threads) {
    const Index count = atoms.empty() ? ensemble.atom_count() : static_cast<Index>(atoms.size());
    auto xyz = Array<float, 3>::unset(ensemble.frame_count(), count, 3);
    parallel_for(threads, ensemble.frame_count(), [&](Index frame, int) {
        for (Index axis = 0; axis < 3; ++axis)
            for (Index n = 0; n < count; ++n)
                xyz(frame, n, axis) = ensemble.xyz(
                    frame, axis, atoms.empty() ? n : atoms[static_cast<std::size_t>(n)]);
    });
    return xyz;
}

}  // namespace pleat

// Chain items: copying chains out of frames.
#include "pleat/bio/ensemble/chain_items.h"

#include "pleat/core/loops/parallel.h"

namespace pleat {

Array<float, 3> chain_by_chain(const Ensemble& ensemble, const EqualChains& chains, int threads) {
    const Index frames = ensemble.frame_count(), count = static_cast<Index>(chains.atoms.size()),
                atoms = static_cast<Index>(chains.atoms.front().size());
    auto xyz = Array<float, 3>::unset(count * frames, atoms, 3);
    parallel_for(threads, frames, [&](Index frame, int) {
        for (Index chain = 0; chain < count; ++chain)
            for (Index atom = 0; atom < atoms; ++atom)
                for (Index axis = 0; axis < 3; ++axis)
                    xyz(chain * frames + frame, atom, axis) =
                        ensemble.xyz(frame, axis,
                                     chains.atoms[static_cast<std::size_t>(chain)]
                                                 [static_cast<std::size_t>(atom)]);
    });
    return xyz;
}

}  // namespace pleat

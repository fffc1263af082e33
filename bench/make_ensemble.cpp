// Writes a made ensemble of any size as .npy [frame, atom, 3], the same for the same seed.
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "made_ensemble.h"
#include "pleat/core/files/npy.h"
#include "pleat/core/loops/parallel.h"

int main(int count, char** words) {
    if (count < 4) {
        std::fprintf(stderr, "usage: %s FRAMES ATOMS FILE.npy [STATES [SEED]]\n", words[0]);
        return 2;
    }
    try {
        const pleat::Index frames = std::atoll(words[1]), atoms = std::atoll(words[2]);
        const pleat::Index states = count > 4 ? std::atoll(words[4]) : 400;
        if (frames < 1 || atoms < 1 || states < 1) {
            std::fprintf(stderr, "expected numbers above 0 of frames, atoms and states\n");
            return 2;
        }
        const pleat::bench::MadeEnsemble made(atoms, states,
                                              count > 5 ? std::strtoull(words[5], nullptr, 10) : 1);
        const auto xyz = made.frames(frames, pleat::available_threads());
        pleat::write_npy(words[3], xyz.data(), {frames, atoms, 3});
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return 0;
}

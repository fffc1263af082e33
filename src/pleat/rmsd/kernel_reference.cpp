// The reference kernel of rmsd: each pair is rotated and measured in float64, one after another.
#include <cmath>

#include "pleat/rmsd/kernel.h"
#include "pleat/rmsd/superpose.h"

namespace pleat::rmsd {

namespace {

class ReferenceKernel final : public Kernel {
public:
    explicit ReferenceKernel(const Frames& frames) : frames_(frames) {}

    void band(Block rows, float* rmsd) override {
        const Index count = frames_.frame_count(), atoms = frames_.atom_count();
        for (Index i = rows.first; i < rows.first + rows.count; ++i) {
            for (Index j = i + 1; j < count; ++j) {
                const double sum = superposed_residual(frames_.frame(i), frames_.frame(j), atoms);
                *rmsd++ = static_cast<float>(std::sqrt(sum / frames_.weight));
            }
        }
    }

private:
    const Frames& frames_;
};

}  // namespace

std::unique_ptr<Kernel> make_reference_kernel(const Problem& problem) {
    return std::make_unique<ReferenceKernel>(*problem.frames);
}

}  // namespace pleat::rmsd

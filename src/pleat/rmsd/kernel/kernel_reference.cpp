// The reference kernel of rmsd: each pair is rotated and measured in float64, one after another.
#include "pleat/rmsd/kernel/kernel.h"

namespace pleat::rmsd {

namespace {

class ReferenceKernel final : public Kernel {
public:
    explicit ReferenceKernel(const Frames& frames) : frames_(frames) {}

    void band(Block rows, float* rmsd) override {
        for (Index i = rows.first; i < rows.first + rows.count; ++i)
            for (Index j = i + 1; j < frames_.frame_count(); ++j)
                *rmsd++ = static_cast<float>(certain_rmsd(frames_, i, j));
    }

private:
    const Frames& frames_;
};

}  // namespace

std::unique_ptr<Kernel> make_reference_kernel(const Problem& problem) {
    return std::make_unique<ReferenceKernel>(*problem.frames);
}

}  // namespace pleat::rmsd

// The reference kernel of rmsd: each pair is rotated and measured in float64, one after another.
#include <utility>

#include "pleat/rmsd/measures/comparison.h"

namespace pleat::rmsd {

namespace {

class ReferenceRmsd final : public Comparison {
public:
    ReferenceRmsd(FrameSet frames, Index first_row)
        : frames_(std::move(frames)), first_row_(first_row) {}
    double cost() const override {
        return 1000.0 + 20.0 * static_cast<double>(frames_->atom_count());
    }

    void block(Block rows, Block columns, float* values) const override {
        for (Index i = rows.first; i < rows.first + rows.count; ++i)
            for (Index j = columns.first; j < columns.first + columns.count; ++j)
                *values++ = static_cast<float>(rmsd_in_float64(*frames_, first_row_ + i, j));
    }

private:
    FrameSet frames_;
    Index first_row_;
};

}  // namespace

std::unique_ptr<Comparison> make_reference_rmsd(FrameSet frames, Index first_row) {
    return std::make_unique<ReferenceRmsd>(std::move(frames), first_row);
}

std::unique_ptr<Kernel> make_reference_kernel(const Problem& problem) {
    return make_pair_kernel(make_reference_rmsd(borrowed(*problem.frames), 0),
                            problem.frames->frame_count(), 1);
}

}  // namespace pleat::rmsd

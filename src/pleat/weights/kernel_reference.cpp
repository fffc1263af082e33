// Reference kernel: compares every ordered pair column by column.
#include "pleat/weights/kernel.h"

namespace pleat::weights {
namespace {

class ReferenceKernel final : public Kernel {
public:
    explicit ReferenceKernel(const Problem& problem)
        : problem_(problem), neighbours_(static_cast<std::size_t>(problem.letters.extent(0)), 0) {}

    Index step_count() const override { return problem_.letters.extent(0); }

    void step(Index n) override {
        const Index columns = problem_.letters.extent(1);
        const Index min_identical = columns - problem_.max_differences;
        Index count = 0;
        for (Index m = 0; m < problem_.letters.extent(0); ++m) {
            Index identical = 0;
            for (Index i = 0; i < columns; ++i) {
                if (problem_.letters(n, i) == problem_.letters(m, i)) ++identical;
            }
            if (identical >= min_identical) ++count;
        }
        neighbours_[static_cast<std::size_t>(n)] = count;
    }

    std::vector<Index> neighbours() const override { return neighbours_; }

private:
    Problem problem_;
    std::vector<Index> neighbours_;
};

}  // namespace

std::unique_ptr<Kernel> make_reference_kernel(const Problem& problem) {
    return std::make_unique<ReferenceKernel>(problem);
}

}  // namespace pleat::weights

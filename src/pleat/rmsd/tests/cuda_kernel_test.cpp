// The CUDA kernel of rmsd against the reference.
#include <gtest/gtest.h>

#include "pleat/core/tests/cuda_absence.h"
#include "pleat/rmsd/tests/every_kernel.h"
#include "pleat/rmsd/tests/random_ensemble.h"

namespace pleat::rmsd {
namespace {

TEST(CudaKernel, AgreesWithTheReference) {
    const std::string absence = pleat::test::cuda_absence();
    if (!absence.empty()) GTEST_SKIP() << absence;
    Context context;
    context.device = {Device::Kind::cuda, 0};
    for (const Index frames : {2, 33, 300}) {
        const Frames centred = centre(random_ensemble(frames, 41, 1.5, 7), {}, 1);
        const auto found = test::all_pairs(*make_cuda_kernel({&centred}, context), frames, 48);
        const auto expected = test::reference_pairs(centred);
        for (std::size_t pair = 0; pair < expected.size(); ++pair)
            ASSERT_NEAR(found[pair], expected[pair], 1e-6) << frames << " frames, pair " << pair;
    }
}

}  // namespace
}  // namespace pleat::rmsd

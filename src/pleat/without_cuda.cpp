// What a build without CUDA links in place of every .cu file: the same symbols, which refuse.
#include "pleat/core/cuda/cuda_device.h"
#include "pleat/core/error.h"
#include "pleat/couplings/kernel/kernel.h"
#include "pleat/mutual_information/kernel/kernel.h"
#include "pleat/mutual_information/tree/residue_pairs.h"
#include "pleat/rmsd/cuda/gpu_comparisons.h"
#include "pleat/rmsd/kernel/kernel.h"
#include "pleat/saxs/debye/body_pairs.h"
#include "pleat/saxs/kernel/kernel.h"
#include "pleat/saxs/model/surface_kernel.h"
#include "pleat/saxs/session/session_sums.h"
#include "pleat/weights/kernel.h"

namespace pleat {

namespace {

constexpr const char* kAbsence = "this build has no CUDA kernels";

[[noreturn]] void refuse(int index) {
    throw DeviceError("CUDA device " + Device{Device::Kind::cuda, index}.name() + ": " + kAbsence +
                      "; leave --device out to use the CPU");
}

}  // namespace

std::jthread start_cuda_early(int, bool) { return {}; }

CudaDevices find_cuda_devices(std::int64_t) { return {{}, kAbsence}; }

int count_cuda_devices() { return 0; }

bool can_read_each_other(std::span<const Device>) { return false; }

CudaDevice use_cuda_device(int index) { refuse(index); }

std::unique_ptr<couplings::Kernel> couplings::make_cuda_kernel(const Problem&, int index,
                                                               const CudaChoices&) {
    refuse(index);
}

std::unique_ptr<weights::Kernel> weights::make_cuda_kernel(const Problem&, const Context& context) {
    refuse(context.device.index);
}

std::unique_ptr<mutual_information::Kernel> mutual_information::make_cuda_kernel(
    const Problem&, const Context& context) {
    refuse(context.device.index);
}

std::unique_ptr<mutual_information::ResidueScorer> mutual_information::make_cuda_scorer(
    const ResidueScoring&, int, const Context& context) {
    refuse(context.device.index);
}

std::unique_ptr<rmsd::Kernel> rmsd::make_cuda_kernel(const Problem&, const Context& context,
                                                     double*) {
    refuse(context.device.index);
}

DeviceClusters rmsd::cluster_on_cuda(const FrameSource&, GromosProblem, const Context& context,
                                     double*) {
    refuse(context.device.index);
}

std::unique_ptr<rmsd::Comparison> rmsd::make_drmsd_on_cuda(const TwoSets&,
                                                           const std::vector<double>&, FitPrecision,
                                                           const Context& context) {
    refuse(context.device.index);
}

std::unique_ptr<rmsd::Comparison> rmsd::make_fit_on_cuda(const FitFrames&, const FitFrames&, double,
                                                         const Context& context) {
    refuse(context.device.index);
}

std::unique_ptr<rmsd::Comparison> rmsd::make_lddt_on_cuda(const LddtFrames&,
                                                          const Context& context) {
    refuse(context.device.index);
}

std::unique_ptr<rmsd::Comparison> rmsd::make_permuted_on_cuda(const Frames&, Index,
                                                              const PlaceTable&, double,
                                                              const Context& context) {
    refuse(context.device.index);
}

std::unique_ptr<rmsd::Comparison> rmsd::make_tm_on_cuda(const FrameSet&, const FrameSet&, Metric,
                                                        const Context& context) {
    refuse(context.device.index);
}

std::unique_ptr<saxs::Kernel> saxs::make_cuda_kernel(const Model&, Precision,
                                                     const Context& context) {
    refuse(context.device.index);
}

std::unique_ptr<saxs::Kernel> saxs::make_cuda_multipole_kernel(const Model&, const Context& context,
                                                               std::unique_ptr<Kernel>) {
    refuse(context.device.index);
}

std::unique_ptr<saxs::BodyPairs> saxs::make_cuda_body_pairs(const Model&, const SortedScatterers&,
                                                            Precision, int index) {
    refuse(index);
}

std::unique_ptr<saxs::SurfaceKernel> saxs::make_cuda_surface_kernel(std::span<const double>, Index,
                                                                    int index) {
    refuse(index);
}

std::shared_ptr<saxs::SharedGpu> saxs::make_shared_gpu(const Model&, std::span<const std::int32_t>,
                                                       int index) {
    refuse(index);
}

}  // namespace pleat

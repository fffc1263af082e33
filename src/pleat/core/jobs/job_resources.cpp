// Job resources: how many jobs run at once, on which device, and with how much memory.
#include "pleat/core/jobs/job_resources.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <numeric>

#include "pleat/core/error.h"
#include "pleat/core/hardware/memory.h"

namespace pleat {

namespace {

// Number of jobs in progress per GPU: while one computes, others read, prepare and write.
constexpr int kJobsPerGpu = 8;
// Usable fraction of free memory; the remainder allows for allocators and inexact estimates.
constexpr double kUsableFraction = 0.95;
// Memory to read and prepare an input, per byte of its files.
constexpr std::int64_t kCopies = 4, kPackedCopies = 12;
// Seconds that a further GPU must save to be used, and minimum GPU seconds per job.
constexpr double kMinSaved = 0.3, kSecondsPerJob = 0.03;
// A GPU with a smaller fraction of free memory is in use by another program.
constexpr double kMinFree = 0.9;

std::int64_t usable(std::int64_t bytes) {
    return static_cast<std::int64_t>(kUsableFraction * static_cast<double>(bytes));
}

std::int64_t size_of(const std::string& file) {
    std::error_code absent;  // reported when the file is read
    const auto bytes = static_cast<std::int64_t>(std::filesystem::file_size(file, absent));
    return absent ? 0 : bytes;
}

/// The GPUs to use if the user named none: all, or those of this rank, so no others are started.
std::vector<CudaDevice> own_gpus(const JobResources::Request& request) {
    if (request.local_ranks == 1) return find_cuda_devices().devices;
    std::vector<CudaDevice> found;
    const int count = count_cuda_devices();
    for (int n = 0; n < count; ++n) {
        const bool is_own = count > request.local_ranks
                                ? n % request.local_ranks == request.local_rank
                                : n == request.local_rank % count;
        if (!is_own) continue;
        try {
            found.push_back(use_cuda_device(n));
        } catch (const DeviceError&) {
            // Like a GPU that find_cuda_devices() finds but cannot use.
        }
    }
    return found;
}

}  // namespace

double file_bytes(const std::vector<std::string>& files) {
    double bytes = 0;
    for (const std::string& file : files) bytes += static_cast<double>(size_of(file));
    return bytes;
}

JobResources::FileSizes JobResources::sizes_of(
    const std::vector<std::vector<std::string>>& inputs) {
    FileSizes sizes;
    for (const std::vector<std::string>& files : inputs) {
        std::int64_t bytes = 0;
        for (const std::string& file : files) {
            const bool is_packed = file.ends_with(".gz") || file.ends_with(".zst");
            bytes += size_of(file) * (is_packed ? kPackedCopies : kCopies);
        }
        sizes.read_bytes.push_back(bytes);
    }
    std::sort(sizes.read_bytes.rbegin(), sizes.read_bytes.rend());
    return sizes;
}

std::int64_t JobResources::FileSizes::largest(int count) const {
    const auto end = read_bytes.begin() + std::min<std::ptrdiff_t>(count, std::ssize(read_bytes));
    return std::accumulate(read_bytes.begin(), end, std::int64_t{0});
}

JobResources::Gpu::Gpu(const CudaDevice& found, int sharers)
    : device(found), free_bytes(found.free_bytes / sharers), bytes(usable(free_bytes)) {}

std::vector<std::unique_ptr<JobResources::Gpu>> JobResources::gpus_to_use(const Request& request,
                                                                          std::size_t jobs) {
    std::vector<std::unique_ptr<Gpu>> gpus;
    for (const Device& device : request.devices)
        if (device.kind == Device::Kind::cuda)
            gpus.push_back(
                std::make_unique<Gpu>(use_cuda_device(device.index), request.ranks_per_gpu));
    if (!request.devices.empty()) return gpus;
    std::vector<CudaDevice> found = own_gpus(request);
    std::erase_if(found, [](const CudaDevice& gpu) { return !gpu.usable; });
    std::ranges::stable_sort(found, std::ranges::greater{}, &CudaDevice::free_bytes);
    for (const CudaDevice& gpu : found) {
        const auto used = static_cast<double>(gpus.size());
        const double work = kSecondsPerJob * static_cast<double>(jobs);
        const bool is_idle =
            static_cast<double>(gpu.free_bytes) >= kMinFree * static_cast<double>(gpu.total_bytes);
        if (used > 0 && (!is_idle || work / used - work / (used + 1) <= kMinSaved)) break;
        gpus.push_back(std::make_unique<Gpu>(gpu, request.ranks_per_gpu));
    }
    return gpus;
}

JobResources::JobResources(const Request& request,
                           const std::vector<std::vector<std::string>>& inputs)
    : named_(request.devices),
      threads_(request.threads),
      gpus_(gpus_to_use(request, inputs.size())),
      sizes_(sizes_of(inputs)),
      worker_count_(choose_workers(request, usable(available_memory()))),
      budget_(threads_),
      // Memory that all jobs need before and after they compute is reserved in advance, so that no
      // job holds memory while it waits for more.
      host_bytes_(
          std::max<std::int64_t>(0, usable(available_memory()) - sizes_.largest(worker_count_))) {}

/// Returns as many as the user wants, or one per thread; fewer if their input would fill more than
/// half of the memory.
int JobResources::choose_workers(const Request& request, std::int64_t usable_bytes) const {
    const auto gpus = static_cast<int>(gpus_.size());
    const std::int64_t by_default = gpus > 0 ? std::min(threads_, gpus * kJobsPerGpu) : threads_;
    const auto jobs = std::max<std::int64_t>(1, std::ssize(sizes_.read_bytes));
    int workers =
        static_cast<int>(std::clamp<std::int64_t>(request.workers.value_or(by_default), 1, jobs));
    while (workers > 1 && sizes_.largest(workers) > usable_bytes / 2) --workers;
    return workers;
}

std::string JobResources::gpu_line() const {
    if (gpus_.empty()) return {};
    std::string names;
    for (const std::unique_ptr<Gpu>& gpu : gpus_)
        names +=
            fmt::format("{}cuda:{} ({}), {} free", names.empty() ? "device " : "; ",
                        gpu->device.index, gpu->device.name, human_bytes(gpu->device.free_bytes));
    return names + (named_.empty() ? "; jobs that do not fit there use the CPU" : "");
}

JobResources::Gpu* JobResources::gpu_for(const JobDemand& demand) {
    const std::lock_guard lock(mutex_);
    Gpu* best = nullptr;
    for (const std::unique_ptr<Gpu>& gpu : gpus_) {
        const bool has_room = demand.gpu_bytes && *demand.gpu_bytes <= gpu->free_bytes;
        if ((has_room || !named_.empty()) && (best == nullptr || gpu->jobs < best->jobs))
            best = gpu.get();
    }
    if (best != nullptr) ++best->jobs;
    return best;
}

JobResources::Share JobResources::acquire(const JobDemand& demand, bool is_alone,
                                          const std::function<bool()>& is_cancelled,
                                          Context& context) {
    Gpu* const gpu = gpu_for(demand);
    Share share;
    share.place = std::shared_ptr<void>(nullptr, [this, gpu](void*) {
        const std::lock_guard lock(mutex_);
        if (gpu != nullptr) --gpu->jobs;
    });
    context.lanes.clear();
    context.device = {Device::Kind::cpu, 0};
    if (gpu != nullptr)
        context.device = {Device::Kind::cuda, gpu->device.index};
    else if (!named_.empty())
        context.device = named_.front();
    const auto memory_with = [&](int threads) {
        context.threads = threads;
        return demand.estimate(context);
    };
    // A job may use all free threads (ThreadBudget). If the memory for further threads exceeds a
    // job's share, it uses only as many as fit.
    Estimate memory = memory_with(context.device.kind == Device::Kind::reference ? 1 : threads_);
    const std::int64_t share_bytes = host_bytes_.total() / worker_count_;
    if (!is_alone && context.threads > 1 && memory.host_bytes > share_bytes) {
        const std::int64_t further_bytes = memory.host_bytes - memory_with(1).host_bytes;
        const double room = static_cast<double>(share_bytes) /
                            static_cast<double>(std::max(share_bytes, further_bytes));
        memory = memory_with(
            std::max(1 + static_cast<int>((threads_ - 1) * room), threads_ / worker_count_));
    }
    const ThreadBudget::Pause waiting;
    share.host_bytes = host_bytes_.acquire(memory.host_bytes, is_cancelled);
    // A computation that does not fit as a whole processes blocks that fill the GPU.
    if (gpu == nullptr) return share;
    const std::int64_t gpu_total = gpu->bytes.total();
    share.gpu_bytes =
        gpu->bytes.acquire(memory.min_gpu_bytes > gpu_total ? memory.min_gpu_bytes
                                                            : std::min(memory.gpu_bytes, gpu_total),
                           is_cancelled);
    return share;
}

}  // namespace pleat

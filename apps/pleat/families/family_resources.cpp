// Family resources: how many families run at once, on which device, and with how many threads.
#include "families/family_resources.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <numeric>

#include "pleat/core/hardware/memory.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/couplings/fit/memory_estimate.h"

namespace pleat::program {

namespace {

// Families in progress with a GPU: one fits while others are read, weighted and written.
constexpr int kFamiliesPerGpu = 8;
// Of the free memory; the remainder is for what allocators keep and estimates miss.
constexpr double kUsableFraction = 0.95;
// Per pair of columns, i and j in either order: two scores (16), the text of one (27), pairs, their
// order and their lines; about 130 exist at the same time.
constexpr std::int64_t kScoreBytes = 140;
// Memory to read, filter and weight a family, per byte of its file.
constexpr std::int64_t kCopies = 4, kPackedCopies = 12;

std::optional<CudaDevice> gpu_to_use(const std::optional<Device>& named) {
    if (named) {
        if (named->kind != Device::Kind::cuda) return std::nullopt;
        return use_cuda_device(named->index);
    }
    std::optional<CudaDevice> best;
    for (const CudaDevice& gpu : find_cuda_devices().devices)
        if (gpu.usable && (!best || gpu.free_bytes > best->free_bytes)) best = gpu;
    return best;
}

std::int64_t usable(std::int64_t bytes) {
    return static_cast<std::int64_t>(kUsableFraction * static_cast<double>(bytes));
}

}  // namespace

FamilyResources::FileSizes FamilyResources::sizes_of(const std::vector<std::string>& paths) {
    FileSizes sizes;
    for (const std::string& path : paths) {
        std::error_code absent;  // reported when the file is read
        const auto bytes = static_cast<std::int64_t>(std::filesystem::file_size(path, absent));
        if (absent) continue;
        const bool is_packed = path.ends_with(".gz") || path.ends_with(".zst");
        sizes.work += static_cast<double>(bytes);
        sizes.read_bytes.push_back(bytes * (is_packed ? kPackedCopies : kCopies));
    }
    std::sort(sizes.read_bytes.rbegin(), sizes.read_bytes.rend());
    return sizes;
}

std::int64_t FamilyResources::FileSizes::largest(int count) const {
    const auto end = read_bytes.begin() + std::min<std::ptrdiff_t>(count, std::ssize(read_bytes));
    return std::accumulate(read_bytes.begin(), end, std::int64_t{0});
}

FamilyResources::FamilyResources(const CouplingsOptions& options,
                                 const std::vector<std::string>& paths)
    : named_(options.run.names_device() ? std::optional(make_context(options.run).device)
                                        : std::nullopt),
      all_threads_(resolve_threads(make_context(options.run))),
      gpu_(gpu_to_use(named_)),
      sizes_(sizes_of(paths)),
      workers_(choose_workers(options, usable(available_memory()))),
      // What all families in progress need before and after their fits is set aside once, so that
      // no family has some memory while it waits for more.
      host_bytes_(std::max<std::int64_t>(0, usable(available_memory()) - sizes_.largest(workers_))),
      gpu_bytes_(gpu_ ? usable(gpu_->free_bytes) : 0),
      threads_(all_threads_),
      work_left_(sizes_.work) {}

/// As many as the user wants, or one per thread; fewer if reading that many would take more than
/// half of the memory.
int FamilyResources::choose_workers(const CouplingsOptions& options,
                                    std::int64_t usable_bytes) const {
    const std::int64_t by_default = gpu_ ? std::min(all_threads_, kFamiliesPerGpu) : all_threads_;
    const auto families = std::max<std::int64_t>(1, std::ssize(sizes_.read_bytes));
    int workers =
        static_cast<int>(std::clamp<std::int64_t>(options.jobs.value_or(by_default), 1, families));
    while (workers > 1 && sizes_.largest(workers) > usable_bytes / 2) --workers;
    return workers;
}

std::string FamilyResources::gpu_line() const {
    if (!gpu_) return {};
    return fmt::format("device cuda:{} ({}), {} free{}", gpu_->index, gpu_->name,
                       human_bytes(gpu_->free_bytes),
                       named_ ? "" : "; families that do not fit there use the CPU");
}

int FamilyResources::threads_before_fit() const { return std::max(1, all_threads_ / workers_); }

Device FamilyResources::device_for(const Alignment& alignment) const {
    if (named_) return *named_;
    if (!gpu_) return {Device::Kind::cpu, 0};
    const Device device{Device::Kind::cuda, gpu_->index};
    return couplings::gpu_memory_needed(alignment) <= gpu_->free_bytes
               ? device
               : Device{Device::Kind::cpu, 0};
}

/// The family's share of the work that is left, or of the memory if that is larger: families that
/// start together end together, and if memory lets only a few in, those use all threads.
int FamilyResources::threads_for(double work, std::int64_t host_bytes) {
    const std::lock_guard lock(mutex_);
    const double of_work = work_left_ > 0 ? work / work_left_ : 1.0;
    const double of_memory = static_cast<double>(host_bytes) /
                             static_cast<double>(std::max<std::int64_t>(1, host_bytes_.total()));
    const double share = std::min(1.0, std::max(of_work, of_memory));
    // A whole number but for rounding is not rounded up.
    const int wanted = static_cast<int>(std::ceil(all_threads_ * share - 1e-9));
    return std::max(wanted, threads_before_fit());
}

FamilyResources::Share FamilyResources::acquire(const Alignment& alignment,
                                                const couplings::Parameters& parameters,
                                                double work, bool is_alone,
                                                const std::function<bool()>& is_cancelled,
                                                Context& context) {
    context.device = device_for(alignment);
    const Index columns = alignment.column_count();
    const auto needed = [&](int threads) {
        context.threads = threads;
        couplings::MemoryDemand demand = couplings::memory_demand(alignment, parameters, context);
        // The scores of all pairs, their ranks and texts; most of it while results are written.
        demand.host += kScoreBytes * columns * columns + alignment.sequence_count() * columns;
        return demand;
    };
    int threads = is_alone ? all_threads_ : threads_for(work, needed(1).host);
    if (context.device.kind == Device::Kind::reference) threads = 1;
    const couplings::MemoryDemand demand = needed(threads);

    Share share;
    share.host_bytes = host_bytes_.acquire(demand.host, is_cancelled);
    // A fit that cannot have all columns at once works through them in blocks that fill the GPU.
    const std::int64_t gpu_total = gpu_bytes_.total();
    share.gpu_bytes = gpu_bytes_.acquire(
        demand.min_gpu > gpu_total ? demand.min_gpu : std::min(demand.gpu, gpu_total),
        is_cancelled);
    // Beside a GPU the threads are idle most of the time. On the CPU fewer threads now are better
    // than all of them later, down to a half.
    if (context.device.kind != Device::Kind::cuda) {
        share.threads = threads_.acquire((threads + 1) / 2, threads, is_cancelled);
        threads = static_cast<int>(share.threads.count());
    }
    context.threads = threads;
    return share;
}

void FamilyResources::Share::keep_host_memory_only() {
    gpu_bytes.release();
    threads.release();
}

void FamilyResources::end_family(double work) {
    const std::lock_guard lock(mutex_);
    work_left_ -= work;
}

}  // namespace pleat::program

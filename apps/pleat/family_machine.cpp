// Family machine: demands of families, and a gate before what there is.
#include "family_machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "pleat/core/hardware/memory.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/couplings/fit/memory_estimate.h"

namespace pleat::program {

namespace {

// Families in work with a GPU: one fits while others are read, weighted and written.
constexpr int kFamiliesPerGpu = 8;
// Of the free memory; the rest is for what allocators keep and estimates miss.
constexpr double kUsableShare = 0.95;
// Of a pair of columns, i and j in either order: two scores (16), the text of one (27), pairs,
// their order and their lines; about 130 are held at once.
constexpr std::int64_t kScoreBytes = 140;
// Bytes to read, filter and weight a family, for each byte of its file.
constexpr std::int64_t kCopies = 4, kPackedCopies = 12;
// Places in Amounts.
constexpr std::size_t kHost = 0, kThreads = 1, kGpu = 2, kKinds = 3;

/// The GPU that was named, or where none was that with the most free memory, the first of equals.
std::optional<CudaDevice> gpu_to_use(const RunOptions& options, const Device& named) {
    if (options.names_device()) {
        if (named.kind != Device::Kind::cuda) return std::nullopt;
        return use_cuda_device(named.index);
    }
    std::optional<CudaDevice> best;
    for (const CudaDevice& gpu : find_cuda_devices().devices)
        if (gpu.usable && (!best || gpu.free_bytes > best->free_bytes)) best = gpu;
    return best;
}

std::int64_t usable_bytes(std::int64_t bytes) {
    return static_cast<std::int64_t>(kUsableShare * static_cast<double>(bytes));
}

}  // namespace

FamilyMachine::FamilyMachine(const CouplingsOptions& options, const std::vector<double>& works)
    : is_automatic_(!options.run.names_device()),
      named_(make_context(options.run).device),
      threads_(resolve_threads(make_context(options.run))),
      gpu_(gpu_to_use(options.run, named_)),
      gate_(capacity()) {
    const int most = gpu_ ? std::min(threads_, kFamiliesPerGpu) : threads_;
    workers_ = static_cast<int>(options.jobs.value_or(most));
    workers_ = std::clamp(workers_, 1, std::max(1, static_cast<int>(works.size())));
    for (const double work : works) work_left_ += work;
}

std::string FamilyMachine::remark() const {
    if (!gpu_) return {};
    return fmt::format("device cuda:{} ({}), {} free{}", gpu_->index, gpu_->name,
                       human_bytes(gpu_->free_bytes),
                       is_automatic_ ? "; the cpu for families that it cannot hold" : "");
}

Amounts FamilyMachine::capacity() const {
    return {usable_bytes(available_memory()), threads_, gpu_ ? usable_bytes(gpu_->free_bytes) : 0};
}

Device FamilyMachine::device_for(const Alignment& alignment) const {
    if (!is_automatic_) return named_;
    if (!gpu_) return {Device::Kind::cpu, 0};
    const Device device{Device::Kind::cuda, gpu_->index};
    return couplings::gpu_memory_needed(alignment) <= gpu_->free_bytes
               ? device
               : Device{Device::Kind::cpu, 0};
}

int FamilyMachine::threads_for(double work, std::int64_t host_bytes) {
    const std::lock_guard lock(mutex_);
    const double of_work = work_left_ > 0 ? work / work_left_ : 1;
    // Where memory lets only a few families in, those few take all threads.
    const double of_memory =
        static_cast<double>(host_bytes) /
        static_cast<double>(std::max<std::int64_t>(1, gate_.capacity()[kHost]));
    return thread_share(threads_, std::max(of_work, of_memory), threads_before());
}

std::vector<FamilyMachine::Place> FamilyMachine::places_for(const Alignment& alignment,
                                                            const couplings::Parameters& parameters,
                                                            double work) {
    const Device device = device_for(alignment);
    if (device.kind == Device::Kind::reference) return {{device, 1}};
    const std::int64_t host_bytes = amounts(alignment, parameters, {device, 1})[kHost];
    const int wanted = threads_for(work, host_bytes);
    std::vector<Place> places = {{device, wanted}};
    // On the CPU fewer threads now are better than all of them later, down to a half.
    if (device.kind == Device::Kind::cpu) {
        for (int threads = wanted - 1; 2 * threads >= wanted; --threads)
            places.push_back({device, threads});
    }
    return places;
}

Amounts FamilyMachine::amounts(const Alignment& alignment, const couplings::Parameters& parameters,
                               const Place& place) const {
    Context context;
    context.device = place.device;
    context.threads = place.threads;
    const couplings::MemoryDemand demand = couplings::memory_demand(alignment, parameters, context);
    const Index columns = alignment.column_count();
    // Two matrices of scores and their ranks and texts, most of it while results are written.
    const std::int64_t scores = kScoreBytes * columns * columns;
    Amounts all(kKinds);
    all[kHost] = demand.host + scores + alignment.sequence_count() * columns;
    // A fit that cannot have all columns at once works through them in blocks that fill the GPU.
    const std::int64_t gpu = gate_.capacity()[kGpu];
    all[kGpu] = demand.min_gpu > gpu ? demand.min_gpu : std::min(demand.gpu, gpu);
    // Beside a GPU the threads are idle most of the time: the number of workers bounds them.
    if (place.device.kind != Device::Kind::cuda) all[kThreads] = place.threads;
    return all;
}

JobGate::Pass FamilyMachine::enter_to_read(const std::string& path,
                                           const std::function<bool()>& cancelled) {
    std::error_code absent;  // told when it is read
    const auto bytes = std::filesystem::file_size(path, absent);
    const bool is_packed = path.ends_with(".gz") || path.ends_with(".zst");
    Amounts amounts(kKinds);
    if (!absent)
        amounts[kHost] = static_cast<std::int64_t>(bytes) * (is_packed ? kPackedCopies : kCopies);
    return gate_.reserve(amounts, cancelled);
}

JobGate::Pass FamilyMachine::enter(JobGate::Pass reading, const Alignment& alignment,
                                   const couplings::Parameters& parameters, double work, bool alone,
                                   const std::function<bool()>& cancelled, Context& context,
                                   std::string& why) {
    std::vector<Place> places = places_for(alignment, parameters, work);
    if (alone) places = {{places.front().device, threads_}};
    std::vector<Amounts> choices;
    for (const Place& place : places) choices.push_back(amounts(alignment, parameters, place));
    JobGate::Pass pass = gate_.enter(choices, cancelled, std::move(reading));
    const Place& place = places[static_cast<std::size_t>(pass.choice())];
    context.device = place.device;
    context.threads = place.threads;
    why = fmt::format("device {}, {} of {} threads", context.device.name(), context.threads,
                      threads_);
    return pass;
}

void FamilyMachine::fitted(JobGate::Pass& pass) const {
    Amounts rest(kKinds);
    rest[kHost] = gate_.capacity()[kHost];
    pass.keep(rest);
}

void FamilyMachine::ended(double work) {
    const std::lock_guard lock(mutex_);
    work_left_ -= work;
}

}  // namespace pleat::program

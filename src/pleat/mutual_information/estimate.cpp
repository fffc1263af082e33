// Estimate: bytes of the arrays, and seconds by counting cells of contingency tables.
#include "pleat/mutual_information/estimate.h"

#include <algorithm>

#include "pleat/core/loops/parallel.h"
#include "pleat/mutual_information/cuda/cuda_layout.h"
#include "pleat/mutual_information/exact/pair_moments.h"
#include "pleat/mutual_information/exact/triple_moments.h"
#include "pleat/mutual_information/kernel/row_counts.h"
#include "pleat/mutual_information/kernel/shuffled_planes.h"
#include "pleat/mutual_information/tree/tree_pairs.h"
#include "pleat/mutual_information/triples/triple_run.h"

namespace pleat::mutual_information {

namespace {

/// Bytes per pair: T, the sums, and all statistics.
constexpr std::int64_t kPairBytes = 400;

/// Measured CPU seconds (bench/mutual_information.md) per table of two columns with `symbols`
/// symbols each, counted with bit planes; and per table of a triple.
double pair_seconds(double symbols, double rows) {
    return 0.05e-9 * (symbols - 1) * (symbols - 1) * rows / 64 + 0.3e-9 * symbols * symbols;
}

double triple_seconds(double symbols, double rows) {
    const double by_planes = 0.05e-9 * (symbols - 1) * (symbols - 1) * (rows / 64 + symbols) +
                             0.3e-9 * symbols * symbols * symbols;
    return std::min(by_planes, 1e-9 * rows);
}

/// CPU seconds of everything but shuffles.
double observed_seconds(const CodedColumns& columns, const Parameters& parameters, double symbols,
                        bool has_gpu) {
    const auto rows = static_cast<double>(columns.row_count());
    const auto pairs = static_cast<double>(pair_count(columns.column_count()));
    const auto triples = static_cast<double>(triple_count(columns.column_count()));
    // Weighted and gap-free counts go row by row.
    double seconds = pairs * (0.5e-6 + (parameters.counts_on_cpu() ? 2e-9 : 0.2e-9) * rows);
    if (parameters.has_tree())
        seconds +=
            tree_null_seconds(columns.row_count(), columns.column_count(), has_gpu, parameters);
    if (parameters.is_weighted() && parameters.has_sampled())
        seconds += pairs * 2e-9 * rows * static_cast<double>(parameters.shuffle_count());
    if (parameters.has_exact()) seconds += pairs * 0.35e-6 * symbols * symbols;
    if (parameters.order < 3) return seconds;
    seconds += triples * (50e-9 + 8 * triple_seconds(symbols, rows));
    if (parameters.has_exact())
        seconds += TripleMoments::seconds(columns, parameters.triple_variance);
    return seconds;
}

/// CPU seconds of shuffles of plain counts.
double shuffle_seconds(const CodedColumns& columns, const Parameters& parameters, double symbols) {
    if (!parameters.has_sampled() || parameters.counts_on_cpu()) return 0;
    const auto rows = static_cast<double>(columns.row_count());
    double seconds =
        static_cast<double>(pair_count(columns.column_count())) * pair_seconds(symbols, rows);
    if (parameters.order == 3)
        seconds += static_cast<double>(triple_count(columns.column_count())) *
                   triple_seconds(symbols, rows);
    return seconds * static_cast<double>(parameters.shuffle_count());
}

}  // namespace

std::int64_t host_bytes(const Alignment& alignment, const Parameters& parameters,
                        const Context& context) {
    const Index rows = alignment.sequence_count(), columns = alignment.column_count();
    const int symbols = alignment.alphabet->size();
    std::int64_t bytes = 2 * rows * columns + 8 * rows + kPairBytes * pair_count(columns);
    if (context.device.kind == Device::Kind::cuda) {
        // The rows sorted by each column of a tile, before they are uploaded.
        bytes += 8 * rows + (parameters.order == 3 ? 4 * rows * cuda::kSingleTileSide : 0);
    } else if (parameters.has_sampled()) {
        const std::int64_t planes = columns * (symbols - 1) * ((rows + 63) / 64) * kLanes * 8;
        bytes += std::max(planes, std::min<std::int64_t>(8 * planes, 256 << 20)) +
                 resolve_threads(context) * 14 * rows * kLanes;
        if (parameters.order == 3) bytes += codes_bytes(rows, symbols);
    }
    if (parameters.has_tree()) bytes += tree_null_bytes(rows, columns, symbols, context);
    const std::int64_t of_pairs =
        parameters.has_exact() ? pair_moments_bytes(rows, columns, symbols) : 0;
    const std::int64_t of_triples =
        parameters.order == 3 ? triple_run_bytes(alignment, parameters, context) : 0;
    return bytes + std::max(of_pairs, of_triples);
}

std::int64_t memory_needed(const Alignment& alignment, const Parameters& parameters,
                           const Device& device, int threads) {
    check_input(alignment, parameters);
    if (device.kind == Device::Kind::cuda && parameters.has_tree())
        return tree_gpu_bytes(alignment.sequence_count(), alignment.column_count(), threads);
    if (device.kind == Device::Kind::cuda)
        return cuda::memory_needed(compact_columns(alignment.letters),
                                   static_cast<int>(parameters.order), parameters.shuffle_count());
    Context context;
    context.device = device;
    context.threads = threads;
    return host_bytes(alignment, parameters, context);
}

std::optional<GpuDemand> gpu_demand(const Alignment& alignment, const Parameters& parameters,
                                    int threads) {
    if (!parameters.has_gpu_work()) return std::nullopt;
    if (parameters.has_tree())
        return GpuDemand{memory_needed(alignment, parameters, {Device::Kind::cuda, 0}, threads)};
    // Measured on an H200 (README.md of this folder): 10,000 shuffles of 3.0 million triples of an
    // alignment of 753 rows take 4.3 s.
    constexpr double kSecondsPerRow = 1.9e-13;
    const auto columns = static_cast<double>(alignment.column_count());
    const auto rows = static_cast<double>(std::max<Index>(alignment.sequence_count(), 256));
    double items = columns * (columns - 1) / 2;
    if (parameters.order == 3) items *= 1 + (columns - 2) / 3;
    return GpuDemand{
        memory_needed(alignment, parameters, {Device::Kind::cuda, 0}, threads),
        items * rows * static_cast<double>(parameters.shuffle_count()) * kSecondsPerRow};
}

std::int64_t disk_needed(const Alignment& alignment, const Parameters& parameters) {
    constexpr Index kNumbers = 13, kSampledNumbers = 9, kTripleNumbers = 12;
    const Index numbers = kNumbers + (parameters.has_sampled() ? kSampledNumbers : 0);
    Index bytes = 8 * numbers * pair_count(alignment.column_count());
    if (parameters.order == 3 && parameters.all_triples)
        bytes += 8 * kTripleNumbers * triple_count(alignment.column_count());
    return bytes;
}

Estimate estimate(const Alignment& alignment, const Parameters& parameters,
                  const Context& context) {
    check_input(alignment, parameters);
    const bool has_gpu = context.device.kind == Device::Kind::cuda;
    Context own = context;
    own.threads = resolve_threads(context);
    Estimate all;
    all.disk_bytes = disk_needed(alignment, parameters);
    // The alignment is read, filtered, and compacted.
    all.host_bytes = host_bytes(alignment, parameters, own) +
                     3 * alignment.sequence_count() * alignment.column_count();
    const CodedColumns columns = compact_columns(alignment.letters);
    if (has_gpu && parameters.has_tree()) {
        all.gpu_bytes = all.min_gpu_bytes =
            tree_gpu_bytes(alignment.sequence_count(), alignment.column_count(), own.threads);
    } else if (has_gpu && !parameters.counts_on_cpu()) {
        const auto order = static_cast<int>(parameters.order);
        const Index shuffles = parameters.shuffle_count();
        all.gpu_bytes = cuda::memory_needed(columns, order, shuffles);
        all.min_gpu_bytes = cuda::min_memory(columns, order, shuffles);
    }
    if (context.device.kind == Device::Kind::reference) return all;
    const double symbols =
        static_cast<double>(columns.counts.size()) / static_cast<double>(columns.column_count());
    const auto gpu = has_gpu ? gpu_demand(alignment, parameters, own.threads) : std::nullopt;
    const double on_cpu = observed_seconds(columns, parameters, symbols, has_gpu) +
                          (gpu ? 0 : shuffle_seconds(columns, parameters, symbols));
    all.seconds = 0.1 + on_cpu / own.threads + (gpu ? gpu->seconds : 0);
    if (has_gpu && parameters.has_tree())
        all.seconds +=
            tree_gpu_seconds(alignment.sequence_count(), alignment.column_count(), parameters);
    return all;
}

}  // namespace pleat::mutual_information

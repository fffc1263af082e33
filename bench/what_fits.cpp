// Prints, as tables in Markdown, the sizes of input that fit into the memory of GPUs.
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "pleat/couplings/fit/memory_estimate.h"
#include "pleat/mutual_information/cuda/cuda_layout.h"
#include "pleat/rmsd/estimate.h"

namespace {

using pleat::Context;
using pleat::Device;
using pleat::Index;

constexpr int kGigabytes[] = {8, 16, 24, 48, 80, 141};
constexpr Device kGpu{Device::Kind::cuda, 0};
/// What the driver and other programs leave of a GPU.
constexpr double kFree = 0.95;

/// Bytes of GPU memory for an input of this size.
using Bytes = std::function<std::int64_t(Index size)>;

/// The largest size from 2 on that fits, rounded down to two digits; "-" if none does.
std::string largest(const Bytes& bytes, int gigabytes, Index max) {
    const auto room = static_cast<std::int64_t>(kFree * 1e9 * gigabytes);
    Index fits = 1, too_large = max + 1;
    while (too_large - fits > 1) {
        const Index middle = fits + (too_large - fits) / 2;
        (bytes(middle) <= room ? fits : too_large) = middle;
    }
    if (fits < 2) return "-";
    if (fits == max) return "over " + std::to_string(max);
    Index unit = 1;
    while (fits / unit >= 100) unit *= 10;
    return std::to_string(fits / unit * unit);
}

struct Row {
    std::string name;
    Bytes bytes;
};

void print_table(const std::string& head, Index max, const std::vector<Row>& rows) {
    std::string lines[2] = {"| " + head + " |", "|---|"};
    for (const int gigabytes : kGigabytes) {
        lines[0] += " " + std::to_string(gigabytes) + " GB |";
        lines[1] += "---|";
    }
    std::printf("%s\n%s\n", lines[0].c_str(), lines[1].c_str());
    for (const Row& row : rows) {
        std::string line = "| " + row.name + " |";
        for (const int gigabytes : kGigabytes)
            line += " " + largest(row.bytes, gigabytes, max) + " |";
        std::printf("%s\n", line.c_str());
    }
}

std::int64_t fit_bytes(Index sequences, Index columns) {
    constexpr int kProteinLetters = 21;
    Context context;
    context.device = kGpu;
    return pleat::couplings::estimate(sequences, columns, kProteinLetters, {}, context)
        .min_gpu_bytes;
}

/// Columns in which all 21 letters are equally frequent.
std::int64_t shuffle_bytes(Index sequences, Index columns, int order) {
    constexpr Index kSymbols = 21, kShuffles = 10000;
    pleat::mutual_information::CodedColumns made;
    made.codes = pleat::Array<std::uint8_t, 2>::unset(columns, sequences);
    made.counts.assign(static_cast<std::size_t>(columns * kSymbols), sequences / kSymbols);
    for (Index column = 0; column <= columns; ++column)
        made.first_symbol.push_back(column * kSymbols);
    return pleat::mutual_information::cuda::min_memory(made, order, kShuffles);
}

}  // namespace

int main() {
    std::vector<Row> rows;
    for (const Index columns : {100, 200, 300, 500, 700, 1000, 1500, 2000, 3000})
        rows.push_back({std::to_string(columns),
                        [=](Index sequences) { return fit_bytes(sequences, columns); }});
    std::printf("`couplings`: sequences of a protein family, by its columns\n\n");
    print_table("columns", 10'000'000, rows);
    std::printf("\n`mi --shuffles 10000`: columns, by sequences\n\n");
    rows.clear();
    for (const Index sequences : {1000, 10'000, 100'000})
        for (const int order : {2, 3})
            rows.push_back(
                {std::to_string(sequences) + (order == 2 ? ", pairs" : ", triples"),
                 [=](Index columns) { return shuffle_bytes(sequences, columns, order); }});
    print_table("sequences", 20'000, rows);
    std::printf("\n`rmsd` and `cluster`: frames, by selected atoms\n\n");
    rows.clear();
    for (const Index atoms : {50, 100, 300, 1000, 3000})
        rows.push_back({std::to_string(atoms) + ", superposition", [=](Index frames) {
                            return pleat::rmsd::memory_needed(frames, atoms, {}, kGpu);
                        }});
    for (const Index atoms : {50, 100, 300, 1000, 3000})
        rows.push_back({std::to_string(atoms) + ", GROMOS clusters", [=](Index frames) {
                            return pleat::rmsd::gromos_gpu_memory(frames, atoms, {});
                        }});
    print_table("atoms", 100'000'000, rows);
    return 0;
}

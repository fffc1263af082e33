// Runs a fuzzer's function without libFuzzer: on every seed, then on mutations of seeds, for some
// time.
//
// smoke SEEDS SECONDS [INPUT]
//
// Each mutation depends on its number alone. A crash names that number, which INPUT repeats alone.
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

#include "harness.h"

namespace {

using Bytes = std::vector<std::uint8_t>;
using Random = std::mt19937_64;

constexpr std::size_t kMaxBytes = 1 << 16;
constexpr int kMaxSteps = 8;

volatile std::uint64_t current_input = 0;

extern "C" void report_crash(int signal) {
    char line[64];
    const int length = std::snprintf(line, sizeof line, "smoke: signal %d at input %llu\n", signal,
                                     static_cast<unsigned long long>(current_input));
    (void)!::write(STDERR_FILENO, line, static_cast<std::size_t>(length));
    ::signal(signal, SIG_DFL);
    ::raise(signal);
}

std::vector<Bytes> read_seeds(const char* folder) {
    std::vector<std::filesystem::path> paths;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) paths.push_back(entry);
    std::sort(paths.begin(), paths.end());
    std::vector<Bytes> seeds;
    for (const std::filesystem::path& path : paths) {
        std::ifstream file(path, std::ios::binary);
        seeds.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    }
    return seeds;
}

std::size_t below(Random& random, std::size_t limit) { return limit == 0 ? 0 : random() % limit; }

/// A number where readers compare: small, at the limit of a type, or any.
std::uint64_t edge(Random& random) {
    constexpr std::uint64_t kEdges[] = {0,
                                        1,
                                        0x7f,
                                        0x80,
                                        0xff,
                                        0x7fff,
                                        0xffff,
                                        0x7fffffff,
                                        0x80000000,
                                        0xffffffff,
                                        ~std::uint64_t{0}};
    return random() % 4 == 0 ? random() : kEdges[below(random, std::size(kEdges))];
}

void mutate(Bytes& bytes, const Bytes& other, Random& random) {
    const std::size_t at = below(random, bytes.size() + 1);
    const auto position = bytes.begin() + static_cast<std::ptrdiff_t>(at);
    const std::size_t length = std::min(bytes.size() - at, below(random, 16) + 1);
    const std::size_t from = below(random, other.size());
    const auto piece = other.begin() + static_cast<std::ptrdiff_t>(from);
    const std::size_t piece_length =
        below(random, std::min<std::size_t>(other.size() - from, 64) + 1);
    const std::uint64_t number = edge(random);
    switch (random() % 7) {
        case 0:
            if (at < bytes.size()) bytes[at] ^= static_cast<std::uint8_t>(1U << (number % 8));
            break;
        case 1:
            if (at < bytes.size()) bytes[at] = static_cast<std::uint8_t>(number);
            break;
        case 2: bytes.erase(position, position + static_cast<std::ptrdiff_t>(length)); break;
        case 3:
            bytes.insert(position, below(random, 16) + 1, static_cast<std::uint8_t>(number));
            break;
        case 4:
            bytes.insert(position, piece, piece + static_cast<std::ptrdiff_t>(piece_length));
            break;
        case 5:
            for (std::size_t i = 0; i < std::min<std::size_t>(length, 8); ++i)
                bytes[at + i] = static_cast<std::uint8_t>(number >> (8 * i));
            break;
        default: bytes.resize(at);
    }
    if (bytes.size() > kMaxBytes) bytes.resize(kMaxBytes);
}

/// The seeds come first; every later number is a seed with one to eight mutations.
Bytes make_input(const std::vector<Bytes>& seeds, std::uint64_t number) {
    if (number < seeds.size()) return seeds[number];
    Random random(number);
    Bytes bytes = seeds[below(random, seeds.size())];
    const std::uint64_t steps = 1 + random() % kMaxSteps;
    for (std::uint64_t step = 0; step < steps; ++step)
        mutate(bytes, seeds[below(random, seeds.size())], random);
    return bytes;
}

void run_input(const std::vector<Bytes>& seeds, std::uint64_t number) {
    current_input = number;
    const Bytes bytes = make_input(seeds, number);
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
}

}  // namespace

int main(int count, char** values) {
    if (count != 3 && count != 4) {
        std::fputs("smoke: expected SEEDS SECONDS [INPUT]\n", stderr);
        return 2;
    }
    for (const int signal : {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV})
        ::signal(signal, report_crash);
    const std::vector<Bytes> seeds = read_seeds(values[1]);
    if (seeds.empty()) {
        std::fprintf(stderr, "smoke: %s: no seeds\n", values[1]);
        return 2;
    }
    if (count == 4) {
        run_input(seeds, std::strtoull(values[3], nullptr, 10));
        return 0;
    }
    using Clock = std::chrono::steady_clock;
    const Clock::time_point end = Clock::now() + std::chrono::seconds(std::atoi(values[2]));
    std::uint64_t number = 0;
    while (number < seeds.size() || Clock::now() < end) run_input(seeds, number++);
    std::printf("%llu inputs of %zu seeds\n", static_cast<unsigned long long>(number),
                seeds.size());
}

// Checks every meeting of Comm on the ranks that mpirun starts. With an argument (broadcast or
// gather), rank 1 has no memory for what that operation brings.
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <fstream>
#include <numeric>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "pleat/core/loops/parallel.h"
#include "rank_main.h"

namespace {

using namespace pleat;
using namespace pleat::program;

constexpr std::size_t kMany = 2'500'000;  // several pieces of a message
constexpr std::size_t kLarge = std::size_t{64} << 20, kSpareMemory = std::size_t{16} << 20;

void expect(bool holds, const char* what, int line) {
    if (!holds) throw std::logic_error(fmt::format("line {}: expected {}", line, what));
}
#define EXPECT(condition) expect(condition, #condition, __LINE__)

void check_sums(Comm& comm) {
    const std::int64_t rank = comm.rank(), size = comm.size(), pairs = size * (size - 1) / 2;
    std::vector<std::int64_t> wide(kMany);
    for (std::size_t i = 0; i < kMany; ++i)
        wide[i] = (std::int64_t{1} << 50) + rank * static_cast<std::int64_t>(i);
    comm.sum(wide);
    for (std::size_t i = 0; i < kMany; ++i)
        EXPECT(wide[i] == (size << 50) + pairs * static_cast<std::int64_t>(i));
    std::vector<std::uint32_t> narrow = {1, static_cast<std::uint32_t>(rank)};
    comm.sum(narrow);
    EXPECT(narrow[0] == static_cast<std::uint32_t>(size));
    EXPECT(narrow[1] == static_cast<std::uint32_t>(pairs));
    std::vector<double> maxima(kMany, -1.0 - static_cast<double>(rank));
    maxima[kMany - 1] = static_cast<double>(rank);
    comm.raise(maxima);
    EXPECT(maxima[0] == -1.0);
    EXPECT(maxima[kMany - 1] == static_cast<double>(size - 1));
    comm.sum(std::span<std::int64_t>());
    // In the order of ranks the large terms cancel before the small one comes, or after.
    const double terms[] = {1e30, -1e30, 1.0, 3.0};
    double expected = 0.0;
    for (int r = 0; r < comm.size(); ++r) expected += terms[r % 4];
    EXPECT(comm.sum(terms[rank % 4]) == expected);
}

void check_bytes(Comm& comm) {
    const auto rank = static_cast<std::uint8_t>(comm.rank());
    const int last = comm.size() - 1;
    std::vector<std::uint8_t> bytes(comm.rank() == last ? kMany : 3, rank);
    comm.broadcast(bytes, last);
    EXPECT(bytes == std::vector<std::uint8_t>(kMany, static_cast<std::uint8_t>(last)));
    bytes.assign(comm.rank() == 0 ? 0 : 5, 1);
    comm.broadcast(bytes, 0);
    EXPECT(bytes.empty());
    const std::vector<std::uint8_t> own(static_cast<std::size_t>(comm.rank()) * kMany / 2, rank);
    const auto all = comm.gather(own, last);
    EXPECT(static_cast<int>(all.size()) == (comm.rank() == last ? comm.size() : 0));
    for (std::size_t r = 0; r < all.size(); ++r)
        EXPECT(all[r] == std::vector<std::uint8_t>(r * kMany / 2, static_cast<std::uint8_t>(r)));
}

void check_places(Comm& comm) {
    // All ranks of this test are on one machine.
    EXPECT(comm.local_size() == comm.size());
    EXPECT(comm.local_rank() == comm.rank());
    const double shares = comm.sum(comm.cpu_share());
    EXPECT(std::abs(shares - std::round(shares)) < 1e-6);
    EXPECT(shares > 0.5 && shares < available_threads(Comm()) * comm.size() + 0.5);
    EXPECT(available_threads(comm) >= 1);
    EXPECT(available_threads(comm) <= available_threads());
    EXPECT(comm.size() == 1 || available_threads() == 1 ||
           available_threads(comm) * comm.size() <= std::max<int>(shares + 0.5, comm.size()));
}

/// Bytes of address space that this process has.
std::size_t virtual_memory() {
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

/// From here on this process gets no more than some megabytes.
void refuse_memory() {
    rlimit limit{};
    limit.rlim_cur = limit.rlim_max = virtual_memory() + kSpareMemory;
    ::setrlimit(RLIMIT_AS, &limit);
}

/// Rank 1 has no memory for what rank 0 broadcasts, or for what it gathers itself.
void run_out_of_memory(Comm& comm, std::string_view operation) {
    std::vector<std::uint8_t> bytes(comm.rank() == 0 ? kLarge : 0);
    if (comm.rank() == 1) refuse_memory();
    if (operation == "broadcast")
        comm.broadcast(bytes, 0);
    else
        comm.gather(bytes, 1);
    throw std::logic_error("expected memory to run out");
}

}  // namespace

int main(int count, char** values) {
    return rank_main([&](Ranks& ranks) {
        Comm& comm = ranks.comm();
        if (count == 2) return run_out_of_memory(comm, values[1]);
        EXPECT(!comm.any(false));
        EXPECT(comm.any(comm.rank() == comm.size() - 1));
        comm.barrier();
        check_sums(comm);
        check_bytes(comm);
        check_places(comm);
        const double cpus = comm.sum(comm.cpu_share());
        if (ranks.is_leader())
            std::printf("checked %d ranks on %.0f CPUs, %d idle\n", comm.size(), cpus,
                        comm.idle_cpus());
    });
}

// Writes many made protein families and a list of them, the same for the same number and seed.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <numeric>

#include "made_family.h"
#include "pleat/core/files/output_file.h"
#include "pleat/core/loops/parallel.h"

namespace pleat::bench {

namespace {

constexpr Index kPfam = 14'831;  // families of Pfam in June 2014

/// The numbers on which the cost of fits depends, summed over families, as JSON.
std::string sums(const std::vector<FamilySize>& sizes) {
    double sequences = 0, letters = 0, products = 0;
    for (const FamilySize& size : sizes) {
        const auto rows = static_cast<double>(size.sequences);
        const auto columns = static_cast<double>(size.columns);
        sequences += rows;
        letters += rows * columns;
        products += rows * columns * columns;
    }
    return fmt::format(
        R"({{"families": {}, "sequences": {:.0f}, "letters": {:.0f}, "products": {:.0f}}})",
        sizes.size(), sequences, letters, products);
}

void make_families(const std::filesystem::path& folder, Index count, std::uint64_t seed) {
    const std::vector<FamilySize> sizes = made_sizes(count, seed);
    std::vector<std::size_t> order(sizes.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::ranges::greater{},
                             [&](std::size_t k) { return sizes[k].sequences * sizes[k].columns; });
    const auto path = [&](std::size_t k) { return folder / fmt::format("PF{:05}.aln", k + 1); };
    std::filesystem::create_directories(folder);
    parallel_for(available_threads(), count, [&](Index i, int) {
        const std::size_t k = order[static_cast<std::size_t>(i)];
        write_text(path(k), MadeFamily(sizes[k], seed, k).text());
    });
    std::string list;
    for (std::size_t k = 0; k < sizes.size(); ++k) list += path(k).string() + '\n';
    write_text(folder / "list.txt", list);
    fmt::print("{{\"made\": {}, \"all\": {}}}\n", sums(sizes), sums(made_sizes(kPfam, seed)));
}

}  // namespace

}  // namespace pleat::bench

int main(int count, char** words) {
    const pleat::Index families = count > 2 ? std::atoll(words[2]) : 0;
    if (families < 1 || count > 4) {
        std::fprintf(stderr, "usage: %s FOLDER FAMILIES [SEED]\n", words[0]);
        return 2;
    }
    try {
        pleat::bench::make_families(words[1], families,
                                    count > 3 ? std::strtoull(words[3], nullptr, 10) : 1);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return 0;
}

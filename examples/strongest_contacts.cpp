// Example: prints the ten strongest contacts of an alignment.
//
//     c++ -std=c++20 strongest_contacts.cpp $(pkg-config --cflags --libs pleat)
//     ./a.out family.a3m
#include <algorithm>
#include <cstdio>
#include <tuple>
#include <vector>

#include "pleat/pleat.h"

int main(int count, char** values) {
    if (count != 2) return 2;
    try {
        const pleat::Alignment family = pleat::read_alignment(values[1]);
        const pleat::couplings::Result fit = pleat::couplings::run(family, {}, {});
        std::vector<std::tuple<double, int, int>> pairs;
        const int columns = static_cast<int>(fit.corrected.extent(0));
        for (int i = 0; i < columns; ++i)
            for (int j = i + 4; j < columns; ++j) pairs.emplace_back(fit.corrected(i, j), i, j);
        std::sort(pairs.rbegin(), pairs.rend());
        std::puts("column i  column j   score");
        for (std::size_t n = 0; n < std::min<std::size_t>(10, pairs.size()); ++n) {
            const auto [score, i, j] = pairs[n];
            std::printf("%8d  %8d  %6.4f\n", i + 1, j + 1, score);
        }
    } catch (const pleat::Error& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return error.exit_code();
    }
}

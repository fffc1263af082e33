// Times read_ensemble() of a made XTC trajectory on one thread and on two, in turns.
//
// bench_read_ensemble FOLDER [FRAMES ATOMS [BOX [REPEATS]]]   250000 300 0 5
//
// FOLDER gets made.pdb and made.xtc, about 4.6 bytes per atom and frame; later calls use them. With
// a box (angstrom) its atoms are wrapped into it. Prints the best wall and CPU seconds.
#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <filesystem>
#include <string>

#include "../made_ensemble.h"
#include "pleat/bio/ensemble/ensemble.h"
#include "pleat/bio/tests/written_trajectory.h"
#include "pleat/core/files/output_file.h"

namespace {

using namespace pleat;
using testing::Bits;
using Place = std::array<std::int64_t, 3>;

/// A packed frame as GROMACS writes it: full positions, each with a run of up to eight differences
/// that all fit one range.
std::string packed_frame(View<const float, 2> atoms, double box) {
    constexpr int kSmall = 30, kRange = 1024;  // steps of 3.8 angstrom, in 0.01 angstrom
    const auto count = static_cast<std::size_t>(atoms.extent(0));
    std::vector<Place> places(count);
    Place least, greatest;
    least.fill(INT32_MAX), greatest.fill(INT32_MIN);
    for (std::size_t k = 0; k < count; ++k)
        for (std::size_t axis = 0; axis < 3; ++axis) {
            double x = atoms(static_cast<Index>(k), static_cast<Index>(axis));
            if (box > 0) x -= box * std::floor(x / box);
            places[k][axis] = std::llround(100 * x);
            least[axis] = std::min(least[axis], places[k][axis]);
            greatest[axis] = std::max(greatest[axis], places[k][axis]);
        }
    std::array<std::uint64_t, 3> extents{};
    for (std::size_t axis = 0; axis < 3; ++axis)
        extents[axis] = static_cast<std::uint64_t>(greatest[axis] - least[axis] + 1);
    const int full_bits = std::bit_width(extents[0] * extents[1] * extents[2]);
    const auto difference = [&](std::size_t to, std::size_t from, std::size_t axis) {
        return places[to][axis] - places[from][axis] + kRange / 2;
    };
    const auto is_near = [&](std::size_t to, std::size_t from) {
        const auto fits = [&](std::size_t axis) {
            return difference(to, from, axis) >= 0 && difference(to, from, axis) < kRange;
        };
        return fits(0) && fits(1) && fits(2);
    };
    Bits bits;
    const auto put = [&](const Place& above, const std::array<std::uint64_t, 3>& ranges,
                         int width) {
        std::array<std::uint64_t, 3> unsigned_above{};
        std::ranges::copy(above, unsigned_above.begin());
        bits.mixed(unsigned_above, ranges, width);
    };
    int last_run = 0;
    for (std::size_t k = 0; k < count;) {
        // The order in the file: the first two atoms of a run are exchanged.
        std::vector<std::size_t> order = {k};
        if (k + 1 < count && is_near(k, k + 1)) {
            order = {k + 1, k};
            while (order.size() < 9 && k + order.size() < count &&
                   is_near(k + order.size(), order.back()))
                order.push_back(k + order.size());
        }
        Place above{};
        for (std::size_t axis = 0; axis < 3; ++axis)
            above[axis] = places[order[0]][axis] - least[axis];
        put(above, extents, full_bits);
        const int run = static_cast<int>(order.size()) - 1;
        bits.put(run != last_run, 1);
        if (run != last_run) bits.put(3 * static_cast<std::uint64_t>(run) + 1, 5);
        last_run = run;
        for (std::size_t n = 1; n < order.size(); ++n) {
            for (std::size_t axis = 0; axis < 3; ++axis)
                above[axis] = difference(order[n], order[n - 1], axis);
            put(above, {kRange, kRange, kRange}, kSmall);
        }
        k += order.size();
    }
    testing::Bytes frame = testing::xtc_start(static_cast<int>(count), 1995);
    if (box > 0)
        for (std::size_t axis = 0; axis < 3; ++axis)
            frame.text.replace(16 + 16 * axis, 4,
                               testing::Bytes{}.put(static_cast<float>(box / 10)).text);
    frame.put(1000.f);
    for (const Place& edge : {least, greatest})
        for (const std::int64_t number : edge) frame.integer(number);
    frame.integer(kSmall).integer(static_cast<std::int64_t>(bits.text.size()));
    frame.text += bits.text;
    frame.text.resize((frame.text.size() + 3) / 4 * 4);
    return frame.text;
}

void write_files(const std::filesystem::path& folder, Index frames, Index atoms, double box) {
    OutputFile topology(folder / "made.pdb");
    for (Index k = 0; k < atoms; ++k) {
        char line[90];
        std::snprintf(line, sizeof line,
                      "ATOM  %5d  CA  ALA A%4d       0.000   0.000   0.000  1.00  0.00           "
                      "C  \n",
                      static_cast<int>(k + 1) % 100000, static_cast<int>(k + 1) % 10000);
        topology.write(line);
    }
    topology.close();
    // Frames repeat, as making them takes longer than reading them.
    const Array<float, 3> xyz = bench::MadeEnsemble(atoms, 20, 1).frames(1000, 2);
    std::vector<std::string> made;
    for (Index f = 0; f < xyz.extent(0); ++f) made.push_back(packed_frame(xyz.view()[f], box));
    OutputFile trajectory(folder / "made.xtc");
    for (Index f = 0; f < frames; ++f)
        trajectory.write(made[static_cast<std::size_t>(f) % made.size()]);
    trajectory.close();
}

double wall_seconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

}  // namespace

int main(int count, char** words) {
    const auto number = [&](int at, double usual) {
        return count > at ? std::atof(words[at]) : usual;
    };
    const Index frames = static_cast<Index>(number(2, 250000));
    const Index atoms = static_cast<Index>(number(3, 300));
    if (count < 2 || frames < 1 || atoms < 10) {
        std::fprintf(stderr, "usage: %s FOLDER [FRAMES ATOMS [BOX [REPEATS]]]\n", words[0]);
        return 2;
    }
    try {
        const std::filesystem::path folder = words[1];
        std::filesystem::create_directories(folder);
        if (!std::filesystem::exists(folder / "made.xtc"))
            write_files(folder, frames, atoms, number(4, 0));
        double best[2][2] = {{1e9, 1e9}, {1e9, 1e9}};
        for (int repeat = 0; repeat < static_cast<int>(number(5, 5)); ++repeat)
            for (int threads : {1, 2}) {
                EnsembleOptions options;
                options.topology = folder / "made.pdb";
                options.threads = threads;
                const double start = wall_seconds();
                const std::clock_t cpu = std::clock();
                const Ensemble read = read_ensemble({(folder / "made.xtc").string()}, options);
                const double seconds[2] = {
                    wall_seconds() - start,
                    static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC};
                for (int k = 0; k < 2; ++k)
                    best[threads - 1][k] = std::min(best[threads - 1][k], seconds[k]);
                if (repeat == 0)
                    for (const Note& note : read.notes)
                        std::printf("%s\n", full_text(note).c_str());
            }
        for (int k = 0; k < 2; ++k)
            std::printf("%d thread%s: %.3f s wall, %.3f s CPU\n", k + 1, k > 0 ? "s" : "",
                        best[k][0], best[k][1]);
        std::printf("ratio of two threads to one: %.3f (%.2f times as fast)\n",
                    best[1][0] / best[0][0], best[0][0] / best[1][0]);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return 0;
}

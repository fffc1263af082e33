// Periodic cells: lengths and angles, nearest images, and the cells of each format.
#include "pleat/bio/periodic/periodic_cell.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "pleat/bio/ensemble/frame_reader.h"
#include "pleat/bio/ensemble/write_frames.h"
#include "pleat/bio/tests/scratch_file.h"
#include "pleat/bio/tests/written_trajectory.h"
#include "pleat/core/array.h"

namespace {

using namespace pleat;
using namespace pleat::testing;

constexpr double kHalfRoot3 = 0.8660254037844386;

void expect_vectors(const PeriodicCell& cell, const std::vector<double>& expected,
                    double tolerance) {
    for (std::size_t i = 0; i < 9; ++i)
        EXPECT_NEAR(cell.vectors[i / 3][i % 3], expected[i], tolerance) << "element " << i;
}

PeriodicCell cell_of(const std::string& bytes) {
    const auto reader = open_frames("x", bytes);
    Array<float, 2> frame(3, reader->atom_count());
    EXPECT_TRUE(reader->next(frame));
    return reader->cell();
}

/// A DCD file of one frame with these six doubles as its unit cell.
std::string dcd_with_cell(const std::vector<double>& numbers, bool big) {
    DcdShape shape;
    shape.cell = true;
    shape.big = big;
    shape.frames = shape.announced = 1;
    std::string file = dcd_file(shape);
    Bytes cell{big, {}};
    for (const double number : numbers) cell.put(number);
    file.replace(file.find(std::string(48, '\1')), 48, cell.text);
    return file;
}

TEST(PeriodicCell, IsMadeOfLengthsAndAngles) {
    expect_vectors(make_cell({10, 20, 30}, {90, 90, 90}), {10, 0, 0, 0, 20, 0, 0, 0, 30}, 1e-12);
    expect_vectors(make_cell({10, 10, 10}, {90, 90, 60}),
                   {10, 0, 0, 5, 10 * kHalfRoot3, 0, 0, 0, 10}, 1e-12);
    EXPECT_NEAR(make_cell({30, 20, 40}, {90, 90, 90}).volume(), 24000, 1e-9);
    EXPECT_TRUE(make_cell({30, 20, 40}, {90, 90, 90}).exists());
    EXPECT_FALSE(make_cell({1, 1, 1}, {90, 90, 90}).exists()) << "a dummy";
    EXPECT_FALSE(PeriodicCell().exists());
    for (const Point& angles : {Point{0, 0, 0}, Point{30, 30, 90}, Point{120, 120, 120}})
        EXPECT_EQ(make_cell({10, 10, 10}, angles).volume(), 0) << angles[2];
}

TEST(Lattice, FindsTheNearestImageInAnyCell) {
    std::mt19937 random(5);
    std::uniform_real_distribution<double> edge(20, 60), angle(35, 130), place(-200, 200);
    int cells = 0;
    while (cells < 50) {
        const PeriodicCell cell = make_cell({edge(random), edge(random), edge(random)},
                                            {angle(random), angle(random), angle(random)});
        if (cell.volume() < 5000) continue;
        ++cells;
        const Lattice lattice(cell);
        EXPECT_NEAR(PeriodicCell{lattice.vectors()}.volume(), cell.volume(), 1e-6 * cell.volume());
        for (int trial = 0; trial < 20; ++trial) {
            const Point d = {place(random), place(random), place(random)};
            const Lattice::Images images = lattice.images(d);
            // All multiples of the vectors as they were given, about the nearest by rounding.
            double best = 1e9, second = 1e9;
            const Lattice::Shift about = images.nearest;
            const Point rest = d - lattice.translation(about);
            for (int i = -4; i <= 4; ++i)
                for (int j = -4; j <= 4; ++j)
                    for (int k = -4; k <= 4; ++k) {
                        const Point image =
                            rest - (double(i) * cell.vectors[0] + double(j) * cell.vectors[1] +
                                    double(k) * cell.vectors[2]);
                        const double distance = std::sqrt(dot(image, image));
                        second = std::min(second, std::max(best, distance));
                        best = std::min(best, distance);
                    }
            EXPECT_NEAR(images.distance, best, 1e-9);
            EXPECT_NEAR(images.second_distance, second, 1e-9);
        }
    }
}

TEST(PeriodicCell, IsReadFromDcdInEachConvention) {
    for (const bool big : {false, true}) {
        SCOPED_TRACE(big);
        // a, gamma, b, beta, alpha, c; angles in degrees, as cosines, or the symmetric matrix.
        const std::vector<double> hexagonal = {10, 0, 0, 5, 10 * kHalfRoot3, 0, 0, 0, 30};
        expect_vectors(cell_of(dcd_with_cell({10, 60, 10, 90, 90, 30}, big)), hexagonal, 1e-9);
        expect_vectors(cell_of(dcd_with_cell({10, 0.5, 10, 0, 0, 30}, big)), hexagonal, 1e-9);
        expect_vectors(cell_of(dcd_with_cell({40, -3, 41, -4, 2, 42}, big)),
                       {40, -3, -4, -3, 41, 2, -4, 2, 42}, 1e-12);
        // Angles that no three vectors have: the symmetric matrix, too.
        expect_vectors(cell_of(dcd_with_cell({40, 9, 41, 2, 3, 42}, big)),
                       {40, 9, 2, 9, 41, 3, 2, 3, 42}, 1e-12);
    }
    EXPECT_FALSE(cell_of(dcd_file({})).exists());
}

TEST(PeriodicCell, IsWrittenToDcd) {
    const ScratchFolder folder;
    const std::filesystem::path path = folder.path() / "x.dcd";
    const PeriodicCell cells[] = {make_cell({30, 40, 50}, {90, 90, 90}),
                                  make_cell({80, 80, 80}, {60, 60, 90}),
                                  make_cell({30, 41, 52}, {75, 84, 110})};
    DcdWriter writer(path, 2, true);
    const Array<float, 2> atoms(3, 2);
    for (const PeriodicCell& cell : cells) writer.add(atoms, cell);
    writer.close();
    const auto reader = open_frames(path);
    Array<float, 2> frame(3, 2);
    for (const PeriodicCell& cell : cells) {
        ASSERT_TRUE(reader->next(frame));
        for (std::size_t axis = 0; axis < 3; ++axis)
            for (std::size_t k = 0; k < 3; ++k)
                EXPECT_NEAR(reader->cell().vectors[axis][k], cell.vectors[axis][k], 1e-9);
    }
}

TEST(PeriodicCell, IsReadFromXtcAndTrrInAngstrom) {
    std::string xtc = xtc_plain_frame(0, 3);
    Bytes box;
    for (const float x : {4.f, 0.f, 0.f, 1.f, 5.f, 0.f, 0.f, 0.f, 6.f}) box.put(x);
    xtc.replace(16, 36, box.text);
    expect_vectors(cell_of(xtc), {40, 0, 0, 10, 50, 0, 0, 0, 60}, 1e-5);
    expect_vectors(cell_of(trr_frame<float>(0, 4, true, false)), {50, 0, 0, 0, 50, 0, 0, 0, 50},
                   1e-5);
    expect_vectors(cell_of(trr_frame<double>(0, 4, true, true)), {50, 0, 0, 0, 50, 0, 0, 0, 50},
                   1e-9);
}

}  // namespace

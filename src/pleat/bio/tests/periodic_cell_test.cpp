// Periodic cells of each format, and molecules that lie on both sides of one.
#include "pleat/bio/structure/periodic_cell.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "pleat/bio/ensemble/ensemble.h"
#include "pleat/bio/ensemble/frame_reader.h"
#include "pleat/bio/tests/scratch_file.h"
#include "pleat/bio/tests/structure_text.h"
#include "pleat/bio/tests/written_trajectory.h"
#include "pleat/core/array.h"

namespace {

using namespace pleat;
using namespace pleat::testing;
using pleat::test::AtomText;
using pleat::test::pdb_line;

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
    EXPECT_EQ(make_cell({10, 10, 10}, {0, 0, 0}).shortest_edge(), 0);
    EXPECT_EQ(make_cell({1, 1, 1}, {90, 90, 90}).shortest_edge(), 0) << "a dummy";
    EXPECT_NEAR(make_cell({30, 20, 40}, {90, 90, 90}).shortest_edge(), 20, 1e-12);
}

TEST(PeriodicCell, FindsTheNearestImage) {
    const PeriodicCell cell = make_cell({10, 10, 10}, {90, 90, 60});
    EXPECT_NEAR(cell.nearest_image({9, 0, 0}), 1, 1e-12);
    EXPECT_NEAR(cell.nearest_image({5, 10 * kHalfRoot3, -29}), 1, 1e-12);
    EXPECT_NEAR(cell.nearest_image({2, 1, 0}), std::sqrt(5.0), 1e-12);
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
    }
    EXPECT_EQ(cell_of(dcd_file({})).shortest_edge(), 0);
}

TEST(PeriodicCell, IsReadFromXtcAndTrrInAngstrom) {
    std::string xtc = xtc_plain_frame(0, 3);
    Bytes box;
    for (const float x : {4.f, 0.f, 0.f, 1.f, 5.f, 0.f, 0.f, 0.f, 6.f}) box.put(x);
    xtc.replace(16, 36, box.text);
    expect_vectors(cell_of(xtc), {40, 0, 0, 10, 50, 0, 0, 0, 60}, 1e-5);
    expect_vectors(cell_of(trr_frame<float>(0, 4, true, false)), std::vector<double>(9, 50), 1e-5);
    expect_vectors(cell_of(trr_frame<double>(0, 4, true, true)), std::vector<double>(9, 50), 1e-9);
}

/// Two residues of one CA each, from the first of `x` to the second along x.
std::string model(int number, double first, double second, const std::string& cell) {
    std::string text = cell + "MODEL     " + std::to_string(1000 + number).substr(0, 4) + "\n";
    int residue = 1;
    for (const double x : {first, second}) {
        AtomText atom;
        atom.name = "CA";
        atom.element = "C";
        atom.chain = "A";
        atom.number = residue++;
        atom.x = x;
        text += pdb_line(atom);
    }
    return text + "ENDMDL\n";
}

constexpr const char* kCell =
    "CRYST1   40.000   50.000   60.000  90.00  90.00  90.00 P 1           1\n";
constexpr const char* kDummy =
    "CRYST1    1.000    1.000    1.000  90.00  90.00  90.00 P 1           1\n";

std::string warning_of(const std::string& text) {
    const ScratchFolder folder;
    for (const std::string& note : read_ensemble({folder.write("x.pdb", text).string()}).notes)
        if (note.starts_with("warning: ")) return note;
    return {};
}

TEST(BrokenMolecules, AreToldWithFrameAtomsAndDistance) {
    const std::string warning =
        warning_of(model(1, 1, 4.8, kCell) + model(2, 1, 37.2, kCell) + model(3, 1, 37.2, kCell));
    EXPECT_NE(warning.find(
                  "CA of ALA 1 in chain 'A' and CA of ALA 2 in chain 'A' are 36.2 angstrom apart"),
              std::string::npos)
        << warning;
    EXPECT_NE(warning.find("shortest edge is 40.0"), std::string::npos) << warning;
    EXPECT_NE(warning.find("in 2 frames"), std::string::npos) << warning;
}

TEST(BrokenMolecules, AreNotSeenWhereThereAreNone) {
    EXPECT_EQ(warning_of(model(1, 1, 4.8, kCell) + model(2, 39, 42.8, kCell)), "")
        << "whole molecules";
    EXPECT_EQ(warning_of(model(1, 1, 37.2, kCell)), "") << "the cell of a crystal";
    EXPECT_EQ(warning_of(model(1, 1, 37.2, kDummy) + model(2, 1, 37.2, "")), "")
        << "models of a structure that is no crystal";
    EXPECT_EQ(warning_of(model(1, 1, 37.2, "") + model(2, 1, 37.2, "")), "") << "no cell";
    EXPECT_EQ(warning_of(model(1, 1, 21.5, kCell) + model(2, 1, 21.5, kCell)), "")
        << "two ends of a gap: no image is near";
}

}  // namespace

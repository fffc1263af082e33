// Whole molecules: frames wrapped into cells come back, and what cannot be made whole is told.
#include "pleat/bio/periodic/whole_molecules.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "pleat/bio/ensemble/ensemble.h"
#include "pleat/bio/selection/selection.h"
#include "pleat/bio/tests/made_complex.h"
#include "pleat/bio/tests/refusal.h"
#include "pleat/bio/tests/scratch_file.h"
#include "pleat/bio/tests/structure_text.h"

namespace {

using namespace pleat;
using namespace pleat::testing;
using pleat::test::AtomText;
using pleat::test::pdb_line;

/// Options of which some are given.
EnsembleOptions options_of(const std::string& topology, const std::string& select = "all",
                           Pbc pbc = Pbc::automatic, const std::string& placed_by = "") {
    EnsembleOptions options;
    options.topology = topology;
    options.select = select;
    options.pbc = pbc;
    options.placed_by = placed_by;
    return options;
}

bool has_note(const Ensemble& ensemble, const std::string& text) {
    return std::any_of(ensemble.notes.begin(), ensemble.notes.end(), [&](const Note& note) {
        return full_text(note).find(text) != std::string::npos;
    });
}

bool has_warning(const Ensemble& ensemble) { return has_note(ensemble, "warning: "); }

/// The largest difference of a vector from the first selected atom to another one between the
/// frames that were read and those that were written.
double largest_error(const Ensemble& ensemble, const std::vector<Index>& selected,
                     const std::vector<std::vector<Point>>& frames) {
    double largest = 0;
    for (Index f = 0; f < ensemble.frame_count(); ++f)
        for (Index k = 0; k < ensemble.atom_count(); ++k)
            for (Index axis = 0; axis < 3; ++axis) {
                const auto& frame = frames[static_cast<std::size_t>(f)];
                const auto a = static_cast<std::size_t>(axis);
                const double expected =
                    frame[static_cast<std::size_t>(selected[static_cast<std::size_t>(k)])][a] -
                    frame[static_cast<std::size_t>(selected[0])][a];
                const double found =
                    double{ensemble.xyz(f, axis, k)} - double{ensemble.xyz(f, axis, 0)};
                largest = std::max(largest, std::abs(found - expected));
            }
    return largest;
}

std::vector<std::vector<Point>> made_frames(const MadeComplex& complex, int count) {
    std::mt19937 random(3);
    std::vector<std::vector<Point>> frames;
    frames.reserve(static_cast<std::size_t>(count));
    for (int f = 0; f < count; ++f) frames.push_back(complex.frame(random));
    return frames;
}

TEST(WholeMolecules, OnDiskAreThoseInMemory) {
    const MadeComplex complex;
    const ScratchFolder folder;
    const std::string topology = folder.write("x.pdb", complex.pdb()).string();
    const std::string path = (folder.path() / "x.dcd").string();
    write_wrapped(path, made_frames(complex, 7), test_cells()[4], 5);
    const Ensemble expected = read_ensemble({path}, options_of(topology));
    const FrameOverflow overflow{[](Index frames, Index) { return frames < 3; },
                                 folder.path() / "frames.f32"};
    const Ensemble found = read_ensemble({path}, options_of(topology), &overflow);
    ASSERT_TRUE(found.on_disk.is_on_disk());
    EXPECT_EQ(found.notes, expected.notes);
    EXPECT_TRUE(has_note(found, "selection split over the box in 7 of 7 frames"));
    for (Index f = 0; f < 7; ++f) {
        const Array<float, 2> frame = found.on_disk.frame(f);
        for (Index atom = 0; atom < found.atom_count(); ++atom)
            for (Index axis = 0; axis < 3; ++axis)
                ASSERT_EQ(frame(atom, axis), expected.xyz(f, axis, atom));
    }
}

TEST(WholeMolecules, ComeBackFromEachCell) {
    const MadeComplex complex;
    const std::vector<std::vector<Point>> frames = made_frames(complex, 6);
    const ScratchFolder folder;
    const std::string topology = folder.write("x.pdb", complex.pdb()).string();
    const std::string path = (folder.path() / "x.dcd").string();
    unsigned seed = 0;
    for (const PeriodicCell& cell : test_cells()) {
        write_wrapped(path, frames, cell, ++seed);
        for (const char* select : {"A", "ca", "heavy and not W", "not W", "A:1 or A:40", "L"}) {
            SCOPED_TRACE(std::string(select) + " in cell " + std::to_string(seed));
            const Ensemble whole = read_ensemble({path}, options_of(topology, select));
            const std::vector<Index> selected = select_atoms(*whole.all_atoms, select);
            EXPECT_LT(largest_error(whole, selected, frames), 2e-4);
            EXPECT_TRUE(
                has_note(whole, "selection split over the box in 6 of 6 frames: made whole"))
                << whole.notes.back().text;
            EXPECT_FALSE(has_warning(whole)) << whole.notes.back().text;
            const Ensemble left = read_ensemble({path}, options_of(topology, select, Pbc::none));
            EXPECT_GT(largest_error(left, selected, frames), 10);
        }
    }
}

TEST(WholeMolecules, AreLeftAloneWhereTheyAreWhole) {
    const MadeComplex complex;
    const std::vector<std::vector<Point>> frames = made_frames(complex, 3);
    const ScratchFolder folder;
    const std::string topology = folder.write("x.pdb", complex.pdb()).string();
    const std::string path = (folder.path() / "x.dcd").string();
    const PeriodicCell cell = test_cells()[1];
    DcdWriter writer(path, complex.atoms(), true);
    Array<float, 2> stored(Index{3}, complex.atoms());
    for (const auto& frame : frames) {
        for (Index i = 0; i < complex.atoms(); ++i)
            for (std::size_t axis = 0; axis < 3; ++axis)
                stored(static_cast<Index>(axis), i) =
                    static_cast<float>(frame[static_cast<std::size_t>(i)][axis]);
        writer.add(stored, cell);
    }
    writer.close();
    const Ensemble whole = read_ensemble({path}, options_of(topology));
    const Ensemble left = read_ensemble({path}, options_of(topology, "all", Pbc::none));
    EXPECT_TRUE(std::equal(whole.xyz.begin(), whole.xyz.end(), left.xyz.begin()));
    EXPECT_FALSE(has_note(whole, "box")) << whole.notes.back().text;
}

TEST(WholeMolecules, OfTwoSelectionsLieAtTheSamePlace) {
    const MadeComplex complex;
    const ScratchFolder folder;
    const std::string topology = folder.write("x.pdb", complex.pdb()).string();
    const std::string path = (folder.path() / "x.dcd").string();
    write_wrapped(path, made_frames(complex, 4), test_cells()[2], 7);
    const Ensemble part = read_ensemble({path}, options_of(topology, "B and name CA"));
    const Ensemble all =
        read_ensemble({path}, options_of(topology, "all", Pbc::automatic, "B and name CA"));
    const std::vector<Index> selected = select_atoms(*all.all_atoms, "B and name CA");
    for (Index f = 0; f < part.frame_count(); ++f)
        for (Index k = 0; k < part.atom_count(); ++k)
            for (Index axis = 0; axis < 3; ++axis)
                EXPECT_EQ(part.xyz(f, axis, k),
                          all.xyz(f, axis, selected[static_cast<std::size_t>(k)]));
}

constexpr const char* kCell =
    "CRYST1   40.000   50.000   60.000  90.00  90.00  90.00 P 1           1\n";

/// Residues of one CA each, at these places along x.
std::string model(const std::vector<double>& places, const std::string& cell) {
    std::string text = cell + "MODEL        1\n";
    int residue = 1;
    for (const double x : places) {
        AtomText atom;
        atom.number = residue++;
        atom.x = x;
        text += pdb_line(atom);
    }
    return text + "ENDMDL\n";
}

Ensemble read_text(const std::string& text, Pbc pbc = Pbc::automatic) {
    const ScratchFolder folder;
    return read_ensemble({folder.write("x.pdb", text).string()}, options_of("", "all", pbc));
}

TEST(WholeMolecules, OfOneBeadPerResidueFollowTheChain) {
    const Ensemble whole = read_text(model({1, 4.8}, kCell) + model({1, 37.2}, kCell));
    EXPECT_FLOAT_EQ(whole.xyz(1, 0, 1), -2.8f);
    EXPECT_TRUE(has_note(whole, "in 1 of 2 frames"));
}

TEST(WholeMolecules, CellsOfCrystalsAreNotUsed) {
    const std::string split = model({1, 37.2}, kCell);
    EXPECT_EQ(read_text(split).xyz(0, 0, 1), 37.2f) << "a structure of one model";
    std::string crystal = kCell;
    crystal.replace(crystal.find("P 1 "), 8, "P 21 21 ");
    EXPECT_EQ(read_text(model({1, 4.8}, crystal) + model({1, 37.2}, crystal)).xyz(1, 0, 1), 37.2f);
    const std::string dummy =
        "CRYST1    1.000    1.000    1.000  90.00  90.00  90.00 P 1           1\n";
    EXPECT_EQ(read_text(model({1, 4.8}, dummy) + model({1, 37.2}, "")).xyz(1, 0, 1), 37.2f);
}

TEST(WholeMolecules, AtomsThatAFileLacksAreSteppedOver) {
    const auto file = [](int models, bool has_all, double from_third) {
        std::string text = kCell;
        for (int m = 0; m < models; ++m) {
            text += "MODEL        1\n";
            for (int r = 1; r <= 4; ++r)
                for (const char* name : {"N", "CA", "C"}) {
                    if (!has_all && r == 2 && std::string(name) == "C") continue;
                    AtomText atom;
                    atom.name = name;
                    atom.element = atom.name.substr(0, 1);
                    atom.number = r;
                    atom.x = 3.6 * r +
                             (atom.name == "N"   ? -1.2
                              : atom.name == "C" ? 1.2
                                                 : 0) +
                             (r >= 3 ? from_third : 0);
                    text += pdb_line(atom);
                }
            text += "ENDMDL\n";
        }
        return text;
    };
    const ScratchFolder folder;
    const std::string topology = folder.write("all.pdb", file(1, true, 0)).string();
    const std::string path = folder.write("some.pdb", file(2, false, -40)).string();
    const Ensemble whole = read_ensemble({path}, options_of(topology, "ca"));
    for (Index k = 0; k < 4; ++k)
        EXPECT_NEAR(whole.xyz(1, 0, k), 3.6 * static_cast<double>(k + 1), 1e-4);
}

TEST(WholeMolecules, WithoutACellAreToldToBeSplit) {
    const std::vector<double> split = {1, 4.8, 8.6, 12.4, 60, 63.8, 67.6};
    const Ensemble left = read_text(model(split, "") + model(split, ""));
    EXPECT_TRUE(has_note(left,
                         "frame 0: CA of ALA 4 in chain 'A' and CA of ALA 5 in chain 'A' are 47.6 "
                         "angstrom apart (such neighbours in 2 of 2 frames)"))
        << left.notes.back().text;
    EXPECT_FALSE(has_warning(read_text(model({1, 4.8, 8.6, 12.4}, ""))));
    EXPECT_FALSE(has_warning(read_text(model(split, ""), Pbc::none)));
    // A ligand with an atom CA behind the chain that it shares is no part of it.
    std::string ligand = model(split, "");
    for (std::size_t at = 0; (at = ligand.find("ALA A   5", at)) != std::string::npos;)
        ligand.replace(at, 3, "SAH");
    EXPECT_FALSE(has_warning(read_text(ligand)));
}

TEST(WholeMolecules, AreRefusedWhereTheyCannotBeMade) {
    const std::string no_cell = model({1, 4.8}, "");
    EXPECT_NE(refusal([&] {
                  read_text(no_cell, Pbc::whole);
              }).find("frame 0: expected a periodic cell for --pbc whole, found none"),
              std::string::npos);
    const std::string flat =
        "CRYST1   40.000   50.000   60.000  30.00  30.00  90.00 P 1           1\n";
    EXPECT_NE(refusal([&] {
                  read_text(model({1, 4.8}, flat) + no_cell);
              }).find("frame 0: expected a periodic cell with a volume"),
              std::string::npos);
    const std::string zero =
        "CRYST1    0.000    0.000    0.000  90.00  90.00  90.00 P 1           1\n";
    const std::string changed = model({1, 4.8}, kCell) + model({1, 4.8}, zero);
    EXPECT_NE(refusal([&] {
                  read_text(changed);
              }).find("frame 1: expected a periodic cell as in the frames before, found none"),
              std::string::npos);
    EXPECT_EQ(read_text(changed, Pbc::none).frame_count(), 2);
}

/// Carbons along x that close around a cell of 30 angstrom.
std::string polymer() {
    std::string text;
    for (int m = 0; m < 2; ++m) {
        text +=
            "CRYST1   30.000   50.000   60.000  90.00  90.00  90.00 P 1           1\n"
            "MODEL        1\n";
        for (int n = 0; n < 20; ++n) {
            AtomText atom;
            atom.name = "C" + std::to_string(n + 1);
            atom.residue = "POL";
            atom.x = 1.5 * n;
            text += pdb_line(atom);
        }
        text += "ENDMDL\n";
    }
    return text;
}

TEST(WholeMolecules, WithoutEndAreTold) {
    const Ensemble left = read_text(polymer());
    EXPECT_TRUE(has_note(left, "warning: ") && has_note(left, "as in a molecule without end") &&
                has_note(left, "(2 such cases); it is left as it is"))
        << left.notes.back().text;
    EXPECT_FALSE(has_note(left, "made whole"));
    for (Index n = 0; n < 20; ++n) EXPECT_FLOAT_EQ(left.xyz(1, 0, n), 1.5f * static_cast<float>(n));
    EXPECT_NE(refusal([&] { read_text(polymer(), Pbc::whole); }).find("cannot make the molecule"),
              std::string::npos);
}

/// Two models of sodium ions at these x.
std::string ions_at(const std::vector<double>& all) {
    std::string text;
    for (int m = 0; m < 2; ++m) {
        text += std::string(kCell) + "MODEL        1\n";
        int number = 1;
        for (const double x : all)
            text += pdb_line({.record = "HETATM",
                              .name = "NA",
                              .residue = "NA",
                              .number = number++,
                              .x = x,
                              .element = "NA"});
        text += "ENDMDL\n";
    }
    return text;
}

TEST(WholeMolecules, AreNotPlacedBeyondTheLargest) {
    std::vector<double> many(2003);
    for (std::size_t n = 0; n < many.size(); ++n) many[n] = 0.01 * static_cast<double>(n);
    const Ensemble ensemble = read_text(ions_at(many));
    EXPECT_TRUE(
        has_note(ensemble, "warning: 3 molecules beyond the 2000 largest stay in the image"))
        << ensemble.notes.back().text;
    many.resize(2000);
    EXPECT_FALSE(has_warning(read_text(ions_at(many))));
}

TEST(WholeMolecules, WithoutBondsAreRefusedWhereTheyMustBeWhole) {
    const std::string ions = ions_at({9, 18});
    EXPECT_NE(refusal([&] { read_text(ions, Pbc::whole); }).find("has no bonds"),
              std::string::npos);
    EXPECT_FALSE(has_warning(read_text(ions)));
}

}  // namespace

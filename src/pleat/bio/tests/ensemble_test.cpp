// Ensembles of PDB, mmCIF and NPY files that the tests write: frames, alternates, matching, ranges.
#include "pleat/bio/ensemble/ensemble.h"

#include <gtest/gtest.h>

#include <cmath>

#include "pleat/bio/ensemble/ensemble_files.h"
#include "pleat/bio/ensemble/ensemble_reader.h"
#include "pleat/bio/tests/packed.h"
#include "pleat/bio/tests/refusal.h"
#include "pleat/bio/tests/scratch_file.h"
#include "pleat/bio/tests/structure_text.h"
#include "pleat/bio/tests/written_trajectory.h"
#include "pleat/core/files/npy.h"

namespace {

using namespace pleat;
using pleat::test::AtomText;
using pleat::test::cif_line;
using pleat::test::kCifHeader;
using pleat::test::pdb_line;
using pleat::testing::refusal;
using pleat::testing::ScratchFolder;

constexpr auto kHas = [](const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
};

AtomText atom(const std::string& name, int number, double x, const std::string& chain = "A") {
    AtomText text;
    text.name = name;
    text.number = number;
    text.chain = chain;
    text.x = x;
    text.element = name.substr(0, 1);
    return text;
}

std::string two_models() {
    return "MODEL        1\n" + pdb_line(atom("N", 1, 1)) + pdb_line(atom("CA", 1, 2)) +
           "TER\nENDMDL\nMODEL        2\n" + pdb_line(atom("N", 1, 3)) +
           pdb_line(atom("CA", 1, 4)) + "ENDMDL\nEND\n";
}

TEST(Ensemble, SkippedFramesAreThoseThatWouldBeRead) {
    const ScratchFolder folder;
    // x of CA is 2 and 4 in each of three files.
    std::vector<std::string> files;
    for (int n = 0; n < 3; ++n)
        files.push_back(folder.write("two" + std::to_string(n) + ".pdb", two_models()).string());
    EnsembleReader reader(files, {.topology = {}, .range = parse_frame_range("1:6:2")});
    Array<float, 2> frame(3, Index{2});
    ASSERT_TRUE(reader.skip());
    EXPECT_EQ(reader.number(), 1);
    ASSERT_TRUE(reader.next(frame));
    EXPECT_EQ(frame(0, 1), 4);
    EXPECT_EQ(reader.number(), 3);
    EXPECT_EQ(reader.origin().file, 1);
    ASSERT_TRUE(reader.skip());
    EXPECT_EQ(reader.origin().file, 2);
    EXPECT_FALSE(reader.skip());
    EXPECT_FALSE(reader.next(frame));
    EnsembleReader none(files, {.topology = {}, .range = parse_frame_range("6:")});
    EXPECT_THROW(none.skip(), InputError);
}

TEST(Ensemble, ModelsOfAPdbFileAreFrames) {
    const ScratchFolder folder;
    for (const std::string& text : {two_models(), pleat::testing::gzipped(two_models())}) {
        const Ensemble ensemble = read_ensemble({folder.write("two.pdb", text).string()});
        ASSERT_EQ(ensemble.frame_count(), 2);
        ASSERT_EQ(ensemble.atom_count(), 2);
        EXPECT_FLOAT_EQ(ensemble.xyz(0, 0, 1), 2);
        EXPECT_FLOAT_EQ(ensemble.xyz(1, 0, 0), 3);
        EXPECT_EQ(ensemble.topology->atoms[1].name, "CA");
        EXPECT_NEAR(ensemble.topology->atoms[0].mass, 14.007, 0.01);
        EXPECT_EQ(ensemble.topology->residues.size(), 1u);
        EXPECT_EQ(ensemble.origins[1].frame, 1);
    }
}

TEST(Ensemble, ModelsOfAnMmcifFileAreFrames) {
    const ScratchFolder folder;
    const std::string text = std::string(kCifHeader) + cif_line(atom("N", 1, 1), 1) +
                             cif_line(atom("CA", 1, 2), 1) + cif_line(atom("CA", 1, 4), 2) +
                             cif_line(atom("N", 1, 3), 2);
    const Ensemble ensemble = read_ensemble({folder.write("two.cif", text).string()});
    ASSERT_EQ(ensemble.frame_count(), 2);
    EXPECT_FLOAT_EQ(ensemble.xyz(1, 0, 0), 3) << "atoms of the second model in another order";
    EXPECT_FLOAT_EQ(ensemble.xyz(1, 0, 1), 4);
    EXPECT_EQ(ensemble.topology->residues[0].chain, "A");
}

TEST(Ensemble, ResidueNumbersOfMmcifMustFit) {
    const ScratchFolder folder;
    std::string line = cif_line(atom("CA", 1, 1));
    const std::size_t at = line.rfind(" 1 A 1");
    line.replace(at + 1, 1, "-15555555555");
    const auto file = folder.write("a.cif", kCifHeader + line);
    const std::string text = refusal([&] { read_ensemble({file.string()}); });
    EXPECT_TRUE(kHas(text, "expected a residue number for every atom, found '-15555555555'"))
        << text;
}

TEST(Ensemble, OneEntryIsTheSameInBothFormats) {
    const std::filesystem::path data = PLEAT_DATA;
    const std::vector<std::string> files = {(data / "1a8o.pdb.gz").string(),
                                            (data / "1a8o.cif.gz").string()};
    const Ensemble ensemble = read_ensemble(files);
    ASSERT_EQ(ensemble.frame_count(), 2);
    EXPECT_GT(ensemble.atom_count(), 500);
    for (Index i = 0; i < ensemble.atom_count(); ++i) {
        for (Index axis = 0; axis < 3; ++axis) {
            ASSERT_EQ(ensemble.xyz(0, axis, i), ensemble.xyz(1, axis, i))
                << ensemble.topology->atom_label(i);
        }
    }
    EnsembleOptions options;
    options.select = "ca";
    EXPECT_EQ(read_ensemble(files, options).atom_count(), 70);
}

TEST(Ensemble, KeepsTheAlternateOfHighestOccupancyAndSaysSo) {
    const ScratchFolder folder;
    AtomText a = atom("CA", 5, 1), b = atom("CA", 5, 2), c = atom("CB", 5, 3), d = atom("CB", 5, 4);
    a.altloc = c.altloc = 'A';
    b.altloc = d.altloc = 'B';
    a.occupancy = 0.4;
    b.occupancy = 0.6;
    c.occupancy = d.occupancy = 0.5;
    const auto file = folder.write("a.pdb", pdb_line(a) + pdb_line(b) + pdb_line(c) + pdb_line(d));
    const Ensemble ensemble = read_ensemble({file.string()});
    ASSERT_EQ(ensemble.atom_count(), 2);
    EXPECT_FLOAT_EQ(ensemble.xyz(0, 0, 0), 2);
    EXPECT_FLOAT_EQ(ensemble.xyz(0, 0, 1), 3);
    bool said = false;
    for (const Note& note : ensemble.notes) {
        said = said || kHas(note.text, "left out 2 atoms of alternate locations");
    }
    EXPECT_TRUE(said);
}

TEST(Ensemble, KeepsTheResidueOfHighestOccupancyAtOnePosition) {
    const ScratchFolder folder;
    AtomText serine = atom("CA", 22, 1), proline = atom("CA", 22, 2), hydroxyl = atom("OG", 22, 3);
    serine.residue = hydroxyl.residue = "SER";
    proline.residue = "PRO";
    serine.altloc = hydroxyl.altloc = 'A';
    proline.altloc = 'B';
    serine.occupancy = hydroxyl.occupancy = 0.4;
    proline.occupancy = 0.6;
    const auto file =
        folder.write("a.pdb", pdb_line(serine) + pdb_line(hydroxyl) + pdb_line(proline));
    const Ensemble ensemble = read_ensemble({file.string()});
    ASSERT_EQ(ensemble.atom_count(), 1);
    EXPECT_EQ(ensemble.topology->atom_label(0), "CA of PRO 22 in chain 'A'");
    EXPECT_FLOAT_EQ(ensemble.xyz(0, 0, 0), 2);
}

TEST(Ensemble, SegmentsStandForBlankChains) {
    const ScratchFolder folder;
    const auto segment = [](const std::string& name, double x) {
        std::string line = pdb_line(atom("CA", 1, x, " "));
        line.replace(72, 4, name);
        return line;
    };
    const auto one = folder.write("1.pdb", segment("PROA", 1) + segment("PROB", 2));
    const auto other = folder.write("2.pdb", segment("PROB", 4) + segment("PROA", 3));
    EnsembleOptions options;
    options.select = "PROB:1";
    const Ensemble ensemble = read_ensemble({one.string(), other.string()}, options);
    ASSERT_EQ(ensemble.atom_count(), 1);
    EXPECT_FLOAT_EQ(ensemble.xyz(1, 0, 0), 4);
}

TEST(Ensemble, InsertionCodesTellResiduesApart) {
    const ScratchFolder folder;
    AtomText plain = atom("CA", 52, 1), inserted = atom("CA", 52, 2);
    inserted.insertion = 'A';
    const auto one = folder.write("1.pdb", pdb_line(plain) + pdb_line(inserted));
    inserted.x = 4;
    plain.x = 3;
    const auto other = folder.write("2.pdb", pdb_line(inserted) + pdb_line(plain));
    const Ensemble ensemble = read_ensemble({one.string(), other.string()});
    EXPECT_FLOAT_EQ(ensemble.xyz(1, 0, 0), 3);
    EXPECT_FLOAT_EQ(ensemble.xyz(1, 0, 1), 4);
    EXPECT_EQ(ensemble.topology->atom_label(1), "CA of ALA 52A in chain 'A'");
}

TEST(Ensemble, MissingAtomsMatterWhereTheyAreSelected) {
    const ScratchFolder folder;
    const auto whole =
        folder.write("1.pdb", pdb_line(atom("CA", 1, 1)) + pdb_line(atom("CB", 1, 2)) +
                                  pdb_line(atom("CA", 2, 3)));
    const auto less =
        folder.write("2.pdb", pdb_line(atom("CA", 1, 4)) + pdb_line(atom("CA", 2, 5)) +
                                  pdb_line(atom("OXT", 2, 6)));
    const std::vector<std::string> files = {whole.string(), less.string()};
    const std::string text = refusal([&] { read_ensemble(files); });
    EXPECT_TRUE(kHas(text, "2.pdb: frame 0: expected the 3 selected atoms")) << text;
    EXPECT_TRUE(kHas(text, "found 1 of them missing: CB of ALA 1 in chain 'A'")) << text;
    EnsembleOptions options;
    options.select = "ca";
    const Ensemble ensemble = read_ensemble(files, options);
    EXPECT_FLOAT_EQ(ensemble.xyz(1, 0, 1), 5);
    EXPECT_TRUE(kHas(ensemble.notes.back().text, "left out 1 atoms that"))
        << ensemble.notes.back().text;
}

TEST(Ensemble, TheNameOfAnOnlyChainDoesNotMatter) {
    const ScratchFolder folder;
    const auto a = folder.write("1.pdb", pdb_line(atom("CA", 1, 1, "A")));
    const auto b = folder.write("2.pdb", pdb_line(atom("CA", 1, 2, " ")));
    EXPECT_EQ(read_ensemble({a.string(), b.string()}).frame_count(), 2);
    const auto two =
        folder.write("3.pdb", pdb_line(atom("CA", 1, 1, "B")) + pdb_line(atom("CA", 1, 1, "C")));
    EXPECT_TRUE(kHas(refusal([&] { read_ensemble({a.string(), two.string()}); }), "missing"));
}

TEST(Ensemble, BrokenModelsAreRefusedWithFileAndLine) {
    const ScratchFolder folder;
    const auto told = [&](const std::string& text) {
        return refusal([&] { read_ensemble({folder.write("x.pdb", text).string()}); });
    };
    const std::string good = two_models();
    EXPECT_TRUE(kHas(told(""), "found no bytes"));
    EXPECT_TRUE(
        kHas(told("REMARK nothing\n"),
             "expected a model with atoms (PDB, mmCIF, GRO, SDF, MOL2 or XYZ), found none"));
    EXPECT_TRUE(kHas(told("MODEL 1\nENDMDL\n"), "x.pdb: expected a model with atoms"));
    const std::string cut = good.substr(0, good.rfind("ATOM"));
    EXPECT_TRUE(kHas(told(cut), "expected 2 atoms and ENDMDL, found the end")) << told(cut);
    EXPECT_TRUE(kHas(told(good.substr(0, good.rfind("ATOM") + 30)), "at least 54 characters"));
    std::string bad = good;
    bad.replace(bad.find("   1.000"), 8, "     nan");
    EXPECT_TRUE(kHas(told(bad), "x.pdb:2: expected a coordinate in columns 31-38")) << told(bad);
    const std::string twice = pdb_line(atom("N", 1, 1)) + "ENDMDL\n" + pdb_line(atom("N", 1, 1)) +
                              pdb_line(atom("N", 1, 2)) + "ENDMDL\n";
    EXPECT_TRUE(kHas(told(twice), "frame 1: expected every atom once")) << told(twice);
}

class TrajectoryEnsemble : public ::testing::Test {
protected:
    ScratchFolder folder;
    std::string topology =
        folder
            .write("top.pdb", pdb_line(atom("N", 1, 1)) + pdb_line(atom("CA", 1, 2)) +
                                  pdb_line(atom("CA", 2, 3)))
            .string();
};

TEST_F(TrajectoryEnsemble, TakesItsAtomsFromTheTopology) {
    const auto xtc = folder.write(
        "x.xtc", pleat::testing::xtc_plain_frame(0, 3) + pleat::testing::xtc_plain_frame(1, 3));
    EnsembleOptions options;
    options.topology = topology;
    options.select = "ca";
    const Ensemble ensemble = read_ensemble({xtc.string()}, options);
    ASSERT_EQ(ensemble.frame_count(), 2);
    ASSERT_EQ(ensemble.atom_count(), 2);
    EXPECT_NEAR(ensemble.xyz(1, 2, 1), pleat::testing::place(1, 2, 2), 1e-5);
    EXPECT_EQ(ensemble.topology->atom_label(1), "CA of ALA 2 in chain 'A'");
    EXPECT_EQ(ensemble.notes.at(0).text, "selection 'ca': 2 of 3 atoms of " + topology);
    EXPECT_EQ(read_ensemble({topology, xtc.string()}).frame_count(), 3)
        << "the first file names the atoms of those after it";
}

TEST_F(TrajectoryEnsemble, FramesKeepTheirTimes) {
    using namespace pleat::testing;
    const auto times = [&](const std::filesystem::path& file, const char* frames = "::") {
        EnsembleOptions options;
        options.topology = topology;
        options.range = parse_frame_range(frames);
        const Ensemble ensemble = read_ensemble({file.string()}, options);
        EXPECT_TRUE(ensemble.is_trajectory);
        std::vector<double> found;
        for (const FrameOrigin& origin : ensemble.origins)
            found.push_back(origin.time.value_or(-1));
        return found;
    };
    const auto trr = folder.write("x.trr", trr_frame<float>(0, 3, true, true) +
                                               trr_frame<double>(1, 3, true, false) +
                                               trr_frame<float>(2, 3, true, false));
    EXPECT_EQ(times(trr), (std::vector<double>{0, 0.25, 0.5}));
    EXPECT_EQ(times(trr, "::2"), (std::vector<double>{0, 0.5}));
    EXPECT_EQ(times(folder.write("x.xtc", xtc_plain_frame(0, 3))), std::vector<double>{0.5});
    EXPECT_EQ(times(folder.write("x.nc", netcdf_file(1, 3, 2, 2))), (std::vector<double>{0, 1}));
    EXPECT_EQ(times(folder.write("x.dcd", dcd_file({.atoms = 3, .frames = 2}))),
              (std::vector<double>{-1, -1}));
}

TEST_F(TrajectoryEnsemble, ModelsAreNoTrajectory) {
    const std::string model = pdb_line(atom("N", 1, 1)) + "ENDMDL\n";
    const auto one = folder.write("1.pdb", model), two = folder.write("2.pdb", model + model);
    const auto is_trajectory = [](const std::vector<std::string>& files) {
        return read_ensemble(files).is_trajectory;
    };
    EXPECT_FALSE(is_trajectory({two.string()}));
    const auto xtc = folder.write(
        "x.xtc", pleat::testing::xtc_plain_frame(0, 1) + pleat::testing::xtc_plain_frame(1, 1));
    EXPECT_TRUE(is_trajectory({one.string(), xtc.string()}))
        << "a structure in front of a trajectory";
    EXPECT_FALSE(is_trajectory({two.string(), xtc.string()}));
}

TEST_F(TrajectoryEnsemble, WithoutTopologyOrWithAnotherIsRefused) {
    const auto xtc = folder.write("x.xtc", pleat::testing::xtc_plain_frame(0, 4));
    EXPECT_TRUE(kHas(refusal([&] { read_ensemble({xtc.string()}); }),
                     "expected a topology (PDB, mmCIF, GRO, PSF or PRMTOP file) for the 4 atoms of "
                     "the XTC file"));
    EnsembleOptions options;
    options.topology = topology;
    EXPECT_TRUE(kHas(refusal([&] { read_ensemble({xtc.string()}, options); }),
                     "x.xtc: expected 3 atoms as in " + topology + ", found 4"));
    options.topology = xtc;
    EXPECT_TRUE(kHas(refusal([&] { read_ensemble({xtc.string()}, options); }),
                     "expected a topology (PDB, mmCIF, GRO, PSF or PRMTOP file), found XTC"));
    options.topology = topology;
    EXPECT_TRUE(kHas(refusal([&] { read_ensemble({"nowhere.dcd"}, options); }), "found nothing"));
}

class NpyEnsemble : public ::testing::Test {
protected:
    std::string write(const std::vector<float>& values, const std::vector<Index>& shape) {
        const std::filesystem::path file = folder.path() / "xyz.npy";
        write_npy(file, values.data(), shape);
        return file.string();
    }
    ScratchFolder folder;
};

TEST_F(NpyEnsemble, FramesAreRowsAndNeedNoNames) {
    const Ensemble ensemble =
        read_ensemble({write({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, {2, 2, 3})});
    EXPECT_FLOAT_EQ(ensemble.xyz(1, 2, 0), 9);
    EXPECT_FALSE(ensemble.topology->named);
    EnsembleOptions options;
    options.select = "ca";
    const std::string file = (folder.path() / "xyz.npy").string();
    EXPECT_TRUE(kHas(refusal([&] { read_ensemble({file}, options); }), "give a topology"));
}

TEST_F(NpyEnsemble, WhatIsNoEnsembleIsRefused) {
    const auto told = [&](const std::vector<float>& values, const std::vector<Index>& shape) {
        return refusal([&] { read_ensemble({write(values, shape)}); });
    };
    EXPECT_TRUE(kHas(told({1, 2, 3, 4}, {1, 2, 2}), "expected an array [frame, atom, 3]"));
    EXPECT_TRUE(kHas(told({}, {0, 2, 3}), "expected frames, found none"));
    EXPECT_TRUE(kHas(told({}, {2, 0, 3}), "expected atoms")) << told({}, {2, 0, 3});
    const float nan = std::nanf("");
    const std::string text = told({1, 2, 3, 4, 5, 6, 7, nan, 9, 10, 11, 12}, {2, 2, 3});
    EXPECT_TRUE(kHas(text, "frame 1: expected finite coordinates, found nan for atom 0")) << text;
    const std::string file = write({1, 2, 3, 4, 5, 6}, {2, 1, 3});
    std::filesystem::resize_file(file, std::filesystem::file_size(file) - 5);
    EXPECT_TRUE(kHas(refusal([&] { read_ensemble({file}); }), "frame 1: expected 12 more bytes"));
}

/// Five frames of one atom, whose x is the frame's number from 0.
std::vector<float> five_frames() {
    std::vector<float> values;
    for (int i = 0; i < 15; ++i) values.push_back(static_cast<float>(i / 3));
    return values;
}

TEST_F(NpyEnsemble, RangesCountFramesOfAllFilesAsPythonSlicesDo) {
    const std::string file = write(five_frames(), {5, 1, 3});
    const auto read = [&](const char* range) {
        return read_ensemble({file, file}, {.topology = {}, .range = parse_frame_range(range)});
    };
    using List = std::vector<Index>;
    const std::pair<const char*, List> expected[] = {
        {"1:8:3", {1, 4, 7}}, {"0:2", {0, 1}},    {":2", {0, 1}},  {"8:", {8, 9}},
        {"-3:", {7, 8, 9}},   {"-3:-1", {7, 8}},  {":-8", {0, 1}}, {"-4::2", {6, 8}},
        {"7", {7}},           {"-1", {9}},        {"-10", {0}},    {"-20:2", {0, 1}},
        {"8:-1", {8}},        {"::4", {0, 4, 8}}, {"9:100", {9}}};
    for (const auto& [range, frames] : expected) {
        const Ensemble ensemble = read(range);
        ASSERT_EQ(ensemble.frame_count(), static_cast<Index>(frames.size())) << range;
        for (std::size_t n = 0; n < frames.size(); ++n) {
            const auto at = static_cast<Index>(n);
            EXPECT_FLOAT_EQ(ensemble.xyz(at, 0, 0), static_cast<float>(frames[n] % 5)) << range;
            EXPECT_EQ(ensemble.origins[n].file, frames[n] / 5) << range;
            EXPECT_EQ(ensemble.origins[n].frame, frames[n] % 5) << range;
        }
    }
    for (const char* range : {"10:", "10", "-11", "9:-1", "-1:5"}) {
        const std::string text = refusal([&] { read(range); });
        EXPECT_TRUE(kHas(text, "counted from 0, found 10 frames in 2 files")) << range << text;
        EXPECT_TRUE(kHas(text, range)) << text;
    }
}

TEST_F(NpyEnsemble, ErrorsNameTheFileAndTheFrameWithinIt) {
    const std::string file = write(five_frames(), {5, 1, 3});
    const Ensemble ensemble = read_ensemble({file, file});
    EXPECT_EQ(std::string(ensemble.error_in(7, "too far").what()), file + ": frame 2: too far");
    EXPECT_EQ(std::string(Ensemble().error_in(7, "too far").what()), "frame 7: too far");
}

TEST(Ensemble, FilesThatLackSelectedAtomsAreMissingAtoms) {
    const ScratchFolder folder;
    const std::string both = folder.write("both.pdb", two_models()).string();
    const std::string one = folder.write("one.pdb", pdb_line(atom("N", 1, 1)) + "END\n").string();
    EXPECT_THROW(read_ensemble({both, one}), MissingAtoms);
    const Ensemble fewer =
        read_ensemble({both, one}, {.topology = {}, .select = "name N", .range = {}});
    EXPECT_EQ(fewer.frame_count(), 3);
}

TEST(FrameRange, RefusesWhatHasNoFrame) {
    EXPECT_EQ(parse_frame_range("7").last, 8);
    EXPECT_EQ(parse_frame_range(":100").first, 0);
    EXPECT_EQ(parse_frame_range("::10").step, 10);
    EXPECT_FALSE(parse_frame_range("3:9:3").has(9));
    EXPECT_TRUE(parse_frame_range("3:9:3").has(6));
    for (const char* text :
         {"", "5:4", "5:5", "-3:-3", "-2:-5", "1:2:0", "4:1:-1", "a", "1:2:3:4", "1 :2"})
        EXPECT_TRUE(kHas(refusal([&] { parse_frame_range(text); }), text)) << text;
}

TEST(EnsembleFiles, FoldersAndListsStandForTheirFiles) {
    const ScratchFolder folder;
    for (const char* name : {"m10.pdb", "m2.pdb.gz", ".m1.pdb", "notes.txt"})
        folder.write(name, "x");
    const std::string root = folder.path().string();
    const auto list = folder.write("list", "# two\n" + root + "/m10.pdb\n\nelsewhere.dcd\n");
    const std::vector<std::string> expected = {root + "/m2.pdb.gz", root + "/m10.pdb",
                                               root + "/m10.pdb", "elsewhere.dcd", "plain.xtc"};
    EXPECT_EQ(ensemble_files({root, "@" + list.string(), "plain.xtc"}), expected);
    std::filesystem::create_directory(folder.path() / "empty");
    EXPECT_TRUE(kHas(refusal([&] { ensemble_files({root + "/empty"}); }), "found none"));
}

}  // namespace

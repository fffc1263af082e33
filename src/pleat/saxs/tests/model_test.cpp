// Tests of scatterers and their amplitudes, against float64 sums and the factors they were made of.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <ctime>
#include <filesystem>
#include <numbers>

#include "pleat/bio/ensemble/ensemble.h"
#include "pleat/bio/structure/surfaces.h"
#include "pleat/core/error.h"
#include "pleat/core/tests/temporary_folder.h"
#include "pleat/saxs/fit/resampling.h"
#include "pleat/saxs/fit/shape.h"
#include "pleat/saxs/model/form_factors.h"
#include "pleat/saxs/model/hydrogens.h"
#include "pleat/saxs/model/model_joining.h"
#include "pleat/saxs/model/scatterers.h"

namespace pleat::saxs {
namespace {

using test::error_text;

/// An ensemble of PDB text.
Ensemble structure(const std::string& text) {
    const test::TemporaryFolder folder;
    test::spill(folder / "s.pdb", text);
    return read_ensemble({(folder / "s.pdb").string()});
}

std::string atom(const std::string& name, const std::string& residue, int number, double x,
                 double y, double z, const std::string& element) {
    char line[100];
    std::snprintf(line, sizeof line,
                  "ATOM  %5d %-4s %3s A%4d    %8.3f%8.3f%8.3f  1.00  0.00          %2s\n", 1,
                  (name.size() < 4 ? " " + name : name).c_str(), residue.c_str(), number, x, y, z,
                  element.c_str());
    return line;
}

TEST(UnitedAtom, HasVolumeAndName) {
    const UnitedAtom methyl{"C", 3}, carbon{"C", 0};
    EXPECT_DOUBLE_EQ(methyl.volume(), 31.89);
    EXPECT_EQ(methyl.name(), "CH3");
    EXPECT_EQ(carbon.name(), "C");
    EXPECT_NEAR(4 * std::numbers::pi / 3 * std::pow(methyl.radius(), 3), 31.89, 1e-9);
    // At q = 0: electrons, and the water of its volume.
    EXPECT_NEAR(vacuum_factor(methyl, 0), 9, 0.01);
    EXPECT_NEAR(excluded_factor(methyl, 0), 0.334 * 31.89, 1e-12);
    EXPECT_NEAR(excluded_factor(methyl, 0.5) / excluded_factor(methyl, 0),
                std::exp(-std::pow(31.89, 2.0 / 3) * 0.25 / (4 * std::numbers::pi)), 1e-12);
    EXPECT_NEAR(hydration_factor(0), 10 - 0.334 * 19.43, 0.01);
}

TEST(Hydration, IsSpreadAboutItsSites) {
    // Three tenths of the water, by the Fourier transform of a Gaussian of 6 angstrom: at q = 1
    // nothing is left of them.
    const UnitedAtom water{"O", 2};
    EXPECT_DOUBLE_EQ(layer_spread(0), 1);
    EXPECT_NEAR(layer_spread(1.0 / 6), 0.7 + 0.3 * std::exp(-0.5), 1e-12);
    EXPECT_NEAR(layer_spread(1), 0.7, 1e-7);
    EXPECT_NEAR(hydration_factor(0.2),
                (vacuum_factor(water, 0.2) - excluded_factor(water, 0.2)) * layer_spread(0.2),
                1e-12);
}

TEST(Hydrogens, AreThoseOfTablesAndValences) {
    const Ensemble glycan = structure(
        // Ethanol, as a residue that no table has.
        atom("C1", "EOH", 1, 0, 0, 0, "C") + atom("C2", "EOH", 1, 1.52, 0, 0, "C") +
        atom("O", "EOH", 1, 2.0, 1.34, 0, "O") +
        // A carboxylate and an alkene far away.
        atom("C1", "XXX", 2, 20, 0, 0, "C") + atom("O1", "XXX", 2, 21.25, 0, 0, "O") +
        atom("O2", "XXX", 2, 19.375, 1.083, 0, "O") + atom("C2", "XXX", 2, 19.2, -1.28, 0, "C") +
        atom("C1", "YYY", 3, 40, 0, 0, "C") + atom("C2", "YYY", 3, 41.33, 0, 0, "C") +
        atom("ZN", "ZN", 4, 60, 0, 0, "ZN") + atom("N", "ALA", 5, 80, 0, 0, "N") +
        atom("CB", "ALA", 5, 82, 0, 0, "C") + atom("SG", "CYS", 6, 90, 0, 0, "S") +
        atom("SG", "CYS", 7, 92.04, 0, 0, "S") + atom("SG", "CYS", 8, 99, 0, 0, "S"));
    const std::vector<int> found = implicit_hydrogens(*glycan.topology, glycan.xyz[0]);
    EXPECT_EQ(found, (std::vector<int>{3, 2, 1, 0, 0, 0, 3, 2, 2, 0, 3, 3, 0, 0, 1}));
}

TEST(Hydrogens, OfTheEndsOfChainsAreCounted) {
    const std::string first = atom("N", "GLY", 1, 0, 0, 0, "N") +
                              atom("CA", "GLY", 1, 1.46, 0, 0, "C") +
                              atom("C", "GLY", 1, 2, 1.4, 0, "C"),
                      second = atom("N", "ALA", 2, 3.33, 1.5, 0, "N"),
                      behind_a_gap = atom("N", "ALA", 9, 30, 0, 0, "N");
    const Ensemble chain = structure(first + second + behind_a_gap);
    EXPECT_EQ(implicit_hydrogens(*chain.topology, chain.xyz[0]), (std::vector<int>{3, 2, 0, 1, 1}));
    EXPECT_EQ(implicit_hydrogens(*chain.topology, chain.xyz[0], false),
              (std::vector<int>{1, 2, 0, 1, 1}));
    // A chain that was cut lists the hydrogen that it has.
    const Ensemble cut = structure(first + atom("H", "GLY", 1, -1, 0, 0, "H") + second);
    EXPECT_EQ(implicit_hydrogens(*cut.topology, cut.xyz[0]), (std::vector<int>{1, 2, 0, 0, 1}));
    const Ensemble capped = structure(atom("C", "ACE", 0, -1.33, 0, 0, "C") + first);
    EXPECT_EQ(implicit_hydrogens(*capped.topology, capped.xyz[0])[1], 1);
    const Ensemble imine = structure(atom("N", "PRO", 1, 0, 0, 0, "N"));
    EXPECT_EQ(implicit_hydrogens(*imine.topology, imine.xyz[0]), std::vector<int>{2});
}

// CHARMM has one name for RNA and DNA, as old PDB files have.
TEST(Hydrogens, OfNucleotidesAreThoseOfTheirSugar) {
    for (const char* name : {"GUA", "G", "DG"}) {
        const std::string dna = atom("C2'", name, 1, 0, 0, 0, "C"),
                          rna = dna + atom("O2'", name, 1, 1.4, 0, 0, "O");
        const Ensemble one = structure(dna), other = structure(rna);
        EXPECT_EQ(implicit_hydrogens(*one.topology, one.xyz[0]), std::vector<int>{2}) << name;
        EXPECT_EQ(implicit_hydrogens(*other.topology, other.xyz[0]), (std::vector<int>{1, 1}));
    }
}

TEST(Hydrogens, OfUnknownResiduesAreThoseOfTheFile) {
    const Ensemble methane =
        structure(atom("C", "CH4", 1, 0, 0, 0, "C") + atom("H1", "CH4", 1, 1.09, 0, 0, "H") +
                  atom("H2", "CH4", 1, -0.36, 1.03, 0, "H"));
    EXPECT_EQ(implicit_hydrogens(*methane.topology, methane.xyz[0]), (std::vector<int>{2, 0, 0}));
}

TEST(Scatterers, OfUnknownElementsAreRefusedByName) {
    const Ensemble odd =
        structure(atom("N", "ALA", 1, 0, 0, 0, "N") + atom("QQ", "UNK", 2, 5, 0, 0, "X"));
    const std::string text =
        error_text<InputError>([&] { make_scatterers(*odd.topology, odd.xyz[0], {}); });
    EXPECT_NE(text.find("expected atoms of known elements, found QQ of UNK 2 in chain 'A'"),
              std::string::npos)
        << text;
}

TEST(Scatterers, OfWaterAloneAreRefused) {
    const Ensemble water = structure(atom("O", "HOH", 1, 0, 0, 0, "O"));
    EXPECT_NE(error_text<InputError>([&] {
                  make_scatterers(*water.topology, water.xyz[0], {});
              }).find("found none but water and hydrogen"),
              std::string::npos);
    EXPECT_EQ(make_scatterers(*water.topology, water.xyz[0], {.includes_water = true}).type_names,
              std::vector<std::string>{"OH2"});
}

TEST(Scatterers, LeaveOutWaterOfEachName) {
    // A site of TIP4P and OPC is no atom.
    std::string text = atom("C", "CH4", 1, 0, 0, 0, "C");
    int number = 2;
    for (const char* name : {"HOH", "SOL", "WAT", "TIP", "TP4", "T4P", "SPC", "OPC"}) {
        text += atom("O", name, number, 10.0 * number, 0, 0, "O");
        text += atom("MW", name, number, 10.0 * number, 0, 0.15, "X");
        ++number;
    }
    const Ensemble dissolved = structure(text);
    const Scatterers found = make_scatterers(*dissolved.topology, dissolved.xyz[0], {});
    EXPECT_EQ(found.types.size(), 1U);
    ASSERT_FALSE(found.notes.empty());
    EXPECT_EQ(found.notes[0].text, "8 water molecules left out (--water keeps them)");
}

TEST(Scatterers, OfDummiesAndBulkIonsAreLeftOut) {
    const Ensemble box =
        structure(atom("CB", "ALA", 1, 0, 0, 0, "C") + atom("N", "DUM", 2, 20, 0, 0, "N") +
                  atom("O", "DUM", 3, 25, 0, 0, "O") + atom("NA", "NA", 4, 3.9, 0, 0, "NA") +
                  atom("NA", "NA", 5, 4.1, 0, 0, "NA") + atom("CL", "CL", 6, 40, 0, 0, "CL"));
    const Scatterers found = make_scatterers(*box.topology, box.xyz[0], {});
    EXPECT_EQ(found.members, (std::vector<Index>{0, 3}));
    EXPECT_EQ(count(found.notes, NoteKind::dummies), 1);
    ASSERT_EQ(count(found.notes, NoteKind::ions), 1);
    EXPECT_EQ(found.notes.back().option, "--ions keep");
    EXPECT_NE(found.notes.back().text.find("2 of 3 ions"), std::string::npos);
    EXPECT_EQ(make_scatterers(*box.topology, box.xyz[0], {.ions = Ions::keep}).members,
              (std::vector<Index>{0, 3, 4, 5}));
    const Ensemble salt = structure(atom("NA", "NA", 1, 0, 0, 0, "NA"));
    EXPECT_EQ(make_scatterers(*salt.topology, salt.xyz[0], {}).count(), 1);
}

TEST(Scatterers, OfDummyAtomModelsAreRefused) {
    std::string beads, chain;
    for (int n = 0; n < 64; ++n) {
        const int layer = n / 16;
        beads += atom("CA", "ASP", n + 1, 5 * (n % 4), 5 * (n / 4 % 4), 5 * layer, "C");
        chain += atom("CA", "ASP", n + 1, 3 * n, 2.33 * (n % 2), 0, "C");
    }
    const ScattererOptions options{.resolution = Resolution::one_bead};
    const Ensemble model = structure(beads), real = structure(chain);
    EXPECT_NE(error_text<InputError>([&] {
                  make_scatterers(*model.topology, model.xyz[0], options);
              }).find("found 64 beads of a dummy-atom model"),
              std::string::npos);
    EXPECT_EQ(make_scatterers(*real.topology, real.xyz[0], options).count(), 64);
}

TEST(Scatterers, OfTwoBodiesStandAtCentresOfMass) {
    const Ensemble one = structure(
        atom("N", "SER", 1, 0, 0, 0, "N") + atom("CA", "SER", 1, 1.5, 0, 0, "C") +
        atom("C", "SER", 1, 2, 1.4, 0, "C") + atom("O", "SER", 1, 3.2, 1.5, 0, "O") +
        atom("CB", "SER", 1, 2, -0.8, 1.2, "C") + atom("OG", "SER", 1, 1.5, -2.1, 1.2, "O") +
        atom("N", "ALA", 2, 1.2, 2.4, 0, "N") + atom("CA", "ALA", 2, 1.6, 3.8, 0, "C"));
    const Scatterers two =
        make_scatterers(*one.topology, one.xyz[0], {.resolution = Resolution::two_bead});
    ASSERT_EQ(two.count(), 3);
    // The incomplete alanine has a type of its own, and so has the backbone with NH3+.
    EXPECT_EQ(two.type_names.size(), 23u);
    EXPECT_EQ(two.types[2], 22);
    EXPECT_EQ(two.type_names[static_cast<std::size_t>(two.types[0])], "BB");
    EXPECT_EQ(two.type_names[static_cast<std::size_t>(two.types[1])], "SER");
    EXPECT_EQ(two.type_names[static_cast<std::size_t>(two.types[2])], "ALA");
    Array<float, 2> positions(3, 3);
    set_centres_of_mass(two, one.xyz[0], positions);
    EXPECT_NEAR(positions(0, 1), 1.5, 1e-5);
    EXPECT_NEAR(positions(1, 1), -2.1, 1e-5);
    const double n = 14.007 + 1.008, ca = 12.011 + 1.008;  // NH and CH
    EXPECT_NEAR(positions(1, 2), (2.4 * n + 3.8 * ca) / (n + ca), 1e-3);
    EXPECT_EQ(
        make_scatterers(*one.topology, one.xyz[0], {.resolution = Resolution::one_bead}).count(),
        2);
}

TEST(Scatterers, OfCoarseModelsMustBeAminoAcids) {
    const Ensemble dna =
        structure(atom("P", " DG", 1, 0, 0, 0, "P") + atom("N", "ALA", 2, 9, 0, 0, "N"));
    EXPECT_NE(error_text<InputError>([&] {
                  make_scatterers(*dna.topology, dna.xyz[0], {.resolution = Resolution::two_bead});
              }).find("expected the 20 amino acids for the two-bead model, found 1 of DG"),
              std::string::npos);
}

TEST(FormFactors, AreReadByColumnsAndRefusedWhereBroken) {
    const test::TemporaryFolder folder;
    const auto read = [&](const std::string& text) {
        test::spill(folder / "f.tsv", text);
        Notes notes;
        return read_form_factors(folder / "f.tsv", Resolution::one_bead, notes);
    };
    std::string names = "q", row0 = "0", row1 = "1";
    for (const std::string& type : bead_types(Resolution::one_bead)) {
        names.insert(1, "\t" + type);  // in the opposite order
        row0 += "\t" + std::to_string(row0.size());
        row1 += "\t1";
    }
    const FormFactorTable table = read(fmt::format("{}\n{}\n{}\n", names, row0, row1));
    EXPECT_EQ(table.types.front(), "VAL");
    EXPECT_EQ(table.q, (std::vector<double>{0, 1}));
    EXPECT_EQ(table.factors(0, 0), 1);
    for (const auto& one : std::vector<std::pair<std::string, std::string>>{
             {"", "expected a table of form factors"},
             {"0 1 2\n1 2 3\n", "expected q and 20 form factors in a row, found 3 numbers"},
             {row0 + "\n1 2\n", "expected 21 numbers as in the rows before, found 2"},
             {fmt::format("{}\n{}\n", row1, row0), "expected q of 0 or more that rises"},
             {row0 + "\nx\n", "expected numbers, found 'x'"},
             {fmt::format("{}\n{}nan\n", row0, row1.substr(0, row1.size() - 1)),
              "expected finite form factors"},
             {fmt::format("1{}\n2{}\n", row1, row1), "expected q from 0 on"}}) {
        const std::string told = error_text<InputError>([&] { read(one.first); });
        EXPECT_NE(told.find(one.second), std::string::npos) << told;
    }
}

TEST(FormFactors, OfPleatEndAtTheirGrid) {
    for (const Resolution resolution : {Resolution::one_bead, Resolution::two_bead}) {
        const FormFactorTable& table = derived_form_factors(resolution);
        EXPECT_EQ(table.q.size(), 51u);
        EXPECT_DOUBLE_EQ(table.q.back(), 0.75);
        for (const double factor : table.factors) EXPECT_TRUE(std::isfinite(factor));
    }
    Scatterers one;
    one.resolution = Resolution::one_bead;
    one.type_names = bead_types(Resolution::one_bead);
    one.excess_electrons.assign(one.type_names.size(), 0);
    one.types = {0};
    EXPECT_THROW(make_model(one, nullptr, std::vector<double>{0, 0.8}), InputError);
}

TEST(Exposure, OfSpheresIsWhatGeometrySays) {
    Array<float, 2> centres(3, 2);
    const std::vector<double> radii = {2, 2};
    const auto at = [&](float x) {
        centres(0, 1) = x;
        return exposures(centres, radii, 1, {});
    };
    EXPECT_EQ(at(100)[0].fraction, 1);
    // A cap of height R - d / 2 is covered: (R - d / 2) / (2 R) of the sphere.
    const auto half = at(3);
    EXPECT_NEAR(half[0].fraction, 1 - (3 - 1.5) / 6, 0.02);
    EXPECT_LT(half[0].direction[0], -0.1);
    EXPECT_NEAR(half[0].direction[1], 0, 0.05);
    // Of two at one place the first one counts.
    EXPECT_EQ(at(0)[0].fraction + at(0)[1].fraction, 1);
    EXPECT_TRUE(exposures(Array<float, 2>(3, 0), std::vector<double>{}, 1, {}).empty());
}

TEST(Shape, OfAPairAndOfNothing) {
    Array<float, 2> pair(3, 2);
    pair(0, 0) = 1000;
    pair(0, 1) = 1010;
    const Shape shape = measure_shape(pair, std::vector<double>{1, 3}, 2, 1, {});
    EXPECT_NEAR(shape.gyration_radius, std::sqrt(3.0 / 16) * 10, 1e-6);
    EXPECT_DOUBLE_EQ(shape.forward_intensity, 16);
    EXPECT_DOUBLE_EQ(shape.diameter, 10);
    ASSERT_EQ(shape.pairs.size(), 11u);
    EXPECT_DOUBLE_EQ(shape.pairs[0], 10);
    EXPECT_DOUBLE_EQ(shape.pairs[10], 6);
    const Shape single = measure_shape(Array<float, 2>(3, 1), std::vector<double>{0}, 1, 1, {});
    EXPECT_EQ(single.gyration_radius, 0);
    EXPECT_EQ(single.diameter, 0);
}

TEST(Guinier, FindsTheRadiusOfASphere) {
    Profile curve;
    for (int k = 1; k <= 60; ++k) {
        const double q = 0.002 * k;
        curve.q.push_back(q);
        curve.intensity.push_back(7 * std::exp(-q * q * 20 * 20 / 3));
        curve.sigma.push_back(0.01 * curve.intensity.back());
    }
    const Guinier found = guinier(curve);
    ASSERT_TRUE(found.is_valid);
    EXPECT_NEAR(found.gyration_radius, 20, 1e-6);
    EXPECT_NEAR(found.forward_intensity, 7, 1e-6);
    EXPECT_LE(curve.q[found.last] * 20, 1.3);
    for (double& value : curve.intensity) value = -value;
    EXPECT_FALSE(guinier(curve).is_valid);
}

// All fall within Guinier's law; a line anew for each further point would take some ten seconds.
TEST(Guinier, TakesLongCurvesInTheirLength) {
    Profile curve;
    for (int k = 1; k <= 60000; ++k) {
        const double q = 1e-6 * k;
        curve.q.push_back(q);
        curve.intensity.push_back(7 * std::exp(-q * q * 20 * 20 / 3));
        curve.sigma.push_back(0.01 * curve.intensity.back());
    }
    const std::clock_t start = std::clock();
    const Guinier found = guinier(curve);
    EXPECT_LT(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, 1);
    EXPECT_EQ(found.last, 59999u);
    EXPECT_NEAR(found.gyration_radius, 20, 1e-4);  // of joined points
}

TEST(Spline, FollowsAProfile) {
    std::vector<double> x, y, to;
    for (int k = 0; k <= 100; ++k) {
        x.push_back(0.005 * k);
        y.push_back(std::sin(x.back() * 50 + 1e-9) / (x.back() * 50 + 1e-9));
    }
    for (int k = 0; k < 500; ++k) to.push_back(0.001 * k);
    const std::vector<double> values = interpolate_spline(x, y, to);
    for (std::size_t k = 1; k < to.size(); ++k)
        EXPECT_NEAR(values[k], std::sin(to[k] * 50) / (to[k] * 50), 2e-6 + 2e-4 * (to[k] > 0.48));
    EXPECT_NEAR(values[100], y[20], 1e-14);
}

TEST(Joined, MakesOneOfCopiesAndNotOfStates) {
    std::string text;
    for (int model = 0; model < 2; ++model)
        text += "MODEL        " + std::to_string(model + 1) + "\n" +
                atom("N", "ALA", 1, 0, 40.0 * model, 0, "N") +
                atom("CA", "ALA", 1, 1.5, 40.0 * model, 0, "C") + "ENDMDL\n";
    const Ensemble two = structure(text);
    ASSERT_EQ(two.frame_count(), 2);
    EXPECT_TRUE(are_copies(two.xyz));
    const Ensemble one = join_models(two);
    EXPECT_EQ(one.frame_count(), 1);
    EXPECT_EQ(one.atom_count(), 4);
    EXPECT_EQ(one.topology->residues.size(), 2u);
    EXPECT_EQ(one.xyz(0, 1, 2), 40);
    Array<float, 3> states = two.xyz;
    states(1, 0, 1) += 1;
    EXPECT_FALSE(are_copies(states));
    Array<float, 3> still = two.xyz;
    still(1, 1, 0) = still(1, 1, 1) = 0;
    EXPECT_FALSE(are_copies(still));
}

}  // namespace
}  // namespace pleat::saxs

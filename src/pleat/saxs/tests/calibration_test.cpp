// Tests of bead factors: their electrons, their accuracy beside all atoms, and how they are
// derived.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "pleat/bio/ensemble/ensemble.h"
#include "pleat/bio/selection/selection.h"
#include "pleat/core/error.h"
#include "pleat/core/tests/data_folders.h"
#include "pleat/core/tests/temporary_folder.h"
#include "pleat/saxs/model/calibration.h"
#include "pleat/saxs/model/scatterers.h"

namespace pleat::saxs {
namespace {

namespace fs = std::filesystem;

constexpr Resolution kBeadModels[] = {Resolution::one_bead, Resolution::two_bead};
constexpr const char* kAminoAcids =
    "(ALA,ARG,ASN,ASP,CYS,GLN,GLU,GLY,HIS,ILE,LEU,LYS,MET,MSE,PHE,PRO,SER,THR,TRP,TYR,VAL)";

Ensemble protein(const fs::path& file) {
    return read_ensemble({file.string()},
                         {.topology = {}, .select = kAminoAcids, .range = {0, 1, 1}});
}

Ensemble committed(const char* name) { return protein(pleat::test::data_folder() / name); }

/// Sum of a model's amplitudes at q = 0.
double forward_amplitude(const Scatterers& scatterers) {
    const Model model = make_model(scatterers, nullptr, std::vector<double>{0});
    double sum = 0;
    for (const std::int32_t type : model.types) {
        sum += model.factors(0, type, 0);
        if (scatterers.resolution == Resolution::all_atom) sum -= model.factors(1, type, 0);
    }
    return sum;
}

TEST(Beads, HaveTheElectronsOfTheirAtoms) {
    // Complete residues, disulfides (1hel), selenomethionine (1a8o), a carboxyl end.
    for (const char* name : {"1hel.pdb.gz", "1ql9_A.pdb.gz", "1a8o.pdb.gz"}) {
        const Ensemble one = committed(name);
        const double all = forward_amplitude(make_scatterers(*one.topology, one.xyz[0], {}));
        for (const Resolution resolution : kBeadModels)
            EXPECT_NEAR(forward_amplitude(make_scatterers(*one.topology, one.xyz[0],
                                                          {.resolution = resolution})) /
                            all,
                        1, 2e-4)
                << name << " " << name_of(resolution);
    }
}

TEST(Beads, OfOtherElectronsAreTypesOfTheirOwn) {
    const Ensemble lysozyme = committed("1hel.pdb.gz");
    const Scatterers beads =
        make_scatterers(*lysozyme.topology, lysozyme.xyz[0], {.resolution = Resolution::two_bead});
    ASSERT_EQ(beads.type_names.size(), beads.excess_electrons.size());
    std::map<std::string, std::map<int, int>> counts;  // by name and thousandths of an electron
    for (const std::int32_t type : beads.types) {
        const auto t = static_cast<std::size_t>(type);
        counts[beads.type_names[t]]
              [static_cast<int>(std::lround(1000 * beads.excess_electrons[t]))]++;
    }
    const double hydrogen = net_electrons({"H", 0}), oxygen = net_electrons({"O", 0});
    const auto thousandths = [](double x) { return static_cast<int>(std::lround(1000 * x)); };
    // All eight cysteines are bridged; the last leucine has the oxygen OXT and the first lysine two
    // more hydrogens; isoleucine, threonine, valine and proline have a hydrogen less in their
    // backbones.
    EXPECT_EQ(counts["CYS"], (std::map<int, int>{{thousandths(-hydrogen), 8}}));
    EXPECT_EQ(counts["BB"], (std::map<int, int>{{thousandths(2 * hydrogen), 1},
                                                {0, 82},
                                                {thousandths(-hydrogen), 21},
                                                {thousandths(oxygen), 1}}));
    for (const char* complete : {"ALA", "ARG", "ILE", "PRO", "TRP"})
        EXPECT_EQ(counts[complete].begin()->first, 0) << complete;
    const Ensemble capsid = committed("1a8o.pdb.gz");
    const Scatterers whole =
        make_scatterers(*capsid.topology, capsid.xyz[0], {.resolution = Resolution::one_bead});
    const double selenium = net_electrons({"Se", 0}) - net_electrons({"S", 0});
    bool has_selenium = false;
    for (std::size_t t = 0; t < whole.type_names.size(); ++t)
        has_selenium |=
            whole.type_names[t] == "MET" && std::abs(whole.excess_electrons[t] - selenium) < 1e-9;
    EXPECT_TRUE(has_selenium);
}

TEST(Beads, OfAlphaCarbonsAreWholeResidues) {
    const Ensemble traced = read_ensemble({(pleat::test::data_folder() / "1hel.pdb.gz").string()},
                                          {.topology = {}, .select = "ca", .range = {}});
    const Scatterers beads =
        make_scatterers(*traced.topology, traced.xyz[0], {.resolution = Resolution::one_bead});
    for (const double excess : beads.excess_electrons) EXPECT_EQ(excess, 0);
    EXPECT_EQ(beads.notes.size(), 1u);
    EXPECT_NE(pleat::test::error_text<InputError>([&] {
                  make_scatterers(*traced.topology, traced.xyz[0],
                                  {.resolution = Resolution::two_bead});
              }).find("expected backbones and side chains for the two-bead model, found CA atoms"),
              std::string::npos);
}

TEST(Beads, WithoutAtomsAreReported) {
    Ensemble lysozyme = committed("1hel.pdb.gz");
    std::vector<Index> kept;
    for (Index i = 0; i < lysozyme.topology->atom_count(); ++i) {
        const bool is_first = lysozyme.topology->residue_of(i).number == 1;
        if (!is_first || lysozyme.topology->atoms[static_cast<std::size_t>(i)].name != "NZ")
            kept.push_back(i);
    }
    const Topology fewer = subset(*lysozyme.topology, kept);
    const Array<float, 2> xyz(3, fewer.atom_count());
    const Scatterers beads = make_scatterers(fewer, xyz, {.resolution = Resolution::two_bead});
    EXPECT_TRUE(
        std::find(beads.notes.begin(), beads.notes.end(),
                  Note{NoteKind::residues,
                       "1 residues lack heavy atoms: their beads scatter with the atoms that "
                       "are listed"}) != beads.notes.end());
}

TEST(Scatterers, OfBackbonesAloneAreWarnedOf) {
    const Ensemble lysozyme = committed("1hel.pdb.gz");
    const auto notes = [&](const std::string& selection) {
        const Topology atoms =
            subset(*lysozyme.topology, select_atoms(*lysozyme.topology, selection));
        const Array<float, 2> xyz(3, atoms.atom_count());
        return make_scatterers(atoms, xyz, {}).notes;
    };
    EXPECT_EQ(count(notes("protein"), NoteKind::residues), 0);
    const Notes backbone = notes("name N CA C O");
    ASSERT_EQ(count(backbone, NoteKind::residues), 1);
    EXPECT_NE(backbone.front().text.find("117 of 129"), std::string::npos);  // all but glycines
}

/// The first values of pleat's own tables are the electrons of complete beads: with the excess of
/// the others, I(0) is that of all atoms.
TEST(FormFactors, BeginAtTheElectronsOfCompleteBeads) {
    for (const Resolution resolution : kBeadModels) {
        const FormFactorTable& table = derived_form_factors(resolution);
        const std::vector<double> electrons = complete_bead_electrons(resolution);
        for (std::size_t t = 0; t < electrons.size(); ++t)
            EXPECT_NEAR(table.factors(0, static_cast<Index>(t)), electrons[t], 2e-3)
                << table.types[t];
    }
    EXPECT_EQ(excess_factor(0), 1);
    EXPECT_LT(excess_factor(0.5), excess_factor(0.25));
}

/// The largest deviation of pleat's own table for q <= 0.5, in units of the error model.
double worst(const CalibrationCase& one, Resolution resolution) {
    return largest_by_error_model(deviations({one}, derived_form_factors(resolution)), 0.5)[0];
}

TEST(FormFactors, ReproduceProfilesOfAllAtoms) {
    struct Limits {
        const char* name;
        double one_bead, two_bead;
    };
    for (const Limits& limits : {Limits{"1hel.pdb.gz", 0.70, 0.35},
                                 {"1ql9_A.pdb.gz", 0.32, 0.22},
                                 {"1a8o.pdb.gz", 0.55, 0.22}}) {
        const Ensemble one = committed(limits.name);
        const auto worst_of = [&](Resolution resolution) {
            return worst(make_case(limits.name, *one.topology, one.xyz[0], resolution, {}),
                         resolution);
        };
        EXPECT_LE(worst_of(Resolution::one_bead), limits.one_bead) << limits.name;
        EXPECT_LE(worst_of(Resolution::two_bead), limits.two_bead) << limits.name;
    }
}

/// Larger data beside the repository: no protein deviates by as much as the error model.
TEST(FormFactors, ReproduceProfilesOfSharedProteins) {
    const fs::path folder = pleat::test::shared_folder() / "data" / "structures";
    if (!fs::exists(folder)) GTEST_SKIP() << folder << " is absent";
    int count = 0;
    for (const auto& file : fs::directory_iterator(folder)) {
        if (file.path().string().find(".pdb") == std::string::npos) continue;
        try {
            const Ensemble one = protein(file.path());
            const CalibrationCase made = make_case(file.path().string(), *one.topology, one.xyz[0],
                                                   Resolution::two_bead, {});
            EXPECT_LE(worst(made, Resolution::two_bead), 0.95) << file.path();
            ++count;
        } catch (const InputError&) {
            continue;  // nucleic acids, and structures without all atoms
        }
    }
    EXPECT_GE(count, 20);
}

/// A case of this structure whose reference is the profile of its beads as pleat saxs computes it.
CalibrationCase case_of_beads(const Ensemble& one, Resolution resolution) {
    CalibrationCase made = make_case("made", *one.topology, one.xyz[0], resolution, {});
    const Scatterers beads = make_scatterers(*one.topology, one.xyz[0], {.resolution = resolution});
    const std::vector<double> q = calibration_grid();
    const Model full = make_model(beads, nullptr, q);
    Model model = full;
    model.factors = Array<double, 3>(1, full.type_count(), full.q_count());
    std::copy_n(full.factors.begin(), model.factors.size(), model.factors.begin());
    model.scaled = {0};
    Array<float, 3> positions(1, 3, beads.count());
    set_centres_of_mass(beads, one.xyz[0], positions[0]);
    const Array<double, 3> profile =
        profiles(model, positions, {}, {.precision = Precision::float64}, {});
    made.reference.assign(profile.begin(), profile.end());
    return made;
}

TEST(Calibration, SumsThePairsThatProfilesSum) {
    for (const Resolution resolution : kBeadModels) {
        for (const char* name : {"1hel.pdb.gz", "1a8o.pdb.gz"}) {
            const CalibrationCase one = case_of_beads(committed(name), resolution);
            const Deviations all = deviations({one}, derived_form_factors(resolution));
            for (const double d : all.front()) EXPECT_NEAR(d, 0, 1e-6) << name;
        }
    }
}

TEST(Calibration, DividesSequencesIntoClusters) {
    std::vector<CalibrationCase> cases(5);
    const auto fill = [](CalibrationCase& one, std::uint32_t first, std::uint32_t count) {
        for (std::uint32_t n = 0; n < count; ++n) one.quadruples.push_back(first + n);
    };
    fill(cases[0], 0, 100);
    fill(cases[1], 1000, 100);
    fill(cases[2], 84, 100);     // shares 16 of 100 with the first
    fill(cases[3], 1085, 1000);  // shares 15 of 100 with the second
    fill(cases[4], 150, 20);     // inside the third
    EXPECT_EQ(sequence_clusters(cases), (std::vector<Index>{0, 1, 0, 2, 0}));
    EXPECT_TRUE(sequence_clusters({}).empty());
}

TEST(Calibration, MeasuresDeviationsByTheErrorModel) {
    std::vector<double> row(51, 0);
    row[0] = -0.09;  // 2 sigma at q = 0
    row[33] = 0.1;   // q = 0.495
    row[34] = 10;    // beyond 0.5
    EXPECT_DOUBLE_EQ(error_model(0), 0.045);
    EXPECT_NEAR(largest_by_error_model({row, std::vector<double>(51, 0)}, 0.5)[0], 2, 1e-12);
    EXPECT_EQ(largest_by_error_model({row, std::vector<double>(51, 0)}, 0.5)[1], 0);
}

TEST(Calibration, NeedsClustersToLeaveOut) {
    const Ensemble lysozyme = committed("1hel.pdb.gz");
    const CalibrationCase one =
        make_case("one", *lysozyme.topology, lysozyme.xyz[0], Resolution::two_bead, {});
    EXPECT_NE(
        pleat::test::error_text<InputError>([&] {
            calibrate({one, one, one, one, one, one}, Resolution::two_bead, {});
        })
            .find("expected structures of 5 or more clusters of sequences, to leave each fifth "
                  "of them out, found 1"),
        std::string::npos);
    EXPECT_NE(pleat::test::error_text<InputError>([&] {
                  calibrate({}, Resolution::two_bead, {});
              }).find("found none with BB"),
              std::string::npos);
}

TEST(Calibration, FindsFactorsThatLowerTheDeviations) {
    // Pieces of two proteins, each a cluster of its own.
    std::vector<CalibrationCase> cases;
    for (const char* name : {"1hel.pdb.gz", "1ql9_A.pdb.gz"}) {
        const Ensemble one = committed(name);
        const auto residues = static_cast<Index>(one.topology->residues.size());
        for (Index first = 0; first + 40 <= residues; first += 40) {
            std::vector<Index> atoms;
            for (Index i = 0; i < one.topology->atom_count(); ++i) {
                const Index residue = one.topology->atoms[static_cast<std::size_t>(i)].residue;
                if (residue >= first && residue < first + 40) atoms.push_back(i);
            }
            Array<float, 2> xyz(3, static_cast<Index>(atoms.size()));
            for (Index axis = 0; axis < 3; ++axis)
                for (std::size_t i = 0; i < atoms.size(); ++i)
                    xyz(axis, static_cast<Index>(i)) = one.xyz(0, axis, atoms[i]);
            cases.push_back(
                make_case(name, subset(*one.topology, atoms), xyz, Resolution::two_bead, {}));
        }
    }
    ASSERT_EQ(cases.size(), 8u);
    const Calibration found = calibrate(cases, Resolution::two_bead, {});
    EXPECT_GE(found.ridge, 1e-6);
    EXPECT_LE(found.ridge, 1e-3);
    ASSERT_EQ(found.left_out.size(), cases.size());
    const Deviations fitted = deviations(cases, found.table);
    const Deviations own = deviations(cases, derived_form_factors(Resolution::two_bead));
    EXPECT_LT(root_mean_square(fitted, 0, 0.7501), root_mean_square(own, 0, 0.7501));
    EXPECT_GT(root_mean_square(found.left_out, 0, 0.7501), root_mean_square(fitted, 0, 0.7501));
    // The same numbers on any machine: at q = 0 nothing is left to fit.
    EXPECT_LT(root_mean_square(fitted, 0, 0.001), 1e-6);
}

}  // namespace
}  // namespace pleat::saxs

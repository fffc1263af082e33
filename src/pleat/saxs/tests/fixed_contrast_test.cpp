// Tests of models of a fixed contrast: their profiles are those of run(); sites know their atoms.
#include "pleat/saxs/model/fixed_contrast.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

#include "pleat/core/error.h"
#include "pleat/core/tests/temporary_folder.h"
#include "pleat/saxs/input_checks.h"
#include "pleat/saxs/model/model_joining.h"

namespace pleat::saxs {
namespace {

using test::error_text;

const std::string kStructure = (std::filesystem::path(PLEAT_DATA) / "1a8o.pdb.gz").string();

Context one_thread() {
    Context context;
    context.threads = 1;
    return context;
}

TEST(FixedContrast, GivesTheProfileOfARun) {
    const Ensemble ensemble = read_ensemble({kStructure});
    for (const Resolution model :
         {Resolution::all_atom, Resolution::one_bead, Resolution::two_bead}) {
        for (const double c2 : {0.0, 1.5}) {
            Parameters parameters;
            parameters.model = model;
            parameters.q_points = 31;
            if (model == Resolution::all_atom) parameters.c1 = 1.02;
            parameters.c2 = c2;
            const Result expected = run({&ensemble, 1}, nullptr, nullptr, parameters, one_thread());
            const FixedContrastModel made =
                make_fixed_contrast_model(ensemble, nullptr, parameters, expected.q, one_thread());
            EXPECT_EQ(made.name, name_of(model));
            EXPECT_EQ(made.sites > 0, c2 != 0);
            EXPECT_EQ(static_cast<Index>(made.atoms.size()), made.model.scatterer_count());
            EXPECT_EQ(static_cast<Index>(made.type_names.size()), made.model.type_count());
            const Array<double, 3> partial =
                profiles(made.model, made.xyz, made.scales, {}, one_thread());
            const std::vector<double> ones(static_cast<std::size_t>(made.model.channel_count()), 1);
            const std::vector<double> found = combine(partial.view()[0], ones);
            for (std::size_t k = 0; k < found.size(); ++k)
                EXPECT_NEAR(found[k] / expected.mean[k], 1, 2e-6)
                    << name_of(model) << ' ' << c2 << ' ' << k;
        }
    }
}

TEST(StructureGyration, IsThatOfARunWithoutWater) {
    const Ensemble ensemble = read_ensemble({kStructure});
    Parameters parameters;
    const double found = gyration_of_structure(ensemble, parameters);
    const Result result = run({&ensemble, 1}, nullptr, nullptr, parameters, one_thread());
    EXPECT_NEAR(found, result.frame_shapes.at(0).gyration_radius, 0.05 * found);
    // Water far away does not count unless it is told to, and two copies are one structure.
    const Index atoms = ensemble.atom_count();
    Array<float, 3> both(Index{2}, Index{3}, atoms);
    for (Index frame = 0; frame < 2; ++frame)
        for (Index n = 0; n < atoms; ++n)
            for (Index axis = 0; axis < 3; ++axis) {
                const Topology& topology = *ensemble.topology;
                const Index residue = topology.atoms[static_cast<std::size_t>(n)].residue;
                const bool is_water =
                    topology.residues[static_cast<std::size_t>(residue)].name == "HOH";
                both(frame, axis, n) = ensemble.xyz(0, axis, n) + (is_water ? 1000.0f : 0.0f) +
                                       (axis == 0 ? 60.0f * static_cast<float>(frame) : 0.0f);
            }
    const Topology& topology = *ensemble.topology;
    EXPECT_NEAR(gyration_of_structure(topology, {both.data(), 1, 3, atoms}, parameters), found,
                1e-4 * found);
    EXPECT_NEAR(gyration_of_structure(topology, both, parameters), std::hypot(found, 30),
                1e-4 * found);
    parameters.includes_water = true;
    EXPECT_GT(gyration_of_structure(topology, {both.data(), 1, 3, atoms}, parameters), 100);
}

TEST(StructureGyration, IsWeightedByNetElectrons) {
    const test::TemporaryFolder folder;
    const std::filesystem::path path = folder.path() / "two.pdb";
    std::ofstream(path)
        << "HETATM    1  C1  LIG A   1       0.000   0.000   0.000  1.00  0.00           C\n"
           "HETATM    2  S1  LIG A   1      10.000   0.000   0.000  1.00  0.00           S\n";
    const double carbon = 6 - 0.334 * 16.44, sulfur = 16 - 0.334 * 19.86;
    EXPECT_NEAR(gyration_of_structure(read_ensemble({path.string()}), {}),
                10 * std::sqrt(carbon * sulfur) / (carbon + sulfur), 0.05);
}

TEST(FixedContrast, SitesBelongToTheAtomsThatTouchThem) {
    const Ensemble ensemble = read_ensemble({kStructure});
    Parameters parameters;
    parameters.c2 = 1;
    const std::vector<double> q{0, 0.1};
    const FixedContrastModel made =
        make_fixed_contrast_model(ensemble, nullptr, parameters, q, one_thread());
    const Index solid = made.model.scatterer_count() - made.sites;
    ASSERT_GT(made.sites, 0);
    for (Index site = solid; site < made.model.scatterer_count(); ++site) {
        const Index atom = made.atoms[static_cast<std::size_t>(site)];
        double square = 0;
        for (Index axis = 0; axis < 3; ++axis) {
            const double d = double{made.xyz(0, axis, site)} - double{ensemble.xyz(0, axis, atom)};
            square += d * d;
        }
        // 2.8 angstrom beyond the sphere of an oxygen (1.30), a methyl group (1.97) or between.
        EXPECT_GT(square, 4.0 * 4.0);
        EXPECT_LT(square, 4.8 * 4.8);
    }
}

TEST(InputChecks, RefuseBrokenStructures) {
    Ensemble ensemble = read_ensemble({kStructure});
    ensemble.xyz(0, 1, 2) = std::numeric_limits<float>::quiet_NaN();
    EXPECT_EQ(error_text<InputError>([&] { check_structures(ensemble); }),
              kStructure + ": frame 0: expected coordinates within 1e8 angstrom, found nan");
    const auto text = [&] { return error_text<UsageError>([&] { check_structures(ensemble); }); };
    ensemble.xyz = Array<float, 3>(Index{1}, Index{3}, Index{4});
    EXPECT_NE(text().find("atoms, found [1, 3, 4]"), std::string::npos);
    ensemble.xyz = Array<float, 3>(Index{0}, Index{3}, Index{4});
    EXPECT_EQ(text(), "expected at least 1 frame and 1 atom, found 0 and 4");
}

TEST(ModelJoining, JoinsPartsAndDetectsCopies) {
    Ensemble ensemble = read_ensemble({kStructure, kStructure});
    const Index atoms = ensemble.atom_count();
    ensemble.files.pop_back();
    ensemble.origins = {{0, 0}, {0, 1}};
    for (float& x : ensemble.xyz.view()[1]) x += 60;
    Ensemble states = ensemble, parts = ensemble, guessed = ensemble;
    EXPECT_EQ(interpret_models(ModelsAre::states, states), "");
    EXPECT_EQ(states.frame_count(), 2);
    EXPECT_EQ(interpret_models(ModelsAre::parts, parts), "");
    EXPECT_EQ(parts.atom_count(), 2 * atoms);
    EXPECT_NE(interpret_models(ModelsAre::automatic, guessed).find("2 models are copies"),
              std::string::npos);
    EXPECT_EQ(guessed.frame_count(), 1);
}

}  // namespace
}  // namespace pleat::saxs

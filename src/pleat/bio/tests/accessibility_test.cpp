// Accessibility: spheres of known area, atoms that do not count, and rotated structures.
#include "pleat/bio/structure/accessibility.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

#include "pleat/bio/structure/surfaces.h"
#include "pleat/core/error.h"
#include "pleat/core/tests/data_folders.h"

namespace pleat {
namespace {

Array<float, 2> centres_of(const Topology& topology) {
    Array<float, 2> centres(3, topology.atom_count());
    for (Index n = 0; n < topology.atom_count(); ++n)
        for (Index axis = 0; axis < 3; ++axis)
            centres(axis, n) = static_cast<float>(topology.positions[n][axis]);
    return centres;
}

Accessibility all_of(const Topology& topology, const Array<float, 2>& centres) {
    return accessibility(topology, centres, std::vector<char>(topology.atoms.size(), 1), {});
}

/// The relative accessibilities that are known.
std::vector<double> known_of(const Accessibility& found) {
    std::vector<double> known;
    for (const double value : found.relative)
        if (!std::isnan(value)) known.push_back(value);
    return known;
}

TEST(Accessibility, MatchesTheAreasOfTwoSpheres) {
    // A sphere of reach R loses a cap of height R - d / 2 to an equal one at distance d.
    Array<float, 2> centres(3, 2);
    centres(0, 1) = 2.0f;
    const std::vector<double> fractions =
        exposed_fractions(centres, std::vector<double>{1.7, 1.7}, 1.4, {});
    const double covered = (3.1 - 1.0) / (2 * 3.1);
    EXPECT_NEAR(fractions[0], 1 - covered, 2e-3);
    EXPECT_NEAR(fractions[1], 1 - covered, 2e-3);
}

TEST(Accessibility, SumsAtomsWithoutWaterAndHydrogens) {
    Topology topology;
    topology.residues = {{"GLY", 1, ' ', "A"}, {"ALA", 2, ' ', "A"}, {"HOH", 3, ' ', "A"}};
    topology.atoms = {{"N", "N", 14, 0}, {"CA", "C", 12, 0}, {"C", "C", 12, 0}, {"O", "O", 16, 0},
                      {"HA", "H", 1, 0}, {"CA", "C", 12, 1}, {"O", "O", 16, 2}};
    Array<float, 2> apart(3, 7);
    for (Index n = 0; n < 7; ++n) apart(0, n) = 20.0f * static_cast<float>(n);
    const Accessibility found = all_of(topology, apart);
    const auto sphere = [](double radius) {
        return 4 * std::numbers::pi * std::pow(radius + 1.4, 2);
    };
    const double glycine = sphere(1.55) + 2 * sphere(1.7) + sphere(1.52);
    EXPECT_NEAR(found.area[0], glycine, 1e-6);
    EXPECT_NEAR(found.relative[0], glycine / 104, 1e-9);
    EXPECT_NEAR(found.area[1], sphere(1.7), 1e-6);
    EXPECT_TRUE(std::isnan(found.relative[1])) << "CA alone is no alanine";
    EXPECT_EQ(found.area[2], 0);
    apart(1, 1) = std::nanf("");
    EXPECT_THROW(
        {
            try {
                all_of(topology, apart);
            } catch (const InputError& error) {
                EXPECT_NE(std::string(error.what()).find("found nan in atom 2"), std::string::npos);
                throw;
            }
        },
        InputError);
    topology.named = false;
    EXPECT_THROW(all_of(topology, apart), InputError);
}

TEST(Accessibility, DoesNotDependOnTheOrientation) {
    const Topology topology = read_topology(test::data_folder() / "1ql9_A.pdb.gz");
    const Array<float, 2> centres = centres_of(topology);
    const std::vector<double> known = known_of(all_of(topology, centres));
    ASSERT_GT(known.size(), 200u);
    double mean = 0;
    for (const double value : known) mean += value / static_cast<double>(known.size());
    EXPECT_NEAR(mean, 0.25, 0.05);  // of a globular protein
    std::mt19937 random(3);
    std::uniform_real_distribution<double> angle(0, 2 * std::numbers::pi);
    for (int trial = 0; trial < 3; ++trial) {
        Array<float, 2> turned = centres;
        for (const auto& [a, b] : {std::pair{0, 1}, {1, 2}, {0, 1}}) {
            const double by = angle(random), c = std::cos(by), s = std::sin(by);
            for (Index n = 0; n < turned.extent(1); ++n) {
                const double x = turned(a, n), y = turned(b, n);
                turned(a, n) = static_cast<float>(c * x - s * y + 30);
                turned(b, n) = static_cast<float>(s * x + c * y);
            }
        }
        const std::vector<double> again = known_of(all_of(topology, turned));
        ASSERT_EQ(again.size(), known.size());
        for (std::size_t n = 0; n < known.size(); ++n) EXPECT_NEAR(again[n], known[n], 0.03) << n;
    }
}

}  // namespace
}  // namespace pleat

// Tests of neutrons: lengths, hydrogens that exchange, match points, and made bodies whose profiles
// are known.
#include "pleat/saxs/model/neutrons.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <numbers>

#include "pleat/bio/ensemble/ensemble.h"
#include "pleat/bio/ensemble/ensemble_files.h"
#include "pleat/bio/scattering/scattering_factors.h"
#include "pleat/core/error.h"
#include "pleat/core/tests/data_folders.h"
#include "pleat/core/tests/temporary_folder.h"
#include "pleat/saxs/model/fixed_contrast.h"
#include "pleat/saxs/saxs.h"

namespace pleat::saxs {
namespace {

using test::error_text;

constexpr double kH = -3.7409, kD = 6.6681, kC = 6.6472, kN = 9.36, kO = 5.8037, kS = 2.847;
constexpr double kLight = (2 * kH + kO) / 29.9, kHeavy = (2 * kD + kO) / 29.9;

/// Atoms of a residue in a chain at pH 7 (cysteines bridged), and its hydrogens that exchange.
struct Composition {
    double c = 0, h = 0, n = 0, o = 0, s = 0, labile = 0;

    double length() const { return c * kC + h * kH + n * kN + o * kO + s * kS; }
    double volume() const { return c * 16.44 + h * 5.15 + n * 2.49 + o * 9.13 + s * 19.86; }
    double mass() const { return 12.011 * c + 1.008 * h + 14.007 * n + 15.999 * o + 32.06 * s; }
};

Composition composition(const std::string& sequence) {
    static const std::map<char, Composition> kResidues = {
        {'A', {3, 5, 1, 1, 0, 1}},  {'R', {6, 13, 4, 1, 0, 6}}, {'N', {4, 6, 2, 2, 0, 3}},
        {'D', {4, 4, 1, 3, 0, 1}},  {'C', {3, 4, 1, 1, 1, 1}},  {'Q', {5, 8, 2, 2, 0, 3}},
        {'E', {5, 6, 1, 3, 0, 1}},  {'G', {2, 3, 1, 1, 0, 1}},  {'H', {6, 7, 3, 1, 0, 2}},
        {'I', {6, 11, 1, 1, 0, 1}}, {'L', {6, 11, 1, 1, 0, 1}}, {'K', {6, 13, 2, 1, 0, 4}},
        {'M', {5, 9, 1, 1, 1, 1}},  {'F', {9, 9, 1, 1, 0, 1}},  {'P', {5, 7, 1, 1, 0, 0}},
        {'S', {3, 5, 1, 2, 0, 2}},  {'T', {4, 7, 1, 2, 0, 2}},  {'W', {11, 10, 2, 1, 0, 2}},
        {'Y', {9, 9, 1, 2, 0, 2}},  {'V', {5, 9, 1, 1, 0, 1}}};
    Composition sum;
    for (const char letter : sequence) {
        const Composition& one = kResidues.at(letter);
        sum.c += one.c, sum.h += one.h, sum.n += one.n, sum.o += one.o, sum.s += one.s;
        sum.labile += one.labile;
    }
    return sum;
}

const std::string kLysozyme =
    "KVFGRCELAAAMKRHGLDNYRGYSLGNWVCAAKFESNFNTQATNRNTDGSTDYGILQINSRWWCNDGRTPGSRNLCNIPCSALLSSDITASVNC"
    "AKKIVSDGNGMNAWVAWRNRCKGTDVQAWIRGCRL";
const std::string kUbiquitin =
    "MQIFVKTLTGKTITLEVEPSDTIENVKAKIQDKEGIPPDQQRLIFAGKQLEDGRTLSDYNIQKESTLHLVLRLRGG";

/// By the specific volume of 0.73 cm^3/g, with water at the ends, of which 2 hydrogens exchange.
double match_by_mass(const std::string& sequence, double exchange) {
    Composition sum = composition(sequence);
    sum.h += 2, sum.o += 1, sum.labile += 2;
    const double volume = 0.73 * sum.mass() / 0.602214;
    return match_point(sum.length(), exchange * sum.labile * (kD - kH), volume);
}

Ensemble lysozyme() { return read_ensemble({(test::data_folder() / "1hel.pdb.gz").string()}); }

Result scatter(const Ensemble& ensemble, double d2o, Parameters parameters = {}) {
    parameters.neutrons = true;
    parameters.d2o = d2o;
    parameters.bin_width = 0;
    Context context;
    context.threads = 1;
    return run({&ensemble, 1}, nullptr, nullptr, parameters, context);
}

std::string atom(const std::string& name, const std::string& residue, int number, char chain,
                 double x, double y, double z, const std::string& element) {
    char line[100];
    std::snprintf(line, sizeof line,
                  "ATOM  %5d %-4s %3s %c%4d    %8.3f%8.3f%8.3f  1.00  0.00          %2s\n", 1,
                  (name.size() < 4 ? " " + name : name).c_str(), residue.c_str(), chain, number, x,
                  y, z, element.c_str());
    return line;
}

Ensemble structure(const std::string& text) {
    const test::TemporaryFolder folder;
    test::spill(folder / "s.pdb", text);
    return read_ensemble({(folder / "s.pdb").string()});
}

/// A ball of atoms without hydrogens on a lattice: sulfur within `core`, oxygen beyond.
Ensemble ball(double core, double radius) {
    std::string text;
    int number = 0;
    const int reach = static_cast<int>(radius / 3);
    for (int i = -reach; i <= reach; ++i)
        for (int j = -reach; j <= reach; ++j)
            for (int k = -reach; k <= reach; ++k) {
                const double r = 3 * std::sqrt(i * i + j * j + k * k);
                if (r > radius) continue;
                ++number;
                text += r <= core ? atom("SD", "MET", number, 'A', 3 * i, 3 * j, 3 * k, "S")
                                  : atom("O", "GLY", number, 'A', 3 * i, 3 * j, 3 * k, "O");
            }
    return structure(text);
}

TEST(NeutronLengths, AreThoseOfTheTable) {
    double length = 0;
    const std::map<std::string, double> expected = {{"H", kH}, {"D", kD},   {"C", kC}, {"N", kN},
                                                    {"O", kO}, {"P", 5.13}, {"S", kS}};
    for (const auto& [symbol, value] : expected) {
        ASSERT_TRUE(find_neutron_length(symbol, length)) << symbol;
        EXPECT_EQ(length, value) << symbol;
    }
    for (const char* symbol : {"Cd", "Gd", "X", ""})
        EXPECT_FALSE(find_neutron_length(symbol, length));
    EXPECT_NEAR(solvent_density(0), -0.05612, 1e-5);
    EXPECT_NEAR(solvent_density(1), 0.6401, 1e-4);
}

TEST(MatchPoint, OfSequencesIsThatOfOtherPrograms) {
    // With 95 % exchange and 0.73 cm^3/g.
    EXPECT_NEAR(match_by_mass(kUbiquitin, 0.95), 0.416, 0.002);
    EXPECT_NEAR(match_by_mass(kLysozyme, 0.95), 0.461, 0.002);
    const std::filesystem::path folder =
        test::shared_folder() / "data" / "refine" / "sassie_contrast";
    if (!std::filesystem::exists(folder))
        GTEST_SKIP() << "the sequences of SASSIE's tests in " << folder << " are absent";
    std::ifstream file(folder / "protein_sequence.txt");
    std::string sequence;
    file >> sequence;
    ASSERT_EQ(sequence.size(), 343U);
    // SASSIE: 43.52.
    EXPECT_NEAR(match_by_mass(sequence, 0.95), 0.4352, 0.003);
}

TEST(MatchPoint, OfAStructureIsThatOfTheFormula) {
    const Ensemble ensemble = lysozyme();
    Composition sum = composition(kLysozyme);
    sum.o += 1;                   // OXT
    sum.h += 2, sum.labile += 2;  // NH3+
    const double residues = static_cast<double>(kLysozyme.size());
    const double prolines = 2;
    for (const double backbone : {1.0, 0.9, 0.0}) {
        Parameters parameters;
        parameters.backbone_exchange = backbone;
        const Result result = scatter(ensemble, 0, parameters);
        ASSERT_EQ(result.match_points.size(), 1U);
        const MatchPoint& point = result.match_points[0];
        EXPECT_EQ(point.name, "molecule");
        EXPECT_NEAR(point.length, sum.length(), 1e-6);
        EXPECT_NEAR(point.volume, sum.volume(), 1e-6);
        const double exchanged = sum.labile - (1 - backbone) * (residues - prolines - 1);
        EXPECT_NEAR(point.gain, exchanged * (kD - kH), 1e-6);
        const double expected = (sum.length() - kLight * sum.volume()) /
                                ((kHeavy - kLight) * sum.volume() - exchanged * (kD - kH));
        EXPECT_NEAR(point.d2o, expected, 1e-6);  // the bar is 1e-4
        EXPECT_NEAR(point.with_layer, expected, 1e-6);
    }
}

TEST(MatchPoint, IsWhereTheRootOfTheForwardIntensityIsZero) {
    const Ensemble ensemble = lysozyme();
    for (const double c2 : {0.0, 1.5}) {
        Parameters parameters;
        parameters.c1 = 1.02;
        parameters.c2 = c2;
        const auto root = [&](double d2o) {
            const Result result = scatter(ensemble, d2o, parameters);
            const double match = result.match_points[0].with_layer;
            return std::copysign(std::sqrt(result.frame_shapes[0].forward_intensity), match - d2o);
        };
        const double light = root(0), heavy = root(1);
        for (const double d2o : {0.1, 0.42, 0.7})
            EXPECT_NEAR(root(d2o), light + d2o * (heavy - light), 1e-9 * light) << d2o;
        const MatchPoint point = scatter(ensemble, 0, parameters).match_points[0];
        EXPECT_NEAR(light / (light - heavy), point.with_layer, 1e-6);
        EXPECT_EQ(point.d2o == point.with_layer, c2 == 0);
    }
}

TEST(Neutrons, DoNotSeeAHomogeneousBodyAtItsMatchPoint) {
    const Ensemble body = ball(16, 15);
    const Result light = scatter(body, 0);
    const double match = light.match_points[0].d2o;
    EXPECT_NEAR(match, (kS / 19.86 - kLight) / (kHeavy - kLight), 1e-9);
    const Result matched = scatter(body, match);
    EXPECT_LT(matched.frame_shapes[0].forward_intensity,
              1e-6 * light.frame_shapes[0].forward_intensity);
    EXPECT_LT(matched.mean[0], 1e-6 * light.mean[0]);
}

TEST(Neutrons, SeeTheStuhrmannPlotOfATwoDensityBall) {
    // Rg^2 = Rc^2 + alpha / A - beta / A^2 with the forward amplitude A; beta is 0 as the centres
    // agree. alpha = sum b r^2 - (B / V) sum V s^2 of lengths b and volumes V, where s^2 is r^2 and
    // the extent of a volume, 6 V^(2/3) / (4 pi).
    const Ensemble body = ball(10, 18);
    double b = 0, v = 0, br = 0, vr = 0;
    for (Index i = 0; i < body.atom_count(); ++i) {
        double r2 = 0;
        for (Index axis = 0; axis < 3; ++axis)
            r2 += std::pow(static_cast<double>(body.xyz(0, axis, i)), 2);
        const bool is_core = body.topology->atoms[static_cast<std::size_t>(i)].element == "S";
        const double length = is_core ? kS : kO, volume = is_core ? 19.86 : 9.13;
        b += length, v += volume, br += length * r2;
        vr += volume * (r2 + 6 * std::pow(volume, 2.0 / 3) / (4 * std::numbers::pi));
    }
    const double alpha = br - b / v * vr;
    const auto at = [&](double d2o) {
        const Result result = scatter(body, d2o);
        const double amplitude = b - (kLight + d2o * (kHeavy - kLight)) * v;
        EXPECT_NEAR(result.frame_shapes[0].forward_intensity / (amplitude * amplitude), 1, 1e-6);
        return std::pair(1 / amplitude, result.frame_shapes[0].gyration_radius2);
    };
    const auto [x0, y0] = at(0);
    const auto [x1, y1] = at(1);
    const double slope = (y1 - y0) / (x1 - x0);
    EXPECT_NEAR(slope / alpha, 1, 1e-3);
    EXPECT_GT(alpha, 0);  // denser outside
    for (const double d2o : {0.2, 0.85}) {
        const auto [x, y] = at(d2o);
        EXPECT_NEAR(y, y0 + slope * (x - x0), 1e-3 * std::abs(y)) << d2o;
    }
}

TEST(Neutrons, SeeDeuteratedChains) {
    const std::string text =
        atom("N", "ALA", 1, 'A', 0, 0, 0, "N") + atom("CA", "ALA", 1, 'A', 1.4, 0, 0, "C") +
        atom("C", "ALA", 1, 'A', 2, 1.4, 0, "C") + atom("CB", "ALA", 1, 'A', 2, -1.4, 0, "C") +
        atom("CB", "ALA", 1, 'B', 9, 0, 0, "C") + atom("OG", "SER", 2, 'B', 9, 1.4, 0, "O");
    const Ensemble both = structure(text);
    Parameters parameters;
    parameters.deuterate = "B:0.75";
    const auto points = scatter(both, 0.4, parameters).match_points;
    ASSERT_EQ(points.size(), 3U);
    EXPECT_EQ(points[1].name, "chain A");
    // NH3+, of which all hydrogens exchange.
    EXPECT_NEAR(points[1].length, kN + 3 * kH + kC + kH + kC + kC + 3 * kH, 1e-9);
    EXPECT_NEAR(points[1].gain, 3 * (kD - kH), 1e-9);
    EXPECT_NEAR(points[2].length, kC + 3 * (0.25 * kH + 0.75 * kD) + kO + kH, 1e-9);
    EXPECT_NEAR(points[2].gain, kD - kH, 1e-9);
    EXPECT_NEAR(points[0].length, points[1].length + points[2].length, 1e-9);
    parameters.deuterate = "A,C:0.5";
    EXPECT_NE(error_text<InputError>([&] {
                  scatter(both, 0.4, parameters);
              }).find("expected a chain of the structure for --deuterate (A, B), found 'C'"),
              std::string::npos);
    for (const char* wrong : {"A:2", "A:", ":1", "A,A", "A:x", ",A", "A:nan"})
        EXPECT_THROW(parse_deuteration(wrong), UsageError) << wrong;
    EXPECT_EQ(parse_deuteration("A,B:0.25"),
              (std::map<std::string, double>{{"A", 1}, {"B", 0.25}}));
}

TEST(Neutrons, SeeTheHydrogensOfTheFile) {
    const Ensemble listed = structure(
        atom("OG", "SER", 1, 'A', 0, 0, 0, "O") + atom("HG", "SER", 1, 'A', 0.96, 0, 0, "H") +
        atom("CB", "SER", 1, 'A', 0, 1.4, 0, "C") + atom("HB2", "SER", 1, 'A', 1, 1.8, 0, "H") +
        atom("HB3", "SER", 1, 'A', -1, 1.8, 0, "D"));
    Parameters parameters;
    parameters.hydrogens = Hydrogens::listed;
    const MatchPoint point = scatter(listed, 0, parameters).match_points[0];
    EXPECT_NEAR(point.length, kO + kH + kC + kH + kD, 1e-9);
    EXPECT_NEAR(point.gain, kD - kH, 1e-9);
    EXPECT_NEAR(point.volume, 9.13 + 16.44 + 3 * 5.15, 1e-9);
}

TEST(Neutrons, NeedAtomsAndLengths) {
    std::string trace;
    for (int n = 1; n < 12; ++n) trace += atom("CA", "ALA", n, 'A', 3.8 * n, 0, 0, "C");
    EXPECT_NE(error_text<InputError>([&] {
                  scatter(structure(trace), 0);
              }).find("expected all atoms for neutrons, found only CA atoms"),
              std::string::npos);
    Parameters parameters;
    parameters.model = Resolution::two_bead;
    EXPECT_EQ(error_text<UsageError>([&] { scatter(structure(trace), 0, parameters); }),
              "expected the all-atom model of neutrons, found two-bead, whose form factors are of "
              "X-rays");
    const std::string cadmium =
        atom("O", "GLY", 1, 'A', 0, 0, 0, "O") + atom("CD", "CD", 2, 'A', 3, 0, 0, "CD");
    EXPECT_NE(
        error_text<InputError>([&] { scatter(structure(cadmium), 0); })
            .find("expected elements with a neutron scattering length that does not depend on "
                  "the wavelength, found Cd"),
        std::string::npos);
}

TEST(Neutrons, OfOneModelAndOfAllChannelsAgree) {
    const Ensemble ensemble = lysozyme();
    Parameters parameters;
    parameters.neutrons = true;
    parameters.d2o = 0.3;
    parameters.c2 = 1;
    const std::vector<double> q = {0, 0.05, 0.1, 0.2, 0.4};
    Context context;
    context.threads = 1;
    const FixedContrastModel fixed =
        make_fixed_contrast_model(ensemble, nullptr, parameters, q, context);
    const Array<double, 3> direct = profiles(fixed.model, fixed.xyz, fixed.scales, {}, context);
    const Result result = scatter(ensemble, 0.3, parameters);
    EXPECT_EQ(result.q[10], 0.05);
    for (std::size_t k = 0; k < q.size(); ++k) {
        const double sum = direct(0, 0, static_cast<Index>(k)) +
                           direct(0, 1, static_cast<Index>(k)) +
                           direct(0, 2, static_cast<Index>(k));
        EXPECT_NEAR(sum / result.mean[static_cast<std::size_t>(std::lround(q[k] / 0.005))], 1,
                    1e-5);
    }
}

}  // namespace
}  // namespace pleat::saxs

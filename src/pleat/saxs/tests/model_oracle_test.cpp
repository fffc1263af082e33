// Amplitudes and profiles of structures against independent sums: of data/oracles always, larger
// ones of ../shared if they are present.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "oracle.h"
#include "pleat/bio/ensemble/ensemble.h"
#include "pleat/core/files/npy.h"
#include "pleat/core/tests/data_folders.h"
#include "pleat/saxs/model/form_factors.h"
#include "pleat/saxs/model/model_joining.h"
#include "pleat/saxs/model/scatterers.h"

namespace pleat::saxs {
namespace {

namespace fs = std::filesystem;

Context cpu() {
    Context context;
    context.device = {Device::Kind::cpu, 0};
    context.threads = 2;
    return context;
}

/// Columns of numbers of a text file, lines of # left out.
std::vector<std::vector<double>> columns(const fs::path& path) {
    std::vector<std::vector<double>> rows;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("#")) continue;
        std::istringstream words(line);
        std::vector<double> row;
        for (double value = 0; words >> value;) row.push_back(value);
        if (!row.empty()) rows.push_back(row);
    }
    return rows;
}

/// The model with its first channels alone, none of them scaled.
Model first_channels(Model model, Index channels) {
    Array<double, 3> factors(channels, model.type_count(), model.q_count());
    std::copy_n(model.factors.begin(), factors.size(), factors.begin());
    model.factors = factors;
    model.scaled.assign(static_cast<std::size_t>(channels), 0);
    return model;
}

/// Profiles of pairs of the channels vacuum and excluded volume, of the first frame.
Array<double, 3> atom_profiles(const Ensemble& ensemble, const Scatterers& atoms,
                               std::span<const double> q) {
    Array<float, 3> positions(1, 3, atoms.count());
    set_centres_of_mass(atoms, ensemble.xyz[0], positions[0]);
    return profiles(first_channels(make_model(atoms, nullptr, q), 2), positions, {},
                    {.precision = Precision::float32, .method = Method::debye}, cpu());
}

/// Lysozyme's atoms: their amplitudes one by one, and the profiles of all.
TEST(ModelOracle, GivesTheAmplitudesAndProfilesOfLysozyme) {
    const Ensemble lysozyme =
        read_ensemble({(pleat::test::data_folder() / "1hel.pdb.gz").string()});
    const Scatterers atoms =
        make_scatterers(*lysozyme.topology, lysozyme.xyz[0], {.chain_ends = false});
    const NpzReader oracle(pleat::test::committed_oracles("saxs") / "lysozyme.npz");
    const auto numbers = [&](const char* name) { return oracle.get(name).as<double>(name); };
    const std::vector<double> q = numbers("q"), vacuum = numbers("vacuum"),
                              excluded = numbers("excluded"), intensity = numbers("intensity"),
                              in_vacuum = numbers("in_vacuum");
    const auto types = oracle.get("types").as<Index>("types");
    ASSERT_EQ(atoms.count(), static_cast<Index>(types.size()));
    const Model model = make_model(atoms, nullptr, q);
    for (std::size_t i = 0; i < types.size(); ++i) {
        for (std::size_t k = 0; k < q.size(); ++k) {
            const std::size_t at = static_cast<std::size_t>(types[i]) * q.size() + k;
            ASSERT_NEAR(model.factors(0, model.types[i], static_cast<Index>(k)), vacuum[at], 1e-6)
                << i << " " << k;
            ASSERT_NEAR(model.factors(1, model.types[i], static_cast<Index>(k)), excluded[at], 1e-6)
                << i << " " << k;
        }
    }
    const Array<double, 3> partial = atom_profiles(lysozyme, atoms, q);
    for (std::size_t k = 0; k < q.size(); ++k) {
        const auto at = static_cast<Index>(k);
        EXPECT_NEAR(partial(0, 0, at) / in_vacuum[k], 1, 1e-5) << q[k];
        const double net = partial(0, 0, at) - partial(0, 1, at) + partial(0, 2, at);
        EXPECT_NEAR(net / intensity[k], 1, 1e-4) << q[k];
    }
}

void expect_factors_of_6lyz(const fs::path& shared) {
    const Ensemble lysozyme =
        read_ensemble({(shared / "data" / "saxs" / "lyz_imp" / "6lyz.pdb.gz").string()});
    const Scatterers atoms =
        make_scatterers(*lysozyme.topology, lysozyme.xyz[0], {.chain_ends = false});
    ASSERT_EQ(atoms.count(), 1001);
    const NpzReader oracle(shared / "oracle" / "saxs" / "all_atom" / "6lyz_atoms.npz");
    const std::vector<double> factors = oracle.get("F51").as<double>("F51");
    const std::vector<double> q = oracle.get("q").as<double>("q");
    const Model model = make_model(atoms, nullptr, q);
    Index different = 0;
    for (Index k = 0; k < 51; ++k) {
        for (Index i = 0; i < 1001; ++i) {
            const Index type = model.types[static_cast<std::size_t>(i)];
            const double net = model.factors(0, type, k) - model.factors(1, type, k);
            const double expected = factors[static_cast<std::size_t>(k * 1001 + i)];
            if (std::abs(net - expected) < 2e-3) continue;
            ++different;
            // The oracle gives every cysteine a hydrogen; these eight form bridges and have none.
            EXPECT_EQ(atoms.type_names[static_cast<std::size_t>(type)], "S");
        }
    }
    EXPECT_EQ(different, 8 * 51);
}

void expect_profiles_of_1xib(const fs::path& shared) {
    const fs::path folder = shared / "oracle" / "saxs";
    const Ensemble parts = read_ensemble(
        {(shared / "data" / "saxs" / "glucose_isomerase" / "1XIB_4mer.pdb.gz").string()},
        {.topology = {}, .select = "not [MN]", .range = {}});
    EXPECT_TRUE(are_copies(parts.xyz));
    const Ensemble tetramer = join_models(parts);
    const Scatterers atoms =
        make_scatterers(*tetramer.topology, tetramer.xyz[0], {.chain_ends = false});
    ASSERT_EQ(atoms.count(), 12204);
    const auto expected = columns(folder / "all_atom" / "1XIB_4mer_vacuum_Q51_q0.5.dat");
    std::vector<double> q;
    for (const auto& row : expected) q.push_back(row[0]);
    const Array<double, 3> partial = atom_profiles(tetramer, atoms, q);
    for (std::size_t k = 0; k < q.size(); ++k) {
        const auto at = static_cast<Index>(k);
        EXPECT_NEAR(partial(0, 0, at) / expected[k][1], 1, 1e-3) << q[k];
        const double net = partial(0, 0, at) - partial(0, 1, at) + partial(0, 2, at);
        EXPECT_NEAR(net / expected[k][2], 1, 1e-3) << q[k];
    }
    // CRYSOL's own vacuum profile agrees to 3 % up to where its harmonics end.
    for (const auto& row : columns(folder / "crysol" / "crysol_new.int")) {
        for (std::size_t k = 0; k < q.size(); ++k) {
            if (row.size() < 3 || std::abs(row[0] - q[k]) > 1e-6 || q[k] > 0.3) continue;
            EXPECT_NEAR(row[2] / partial(0, 0, static_cast<Index>(k)), 1, 0.03) << q[k];
        }
    }
}

/// The profile of beads whose factors come from a table.
Array<double, 3> bead_profile(const test::Oracle& oracle, const FormFactorTable& table) {
    Scatterers beads;
    beads.resolution = Resolution::two_bead;
    beads.type_names = bead_types(Resolution::two_bead);
    beads.excess_electrons.assign(beads.type_names.size(), 0);
    beads.types = oracle.model.types;
    return profiles(first_channels(make_model(beads, &table, table.q), 1), oracle.xyz, {}, {},
                    cpu());
}

TEST(ModelOracle, ReadsTablesInThePublishedLayout) {
    Notes notes;
    const FormFactorTable table =
        read_form_factors(pleat::test::committed_oracles("saxs") / "two_body_factors.dat",
                          Resolution::two_bead, notes);
    ASSERT_EQ(table.q.size(), 51u);
    EXPECT_EQ(notes.size(), 1u);
    const test::Oracle oracle = test::committed_oracle("trypsin_bodies");
    for (Index k = 0; k < 51; ++k)
        for (Index type = 0; type < 21; ++type)
            EXPECT_DOUBLE_EQ(table.factors(k, type), oracle.model.factors(0, type, k));
    EXPECT_LE(test::largest_error(bead_profile(oracle, table).view()[0][0], oracle.intensity),
              1e-5);
}

void expect_the_published_profile(const fs::path& folder) {
    Notes notes;
    const FormFactorTable table =
        read_form_factors(folder / "published_form_factors" / "form_factors-two_body_model.dat",
                          Resolution::two_bead, notes);
    ASSERT_EQ(table.q.size(), 51u);
    EXPECT_EQ(notes.size(), 1u);
    EXPECT_NEAR(table.factors(0, 0), 6.0285176818659094, 1e-12);
    const test::Oracle oracle = test::paper_1888();
    const Array<double, 3> partial = bead_profile(oracle, table);
    const auto paper = columns(folder / "paper_1888" / "test1888.Iq_vec.txt");
    for (std::size_t k = 0; k < 51; ++k) {
        EXPECT_NEAR(partial(0, 0, static_cast<Index>(k)) / oracle.intensity[k], 1, 1e-5);
        EXPECT_NEAR(partial(0, 0, static_cast<Index>(k)) / paper[k][1], 1, 1e-4);
    }
    const FormFactorTable one =
        read_form_factors(folder / "published_form_factors" / "form_factors-one_body_model.dat",
                          Resolution::one_bead, notes);
    EXPECT_EQ(one.types.size(), 20u);
}

/// One test, so that its absence is one skipped test.
TEST(ModelOracle, GivesThePublishedAmplitudesAndProfilesOfSharedData) {
    const fs::path shared = pleat::test::shared_folder();
    if (!fs::exists(shared / "oracle" / "saxs"))
        GTEST_SKIP() << "the published profiles of " << shared << " are absent";
    expect_factors_of_6lyz(shared);
    expect_profiles_of_1xib(shared);
    expect_the_published_profile(shared / "oracle" / "saxs");
}

}  // namespace
}  // namespace pleat::saxs

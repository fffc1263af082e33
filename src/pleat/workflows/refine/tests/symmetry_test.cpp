// Symmetry: symmetric frames and profiles, chains that are not quite symmetric, and refusals.
#include "pleat/workflows/refine/chain/symmetry.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

#include "pleat/bio/scattering/profile.h"
#include "pleat/core/error.h"
#include "pleat/core/tests/temporary_folder.h"
#include "pleat/workflows/refine/tests/made_chain.h"
#include "pleat/workflows/refine/tests/made_hinge.h"

namespace pleat::refine {

namespace {

using pleat::test::error_text;
using pleat::test::TemporaryFolder;
using test::copy_turn;
using test::made_oligomer;
using test::MadeChain;
using test::StopAfter;

constexpr const char* kLetters = "AAAAAAAAAAAAGAPVAGAAAAAAAAAA";

Ensemble ensemble_of(const MadeChain& made) {
    Ensemble structure;
    structure.topology = structure.all_atoms = made.topology;
    const Array<float, 2> xyz = made.xyz();
    structure.xyz = Array<float, 3>(Index{1}, Index{3}, xyz.extent(1));
    std::copy(xyz.begin(), xyz.end(), structure.xyz.begin());
    return structure;
}

/// A core of residues 1 to 12, and a domain of residues 19 to 28.
Parameters symmetric_parameters(const std::string& symmetry) {
    Parameters parameters;
    parameters.linkers = "A:13-18";
    parameters.group = "A:1-12";
    parameters.symmetry = symmetry;
    parameters.frames = 40;
    parameters.chains = 4;
    parameters.moves = 20;
    parameters.doublings = 0;
    return parameters;
}

/// The largest distance of an atom in a frame from where the axis z turns that of the first chain.
double asymmetry(View<const float, 2> xyz, int order) {
    const Index atoms = xyz.extent(1) / order;
    double largest = 0;
    for (int copy = 1; copy < order; ++copy)
        for (Index n = 0; n < atoms; ++n) {
            const auto at = [&](Index atom) {
                return Vector{xyz(0, atom), xyz(1, atom), xyz(2, atom)};
            };
            largest =
                std::max(largest, distance(copy_turn(copy, order)(at(n)), at(copy * atoms + n)));
        }
    return largest;
}

void expect_symmetric_frames(const Result& result, int order) {
    ASSERT_GT(result.frames.frame_count(), 0);
    for (Index frame = 0; frame < result.frames.frame_count(); ++frame)
        EXPECT_LT(asymmetry(result.frames.xyz.view()[frame], order), 1e-3);
    EXPECT_EQ(result.symmetry, "c" + std::to_string(order));
    EXPECT_EQ(result.hinges, 16);  // phi of proline does not turn, nor its N-CA-C
    const auto [low, high] =
        std::minmax_element(result.quantities[1].values.begin(), result.quantities[1].values.end());
    EXPECT_GT(*high - *low, 1);
}

TEST(Symmetry, FramesOfAPoolAreSymmetric) {
    for (const auto& [name, order] : {std::pair("C2", 2), std::pair("p3", 3)}) {
        const Result result =
            run(ensemble_of(made_oligomer(kLetters, order)), {}, symmetric_parameters(name), {});
        expect_symmetric_frames(result, order);
        ASSERT_EQ(result.linkers.size(), static_cast<std::size_t>(order));
        EXPECT_EQ(result.linkers[1], "B:13-18");
        ASSERT_EQ(result.domains.size(), static_cast<std::size_t>(order) + 1);
    }
}

Profile smooth_curve() {
    Profile curve;
    for (int n = 1; n <= 20; ++n) {
        const double q = 0.01 * n, intensity = 1000 * std::exp(-q * q * 22 * 22 / 3) + 10;
        curve.q.push_back(q);
        curve.intensity.push_back(intensity);
        curve.sigma.push_back(0.2 * intensity);
    }
    return curve;
}

TEST(Symmetry, FramesOfAFitAreSymmetricAndHaveTheSameBitsAfterAStop) {
    const TemporaryFolder folder;
    const Ensemble structure = ensemble_of(made_oligomer(kLetters, 2));
    const Profile curve = smooth_curve();
    Parameters parameters = symmetric_parameters("c2");
    parameters.mode = Mode::fit;
    parameters.frames = 16;
    parameters.moves = 4;
    Context context;
    context.threads = 1;
    const Result whole = run(structure, {.curve = &curve}, parameters, context);
    expect_symmetric_frames(whole, 2);
    EXPECT_GT(whole.moves[3].accepted, 0);  // distance moves
    context.threads = 2;
    context.checkpoint = folder / "checkpoint.npz";
    StopAfter stop(4);
    context.progress = &stop;
    EXPECT_THROW(run(structure, {.curve = &curve}, parameters, context), Cancelled);
    context.progress = nullptr;
    const Result resumed = run(structure, {.curve = &curve}, parameters, context);
    EXPECT_TRUE(
        std::equal(whole.frames.xyz.begin(), whole.frames.xyz.end(), resumed.frames.xyz.begin()));
    parameters.symmetry.clear();
    parameters.group = "A:1-12,B:1-12";
    parameters.linkers = "A:13-18,B:13-18";
    EXPECT_THROW(run(structure, {.curve = &curve}, parameters, context), InputError);
}

TEST(Symmetry, MovesKeepTheProfileOfAFreshStart) {
    const ChainModel chain = test::made_symmetric_model(kLetters, "A:13-18", "A:1-12", 3);
    const Prior prior(chain, coil_tables());
    const Moves moves(chain, prior);
    Conformation open(chain);
    open.set_angles(find_start(chain, moves, {}, 1, 0));
    const ProfileModel model = make_profile_model(chain, open, test::grid(31, 0.3), {});
    ProfileBatch moved(model, 1, Device{});
    moved.start(0, open);
    Conformation at = open;
    for (Index step = 0; step < 60; ++step) {
        Random random(5, 0, step);
        const MoveProposal proposal = step % 3 == 0   ? moves.pivot(at, 1, random)
                                      : step % 3 == 1 ? moves.crankshaft(at, 1, random)
                                                      : moves.redraw(at, random);
        const double density = moves.log_density(at);
        at.set_angles(proposal.angles);
        // The log ratio is that of the whole density, which counts the first chain alone.
        if (step % 3 < 2) {
            EXPECT_NEAR(proposal.log_ratio, moves.log_density(at) - density, 1e-6);
        }
        moved.propose(0, at);
        moved.proposed_profile(0);
        moved.accept(0);
    }
    ProfileBatch fresh(model, 1, Device{});
    fresh.start(0, at);
    const View<const double, 2> after = moved.profile(0), expected = fresh.profile(0);
    for (Index pair = 0; pair < expected.extent(0); ++pair)
        for (Index k = 0; k < expected.extent(1); ++k)
            EXPECT_NEAR(after(pair, k), expected(pair, k), 1e-6 * expected(0, 0));
}

TEST(Symmetry, CopiesThatDifferALittleAreThoseOfTheFirstChain) {
    MadeChain made = made_oligomer(kLetters, 4);
    const std::size_t atoms = made.atoms.size() / 4;
    std::mt19937_64 random(3);
    std::normal_distribution<double> normal(0, 0.2);
    for (std::size_t n = atoms; n < made.atoms.size(); ++n)
        made.atoms[n] = made.atoms[n] + Vector{normal(random), normal(random), normal(random)};
    // The second chain is opposite the first, and the last lacks a side chain's atom.
    for (std::size_t n = 0; n < made.topology->residues.size(); ++n) {
        std::string& name = made.topology->residues[n].chain;
        if (name == "B" || name == "C") name = name == "B" ? "C" : "B";
    }
    made.topology->atoms.pop_back();
    made.atoms.pop_back();
    const Ensemble structure = ensemble_of(made);
    const Result result = run(structure, {}, symmetric_parameters("c4"), {});
    const std::string note = result.notes.front().text;
    EXPECT_NE(note.find("symmetry c4: chain A is repeated about an axis in place of C, B, D"),
              std::string::npos);
    EXPECT_NE(note.find("(12 residues of a chain) moved by 0."), std::string::npos) << note;
    ASSERT_EQ(result.frames.topology->atom_count(), static_cast<Index>(4 * atoms));
    // The core's centre is the axis, so it may have moved a little from z.
    for (Index frame = 0; frame < result.frames.frame_count(); ++frame)
        for (Index n = 0; n < static_cast<Index>(atoms); ++n) {
            const auto at = [&](Index copy) {
                const Index atom = copy * static_cast<Index>(atoms) + n;
                return Vector{result.frames.xyz(frame, 0, atom), result.frames.xyz(frame, 1, atom),
                              result.frames.xyz(frame, 2, atom)};
            };
            // Four corners of a square.
            EXPECT_NEAR(distance(at(0), at(1)), distance(at(2), at(3)), 1e-3);
            EXPECT_NEAR(distance(at(0), at(1)), distance(at(1), at(2)), 1e-3);
            EXPECT_NEAR(distance(at(0), at(2)), std::sqrt(2.0) * distance(at(0), at(1)), 1e-3);
        }
}

TEST(Symmetry, AResidueInALinkerOfOneChainIsInThoseOfAll) {
    const MadeChain made = made_oligomer(kLetters, 2);
    HeavyAtoms heavy{made.topology, made.xyz()};
    ChainOptions options{.linkers = parse_ranges("A:13-17,B:14-18", "linkers"),
                         .groups = {parse_ranges("A:1-12,B:1-12", "group")}};
    make_symmetric(2, heavy, options);
    EXPECT_EQ(text_of(options.linkers), "A:13-17,B:14-18,A:18,B:13");
    const ChainModel model = make_chain_model(heavy.topology, heavy.xyz, options);
    EXPECT_EQ(model.own_residues, 6);
    EXPECT_EQ(model.hinge_count(), 32);
    // As predicted errors may have it: a group that reaches into the other chain's linker.
    options = {.linkers = parse_ranges("A:13-18,B:14-18", "linkers"),
               .groups = {parse_ranges("A:1-12,B:1-13", "group")}};
    make_symmetric(2, heavy, options);
    EXPECT_EQ(text_of(options.groups[0]), "A:1-12,B:1-12");
}

TEST(Symmetry, RefusesWhatIsNotSymmetricInOneLine) {
    const auto expect_refusal = [](const MadeChain& made, const std::string& text,
                                   const std::function<void(Parameters&)>& change = {}) {
        Parameters parameters = symmetric_parameters("c2");
        if (change) change(parameters);
        const std::string found =
            error_text<InputError>([&] { run(ensemble_of(made), {}, parameters, {}); });
        EXPECT_NE(found.find(text), std::string::npos) << found;
        EXPECT_EQ(found.find('\n'), std::string::npos);
    };
    const MadeChain dimer = made_oligomer(kLetters, 2);
    expect_refusal(made_oligomer(kLetters, 3), "found 3 of chain 'A', 3 of chain 'B', 3 of chain");
    MadeChain other;
    test::add_peptide(other, kLetters, "A");
    test::add_peptide(other, "AAAAAGAAAAAAGAPVAGAAAAAAAAAA", "B", -120, 130, {30, 0, 0});
    expect_refusal(other,
                   "expected 2 chains of one sequence, numbered alike, for symmetry c2, found 1 of "
                   "chain 'A', 1 of chain 'B'");
    MadeChain shorter;
    test::add_peptide(shorter, kLetters, "A");
    test::add_peptide(shorter, std::string(kLetters).substr(0, 27), "B", -120, 130, {30, 0, 0});
    expect_refusal(shorter,
                   "symmetric chains, found 28 of A:1-28 and 27 of B:1-27; --sequence builds");
    MadeChain shifted;
    test::add_peptide(shifted, kLetters, "A");
    test::add_peptide(shifted, kLetters, "B", -120, 130, {30, 0, 0});
    expect_refusal(shifted, "are 30.00 angstrom (RMSD, at most 2) from it");
    // Two pairs about z, turned by 50 degrees from each other: no step of 90 degrees.
    MadeChain pairs = made_oligomer(kLetters, 4);
    const std::size_t atoms = pairs.atoms.size() / 4;
    for (const std::size_t copy : {1, 3})
        for (std::size_t n = copy * atoms; n < (copy + 1) * atoms; ++n)
            pairs.atoms[n] = rotation_about({}, {0, 0, 1}, -40 * test::kDegree)(pairs.atoms[n]);
    expect_refusal(pairs, " angstrom (RMSD, at most 2) from it",
                   [](Parameters& parameters) { parameters.symmetry = "c4"; });
    expect_refusal(dimer, "join rigid residues of both by --group",
                   [](Parameters& parameters) { parameters.group.clear(); });
    expect_refusal(dimer, "of each symmetric chain, the same ones, found 0",
                   [](auto& parameters) { parameters.group = "A:1-12,B:19-28"; });
    // The second chain's domain is elsewhere, with an ion.
    MadeChain bent = made_oligomer(kLetters, 2);
    const auto atom_of = [&](Index residue, const std::string& name) {
        std::size_t n = 0;
        while (bent.topology->atoms[n].residue != residue || bent.topology->atoms[n].name != name)
            ++n;
        return bent.atoms[n];
    };
    const Vector ca = atom_of(42, "CA"), c = atom_of(42, "C");
    for (std::size_t n = 0; n < bent.atoms.size(); ++n)
        if (bent.topology->atoms[n].residue > 42)
            bent.atoms[n] = rotation_about(ca, unit(c - ca), 2)(bent.atoms[n]);
    EXPECT_EQ(run(ensemble_of(bent), {}, symmetric_parameters("c2"), {}).symmetry, "c2");
    bent.topology->residues.push_back({"ZN", 1, ' ', "Z"});
    bent.add("ZN", bent.atoms.back() + Vector{4, 0, 0});
    expect_refusal(bent, "expected ZN Z:1 on a domain that symmetry does not move, found one that");
    expect_refusal(dimer, "expected residue 40 of A:40",
                   [](Parameters& parameters) { parameters.linkers = "A:40"; });
    for (const char* symmetry : {"d2", "c1", "c13", "c", "2", "p22", "c2x"}) {
        Parameters parameters = symmetric_parameters(symmetry);
        EXPECT_NE(error_text<UsageError>([&] {
                      run(ensemble_of(dimer), {}, parameters, {});
                  }).find("expected one axis, c2 to c12 (p2 to p12 mean the same), found '"),
                  std::string::npos);
    }
}

}  // namespace

}  // namespace pleat::refine

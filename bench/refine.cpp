// Times the moves of refine on a made protein of domains and linkers, as JSON.
//
// bench_refine DEVICE [SCATTERERS CONFORMATIONS [TOGETHER]]: moves a second of mode fit
// with profiles at 51 values of q, for at least this many beads and hydration sites, by default for
// all cases that have a bar; proposals that overlaps reject count too. A second of CPU time is that
// of all threads. TOGETHER: conformations in a call. The microseconds of a move are those of each
// stage on one thread, with as many conformations in a call; on a GPU a call of 1, 8 and 64.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "pleat/bio/ensemble/ensemble.h"
#include "pleat/bio/scattering/profile.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/workflows/refine/fit/curve_fit.h"
#include "pleat/workflows/refine/sampling/annealing.h"
#include "pleat/workflows/refine/tests/made_chain.h"

namespace {

using namespace pleat;
using namespace pleat::refine;

constexpr Index kLinker = 12;  // residues

/// Axes at CA, x along N-CA.
Transform frame_of(Vector n, Vector ca, Vector c) {
    const Vector x = unit(ca - n), z = unit(cross(x, c - ca)), y = cross(z, x);
    return {{x.x, y.x, z.x, x.y, y.y, z.y, x.z, y.z, z.z}, ca};
}

/// Domains of the first residues of a structure, connected by linkers of alanine.
test::MadeChain made_protein(const Ensemble& structure, Index domains, Index residues,
                             std::string& linkers) {
    test::MadeChain made;
    const Topology& topology = *structure.topology;
    int number = 0;
    linkers.clear();
    for (Index domain = 0; domain < domains; ++domain) {
        const auto at = [&](Index atom) {
            return Vector{structure.xyz(0, 0, atom), structure.xyz(0, 1, atom),
                          structure.xyz(0, 2, atom)};
        };
        Transform move;
        if (domain > 0) {
            // The last linker's residue ends at N, CA, C; the domain continues its chain.
            const std::size_t last = made.atoms.size();
            const Vector n = made.atoms[last - 5], ca = made.atoms[last - 4],
                         c = made.atoms[last - 3];
            const Vector next_n = point_from_internal(n, ca, c, 1.329, 116.6 * test::kDegree, 2.3),
                         next_ca =
                             point_from_internal(ca, c, next_n, 1.458, 121.7 * test::kDegree, 3.14),
                         next_c = point_from_internal(c, next_n, next_ca, 1.525,
                                                      111 * test::kDegree, -2.1);
            move = frame_of(next_n, next_ca, next_c) * inverse(frame_of(at(0), at(1), at(2)));
        }
        Index residue = -1;
        for (Index atom = 0; atom < topology.atom_count(); ++atom) {
            const auto& one = topology.atoms[static_cast<std::size_t>(atom)];
            if (one.residue >= residues) break;
            if (one.residue != residue) {
                residue = one.residue;
                made.topology->residues.push_back(
                    {topology.residues[static_cast<std::size_t>(residue)].name, ++number, ' ',
                     "A"});
            }
            made.add(one.name, move(at(atom)));
            made.topology->atoms.back() = one;
            made.topology->atoms.back().residue =
                static_cast<Index>(made.topology->residues.size()) - 1;
        }
        if (domain + 1 == domains) break;
        // The linker continues from C of the last residue.
        Vector n, ca, c;
        for (std::size_t atom = made.atoms.size(); atom-- > 0;) {
            const auto& one = made.topology->atoms[atom];
            if (one.residue + 1 != static_cast<Index>(made.topology->residues.size())) break;
            if (one.name == "N") n = made.atoms[atom];
            if (one.name == "CA") ca = made.atoms[atom];
            if (one.name == "C") c = made.atoms[atom];
        }
        if (!linkers.empty()) linkers += ',';
        linkers += "A:" + std::to_string(number + 1) + "-" + std::to_string(number + kLinker);
        for (Index k = 0; k < kLinker; ++k) {
            const Vector next_n = point_from_internal(n, ca, c, 1.329, 116.6 * test::kDegree, 2.3),
                         next_ca =
                             point_from_internal(ca, c, next_n, 1.458, 121.7 * test::kDegree, 3.14);
            c = point_from_internal(c, next_n, next_ca, 1.525, 111 * test::kDegree, -2.1);
            n = next_n;
            ca = next_ca;
            made.topology->residues.push_back({"ALA", ++number, ' ', "A"});
            made.add("N", n);
            made.add("CA", ca);
            made.add("C", c);
            made.add("O", point_from_internal(n, ca, c, 1.231, 120.5 * test::kDegree, 2.3 + 3.14));
            made.add("CB", point_from_internal(c, n, ca, 1.53, 110.5 * test::kDegree, 2.14));
        }
    }
    return made;
}

double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

std::string data_folder() {
    const char* const folder = std::getenv("PLEAT_TEST_DATA");
    if (folder == nullptr) throw UsageError("set PLEAT_TEST_DATA to the folder data");
    return folder;
}

/// Seconds since the last call of split(), by what they were for.
class Stages {
public:
    void split(const char* what) {
        const double at = now();
        if (what != nullptr) seconds_[what] += at - last_;
        last_ = at;
    }
    /// Microseconds a move.
    nlohmann::ordered_json a_move(double moves) const {
        nlohmann::ordered_json result;
        for (const auto& [what, seconds] : seconds_) result[what] = 1e6 * seconds / moves;
        return result;
    }

private:
    std::map<std::string, double> seconds_;
    double last_ = now();
};

/// The stages of moves of `count` chains whose profiles are computed in one call, on one thread.
nlohmann::ordered_json measure_stages(const ChainModel& chain, const Moves& moves,
                                      const ProfileModel& profile,
                                      const CurveLikelihood& likelihood, Index count,
                                      const Device& device) {
    ProfileBatch profiles(profile, count, device);
    Sterics sterics(chain, {});
    std::vector<Conformation> current(static_cast<std::size_t>(count), Conformation(chain)),
        proposed = current;
    std::vector<double> weights(current.size());
    for (std::size_t n = 0; n < current.size(); ++n) {
        current[n].set_angles(find_start(chain, moves, {}, 1, static_cast<Index>(n)));
        profiles.start(static_cast<Index>(n), current[n]);
    }
    for (std::size_t n = 0; n < current.size(); ++n)
        weights[n] = likelihood.log_likelihood(profiles.profile(static_cast<Index>(n)));
    Stages stages;
    double made = 0, computed = 0;
    std::vector<std::size_t> allowed;
    const double end = now() + 1;
    for (Index step = 0; step < 20 || now() < end; ++step) {
        allowed.clear();
        for (std::size_t n = 0; n < current.size(); ++n) {
            stages.split(nullptr);
            Random random(7, static_cast<Index>(n), step);
            const MoveProposal proposal = step % 5 < 2 ? moves.pivot(current[n], 0.3, random)
                                          : step % 5 < 4
                                              ? moves.redraw(current[n], random)
                                              : moves.crankshaft(current[n], 0.3, random);
            stages.split("1 angles");
            proposed[n].set_angles(proposal.angles);
            stages.split("2 transforms");
            const OverlapEnergy overlap = sterics.overlap(proposed[n]);
            stages.split("3 overlaps");
            made += 1;
            if (overlap.hard_pairs > 0) continue;
            allowed.push_back(n);
            profiles.propose(static_cast<Index>(n), proposed[n]);
            stages.split("4 positions");
        }
        if (allowed.empty()) continue;
        stages.split(nullptr);
        profiles.proposed_profile(static_cast<Index>(allowed.front()));
        stages.split("5 profiles");
        for (const std::size_t n : allowed) {
            computed += 1;
            const auto number = static_cast<Index>(n);
            const double weight = likelihood.log_likelihood(profiles.proposed_profile(number));
            stages.split("6 likelihood");
            Random random(8, number, step);
            if (std::log(1.0 - random.uniform()) + weights[n] <= weight) {
                profiles.accept(number);
                std::swap(current[n], proposed[n]);
                weights[n] = weight;
            } else {
                profiles.reject(number);
            }
            stages.split("7 accept");
        }
    }
    nlohmann::ordered_json result = stages.a_move(made);
    result["computed"] = computed / made;
    return result;
}

/// A made protein with at least this many scatterers.
struct MadeProtein {
    Index domains = 0;
    ChainModel chain;
    ProfileModel profile;
};
MadeProtein protein_of(Index scatterers, const std::vector<double>& q, const Context& context) {
    const Ensemble structure = read_ensemble(
        {data_folder() + "/1hel.pdb.gz"},
        {.topology = {}, .select = "heavy and protein", .range = {.first = 0, .last = 1}});
    MadeProtein protein;
    protein.domains = scatterers > 1000 ? 5 : 2;
    for (Index residues = 8; residues <= 129; ++residues) {
        std::string linkers;
        const test::MadeChain made = made_protein(structure, protein.domains, residues, linkers);
        const Array<float, 2> xyz = made.xyz();
        protein.chain = make_chain_model(made.topology, xyz.view(),
                                         {.linkers = parse_ranges(linkers, "--linkers")});
        if (2 * protein.domains * residues < scatterers / 2) continue;
        protein.profile =
            make_profile_model(protein.chain, Conformation(protein.chain), q, context);
        if (protein.profile.model.scatterer_count() >= scatterers) break;
    }
    return protein;
}

/// Moves and times of a whole run, the pilot's too.
struct Sample {
    double powers = 0, made = 0, proposed = 0, accepted = 0, seconds = 0, cpu_seconds = 0;
};

/// `together`: conformations in a call; 0: as a run has it.
nlohmann::ordered_json measure(const Context& context, Index scatterers, Index conformations,
                               Index together = 0) {
    std::vector<double> q;
    q.reserve(51);
    for (int n = 0; n < 51; ++n) q.push_back(0.01 * n);
    const bool is_gpu = context.device.kind == Device::Kind::cuda;
    AnnealingOptions options{.conformations = conformations};
    if (is_gpu) options.divide_for_gpu();
    if (together > 0) options.together = together;
    const MadeProtein protein = protein_of(scatterers, q, context);
    const ChainModel& chain = protein.chain;
    const ProfileModel& profile = protein.profile;
    const Prior prior(chain, coil_tables());
    const Moves moves(chain, prior);
    // The curve of a drawn conformation, with errors of 5 %.
    Conformation truth(chain);
    truth.set_angles(find_start(chain, moves, {}, 1, 1000));
    ProfileBatch one(profile, 1, Device{});
    one.start(0, truth);
    Profile curve;
    curve.q = q;
    for (Index k = 0; k < 51; ++k) {
        curve.intensity.push_back(one.profile(0)(0, k));
        curve.sigma.push_back(0.05 * curve.intensity.back());
    }
    const CurveLikelihood likelihood(
        curve, q, {.model_error = 0.02, .correlation = 0.03, .c2 = {-2, -1, 0, 1, 2, 3, 4}});
    const auto make_targets = [&](Index count) {
        const auto profiles = std::make_shared<ProfileBatch>(profile, count, context.device);
        TargetBatch targets;
        for (Index n = 0; n < count; ++n)
            targets.push_back(std::make_unique<CurveTarget>(chain, profiles, n, likelihood));
        return targets;
    };
    const auto sample = [&](Index moves_of_power) {
        options.moves = moves_of_power;
        const double start = now();
        const std::clock_t cpu_start = std::clock();
        const Posterior found = anneal(
            chain, moves, make_targets, options, [](const Posterior&) { return true; }, "bench",
            context);
        Sample all{.powers = static_cast<double>(found.powers.size()),
                   .seconds = now() - start,
                   .cpu_seconds = static_cast<double>(std::clock() - cpu_start) / CLOCKS_PER_SEC};
        for (std::size_t kind = 0; kind < kMoveKinds; ++kind) {
            all.proposed += static_cast<double>(found.counts.proposed[kind]);
            all.accepted += static_cast<double>(found.counts.accepted[kind]);
        }
        // The pilot moves some 128 conformations as often as the others.
        all.made = all.proposed * (1 + 128.0 / static_cast<double>(options.conformations));
        return all;
    };
    if (is_gpu) sample(1);  // loads the kernels
    // Fewer moves have the same draws of the prior, which are left out of the speed.
    const Sample few = sample(is_gpu ? 10 : 1), many = sample(is_gpu ? 100 : 10);
    const double made = many.made - few.made, seconds = many.seconds - few.seconds,
                 cpu_seconds = many.cpu_seconds - few.cpu_seconds;
    nlohmann::ordered_json stages;
    for (const Index calls : {1, 8, 64})
        if (calls == 1 || is_gpu)
            stages[std::to_string(calls) + " in a call"] =
                measure_stages(chain, moves, profile, likelihood, calls, context.device);
    return {{"scatterers", profile.model.scatterer_count()},
            {"beads", profile.beads},
            {"bodies_of_sums", *std::max_element(profile.bodies.begin(), profile.bodies.end()) + 1},
            {"domains", protein.domains},
            {"angles", chain.hinge_count()},
            {"q", q.size()},
            {"conformations", options.conformations},
            {"threads", resolve_threads(context)},
            {"together", options.together},
            {"in_turn", options.in_turn},
            {"powers", many.powers},
            {"accepted", many.accepted / many.proposed},
            {"seconds", many.seconds},
            {"moves_a_second", made / seconds},
            {"moves_a_cpu_second", made / cpu_seconds},
            {"microseconds_a_move", stages}};
}

}  // namespace

int main(int count, char** values) {
    if (count != 2 && (count < 4 || count > 5)) {
        std::cerr << "usage: bench_refine DEVICE [SCATTERERS CONFORMATIONS [TOGETHER]]\n";
        return 2;
    }
    try {
        Context context;
        context.device = Device::parse(values[1]);
        if (count > 2) {
            const Index together = count > 4 ? std::stoll(values[4]) : 0;
            std::cout
                << measure(context, std::stoll(values[2]), std::stoll(values[3]), together).dump(1)
                << std::endl;
            return 0;
        }
        for (const auto& [scatterers, bar] : {std::array<Index, 2>{1888, 150000}, {200, 800000}}) {
            nlohmann::ordered_json result = measure(context, scatterers, 1024);
            result["bar_of_a_gpu"] = bar;
            std::cout << result.dump(1) << std::endl;
        }
    } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
        return 4;
    }
    return 0;
}

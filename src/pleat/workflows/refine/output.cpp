// Output: frames, their table, and the convergence of what it holds.
#include "pleat/workflows/refine/output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "pleat/bio/ensemble/write_frames.h"
#include "pleat/core/files/output_file.h"
#include "pleat/core/loops/steps.h"

namespace pleat::refine {

namespace {

using Json = nlohmann::ordered_json;

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

std::string frames_table(const Result& result) {
    std::string text = "frame\tchain\tstep";
    if (!result.replica.empty()) text += "\treplica";
    for (const Quantity& quantity : result.quantities) text += '\t' + quantity.name;
    if (!result.chi2.empty()) text += "\tchi2\tc2";
    text += "\tdmax\tprior\tclash\tclose_atoms\n";
    for (std::size_t n = 0; n < result.chain.size(); ++n) {
        text += fmt::format("{}\t{}\t{}", n, result.chain[n], result.step[n]);
        if (!result.replica.empty()) text += fmt::format("\t{}", result.replica[n]);
        for (const Quantity& quantity : result.quantities)
            text += fmt::format("\t{:.4f}", quantity.values[n]);
        if (!result.chi2.empty())
            text += fmt::format("\t{:.6g}\t{:.4g}", result.chi2[n], result.c2[n]);
        text += fmt::format("\t{:.4f}\t{:.6f}\t{:.6f}\t{}\n", result.diameter[n],
                            result.log_prior[n], result.clash_energy[n], result.close_atoms[n]);
    }
    return text;
}

std::string convergence_text(const Result& result) {
    Json json;
    json["converged"] = result.is_converged();
    json["remark"] = convergence_remark(result);
    json["max_r_hat"] = Convergence::kMaxRHat;
    json["min_effective_size"] = Convergence::kMinSize;
    json["domains"] = result.domains;
    json["linkers"] = result.linkers;
    if (!result.built.empty()) json["built"] = result.built;
    for (const Quantity& quantity : result.quantities)
        json["quantities"].push_back(
            {{"name", quantity.name},
             {"meaning", quantity.meaning},
             {"r_hat", number(quantity.convergence.r_hat)},
             {"effective_size", number(quantity.convergence.effective_size)},
             {"converged", quantity.convergence.is_reached()}});
    for (const MoveShare& move : result.moves)
        json["moves"].push_back(
            {{"kind", move.name}, {"proposed", move.proposed}, {"accepted", move.accepted}});
    if (!result.betas.empty()) json["powers"] = result.betas;
    if (result.misfit)
        json["misfit"] = {{"squares", number(result.misfit->squares)},
                          {"runs", number(result.misfit->runs)},
                          {"min_probability", MisfitTest::kMinProbability},
                          {"passed", result.misfit->is_passed()},
                          {"remark", misfit_remark(result)}};
    if (!result.swaps.empty()) {
        json["swap_probabilities"] = result.swaps;
        json["arrivals"] = result.arrivals;
    }
    return json.dump(2) + "\n";
}

}  // namespace

std::string topology_name(const Result& result) {
    return fits_pdb(*result.frames.topology) ? "topology.pdb" : "topology.cif";
}

std::string convergence_remark(const Result& result) {
    const Index frames = std::ssize(result.chain),
                chains = 1 + *std::max_element(result.chain.begin(), result.chain.end()),
                replicas = result.replica.empty() ? 1
                                                  : 1 + *std::max_element(result.replica.begin(),
                                                                          result.replica.end());
    if (frames / (chains * replicas) < Convergence::kMinDraws)
        return fmt::format(
            "not converged: {} frames of {} chains are too few to compare the chains (expected: at "
            "least {} frames of each chain{})",
            frames, chains, Convergence::kMinDraws,
            replicas > 1 ? fmt::format(" and each of its {} replicas", replicas) : "");
    std::string text;
    for (const Quantity& quantity : result.quantities)
        if (!quantity.convergence.is_reached())
            text += fmt::format("{}{} has R-hat {:.3f} and effective size {:.0f}",
                                text.empty() ? "not converged: " : ", ", quantity.name,
                                quantity.convergence.r_hat, quantity.convergence.effective_size);
    if (!text.empty())
        text += fmt::format(" (converged: at most {} and at least {})", Convergence::kMaxRHat,
                            Convergence::kMinSize);
    return text;
}

std::string misfit_remark(const Result& result) {
    if (!result.misfit || result.misfit->is_passed()) return "";
    const char* const what = result.mode == Mode::fit
                                 ? "no single conformation explains the curve: residuals of frames"
                                 : "the frames do not explain the curve: residuals of their means";
    return fmt::format(
        "{} would be as large with probability {:.2g}, and of one sign for as long with {:.2g}, if "
        "they were noise (expected: at least {} each){}",
        what, result.misfit->squares, result.misfit->runs, MisfitTest::kMinProbability,
        result.mode == Mode::fit ? "; --mode average is for proteins that stay flexible" : "");
}

void write_results(RunDirectory& run, const Result& result, const Context& context) {
    const Ensemble& frames = result.frames;
    StructureWriter structure(run.output(topology_name(result)), *frames.topology);
    structure.add(frames.xyz.view()[0]);
    structure.close();
    DcdWriter dcd(run.output("frames.dcd"), frames.atom_count());
    for_each_frame(context, "write", frames.frame_count(),
                   [&](Index frame) { dcd.add(frames.xyz.view()[frame]); });
    dcd.close();
    write_text(run.output("frames.tsv"), frames_table(result));
    if (!result.found_options.empty())
        write_text(run.output("domains.txt"), result.found_options + "\n");
    write_text(run.output("convergence.json"), convergence_text(result));
}

void record_facts(RunDirectory& run, const Result& result) {
    run.fact("frames", static_cast<std::int64_t>(result.frames.frame_count()));
    run.fact("atoms", static_cast<std::int64_t>(result.frames.atom_count()));
    run.fact("angles", static_cast<std::int64_t>(result.hinges));
    if (result.built_residues > 0)
        run.fact("built_residues", static_cast<std::int64_t>(result.built_residues));
    run.fact("domains", static_cast<std::int64_t>(result.domains.size()));
    run.fact("converged", result.is_converged() ? "yes" : "no");
    if (!result.is_converged()) run.fact("remark", convergence_remark(result));
    if (result.misfit) run.fact("residuals_are_noise", result.misfit->is_passed() ? "yes" : "no");
}

}  // namespace pleat::refine

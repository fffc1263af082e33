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

std::string convergence_text(const Result& result) {
    Json json;
    json["converged"] = result.is_converged();
    json["remark"] = convergence_remark(result);
    json["max_r_hat"] = Convergence::kMaxRHat;
    json["min_effective_size"] = Convergence::kMinSize;
    json["domains"] = result.domains;
    json["linkers"] = result.linkers;
    if (!result.symmetry.empty()) json["symmetry"] = result.symmetry;
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
    if (result.evidence)
        json["evidence"] = {{"log_evidence", number(result.evidence->log_evidence)},
                            {"error", number(result.evidence->error)},
                            {"max_error", ModelEvidence::kMaxError},
                            {"ancestors", result.evidence->ancestors},
                            {"powers", result.evidence->powers}};
    if (result.misfit)
        json["misfit"] = {{"squares", number(result.misfit->squares)},
                          {"runs", number(result.misfit->runs)},
                          {"min_probability", MisfitTest::kMinProbability},
                          {"passed", result.misfit->is_passed()},
                          {"remark", misfit_remark(result)}};
    return json.dump(2) + "\n";
}

}  // namespace

std::string topology_name(const Result& result) {
    return fits_pdb(*result.frames.topology) ? "topology.pdb" : "topology.cif";
}

std::string convergence_remark(const Result& result) {
    const Index frames = std::ssize(result.chain),
                chains = 1 + *std::max_element(result.chain.begin(), result.chain.end());
    if (result.mode == Mode::fit && frames < 4 * Convergence::kMinDraws)
        return fmt::format(
            "not converged: {} frames are too few to compare groups of them (expected: at least "
            "{})",
            frames, 4 * Convergence::kMinDraws);
    if (result.mode != Mode::fit && frames / chains < Convergence::kMinDraws)
        return fmt::format(
            "not converged: {} frames of {} chains are too few to compare the chains (expected: at "
            "least {} frames of each)",
            frames, chains, Convergence::kMinDraws);
    std::string text;
    for (const Quantity& quantity : result.quantities)
        if (!quantity.convergence.is_reached())
            text += fmt::format("{}{} has R-hat {:.3f} and effective size {:.0f}",
                                text.empty() ? "not converged: " : ", ", quantity.name,
                                quantity.convergence.r_hat, quantity.convergence.effective_size);
    if (!text.empty())
        text += fmt::format(" (converged: at most {} and at least {})", Convergence::kMaxRHat,
                            Convergence::kMinSize);
    if (result.evidence && !result.evidence->is_reached())
        text += fmt::format("{}ln of the evidence has an error of {:.2f} (converged: at most {})",
                            text.empty() ? "not converged: " : ", ", result.evidence->error,
                            ModelEvidence::kMaxError);
    if (result.mode == Mode::fit && !text.empty())
        text += "; more --frames, then more --moves, bring it nearer";
    return text;
}

double smallest_size(const Result& result) {
    double smallest = static_cast<double>(result.chain.size());
    for (const Quantity& quantity : result.quantities)
        smallest = std::min(smallest, quantity.convergence.effective_size);
    return smallest;
}

std::string misfit_remark(const Result& result) {
    if (!result.misfit || result.misfit->is_passed()) return "";
    return fmt::format(
        "no single conformation explains the curve: residuals of frames would be as large with "
        "probability {:.2g}, and of one sign for as long with {:.2g}, if they were noise "
        "(expected: "
        "at least {} each); --mode pool is for proteins that stay flexible",
        result.misfit->squares, result.misfit->runs, MisfitTest::kMinProbability);
}

std::vector<FrameColumn> frame_columns(const Result& result) {
    const auto fixed = [](int digits) {
        return Shown{.format = std::chars_format::fixed, .digits = digits};
    };
    std::vector<FrameColumn> all = {{"chain", result.chain, {}}, {"step", result.step, {}}};
    for (const Quantity& quantity : result.quantities)
        all.push_back({quantity.name, quantity.values, fixed(4)});
    if (!result.chi2.empty()) {
        all.push_back({"chi2", result.chi2, {}});
        all.push_back({"c2", result.c2, {.digits = 4}});
    }
    all.push_back({"dmax", result.diameter, fixed(4)});
    all.push_back({"prior", result.log_prior, fixed(6)});
    all.push_back({"clash", result.clash_energy, fixed(6)});
    all.push_back({"close_atoms", result.close_atoms, {}});
    return all;
}

ResultColumns columns(const Result& result) {
    const bool is_done = !result.chain.empty();
    const std::string remark = is_done ? convergence_remark(result) : "";
    const bool is_converged = is_done && result.is_converged(),
               has_evidence = result.evidence.has_value();
    static const ModelEvidence none;
    const ModelEvidence& evidence = has_evidence ? *result.evidence : none;
    return {
        {"frames", "pleat.Ensemble, float32 [frame, atom, 3], angstrom; the largest domain rests",
         ColumnValue::kept("Ensemble")},
        {"table",
         "dict of arrays [frame], the columns of frames.tsv: chain, step (int64, the Monte Carlo "
         "chain or lineage, and the moves so far); rg, distance_1_2, ... (float64, angstrom); "
         "with a likelihood ln_likelihood, chi2 (per point) and c2; dmax "
         "(angstrom); prior (ln of the density, up to a constant); clash (kT); close_atoms (int64, "
         "pairs of heavy atoms closer than 2.5 angstrom)",
         ColumnValue::kept("dict[str, NDArray[Any]]")},
        {"convergence",
         "dict of rg, each distance and ln_likelihood: dict of r_hat, effective_size, converged",
         ColumnValue::kept("dict[str, dict[str, Any]]")},
        {"converged",
         "whether R-hat is at most 1.01 and the effective size at least 400 for all of them, and "
         "in "
         "mode fit the error of log_evidence at most 0.1",
         is_converged},
        {"warning",
         "which of them have not converged, else ''. It is also raised as a Python warning",
         remark},
        {"misfit",
         "dict of the test whether residuals of the frames are noise: squares and runs "
         "(probabilities), passed, remark (also a Python warning); None without a likelihood",
         ColumnValue::kept("dict[str, Any] | None")},
        {"moves", "dict of each kind of move: (proposed, accepted), burn-in and pilot left out",
         ColumnValue::kept("dict[str, tuple[int, int]]")},
        {"powers",
         "float64 [power], powers of the likelihood from 0 to 1 through which the frames of mode "
         "fit went; None in others",
         ColumnValue(evidence.powers).or_none(has_evidence)},
        {"log_evidence",
         "ln of the mean likelihood of the curve under the prior; None but in mode fit",
         ColumnValue(evidence.log_evidence).or_none(has_evidence), "results"},
        {"log_evidence_error", "standard error of log_evidence; None but in mode fit",
         ColumnValue(evidence.error).or_none(has_evidence), "results"},
        {"ancestors",
         "int, draws of the prior from which all frames of mode fit descend; None in others",
         ColumnValue(evidence.ancestors).or_none(has_evidence)},
        {"domains",
         "list of str, such as 'A:1-288'; domains are numbered from 1 in names of columns",
         result.domains},
        {"linkers", "list of str, the flexible residues", result.linkers},
        {"built",
         "list of str, segments of missing residues that `sequence` added, such as 'A:285-301'",
         result.built},
        {"found_options", "'--linkers ... --group ...', what `pae` found; '' without it",
         result.found_options},
        {"notes", "list of str, what was decided", ColumnValue::kept("list[Note]")},
        {"saxs",
         "pleat.Saxs, the profiles of these frames by pleat.saxs, with `data` fitted to it; None "
         "without data and profiles",
         ColumnValue::kept("Saxs | None")},
        fact("frames", std::ssize(result.chain), "number of frames"),
        fact("atoms", result.frames.topology ? result.frames.topology->atom_count() : 0,
             "of a frame"),
        {"angles", "how many angles change independently", result.hinges, "results"},
        {"symmetry", "str, such as 'c2'; None without it",
         ColumnValue(result.symmetry).or_none(!result.symmetry.empty()), "results"},
        fact("built_residues",
             ColumnValue(result.built_residues).or_none(result.built_residues > 0),
             "residues that --sequence added"),
        fact("domains", std::ssize(result.domains), "number of domains"),
        fact("converged", is_converged ? "yes" : "no", "whether all of convergence.json has"),
        fact("effective_size", smallest_size(result),
             "smallest effective size of what convergence.json has"),
        fact("remark", ColumnValue(remark).or_none(!is_converged), "what has not"),
        fact("residuals_are_noise",
             ColumnValue(result.misfit && result.misfit->is_passed() ? "yes" : "no")
                 .or_none(result.misfit.has_value()),
             "whether the test of the residuals is passed"),
    };
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
    write_tables(run, result);
}

void write_tables(RunDirectory& run, const Result& result) {
    std::vector<TableColumn> table = {row_numbers("frame")};
    for (const FrameColumn& column : frame_columns(result))
        for (TableColumn& one : table_columns(column.name, column.value, column.shown))
            table.push_back(std::move(one));
    write_table(run.output("frames.tsv"), result.chain.size(), table);
    if (!result.found_options.empty())
        write_text(run.output("domains.txt"), result.found_options + "\n");
    write_text(run.output("convergence.json"), convergence_text(result));
}

void record_facts(RunDirectory& run, const Result& result) { record(run, columns(result)); }

}  // namespace pleat::refine

// Select evidence: reading files of stages, and one pass over the frames for contacts.
#include "select_evidence.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "pleat/cluster/neighbours/neighbours.h"
#include "pleat/core/error.h"
#include "pleat/core/files/npy.h"
#include "pleat/core/files/read_file.h"
#include "pleat/core/hardware/memory.h"
#include "pleat/core/run/manifest.h"
#include "pleat/report/table.h"

namespace pleat::program {

namespace {

report::Table whole_table(const std::filesystem::path& path) {
    return report::read_table(path, std::numeric_limits<Index>::max());
}

void check_frames(const std::filesystem::path& path, Index frames, std::size_t found) {
    if (static_cast<Index>(found) != frames)
        throw InputError(path.string(), 0,
                         fmt::format("expected {} frames, found {}", frames, found));
}

}  // namespace

ClusterFiles read_clusters(const std::filesystem::path& folder, Index frames) {
    ClusterFiles files{
        .assignment = {}, .medoids = {}, .cutoff = std::numeric_limits<double>::quiet_NaN()};
    const std::filesystem::path assignment = folder / "assignment.npy";
    files.assignment = read_npy(assignment).as<std::int32_t>(assignment.string());
    check_frames(assignment, frames, files.assignment.size());
    const std::filesystem::path table = folder / "clusters.tsv";
    for (const double medoid : whole_table(table).numbers("medoid"))
        files.medoids.push_back(static_cast<Index>(medoid));
    for (const std::int32_t cluster : files.assignment)
        if (cluster < -1 || cluster >= static_cast<std::int32_t>(files.medoids.size()))
            throw InputError(assignment.string(), 0,
                             fmt::format("expected clusters below {} as in clusters.tsv, found {}",
                                         files.medoids.size(), cluster));
    for (const Index medoid : files.medoids)
        if (medoid < 0 || medoid >= frames)
            throw InputError(table.string(), 0,
                             fmt::format("expected medoids below {}, found {}", frames, medoid));
    const EarlierRun run = read_earlier_run(folder / "manifest.json");
    if (const auto found = run.results.find("cutoff"); found != run.results.end())
        files.cutoff = report::cell_number(found->second).value_or(files.cutoff);
    return files;
}

std::vector<double> read_chi2(const std::filesystem::path& folder, Index frames) {
    const std::filesystem::path single = folder / "fit.json";
    if (frames == 1) {  // a run of one frame lists no frames
        const EarlierRun run = read_earlier_run(folder / "manifest.json");
        const auto found = run.results.find("chi2");
        const auto value =
            found == run.results.end() ? std::nullopt : report::cell_number(found->second);
        if (!value) throw InputError(single.string(), 0, "expected chi2 of the frame, found none");
        return {*value};
    }
    const std::filesystem::path path = folder / "frames.tsv";
    std::vector<double> chi2 = whole_table(path).numbers("chi2");
    check_frames(path, frames, chi2.size());
    for (std::size_t frame = 0; frame < chi2.size(); ++frame)
        if (!std::isfinite(chi2[frame]))
            throw InputError(path.string(), static_cast<std::int64_t>(frame) + 2,
                             "expected a number as chi2, found none");
    return chi2;
}

PredictedContacts read_predicted(const std::string& source) {
    if (source == "-" || !is_folder(source)) return read_casp_contacts(source);
    const std::filesystem::path folder = source;
    const EarlierRun run = read_earlier_run(folder / "manifest.json");
    if (!run.is_ours || run.command != "couplings" || run.status != "finished")
        throw InputError(
            source, 0,
            fmt::format("expected the folder of a finished 'pleat couplings', found {}",
                        !run.is_ours ? std::string("another one")
                                     : fmt::format("one of 'pleat {}' that is {}", run.command,
                                                   run.status)));
    if (!is_file(folder / "contacts.rr"))
        throw InputError(source, 0,
                         "expected probabilities of contacts (contacts.rr), found none: they are "
                         "given for proteins, with --apc and 20 effective sequences or more");
    return read_casp_contacts(folder / "contacts.rr");
}

Structure read_residues(const EnsembleReader& reader, const EnsembleSource& ensemble) {
    const std::string file = ensemble.topology.empty() ? reader.files().front() : ensemble.topology;
    if (!reader.topology()->named)
        throw InputError(file, 0,
                         "expected atoms with names for contacts, found coordinates only: give "
                         "--topology");
    return read_structure(file);
}

Array<std::uint8_t, 2> satisfied_contacts(EnsembleReader& reader, Index frames,
                                          const std::vector<select::ExpectedContact>& contacts,
                                          double cutoff, const Context& context) {
    const auto count = static_cast<Index>(contacts.size());
    require_memory(frames * count, fmt::format("{} contacts of {} frames", count, frames),
                   "take fewer frames (--frames) or contacts (--contacts-per-residue)");
    Array<std::uint8_t, 2> satisfied(frames, count);
    Array<float, 2> frame(Index{3}, reader.atom_count());
    Index number = 0;
    for (; reader.next(frame); ++number) {
        if (number == frames) break;
        select::mark_satisfied(frame, contacts, cutoff, satisfied.view()[number].data);
        if (number % 256 == 0) context.update("contacts", number, frames, "frames");
        if (context.cancelled()) throw Cancelled("contacts: stopped; the stages are kept");
    }
    context.update("contacts", number, frames, "frames");
    check_frames(reader.files().front(), frames, static_cast<std::size_t>(number));
    return satisfied;
}

std::vector<double> densities(const PairSource& distances, double cutoff, const Context& context) {
    const Index frames = distances.count();
    std::vector<double> density(static_cast<std::size_t>(frames), 0.0);
    if (frames < 2) return density;
    const auto neighbours = cluster::find_neighbours(distances, cutoff, context, 0);
    for (std::size_t frame = 0; frame < density.size(); ++frame)
        density[frame] =
            static_cast<double>(neighbours->degrees()[frame] - 1) / static_cast<double>(frames - 1);
    return density;
}

}  // namespace pleat::program

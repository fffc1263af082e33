// pleat rmsd against one structure: finding it, comparing, and writing tables and frames.
#include "rmsd/rmsd_reference.h"

#include <fmt/format.h>

#include <charconv>
#include <functional>
#include <memory>

#include "pleat/bio/ensemble/write_frames.h"
#include "pleat/core/error.h"
#include "pleat/core/files/npy.h"
#include "pleat/core/files/npy_header.h"
#include "pleat/core/files/output_file.h"
#include "pleat/core/loops/steps.h"
#include "pleat/rmsd/output.h"
#include "pleat/rmsd/superposition/superposition.h"

namespace pleat::program {

namespace {

/// Reads a frame's number, counted from 0 or (if negative) from the end.
Index parse_frame_number(const std::string& text, Index frames) {
    Index number = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (problem != std::errc() || number < -frames || number >= frames)
        throw UsageError(
            fmt::format("--reference: expected a frame from 0 to {}, found {}", frames - 1, text));
    return number < 0 ? number + frames : number;
}

/// [atom, axis]
Array<double, 2> find_reference(const ComparedFrames& compared, const SetOptions& options,
                                const Context& context, RunDirectory& run) {
    const Coordinates& input = compared.frames;
    const ReferenceChoice reference = parse_reference(options.reference);
    if (reference.kind == ReferenceChoice::Kind::mean) {
        rmsd::MeanStructure mean = rmsd::mean_structure(input.xyz, compared.sets, context);
        run.fact("mean_rounds", static_cast<std::int64_t>(mean.rounds));
        run.fact("mean_change", mean.change);
        write_npy(run.output("mean.npy"), mean.xyz.data(), {input.atoms(), 3});
        return std::move(mean.xyz);
    }
    if (reference.kind == ReferenceChoice::Kind::frame)
        return rmsd::to_double(input.xyz[parse_frame_number(reference.text, input.frames())]);
    // A structure of a crystal or a model has no cell to be whole in.
    const Pbc pbc = compared.source.pbc == Pbc::none ? Pbc::none : Pbc::automatic;
    return rmsd::to_double(
        read_others(compared, reference.text, "0", pbc, options.any_residues, run, context).xyz[0]);
}

/// Writes frames [axis, atom] in the format of the file name's extension.
class FrameFile {
public:
    FrameFile(const std::filesystem::path& path, const Topology& topology, Index frames) {
        if (path.extension() == ".npy") {
            array_ = std::make_unique<OutputFile>(path);
            array_->write(npy_header("<f4", {frames, topology.atom_count(), 3}));
        } else if (path.extension() == ".dcd") {
            trajectory_ = std::make_unique<DcdWriter>(path, topology.atom_count());
        } else {
            models_ = std::make_unique<StructureWriter>(path, topology);
        }
    }
    void add(View<const float, 2> frame) {
        if (models_) models_->add(frame);
        if (trajectory_) trajectory_->add(frame);
        for (Index k = 0; array_ && k < frame.extent(1); ++k) {
            const float atom[3] = {frame(0, k), frame(1, k), frame(2, k)};
            array_->write(atom, sizeof(atom));
        }
    }
    void close() {
        if (models_) models_->close();
        if (trajectory_) trajectory_->close();
        if (array_) array_->close();
    }

private:
    std::unique_ptr<StructureWriter> models_;
    std::unique_ptr<DcdWriter> trajectory_;
    std::unique_ptr<OutputFile> array_;
};

Array<float, 2> narrowed(const Array<double, 2>& reference) {
    Array<float, 2> narrow(reference.extent(0), Index{3});
    std::copy(reference.begin(), reference.end(), narrow.begin());
    return narrow;
}

/// The measured atoms' topology.
Topology measured_topology(const ComparedFrames& compared) {
    const Topology& all = *compared.frames.topology;
    return compared.sets.measured.empty() ? all : subset(all, compared.sets.measured);
}

template <class T>
std::vector<T> measured_of(const ComparedFrames& compared, const std::vector<T>& values) {
    if (values.empty() || compared.sets.measured.empty()) return values;
    std::vector<T> some;
    for (const Index atom : compared.sets.measured)
        some.push_back(values[static_cast<std::size_t>(atom)]);
    return some;
}

void write_superposed(const ComparedFrames& compared, const Array<double, 2>& reference,
                      FrameFormat format, const Context& context, RunDirectory& run) {
    const Coordinates& input = compared.frames;
    const Topology topology = measured_topology(compared);
    const rmsd::Superposer superposer(reference, compared.sets);
    Array<double, 2> moved(input.atoms(), Index{3});
    Array<float, 2> written(Index{3}, topology.atom_count());
    const std::string_view ending = names_of(format)[static_cast<std::size_t>(format)];
    FrameFile file(run.output(fmt::format("superposed.{}", ending)), topology, input.frames());
    for_each_frame(context, "superposed", input.frames(), [&](Index i) {
        superposer(input.xyz[i], moved);
        for (Index k = 0; k < topology.atom_count(); ++k) {
            const Index atom = compared.sets.measured.empty() ? k : compared.sets.measured[k];
            for (int axis = 0; axis < 3; ++axis)
                written(axis, k) = static_cast<float>(moved(atom, axis));
        }
        file.add(written);
    });
    file.close();
}

}  // namespace

namespace {

/// What the leading rank does before frames are compared: finds the structure [atom, axis], and
/// gives the frames one labelling if that is asked for.
Array<double, 2> prepare_reference(ComparedFrames& compared, const SetOptions& options,
                                   const Context& context, RunDirectory& run) {
    Coordinates& input = compared.frames;
    const bool needs_names =
        options.superposed == FrameFormat::pdb || options.superposed == FrameFormat::cif;
    if (!input.topology->named && needs_names)
        throw InputError(
            input.name, 0,
            "expected atoms with names for --superposed pdb and cif, found coordinates "
            "only: give --topology, or take --superposed npy");
    // A mean needs frames of one labelling.
    const bool is_mean = parse_reference(options.reference).kind == ReferenceChoice::Kind::mean;
    if (is_mean && options.symmetry.relabel)
        relabel(options.symmetry, input.xyz, input.xyz[0], "the first frame",
                compared.with_chains(), context);
    Array<double, 2> reference = find_reference(compared, options, context, run);
    if (!is_mean && options.symmetry.relabel)
        relabel(options.symmetry, input.xyz, narrowed(reference), "the reference",
                compared.with_chains(), context);
    return reference;
}

void write_compared(const ComparedFrames& compared, const SetOptions& options,
                    const rmsd::Result& result, const rmsd::Parameters& parameters,
                    const Array<double, 2>& reference, const Context& context, RunDirectory& run) {
    const Coordinates& input = compared.frames;
    rmsd::write_reference(run, result, parameters, input.origins, input.files,
                          measured_topology(compared),
                          rmsd::residues_in_order(compared.sets, input.atoms()));
    if (options.rmsf) {
        rmsd::Fluctuations all = rmsd::fluctuations(input.xyz, reference, compared.sets, context);
        all.rmsf = measured_of(compared, all.rmsf);
        all.distance = measured_of(compared, all.distance);
        rmsd::write_rmsf(run, measured_topology(compared), all,
                         measured_of(compared, compared.sets.weights));
    }
    if (options.superposed != FrameFormat::none)
        write_superposed(compared, reference, options.superposed, context, run);
}

}  // namespace

rmsd::Result run_reference(ComparedFrames& compared, const SetOptions& options,
                           const rmsd::Parameters& parameters, Ranks& ranks, const Context& context,
                           std::optional<RunDirectory>& run) {
    // The mean, fluctuations and superposed frames are the work of the leading rank alone.
    Context alone = context;
    alone.comm = nullptr;
    Array<double, 2> reference;
    Array<float, 3> shared;  // [0, atom, axis]
    ranks.lead([&] {
        reference = prepare_reference(compared, options, alone, *run);
        shared = Array<float, 3>(Index{1}, reference.extent(0), Index{3});
        std::copy(reference.begin(), reference.end(), shared.begin());
    });
    if (ranks.size() > 1) {
        ranks.share(shared);
        if (options.symmetry.relabel) ranks.share(compared.frames.xyz);
    }
    rmsd::Result result =
        rmsd::run_reference(compared.frames.xyz, shared[0], compared.sets, parameters, context);
    compared.unproven = result.unproven;
    ranks.lead(
        [&] { write_compared(compared, options, result, parameters, reference, alone, *run); });
    return result;
}

}  // namespace pleat::program

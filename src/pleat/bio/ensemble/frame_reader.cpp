// Frame readers: the table of formats, detecting one from the content, and what readers share.
#include "pleat/bio/ensemble/frame_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "pleat/bio/ensemble/frame_formats.h"
#include "pleat/bio/structure/coordinate_text.h"
#include "pleat/core/array.h"
#include "pleat/core/error.h"
#include "pleat/core/files/text.h"

namespace pleat {

// Each in the file of its reader.
FrameFormat npy_format();
FrameFormat dcd_format();
FrameFormat xtc_format();
FrameFormat trr_format();
FrameFormat netcdf_format();
FrameFormat prmtop_format();
FrameFormat psf_format();
FrameFormat sdf_format();
FrameFormat mol2_format();
FrameFormat xyz_format();
FrameFormat gro_format();
std::unique_ptr<FrameReader> open_pdb_frames(std::unique_ptr<ByteSource> source,
                                             const std::filesystem::path& file);
std::unique_ptr<FrameReader> open_mmcif_frames(std::unique_ptr<ByteSource> source);

namespace {

constexpr const char* kTopologyFiles = "a topology (PDB, mmCIF, GRO, PSF or PRMTOP file)";

/// Names binary files that cannot be read.
bool refuse_foreign_bytes(ByteReader& bytes) {
    if (has_magic(bytes, 0, "\x89HDF")) {
        throw InputError(bytes.name(), 0,
                         "expected NetCDF-3 or another format of trajectories, found HDF5: convert "
                         "NetCDF-4 by nccopy -k classic, MDTraj's .h5 by mdconvert -o out.xtc, "
                         "H5MD by MDAnalysis");
    }
    if (has_magic(bytes, 0, std::string_view("\0\0", 2)) && has_magic(bytes, 8, "VERSION ")) {
        throw InputError(
            bytes.name(), 0,
            fmt::format(
                "expected {}, found TPR, which each version of GROMACS writes in another way: "
                "make a PDB file with bonds by gmx trjconv -s {} -f TRAJECTORY -dump 0 -pbc "
                "whole -conect -o topology.pdb",
                kTopologyFiles, bytes.name()));
    }
    if (bytes.peek(16).find('\0') != std::string_view::npos) {
        throw InputError(bytes.name(), 0,
                         "expected PDB, mmCIF, GRO, SDF, MOL2, XYZ, DCD, XTC, TRR, AMBER NetCDF or "
                         "NPY, found other "
                         "binary data");
    }
    return false;
}

/// Whether a line has only numbers in columns of this width, with the point at this position.
bool is_of_numbers(std::string_view line, std::size_t width, std::size_t point) {
    if (line.empty() || line.size() % width != 0) return false;
    for (; !line.empty(); line.remove_prefix(width)) {
        double value = 0;
        if (line[point] != '.' || !parse_number(trimmed(line.substr(0, width)), value))
            return false;
    }
    return true;
}

/// The first atom of Tinker's XYZ: number, name, coordinates, type and bonds.
bool is_tinker_atom(std::string_view line) {
    const std::vector<std::string_view> fields = words(line);
    double value = 0;
    return fields.size() >= 6 && fields[0] == "1" && !parse_number(fields[1], value) &&
           std::all_of(fields.begin() + 2, fields.begin() + 6,
                       [&](std::string_view field) { return parse_number(field, value); });
}

/// Throws for text files of other formats that would be mistaken for a supported one.
bool refuse_foreign_text(ByteReader& bytes) {
    const std::string_view start = header_of(bytes);
    const std::vector<std::string_view> lines = first_lines(start);
    const std::vector<std::string_view> second = words(lines[1]);
    Index atoms = 0;
    const char* found = nullptr;
    const char* tool = "cpptraj";
    if (is_of_numbers(lines[1], 8, 4) && (lines[1].size() == 80 || lines[2].empty()))
        found = "an AMBER text trajectory (mdcrd)";
    else if (!second.empty() && second.size() <= 3 && parse_number(second[0], atoms) &&
             is_of_numbers(lines[2], 12, 4))
        found = "AMBER text coordinates (rst7, inpcrd)";
    else if (is_tinker_atom(lines[1]) || is_tinker_atom(lines[2]))
        found = "Tinker's XYZ";
    else if (start.starts_with("ITEM: "))
        found = "a LAMMPS dump";
    else if (start.starts_with('*') && lines[1].starts_with('*'))
        found = "CHARMM coordinates (CRD)";
    if (found == nullptr) return false;
    if (start.starts_with('I') || start.starts_with('*') || found[0] == 'T')
        tool = "MDAnalysis or VMD";
    throw InputError(bytes.name(), 0,
                     fmt::format("expected PDB, mmCIF, GRO, SDF, MOL2, XYZ or a binary "
                                 "trajectory, found {}: convert it by {}, such as to NetCDF",
                                 found, tool));
}

std::unique_ptr<FrameReader> open_pdb_or_mmcif(std::unique_ptr<ByteReader> bytes,
                                               const std::filesystem::path& file) {
    std::unique_ptr<ByteSource> source = lines_of(std::move(bytes));
    return is_mmcif(*source) ? open_mmcif_frames(std::move(source))
                             : open_pdb_frames(std::move(source), file);
}

/// All formats; a file has the first format that matches.
const std::vector<FrameFormat>& formats() {
    static const std::vector<FrameFormat> kFormats = {
        npy_format(),
        dcd_format(),
        xtc_format(),
        trr_format(),
        netcdf_format(),
        {"", "", refuse_foreign_bytes, nullptr},
        prmtop_format(),
        psf_format(),
        sdf_format(),
        mol2_format(),
        {"", "", refuse_foreign_text, nullptr},
        xyz_format(),
        gro_format(),
        {"PDB", ".pdb .ent .cif .mmcif ", [](ByteReader&) { return true; }, open_pdb_or_mmcif}};
    return kFormats;
}

const FrameFormat& format_of(ByteReader& bytes) {
    if (bytes.at_end()) throw InputError(bytes.name(), 0, "expected coordinates, found no bytes");
    return *std::ranges::find_if(formats(),
                                 [&](const FrameFormat& one) { return one.matches(bytes); });
}

/// `file`: where the bytes come from; empty if they are in memory.
std::unique_ptr<FrameReader> open_frames(std::unique_ptr<ByteReader> bytes,
                                         const std::filesystem::path& file) {
    const FrameFormat& format = format_of(*bytes);
    if (format.open != nullptr) return format.open(std::move(bytes), file);
    throw InputError(bytes->name(), 0,
                     fmt::format("expected coordinates, found {}, which names atoms alone: give it "
                                 "as --topology",
                                 format.name));
}

std::unique_ptr<ByteReader> open_bytes(const std::filesystem::path& path) {
    if (path == "-")
        throw UsageError("expected files of coordinates, found '-': standard input is read once");
    return std::make_unique<ByteReader>(path);
}

}  // namespace

bool is_coordinate_ending(const std::string& ending) {
    return std::ranges::any_of(formats(), [&](const FrameFormat& format) {
        return format.endings.find(ending + ' ') != std::string_view::npos;
    });
}

bool has_magic(ByteReader& bytes, std::size_t at, std::string_view magic) {
    const std::string_view start = bytes.peek(16);
    return start.size() >= at + magic.size() && start.substr(at, magic.size()) == magic;
}

std::string_view header_of(ByteReader& bytes) {
    constexpr std::size_t kMaxHeader = 4000;
    return bytes.peek(kMaxHeader);
}

std::vector<std::string_view> first_lines(std::string_view start) {
    constexpr std::size_t kLines = 4;
    std::vector<std::string_view> lines;
    while (!start.empty() && lines.size() < kLines) {
        const std::size_t end = std::min(start.find('\n'), start.size() - 1);
        std::string_view line = start.substr(0, end + 1);
        while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.remove_suffix(1);
        lines.push_back(line);
        start.remove_prefix(end + 1);
    }
    lines.resize(kLines);
    return lines;
}

std::unique_ptr<ByteSource> lines_of(std::unique_ptr<ByteReader> bytes) {
    // PDB files are read one model at a time, so their size is not limited.
    constexpr Index kMaxText = Index{1} << 44;
    return std::make_unique<ByteSource>(std::move(bytes), kMaxText);
}

bool parse_xyz(const std::vector<std::string_view>& fields, std::size_t first,
               std::array<float, 3>& xyz) {
    for (std::size_t axis = 0; axis < 3; ++axis)
        if (!parse_number(fields[first + axis], xyz[axis])) return false;
    return true;
}

void Centring::choose_shift(const std::array<double, 3>& mean) {
    if (has_chosen_shift && !centres_each_frame) return;
    constexpr double kFar = 1e15;  // such coordinates are refused as they are
    shift = {};
    for (std::size_t axis = 0; axis < 3; ++axis)
        if (std::abs(mean[axis]) > kNear && std::abs(mean[axis]) < kFar)
            shift[axis] = std::round(mean[axis]);
    has_chosen_shift = true;
}

bool FrameReader::skip() {
    Array<float, 2> unused(3, atom_count());
    return next(unused);
}

bool TrajectoryFrames::next(View<float, 2> frame) {
    if (!begin_frame()) return false;
    read_coordinates(frame);
    ++frames_;
    return true;
}

bool TrajectoryFrames::skip() {
    if (!begin_frame()) return false;
    skip_coordinates();
    ++frames_;
    return true;
}

void TrajectoryFrames::skip_coordinates() {
    Array<float, 2> unused(3, atoms_);
    read_coordinates(unused);
}

void TrajectoryFrames::set_frame(View<float, 2> frame, const char* numbers, std::size_t width,
                                 double scale, bool big_endian,
                                 const std::array<double, 3>& shift) {
    for (Index atom = 0; atom < frame.extent(1); ++atom)
        for (std::size_t axis = 0; axis < 3; ++axis, numbers += width)
            frame(static_cast<Index>(axis), atom) =
                static_cast<float>(scale * real_number(numbers, width, big_endian) - shift[axis]);
}

void TrajectoryFrames::set_atom_count(Index count) {
    atoms_ = count;
    if (count < 1) fail(fmt::format("expected at least one atom, found {}", count));
}

void TrajectoryFrames::set_box(const char* numbers, std::size_t width) {
    for (std::size_t i = 0; i < 9; ++i)
        cell_.vectors[i / 3][i % 3] = 10 * real_number(numbers + i * width, width, true);
}

void TrajectoryFrames::fail(std::string_view text) const {
    throw InputError(bytes_->name(), 0, text);
}

void TrajectoryFrames::fail_in_frame(std::string_view text) const {
    fail(fmt::format("frame {}: {}", frames_, text));
}

void TrajectoryFrames::choose_assembly(const std::string& name) {
    fail(fmt::format("cannot build biological assembly '{}': {} files describe none", name,
                     format()));
}

const std::vector<char>& TrajectoryFrames::frame_bytes(std::size_t size) {
    const std::size_t found = bytes_->read(buffer_, size);
    if (found < size) fail_at_end(size, found);
    return buffer_;
}

void TrajectoryFrames::skip_in_frame(std::size_t size) {
    const std::size_t found = bytes_->skip(size);
    if (found < size) fail_at_end(size, found);
}

void TrajectoryFrames::fail_at_end(std::size_t wanted, std::size_t found) const {
    throw CutShort(bytes_->name(), 0,
                   fmt::format("frame {}: expected {} more bytes, found {} (cut short)", frames_,
                               wanted, found));
}

void TrajectoryFrames::compare_announced(Index announced) {
    if (announced == frames_ || has_compared_count_) return;
    has_compared_count_ = true;
    notes_.push_back(
        {NoteKind::truncated, fmt::format("{}: the header announces {} frames, the file holds {}",
                                          bytes_->name(), announced, frames_)});
}

std::unique_ptr<FrameReader> open_frames(const std::filesystem::path& path) {
    return open_frames(open_bytes(path), path);
}

std::unique_ptr<FrameReader> open_frames(const std::string& name, std::string_view bytes) {
    return open_frames(std::make_unique<ByteReader>(name, bytes), {});
}

Topology read_topology(const std::filesystem::path& path, Notes* notes,
                       const std::string& assembly) {
    std::unique_ptr<ByteReader> bytes = open_bytes(path);
    const FrameFormat& format = format_of(*bytes);
    if (format.read_atoms != nullptr) {
        if (!assembly.empty())
            throw InputError(path.string(), 0,
                             fmt::format("cannot build biological assembly '{}': {} files describe "
                                         "none",
                                         assembly, format.name));
        ByteSource source(std::move(bytes));
        return format.read_atoms(source);
    }
    const std::unique_ptr<FrameReader> reader = format.open(std::move(bytes), path);
    if (reader->topology() == nullptr && reader->format() == "XYZ")
        return *reader->atoms_by_order();
    if (reader->topology() == nullptr) {
        throw InputError(path.string(), 0,
                         fmt::format("expected {}, found {}", kTopologyFiles, reader->format()));
    }
    if (!assembly.empty()) reader->choose_assembly(assembly);
    if (notes != nullptr)
        notes->insert(notes->end(), reader->notes().begin(), reader->notes().end());
    return *reader->topology();
}

}  // namespace pleat

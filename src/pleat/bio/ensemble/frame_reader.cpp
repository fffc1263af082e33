// Frame readers: detecting the format from the content, and what all readers of bytes share.
#include "pleat/bio/ensemble/frame_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "pleat/bio/ensemble/gro_frames.h"
#include "pleat/bio/ensemble/model_frames.h"
#include "pleat/bio/ensemble/sdf_frames.h"
#include "pleat/bio/ensemble/trajectory_frames.h"
#include "pleat/bio/input/coordinate_text.h"
#include "pleat/bio/input/text_fields.h"
#include "pleat/bio/structure/prmtop_topology.h"
#include "pleat/bio/structure/psf_topology.h"
#include "pleat/core/array.h"
#include "pleat/core/error.h"
#include "pleat/core/notes.h"

namespace pleat {

namespace {

enum class Format { text, gro, sdf, mol2, xyz, npy, dcd, xtc, trr, netcdf, psf, prmtop };

constexpr const char* kTopologyFiles = "a topology (PDB, mmCIF, GRO, PSF or PRMTOP file)";

/// Whether a text is GRO: a title, and nothing but a number on the second line.
bool is_gro(std::string_view start) {
    const std::size_t title = start.find('\n');
    if (title == std::string_view::npos) return false;
    start.remove_prefix(title + 1);
    const std::string_view second = trimmed(start.substr(0, start.find('\n')));
    Index count = 0;
    return parse_number(second, count);
}

/// The first lines of a text.
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

/// A number of atoms alone, and behind a comment an element and coordinates.
bool is_xyz(std::string_view start) {
    const std::vector<std::string_view> lines = first_lines(start);
    const std::vector<std::string_view> atom = words(lines[2]);
    Index count = 0;
    double value = 0;
    return parse_number(trimmed(lines[0]), count) && count > 0 && atom.size() >= 4 &&
           atom[0].size() <= 8 && parse_number(atom[1], value) && parse_number(atom[2], value) &&
           parse_number(atom[3], value);
}

/// Whether a line is of numbers in columns of this width alone, with points at this place.
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

/// Names formats that would be taken for others.
void refuse_foreign_text(const std::string& name, std::string_view start) {
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
    if (found == nullptr) return;
    if (start.starts_with('I') || start.starts_with('*') || found[0] == 'T')
        tool = "MDAnalysis or VMD";
    throw InputError(name, 0,
                     fmt::format("expected PDB, mmCIF, GRO, SDF, MOL2, XYZ or a binary "
                                 "trajectory, found {}: convert it by {}, such as to NetCDF",
                                 found, tool));
}

Format format_of(ByteReader& bytes) {
    const std::string_view start = bytes.peek(16);
    const auto holds = [&](std::size_t at, std::string_view magic) {
        return start.size() >= at + magic.size() && start.substr(at, magic.size()) == magic;
    };
    if (start.empty()) throw InputError(bytes.name(), 0, "expected coordinates, found no bytes");
    if (holds(0, "\x93NUMPY")) return Format::npy;
    if (holds(4, "CORD") || holds(8, "CORD") || holds(4, "VELD")) return Format::dcd;
    if (holds(0, std::string_view("\0\0\x07\xcb", 4)) ||
        holds(0, std::string_view("\0\0\x07\xe7", 4))) {
        return Format::xtc;
    }
    if (holds(0, std::string_view("\0\0\x07\xc9", 4))) return Format::trr;
    if (holds(0, "CDF") && start.size() > 3 && start[3] < ' ') return Format::netcdf;
    if (holds(0, "\x89HDF")) {
        throw InputError(bytes.name(), 0,
                         "expected NetCDF-3 or another format of trajectories, found HDF5: convert "
                         "NetCDF-4 by nccopy -k classic, MDTraj's .h5 by mdconvert -o out.xtc, "
                         "H5MD by MDAnalysis");
    }
    if (holds(0, std::string_view("\0\0", 2)) && holds(8, "VERSION ")) {
        throw InputError(
            bytes.name(), 0,
            fmt::format(
                "expected {}, found TPR, which each version of GROMACS writes in another way: "
                "make a PDB file with bonds by gmx trjconv -s {} -f TRAJECTORY -dump 0 -pbc "
                "whole -conect -o topology.pdb",
                kTopologyFiles, bytes.name()));
    }
    if (start.find('\0') != std::string_view::npos) {
        throw InputError(bytes.name(), 0,
                         "expected PDB, mmCIF, GRO, SDF, MOL2, XYZ, DCD, XTC, TRR, AMBER NetCDF or "
                         "NPY, found other "
                         "binary data");
    }
    if (holds(0, "%VERSION") || holds(0, "%FLAG")) return Format::prmtop;
    if (holds(0, "PSF") && start.size() > 3 && start[3] <= ' ') return Format::psf;
    constexpr std::size_t kMaxHeader = 4000;  // two lines of a GRO file, four of an SDF file
    const std::string_view header = bytes.peek(kMaxHeader);
    if (is_sdf(header)) return Format::sdf;
    if (header.find("@<TRIPOS>MOLECULE") != std::string_view::npos) return Format::mol2;
    refuse_foreign_text(bytes.name(), header);
    if (is_xyz(header)) return Format::xyz;
    return is_gro(header) ? Format::gro : Format::text;
}

/// `text`: all of it is still there, of a pipe too.
std::unique_ptr<ByteSource> lines_of(std::unique_ptr<ByteReader> text) {
    // PDB files of many models are read one model at a time: no bound but the disk's.
    constexpr Index kMaxText = Index{1} << 44;
    return std::make_unique<ByteSource>(std::move(text), kMaxText);
}

std::unique_ptr<FrameReader> open_text(std::unique_ptr<ByteSource> source,
                                       const std::filesystem::path& file) {
    if (is_mmcif(*source)) return std::make_unique<MmcifFrames>(std::move(source));
    return std::make_unique<PdbFrames>(std::move(source), file);
}

/// `file`: of the bytes; empty if they are in memory.
std::unique_ptr<FrameReader> open_frames(std::unique_ptr<ByteReader> bytes,
                                         const std::filesystem::path& file) {
    const Format format = format_of(*bytes);
    switch (format) {
        case Format::npy: return open_npy_frames(std::move(bytes));
        case Format::dcd: return open_dcd_frames(std::move(bytes));
        case Format::xtc: return open_xtc_frames(std::move(bytes));
        case Format::trr: return open_trr_frames(std::move(bytes));
        case Format::netcdf: return open_netcdf_frames(std::move(bytes));
        case Format::gro: return std::make_unique<GroFrames>(lines_of(std::move(bytes)));
        case Format::sdf: return std::make_unique<SdfFrames>(lines_of(std::move(bytes)));
        case Format::mol2: return std::make_unique<SdfFrames>(lines_of(std::move(bytes)), true);
        case Format::xyz: return open_xyz_frames(lines_of(std::move(bytes)));
        case Format::psf:
        case Format::prmtop:
            throw InputError(bytes->name(), 0,
                             fmt::format("expected coordinates, found {}, which names atoms alone: "
                                         "give it as --topology",
                                         format == Format::psf ? "PSF" : "PRMTOP"));
        case Format::text: break;
    }
    return open_text(lines_of(std::move(bytes)), file);
}

std::unique_ptr<ByteReader> open_bytes(const std::filesystem::path& path) {
    if (path == "-") {
        throw UsageError("expected files of coordinates, found '-': standard input is read once");
    }
    return std::make_unique<ByteReader>(path);
}

}  // namespace

void Centring::choose_shift(const std::array<double, 3>& mean) {
    if (has_shift && !each_frame) return;
    constexpr double kFar = 1e15;  // such coordinates are refused as they are
    shift = {};
    for (std::size_t axis = 0; axis < 3; ++axis)
        if (std::abs(mean[axis]) > kNear && std::abs(mean[axis]) < kFar)
            shift[axis] = std::round(mean[axis]);
    has_shift = true;
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

void TrajectoryFrames::set_frame(View<float, 2> frame, const StoredAtoms& stored, double scale,
                                 const std::array<double, 3>& shift) {
    const char* at = stored.bytes;
    for (Index atom = 0; atom < frame.extent(1); ++atom) {
        for (std::size_t axis = 0; axis < 3; ++axis, at += stored.width) {
            const double value = stored.width == 4
                                     ? double{stored_number<float>(at, stored.big_endian)}
                                     : stored_number<double>(at, stored.big_endian);
            frame(static_cast<Index>(axis), atom) = static_cast<float>(scale * value - shift[axis]);
        }
    }
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
    if (announced == frames_ || compared_) return;
    compared_ = true;
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
    const Format format = format_of(*bytes);
    if (format == Format::psf || format == Format::prmtop) {
        const bool is_psf = format == Format::psf;
        if (!assembly.empty())
            throw InputError(path.string(), 0,
                             fmt::format("cannot build biological assembly '{}': {} files describe "
                                         "none",
                                         assembly, is_psf ? "PSF" : "PRMTOP"));
        ByteSource source(std::move(bytes));
        return is_psf ? read_psf(source) : read_prmtop(source);
    }
    const std::unique_ptr<FrameReader> reader = open_frames(std::move(bytes), path);
    if (reader->topology() == nullptr && reader->format() == "XYZ")
        return *reader->atoms_by_order();
    if (reader->topology() == nullptr) {
        throw InputError(path.string(), 0,
                         fmt::format("expected {}, found {}", kTopologyFiles, reader->format()));
    }
    if (!assembly.empty()) reader->choose_assembly(assembly);
    if (notes != nullptr) {
        notes->insert(notes->end(), reader->notes().begin(), reader->notes().end());
    }
    return *reader->topology();
}

}  // namespace pleat

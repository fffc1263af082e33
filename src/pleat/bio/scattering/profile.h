// Profiles: measured scattering curves (intensity by momentum transfer) and their reader.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pleat/core/fields.h"
#include "pleat/core/notes.h"

#pragma GCC visibility push(default)

namespace pleat {

class ByteSource;

/// A scattering curve: q = 4 pi sin(theta) / lambda in 1/angstrom, rising; intensities and their
/// standard errors in the curve's own unit.
struct Profile {
    std::vector<double> q, intensity, sigma;  ///< of one length; `sigma` above 0
    std::string source = {};                  ///< its file or name, for messages; may be empty
    /// Standard deviation of q at each point, 1/angstrom, at least 0; a fit smears the model by it.
    /// Empty: no smearing.
    std::vector<double> dq = {};

    std::size_t size() const { return q.size(); }
};

enum class MomentumUnit { automatic, per_angstrom, per_nanometre };

std::span<const std::string_view> names_of(MomentumUnit);

struct ProfileOptions {
    /// automatic: as the file says, else by the molecule's size (`structure_gyration`, or typical
    /// sizes), else 1/nm if the curve ends beyond q = 1.
    MomentumUnit unit = MomentumUnit::automatic;
    /// Error of points that have none (no third column, or 0 there), as a fraction of the absolute
    /// intensity. Not set: curves without errors are refused, and points of error 0 are left out.
    std::optional<double> assumed_error = {};
    bool smear = false;  ///< column 4 is the standard deviation of q, which becomes Profile::dq
    /// Columns of q, intensity, error and dq by names or numbers from 1, separated by commas;
    /// empty: as the file names them, else in this order.
    std::string columns = {};
    std::string curve = {};  ///< name, or number from 1, of a curve in a file of several
    double q_min = 0;        ///< points below are left out, 1/angstrom
    /// Rg in angstrom of the structure to compare with the curve; may decide the unit.
    std::optional<double> structure_gyration = {};
};
std::vector<Field> fields(ProfileOptions& options);

struct ProfileFile {
    Profile profile;
    bool per_nanometre = false;  ///< whether q was in 1/nm in the file
    /// Decisions of the reader: unit of q, assumed errors, sorted or merged points.
    Notes notes;
};

/// Reads a curve: text, sasCIF, CanSAS 1D XML, NXcanSAS (HDF5), recognised by their content; plain
/// or compressed. In a text, each table begins with three consecutive lines of numbers, separated
/// by blanks, tabs, commas or semicolons; commas between digits are decimal commas if lines have
/// other separators. Lines before and after it are titles and footers, and so are one or two lines
/// of two numbers above a table of three columns; blank lines and lines of # may be in between, and
/// comments behind numbers. Titles may name the columns and the unit of q, which a line of units
/// may do, too. Points are sorted by q (curve_points.cpp says how settings of an instrument differ
/// from a second curve), points of equal q are merged, and points without finite numbers or a
/// usable error are left out.
///
/// Throws InputError, naming the lines, for missing numbers; errors that are negative, look like a
/// model, are missing (see `assumed_error`) or are 0 at more than half of the points; P(r) instead
/// of a curve; a column 4 that is missing or unusable for `smear`; fewer than 3 points; several
/// curves without a choice; and a range of q that no unit explains.
ProfileFile read_profile(const std::filesystem::path& path, const ProfileOptions& options = {});
ProfileFile read_profile(ByteSource& source, const ProfileOptions& options = {});

/// Makes a curve from numbers in memory, with the checks of the reader. The arrays must have the
/// same length; `sigma` may be empty if errors are assumed; `dq` is needed if `options.smear`. An
/// automatic unit is 1/angstrom. Throws InputError that names `name` instead of a file, and the
/// number of the point, from 1, instead of a line.
ProfileFile make_profile(const std::string& name, std::span<const double> q,
                         std::span<const double> intensity, std::span<const double> sigma,
                         const ProfileOptions& options = {}, std::span<const double> dq = {});

}  // namespace pleat

#pragma GCC visibility pop

// Profiles: measured scattering curves, intensity by momentum transfer, and their reader.
#pragma once

#include <filesystem>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pleat/bio/input/byte_source.h"
#include "pleat/core/fields.h"

#pragma GCC visibility push(default)

namespace pleat {

/// A scattering curve: q = 4 pi sin(theta) / lambda in 1/angstrom, never falling; intensities and
/// their standard errors in the curve's own unit.
struct Profile {
    std::vector<double> q, intensity, sigma;  ///< of one length; `sigma` above 0
    std::string source = {};                  ///< its file or name, for messages; may be empty

    std::size_t size() const { return q.size(); }
};

enum class MomentumUnit { automatic, per_angstrom, per_nanometre };

struct ProfileOptions {
    /// automatic: 1/nm where the curve ends beyond q = 1, as no curve of a solution in 1/angstrom
    /// does.
    MomentumUnit unit = MomentumUnit::automatic;
    /// Error, as a part of the intensity's size, of points that come with none (no third column, or
    /// 0 there); NaN: curves without errors are refused, and points of error 0 left out.
    double assumed_error = std::numeric_limits<double>::quiet_NaN();
};

/// The same as options name it.
struct ProfileChoices {
    std::string unit = "auto";  ///< or 1/angstrom, 1/nm
    double assumed_error = std::numeric_limits<double>::quiet_NaN();

    ProfileOptions options() const;
};
std::vector<Field> fields(ProfileChoices& choices);

struct ProfileFile {
    Profile profile;
    bool per_nanometre = false;  ///< as the file had it
    /// What the reader decided, in a line each: unit, errors that were assumed.
    std::vector<std::string> notes;
};

/// Reads a text of columns q, intensity, error, and perhaps more, parted by blanks, tabs, commas or
/// semicolons; commas between digits are decimal commas where lines have other separators. Any
/// lines before and after that do not begin with three lines of numbers are titles and footers, and
/// so are one or two lines of two numbers on top of three columns; blank lines and lines of # may
/// stand in between. Points are sorted by q; points without a usable error are left out. Plain or
/// compressed, as ByteSource.
///
/// Throws InputError, naming the lines: numbers missing or not finite, errors that are negative,
/// absent (see `assumed_error`) or 0 at more than half of the points, less than 3 points, a second
/// table or curve, a range of q that no unit explains.
ProfileFile read_profile(const std::filesystem::path& path, const ProfileOptions& options = {});
ProfileFile read_profile(ByteSource& source, const ProfileOptions& options = {});

/// The curve of numbers that lie in memory, held to what the reader asks for. They have one length;
/// `sigma` may be empty where errors are assumed. An automatic unit is 1/angstrom. InputError:
/// `name` stands in the file's place, the number of the point, from 1, in the line's.
ProfileFile make_profile(const std::string& name, std::span<const double> q,
                         std::span<const double> intensity, std::span<const double> sigma,
                         const ProfileOptions& options = {});

}  // namespace pleat

#pragma GCC visibility pop

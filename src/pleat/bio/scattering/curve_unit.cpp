// Curve unit: whether q is in 1/angstrom or 1/nm, and how that was decided.
#include <fmt/format.h>

#include <cmath>

#include "pleat/bio/scattering/curve_table.h"
#include "pleat/bio/scattering/guinier.h"
#include "pleat/core/error.h"

namespace pleat {

namespace {

// Curves of molecules in solution end between 0.2 and 1 (or, at wide angles, 3) 1/angstrom.
constexpr double kMinEnd = 0.01, kMaxEnd = 10, kWideEnd = 3.5;
/// Guinier's Rg of molecules that are measured, angstrom.
constexpr double kMinGyration = 6, kMaxGyration = 1000;

std::string_view name_of_unit(bool per_nanometre) {
    return names_of(MomentumUnit())[per_nanometre ? 2 : 1];
}

struct Decision {
    bool per_nanometre = false;
    std::string reason;
    std::string doubt = {};  ///< a note with it is a warning; empty: none
};

/// Of a curve without a unit; `line` is Guinier's with q as the file has it, `begins_low` whether
/// it begins where Guinier's law can be seen.
Decision guess(const Profile& curve, const Guinier& line, bool begins_low,
               std::optional<double> structure) {
    const double end = curve.q.back(), length = line.gyration_radius;
    const bool by_end = end > 1;
    // What shows the size of a molecule, or begins at small angles and ends beyond wide ones.
    constexpr double kMaxProduct = 1, kMaxStart = 1;
    const bool is_surely_nm = end > kMaxEnd || (end > kWideEnd && curve.q.front() < kMaxStart) ||
                              (line.is_valid && curve.q[line.first] * length < kMaxProduct &&
                               10 * length >= kMinGyration && 10 * length <= kMaxGyration);
    const Decision of_end{by_end, fmt::format("since the curve ends at {:g}", end),
                          by_end && !is_surely_nm ? "; nothing else decides it" : ""};
    const auto in_other = [&](bool per_nanometre) {
        return fmt::format(" (in {} it would be {:.1f})", name_of_unit(!per_nanometre),
                           per_nanometre ? length : 10 * length);
    };
    if (!line.is_valid || end > kWideEnd) return of_end;
    if (structure) {
        constexpr double kMaxRatio = 2;  // of the two
        const double angstrom = std::abs(std::log(length / *structure));
        const double nanometre = std::abs(std::log(10 * length / *structure));
        const bool is_nanometre = nanometre < angstrom;
        return {is_nanometre,
                fmt::format("since Guinier's Rg is then {:.1f} angstrom and that of the structure "
                            "{:.1f}",
                            is_nanometre ? 10 * length : length, *structure),
                std::min(angstrom, nanometre) > std::log(kMaxRatio) ? in_other(is_nanometre) : ""};
    }
    // A molecule of 6 to 20 angstrom, or one of 60 to 200 angstrom, which must be measured to lower
    // angles.
    constexpr double kSurelyAngstrom = 20, kMinStart = 0.025, kMinNmEnd = 0.5, kMaxChi2 = 5;
    const auto by_size = [&](bool per_nanometre, bool is_doubtful) {
        return Decision{per_nanometre,
                        fmt::format("since Guinier's Rg is then {:.1f} angstrom",
                                    per_nanometre ? 10 * length : length),
                        is_doubtful ? in_other(per_nanometre) : ""};
    };
    if (length >= kSurelyAngstrom) return by_end ? by_size(false, false) : of_end;
    if (length >= kMinGyration)
        return by_end ? by_size(curve.q.front() >= kMinStart, true) : of_end;
    const bool is_good =
        begins_low && line.chi2 < kMaxChi2 && 10 * length >= kMinGyration && end > kMinNmEnd;
    return !by_end && is_good ? by_size(true, false) : of_end;
}

}  // namespace

Note convert_unit(const std::string& file, const ProfileOptions& options, MomentumUnit named,
                  ProfileFile& read) {
    Profile& curve = read.profile;
    const double end = curve.q.back();
    const Guinier line = guinier(curve);
    constexpr double kMaxStart = 0.5;  // of q Rg
    const bool begins_low = line.is_valid && curve.q[line.first] * line.gyration_radius < kMaxStart;
    const bool is_told = options.unit != MomentumUnit::automatic;
    const MomentumUnit known = is_told ? options.unit : named;
    Decision decision{
        known == MomentumUnit::per_nanometre,
        is_told ? fmt::format("as told; the curve ends at {:g}", end) : "as the file says"};
    if (known == MomentumUnit::automatic)
        decision = guess(curve, line, begins_low, options.structure_gyration);
    read.per_nanometre = decision.per_nanometre;
    if (read.per_nanometre)
        for (std::vector<double>* const values : {&curve.q, &curve.dq})
            for (double& value : *values) value /= 10;
    const std::string_view unit = name_of_unit(read.per_nanometre),
                           other_unit = name_of_unit(!read.per_nanometre);
    if (curve.q.back() < kMinEnd || curve.q.back() > kMaxEnd)
        throw InputError(file, 0,
                         fmt::format("expected a curve that ends between q = {} and {} 1/angstrom, "
                                     "found {:g} {}",
                                     kMinEnd, kMaxEnd, end, unit));
    Note note{NoteKind::unit,
              fmt::format("q taken as {}{} {}", unit, known == MomentumUnit::automatic ? "," : "",
                          decision.reason)};
    // In the other unit the molecule would have a size that molecules have.
    const double here = line.gyration_radius * (read.per_nanometre ? 10 : 1);
    const double other = line.gyration_radius * (read.per_nanometre ? 1 : 10);
    const auto is_size = [](double rg) { return rg >= kMinGyration && rg <= kMaxGyration; };
    const bool is_wrong = begins_low && !is_size(here) && is_size(other);
    if (is_wrong)
        note.text +=
            fmt::format("; Guinier's Rg of {:.1f} angstrom is not that of a molecule", here);
    else
        note.text += decision.doubt;
    note.is_warning = is_wrong || !decision.doubt.empty();
    if (is_wrong || !is_told) note.option = fmt::format("--q-unit {}", other_unit);
    return note;
}

}  // namespace pleat

// Curve points: checks the points of a scattering curve, sorts them and merges those of equal q.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "pleat/bio/scattering/profile.h"
#include "pleat/core/error.h"
#include "pleat/core/notes.h"
#include "pleat/core/view.h"

namespace pleat {

/// Collects up to ten complaints about points, and makes the curve of the sound ones.
///
/// Points are sorted by q: the settings of an instrument may be in any order and overlap. Refused
/// as a second curve is a range of q that begins again behind another one if it begins within that
/// range, or if both overlap by more than half of the curve. Points of equal q become one, of the
/// mean intensity weighted by 1 / sigma^2, with 1 / sigma^2 the sum of theirs and dq^2 the mean
/// with the same weights.
class CurvePoints {
public:
    CurvePoints(const std::string& file, const ProfileOptions& options, bool with_errors)
        : file_(file), complaints_(file), options_(options), with_errors_(with_errors) {}

    /// A point: q, intensity and, as wanted, error and dq. `is_point` false: its line cannot be
    /// one. `text` is what messages show.
    void add(Index line, std::span<const double> values, bool is_point, const std::string& text);
    /// The curve by rising q. Appends what was done to `notes`. Throws InputError.
    Profile finish(Notes& notes);

    static constexpr const char* kAdvice = "--assume-error takes errors as a part of the intensity";

private:
    void keep(Index line, double q, double intensity, double sigma, double dq);
    void check_errors() const;
    void check_dq() const;
    void sort(Notes& notes);
    void merge(Notes& notes);
    void refuse_second_curve() const;

    const std::string file_;
    Complaints complaints_;
    const ProfileOptions& options_;
    const bool with_errors_;
    Profile profile_;
    std::vector<Index> lines_;  ///< of the points kept
    std::size_t assumed_ = 0, without_error_ = 0, not_finite_ = 0;
    Index first_without_error_ = 0, first_not_finite_ = 0;
};

}  // namespace pleat

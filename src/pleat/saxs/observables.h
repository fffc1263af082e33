// Observables: measured means over an ensemble besides curves, and how well weights explain them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pleat/core/array.h"
#include "pleat/core/name_of.h"

#pragma GCC visibility push(default)

namespace pleat::saxs {

/// How the mean of an observable is compared with what was measured.
enum class ObservableKind {
    gaussian,  ///< it differs from the value by errors of this standard deviation
    upper,     ///< it counts by how far it exceeds the value
    lower      ///< it counts by how far it is below the value
};
std::span<const std::string_view> names_of(ObservableKind);

/// Which mean over the frames is measured.
enum class Averaging {
    mean,  ///< of the values
    r3,    ///< of distances^-3, "r^-3" as an option
    r6     ///< of distances^-6 (NOE, PRE), "r^-6"
};
std::span<const std::string_view> names_of(Averaging);

/// A measured mean. With r^-6 the value is a distance r and its bounds are bounds of distances:
/// mean distance^-6 is compared with r^-6, whose error is 6 r^-7 times that of r (r^-3 likewise).
struct Observable {
    std::string name;
    double value = 0, error = 0;  ///< in one unit; the error is above 0
    ObservableKind kind = ObservableKind::gaussian;
    Averaging averaging = Averaging::mean;
};

/// Observables with their values in each frame.
struct Observables {
    std::vector<Observable> list;
    Array<double, 2> values;  ///< [frame, observable], in the unit of Observable::value
};

/// How the means with some weights of the frames agree with the observables.
struct ObservableFit {
    std::vector<double> means;  ///< [observable], in the unit of Observable::value
    /// [observable]: l of weights exp(-sum l a / error of a), with a = value, value^-3 or value^-6.
    std::vector<double> multipliers;
    double chi2 = 0;  ///< mean over the observables of ((mean of a - a measured) / error of a)^2,
                      ///< 0 for a bound that holds
};

/// The observables of a result.
struct ObservableFits {
    std::vector<Observable> list;
    ObservableFit before;             ///< with equal weights
    std::vector<ObservableFit> fits;  ///< [theta]: with the weights of each theta
};

}  // namespace pleat::saxs

#pragma GCC visibility pop

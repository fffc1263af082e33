// Joint fit: the search of c1 and c2 over the sum of chi^2 of all curves.
#include "pleat/saxs/fit/joint_fit.h"

#include <algorithm>

namespace pleat::saxs {

std::vector<Fit> fit_jointly(std::span<const CurveProblem> problems, double mean_radius,
                             const Context& context) {
    const auto chi2 = [&](const Contrast& contrast) {
        double sum = 0;
        for (const CurveProblem& one : problems)
            sum +=
                fit_scale(*one.curve, intensity(one.partial, one.curve->q, mean_radius, contrast),
                          one.options.background)
                    .chi2;
        return sum;
    };
    const CurveProblem& first = problems.front();
    const Contrast best =
        search_contrast(first.options, are_atomic(first.partial), chi2, nullptr, context);
    std::vector<Fit> fits;
    for (const CurveProblem& one : problems)
        fits.push_back(fit_at(best, *one.curve, one.partial, mean_radius, one.options));
    return fits;
}

JointFit summarize(std::span<const Fit> fits, const FitOptions& options) {
    const Index searched = (options.c1_min < options.c1_max) + (options.c2_min < options.c2_max);
    JointFit joint;
    joint.parameters = searched;
    double sum = 0;
    for (const Fit& fit : fits) {
        sum += fit.chi2 * static_cast<double>(fit.points);
        joint.points += fit.points;
        joint.parameters += fit.parameters - searched;
    }
    joint.chi2 = sum / static_cast<double>(joint.points);
    joint.chi2_reduced =
        sum / static_cast<double>(std::max<Index>(1, joint.points - joint.parameters));
    return joint;
}

}  // namespace pleat::saxs

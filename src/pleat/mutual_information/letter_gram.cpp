// Letter Gram: products of ratios, each at most 1, so that no order overflows.
#include "pleat/mutual_information/letter_gram.h"

#include <algorithm>
#include <cmath>

namespace pleat::mutual_information {

LetterGram::LetterGram(std::span<const Index> margin, Index rows, int orders)
    : letters_(static_cast<Index>(margin.size())),
      largest_(std::max_element(margin.begin(), margin.end()) - margin.begin()),
      dyad_(orders * margin.size()),
      with_largest_(orders * margin.size()) {
    const Index most = margin[largest_];
    for (Index a = 0; a < letters_; ++a) {
        if (a == largest_) continue;
        const Index r = margin[a];
        double own = 1, both = 1;
        // Letters other than the largest have at most N/2 rows, and r + most <= N.
        for (Index m = 0; m < orders && m < r && m < rows - most; ++m) {
            own *= static_cast<double>(r - m) / static_cast<double>(rows - r - m);
            both *= (static_cast<double>(r - m) / static_cast<double>(rows - most - m)) *
                    (static_cast<double>(most - m) / static_cast<double>(rows - r - m));
            dyad_[m * letters_ + a] = std::sqrt(own);
            with_largest_[m * letters_ + a] = std::sqrt(both);
        }
    }
}

void LetterGram::apply(int m, double* f, Index stride, Index width, double* scratch) const {
    const double sign = m % 2 == 0 ? 1 : -1;
    const double* dyad = dyad_.data() + (m - 1) * letters_;
    const double* with_largest = with_largest_.data() + (m - 1) * letters_;
    double* sum = scratch;
    double* to_largest = scratch + width;
    double* largest = f + largest_ * stride;
    std::fill_n(scratch, 2 * width, 0.0);
    for (Index a = 0; a < letters_; ++a) {
        if (a == largest_) continue;
        const double* value = f + a * stride;
        for (Index at = 0; at < width; ++at) {
            sum[at] += dyad[a] * value[at];
            to_largest[at] += with_largest[a] * value[at];
        }
    }
    for (Index a = 0; a < letters_; ++a) {
        if (a == largest_) continue;
        double* value = f + a * stride;
        const double own = 1 - sign * dyad[a] * dyad[a], others = sign * dyad[a];
        const double from_largest = sign * with_largest[a];
        for (Index at = 0; at < width; ++at)
            value[at] = own * value[at] + others * sum[at] + from_largest * largest[at];
    }
    for (Index at = 0; at < width; ++at) largest[at] += sign * to_largest[at];
}

}  // namespace pleat::mutual_information
